"""What compiled code does to objects that stand in lists, dicts and deques of the caller, directly or in tuples: the caller sees it, wherever in its arguments they are afterwards."""
import collections
import copy
import dataclasses
from typing import NamedTuple

import pytest

from quern import njit


class Pair(NamedTuple):
    a: int
    b: list


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: list


def in_a_tuple(l):
    l[0][1].append(7)


def deeper(l):
    l[0][0][1].append(7)


def in_all_values(d):
    for k in d:
        d[k][1].append(7)


def by_name(l):
    l[0].b.append(7)
    l[-1].b.append(8)


def swapped(l):
    l[0], l[1] = l[1], l[0]
    l[0].append(9)


def swapped_values(d):
    d[1], d[2] = d[2], d[1]
    d[1].append(4)


def in_another_tuple(l):
    x = l[0][1]
    l[0] = (8, x)
    x.append(5)


def in_a_new_list(l):
    x = l[0][0]
    l.append([x, [1]])
    x.append(6)


def moved(l, m):
    m.append(l.pop(0))
    m[-1].append(3)


def numbers(l):
    l[0][1][3] = 4.0
    l[1][1][5] = l[0][1][3]


def sets(l):
    l[0][1].add(4)


def deques(l):
    l[0][1].append(4)


def of_a_deque(q):
    q.rotate(1)
    q[0][1].append(4)


CALLS = [(in_a_tuple, [(2, [3])]), (in_a_tuple, ((1, [2]),)), (deeper, [((1, [2]), 3)]), (in_all_values, {1: (2, [3]), 2: (5, [])}),
         (by_name, [Pair(1, [2])]), (by_name, [Frozen(1, [2]), Frozen(2, [3])]), (swapped, [[1], [2]]), (swapped_values, {1: [1], 2: [2]}),
         (in_another_tuple, [(2, [3])]), (in_a_new_list, [[[1], [2]]]), (moved, [[1], [2]], [[5]]), (numbers, [(1, {1: 2.0}), (1, {2: 2.0})]),
         (sets, [(1, {1})]), (deques, [(1, collections.deque([1]))]), (of_a_deque, collections.deque([(1, [2]), (3, [4])]))]


def inner_lists(value):
    """All lists in it, by where they are."""
    items = (value.a, value.b) if dataclasses.is_dataclass(value) else value.values() if isinstance(value, dict) else value
    if isinstance(value, (int, float)):
        return []
    return [value] * isinstance(value, list) + [x for item in items for x in inner_lists(item)]


@pytest.mark.parametrize("f, arguments", [(f, arguments) for f, *arguments in CALLS])
def test_the_caller_sees_it(f, arguments):
    mine, expected = copy.deepcopy((arguments, arguments))
    before, twins = (({id(x): i for i, x in enumerate(inner_lists(a))}) for a in (mine, expected))
    njit(f)(*mine)
    f(*expected)
    assert mine == expected
    same, wanted = ([known.get(id(x)) for x in inner_lists(a)] for a, known in ((mine, before), (expected, twins)))
    assert same == wanted  # the lists are those that they were


def test_tuples_that_are_what_they_were_stay():
    l = [(1, [2]), (3, [4])]
    first, second = l

    @njit
    def f(l):
        l[0][1].append(9)
        l[1] = (5, l[1][1])

    f(l)
    assert l[0] is first and l == [(1, [2, 9]), (5, [4])] and l[1][1] is second[1]


# -- what is taken out of its container -------------------------------------------------------------------------------------


def pop_and_grow(rows):
    x = rows.pop()
    x.append(5)
    return x


def pop_and_drop(rows):
    x = rows.pop()
    x.append(5)


def clear_first(rows):
    x = rows[1]
    rows.clear()
    x[0] = 9
    rows.append([7])


def overwritten(rows):
    x = rows[1]
    rows[1] = rows[0]
    x.append(1)
    rows[1].append(8)


def raising(rows):
    x = rows.pop()
    x.append(1)
    raise ValueError("with what it has done")


def moved_to_another(rows):
    x = rows.pop()
    other = [x]
    other[0].append(3)
    rows[0], x = x, rows[0]
    x.append(6)


@pytest.mark.parametrize("f", [pop_and_grow, pop_and_drop, clear_first, overwritten, raising, moved_to_another])
def test_what_is_taken_out_of_a_list_is_still_the_callers(f):
    def run(function):
        inner = [2]
        rows = [[1], inner]
        try:
            result = function(rows)
        except ValueError as error:
            result = str(error)
        return result, rows, inner, result is inner, [row is inner for row in rows]
    assert run(njit(f)) == run(f)


def test_what_is_taken_out_of_other_containers():
    def of_dict(d):
        d.pop("a").append(4)
        d["b"].append(1)

    def of_tuples(rows):
        t = rows.pop()
        t[0].append(4)

    def of_sets(rows):
        rows.pop().add(3)

    def deeper(rows):
        x = rows.pop()
        y = x.pop()
        y.append(1)
        x.append([4])

    def run(function, make, *arguments):
        watched = make()
        container = arguments[0](watched)
        function(container)
        return container, watched
    for f, make, around in [(of_dict, lambda: [2], lambda x: {"a": x, "b": [3]}), (of_tuples, lambda: [2], lambda x: [([1], 1), (x, 2)]),
                            (of_sets, lambda: {1}, lambda x: [{5}, x]), (deeper, lambda: [[2]], lambda x: [[[1]], x])]:
        assert run(njit(f), make, around) == run(f, make, around)


def into_list(d, xs):
    for k in d:
        xs.append(k)
    d.clear()


def into_own_values(d):
    for k, v in d.items():
        v.append(k)
        v.reverse()
    kept = [k for k in d]
    d.clear()
    return kept


def parts_into_list(d, xs):
    for k in d:
        xs.append(k[1])
    d.clear()


def words(n):
    return ["".join(["word", str(k), "x" * k]) for k in range(n)]


def text_arguments(function):
    if function is into_own_values:
        shared = ["".join(["b", "c"]), "ab"]
        return (dict(zip(words(3), (shared, ["".join(["a", "3"])], shared))),)
    if function is into_list:
        return {w: k for k, w in enumerate(words(30))}, ["first"]
    return {(k, w): 1 for k, w in enumerate(words(30))}, ["first"]


@pytest.mark.parametrize("function", [into_list, into_own_values, parts_into_list])
def test_MEM_text_that_was_a_key(function):
    """The dict gives its keys away before the list gets them as items: they are kept meanwhile."""
    compiled = njit(function)
    for _ in range(20):
        fast, slow = text_arguments(function), text_arguments(function)
        assert compiled(*fast) == function(*slow)
        other = words(40)  # in the memory of what went too early
        assert fast == slow and len(other) == 40
