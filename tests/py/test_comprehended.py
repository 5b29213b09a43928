"""What a comprehension makes is a list, dict or set like any other: what is put in later is of one type with its items, on CPythons that make a
function of it and on those that do not."""
import pytest
from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same_values  # noqa: F401

from quern import errors, njit, types
from quern.experimental import jitclass


@njit
def added_to_a_count(n):
    counts = [0 for _ in range(n)]
    counts[0] += 0.5
    counts.append(2)
    return counts


@njit
def added_to_a_value(n):
    d = {i: 0 for i in range(n)}
    d[0] += 1.5
    return d


@njit
def a_float_among_ints(n):
    s = {i for i in range(n)}
    s.add(0.5)
    return sorted(s)


@njit
def a_float_in_a_row(n):
    rows = [[0 for _ in range(n)] for _ in range(n)]
    rows[0][1] = 2.5
    return rows


@njit
def made_or_shown(n):
    xs = [i for i in range(n)] if n > 1 else [0.5]
    return xs


@njit
def text_among_none(n):
    xs = [None for _ in range(n)]
    xs[0] = "a"
    return xs


@njit
def value_among_none(n):
    d = {k: None for k in "ab"}
    d["a"] = n
    return d


@njit
def through_another_name(n):
    xs = [i for i in range(n)]
    ys = xs
    ys += [0.5]
    return xs


@njit
def characters_of_rows(n):
    grid = [["." for _ in range(n)] for _ in range(n)]
    grid[0][0] = "#"
    return ["".join(r) for r in grid]


@njit
def named_again(n):
    xs = [i for i in range(n)]
    xs = [x + 1 for x in xs]
    xs = [x / 2 for x in xs]
    return xs


@njit
def only_read(n):
    xs = sorted([i for i in range(n)])
    ys = [i for i in range(n)][1:]
    zs = [i for i in range(n)] + [0.5]
    return xs, ys, len(zs), sum([i for i in range(n)])


@jitclass
class Table:
    rows: types.ListType(types.ListType(types.float64))
    names: types.DictType(types.unicode_type, types.float64)
    def __init__(self, n):
        self.rows = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
        self.names = {str(i): i * 0.5 for i in range(n)}


@njit
def shared_by_an_instance(n):
    x = Table(n)
    x.rows[0][1] = 5.0
    return [list(r) for r in x.rows], sum(x.names.values())


PROGRAMS = [added_to_a_count, added_to_a_value, a_float_among_ints, a_float_in_a_row, made_or_shown, text_among_none, value_among_none, through_another_name,
            characters_of_rows, named_again, only_read]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [2, 5])
def test_beside_cpython(f, n):
    same_values(f, n)


def test_in_fields_of_an_instance():
    assert shared_by_an_instance(3) == ([[1.0, 5.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 1.5)


def test_each_allocation_fails():
    assert each_allocation_fails(a_float_in_a_row, lambda: (2,)) == [[0, 2.5], [0, 0]]
    assert each_allocation_fails(text_among_none, lambda: (2,)) == ["a", None]


@njit
def text_among_ints(n):
    xs = [i for i in range(n)]
    xs.append("a")
    return xs


def test_another_sort_is_refused():
    with pytest.raises(errors.TypingError, match="cannot put into a list of (int: str|str: int)"):
        text_among_ints(2)
