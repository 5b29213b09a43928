"""cuda.libdevice: CUDA's functions by name, on every device. Python, NumPy and exact fractions decide."""
import ctypes
import fractions
import math

import numpy as np
import pytest

from quern import cuda
from quern.library import libdevice

NAMES = sorted(full.rpartition(".")[2] for full in libdevice.FUNCTIONS)
DENORMAL, HUGE = 5e-324, 1.7976931348623157e308


def run(name, columns, results=1):
    """What the function gives in a kernel for rows of arguments, as arrays."""
    n = len(columns)
    args = ", ".join(f"c{i}[k]" for i in range(n))
    params = ", ".join(f"c{i}" for i in range(n))
    lines = [f"def kernel(out, {params}):", "    k = cuda.grid(1)", "    if k < out.shape[1]:"]
    if results == 1:
        lines.append(f"        out[0, k] = cuda.libdevice.{name}({args})")
    else:
        lines.append(f"        r = cuda.libdevice.{name}({args})")
        lines += [f"        out[{i}, k] = r[{i}]" for i in range(results)]
    scope = {"cuda": cuda}
    exec("\n".join(lines), scope)
    dtype = result_dtype(name)
    out = np.zeros((results, columns[0].size), dtype)
    cuda.jit(scope["kernel"])[1, columns[0].size](out, *columns)
    return out if results > 1 else out[0]


def result_dtype(name):
    if name in ("umulhi", "umin", "umax", "usad", "uhadd", "urhadd", "umul24"):
        return np.uint32
    if name in ("umul64hi", "ullmin", "ullmax"):
        return np.uint64
    for word, dtype in (("2uint_", np.uint32), ("2int_", np.int32), ("2ull_", np.uint64), ("2ll_", np.int64)):
        if word in name:
            return dtype
    return np.int64 if name in INTS else np.float64


INTS = """llrint llrintf llround llroundf mulhi mul64hi mul24 sad hadd rhadd min max llmin llmax abs llabs brev brevll clz clzll ffs ffsll
popc popcll byte_perm double2hiint double2loint double_as_longlong float_as_int float2half_rn ilogb ilogbf""".split()


@pytest.fixture(autouse=True)
def mathematics(device):
    if device == "cuda":
        try:
            run("sin", [np.ones(1)])
        except Exception as error:
            if "E0502" in str(error):
                pytest.skip("libdevice is not installed on this machine")
            raise


def test_the_names_are_those_of_numba():
    from quern import _inner_names
    text = open(_inner_names.__file__).read()
    start = text.index("\ncuda.libdevice: ") + 17
    numba = set(text[start:text.index("\ncuda.libdevicedecl", start)].split())
    assert numba <= set(NAMES) and set(NAMES) - numba == {f"cyl_bessel_i{k}{s}" for k in "01" for s in ("", "f")}  # numba-cuda's
    assert list(libdevice._ROWS) == NAMES and dir(cuda.libdevice)


# -- mathematics -------------------------------------------------------------------------------------------------------

_libm = ctypes.CDLL("libm.so.6")


def libm(name, n=1):
    f = getattr(_libm, name)
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * n
    return lambda *a: np.array([f(*map(float, row)) for row in zip(*a)])


ANY = np.array([0.0, -0.0, 0.3, -0.7, 1.0, -1.0, 2.5, -3.5, 17.25, -100.0, 1e-5, math.inf, -math.inf, math.nan])
UNIT = np.array([0.0, -0.0, 0.5, -0.5, 0.999, -0.25, 1.0, -1.0, 1e-7, math.nan, 2.0])
POSITIVE = np.array([0.0, 0.1, 1.0, 2.0, 10.0, 12345.678, 1e-30, math.inf, math.nan, -1.0])
MATHS = {name: (ANY, libm(name)) for name in """asinh atan cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma nearbyint rint
round sin sinh tan tanh tgamma trunc logb""".split()}
MATHS |= {name: (UNIT, libm(name)) for name in "acos asin atanh".split()}
MATHS |= {name: (POSITIVE, libm(name)) for name in "acosh log log10 log2 sqrt".split()}
MATHS["log1p"] = (POSITIVE, libm("log1p"))
MATHS["rsqrt"] = (POSITIVE, lambda x: 1 / np.sqrt(x))
MATHS["rcbrt"] = (ANY, lambda x: 1 / np.cbrt(x))
MATHS["normcdf"] = (ANY, lambda x: 0.5 * libm("erfc")(-x * math.sqrt(0.5)))


