"""list.sort and sorted(): long lists of ints and floats by vector instructions, equal elements in the order in which they were."""
import random

import pytest

from quern import njit

LENGTHS = [0, 1, 2, 5, 31, 32, 33, 100, 1000, 5000]
ELEMENTS = {
    "small": lambda r: r.randrange(-5, 5),
    "any int": lambda r: r.randrange(-2**63, 2**63),
    "bool": lambda r: r.random() < 0.5,
    "float": lambda r: r.uniform(-1, 1),
    "zeros": lambda r: r.choice([0.0, -0.0, 1.5]),
    "infinite": lambda r: r.choice([float("inf"), -float("inf"), 2.0, 1e-310]),
    "text": lambda r: str(r.random())[:4],
    "pairs": lambda r: (r.randrange(3), r.random()),
}


def forwards(l):
    l.sort()
    return sorted(l)


def backwards(l):
    l.sort(reverse=True)
    return sorted(l, reverse=True)


def by_key(l):
    l.sort(key=lambda x: x)
    return sorted(l, key=lambda x: 0)


@pytest.mark.parametrize("f", [forwards, backwards, by_key])
@pytest.mark.parametrize("kind", ELEMENTS)
def test_lists_of_all_lengths(kind, f):
    r = random.Random(f"{kind} {f.__name__}")
    compiled = njit(f)
    for n in LENGTHS:
        ours = [ELEMENTS[kind](r) for _ in range(n)] or [ELEMENTS[kind](r)]
        theirs = ours[:]
        assert repr(compiled(ours)) == repr(f(theirs)) and repr(ours) == repr(theirs), n


def test_room_behind_the_elements_is_not_sorted():
    def f(n):
        l = []
        for i in range(n):
            l.append((i * 7919) % 1009)
        del l[n // 2:]
        l.sort()
        l.append(-1)
        return l
    assert njit(f)(3000) == f(3000)
