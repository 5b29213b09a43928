"""Arguments of declared signatures, Python ints beyond int64, and what the decorators are applied to: as Numba does it."""
import collections
import itertools
import math

import numpy as np
import pytest

from quern import cuda, errors, jit, njit, typed, typeof, types, vectorize

BIG = 2**63 + 5
VALUES = [3, -3, 3.7, -3.7, True, np.bool_(False), np.float32(2.5), np.float64(-0.5), np.int8(-3), np.uint16(200), 1e300, BIG,
          math.nan, math.inf, -math.inf, -1, 0]


def outcome(f, *args):
    try:
        result = f(*args)
        return type(result), repr(result)
    except (ValueError, OverflowError) as error:
        return type(error)


# -- Python ints of 64 bits without a sign --------------------------------------------------------------------------------


@njit
def itself(x):
    return x


@njit
def next_one(x):
    return x + 1


def test_N09_ints_above_int64_are_uint64():
    for value in (2**63, BIG, 2**64 - 1):
        for before in (1, value):  # the plan of the last call and a new one
            itself(before)
            assert itself(value) == value and itself((1, value)) == (1, value)
        assert str(typeof(value)) == "uint64" and "uint64" in str(typeof((1, value)))
    assert next_one(BIG) == BIG + 1 and next_one(2**64 - 1) == 0
    assert itself(2**63 - 1) == 2**63 - 1 and itself(-(2**63)) == -(2**63)


def test_N09_subclasses_of_int():
    class Count(int):
        pass

    assert itself(Count(BIG)) == BIG and itself(Count(3)) == 3 and itself(Count(BIG)) == BIG


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 2**200, -(2**200)], ids=str)
def test_N09_ints_beyond_64_bits(value, device):
    @cuda.jit
    def kernel(x, out):
        out[0] = x

    for call in (itself, lambda x: itself((1, x)), lambda x: kernel[1, 1](x, np.zeros(1))):
        with pytest.raises(OverflowError, match="too large"):
            call(value)
    with pytest.raises((OverflowError, ValueError), match="too large"):
        typeof(value)


def test_N09_launches(device):
    @cuda.jit
    def store(x, out):
        out[0] = x
        out[1] = x // 2

    for value in (5, BIG, 7, 2**64 - 1):
        out = np.zeros(2, np.uint64)
        store[1, 1](value, out)
        assert out.tolist() == [value, value // 2]


def test_N09_ufuncs(device):
    def add(x, y):
        return x + y

    numbers = np.array([1, 2], np.uint64)
    for ufunc in (vectorize(add), vectorize(["uint64(uint64, uint64)"])(add), vectorize(["u8(u8, u8)"], target="cuda")(add),
                  vectorize(target="cuda")(add)):
        assert ufunc(numbers, BIG).tolist() == [BIG + 1, BIG + 2] and ufunc(BIG, numbers).dtype == np.uint64


def test_N09_declared_types():
    assert njit("uint64(uint64)")(lambda x: x)(BIG) == BIG
    assert njit("float64(float64)")(lambda x: x)(BIG) == float(BIG)
    assert njit("float64(float64)")(lambda x: x)(2**100) == 2.0**100
    assert njit("complex128(complex128)")(lambda x: x)(2**100) == 2.0**100
    assert njit("boolean(boolean)")(lambda x: x)(2**100) is True
    with pytest.raises(OverflowError, match=f"{BIG} does not fit into int64"):
        njit("int64(int64)")(lambda x: x)(BIG)


# -- declared signatures bind -----------------------------------------------------------------------------------------------


def converted(dtype, value):
    """What CPython's constructors make of the value; an int that does not fit is an OverflowError."""
    if dtype == np.bool_:
        return bool(value)
    if np.issubdtype(dtype, np.integer):
        number, info = int(value), np.iinfo(dtype)
        if not info.min <= number <= info.max:
            raise OverflowError
        return number
    with np.errstate(all="ignore"):
        return dtype(value).item()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.complex128])
def test_N16_arguments_are_converted_to_declared_types(dtype):
    name = str(types.from_dtype(dtype))
    one = njit(f"{name}({name})")(lambda x: x)
    two = njit(f"{name}({name}, float64)")(lambda x, y: x)
    pair = njit(f"{name}(UniTuple({name}, 2))")(lambda x: x[0])
    for value, again in itertools.product(VALUES, range(2)):
        want = outcome(converted, dtype, value)
        assert outcome(one, value) == want, value
        assert outcome(two, value, 1) == want, value
        assert outcome(pair, (value, 0)) == want, value


