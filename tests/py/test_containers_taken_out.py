"""What is put into a container that was taken out of another one, by a walk, an index, a view or a call, says what that one holds."""
from collections import deque

import pytest
from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


def append_to_all(rows, item):
    for row in rows:
        row.append(item)


def append_counted(rows, item):
    for _, row in enumerate(rows):
        row.append(item)


def append_to_values(d, item):
    for _, row in d.items():
        row.append(item)


def append_to_first(pair, item):
    pair[0].append(item)


PYTHON = dict(append_to_all=append_to_all, append_counted=append_counted, append_to_values=append_to_values, append_to_first=append_to_first)
COMPILED = {name: njit(f) for name, f in PYTHON.items()}


def numbered(n):
    rows = [[] for _ in range(n)]
    for k, row in enumerate(rows):
        row.append(k > 1)
    return rows


def numbered_text(n):
    rows = []
    for _ in range(n):
        rows.append([])
    for k, row in enumerate(rows, 2):
        row.append("k" * k)
    return rows


def side_by_side(n):
    rows, names = [[] for _ in range(n)], [set() for _ in range(n)]
    for row, name, k in zip(rows, names, range(n)):
        row.append(k > 0)
        name.add("n")
    return rows, names


def backwards(n):
    rows = [[] for _ in range(n)]
    for row in reversed(rows):
        row.append(n > 1)
    return rows


def values(n):
    d = {k: [] for k in range(n)}
    for row in d.values():
        row.append(n > 1)
    return d


def items(n):
    d = {}
    for k in range(n):
        d[k] = []
    for k, row in d.items():
        row.append(k > 1)
    return d


def items_numbered(n):
    d = {k: ([], {}) for k in range(n)}
    for j, (k, (a, b)) in enumerate(d.items()):
        a.append(k > j)
        b["k"] = k > 0
    return d


def keys(n):
    d = {k: [] for k in range(n)}
    for k in d:
        d[k].append(k > 1)
    return d


def pairs(n):
    rows = [([], k) for k in range(n)]
    for row in rows:
        row[0].append(row[1] > 1)
    return rows


def pairs_unpacked(n):
    rows = []
    for k in range(n):
        rows.append(([], {}, k))
    for a, b, k in rows:
        a.append("a" * k)
        b[k] = k > 1
    return rows


def one_pair(n):
    rows = [([], k) for k in range(n + 1)]
    rows[0][0].append(n > 1)
    return rows


def grid(n):
    cells = [[[] for _ in range(2)] for _ in range(n)]
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            cell.append((i, i > j))
    return cells


def part(n):
    rows = [[] for _ in range(n)]
    for row in rows[1:]:
        row.append(n > 1)
    return rows


def repeated(n):
    rows = [[]] * n
    for k, row in enumerate(rows):
        row.append(k > 1)
    return rows


def copied(n):
    rows = [[] for _ in range(n)]
    for row in list(rows):
        row.append(n > 1)
    for row in rows.copy():
        row.append(n > 2)
    return rows


def ordered(n):
    rows = [([], k) for k in range(n)]
    for row, k in sorted(rows, key=lambda pair: -pair[1]):
        row.append(k > 1)
    return rows


def taken(n):
    rows = [[] for _ in range(n + 1)]
    row = rows.pop()
    row.append(n > 1)
    rows.append(row)
    next(iter(rows)).append(n > 2)
    return rows


def last_item(n):
    d = {k: [] for k in range(n + 1)}
    k, row = d.popitem()
    row.append(k > 1)
    d[k] = row
    return d


def queued(n):
    queue = deque()
    queue.append(([], 0))
    path, k = queue.popleft()
    path.append(n > k)
    return path, k


def searched(n):
    stack = [([], 0)]
    path = []
    while stack:
        path, k = stack.pop()
        path.append(k > 1)
        if k < n:
            stack.append((path[:], k + 1))
    return path


def chosen(n):
    rows = [[] for _ in range(n + 2)]
    row = rows[0] if n > 2 else rows[1]
    row.append(n > 1)
    return rows


def of_a_loop(n):
    rows = [[] for _ in range(n + 1)]
    row = rows[0]
    for k in range(n):
        row.append(k > 1)
        row = rows[k]
    return rows


def two_variables(n):
    a, b = [], []
    for k, row in enumerate((a, b)):
        row.append(k > 0)
    return a, b, n


def shared_variable(n):
    rows = [[] for _ in range(n)]

    def put(item):
        for _, row in enumerate(rows):
            row.append(item)

    put(n > 1)
    return rows


def by_a_function(n):
    rows, more, d, pair = [[] for _ in range(n)], [[] for _ in range(n)], {k: [] for k in range(n)}, ([], n)
    append_to_all(rows, n > 1)
    append_counted(more, "t")
    append_to_values(d, n > 2)
    append_to_first(pair, (n, "t"))
    return rows, more, d, pair


def absent_first(n):
    slots = [None] * (n + 1)
    for k in range(n):
        slots[k] = [k > 1]
    return slots


def nothing(n):
    rows, d, pairs = [[] for _ in range(n)], {k: ([], set()) for k in range(n)}, [([], {}) for _ in range(n)]
    total = 0
    for k, row in enumerate(rows):
        total += len(row) + k
    for k, (a, b) in d.items():
        total += len(a) + len(b)
    for k, (a, b) in enumerate(pairs):
        if len(a) > 0:
            b[k] = a[0]
    return total


ALL = [numbered, numbered_text, side_by_side, backwards, values, items, items_numbered, keys, pairs, pairs_unpacked, one_pair, grid, part, repeated,
       copied, ordered, taken, last_item, queued, searched, chosen, of_a_loop, two_variables, shared_variable, by_a_function, absent_first, nothing]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_put_in_says_what_the_outer_ones_hold(f, monkeypatch):
    for n in (0, 1, 2, 4):
        want = f(n)
        with monkeypatch.context() as m:
            for name, compiled in COMPILED.items():
                m.setitem(f.__globals__, name, compiled)
            got = njit(f)(n)
        assert repr(got) == repr(want)


def test_ints_become_floats_and_nothing_is_cut():
    """On the way back to the maker nothing is lost: what would not fit where it is kept is refused, never cut."""
    @njit
    def widened(n):
        rows = [[1] for _ in range(n)]
        for k, row in enumerate(rows):
            row.append(k + 0.5)
        d = {k: [k] for k in range(n)}
        for _, row in d.items():
            row.extend([0.25])
        return rows, d

    assert widened(2) == ([[1, 0.5], [1, 1.5]], {0: [0, 0.25], 1: [1, 0.25]})

    @njit
    def starred(rows):
        first, *rest = rows
        for row in rest:
            row.append(0.5)
        return rest

    with pytest.raises(TypeError, match="cannot put into a list"):
        starred([[1], [2]])