@pytest.mark.parametrize("name", sorted(MATHS))
def test_of_one_number(device, name):
    x, oracle = MATHS[name]
    with np.errstate(all="ignore"):
        for suffix, kind, rtol in (("", np.float64, 1e-13), ("f", np.float32, 3e-6)):
            expected = oracle(x.astype(kind).astype(np.float64)).astype(kind)
            if kind == np.float32 and name in ("tgamma", "cosh", "sinh", "exp", "exp10", "exp2"):
                rtol = 2e-5
            got = run(name + suffix, [x.astype(kind)])
            np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-45, err_msg=name + suffix)
            zero = (expected == 0) & (device != "hip" or name != "expm1")  # AMD's has no negative zero
            assert (np.signbit(got[zero]) == np.signbit(expected[zero])).all()
    if f"fast_{name}f" in NAMES:
        np.testing.assert_allclose(run(f"fast_{name}f", [x[np.isfinite(x)].astype("f4")]),
                                   run(f"{name}f", [x[np.isfinite(x)].astype("f4")]), rtol=1e-5, atol=1e-6)


TWO = [np.repeat(ANY, ANY.size), np.tile(ANY, ANY.size)]


@pytest.mark.parametrize("name", "atan2 copysign fdim fmax fmin fmod hypot pow remainder nextafter".split())
def test_of_two_numbers(device, name):
    with np.errstate(all="ignore"):
        expected = libm(name, 2)(*TWO)
        np.testing.assert_allclose(run(name, TWO), expected, rtol=1e-13)
        if name == "nextafter":
            expected = np.nextafter(*(c.astype(np.float32) for c in TWO))
        narrow = [c.astype(np.float32) for c in TWO]
        if name in ("fmod", "remainder", "pow"):
            expected = libm(name, 2)(*(c.astype(np.float64) for c in narrow)).astype(np.float32)
        np.testing.assert_allclose(run(name + "f", narrow), expected.astype(np.float32), rtol=1e-5)


def test_results_that_are_tuples(device):
    x = np.array([0.0, 0.3, -2.75, 17.25, 1e10, -1e-10])
    for suffix, kind, rtol in (("", np.float64, 1e-14), ("f", np.float32, 1e-6)):
        v = x.astype(kind)
        wide = v.astype(np.float64)
        np.testing.assert_allclose(run("frexp" + suffix, [v], 2), np.frexp(wide), rtol=0)
        np.testing.assert_allclose(run("modf" + suffix, [v], 2), np.modf(wide), rtol=0)
        np.testing.assert_allclose(run("sincos" + suffix, [v[:4]], 2), [np.sin(wide[:4]), np.cos(wide[:4])], rtol=rtol)
        whole = np.array([0.0, 0.5, 1.0, 1.5, -0.5, 2.0, 0.25, -1.25, 1e6, 7.125], kind)
        sine, cosine = run("sincospi" + suffix, [whole], 2)
        np.testing.assert_array_equal(sine[:6], [0, 1, 0, -1, -1, 0])
        np.testing.assert_array_equal(cosine[:6], [1, 0, -1, 0, 0, 1])
        turn = np.remainder(whole[6:].astype(np.float64), 2) * math.pi
        np.testing.assert_allclose(sine[6:], np.sin(turn), rtol=1e-6 if suffix else 1e-14, atol=1e-15)
        np.testing.assert_allclose(cosine[6:], np.cos(turn), rtol=1e-6 if suffix else 1e-14, atol=1e-15)
        np.testing.assert_array_equal(run("sinpi" + suffix, [whole]), sine)
        np.testing.assert_array_equal(run("cospi" + suffix, [whole]), cosine)
        a, b = np.array([7.0, -7, 29, -29, 5.5, 100]).astype(kind), np.array([2.0, 2, 3, -3, 2, 7]).astype(kind)
        rest, count = run("remquo" + suffix, [a, b], 2)
        np.testing.assert_array_equal(rest, [math.remainder(*p) for p in zip(a, b)])
        for p, q, c, r in zip(a, b, count, rest):
            exact = round((float(p) - float(r)) / float(q))
            assert abs(exact) % 8 == abs(c) and (c == 0 or (c > 0) == (exact > 0))


