"""Every function of ocml that the tables name, as machine code of both AMD chips, against references of 200 bits (mpmath). Arguments
are ordinary, tiny, huge, denormal, infinite, NaN, and what each function finds difficult. Where an argument is zero, infinite or NaN,
the C library says what the result is (ISO C, Annex F), to the sign of zero."""
import ctypes
import math
import pathlib
import re

import numpy as np
import pytest

from quern import cuda
from quern.cuda import libdevice

mpmath = pytest.importorskip("mpmath", reason="make test installs it")
TABLES = pathlib.Path(__file__).resolve().parents[2] / "typeinfer" / "tables"
LIBM = ctypes.CDLL("libm.so.6")
TYPES = {np.float32: (24, -149, ctypes.c_float, "f"), np.float64: (53, -1074, ctypes.c_double, "")}  # bits, exponent of the last bit

# What ocml promises: the limits of the OpenCL C specification ("Relative error as ulps"), in units of the last place of the exact
# result, for float32 and float64; 0 is exact. OpenCL names none for lgamma, which is worst beside its poles; near its zeros the unit is
# that of 1. On these arguments the largest errors are 2.4 units for erfc, 6.4 for tgamma of float64, 14 and 24 for lgamma, and 1.9 for
# all others.
BOUNDS = {
    "acos": (4, 4), "acosh": (4, 4), "asin": (4, 4), "asinh": (4, 4), "atan": (5, 5), "atan2": (6, 6), "atanh": (5, 5),
    "cbrt": (2, 2), "cos": (4, 4), "cosh": (4, 4), "erf": (16, 16), "erfc": (16, 16), "exp": (3, 3), "exp2": (3, 3),
    "expm1": (3, 3), "fmod": (0, 0), "hypot": (4, 4), "ldexp": (0, 0), "lgamma": (16, 32), "log": (3, 3), "log10": (3, 3),
    "log1p": (2, 2), "log2": (3, 3), "nextafter": (0, 0), "pow": (16, 16), "remainder": (0, 0), "sin": (4, 4), "sinh": (4, 4),
    "tan": (5, 5), "tanh": (5, 5), "tgamma": (16, 16), "j0": (4, 4), "j1": (4, 4), "y0": (4, 4), "y1": (4, 4),
}
BESSEL = {"j0": mpmath.besselj, "j1": mpmath.besselj, "y0": mpmath.bessely, "y1": mpmath.bessely}
ABSOLUTE = {"lgamma", *BESSEL}
# The double that lies nearest to a multiple of pi / 2: ocml reduces with 159 bits of 2 / pi, which leaves it 45. sin is 1 there.
NEAREST = 6381956970095103 * 2.0**797
NEAREST_BOUND = 1024
EXACT = {name for name, bound in BOUNDS.items() if bound == (0, 0)}
MP = {"tgamma": "gamma", "lgamma": "loggamma", "pow": "power", "exp2": None}
MATH = {"tgamma": "gamma"}
TWO = {"atan2", "fmod", "hypot", "ldexp", "nextafter", "pow", "remainder"}


def test_each_function_of_ocml_has_its_bound():
    named = {name for path in TABLES.glob("*.def") for name in re.findall(r"__ocml_([a-z0-9]+)", path.read_text())}
    assert named == set(BOUNDS)


# -- arguments --------------------------------------------------------------------------------------


def common(dtype, rng):
    """Numbers of every size and sign, and those that are none."""
    info, n = np.finfo(dtype), 96
    low, high = (-149, 127) if dtype is np.float32 else (-1074, 1023)
    sizes = np.ldexp(rng.uniform(1, 2, n), rng.integers(low, high + 1, n))
    near = np.ldexp(rng.uniform(1, 2, n), rng.integers(-12, 12, n))
    special = [0.0, np.inf, np.nan, 1.0, 2.0, 0.5, 3.0, 10.0, info.max, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal,
               info.tiny * (1 - info.eps), info.eps, 1 + info.eps, 1 - info.epsneg, 1 / info.max, 2.0**31, 2.0**32 + 0.0, 2.0**63, 1e-20]
    made = np.concatenate([sizes, near, special])
    with np.errstate(all="ignore"):
        return np.concatenate([made, -made]).astype(dtype)


