"""fastmath=True of kernels: float32 division, roots and functions by the approximations of the hardware, as nvcc -use_fast_math and Numba
have them. What they are off by is what CUDA's documentation allows."""
import math
import re

import numpy as np
import pytest

from quern import cuda


def compute(x, y, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i, 0] = x[i] / y[i]
        out[i, 1] = math.sqrt(x[i])
        out[i, 2] = 1 / math.sqrt(y[i])
        out[i, 3] = math.sin(x[i])
        out[i, 4] = math.cos(x[i])
        out[i, 5] = math.log(y[i]) + math.log2(y[i]) + math.log10(y[i])
        out[i, 6] = math.exp(x[i])
        out[i, 7] = x[i] ** y[i]
        out[i, 8] = math.sqrt(x[i]) + 1 / math.sqrt(x[i] + y[i])


def test_approximations_are_near(device):
    x, y = np.linspace(0.1, 3, 50, dtype=np.float32), np.linspace(0.3, 7, 50, dtype=np.float32)
    fast, exact = np.zeros((50, 9), np.float32), np.zeros((50, 9), np.float32)
    cuda.jit(fastmath=True)(compute)[2, 32](x, y, fast)
    cuda.jit(compute)[2, 32](x, y, exact)
    assert np.allclose(fast, exact, rtol=3e-6, atol=3e-6)


SIGNATURE = "void(float32[::1], float32[::1], float32[:,::1])"


def instructions(**options):
    ptx, _ = cuda.compile_ptx(compute, SIGNATURE, cc=(9, 0), **options)
    return set(re.findall(r"\t(\w+(?:\.\w+)*\.f32)", ptx))


@pytest.mark.optimised
def test_the_hardware_is_asked():
    fast = instructions(fastmath=True)
    for name in ("div", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
        assert f"{name}.approx.ftz.f32" in fast, name
    assert not any(".rn" in name and name.split(".")[0] in ("div", "sqrt", "rcp") for name in fast)


@pytest.mark.optimised
@pytest.mark.parametrize("options", [{}, {"fastmath": False}, {"fastmath": {"contract", "nsz"}}])
def test_less_than_all_of_it_asks_for_no_approximation(options):
    exact = instructions(**options)
    assert {"div.rn.f32", "sqrt.rn.f32"} <= exact and not any(name.endswith("ftz.f32") and name.startswith(("add", "mul", "div")) for name in exact)


def test_tests_for_nan_stay_true(device):
    @cuda.jit(fastmath=True)
    def ask(x, out):
        i = cuda.grid(1)
        out[i] = math.isnan(x[i]) + 2 * math.isinf(x[i])

    x, out = np.array([1, math.nan, math.inf, -math.inf], np.float32), np.zeros(4, np.int32)
    ask[1, 4](x, out)
    assert out.tolist() == [0, 1, 2, 2]


def test_doubles_stay_exact(device):
    @cuda.jit(fastmath=True)
    def divide(x, y, out):
        i = cuda.grid(1)
        out[i] = math.sqrt(x[i] / y[i])

    x, y = np.linspace(1, 2, 32), np.linspace(3, 5, 32)
    out = np.zeros(32)
    divide[1, 32](x, y, out)
    assert (out == np.sqrt(x / y)).all()
