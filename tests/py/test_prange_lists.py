"""Elements of lists that iterations of a parallel loop assign: each its own."""
import numpy as np
import pytest

from quern import errors, njit, prange, typed


def of_arrays(n):
    parts = [np.arange(k * 1.0) for k in range(n)]
    out = [np.empty(0) for _ in range(n)]
    lengths = np.zeros(n)
    for i in prange(len(parts)):
        out[i] = parts[i] * 2
        lengths[i] = len(out[i]) + out[i].sum()
        if len(out) < 3:
            out[i] = parts[i]
    return out, lengths


def of_text(n):
    out = ["" for _ in range(n)]
    for i in prange(n):
        out[i] = str(i) * 3 + out[i]
    return out


def all_one_array(n):
    """The threads release it at the same time."""
    out = [np.zeros(2)] * n
    for i in prange(n):
        out[i] = np.full(2, i * 1.0)
    return out


def several(n):
    first, second, lengths = [np.zeros(1) for _ in range(n)], [(0, "") for _ in range(n)], np.zeros(n)
    for i in prange(n):
        first[i], second[i], lengths[i] = np.full(i % 3, 1.0), (i, str(i)), i
    return first, second, lengths


def of_lists(n):
    rows = [[0] for _ in range(n)]
    for i in prange(n):
        row = rows[i]
        rows[i] = [x + i for x in row] + [len(rows)]
    return rows


def same(a, b):
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b)


@pytest.mark.parametrize("f", [of_arrays, of_text, all_one_array, several, of_lists])
def test_each_iteration_assigns_its_element(f):
    compiled = njit(parallel=True)(f)
    for n in (0, 1, 2, 500):
        assert same(compiled(n), f(n))


def test_lists_of_the_caller():
    @njit(parallel=True)
    def scaled(a, n):
        for i in prange(n):
            a[i] = a[i] * 2 + i

    plain, held = [1.5] * 300, typed.List([1.5] * 300)
    scaled(plain, 300)
    scaled(held, 300)
    assert plain == list(held) == [3.0 + i for i in range(300)]
    with pytest.raises(IndexError):
        scaled(plain, 301)


def neighbour(a, n):
    for i in prange(n):
        a[i] = a[(i + 1) % n] + 1


def from_the_end(a, n):
    for i in prange(n):
        a[n - 1 - i] = np.ones(2)


def by_another_name(a, n):
    b = [a, a][1]
    for i in prange(n):
        a[i] = b[0] + 1


def negative(a, n):  # -1 and n - 1 are one element
    for i in prange(-3, n - 3):
        a[i] = np.ones(2)


def grown(a, n):
    for i in prange(n):
        a[i] = np.ones(2)
        a.append(np.ones(2))


def in_a_tuple(a, n):
    t = (a, 1)
    for i in prange(n):
        a[i] = np.ones(2)
        for x in t[0]:
            if x[0] > 3:
                break


def in_a_list(a, n):
    b = [a]
    for i in prange(n):
        a[i] = b[0][2]


def given_away(a, n):
    for i in prange(n):
        a[i] = np.full(2, total(a))


@njit
def total(a):
    s = 0.0
    for x in a:
        s += x[0]
    return s


def of_a_variable(a, n):
    k = n - 1
    for i in prange(n):
        a[k] = np.full(2, i * 1.0)


@pytest.mark.parametrize("f", [neighbour, from_the_end, by_another_name, negative, grown, in_a_tuple, in_a_list, given_away, of_a_variable])
def test_anything_else_is_refused(f):
    with pytest.raises(errors.TypingError, match="changes a list that others may use"):
        njit(parallel=True)(f)([np.zeros(2) for _ in range(9)], 9)


def strings(values):
    for x in values:
        yield x


def passed_on(values):
    yield from values


def asked_by_all(n):
    it = strings(["ab"] * n)
    s = 0
    for i in prange(n):
        s += len(next(it))
    return s


def of_numbers(n):
    it = (k for k in range(n))
    s = 0
    for i in prange(n):
        s += next(it)
    return s


def over_what_is_assigned(n):
    values = ["ab"] * n
    it = passed_on(values)
    s = 0
    for i in prange(n):
        values[i] = str(i)
        for x in it:
            s += len(x)
            break
    return s