def around(dtype, centres, rng, steps=3):
    """The centres, their neighbours, and numbers close to them on every scale."""
    out = []
    for c in np.array(centres, dtype):
        up = down = c
        out.append(c)
        for _ in range(steps):
            up, down = np.nextafter(up, dtype(np.inf)), np.nextafter(down, dtype(-np.inf))
            out += [up, down]
        out += list((c + (abs(c) + 1) * np.ldexp(rng.uniform(-1, 1, 4), rng.integers(-20, -2, 4))).astype(dtype))
    return np.array(out, dtype)


def edges(name, dtype):
    """Where a function turns, ends, overflows or has a pole."""
    f32 = dtype is np.float32
    top, bottom = (88.72, -103.97) if f32 else (709.78, -745.13)
    turns = [k * math.pi / 4 for k in (*range(1, 25), 99, 1000, 12345, 10**6, 10**9)]
    if name in ("sin", "cos", "tan"):
        wild = [1e15, 1e22, 1e30, 3e38, 6381956970095103 * 2.0**60, *([] if f32 else [1e100, 1.7e308])]
        return [*turns, *(-t for t in turns), *wild]
    if name in ("exp", "expm1", "sinh", "cosh"):
        half = math.log(2) / 2
        return [top, bottom, -top, top + 0.69, -top - 0.69, bottom / 2, 2 * half, -2 * half, half, -87.33, -87.4 if f32 else -708.39]
    if name == "exp2":
        return [127.999, -126.0, -149.0, -150.0, 0.5, -0.5] if f32 else [1023.999, -1022.0, -1074.0, -1075.0, 0.5, -0.5]
    if name in ("tgamma", "lgamma"):
        turns = [-2.457, -3.5, -10.5, -30.25, -38.7, 1.0, 2.0, 1.4616, 2.5, 7.99, 0.1, -0.5, -170.5, -184.2, 1e5]
        return [35.04 if f32 else 171.624, *turns, *range(-40, 0)]
    if name in ("erf", "erfc"):
        return [0.84, 1.25, 2.857, 9.2, 10.05, 26.5, 27.2, -5.0, -0.5, 0.46875, 4.0, 3.9, 5.92]
    if name in ("log", "log2", "log10", "acosh", "atanh", "asin", "acos", "log1p"):
        return [1.0, -1.0, 0.5, -0.5, math.sqrt(0.5), math.sqrt(2), 0.9, -0.9, 0.99999, 10.0, 100.0, 1e10, 2.0**100, -0.9999]
    if name in BESSEL:
        return [0.894, 2.197, 2.405, 3.832, 5.52, 7.016, 7.99, 8.0, 11.086, 20.0, 25.0, 100.5, 1999.0, -2.405, -8.0, -1500.0]
    return [1.0, -1.0, 0.5, 20.0, -20.0, 9.01, 8.0, 27.0, 0.55, 22.0, 0.4375, 2.4375]


RANGES = {"tgamma": (-45, 36), "lgamma": (-45, 36), "exp": (-104, 89), "expm1": (-20, 89), "exp2": (-150, 128), "sinh": (-89, 89),
          "cosh": (-89, 89), "erf": (-5, 5), "erfc": (-4, 11), "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 40),
          "log1p": (-1, 3), "log": (0, 3), "log2": (0, 3), "log10": (0, 3)}


def single(name, dtype, rng):
    low, high = RANGES.get(name, (-30, 30))
    if dtype is np.float64 and high > 35:
        low, high = low * 4, high * 4
    made = np.concatenate([common(dtype, rng), around(dtype, edges(name, dtype), rng), rng.uniform(low, high, 400).astype(dtype)])
    return made[~(np.isfinite(made) & (abs(made) > 2000))][::3] if name in BESSEL else made  # their references take long