@pytest.mark.parametrize("signature, args, want", [
    ("i8(i8)", (3.7,), 3), ("f8(i8)", (3.7,), 3.0), ("i4(f8)", (3.7,), 3), ("b1(i8)", (0.5,), False), ("b1(f8)", (0.5,), True),
    ("c16(f4)", (0.1,), complex(np.float32(0.1))), ("f4(f8)", (0.1,), float(np.float32(0.1))), ("u1(i8)", (-1,), 255),
    ("i8(i8, i8)", (1.9, -1.9), 0), ("UniTuple(f8, 2)(i8, i8)", (1.5, 2.5), (1.0, 2.0)), ("i8(UniTuple(i8, 2))", ((1.5, 2),), 1),
])
def test_N16_results_are_of_the_declared_type(signature, args, want):
    def of_one(x):
        return x[0] if isinstance(x, tuple) else x

    def of_two(x, y):
        return x + y

    def pair(x, y):
        return x, y

    f = pair if signature.startswith("Uni") else of_two if len(args) == 2 else of_one
    got = njit(signature)(f)(*args)
    assert got == want and repr(got) == repr(want)


def test_N16_what_keeps_more_of_a_number_is_chosen():
    f = njit(["int32(int32)", "float32(float32)"])(lambda x: x)
    assert f(3.5) == 3.5 and f(3) == 3 and type(f(3)) is int
    with pytest.raises(TypeError, match="No matching definition"):
        f(1j)


def test_N16_jit_of_what_is_compiled():
    compiled = njit(lambda x: x + 1)
    for decorate in (jit, njit, jit(nopython=True), njit("int64(int64)"), njit(nogil=True)):
        with pytest.raises(TypeError, match="compiled already"):
            decorate(compiled)


def test_N16_vectorize_of_what_is_compiled(device):
    compiled = njit(lambda x: x + 1)
    eager = njit("int64(int64)")(lambda x: x + 1)
    for decorate in (vectorize, vectorize(), vectorize(["float64(float64)"]), vectorize(nopython=True),
                     vectorize(["float64(float64)"], target="cuda")):
        for f in (compiled, eager):
            assert decorate(f)(np.arange(3.0)).tolist() == [1, 2, 3]


def test_N16_forceobj_together_with_nopython():
    def f(x):
        return x

    for use in (lambda: jit(forceobj=True, nopython=True), lambda: jit(f, forceobj=True, nopython=True),
                lambda: jit("int64(int64)", forceobj=True, nopython=True)):
        with pytest.raises(ValueError, match="Only one of 'nopython' or 'forceobj' can be True"):
            use()
    assert jit(f, forceobj=True)("text") == "text"


