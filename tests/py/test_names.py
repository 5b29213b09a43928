"""Names of Numba's that programs import: types, errors, config, the top level, the inner modules."""
import collections
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import quern
from quern import config, errors, njit, types, typeof
from quern.types import float32, float64, int8, int32, int64, intp, uint8, uint64

Point = collections.namedtuple("Point", "x y")


def run(program, *arguments, **environment):
    """What a Python process prints; its failure is this test's."""
    done = subprocess.run([sys.executable, *arguments, "-c", program], capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- D22: types are classes --------------------------------------------------------------------------------------


def test_D22_classes_and_attributes():
    a = float32[:, ::1]
    assert isinstance(a, types.Array) and isinstance(a, types.Buffer) and isinstance(a, types.Type)
    assert (a.ndim, a.dtype, a.layout, a.mutable, a.aligned) == (2, float32, "C", True, True)
    assert a.is_c_contig and not a.is_f_contig and a.copy(ndim=1, layout="A") == float32[:]
    frozen = types.Array(float64, 1, "C", readonly=True)
    assert not frozen.mutable and frozen != float64[::1] and frozen.copy(readonly=False) == float64[::1]
    assert isinstance(int8, types.Integer) and isinstance(int8, types.Number) and isinstance(int8, types.Hashable)
    assert (int8.bitwidth, int8.signed, int8.minval, int8.maxval) == (8, True, -128, 127)
    assert (uint64.bitwidth, uint64.signed, uint64.minval, uint64.maxval) == (64, False, 0, 2**64 - 1)
    assert isinstance(float32, types.Float) and float32.bitwidth == 32
    assert types.complex64.underlying_float is float32 and types.complex64.bitwidth == 64
    assert isinstance(types.boolean, types.Boolean) and types.bool is types.boolean is types.bool_
    assert isinstance(types.void, types.NoneType) and types.void is types.none
    assert int8 < int32 and not int64 < int32 and float32 <= float64 and types.Integer.from_bitwidth(16, False) is types.uint16
    with pytest.raises(TypeError):
        int8 < uint8


def test_D22_equality_hash_and_identity():
    assert types.UniTuple(intp, 2) == typeof((1, 2)) and hash(types.UniTuple(intp, 2)) == hash(typeof((1, 2)))
    assert types.Tuple((int64, int64)) is types.UniTuple(int64, 2)
    assert types.Array(float64, 1, "C") is float64[::1] and float64[:] != float64[::1]
    assert {int64: 1}[types.intp] == 1 and int64 != float64 and int64 != "int64"
    assert types.UniTuple(int64, 2) != types.UniTuple(int64, 3) and len(types.UniTuple(int64, 3)) == 3
    assert list(types.Tuple((int64, float64))) == [int64, float64] and not types.Tuple(())
    for t in (int64, float32[:, :], types.UniTuple(int8, 2), types.Tuple((int8, float64)), types.Optional(int64), types.void,
              types.ListType(int64), types.literal(3), types.unicode_type, types.float64(int64)):
        assert pickle.loads(pickle.dumps(t)) == t


def test_D22_weak_and_strong_types_keep_apart_for_the_compiler():
    """typeof((1, 2)) equals UniTuple(int64, 2), and still is a tuple of Python numbers to the compiler."""
    weak, strong = typeof((1, 2)), types.UniTuple(int64, 2)
    assert weak == strong and (weak._quern_name, strong._quern_name) == ("(int, int)", "(int64, int64)")
    assert typeof(1)._quern_name == "int" and typeof(1).name == "int64" and int64._quern_name == "int64"


def test_D22_type_sets():
    assert int8 in types.signed_domain and int8 not in types.unsigned_domain and uint8 in types.unsigned_domain
    assert types.integer_domain == types.signed_domain | types.unsigned_domain and len(types.integer_domain) == 8
    assert types.real_domain == {float32, float64} and types.complex_domain == {types.complex64, types.complex128}
    assert types.number_domain == types.integer_domain | types.real_domain | types.complex_domain


def test_D22_calls_are_casts_or_signatures():
    assert type(int32(3.7)) is np.int32 and int32(3.7) == 3 and types.boolean(1.5) is True
    signature = float64(int64, float32[:])
    assert signature.return_type is float64 and signature.args == (int64, float32[:]) and not signature.is_method
    assert float64[:](float64[:]).return_type == float64[:] and types.void().args == ()
    assert signature.replace(return_type=int8) == int8(int64, float32[:])
    assert repr(float64(int64)) == "(int64,) -> float64"
    with pytest.raises(TypeError):
        float64(int64, 3)


@pytest.mark.parametrize("make, error", [(lambda: float64[0], KeyError), (lambda: float64[::2], KeyError),
                                         (lambda: float64[:, ::1, :], TypeError), (lambda: float64[:][:], TypeError),
                                         (lambda: types.Array(float64, 1, "X"), errors.NumbaValueError),
                                         (lambda: types.Optional(types.none), AssertionError),
                                         (lambda: types.Tuple(3), errors.TypingError),
                                         (lambda: types.literal([1]), errors.LiteralTypingError),
                                         (lambda: types.ListType(types.Optional(int64)), errors.TypingError)])
def test_D22_types_that_are_none(make, error):
    with pytest.raises(error):
        make()


# As Numba 0.68.1 shows them.
@pytest.mark.parametrize("value, cls, text", [
    (1, "Integer", "int64"), (2**63, "Integer", "uint64"), (1.5, "Float", "float64"), (True, "Boolean", "bool"),
    (1j, "Complex", "complex128"), (None, "NoneType", "none"), ("x", "UnicodeType", "unicode_type"),
    ((1, 2), "UniTuple", "UniTuple(int64 x 2)"), ((1, 2.5), "Tuple", "Tuple(int64, float64)"), ((), "Tuple", "Tuple()"),
    (Point(1, 2), "NamedUniTuple", "Point(int64 x 2)"), (Point(1, 2.5), "NamedTuple", "Point(int64, float64)"),
    (np.float32(1), "Float", "float32"), (np.zeros(3), "Array", "array(float64, 1d, C)"),
    (np.zeros((2, 2), order="F"), "Array", "array(float64, 2d, F)"),
    (np.zeros((4, 4))[::2, ::2], "Array", "array(float64, 2d, A)"),
    (np.zeros(3, "M8[s]"), "Array", "array(datetime64[s], 1d, C)"), (np.zeros(2, "S3"), "Array", "array([char x 3], 1d, C)"),
    ([1, 2], "List", "reflected list(int64)<iv=None>"), ({1.5}, "Set", "reflected set(float64)"),
    (slice(1), "SliceType", "slice<a:b>"), (slice(1, 2, 3), "SliceType", "slice<a:b:c>"), (..., "EllipsisType", "..."),
    (b"ab", "Bytes", "readonly bytes(uint8, 1d, C)"), (np.float32, "NumberClass", "class(float32)"),
    (np.dtype("f4"), "DType", "dtype(float32)"), (ValueError, "ExceptionClass", "ValueError"),
    (np.zeros(2, [("a", "i4"), ("b", "f8")]), "Array",
     "unaligned array(Record(a[type=int32;offset=0],b[type=float64;offset=4];12;False), 1d, C)"),
])
def test_D22_typeof(value, cls, text):
    t = typeof(value)
    assert type(t).__name__ == cls and str(t) == text


def test_D22_typeof_of_values_without_a_type():
    for value in (object(), int, [], {}, 2**64):
        with pytest.raises(ValueError) as caught:
            typeof(value)
        assert isinstance(caught.value, errors.TypingError)


def test_D22_types_by_name_and_dtype():
    assert types.float_ is types.f4 and types.intc is int32 and types.py_int is int64 and types.np_double is float64
    assert types.from_dtype("f4") is float32 and quern.from_dtype(np.dtype("i2")) is types.int16 and float64.as_dtype == "f8"
    assert types.NestedArray(int64, (2, 3)).nitems == 6
    record = types.Record.make_c_struct([("a", int8), ("b", float64)])
    assert (record.size, record.offset("b"), record.typeof("b")) == (16, 8, float64)
    assert types.from_dtype(record.dtype) == types.Record([("a", {"type": int8, "offset": 0}),
                                                           ("b", {"type": float64, "offset": 8})], 16, True)
    deferred = types.deferred_type()
    deferred.define(int64)
    assert deferred.get() is int64
    with pytest.raises(TypeError, match="no type|cannot be used"):
        types.from_dtype(object)
    with pytest.raises(AttributeError):
        types.nothing


def test_D22_signatures_of_functions_are_types():
    @njit
    def f(p, a):
        return p

    f(Point(1, 2.5), np.zeros(2))
    (arguments,) = f.signatures
    assert arguments == (types.NamedTuple((int64, float64), Point), float64[::1])
    g = njit(lambda t: t)
    g(((Point(1, 2), 3), 4.0))
    assert g.signatures == [(typeof(((Point(1, 2), 3), 4.0)),)]


class MyType(types.Type):
    def __init__(self, parts):
        self.parts = parts
        super().__init__(name=f"MyType({parts})")

    @property
    def key(self):
        return self.parts


def test_D22_types_of_users():
    assert MyType((1, 2)) is MyType((1, 2)) and MyType((1,)) != MyType((2,)) and str(MyType(3)) == "MyType(3)"

    class Mine:
        _numba_type_ = MyType(7)

    assert typeof(Mine()) == MyType(7)
    from quern.extending import typeof_impl

    class Other:
        pass

    typeof_impl.register(Other)(lambda value, c: MyType(8))
    assert typeof(Other()) == MyType(8)


ITERATORS = types.ListIter(types.List(float64))


def test_D22_types_that_cannot_be_compiled_fail_when_used():
    with pytest.raises(errors.UnsupportedError, match=r"the type iter\(list\(float64\)"):
        njit(ITERATORS(int64))(lambda n: n)
    f = njit(lambda n: ITERATORS(n))
    with pytest.raises(errors.UnsupportedError, match=r"the type iter\(list\(float64\)<iv=None>\) is not supported in a compiled function"):
        f(3)


# -- the top level ----------------------------------------------------------------------------------------------------

TOP = """cfunc guvectorize stencil objmode gdb gdb_init gdb_breakpoint literally literal_unroll jit_module set_num_threads
get_num_threads get_thread_id threading_layer get_parallel_chunksize set_parallel_chunksize parallel_chunksize typeof from_dtype
prange pndindex carray farray typed experimental extending core types errors config cuda __version__ version_info njit jit
vectorize int8 float64 boolean void none optional deferred_type b1 i8 f4 c16 TypingError NumbaError NumbaWarning test""".split()


@pytest.mark.parametrize("name", TOP)
def test_names_of_the_top_level(name):
    assert run(f"from quern import {name}; print(type({name}).__name__ != '')") == "True\n"


def test_star_import_and_dir():
    assert run("from quern import *; print(float64, njit.__name__, guvectorize.__name__, bool)") == (
        "float64 njit guvectorize <class 'bool'>\n")
    assert {"float64", "guvectorize", "cuda", "jit"} <= set(dir(quern))


def test_import_stays_lazy():
    """What is new is imported when it is asked for."""
    assert run("""
import sys, quern
@quern.njit
def f(x): return x
print(sorted(m for m in sys.modules if m.startswith("quern.")))
""") == "['quern._idle', 'quern._quern', 'quern.config', 'quern.decorators']\n"


@quern.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def doubled(a, out):
    """Doubles."""
    out[:] = 2 * a


@quern.cfunc("float64(float64)")
def half(x):
    return x / 2


@quern.experimental.jitclass([("x", float64)])
class Box:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize("use, name", [
    (lambda: quern.gdb(), "gdb"), (lambda: quern.gdb_init(), "gdb_init"),
    (lambda: quern.test(), "test"),
])
def test_what_is_not_built_raises_with_its_name_when_it_is_used(use, name):
    with pytest.raises(errors.UnsupportedError, match=f"^{name} is not supported"):
        use()


@pytest.mark.parametrize("function, name", [
    (lambda x: quern.gdb(x), "gdb"), (lambda x: quern.pndindex(x), "numpy.ndindex"),
])
def test_what_is_not_built_is_named_by_the_compiler(function, name):
    with pytest.raises(errors.UnsupportedError, match=f"error: {name} is not supported in a compiled function"):
        njit(function)(1)


def test_what_is_not_built_keeps_what_can_be_asked():
    assert doubled.__name__ == "doubled" and doubled.__doc__ == "Doubles." and doubled.py_func.__name__ == "doubled"
    assert (doubled.nin, doubled.nout, doubled.signature) == (1, 1, "(n)->(n)") and half(3.0) == 1.5
    assert isinstance(Box.class_type.instance_type, types.ClassInstanceType) and Box.class_type.struct == {"x": float64}
    with pytest.raises(ValueError, match="bad token in signature"):
        quern.guvectorize(["void(float64[:])"], "n")
    assert quern.literally(3) == 3 and list(quern.pndindex(2)) == [(0,), (1,)] and quern.get_thread_id() == 0
    assert njit(lambda x: quern.literally(x) + 1)(2) == 3
    with quern.objmode(y="float64"):
        y = 1.5
    assert y == 1.5 and quern.threading_layer() == "quern"


def test_D25_chunk_sizes():
    assert quern.get_parallel_chunksize() == 0 and quern.set_parallel_chunksize(4) == 0
    with quern.parallel_chunksize(8):
        assert quern.get_parallel_chunksize() == 8
    assert quern.set_parallel_chunksize(0) == 4
    for wrong, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            quern.set_parallel_chunksize(wrong)


def test_D16_jit_module(tmp_path):
    (tmp_path / "module_of_functions.py").write_text(
        "import math\nfrom quern import jit_module\ndef f(x):\n    return g(x) + 1\ndef g(x):\n    return 2 * x\njit_module()\n")
    out = run("import module_of_functions as m; print(m.f(3), type(m.f).__name__, type(m.g).__name__, type(m.math.sin).__name__)",
              PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    assert out == "7 Dispatcher Dispatcher builtin_function_or_method\n"


def test_carray_and_farray():
    import ctypes
    data = np.arange(6.0)
    pointer = data.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    a, f = quern.carray(pointer, (2, 3)), quern.farray(ctypes.c_void_p(data.ctypes.data), (2, 3), float64)
    assert (a == data.reshape(2, 3)).all() and (f == data.reshape(2, 3, order="F")).all()
    a[0, 0] = 7
    assert data[0] == 7
    with pytest.raises(TypeError, match="explicit dtype"):
        quern.carray(ctypes.c_void_p(data.ctypes.data), 6)


def test_extension_points_return_what_they_decorate():
    from quern.extending import (box, is_jitted, lower_builtin, make_attribute_wrapper, models, overload, overload_method,
                                 register_jitable, register_model)

    def f(x):
        return x

    assert overload(lambda x: x)(f) is f and overload_method(types.Array, "foo", inline="always")(f) is f and register_jitable(f) is f
    assert register_jitable(inline="always")(f) is f and lower_builtin(len, types.Any)(f) is f and box(MyType)(f) is f

    @register_model(MyType)
    class Model(models.StructModel):
        pass

    with pytest.raises(errors.UnsupportedError, match="StructModel"):
        Model(None, None)
    make_attribute_wrapper(MyType, "x", "x")
    assert is_jitted(njit(f)) and not is_jitted(f)


def test_names_of_dispatchers_can_be_set():
    f = njit(lambda x: x)
    f.__doc__, f.__name__ = "Text.", "other"
    assert f.__doc__ == "Text." and f.__name__ == "other" and f.py_func.__doc__ is None and f(1) == 1


# -- D27: errors ------------------------------------------------------------------------------------------------------

ERRORS = """NumbaError TypingError UnsupportedError UnsupportedBytecodeError LoweringError RequireLiteralValue ForceLiteralArg
NumbaTypeError NumbaValueError NumbaIndexError NumbaRuntimeError NumbaAssertionError NumbaAttributeError NumbaKeyError
NumbaNotImplementedError InternalError CompilerError ByteCodeSupportError IRError RedefinedError NotDefinedError VerificationError
DeprecationError ConstantInferenceError ForbiddenConstruct UntypedAttributeError LiteralTypingError UnsupportedParforsError
UnsupportedRewriteError InternalTargetMismatchError NonexistentTargetError""".split()
WARNINGS = """NumbaWarning NumbaPerformanceWarning NumbaDeprecationWarning NumbaPendingDeprecationWarning
NumbaParallelSafetyWarning NumbaTypeSafetyWarning NumbaExperimentalFeatureWarning NumbaInvalidConfigWarning NumbaPedanticWarning
NumbaIRAssumptionWarning NumbaDebugInfoWarning NumbaSystemWarning""".split()


def test_D27_names_and_bases():
    assert all(issubclass(getattr(errors, name), errors.NumbaError) for name in ERRORS)
    assert all(issubclass(getattr(errors, name), errors.NumbaWarning) for name in WARNINGS)
    assert issubclass(errors.NumbaDeprecationWarning, DeprecationWarning) and quern.TypingError is errors.TypingError


def test_D27_errors_can_be_made_and_extended():
    error = errors.TypingError("wrong", loc=None)
    assert error.msg == "wrong" and str(error.add_context("reading")) == "wrong\n[1] During: reading"
    with pytest.raises(errors.TypingError, match="During: f of 3"):
        with errors.new_error_context("f of {0}", 3):
            raise errors.TypingError("no")
    assert errors.ForceLiteralArg([0]).combine(errors.ForceLiteralArg([2])).requested_args == {0, 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fixer = errors.WarningsFixer(errors.NumbaWarning)
        with fixer.catch_warnings("file.py", 3):
            for _ in range(2):
                warnings.warn(errors.NumbaWarning("twice"))
        fixer.flush()
    assert [(str(w.message), w.lineno) for w in caught] == [("twice", 3)]


# -- D24, D28: config ---------------------------------------------------------------------------------------------------


def test_D28_settings_can_be_read_and_written(monkeypatch):
    monkeypatch.setenv("QUERN_NUM_THREADS", str(config.NUMBA_NUM_THREADS))  # what writing it sets, and the test takes back
    for name in """NUMBA_NUM_THREADS NUMBA_DEFAULT_NUM_THREADS DISABLE_JIT THREADING_LAYER THREADING_LAYER_PRIORITY CACHE_DIR
                   BOUNDSCHECK OPT DEBUG ENABLE_CUDASIM DISABLE_CUDA CUDA_WARN_ON_IMPLICIT_COPY DISABLE_PERFORMANCE_WARNINGS
                   FULL_TRACEBACKS CAPTURED_ERRORS DEVELOPER_MODE PARALLEL_DIAGNOSTICS""".split():
        before = getattr(config, name)
        setattr(config, name, before)
    assert config.NUMBA_NUM_THREADS >= 1 and config.THREADING_LAYER == "default"
    with pytest.raises(AttributeError):
        config.NOTHING


def test_D28_threads_can_be_set_before_they_start():
    assert run("from quern import config; config.NUMBA_NUM_THREADS = 3\nimport quern; print(quern.get_num_threads())") == "3\n"


@pytest.mark.optimised
def test_D28_numba_variables_count_under_as_numba_only():
    program = "from quern import config, get_num_threads as n; print(config.DISABLE_JIT, config.OPT, n() == 3)"
    variables = dict(NUMBA_DISABLE_JIT="1", NUMBA_OPT="1", NUMBA_NUM_THREADS="3")
    assert run(program, **variables) == "False 3 False\n"
    assert run(program, QUERN_AS_NUMBA="1", **variables) == "True 1 True\n"
    assert run(program, QUERN_AS_NUMBA="1", QUERN_OPT="2", **variables) == "True 2 True\n"


def test_D28_a_setting_that_is_no_number():
    done = subprocess.run([sys.executable, "-c", "import quern"], capture_output=True, text=True,
                          env={**os.environ, "QUERN_OPT": "much"})
    assert "ValueError: QUERN_OPT must be a number, not 'much'" in done.stderr


def test_D24_disable_jit():
    assert run("""
import quern
from quern import njit, jit, prange, typed, types
from quern.experimental import jitclass
def f(x): return x
assert njit(f) is f and jit("int64(int64)")(f) is f and jit(nopython=True)(f) is f
@jitclass([("x", types.int64)])
class C:
    def __init__(self): self.x = 1
assert C().x == 1 and typed.List([1]) == [1] and typed.Dict.empty(types.int64, types.int64) == {}
print("yes")
""", QUERN_DISABLE_JIT="1") == "yes\n"


# -- D29: versions ----------------------------------------------------------------------------------------------------------


def test_D29_versions():
    assert quern.__version__ == "0.1.0" and quern.version_info[:2] == (0, 1)


# -- inner modules ------------------------------------------------------------------------------------------------------------


def test_inner_modules():
    assert run("""
from quern.core import types, errors, config, cgutils, typing
from quern.core.types import Array, npytypes
from quern.core.typing import signature, Signature
from quern.core.typing.templates import AbstractTemplate, infer_global
from quern.core.datamodel import models
from quern.core.registry import CPUDispatcher
from quern.np.ufunc import get_num_threads, vectorize
from quern.np.numpy_support import as_dtype, from_dtype
import quern, quern.np.unsafe.ndarray
assert types is quern.types and errors is quern.errors and config is quern.config and npytypes is types
assert as_dtype(types.float32) == "f4" and quern.np.numpy_support.from_dtype is from_dtype
assert isinstance(quern.njit(lambda: 1), CPUDispatcher) and vectorize is quern.vectorize
class T(AbstractTemplate): pass
class M(models.StructModel): pass
infer_global(len)(T)
for wrong in ("from quern.core.cgutils import nothing", "import quern.core.nothing", "from quern.core import nothing"):
    try:
        exec(wrong)
    except ImportError:
        continue
    raise AssertionError(wrong)
for use in (cgutils.gep, T, M, quern.np.unsafe.ndarray.to_fixed_tuple):
    try:
        use()
    except errors.UnsupportedError as error:
        print(str(error).split()[0])
""").split() == ["core.cgutils.gep", "templates.AbstractTemplate", "extending.models.StructModel",
                 "np.unsafe.ndarray.to_fixed_tuple"]


def test_D09_all_has_every_public_name():
    """`from quern import *` brings what `dir(quern)` shows, but for modules that happen to be imported."""
    source = """if True:
        import types
        import quern
        public = {name for name in dir(quern) if not name.startswith("_")}
        modules = {name for name in public if isinstance(getattr(quern, name), types.ModuleType)}
        print(sorted(public - modules - set(quern.__all__)), sorted(set(quern.__all__) - public))
        exec("from quern import *", space := {})
        print(sorted(set(quern.__all__) - space.keys()))
        """
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "[] []\n[]\n", done.stdout + done.stderr


def distance(x):
    import math
    import os.path
    from cmath import phase as angle
    from math import pi as half_turn, sqrt

    import numpy.linalg as la

    return math.hypot(x, 1.0) + sqrt(x) + half_turn * angle(complex(x, 1)) + la.norm(np.array([x, 2.0]))


def test_imports_inside_functions(tmp_path, monkeypatch):
    assert njit(distance)(2.0) == pytest.approx(distance(2.0), rel=1e-15)
    (tmp_path / "quern_imported").mkdir()
    (tmp_path / "quern_imported" / "__init__.py").write_text(
        "from quern import njit\n@njit\ndef f(x):\n    from . import inner\n    from .inner import two as second\n    return inner.one(x) + second\n")
    (tmp_path / "quern_imported" / "inner.py").write_text("two = 2.5\ndef one(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import quern_imported

    assert quern_imported.f(3) == 6.5


def test_imports_that_fail_are_refused_where_they_are_reached():
    def missing(x):
        if x is None:
            import no_such_module

            return no_such_module.f(x)
        return 1

    assert njit(missing)(3) == 1
    with pytest.raises(errors.TypingError, match="E0218"):
        njit(missing)(None)


def test_imports_are_asked_again_by_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "quern_constants.py").write_text("scale = 2.0\n")
    program = tmp_path / "program.py"
    program.write_text("from quern import njit\n@njit(cache=True)\ndef f(x):\n    import quern_constants\n    return x * quern_constants.scale\n"
                       "print(f(3.0), sum(f.stats.cache_hits.values()))\n")

    def run():
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=dict(os.environ))
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert [run(), run()] == [["6.0", "0"], ["6.0", "1"]]
    (tmp_path / "quern_constants.py").write_text("scale = 10.0\n")
    assert run() == ["30.0", "0"]
