"""What kernels make: arrays of constant shapes, lists of constant lengths, dicts with text keys. They are memory of the thread."""
import os
import pathlib
import sys

import numpy as np
import pytest

import quern
from quern import cuda, errors, float32, int32, njit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
from kernel_lists import program, wrong_lists  # noqa: E402

N = 5
TABLE = (0.5, 1.5, 2.5)


@pytest.fixture
def run(device):
    """The kernel by eight threads in two blocks, each with a number of its own; gives what they leave in `out`."""
    def go(kernel, *args, **options):
        out = np.full(8, -1.0)
        cuda.jit(**options)(kernel)[2, 4](*args, out)
        cuda.synchronize()
        return out.tolist()
    return go


def by_thread(f):
    return [float(f(i)) for i in range(8)]


def test_new_arrays(run):
    def k(out):
        i = cuda.grid(1)
        a = np.zeros(4)
        a[i % 4] = i
        b = np.ones((2, 3), np.float32)
        c = np.full(3, i)
        d = np.empty((N, 2), dtype=int32)
        d[:] = 2
        d[1, 1] = i
        out[i] = a.sum() + b.sum() * 10 + c[2] * 100 + d.sum() * 10000 + d.shape[0]

    assert run(k) == by_thread(lambda i: i + 60 + 100 * i + 10000 * (18 + i) + N)


def test_shapes_of_other_arrays_and_constants(run):
    def k(out):
        i = cuda.grid(1)
        a = cuda.local.array((2, N), float32)
        a[:] = i
        b = np.zeros(a.shape)
        c = np.zeros_like(a)
        d = np.zeros(len(TABLE) + a.shape[1], a.dtype)
        for j in range(len(TABLE)):
            d[j] = TABLE[j]
        out[i] = a.sum() + b.size * 100 + c.size * 1000 + d.size * 10000 + d.sum()

    assert run(k) == by_thread(lambda i: 10 * i + 1000 + 10000 + 80000 + 4.5)


def test_arrays_of_numbers_and_expressions(run):
    def k(x, out):
        i = cuda.grid(1)
        a = np.array([x[i], 2.0, 3.0])
        b = a * 2 + np.array([1, 0, 0])
        m = np.array([[1.0, 2.0], [3.0, x[i]]])
        n = m @ m
        r = np.arange(4)
        s = np.linspace(0, 1, 5)
        c = a.copy()
        c[0] = 0
        out[i] = b[0] + np.dot(a, c) * 10 + n[1, 1] * 1000 + r[3] * 1e5 + s[2] + np.linalg.norm(c) ** 2

    x = np.arange(8.0)
    want = by_thread(lambda i: 2 * i + 1 + 130 + (6 + i * i) * 1000 + 3e5 + 0.5 + 13)
    assert np.allclose(run(k, x), want, rtol=1e-15)


def test_one_in_each_round(run):
    """The array of a round is another one than that of the round before: nothing of it is left."""
    def k(out):
        i = cuda.grid(1)
        total = 0.0
        for j in range(3):
            a = np.zeros(4)
            a[j] += i + 1
            if j % 2 == 0:
                b = np.zeros(2)
                b[0] += 10
                total += b.sum()
            total += a.sum()
        out[i] = total

    assert run(k) == by_thread(lambda i: 3 * (i + 1) + 20)


def test_an_array_over_a_barrier(run):
    def k(out):
        i, t = cuda.grid(1), cuda.threadIdx.x
        tile = cuda.shared.array(4, float32)
        a = np.zeros(3)
        a[1] = i
        tile[t] = i
        cuda.syncthreads()
        a[2] = tile[3 - t]
        cuda.syncthreads()
        out[i] = a[0] + a[1] * 10 + a[2]

    assert run(k) == by_thread(lambda i: 10 * i + (3 - i if i < 4 else 11 - i))


def vector(x, y, z):
    v = np.empty(3)
    v[0], v[1], v[2] = x, y, z
    return v


@njit
def cross(a, b):
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@cuda.jit(device=True)
def both(x):
    a = cuda.local.array(2, float32)
    a[0] = x
    a[1] = 1
    if x > 3:
        return a, vector(x, 0, 0)
    return a, vector(0, x, 0)


