"""The decorated function: arguments, specialisations, options, results, attributes. CPython is the oracle."""
import collections
import functools
import gc
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import warnings
import weakref

import numpy as np
import pytest

import quern
from quern import (boolean, errors, float32, float64, int8, int32, int64, jit, njit, prange, types, uint64, void)


@njit
def add(a, b):
    return a + b


def run(program, **environment):
    """A program in its own process; its output."""
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                            timeout=60, env={**os.environ, **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


# -- arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a, b", [(1, 2), (1.5, 2), (2, 1.5), (True, 2), (1j, 2), (1 + 2j, 0.5), (-3, 3),
                                  (2**62, 1), (-2**63, 0), (2**31, 2**31), (0, 0), (2**30 - 1, 2**30)])
def test_python_numbers(a, b):
    result = add(a, b)
    assert result == a + b and type(result) is type(a + b)


def test_each_type_has_its_own_specialisation():
    @njit
    def same(x):
        return x

    values = [1, 1.0, True, 1j, np.int8(1), np.uint64(1), np.float32(1), np.float64(1), np.complex64(1)]
    for _ in range(2):
        for value in values:
            assert same(value) == value
    assert len(same.signatures) == len(values)
    assert int8 in [s[0] for s in same.signatures] and float32 in [s[0] for s in same.signatures]


@pytest.mark.parametrize("name", "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split())
def test_INT_17_numpy_scalars_keep_their_width(name):
    kind = np.dtype(name).type
    extreme = np.finfo(kind).max if kind(0).dtype.kind == "f" else np.iinfo(kind).max
    same = njit(lambda x: x)
    assert same(kind(extreme)) == kind(extreme)
    assert repr(same.signatures[0][0]) == name


def test_numpy_long_and_long_long_are_one_type():
    same = njit(lambda x: x)
    assert same(np.dtype("q").type(2**40)) == same(np.dtype("l").type(2**40)) == 2**40
    assert len(same.signatures) == 1


@pytest.mark.parametrize("value", [-2**63 - 1, 2**64, 10**30])
def test_TYP_13_big_ints_do_not_wrap(value):
    with pytest.raises(OverflowError, match="too large"):
        add(value, 1)
    with pytest.raises(OverflowError):
        add(1, value)


def test_subclasses_of_numbers():
    import enum

    class Number(int):
        pass

    class Real(float):
        pass

    class Colour(enum.IntEnum):
        RED = 7

    assert add(Number(3), 4) == 7 and add(Real(1.5), 1) == 2.5 and add(Colour.RED, 1) == 8
    assert add(Number(3), Number(4)) == 7


@pytest.mark.parametrize("value, hint", [([memoryview(b"x")], "memoryview"),
                                         (collections.ChainMap({1: 2}), "ChainMap"), ({1: 2}.keys(), "dict_keys"),
                                         (object(), "pass numbers"), (np.ma.array([1.0]), "subclass"),
                                         (np.matrix([[1.0]]), "subclass"), (np.array(["a"], ">U1"), "dtype"),
                                         (np.array([None]), "dtype"), (np.zeros(2, ">M8[s]"), "dtype")])
def test_ARR_17_refused_arguments(value, hint):
    with pytest.raises(errors.TypingError, match=hint) as caught:
        add(1, value)
    assert "argument 2 of 'add'" in str(caught.value)


def test_ARR_10_other_byte_order_is_a_type_error():
    with pytest.raises(TypeError, match="byte order"):
        njit(lambda a: a[0])(np.zeros(3, ">i4" if sys.byteorder == "little" else "<i4"))


def test_none_and_tuples():
    @njit
    def pick(t, x):
        if x is None:
            return t[0]
        return t[1] + x

    assert pick((1, 2), None) == 1 and pick((1, 2.5), 4) == 6.5
    assert pick((1, (2, 3))[:1] + (8,), 1) == 9


def test_TYP_12_tuples_of_other_sizes_are_other_types():
    size = njit(lambda t: len(t))
    for t in [(), (1,), (1, 2), (1, 2, 3), (1, 2.0), ((1, 2), 3)]:
        assert size(t) == len(t)
    assert njit(lambda t: t[1][0] + t[0])((1, (5, 2.5))) == 6


def test_named_tuples():
    Point = collections.namedtuple("Point", "x y")
    norm = njit(lambda p: p.x * p.x + p.y * p.y)
    assert norm(Point(3, 4)) == 25 and norm(Point(1.5, 2)) == 6.25
    result = njit(lambda p: p)(Point(1, 2.5))
    assert type(result) is Point and result == Point(1, 2.5)


def test_tuple_results():
    assert njit(lambda a, b: (a, b, (a + b, True)))(1, 2.5) == (1, 2.5, (3.5, True))
    assert njit(lambda: ())() == ()
    array = np.arange(3.0)
    first, second = njit(lambda a: (a, a.shape))(array)
    assert first is array and second == (3,)


def test_L09_keywords_defaults_and_positional_only():
    @njit
    def f(a, b, /, c=3, *, d=4):
        return ((a * 10 + b) * 10 + c) * 10 + d

    assert f(1, 2) == 1234 and f(1, 2, 5) == 1254 and f(1, 2, d=9) == 1239 and f(1, 2, d=9, c=8) == 1289
    for args, kwargs, text in [((1,), {}, "missing a required argument: 'b'"),
                               ((1, 2, 3, 4), {}, "takes 3 positional arguments but 4 were given"),
                               ((1, 2), {"e": 1}, "unexpected keyword argument 'e'"),
                               ((1, 2, 3), {"c": 1}, "multiple values for argument 'c'"),
                               ((1,), {"b": 2}, "unexpected keyword argument 'b'")]:
        with pytest.raises(TypeError, match=text):
            f(*args, **kwargs)


def test_GLB_06_default_array_persists():
    def count(i, seen=np.zeros(3)):
        seen[i] += 1
        return seen[i]

    compiled = njit(count)
    assert [compiled(1), compiled(1), compiled(2)] == [1, 2, 1]
    assert count.__defaults__[0][1] == 2


def test_methods():
    class Thing:
        scale = 3

        @njit
        def double(self):
            return self * 2

    assert isinstance(Thing.__dict__["double"], quern._quern.Dispatcher)
    assert Thing.double(4) == 8
    with pytest.raises(errors.TypingError, match="argument 1 of 'double'"):
        Thing().double()


# -- arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", [
    np.arange(6.0), np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(12.0)[::2], np.arange(12.0)[::-1], np.arange(24.0).reshape(4, 6)[1:3, ::2], np.zeros((0, 3)),
    np.array(5.0), np.broadcast_to(np.arange(3.0), (2, 3)), np.arange(4.0).reshape(1, 4)[:, ::2],
    np.zeros(33, np.uint8)[1:].view(np.float64)], ids=str)