@pytest.mark.parametrize("f", [asked_by_all, of_numbers, over_what_is_assigned])
def test_a_generator_of_others_is_not_asked(f):
    with pytest.raises(errors.TypingError, match="changes (a generator|an object|a list) that others may use"):
        njit(parallel=True)(f)(9)


def own_generators(n):
    texts = ["ab" * (k % 7) for k in range(n)]
    s = 0
    for i in prange(n):
        it = strings(texts)
        s += len(next(it)) + len(next(it))
        for x in (j * 2 for j in range(i)):
            s += x
    return s


def test_an_iteration_asks_generators_that_it_makes():
    for n in (2, 500):
        assert njit(parallel=True)(own_generators)(n) == own_generators(n)


@njit
def append_to_the_first(rows, i):
    rows[0].append(i)


@njit
def append_in_a_list(shared, i):
    rows = [shared]
    append_to_the_first(rows, i)


@njit
def appending(shared, n):
    for i in range(n):
        shared.append(i)
        yield i


@njit
def append_by_a_generator(shared, i):
    for _ in appending(shared, 3):
        pass


def shared_in_own_list(n):
    shared = [0]
    for i in prange(n):
        rows = [shared]
        append_to_the_first(rows, i)
    return shared


def shared_in_a_callees_list(n):
    shared = [0]
    for i in prange(n):
        append_in_a_list(shared, i)
    return shared


def shared_in_a_dict(n):
    shared = [0]
    for i in prange(n):
        rows = {0: [i]}
        rows[0] = shared
        append_to_the_first(rows, i)
    return shared


def shared_by_a_generator(n):
    shared = [0]
    for i in prange(n):
        append_by_a_generator(shared, i)
    return shared


@pytest.mark.parametrize("f", [shared_in_own_list, shared_in_a_callees_list, shared_in_a_dict, shared_by_a_generator])
def test_what_an_iteration_makes_may_lead_to_what_all_share(f):
    with pytest.raises(errors.TypingError, match="that others may use"):
        njit(parallel=True)(f)(10)
    assert len(njit(f)(10)) in (11, 31)


def own_rows(n, words):
    shared, lengths, total = [1, 2, 3], np.zeros(n), 0
    for i in prange(n):
        rows = [[i], [i + 1]]
        append_to_the_first(rows, i)
        mine = [(i, shared)]  # kept, and only looked at
        texts = [words[0]]
        texts.append("x")
        own = [i]
        for v in appending(own, 2):
            total += v
        lengths[i] = len(rows[0]) + len(mine[0][1]) + len(texts) + len(own)
    return lengths.sum(), total


def test_what_an_iteration_has_made_with_all_that_it_leads_to_is_changed_by_callees():
    assert njit(parallel=True)(own_rows)(100, ["a"]) == njit(own_rows)(100, ["a"]) == (1000.0, 100)


@njit
def append_at_last(values, n):
    if n > 0:
        return append_later(values, n - 1)
    values.append(n)
    return 0


@njit
def append_later(values, n):
    return append_at_last(values, n)


@njit
def given_or_new(values, n):
    if n > 0:
        return new_or_given(values, n - 1)
    return values


@njit
def new_or_given(values, n):
    if n > 3:
        return [1]
    return given_or_new(values, n)


def by_functions_that_call_each_other(n):
    shared = [0]
    for i in prange(n):
        append_at_last([0], 2)
        append_later(shared, 2)
    return shared


def from_functions_that_call_each_other(n):
    shared = [0]
    for i in prange(n):
        given_or_new([0], 2)
        new_or_given(shared, 2).append(i)
    return shared


def own_by_functions_that_call_each_other(n):
    total = 0
    for i in prange(n):
        own = [i]
        append_at_last(own, 2)
        append_later(own, 2)
        total += len(own)
    return total


@pytest.mark.parametrize("f", [by_functions_that_call_each_other, from_functions_that_call_each_other])
def test_functions_that_call_each_other_change_what_either_changes(f):
    with pytest.raises(errors.TypingError, match="changes a list that others may use"):
        njit(parallel=True)(f)(10)
    assert len(njit(f)(10)) == 11
    assert njit(parallel=True)(own_by_functions_that_call_each_other)(100) == 300