def test_functions_give_arrays_back(run):
    """Their memory ends with them: they are written into their callers, each call with an array of its own."""
    def k(out):
        i = cuda.grid(1)
        a, b = vector(1, 0, i), vector(0, 1, 0)
        c = cross(a, b)
        d, e = both(i)
        f, g = both(i + 10)
        out[i] = c[0] + c[1] * 10 + c[2] * 100 + d[0] + e[1] * 1000 + f[0] * 1e4 + g[0] * 1e6

    want = by_thread(lambda i: -i + 100 + i + (i * 1000 if i <= 3 else 0) + 1e4 * (i + 10) + 1e6 * (i + 10))
    assert run(k) == want
    assert run(k, opt=False) == want


def test_local_arrays_given_back(run):
    """Of cuda.local.array it held on the cpu device, and on GPUs what lay there was anybody's."""
    def make(n, x):
        a = cuda.local.array(n, float32)
        for j in range(n):
            a[j] = x + j
        return a

    def k(out):
        i = cuda.grid(1)
        a, b = make(3, i), make(4, 2 * i)
        out[i] = a[2] * 100 + b[3]

    assert run(k) == by_thread(lambda i: (i + 2) * 100 + 2 * i + 3)


def test_lists(run):
    def k(x, out):
        i = cuda.grid(1)
        acc = [0.0] * 4
        for j in range(8):
            acc[j % 4] += x[j]
        names = [3, 1, 2]
        names[i % 3] = 9
        seen = [False] * 8
        seen[i] = True
        count = 0
        for s in seen:
            count += s
        total = 0.0
        for j, v in enumerate(names):
            total += j * v
        names[0], names[-1] = names[-1], names[0]
        out[i] = acc[1] + 100 * sum(names) + 10000 * count + 1e5 * total + 1e7 * max(names) + (9 in names) + len(acc) + 1e9 * names[0]

    def want(i):
        names = [3, 1, 2]
        names[i % 3] = 9
        total = sum(j * v for j, v in enumerate(names))
        return 6 + 100 * sum(names) + 10000 + 1e5 * total + 9e7 + 1 + 4 + 1e9 * names[2]

    assert run(k, np.arange(8.0)) == by_thread(want)


def test_the_type_of_a_list_is_that_of_all_that_is_put_in(device):
    @cuda.jit
    def k(x, out):
        acc = [0.0] * 2  # Python floats that meet float32
        mixed = [0, 1]
        for j in range(3):
            acc[j % 2] += x[j]
        mixed[1] = 2.5
        out[0] = acc[0] * acc[0]
        out[1] = mixed[1]

    x = np.array([1 + 2 ** -12, 1, 0], np.float32)
    out = np.zeros(2)
    k[1, 1](x, out)
    assert out.tolist() == [float(x[0] * x[0]), 2.5]


def test_a_list_in_each_round(run):
    def k(out):
        i = cuda.grid(1)
        total = 0.0
        for j in range(3):
            a = [0.0, 1.0]
            a[j % 2] += i
            total += a[0] * 10 + a[1]
        out[i] = total

    assert run(k) == by_thread(lambda i: 10 * i + 1 + 1 + i + 10 * i + 1)


def test_sorting_by_hand(run):
    def k(x, out):
        i = cuda.grid(1)
        a = 0.0
        b = [x[i % 4], x[(i + 1) % 4], x[(i + 2) % 4], x[(i + 3) % 4]]
        for n in range(4):
            for j in range(3 - n):
                if b[j] > b[j + 1]:
                    b[j], b[j + 1] = b[j + 1], b[j]
        out[i] = a + b[0] * 1000 + b[1] * 100 + b[2] * 10 + b[3]

    assert run(k, np.array([2.0, 0, 3, 1])) == [123.0] * 8


def test_a_dict_with_text_keys(run):
    def k(x, out):
        i = cuda.grid(1)
        d = {"low": x[i], "high": 2.0}
        e = dict(step=3)
        out[i] = d["low"] + d["high"] * e["step"]

    assert run(k, np.arange(8.0)) == by_thread(lambda i: i + 6)


def test_ufuncs_with_out(run):
    def k(x, y, out):
        i = cuda.grid(1)
        if i == 0:
            np.sqrt(x, out=y)
            np.add(y, 1, out=y)
        out[i] = 0

    x, y = np.arange(6.0) ** 2, np.zeros(6)
    run(k, x, y)
    assert y.tolist() == [1, 2, 3, 4, 5, 6]