def test_inverse_functions(device):
    x = np.array([-3.0, -1.0, -0.1, 1e-8, 0.5, 1.0, 2.0, 3.5])
    np.testing.assert_allclose(run("erfinv", [libm("erf")(x[:-1])]), x[:-1], rtol=1e-9)
    np.testing.assert_allclose(run("erfcinv", [libm("erfc")(x[4:])]), x[4:], rtol=1e-13)
    np.testing.assert_allclose(run("erfcinv", [np.array([1e-300, 1e-100])]), [26.209469960516124, 15.065574702592645], rtol=1e-12)
    np.testing.assert_allclose(run("erfinvf", [np.array([0.5], np.float32)]), [0.47693628], rtol=1e-6)
    np.testing.assert_allclose(run("normcdfinv", [np.array([0.5, 0.975, 0.001])]), [0, 1.959963984540054, -3.090232306167813], rtol=1e-12,
                               atol=1e-15)
    np.testing.assert_array_equal(run("erfinv", [np.array([0.0, 1.0, -1.0, 1.5, math.nan])]), [0, math.inf, -math.inf, math.nan, math.nan])
    np.testing.assert_array_equal(run("erfcinv", [np.array([0.0, 2.0, -1.0, 3.0])]), [math.inf, -math.inf, math.nan, math.nan])
    np.testing.assert_allclose(run("erfcx", [np.array([-1.0, 0.0, 1.0, 9.0, 11.0, 100.0, 1e9])]),
                               [5.008980080762283, 1, 0.427583576155807, 0.0623077240377743, math.exp(121) * math.erfc(11), 0.005641613782989433,
                                5.641895835477563e-10], rtol=1e-12)


def test_questions(device):
    wide, narrow = ANY, ANY.astype(np.float32)
    for names, oracle in (("isinfd isinff", np.isinf), ("isnand isnanf", np.isnan), ("isfinited finitef", np.isfinite),
                          ("signbitd signbitf", np.signbit)):
        for name, x in zip(names.split(), (wide, narrow)):
            np.testing.assert_array_equal(run(name, [x]) != 0, oracle(x))
    x = np.array([1.0, 0.75, 1e300, 0.0, math.inf, -5e-324])
    np.testing.assert_array_equal(run("ilogb", [x]), [0, -1, 996, -2**31, 2**31 - 1, -1074])
    np.testing.assert_array_equal(run("saturatef", [np.array([-1, 0.5, 2, math.nan], np.float32)]), [0, 0.5, 1, 0])
    np.testing.assert_allclose(run("powi", [np.array([2.0, -3, 0.5]), np.array([10, 3, -2])]), [1024, -27, 4])
    np.testing.assert_array_equal(run("ldexp", [np.array([1.5, -2.0]), np.array([4, -1])]), [24, -1])
    np.testing.assert_array_equal(run("llrint", [np.array([2.5, -3.5, 1e10])]), [2, -4, 10**10])
    np.testing.assert_array_equal(run("llround", [np.array([2.5, -3.5, 0.49999999999999994])]), [3, -4, 0])


# -- rounded towards a side ---------------------------------------------------------------------------------------------


def rounded(exact, nearest, mode, kind):
    """The float of `kind` that an exact fraction is rounded to."""
    top = float(np.finfo(kind).max)
    if math.isinf(nearest):
        inside = {"rn": False, "rz": True, "rd": nearest > 0, "ru": nearest < 0}[mode]
        return math.copysign(top, nearest) if inside else nearest
    value = fractions.Fraction(float(nearest))
    down = mode == "rd" or (mode == "rz" and exact > 0)
    if mode == "rn" or value == exact or (mode == "rz" and exact == 0):
        return nearest
    with np.errstate(over="ignore"):
        if down and value > exact:
            return float(np.nextafter(kind(nearest), kind(-math.inf)))
        if not down and value < exact:
            return float(np.nextafter(kind(nearest), kind(math.inf)))
    return nearest


OPERATIONS = {"add": (2, lambda a, b: a + b), "sub": (2, lambda a, b: a - b), "mul": (2, lambda a, b: a * b), "div": (2, lambda a, b: a / b),
              "rcp": (1, lambda a: 1 / a), "fma": (3, lambda a, b, c: a * b + c)}