def _edges(dtype):
    """Numbers at and beyond the ends of a type, as floats and as Python ints."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    ints = [low, high, low - 1, high + 1, 0]
    floats = [float(low), float(low) - 0.5, float(high + 1), np.nextafter(float(high + 1), 0), np.nextafter(float(low - 1), -np.inf),
              -0.5, -1.0, 1e300, -1e300, 0.0]
    return ints, floats


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_N16_the_ends_of_a_declared_type(dtype):
    info = np.iinfo(dtype)
    f = njit(f"{dtype}({dtype})")(lambda x: x)
    ints, floats = _edges(dtype)
    for value in ints + floats:
        whole = int(value)
        if info.min <= whole <= info.max:
            assert f(value) == whole, value
        elif -2**63 <= whole < 2**64 or isinstance(value, float):
            with pytest.raises(OverflowError) as caught:
                f(value)
            shown = str(value)
            assert shown in str(caught.value) and dtype in str(caught.value)
    with pytest.raises(ValueError):
        f(math.nan)
    with pytest.raises(OverflowError):
        f(-math.inf)


def test_N16_a_large_unsigned_number_is_shown_as_it_is():
    f = njit("int64(int64)")(lambda x: x)
    with pytest.raises(OverflowError, match=str(BIG)):
        f(np.uint64(BIG))
    g = njit("uint64(uint64)")(lambda x: x)
    with pytest.raises(OverflowError, match="-3"):
        g(np.int8(-3))


def test_types_are_written_as_they_are_called_or_as_they_are_shown():
    assert njit("int64(Tuple([int64, int64]))")(lambda t: t[1])((3, 4)) == 4
    xs = typed.List([3, 4])
    d = typed.Dict.empty(types.int64, types.float64)
    d[2] = 0.5
    for signature in "int64(ListType(int64))", "int64(types.ListType(int64))", "int64(ListType[int64])":
        assert njit(signature)(lambda xs: xs[1])(xs) == 4
    for signature in "float64(DictType(int64, float64))", "float64(DictType[int64, float64])":
        assert njit(signature)(lambda d: d[2])(d) == 0.5
    assert njit("int64(string)")(lambda s: len(s))("abc") == 3
    assert njit('boolean(NPDatetime("D"))')(lambda t: np.isnat(t))(np.datetime64("2026-11-28")) == False  # noqa: E712
    for wrong in "int64(ListType(int64])", "int64(DictType(int64))", "int64(Tuple([int64))":
        with pytest.raises(ValueError, match="invalid signature"):
            njit(wrong)(lambda x: 1)


Tree = collections.namedtuple("Tree", ["data", "start", "depth"])
Leaf = collections.namedtuple("Leaf", ["data", "start", "depth"])
tree_type = types.NamedTuple([types.float32[:, ::1], types.int64[::1], types.int64], Tree)
a_tree = Tree(np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2]), 3)


def test_named_tuples_in_signatures():
    @njit(types.float64(tree_type, types.int64))
    def total(tree, i):
        return tree.data[0, 1] * 2.0 + tree.start[i] + tree.depth
    assert total(a_tree, 1) == 7.0 and total.signatures == [(tree_type, types.int64)]
    with pytest.raises(TypeError):  # another class
        total(Leaf(*a_tree), 1)
    with pytest.raises(TypeError):
        total(tuple(a_tree), 1)


def test_named_tuples_as_results_and_in_tuples():
    pair = collections.namedtuple("pair", "low high")
    pairs = types.NamedUniTuple(types.float64, 2, pair)

    @njit(types.Tuple((pairs, types.int64))(types.UniTuple(pairs, 2)))
    def widest(two):
        return two[0] if two[0].high - two[0].low > two[1].high - two[1].low else two[1], len(two)
    found, n = widest((pair(1.0, 2.0), pair(3.0, 7.0)))
    assert type(found) is pair and found == (3.0, 7.0) and n == 2


def test_named_tuples_in_locals_and_lists():
    @njit(locals={"tree": tree_type})
    def f(tree):
        return tree.data.sum()
    assert f(a_tree) == 15.0


@pytest.mark.parametrize("text", ["namedtuple[99999](int64)", "namedtuple[0](int64)", "namedtuple(int64)", "namedtuple[1]int64",
                                  "namedtuple[-1](int64)"])
def test_named_tuples_of_no_class(text):
    with pytest.raises((TypeError, ValueError)):
        njit(f"int64({text})")(lambda t: 1)


# -- calls from compiled code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signatures", [
    ["int8(int8)"], ["int32(int32)", "float32(float32)"], ["float32(float32)", "int32(int32)"], ["int64(int64)", "float64(float64)"],
    ["uint8(uint8)", "complex64(complex64)"], ["boolean(boolean)"], ["float64(float32)"], ["int16(float64)"]])
def test_N16_calls_from_compiled_code_convert_as_calls_from_python(signatures):
    f = njit(signatures)(lambda x: x)
    caller = njit(lambda x: f(x))
    passed = njit(lambda f, x: f(x))
    several = njit(lambda x: (f, f)[1](x))
    for value in [3.7, -3.7, 1, 0, np.float32(2.5), np.float64(-0.5), np.int8(-3), np.uint16(200), np.int64(2**40), True, 2.5j]:
        try:
            want = f(value)
        except TypeError:
            with pytest.raises(TypeError):
                caller(value)
            continue
        except OverflowError:  # arguments of calls from Python are tested
            continue
        for call in (caller, several, lambda x: passed(f, x)):
            assert repr(call(value)) == repr(want), value


def test_N16_literals_in_compiled_code_are_converted():
    half = njit("int64(int64)")(lambda x: x / 2)
    single = njit("float32(float32)")(lambda x: x * x)
    assert njit(lambda: (half(3), half(3.9), half(True)))() == (1, 1, 0)
    assert njit(lambda: single(0.1))() == single(0.1) != 0.1 * 0.1
    assert njit(lambda xs: [single(x) for x in xs])([0.1, 0.2]) == [single(0.1), single(0.2)]
    assert list(njit(lambda xs: list(map(single, xs)))([0.1])) == [single(0.1)]


def test_N16_what_compiled_code_passes_to_declared_functions():
    text = njit("unicode_type(unicode_type)")(lambda s: s + "x")
    optional = njit("int64(optional(int64))")(lambda x: -1 if x is None else x + 0)
    pair = njit("float64(UniTuple(float64, 2))")(lambda t: t[0] + t[1])
    length = njit(types.int64(types.ListType(types.int64)))(lambda l: len(l))
    total = njit("float64(float64[:, :])")(lambda a: a.sum())
    scale = njit("float64(float64, float64)")(lambda x, factor=2.0: x * factor)
    fixed = np.ones((2, 2))

    @njit
    def numbers():
        made = typed.List()
        for i in range(3):
            made.append(i)
        return made

    @njit
    def all_of_them(a):
        return (text("abc"), optional(None), optional(4), pair((1, 2)), length(numbers()), total(a), total(a.T), total(a[::2]),
                total(fixed), scale(3), scale(3, factor=4))
    assert all_of_them(np.ones((4, 3))) == ("abcx", -1, 4, 3.0, 3, 12.0, 12.0, 6.0, 4.0, 6.0, 12.0)


def test_N16_arrays_that_no_signature_takes():
    rows = njit("float64(float64[:, ::1])")(lambda a: a.sum())
    with pytest.raises(errors.TypingError, match=r"(?s)cannot be called.*declared: \(float64\[:, ::1\]\)"):
        njit(lambda a: rows(a.T))(np.ones((2, 3)))
    with pytest.raises(errors.TypingError, match="declared"):
        njit(lambda a: rows(a))(np.ones((2, 3), int))


def test_N16_a_loop_over_a_declared_array_stays_one_of_the_array_that_comes():
    def total(a):
        s = 0
        for x in a:
            s += x
        return s
    declared = njit("int64(int64[:])")(total)
    caller = njit(lambda a: declared(a))
    caller(np.arange(3))
    assert "vector.body" in next(iter(caller.inspect_llvm().values()))


def test_N16_recursion_and_functions_that_are_frozen():
    @njit("int64(int64)")  # the cell of that name is empty still
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)
    assert njit(lambda: factorial(5.9))() == 120
    late = njit(lambda x: x / 2)
    assert late(3) == 1.5
    late.disable_compile()  # what was compiled by a call is no signature that anybody has written
    assert njit(lambda: late(3.5))() == 1.75


# -- containers -------------------------------------------------------------------------------------------------------------


def grown(xs):
    xs.append(xs[0] + len(xs))
    return xs


@pytest.mark.parametrize("signature", ["List(float64)(List(float64))", "List(float64)(List(float64, True))", "(List(float64),)",
                                       types.List(types.float64)(types.List(types.float64, reflected=True))])
def test_lists_of_declared_signatures(signature):
    f = njit(signature)(grown)
    xs = [1.5, 2.5]
    assert f(xs) == [1.5, 2.5, 3.5] and xs == [1.5, 2.5, 3.5]
    assert njit(lambda x: f([x, 2.0]))(0.5) == [0.5, 2.0, 2.5]
    for wrong in [1, 2], ["a"], (1.5, 2.5), np.ones(2), [np.float32(1)]:  # elements are not converted
        with pytest.raises(TypeError, match=r"fixed signatures: \(list\(float64\)\)"):
            f(wrong)


def test_other_containers_of_declared_signatures():
    assert njit("int64(Set(int64))")(lambda s: sum(s))({1, 2}) == 3
    nested = njit("void(List(List(int64)))")(lambda rows: rows[0].append(len(rows)))
    rows = [[1], [2, 3]]
    nested(rows)
    assert rows == [[1, 2], [2, 3]]
    assert njit("unicode_type(List(unicode_type))")(lambda words: ",".join(words))(["a", "b"]) == "a,b"
    assert njit("int64(List(UniTuple(int64, 2)))")(lambda pairs: pairs[0][1])([(1, 2)]) == 2
    for wrong in "int64(List(int64, 3))", "int64(List())", "int64(Set(int64)":
        with pytest.raises(ValueError, match="invalid signature"):
            njit(wrong)(lambda xs: 0)