def test_ARR_08_every_layout(array):
    same = njit(lambda a: a)
    assert same(array) is array
    shape = njit(lambda a: a.shape)
    assert shape(array) == array.shape


def test_ARR_08_sum_of_every_layout():
    @njit
    def total(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j]
        return s

    base = np.random.default_rng(1).random((6, 8))
    for view in [base, base.T, base[::2], base[:, ::-1], base[::-1, ::-1], np.asfortranarray(base), base[:1],
                 base[:, :1], base[:0], base[2:3, 1:2]]:
        assert total(view) == pytest.approx(view.sum())
    odd = np.lib.stride_tricks.as_strided(np.arange(4.0), (1, 4), (12345, 8))
    assert total(odd) == 6
    # what NumPy calls contiguous has the strides of contiguity here: compiled code may rely on them
    assert njit(lambda a: a.strides)(odd) == (32, 8)
    assert njit(lambda a: a[0:1, 1:].strides)(odd) == (32, 8)


def test_ARR_11_read_only_arrays():
    @njit
    def write(a):
        a[0] = 1.0

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(errors.TypingError, match="read-only"):
        write(frozen)
    assert frozen[0] == 0
    writable = np.zeros(3)
    write(writable)
    assert writable[0] == 1
    with pytest.raises(errors.TypingError):  # the specialisation for writable arrays is not taken
        write(frozen)
    view = njit(lambda a: a[1:])(frozen)
    assert not view.flags.writeable