@pytest.mark.parametrize("mode", ["rn", "rd", "ru", "rz"])
@pytest.mark.parametrize("letter, kind", [("d", np.float64), ("f", np.float32)])
def test_arithmetic_that_is_rounded_to_a_side(device, mode, letter, kind):
    generator = np.random.default_rng(5)
    columns = [(generator.standard_normal(60) * 2.0 ** generator.integers(-9, 9, 60)).astype(kind) for _ in range(3)]
    columns[0][:3], columns[1][:3] = np.finfo(kind).max, [2, -2, 0.5]
    columns[0][3:5] = columns[1][3:5] = columns[2][3:5] = 1
    for name, (n, operation) in OPERATIONS.items():
        full = ("fmaf" if letter == "f" else "fma") + "_" + mode if name == "fma" else f"{letter}{name}_{mode}"
        if letter == "d" and name == "sub":
            continue
        with np.errstate(all="ignore"):
            nearest = run(full.replace(mode, "rn"), columns[:n])
            got = run(full, columns[:n])
        for k, row in enumerate(zip(*columns[:n])):
            exact = operation(*(fractions.Fraction(float(v)) for v in row))
            assert got[k] == rounded(exact, nearest[k], mode, kind), (full, row)
    got, x = run(f"{letter}sqrt_{mode}", [abs(columns[0])]), abs(columns[0])
    for k in range(3, 60):
        root, square = fractions.Fraction(float(got[k])), fractions.Fraction(float(x[k]))
        other = fractions.Fraction(float(np.nextafter(kind(got[k]), kind(0 if mode == "ru" else math.inf))))
        assert mode == "rn" or (root * root >= square > other * other if mode == "ru" else root * root <= square < other * other)


@pytest.mark.parametrize("mode, to_whole", [("rn", np.rint), ("rd", np.floor), ("ru", np.ceil), ("rz", np.trunc)])
def test_conversions(device, mode, to_whole):
    x = np.array([0.0, 0.5, -0.5, 1.5, -2.5, 1e9 + 0.75, -7.25, 123.9, 3e9, -3e9, 1e30, -1e30, math.nan])
    for source, kind in (("double", np.float64), ("float", np.float32)):
        for target, dtype in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
            limits = np.iinfo(dtype)
            expected = [0 if math.isnan(v) else min(max(int(to_whole(v)), limits.min), limits.max) for v in x.astype(kind).astype(np.float64)]
            assert list(run(f"{source}2{target}_{mode}", [x.astype(kind)])) == expected
    ints = np.array([0, 1, -1, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 16777219, 123456789])
    long = np.array([0, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62 + 1, 999999999999999999, -5])
    for name, values, dtype, kind in (("int2float", ints, np.int32, np.float32), ("uint2float", abs(ints), np.uint32, np.float32),
                                      ("ll2float", long, np.int64, np.float32), ("ll2double", long, np.int64, np.float64),
                                      ("ull2float", [2**64 - 1, 2**63 + 1, 5, 2**53 + 1], np.uint64, np.float32),
                                      ("ull2double", [2**64 - 1, 2**63 + 1, 5, 2**53 + 1], np.uint64, np.float64)):
        given = np.array(values, dtype)
        got = run(f"{name}_{mode}", [given])
        assert list(got) == [rounded(fractions.Fraction(int(v)), float(given.astype(kind)[k]), mode, kind) for k, v in enumerate(given)]
    wide = np.array([0.1, -0.1, 1 + 2.0**-30, -1 - 2.0**-30, 1e300, -1e300, math.inf, 3.5, 0.0])
    with np.errstate(all="ignore"):
        narrow = wide.astype(np.float32).astype(np.float64)
    got = run(f"double2float_{mode}", [wide])
    for k, v in enumerate(wide):
        assert got[k] == (v if math.isinf(v) else rounded(fractions.Fraction(v), narrow[k], mode, np.float32))


# -- bits and ints --------------------------------------------------------------------------------------------------------


def test_bits_of_floats(device):
    x = np.array([1.0, -2.5, 0.1, 1e300, -0.0, math.inf])
    bits = x.view(np.int64)
    assert list(run("double_as_longlong", [x])) == list(bits)
    assert list(run("double2hiint", [x])) == list((bits >> 32).astype(np.int32))
    assert list(run("double2loint", [x])) == list(bits.astype(np.int32))
    np.testing.assert_array_equal(run("longlong_as_double", [bits]), x)
    np.testing.assert_array_equal(run("hiloint2double", [(bits >> 32).astype(np.int32), bits.astype(np.int32)]), x)
    f = np.array([1.0, -2.5, 0.1, 65504.0], np.float32)
    assert list(run("float_as_int", [f])) == list(f.view(np.int32))
    np.testing.assert_array_equal(run("int_as_float", [f.view(np.int32)]), f)
    assert list(run("float2half_rn", [f])) == list(f.astype(np.float16).view(np.int16))
    np.testing.assert_array_equal(run("half2float", [f.astype(np.float16).view(np.int16)]), f.astype(np.float16))


