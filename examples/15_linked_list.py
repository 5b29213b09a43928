"""A linked list of a million nodes: instances that refer to instances of their own class, made and freed by compiled code."""
import show

from quern import njit, types
from quern.experimental import jitclass

node_type = types.deferred_type()     # a type that is defined below


@jitclass([("value", types.int64), ("next", types.optional(node_type))])
class Node:
    def __init__(self, value, next):
        self.value = value
        self.next = next


node_type.define(Node.class_type.instance_type)


class PlainNode:
    def __init__(self, value, next):
        self.value = value
        self.next = next


def program(n, Node):
    head = Node(0, None)
    for i in range(1, n):
        head = Node(i, head)
    before = None                     # turned round in place
    at = head
    while at is not None:
        after = at.next
        at.next = before
        before = at
        at = after
    total, k, at = 0, 0, before
    while at is not None:
        total += k * at.value
        k += 1
        at = at.next
    return total


@njit
def chain(n):
    head = Node(0, None)
    for i in range(1, n):
        head = Node(i, head)
    return head


@njit
def turned(head):
    before = None
    at = head
    while at is not None:
        after = at.next
        at.next = before
        before = at
        at = after
    return before


@njit
def weighed(head):
    total, k, at = 0, 0, head
    while at is not None:
        total += k * at.value
        k += 1
        at = at.next
    return total


def compiled(n):
    return weighed(turned(chain(n)))


head = chain(5)
print("from Python:", head.value, head.next.value, head.next.next.value)
head.next.value = 100                 # seen by compiled code
print("turned round:", turned(head).value, weighed(chain(1000)))
show.report("100,000 nodes", lambda: compiled(100_000), lambda: program(100_000, PlainNode), against="Python", repeat=3)
print(f"a million nodes: {compiled(1_000_000)}")