def pairs(name, dtype, rng):
    a, b = common(dtype, rng), common(dtype, rng)
    some = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, np.inf, -np.inf, np.nan, np.finfo(dtype).max,
                     np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, -np.finfo(dtype).smallest_subnormal], dtype)
    x, y = (g.ravel() for g in np.meshgrid(some, some))
    x, y = np.concatenate([x, a, rng.permutation(a)]), np.concatenate([y, rng.permutation(b), b])
    n = 256
    if name == "pow":
        base = np.concatenate([rng.uniform(0, 4, n), np.ldexp(rng.uniform(1, 2, n), rng.integers(-100, 100, n)), 1 + rng.normal(size=n) / 4096,
                               -rng.uniform(0, 9, n)])
        with np.errstate(all="ignore"):  # so that most results are numbers
            power = rng.uniform(-1, 1, base.size) * (88 if dtype is np.float32 else 709) / np.maximum(abs(np.log(abs(base))), 1e-6)
        power[3 * n:] = np.round(power[3 * n:])
    elif name in ("fmod", "remainder"):
        power = np.ldexp(rng.uniform(1, 2, 2 * n), rng.integers(-20, 20, 2 * n))
        base = power * np.concatenate([rng.integers(-64, 64, n) / 2, rng.uniform(-1e4, 1e4, n)])
    elif name == "nextafter":
        base = rng.normal(size=n)
        power = np.where(rng.random(n) < 0.3, base, rng.normal(size=n))
    else:
        base, power = rng.normal(size=2 * n), rng.normal(size=2 * n) * np.exp2(rng.integers(-30, 30, 2 * n))
    with np.errstate(all="ignore"):
        x, y = np.concatenate([x, base.astype(dtype)]), np.concatenate([y, power.astype(dtype)])
    if name == "ldexp":
        y = np.concatenate([rng.integers(-40, 40, y.size - 10), [2**31 - 1, -2**31, 1100, -1100, 2200, -2200, 150, -150, 0, 1]]).astype(np.int32)
        y[:400:3] = rng.integers(-1200, 1200, y[:400:3].size)
    return x, y


# -- references -------------------------------------------------------------------------------------


def by_libm(name, dtype, *args):
    function = getattr(LIBM, name + TYPES[dtype][3])
    number = TYPES[dtype][2]
    function.restype, function.argtypes = number, [number] + [ctypes.c_int if name == "ldexp" else number] * (len(args) - 1)
    return function(*(int(a) if name == "ldexp" and k else float(a) for k, a in enumerate(args)))


def exact(name, *args):
    """To 200 bits, NaN where there is no real one; None at a pole."""
    with mpmath.workprec(200):
        x = [mpmath.mpf(float(a)) for a in args]
        if name == "exp2":
            return mpmath.power(2, x[0])
        if name in BESSEL:
            return BESSEL[name](int(name[1]), x[0]) if name[0] == "j" or x[0] > 0 else mpmath.nan
        if name in ("tgamma", "lgamma"):
            if x[0] <= 0 and mpmath.isint(x[0]):
                return None
            if name == "tgamma":  # far below zero it is less than any float
                return mpmath.gamma(x[0]) if x[0] > -2000 and x[0] < 2000 else mpmath.mpf(0 if x[0] < 0 else "1e2000")
            if x[0] < -2.0**40:  # without the fraction that the sine would want
                return None
            return mpmath.re(mpmath.loggamma(x[0]))
        if name in ("exp", "expm1", "sinh", "cosh", "erfc") and abs(x[0]) > 1e5:
            x[0] = mpmath.sign(x[0]) * 1e5
        if name == "expm1" and abs(x[0]) < 1:
            return mpmath.expm1(x[0])
        if name == "log1p" and x[0] <= -1:
            return mpmath.nan if x[0] < -1 else None
        if name == "atanh" and abs(x[0]) == 1:
            return None
        if name == "cbrt":
            return mpmath.sign(x[0]) * mpmath.cbrt(abs(x[0]))
        if name == "pow":
            if x[0] < 0 and not mpmath.isint(x[1]):
                return mpmath.nan
            sign = -1 if x[0] < 0 and mpmath.isint(x[1] / 2) is False else 1
            power = x[1] * mpmath.log(abs(x[0]))
            return sign * mpmath.exp(max(min(power, mpmath.mpf(10000)), mpmath.mpf(-10000)))
        with mpmath.workprec(260):  # what cancels in acosh(1 + eps) and its kin
            result = getattr(mpmath, name)(*x)
        return mpmath.nan if isinstance(result, mpmath.mpc) and result.imag != 0 else mpmath.re(result)