def test_ints(device):
    a = np.array([0, 1, -1, 7, -8, 2**31 - 1, -(2**31), 123456789])
    x, y = (c.astype(np.int32) for c in (np.repeat(a, a.size), np.tile(a, a.size)))
    u, v = x.view(np.uint32), y.view(np.uint32)

    def same(name, columns, function):
        kind = {np.int32: 32, np.uint32: 32}.get(columns[0].dtype.type, 64)
        dtype = np.dtype(result_dtype(name)).kind + "4" if kind == 32 and name not in INTS else None
        expected = [function(*(int(c[k]) for c in columns)) for k in range(columns[0].size)]
        got = run(name, columns)
        wrapped = [e % 2**kind - (2**kind if e % 2**kind >= 2**(kind - 1) and name in INTS else 0) for e in expected]
        assert list(got) == wrapped, (name, dtype)

    def low24(v):
        return (v % 2**24) - (2**24 if v % 2**24 >= 2**23 else 0)

    for name, function in (("mulhi", lambda p, q: p * q >> 32), ("mul24", lambda p, q: low24(p) * low24(q)), ("hadd", lambda p, q: (p + q) >> 1),
                           ("rhadd", lambda p, q: (p + q + 1) >> 1), ("min", min), ("max", max)):
        same(name, [x, y], function)
    for name, function in (("umulhi", lambda p, q: p * q >> 32), ("umul24", lambda p, q: (p % 2**24) * (q % 2**24)),
                           ("uhadd", lambda p, q: (p + q) >> 1), ("urhadd", lambda p, q: (p + q + 1) >> 1), ("umin", min), ("umax", max)):
        same(name, [u, v], function)
    same("sad", [x, y, x], lambda p, q, r: abs(p - q) + r)
    same("usad", [u, v, u], lambda p, q, r: abs(p - q) + r)
    wide = np.array([0, 1, -1, 2**63 - 1, -(2**63), 0x123456789abcdef, -987654321987654321])
    p, q = np.repeat(wide, wide.size), np.tile(wide, wide.size)
    same("mul64hi", [p, q], lambda a, b: a * b >> 64)
    same("llmin", [p, q], min)
    same("llmax", [p, q], max)
    for name, function in (("umul64hi", lambda a, b: a * b >> 64), ("ullmin", min), ("ullmax", max)):
        same(name, [p.view(np.uint64), q.view(np.uint64)], function)
    same("abs", [x], abs)
    same("llabs", [wide], abs)
    for suffix, values, bits in (("", a.astype(np.int32), 32), ("ll", wide, 64)):
        same("popc" + suffix, [values], lambda v, bits=bits: (v % 2**bits).bit_count())
        same("clz" + suffix, [values], lambda v, bits=bits: bits - (v % 2**bits).bit_length())
        same("ffs" + suffix, [values], lambda v: (v & -v).bit_length())
        same("brev" + suffix, [values], lambda v, bits=bits: int(f"{v % 2**bits:0{bits}b}"[::-1], 2))
    selector = np.array([0x3210, 0x7654, 0x0123, 0x5140, 0xffff, 0], np.int32)
    one, two = np.full(6, 0x33221100, np.int32), np.full(6, 0x77665544, np.int32)
    expected = [sum((0x7766554433221100 >> 8 * (s >> 4 * k & 7) & 255) << 8 * k for k in range(4)) for s in selector.tolist()]
    assert list(run("byte_perm", [one, two, selector])) == expected


BESSEL = {"j0": "besselj 0", "j1": "besselj 1", "y0": "bessely 0", "y1": "bessely 1", "cyl_bessel_i0": "besseli 0", "cyl_bessel_i1": "besseli 1"}


