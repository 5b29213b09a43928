"""TRAPS entries that stand alone: typing, determinism, refusals, bytecode that other tools instrument."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from quern import cuda, errors, njit


def test_INT_25_division_keeps_all_digits():
    assert njit(lambda a, b: a / b)(2**53 - 1, 1) == 2.0**53 - 1
    assert njit(lambda a, b: a // b)(2**62 + 1, 3) == (2**62 + 1) // 3


def test_FLT_09_negative_base_is_nan():
    result = njit(lambda a, b: a**b)(-8.0, 1 / 3)
    assert result != result


def test_FLT_12_signs_of_zero_survive():
    z = njit(lambda z: z.conjugate())(complex(-0.0, 0.0))
    assert (str(z.real), str(z.imag)) == ("-0.0", "-0.0")
    assert str(njit(lambda x: np.arcsin(x))(-0.0)) == "-0.0"


def test_TYP_07_none_comparisons():
    function = njit(lambda x, y=None: (y is None, y == None, None != y, x))  # noqa: E711
    assert function(1) == (True, True, False, 1)
    assert function(1, 2) == (False, False, True, 1)


def test_TYP_10_results_do_not_depend_on_the_hash_seed():
    """Byte-identical IR and machine code text for the same input."""
    program = textwrap.dedent("""
        from quern import njit
        import numpy as np, hashlib
        def helper(x, y):
            return x * y if x > y else y - x
        def f(a, n):
            s, t, names = 0.0, 1, (1, 2.5, n)
            for i in range(n):
                for j in range(i):
                    s += helper(a[i, j], s) + names[1]
                t = t * 3 + i
            return s, t
        g = njit(f)
        g(np.ones((3, 3)), 3)
        texts = [str(g.inspect_llvm()), str(g.inspect_asm())]
        print(hashlib.sha256("".join(texts).encode()).hexdigest())
    """)
    digests = set()
    for seed in ("1", "2", "1024", "random"):
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                                env={**os.environ, "PYTHONHASHSEED": seed})
        assert result.returncode == 0, result.stderr
        digests.add(result.stdout)
    assert len(digests) == 1


def test_TYP_11_deep_call_chains_are_visited_once():
    """Two calls a level: 2**14 visits if a callee were inferred again for each caller."""
    namespace = {}
    lines = ["def f0(x): return x + 1"]
    for k in range(1, 15):
        lines.append(f"def f{k}(x): return f{k - 1}(x) + f{k - 1}(x)")
    exec("\n".join(lines), namespace)
    assert njit(namespace["f14"])(1) == namespace["f14"](1)


@pytest.mark.parametrize("source, words", [
    ("def f(x):\n    try:\n        x = 1 // x\n    except* ZeroDivisionError:\n        x = 0\n    return x", r"except\*"),
    ("def f(x):\n    with x:\n        return 1", "with"),
    ("def f(x):\n    import there_is_no_such_module\n    return x", "there_is_no_such_module"),
    ("def f(x, **options):\n    return x", r"\*\*"),
    ("def f(x):\n    class A: pass\n    return x", "class"),
    ("def f(x):\n    global counter\n    counter = x", "global"),
    ("async def f(x):\n    return x", "async|coroutine"),
])
def test_CF_10_unsupported_is_named(source, words):
    namespace = {}
    exec(compile(source, "named.py", "exec"), namespace)
    with pytest.raises((errors.UnsupportedError, errors.TypingError), match=words) as caught:
        njit(namespace["f"])(1)
    assert "named.py:" in str(caught.value)


def test_CF_10_walrus_and_starred_calls():
    def walrus(n):
        total = 0
        while (n := n - 1) > 0:
            total += n
        return total

    assert njit(walrus)(10) == walrus(10)

    def callee(a, b, c):
        return a * 100 + b * 10 + c

    assert njit(lambda t: callee(*t))((1, 2, 3)) == 123
    assert njit(lambda x, t: callee(x, *t))(1, (2, 3)) == 123


def test_GLB_01_global_arrays_of_64_KB_are_frozen():
    """Larger ones are read where they are: test_globals.py."""
    for size in (4, 8192):
        namespace = {"table": np.arange(float(size))}
        exec("def f(i): return table[i]", namespace)
        function = njit(namespace["f"])
        assert function(1) == 1.0
        namespace["table"][1] = 99.0
        assert function(1) == 1.0


def test_GLB_05_nonlocal_is_refused():
    def outer():
        x = 0

        def inner(y):
            nonlocal x
            x = y
            return x

        return inner

    with pytest.raises(errors.UnsupportedError, match="x|enclosing|nonlocal"):
        njit(outer())(1)


def test_ARR_02_fancy_indexing_copies():
    a = np.arange(5.0)
    for index in (np.array([0, 1]), np.array([True, False, True, False, False])):
        taken = njit(lambda a, i: a[i])(a, index)
        assert np.array_equal(taken, a[index])
        taken[0] = 9
        assert a[0] == 0


def test_ALS_06_the_fast_variant_is_not_used_for_overlapping_arrays(device):
    @cuda.jit
    def kernel(a, b, c):
        v = a[0]
        b[0] = v + 1
        c[0] = a[0]

    one, two, out = np.zeros(1), np.zeros(1), np.zeros(1)
    kernel[1, 1](one, two, out)
    assert (two[0], out[0]) == (1.0, 0.0)
    kernel[1, 1](one, one, out)
    assert (one[0], out[0]) == (1.0, 1.0)
    kernel[1, 1](one, two, out)
    assert (two[0], out[0]) == (2.0, 1.0)
    d = cuda.to_device(np.zeros(4))
    shared = cuda.to_device(np.zeros(1))
    kernel[1, 1](d, d, shared)
    assert shared.copy_to_host()[0] == 1.0
    kernel[1, 1](d[1:], d[1:3], shared)
    assert shared.copy_to_host()[0] == 1.0


def test_ALS_06_overlaps_are_found_wherever_the_arrays_stand(device):
    many = ", ".join(f"a{i}" for i in range(20))  # more than a launch notes on the stack
    namespace = {}
    exec(f"def kernel(pair, {many}):\n pair[1][0] = a0[0] + a19[0]\n pair[0][0] = a0[0] + a19[0]", namespace)
    kernel = cuda.jit(namespace["kernel"])

    def launch(pair, arrays):
        kernel[1, 1](pair, *arrays)
        return [float(a.copy_to_host()[0] if hasattr(a, "copy_to_host") else a[0]) for a in pair]

    arrays = [cuda.to_device(np.full(3, i + 1.0)) for i in range(20)]
    out, other = cuda.to_device(np.zeros(3)), cuda.to_device(np.zeros(3))
    for _ in range(2):
        assert launch((out, other), arrays) == [21.0, 21.0]
        assert launch((out, arrays[7]), arrays) == [21.0, 21.0]
        assert launch((out, arrays[19]), arrays) == [22.0, 21.0]  # the last one shares with one inside a tuple
        arrays[19] = cuda.to_device(np.full(3, 20.0))
        assert launch((out, arrays[0][:1]), [arrays[0][:2], *arrays[1:]]) == [41.0, 21.0]
        arrays[0] = cuda.to_device(np.full(3, 1.0))
        host = np.zeros(3)
        assert launch((out, host), arrays) == [21.0, 21.0]  # host and device arrays in one launch
        assert launch((host, out), arrays) == [21.0, 21.0]


def wide_numbers(out, n, m, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = 0
        for k in range(n, n + 3):
            total += (k + i) // m + (k - i) % m
        j = x.shape[0]
        while j > 1:
            total += j * 4
            j //= 2
        out[i] = total - x[x.shape[0] - 1] * (i + n)


def test_GPU_06_int32_arithmetic_is_taken_only_where_it_suffices(device):
    """Kernels compute in int32 where lengths, grid and int arguments let them: the next launch may not."""
    kernel = cuda.jit(wide_numbers)
    few, many = np.array([3, 5]), np.broadcast_to(np.array(7), (2**31 + 6,))
    big = (2**30, 2**31 - 1, 2**31 + 5, 2**33, -(2**31) - 1, 2**62)
    for n, m in [(1, 3), *((b, 3) for b in big), *((1, b) for b in big), *((b, b - 1) for b in big), (-5, -3), (2, 4)]:
        for x in (few, many):
            out, expected = np.zeros(3, np.int64), []
            for i in range(3):
                total = sum((k + i) // m + (k - i) % m for k in range(n, n + 3))
                j = len(x)
                while j > 1:
                    total += j * 4
                    j //= 2
                expected.append((total - int(x[-1]) * (i + n) + 2**63) % 2**64 - 2**63)
            kernel[1, 4](out, n, m, x)
            assert out.tolist() == expected, (n, m, len(x))


def test_GPU_06_a_large_grid_has_64_bit_numbers(device):
    @cuda.jit
    def kernel(out, n, d):
        b = cuda.blockIdx.x
        if b >= n:
            out[b - n] = b * 1024 // d

    few, many = 2, 2**21  # more blocks than the variant with int32 arithmetic is made for
    for n in (few, many, few):
        out = np.zeros(3, np.int64)
        kernel[n + 3, 1](out, n, 3)
        assert out.tolist() == [1024 * (n + k) // 3 for k in range(3)]
    out = np.zeros(3, np.int64)
    kernel.forall(many + 3, 1)(out, many, 3)
    assert out.tolist() == [1024 * (many + k) // 3 for k in range(3)]


def test_python_floats_meet_float32_as_float32(device):
    """On a GPU they are rounded once, by the launch, where nothing else of them is looked at."""
    @cuda.jit
    def kernel(a, b, x, y):
        i = cuda.grid(1)
        if i < x.shape[0]:
            y[i] = a * x[i] + (b if b > 1e300 else 0.5)

    x = np.arange(1, 5, dtype=np.float32)
    for a in (1 / 3, 1e300, -1e-60, float("nan")):
        for b in (2.0, 1.1e300):
            for dtype in (np.float32, np.float64):
                y = np.zeros(4, dtype)
                kernel[1, 4](a, b, x.astype(dtype), y)
                with np.errstate(all="ignore"):
                    expected = dtype(a) * x.astype(dtype) + (dtype(b) if b > 1e300 else dtype(0.5))
                np.testing.assert_allclose(y, expected, rtol=1e-6)

    @cuda.jit
    def scaled(a, x):
        x[cuda.threadIdx.x] *= a

    scaled[1, 4](0.1, x)
    assert x.tolist() == (np.arange(1, 5, dtype=np.float32) * np.float32(0.1)).tolist()
    if device == "cuda":
        (ptx,) = scaled.inspect_ptx().values()
        assert ".param .f32" in ptx and "f64" not in ptx


def test_ALS_06_a_launch_takes_what_the_last_one_did_not(device):
    """The plan of the last launch is tried first: every other type of argument must be noticed."""
    @cuda.jit
    def kernel(x, out):
        out[0] = x[0] + 1

    out = cuda.to_device(np.zeros(2))
    readonly = np.full(4, 6.0)
    readonly.setflags(write=False)
    strided = cuda.to_device(np.full(4, 4.0))[::2]
    cases = [(np.full(2, 1.0), 2.0), (np.full(2, 2, np.float32), 3.0), (np.full(2, 3, np.int32), 4.0)]
    cases = [(cuda.to_device(a), r) for a, r in cases] + cases + [(strided, 5.0), (readonly, 7.0)]
    for first in cases:
        for second in cases:
            for x, expected in (first, second):
                kernel[1, 1](x, out)
                assert out.copy_to_host()[0] == expected
    with pytest.raises((TypeError, errors.TypingError)):
        kernel[1, 1](cuda.to_device(np.zeros((2, 2))), out)
    kernel[1, 1](cases[0][0], out)
    assert out.copy_to_host()[0] == 2.0


def test_BYT_05_instrumented_functions():
    """A tracer, a profiler and optimised bytecode do not change what is compiled."""
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s

    for _ in range(50):
        f(100)  # the interpreter specialises its own copy of the bytecode
    calls = []
    sys.setprofile(lambda *a: calls.append(a[1]))
    try:
        assert njit(f)(100) == 4950
    finally:
        sys.setprofile(None)
    sys.settrace(lambda *a: None)
    try:
        assert njit(f)(101) == 5050
    finally:
        sys.settrace(None)
    program = "from quern import njit\ndef f(x):\n    assert x > 100\n    return x\nprint(njit(f)(1))"
    result = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, timeout=60, env=os.environ)
    assert result.stdout == "1\n", result.stderr


def test_BYT_06_many_arguments():
    names = [f"a{i}" for i in range(40)]
    namespace = {}
    exec(f"def callee({', '.join(names)}): return {' + '.join(f'{i} * {n}' for i, n in enumerate(names))}\n"
         f"def part({', '.join(names[:20])}): return {' + '.join(f'{i} * {n}' for i, n in enumerate(names[:20]))}\n"
         f"def caller(x): return part({', '.join(f'x + {i}' for i in range(12))}, "
         f"{', '.join(f'{n}=x' for n in reversed(names[12:20]))})", namespace)
    assert njit(namespace["callee"])(*range(40)) == namespace["callee"](*range(40))
    assert njit(namespace["caller"])(3) == namespace["caller"](3)
    # beyond thirty stack items CPython builds a tuple and a dict for the call; more in test_control_flow.py
    exec(f"def many(x): return callee({', '.join(f'{n}=x' for n in names)})", namespace)
    assert njit(namespace["many"])(3) == namespace["many"](3)


def test_BYT_04_long_jumps_and_many_constants():
    lines = ["def f(x):", "    for i in range(2):", "        if x > 5:"]
    lines += [f"            x = x + {1000 + k}" for k in range(3000)]
    lines += ["        else:", "            x = x - 1", "    return x"]
    namespace = {}
    exec("\n".join(lines), namespace)
    function = njit(namespace["f"])
    for x in (0, 7):
        expected = namespace["f"](x)
        assert function(x) == expected
