"""Managed arrays, which are NumPy arrays and device arrays at once; CUDA that is disabled; options of kernels that take away from each other."""
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from quern import config, cuda, vectorize
from quern.errors import NumbaInvalidConfigWarning


@cuda.jit
def ones(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] = 1


@pytest.mark.parametrize("attach_global", [True, False])
@pytest.mark.parametrize("order", "CF")
def test_managed_array_is_an_array_of_both_sides(device, attach_global, order):
    m = cuda.managed_array((3, 4), np.float32, order=order, attach_global=attach_global)
    assert isinstance(m, np.ndarray) and m.dtype == np.float32 and m.flags[f"{order}_CONTIGUOUS"]
    assert cuda.is_cuda_array(m) == cuda.is_cuda_array(cuda.device_array(3))
    m.fill(123.5)
    assert (m == 123.5).all()
    m[:] = 0
    ones[1, (8, 8)](m[1:, ::2])
    cuda.synchronize()
    wanted = np.zeros((3, 4), np.float32)
    wanted[1:, ::2] = 1
    assert np.array_equal(m, wanted) and np.array_equal(m.copy_to_host(), wanted)
    assert np.array_equal(m[1:, ::2].copy_to_host(), wanted[1:, ::2])
    m.copy_to_device(np.full((3, 4), 2, np.float32, order=order))
    assert m.sum() == 24 and type(m.sum()) is np.float32
    assert m.is_c_contiguous() == (order == "C")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ones[1, (8, 8)](m)
    cuda.synchronize()
    assert (m == 1).all()


def test_what_numpy_makes_of_a_managed_array_is_its_own():
    m = cuda.managed_array(4)
    m[:] = range(4)
    more = m + 1
    assert type(more) is np.ndarray and more.tolist() == [1, 2, 3, 4]
    m += 1
    assert m.tolist() == [1, 2, 3, 4] and type(np.sqrt(m, out=m)) is type(m)
    for own in (m.copy(), pickle.loads(pickle.dumps(m)), m.astype(np.int64)):
        assert not hasattr(own, "copy_to_host") and not hasattr(own, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="'ManagedNDArray' object has no attribute 'colour'"):
        m.colour
    assert m[1:3].reshape(2, 1).copy_to_host().shape == (2, 1)


def test_managed_array_of_a_stream(device):
    stream = cuda.stream()
    m = cuda.managed_array(10, stream=stream)
    assert m.stream == stream and m[2:].stream == stream and cuda.managed_array(3).stream == 0
    if cuda.is_cuda_array(m):
        assert m.__cuda_array_interface__["stream"] == cuda.device_array(3, stream=stream).__cuda_array_interface__["stream"]


def test_managed_memory_lives_as_long_as_a_view_of_it():
    v = cuda.managed_array(1000)[500:]
    v[:] = 7
    others = [cuda.managed_array(1000) for _ in range(5)]
    for o in others:
        o[:] = 0
    assert (v == 7).all()


DISABLED = """
import warnings
from quern import cuda, config, njit
why = "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 or QUERN_DISABLE_CUDA=1"
assert config.DISABLE_CUDA and not cuda.is_available() and cuda.cuda_error() == why
@cuda.jit
def kernel(x):
    x[0] = 1
import numpy as np
for call in (lambda: cuda.device_array(1), lambda: kernel[1, 1](np.zeros(1)), cuda.get_current_device, lambda: cuda.gpus[0].name, cuda.stream):
    try:
        call()
    except cuda_error as error:
        assert error.msg == why, error.msg
    else:
        assert False, "nothing was raised"
assert njit(lambda x: x + 1)(1) == 2
config.DISABLE_CUDA = False
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert cuda.device_array(1).shape == (1,)
"""


@pytest.mark.parametrize("variable", ["QUERN_DISABLE_CUDA", "NUMBA_DISABLE_CUDA"])
def test_disabled_CUDA_says_so(variable):
    environment = {k: v for k, v in os.environ.items() if k not in ("QUERN_DEVICE", "QUERN_DISABLE_CUDA", "NUMBA_DISABLE_CUDA")}
    environment[variable] = "1"
    if variable[0] == "N":
        environment["QUERN_AS_NUMBA"] = "1"
    program = "from quern.errors import CudaSupportError as cuda_error\n" + DISABLED
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.optimised
@pytest.mark.parametrize("options, setting, told", [
    (dict(debug=True, opt=True), {}, "not supported by CUDA"),
    (dict(debug=True, opt=3), {}, "not supported by CUDA"),
    (dict(debug=True), {"AS_NUMBA": True}, "not supported by CUDA"),
    (dict(), {"CUDA_DEBUGINFO_DEFAULT": True}, "not supported by CUDA"),
    (dict(debug=True, lineinfo=True, opt=False), {}, "debug and lineinfo are mutually exclusive"),
    (dict(debug=True), {}, None),
    (dict(debug=True, opt=False), {"AS_NUMBA": True}, None),
    (dict(opt=True), {"AS_NUMBA": True}, None),
    (dict(debug=True), {"AS_NUMBA": True, "OPT": config._OptLevel(0)}, None),
    (dict(opt=False), {"CUDA_DEBUGINFO_DEFAULT": True}, None),
])
def test_options_that_take_away_from_each_other(monkeypatch, options, setting, told):
    for name, value in setting.items():
        monkeypatch.setattr(config, name, value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cuda.jit(lambda x: None, **options)
    told_of = [w for w in caught if issubclass(w.category, NumbaInvalidConfigWarning)]
    assert [told in str(w.message) for w in told_of] == ([True] if told else [])
    assert all(w.filename == __file__ for w in told_of)


def test_debug_by_default(monkeypatch):
    monkeypatch.setattr(config, "CUDA_DEBUGINFO_DEFAULT", True)

    def kernel(x):
        x[3] = 1

    with pytest.raises(IndexError):
        cuda.jit(kernel, opt=False)[1, 1](np.zeros(1))
        cuda.synchronize()


def test_levels_of_optimisation():
    assert config._OptLevel("max") == 3 and config._OptLevel(0) == 0 and config._OptLevel("max").is_opt_max


def test_nopython_says_nothing_to_a_ufunc_of_a_device():
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        f = vectorize(["float32(float32, float32)"], target="cuda", nopython=True)(lambda a, b: a + b)
    assert f(np.float32([1, 2]), np.float32([3, 4])).tolist() == [4, 6]


NARROW = """
import numpy as np
from quern import cuda
@cuda.jit("void(int32[:], int32, uint8, int64)")
def kernel(out, a, b, c):
    out[0], out[1], out[2] = a, b, c
out = np.zeros(3, np.int32)
for a, b, c in ((0xFFFFFFFF, 257, -1), (np.uint32(0x80000000), -1, np.uint64(2**64 - 1)), (-2**31 - 1, np.int16(-2), 5)):
    kernel[1, 1](out, a, b, c)
    assert out.tolist() == [int(np.int64(a).astype(np.int32)), int(b) % 256, int(np.uint64(int(c) % 2**64).astype(np.int64))], out
"""


def test_numbers_wrap_round_in_signatures_of_kernels_as_numba():
    environment = {**os.environ, "QUERN_AS_NUMBA": "1", "QUERN_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", NARROW], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(OverflowError, match="does not fit into int32"):
        cuda.jit("void(int32[:], int32)")(lambda out, a: None)[1, 1](np.zeros(1, np.int32), 2**31)