def units(got, want, dtype, absolute):
    """The error in units of the last place of what is wanted; results beyond the largest float are one step above it."""
    bits, last, _, _ = TYPES[dtype]
    with mpmath.workprec(300):
        top = mpmath.mpf(float(np.finfo(dtype).max))
        step = mpmath.ldexp(1, max(int(mpmath.floor(mpmath.log(abs(want), 2))) + 1 - bits, last) if want else last)
        if absolute:
            step = max(step, mpmath.ldexp(1, 1 - bits))
        limit = top + mpmath.ldexp(top, -bits)
        got = mpmath.sign(mpmath.mpf(got)) * limit if math.isinf(got) else mpmath.mpf(got)
        want = max(min(want, limit), -limit)
        return float(abs(got - want) / step)


def wrong(name, dtype, args, got):
    """(error in units or what is wrong, arguments, result, wanted) of the worst result; and the largest error."""
    worst, found = 0.0, None
    for values in zip(*args, got):
        *values, result = (v.item() for v in values)
        finite = all(math.isfinite(v) for v in values) and (values[0] != 0 or name == "pow" and values[1] == 0) and 0 not in values
        want = exact(name, *values) if finite and name not in EXACT else None
        if want is None:  # ISO C says it, or it is exact
            want = by_libm(name, dtype, *values)
            same = math.isnan(want) and math.isnan(result) or want == result and math.copysign(1, want) == math.copysign(1, result)
            error = 0.0 if same else math.inf
            if not same and finite and name == "lgamma":
                error = abs(want - result) / abs(want) * 2.0**TYPES[dtype][0]
            if not same and not finite and name in BOUNDS and math.isfinite(want) and want and name not in EXACT:  # atan2(inf, inf)
                error = units(result, mpmath.mpf(want), dtype, False) if math.isfinite(result) else math.inf
        elif mpmath.isnan(want):
            error = 0.0 if math.isnan(result) else math.inf
        elif math.isnan(result):
            error = math.inf
        else:
            error = units(result, want, dtype, name in ABSOLUTE)
            if result == 0 and want != 0 and name not in ("lgamma", "tgamma") and math.copysign(1, result) != mpmath.sign(want):
                error = math.inf
        if error > worst:
            worst, found = error, (error, values, result, want if isinstance(want, float) else mpmath.nstr(want, 20))
    return worst, found


@pytest.fixture
def device(device):
    if device != "hip":
        pytest.skip("of AMD GPUs")
    return device


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_ocml_against_200_bits(device, name):
    function = MATH.get(name, name)
    where = "libdevice" if name in BESSEL else "math" if hasattr(math, function) else "np"
    operands = "x[i], y[i]" if name in TWO else "x[i]"
    scope = {"math": math, "np": np, "cuda": cuda, "libdevice": libdevice}
    for dtype, bound in zip(TYPES, BOUNDS[name]):
        called = f"{where}.{function}" + ("f" if name in BESSEL and dtype is np.float32 else "")
        exec(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = {called}({operands})\n", scope)
        kernel = cuda.jit(scope["kernel"])
        rng = np.random.default_rng(2)
        if name in TWO:
            args = pairs(name, dtype, rng)
        else:
            args = (single(name, dtype, rng),)
        out = np.zeros_like(args[0])
        kernel[(out.size + 63) // 64, 64](args[0], args[-1], out)
        worst, found = wrong(name, dtype, args, out)
        assert worst <= bound, (name, dtype.__name__, found)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_the_worst_reduction(device, name):
    scope = {"math": math, "cuda": cuda}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = math.{name}(x[i])\n", scope)
    x = np.array([NEAREST, -NEAREST])
    out = np.zeros(2)
    cuda.jit(scope["kernel"])[1, 32](x, out)
    worst, found = wrong(name, np.float64, (x,), out)
    assert worst <= (1 if name == "sin" else NEAREST_BOUND), found