def near_mpmath(device, name, order, columns, results):
    """Within some units in the last place of the larger of the value and 1e-3 (near zeros the absolute difference counts). NVIDIA's library
    promises an absolute error alone: 5e-12, and 2.2e-6 for float32."""
    mpmath = pytest.importorskip("mpmath", reason="make test installs it")
    single = columns.dtype == np.float32
    bound, most = (300 * 2.0**-24, 1e38) if single else (300 * 2.0**-53, 1e300)
    if device == "cuda" and name != "besseli":
        bound = 2.2e-3 if single else 5e-9
    with mpmath.workprec(200):
        expected = [getattr(mpmath, name)(order, mpmath.mpf(float(x))) for x in columns]
        return all(abs(mpmath.mpf(float(r)) - e) < bound * max(abs(e), mpmath.mpf(1) / 1000) for r, e in zip(results, expected) if abs(e) < most)


@pytest.mark.parametrize("name", sorted(BESSEL))
def test_bessel_functions(device, name):
    random = np.random.default_rng(7)
    x = np.concatenate([random.uniform(0.01, 30, 24), random.uniform(30, 600, 6), [1e-5, 0.5, 31.9, 32.1]])
    function, order = BESSEL[name].split()
    assert near_mpmath(device, function, int(order), x, run(name, [x]))
    single = x[x < 80].astype(np.float32)
    assert near_mpmath(device, function, int(order), single, run(name + "f", [single]))


@pytest.mark.parametrize("order", [0, 1, 2, 7, 31])
def test_bessel_functions_of_an_order(device, order):
    random = np.random.default_rng(order)
    x = np.concatenate([random.uniform(0.01, 30, 14), random.uniform(30, 600, 4), [1e-9, 1e-5, float(order or 3)]])
    orders = np.full(x.size, order, np.int32)
    for name, function in ("jn", "besselj"), ("yn", "bessely"):
        assert near_mpmath(device, function, order, x, run(name, [orders, x]))
        single = x.astype(np.float32)
        assert near_mpmath(device, function, order, single, run(name + "f", [orders, single]))
    if order > 1:  # small values keep their digits
        got, small = run("jn", [orders[:2], np.array([0.3, 1e-6])]), [0.3, 1e-6]
        for value, at in zip(got, small):
            term = math.exp(order * math.log(at / 2) - math.lgamma(order + 1)) * (1 - at * at / (4 * (order + 1)))
            assert abs(value / term - 1) < 1e-3 if term > 1e-290 else value < 1e-280


def test_bessel_functions_where_they_end(device):
    def of(name, *values):
        return run(name, [np.array([v], np.int32 if isinstance(v, int) else np.float64) for v in values])[0]

    for name in "jn", "yn", "jnf", "ynf":
        assert math.isnan(of(name, -1, 2.0)) and math.isnan(of(name, 2, math.nan)) and of(name, 2, math.inf) == 0
    assert of("jn", 2, 0.0) == 0 and of("jn", 3, -2.5) == -of("jn", 3, 2.5) and of("jn", 4, -2.5) == of("jn", 4, 2.5)
    assert of("yn", 2, 0.0) == -math.inf and math.isnan(of("yn", 2, -1.0)) and of("yn", 200, 1e-3) == -math.inf
    assert of("jn", 300, 1e-3) == 0 and of("cyl_bessel_i0", 0.0) == 1 and of("cyl_bessel_i1", 0.0) == 0
    assert of("cyl_bessel_i0", -2.0) == of("cyl_bessel_i0", 2.0) and of("cyl_bessel_i1", -2.0) == -of("cyl_bessel_i1", 2.0)
    assert of("cyl_bessel_i0", math.inf) == math.inf and of("cyl_bessel_i1", -math.inf) == -math.inf and math.isnan(of("cyl_bessel_i1", math.nan))


def test_as_a_module(device):
    import quern.cuda.libdevice as module
    from quern.cuda.libdevice import fast_sinf

    @cuda.jit
    def kernel(a):
        a[0] = fast_sinf(a[1])
        a[2] = module.dadd_ru(1.0, 1e-20)

    a = np.array([0, 0.5, 0])
    kernel[1, 1](a)
    assert abs(a[0] - math.sin(0.5)) < 1e-6 and a[2] == np.nextafter(1, 2)
    assert sorted(n for n in vars(module) if not n.startswith("_")) == NAMES


def test_functions_that_need_a_device(device):
    @cuda.require_context
    def twice(x, by=2):
        """twice"""
        return x * by

    assert twice(3) == 6 and twice(3, by=3) == 9 and twice.__name__ == "twice" and twice.__doc__ == "twice"