def test_MEM_07_references_do_not_change():
    @njit
    def work(a, t, fail):
        b = a[1:]
        if fail:
            raise ValueError("x")
        return b[0] + t[0]

    array, pair = np.arange(4.0), (1.0, 2)
    before = sys.getrefcount(array), sys.getrefcount(pair)
    for fail in [False, True] * 50:
        try:
            work(array, pair, fail)
        except ValueError:
            pass
    gc.collect()
    assert (sys.getrefcount(array), sys.getrefcount(pair)) == before


def test_views_of_arguments_keep_them_alive():
    tail = njit(lambda a: a[1:])
    array = np.arange(5.0)
    view = tail(array)
    assert view.base is array and (view == [1, 2, 3, 4]).all()
    view[0] = 9
    assert array[1] == 9
    del array
    gc.collect()
    assert view[3] == 4


def test_arrays_made_inside_are_released():
    @njit
    def make(n):
        a = np.empty(n)
        for i in range(n):
            a[i] = i
        return a

    before = quern._quern.live_allocations()
    arrays = [make(10) for _ in range(20)]
    assert all((a == np.arange(10.0)).all() and a.flags.writeable for a in arrays)
    assert quern._quern.live_allocations() == before + 20
    tail = arrays[0][5:]
    del arrays
    assert quern._quern.live_allocations() == before + 1 and tail[0] == 5
    del tail
    assert quern._quern.live_allocations() == before


# -- signatures and overloads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("signature", ["float64(int32, float64)", float64(int32, float64), (int32, float64),
                                       "f8(i4, f8)", ["float64(int32, float64)"], [(int32, float64)]])
def test_D03_eager_signatures(signature):
    f = njit(signature)(lambda a, b: a * b)
    assert f.signatures == [(int32, float64)]
    assert f(3, 0.5) == 1.5 and f(np.int8(3), 2) == 6.0


def test_D03_conversions_to_declared_types():
    f = njit("float32(float32)")(lambda x: x)
    assert f(0.1) == float(np.float32(0.1)) and f(1) == 1.0
    g = njit("uint64(uint64)")(lambda x: x)
    assert g(2**64 - 1) == 2**64 - 1
    h = njit(["int64(int64)", "float64(float64)"])(lambda x: x)
    assert type(h(3)) is int and type(h(3.0)) is float and type(h(np.int8(3))) is int
    assert type(h(np.float32(3))) is float and len(h.signatures) == 2


def test_TYP_08_floats_become_declared_ints():
    f = njit("int32(int32, int32)")(lambda a, b: a + b)
    assert f(1, 2) == 3
    assert f(12.3, 45.6) == 57
    with pytest.raises(TypeError):
        f(1, 2j)


def test_D03_array_signatures():
    f = njit("float64(float64[:, ::1])")(lambda a: a[1, 1])
    assert f(np.arange(4.0).reshape(2, 2)) == 3
    with pytest.raises(TypeError, match="No matching"):
        f(np.asfortranarray(np.zeros((2, 2))))
    g = njit(void(float64[:]))(lambda a: None)
    assert g(np.zeros(3)) is None and g(np.zeros(6)[::2]) is None


def test_bad_signatures():
    for text in ["float64(float65)", "float64(", "(int64, )extra"]:
        with pytest.raises(ValueError, match="signature"):
            njit(text)(lambda a: a)
    with pytest.raises(TypeError, match="has 1 parameter, "):
        njit("int64(int64)")(lambda a, b: a)
    with pytest.raises(TypeError, match="not a signature"):
        njit([3])


def test_compile_and_disable():
    f = njit(lambda x: x + 1)
    f.compile("int64(int64)")
    f.disable_compile()
    assert f(1) == 2 and f.signatures == [(int64,)]
    assert f(1.5) == 2
    with pytest.raises(TypeError):
        f(1j)
    f.disable_compile(False)
    assert f(1.5) == 2.5


def test_recompile_reads_globals_again():
    space = {"k": 1}
    exec("def f(x): return x + k", space)
    f = njit(space["f"])
    assert f(1) == 2
    space["k"] = 10
    assert f(1) == 2
    f.recompile()
    assert f(1) == 11 and len(f.signatures) == 1