REFUSED = {
    "shape": ("a = np.zeros(n)\n o[0] = a[0]", "E0606", "numpy.zeros makes in a kernel must be known"),
    "negative": ("a = np.zeros(-2)\n o[0] = 1", "E0607", "negative"),
    "large": ("a = np.zeros((1000, 1000))\n o[0] = a[0, 0]", "E0608", "8000000 bytes"),
    "round before": ("p = np.zeros(2)\n for r in range(n):\n  q = np.zeros(2)\n  q[0] = p[0] + 1\n  p = q\n o[0] = p[0]", "E0609", "next round"),
    "view of the round before": ("p = np.zeros(2)[:1]\n for r in range(n):\n  q = np.zeros(2)\n  q[0] = p[0] + 1\n  p = q[:1]\n o[0] = p[0]", "E0609", "next round"),
    "recursion": ("o[0] = again(n)[0]", "E0610", "calls itself"),
    "shared": ("o[0] = with_shared(n)[0]", "E0610", "shared array"),
    "sum of lists": ("a = [1, 2]\n a[0] = n\n b = a + [3]\n o[0] = b[0]", "E0101", "an operator between lists"),
    "slice": ("a = [1, 2]\n a[0] = n\n b = a[:1]\n o[0] = b[0]", "E0101", "a slice of a list"),
    "comparison": ("a = [1, 2]\n a[0] = n\n o[0] = a == [1, 2]", "E0101", "an operator between lists"),
    "argument": ("a = [1, 2]\n a[0] = n\n o[0] = first(a)", "E0101", "a list as an argument"),
    "method": ("a = [1, 2]\n a[0] = n\n a.append(3)\n o[0] = 1", "E0101", "the method 'append'"),
    "text": ("a = [1, 2]\n a[0] = 'x'\n o[0] = 1", "E0206", "a list of int"),
    "change of a dict": ("d = {'a': 1}\n d['a'] = n\n o[0] = 1", "E0", ""),
}


def first(a):
    return a[0]


def again(n):
    a = np.zeros(2)
    if n > 0:
        a[0] = again(n - 1)[0] + 1
    return a


def with_shared(n):
    s = cuda.shared.array(2, float32)
    a = np.zeros(2)
    s[0] = n
    a[0] = s[0]
    return a


@pytest.mark.parametrize("name", REFUSED)
def test_refused(device, name):
    body, code, text = REFUSED[name]
    scope = dict(globals())
    exec(f"def k(n, o):\n {body}\n", scope)
    with pytest.raises(errors.NumbaError) as told:
        cuda.jit(scope["k"])[1, 1](3, np.zeros(1))
    assert code in str(told.value) and text in str(told.value)


@pytest.mark.parametrize("abi", ["c", "numba"])
def test_a_device_function_by_itself_gives_no_array_of_its_own_back(abi):
    def inside(x):
        return vector(x, 1, 2)[0] * 2

    def outside(x):
        return vector(x, 1, 2)

    assert "local" not in cuda.compile(inside, "float64(float64)", device=True, abi=abi)[0]
    with pytest.raises(errors.UnsupportedError, match="E0610"):
        cuda.compile(outside, (quern.float64,), device=True, abi=abi)


def test_facts_of_an_overload(device):
    @cuda.jit("void(float64[:])")
    def k(x):
        a = np.zeros(100)
        for i in range(100):
            a[i] = x[i % x.size]
        x[0] = a[int(x[0])]

    overload, = k.overloads.values()
    assert overload.local_mem_per_thread == k.get_local_mem_per_thread()
    for name in ("regs_per_thread", "shared_mem_per_block", "const_mem_size", "max_threads_per_block"):
        assert getattr(overload, name) == getattr(k, "get_" + name)()


ROUNDS = int(os.environ.get("QUERN_PROGRAMS", "240")) // 8


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(ROUNDS)])
def test_random_lists_and_arrays(device, seed):
    assert not wrong_lists(program(seed))


def test_few_random_programs_are_refused():
    """Where names change hands in loops, and no more: one in some hundreds."""
    refused = [seed for seed in range(100) if wrong_lists(program(seed)) is None]
    assert len(refused) < 10