def test_recompile_reads_the_options_again():
    decorator = njit(error_model="python")
    f, g = decorator(lambda a, b: a / b), decorator(lambda a, b: a / b)
    assert f(1.0, 2.0) == g(1.0, 2.0) == 0.5 and f.targetoptions["error_model"] == "python"
    f.targetoptions["error_model"] = "numpy"
    with pytest.raises(ZeroDivisionError):
        f(1.0, 0.0)
    f.recompile()
    assert np.isinf(f(1.0, 0.0)) and f(1.0, 2.0) == 0.5
    g.recompile()
    with pytest.raises(ZeroDivisionError):
        g(1.0, 0.0)
    f.targetoptions["error_model"] = "none"
    with pytest.raises(ValueError, match="error_model"):
        f.recompile()
    assert np.isinf(f(1.0, 0.0))


def test_recompile_with_fast_math():
    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    f, a = njit(fastmath=False)(total), np.array([1e16] + [1.0] * 63)
    assert f(a) == total(a)
    f.targetoptions["fastmath"] = True
    f.recompile()
    assert f(a) > total(a)  # several sums at a time


def test_THR_01_many_threads_one_compilation():
    f = njit(lambda x: x * 3 + 1)
    barrier, results = threading.Barrier(8), []

    def call():
        barrier.wait()
        results.append([f(k) for k in range(50)])

    threads = [threading.Thread(target=call) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[k * 3 + 1 for k in range(50)]] * 8 and len(f.signatures) == 1


def test_nogil_runs_beside_python():
    @njit(nogil=True)
    def spin(n):
        x = 1
        for i in range(n):
            x = x * 3 + i
        return x

    spin(10)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(spin(300_000_000)))
    thread.start()
    count = 0
    while thread.is_alive():
        count += 1
    thread.join()
    assert count > 1000 and seen == [spin(300_000_000)]


# -- decorator ---------------------------------------------------------------------------------------------------


def test_D01_forms():
    def f(x):
        return x + 1

    for form in [jit, njit, jit(), njit(), jit(nopython=True), jit(nopython=False), njit(cache=True, fastmath=True),
                 njit(parallel=True, nogil=True), jit(error_model="numpy"), njit(inline="always"),
                 njit(boundscheck=False)]:
        compiled = form(f)
        assert compiled(2) == 3 and compiled.py_func is f


def test_unknown_options_are_errors():
    with pytest.raises(TypeError, match="did you mean nopython"):
        jit(nopyton=True)
    with pytest.raises(TypeError, match="has no option 'gpu'"):
        njit(gpu=1)
    with pytest.raises(ValueError, match="fastmath flag"):
        njit(fastmath={"fst"})
    with pytest.raises(KeyError, match="^jit\\(\\) has no option 'gpu'; known"):  # Numba's class
        njit(gpu=1)
    with pytest.raises(ValueError, match="error_model"):
        njit(error_model="c")
    with pytest.raises(TypeError, match="compiled already"):
        njit(add)
    with pytest.raises(TypeError):
        njit(3)


def test_jit_falls_back_with_one_warning():
    @jit
    def text(x):
        return f"{x}!" if id(x) else ""

    with pytest.warns(errors.NumbaWarning, match="text.*runs as a Python function") as caught:
        assert text(1) == "1!"
    assert len(caught) == 1 and "test_jit.py" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert text(2) == "2!" and text(2.5) == "2.5!" and text("a") == "a!"


def test_jit_falls_back_for_arguments():
    @jit
    def first(x):
        return x[0]

    with pytest.warns(errors.NumbaWarning):
        assert first(collections.ChainMap({0: 5})) == 5
    assert first(np.array([7.5])) == 7.5


def test_jit_never_runs_twice_after_an_exception():
    calls = []

    def f(a, i):
        a[0] += 1
        return a[i]

    compiled = jit(f)
    array = np.zeros(3)
    with pytest.raises(IndexError):
        compiled(array, 5)
    assert array[0] == 1 and not calls


def test_njit_does_not_fall_back():
    f = njit(lambda x: str(id(x)))
    for _ in range(2):
        with pytest.raises(errors.NumbaError):
            f(1)


def test_forceobj_is_python():
    def f(x):
        return [x]

    assert jit(forceobj=True)(f)(1) == [1]


def test_D24_disable_jit():
    out = run("""
        from quern import jit, njit, prange
        def f(x): return x
        assert njit(f) is f and jit(nopython=True)(f) is f and njit("int64(int64)")(f) is f
        print("ok")
    """, QUERN_DISABLE_JIT="1")
    assert out == "ok\n"


def test_prange_is_range():
    assert list(prange(3)) == [0, 1, 2]

    @njit(parallel=True)
    def total(n):
        s = 0
        for i in prange(1, n):
            s += i
        return s

    assert total(101) == 5050


# -- attributes ------------------------------------------------------------------------------------------------------


def test_looks_like_its_function():
    def sample(a, b=2):
        """A docstring."""
        return a + b

    f = njit(sample)
    assert f.__name__ == "sample" and f.__doc__ == "A docstring." and f.__wrapped__ is sample
    assert f.__module__ == __name__ and f.__defaults__ == (2,) and "sample" in repr(f)
    assert str(inspect.signature(f)) == "(a, b=2)"
    f.note = 5
    assert f.note == 5 and f.__dict__ == {"note": 5}


def test_annotations_are_the_functions():
    """Also where CPython evaluates them when asked (3.14): names unknown here do no harm until then."""
    def typed(a: int, b: "later" = 2) -> float:
        return a * b

    f = njit(typed)
    assert f.__annotations__ == {"a": int, "b": "later", "return": float} and f(3) == 6

    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    assert wrapper.__annotations__ == typed.__annotations__
    assert hasattr(f, "__annotate__") == hasattr(typed, "__annotate__")
    if sys.version_info >= (3, 14):
        import annotationlib

        def unknown(a: nowhere) -> nowhere:  # noqa: F821
            return a + 1

        names = annotationlib.get_annotations(njit(unknown), format=annotationlib.Format.STRING)
        assert names == {"a": "nowhere", "return": "nowhere"}
        assert njit(unknown)(1) == 2


def test_inspection(capsys):
    f = njit(lambda x: x * 2)
    f(1), f(1.5)
    assert f.nopython_signatures[0].return_type == int64
    llvm = f.inspect_llvm()
    assert set(llvm) == set(f.signatures) and all("define" in text for text in llvm.values())
    assert "fmul" in f.inspect_llvm((float64,)) or "fadd" in f.inspect_llvm((float64,))
    assert "ret" in f.inspect_asm((int64,))
    f.inspect_types()
    assert "<lambda>" in capsys.readouterr().out
    metadata = f.get_metadata((int64,))
    assert metadata["target"] == "cpu" and metadata["compile_seconds"] > 0
    assert list(f.overloads) == f.signatures and f.stats.cache_hits == {}


def test_pickling():
    again = pickle.loads(pickle.dumps(add))
    assert again is add


def test_pickling_by_value(tmp_path):
    """Compiled functions that no name leads to go with their code, options, cells and globals: also those that call one
    another, and into other processes."""
    def family(k):
        @njit
        def even(n):
            return k if n == 0 else odd(n - 1)

        @njit
        def odd(n):
            return -k if n == 0 else even(n - 1)
        return even, njit("float64(float64, float64)", fastmath=True, nogil=True)(lambda x, y=k: x * y)

    even, scaled = family(5)
    data = pickle.dumps((even, scaled))
    even_again, scaled_again = pickle.loads(data)
    assert even_again is not even and even_again(4) == even(4) == 5 and even_again(3) == even(3) == -5
    assert scaled_again.targetoptions == scaled.targetoptions and scaled_again(3) == 15.0
    with pytest.raises(TypeError):  # compiled for what was declared
        scaled_again(3j)
    once = pickle.loads(pickle.dumps(even))
    assert pickle.loads(pickle.dumps(even)) is once
    other = tmp_path / "data"
    other.write_bytes(data)
    out = subprocess.run([sys.executable, "-c", f"import pickle; e, s = pickle.load(open({str(other)!r}, 'rb')); print(e(3), s(2))"],
                         capture_output=True, text=True)
    assert out.stdout == "-5 10.0\n", out.stderr


def test_dispatchers_are_collected():
    class Big:
        pass

    def make():
        marker = Big()
        k = 3

        def f(x):
            return x + k

        f.marker = marker
        return njit(f), weakref.ref(marker)

    f, ref = make()
    assert f(1) == 4
    f.cycle = f
    del f
    gc.collect()
    assert ref() is None


def test_calls_of_other_dispatchers_and_plain_functions():
    def plain(x):
        return x + 1

    inner = njit(plain)
    assert njit(lambda x: inner(x) * plain(x))(4) == 25


def test_MEM_08_alive_at_exit():
    assert run("""
        import quern, numpy as np
        from quern import njit
        @njit
        def f(a): return a[1:]
        keep = f(np.arange(4.0))
        class K:
            def __del__(self): f(np.arange(3.0))
        k = K(); k.me = k
        print("done")
    """) == "done\n"


def test_import_does_not_import_devices():
    assert run("""
        import sys, quern
        print(any(m.startswith("quern.cuda") for m in sys.modules), hasattr(quern, "cuda"))
    """) == "False True\n"


# -- types ---------------------------------------------------------------------------------------------------------------


def test_D22_types():
    assert repr(float32[:, ::1]) == "Array(float32, 2, 'C', False, aligned=True)" and str(int64[:]) == "array(int64, 1d, A)"
    assert types.i4 is int32 and types.intp == int64 and boolean.name == "bool"
    assert str(float64(int32, int64)) == "(int32, int64) -> float64"
    assert int32(3.7) == 3 and type(int32(3.7)) is np.int32 and float32(0.1) == np.float32(0.1)
    assert types.Array(float64, 2, "C") == float64[:, ::1]
    assert types.from_dtype("f4") is float32
    assert pickle.loads(pickle.dumps(float32[:, ::1])) == float32[:, ::1]
    for bad in [lambda: float64[0], lambda: float64[:, ::1, :], lambda: float64[::2], lambda: float64[:][:]]:
        with pytest.raises(TypeError):
            bad()


@pytest.mark.parametrize("value, name", [(1, int64), (1.0, float64), (True, boolean), (1j, types.complex128),
                                         (np.float32(1), float32), (np.zeros(3), float64[::1]),
                                         (np.zeros((2, 2), "i4", order="F"), int32[::1, :]), (None, types.none),
                                         ((1, 2.5), types.Tuple([int64, float64]))])
def test_typeof(value, name):
    assert quern.typeof(value) == name and type(quern.typeof(value)) is type(name)


def test_typeof_refuses():
    with pytest.raises(errors.TypingError):
        quern.typeof(object())


def test_get_num_threads():
    n = quern.get_num_threads()
    assert n >= 1
    quern.set_num_threads(1)
    assert quern.get_num_threads() == 1
    quern.set_num_threads(n)
    with pytest.raises(ValueError):
        quern.set_num_threads(0)
    assert uint64.name == "uint64"


def test_ARR_11_read_only_is_part_of_the_key():
    """Whichever comes first: code made for a writable array is never run on a read-only one, nor its signature given."""
    def make():
        @njit
        def first(a):
            return a[:2]
        return first

    writable, frozen = np.arange(3.0), np.arange(3.0)
    frozen.flags.writeable = False
    for order in ((writable, frozen), (frozen, writable)):
        function = make()
        views = [function(a) for a in order]
        assert [v.flags.writeable for v in views] == [a.flags.writeable for a in order]
        assert len(function.signatures) == 2 and len(set(map(str, function.signatures))) == 2

    @njit
    def pair(t):
        t[1][0] = 5.0

    pair((1, writable))
    with pytest.raises(errors.TypingError, match="read-only"):
        pair((1, frozen))
    assert writable[0] == 5 and frozen[0] == 0

    declared = njit("float64(Array(float64, 1, 'C', readonly=True))")(lambda a: a[0])
    assert declared(frozen) == 0 and declared(writable) == 5
    with pytest.raises(TypeError):
        njit("float64(Array(float64, 1, 'C'))")(lambda a: a[0])(frozen)


def test_the_classes_of_compiled_functions_have_a_module_of_their_own():
    f = njit(lambda x: x)
    assert type(f).__module__ == "quern._quern" and f.__module__ == __name__
    f.__module__ = "elsewhere"
    assert f.__module__ == "elsewhere" and type(f).__module__ == "quern._quern"
