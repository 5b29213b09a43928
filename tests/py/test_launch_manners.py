"""Warnings of launches, words of errors of launches, kernels and ufuncs by pickle, devices and memory of arrays as numba.cuda has them."""
import pickle
import re
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from quern import config, cuda, guvectorize, int8, vectorize
from quern.errors import LaunchError, NumbaPerformanceWarning


@cuda.jit
def add_one(r, x):
    i = cuda.grid(1)
    if i < r.size:
        r[i] = x + 1


@pytest.fixture
def setting(monkeypatch):
    def change(name, value):
        monkeypatch.setattr(config, name, value)
    yield change


def test_I25_small_grids_are_told_when_asked_for(setting):
    few = cuda.get_current_device().MULTIPROCESSOR_COUNT * 2 - 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one[few, 33]
    setting("CUDA_LOW_OCCUPANCY_WARNINGS", True)
    with pytest.warns(NumbaPerformanceWarning, match=f"Grid size {few} .+ low occupancy"):
        add_one[few, 34]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one[few + 1, 34]
        with pytest.raises(NumbaPerformanceWarning, match="Grid size"):
            add_one[few, 35]
    setting("CUDA_LOW_OCCUPANCY_WARNINGS", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one[few, 36]


def test_copies_of_host_arrays_are_told_when_asked_for(setting, device):
    host, n = np.zeros(10, np.float32), 7
    others = (cuda.device_array(10, np.float32), cuda.mapped_array(10, np.float32), cuda.managed_array(10, np.float32),
              cuda.mapped_array_like(host)[2:])
    add_one[1, 32](host, n)
    setting("CUDA_WARN_ON_IMPLICIT_COPY", True)
    for array in (host, cuda.pinned_array(10, np.float32), cuda.pinned_array_like(host)):
        array[:] = 0
        with pytest.warns(NumbaPerformanceWarning, match="Host array used in CUDA kernel will incur copy overhead"):
            add_one[1, 32](array, n)
        assert (array == 8).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in others:
            add_one[1, 32](array, n)
        host[:] = 0
        with pytest.raises(NumbaPerformanceWarning):
            add_one[1, 32](host, n)
    assert not host.any()  # it was not launched


def test_settings_of_the_environment():
    text = """
        import numpy as np, warnings
        from quern import cuda
        @cuda.jit
        def k(a):
            a[0] = 1
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            k[1, 1](np.zeros(1))
        print(sum("Host array" in str(x.message) for x in w), sum("Grid size" in str(x.message) for x in w))
    """
    import os
    for set_, told in (({}, "0 0"), ({"QUERN_CUDA_WARN_ON_IMPLICIT_COPY": "1"}, "1 0"), ({"QUERN_CUDA_LOW_OCCUPANCY_WARNINGS": "1"}, "0 1")):
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], env={**os.environ, **set_, "QUERN_DEVICE": "cpu"},
                             capture_output=True, text=True)
        assert run.stdout.strip() == told, run.stderr


def _said(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_errors_of_launches_have_the_words_of_numba():
    assert "griddim must be a sequence of 1, 2 or 3 integers, got [1, 2, 3, 4]" in _said(ValueError, lambda: add_one[(1, 2, 3, 4), (5, 6)])
    assert "blockdim must be a sequence of 1, 2 or 3 integers, got [3, 4, 5, 6]" in _said(ValueError, lambda: add_one[(1, 2), (3, 4, 5, 6)])
    assert "griddim must be a sequence of integers, got [2.0]" in _said(TypeError, lambda: add_one[2.0, 3])
    assert "blockdim must be a sequence of integers, got [3, '4']" in _said(TypeError, lambda: add_one[2, (3, "4")])
    assert "sequence of integers, got [True]" in _said(TypeError, lambda: add_one[True, 3])
    assert "launch configuration was not specified" in _said(LaunchError, lambda: add_one(1, 2))
    assert "Can't create ForAll with negative task count" in _said(ValueError, lambda: add_one.forall(-1))
    inner = cuda.jit(device=True)(lambda x: x)
    assert "Cannot compile a device function as a kernel" in _said(RuntimeError, lambda: inner[1, 1])
    assert "Cannot inspect SASS of a device function" in _said(RuntimeError, inner.inspect_sass)

    class Bad:
        def __index__(self):
            raise KeyError("mine")
    assert "mine" in _said(KeyError, lambda: add_one[1, (2, Bad())])


# -- pickles ------------------------------------------------------------------------------------------------------

FACTOR = 3


def _kernels():
    offset, unset = 5, None

    @cuda.jit(device=True)
    def inner(x):
        return x * FACTOR + offset

    def halves(x, by=2):
        return x // by

    @cuda.jit
    def lazy(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = halves(inner(a[i])) + np.int64(1)
    return lazy, vectorize(["int64(int64)", "float64(float64)"], target="cuda")(lambda x: inner(x) + 1), guvectorize(
        ["void(int64[:], int64[:])"], "(n)->()", target="cuda")(_total), halves, unset


def _total(x, out):
    out[0] = 0
    for v in x:
        out[0] += v


def test_kernels_that_are_no_names_travel_with_what_they_use(device):
    lazy, ufunc, gufunc, halves, _ = _kernels()
    data = np.arange(10)
    for _ in range(2):
        lazy, ufunc, gufunc = pickle.loads(pickle.dumps((lazy, ufunc, gufunc)))
        a = data.copy()
        lazy.forall(10)(a)
        np.testing.assert_equal(a, (data * 3 + 5) // 2 + 1)
        np.testing.assert_equal(ufunc(data), data * 3 + 6)
        np.testing.assert_equal(gufunc(data.reshape(2, 5)), [10, 35])


def test_pickled_functions_lead_back_to_themselves():
    from quern._pickle import dumps
    space = {}
    exec(textwrap.dedent("""
        def even(n, *, least=0):
            "Is it?"
            return True if n == least else odd(n - 1)
        def odd(n):
            return False if n == 0 else even(n - 1)
    """), space)
    again = pickle.loads(dumps(space["even"]))
    assert again(10) and not again(7) and again.__doc__ == "Is it?" and again.__kwdefaults__ == {"least": 0}

    def recursive(n):
        return 1 if n < 2 else n * recursive(n - 1)
    assert pickle.loads(dumps(recursive))(5) == 120
    assert pickle.loads(dumps(np.linalg.norm)) is np.linalg.norm


def test_pickles_of_kernels_are_read_by_other_processes(tmp_path):
    (tmp_path / "kernel").write_bytes(pickle.dumps(_kernels()[0]))
    text = f"""
        import pickle, numpy as np
        kernel = pickle.load(open({str(tmp_path / "kernel")!r}, "rb"))
        a = np.arange(4)
        kernel[1, 4](a)
        print(a.tolist())
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True)
    assert run.stdout.strip() == "[3, 5, 6, 8]", run.stderr


# -- arrays and devices ---------------------------------------------------------------------------------------------

def test_H04_arrays_by_their_class_and_their_memory(device):
    made = cuda.to_device(np.arange(12.0))
    assert made.gpu_data == made.view(np.int64).gpu_data and made.gpu_data != made[3:].gpu_data
    assert int(made.gpu_data) == made.device_pointer and made.gpu_data.size == made.alloc_size
    assert hash(made.gpu_data) == hash(made.reshape(3, 4).gpu_data)
    array = cuda.DeviceNDArray((1, 10), (800, 8), np.float64)
    assert array.shape == (1, 10) and array.flags["C_CONTIGUOUS"] and array.flags["F_CONTIGUOUS"]
    array.copy_to_device(np.arange(10.0).reshape(1, 10))
    assert array.copy_to_host().tolist() == [list(range(10))]
    with pytest.raises(TypeError, match="from_cuda_array_interface"):
        cuda.DeviceNDArray((2,), (8,), np.float64, gpu_data=array.gpu_data)
    with pytest.raises(ValueError, match=re.escape("`copy=False` is not")):
        np.array(array, copy=False)


def test_H04_arrays_that_are_made_where_needed(device):
    made, fresh = cuda.devicearray.auto_device(2)
    assert fresh and made.copy_to_host() == 2 and cuda.devicearray.is_cuda_ndarray(made)
    again, fresh = cuda.devicearray.auto_device(made)
    assert not fresh and again.gpu_data == made.gpu_data
    assert cuda.devicearray.auto_device(np.ones((3, 4)).T)[0].shape == (4, 3)
    with pytest.raises(ValueError, match="non-contiguous"):
        cuda.devicearray.auto_device(np.arange(10)[::2])


def test_H07_devices_are_entered(device):
    here = cuda.get_current_device()
    with here as entered:
        assert entered is here and cuda.get_current_device() == here
        with here:
            assert cuda.get_current_device() == here
    assert cuda.get_current_device() == here
    assert here.supports_float16 is cuda.is_float16_supported() is True


def test_C28_aliases_of_vector_types_are_the_types():
    from quern.cuda.vector_types import vector_types
    assert len(vector_types) == 40 and vector_types["int8x4"][:3] == ("int8x4", int8, 4)
    for name, vector in vector_types.items():
        assert vector.user_facing_object is getattr(cuda, name)
        assert all(getattr(cuda, alias) is vector.user_facing_object for alias in vector.user_facing_object.aliases)
    assert cuda.int64x2.aliases == ["long2", "longlong2"] and cuda.grid.aliases == []
    assert cuda.float3 is cuda.float32x3 and cuda.char4 is cuda.int8x4 and cuda.ulonglong2 is cuda.uint64x2 is cuda.ulong2


# -- generalised ufuncs ---------------------------------------------------------------------------------------------

@guvectorize(["void(int32, int32[:], int32[:])"], "(),(t)->(t)", target="cuda")
def times(a, b, out):
    for i in range(b.size):
        out[i] = a * b[i]


def test_D19_single_numbers_are_converted(device):
    b = np.arange(10, dtype=np.int32)
    for a in (2, np.int64(3), np.array(4)):
        np.testing.assert_equal(times(a, b), a * b)
    with pytest.raises(TypeError, match=r"does not support .astype\(\)"):
        times(cuda.to_device(np.array(2)), b)
    with pytest.raises(TypeError, match="reached by safe casts$"):
        times(2, b.astype(np.int64))
    with pytest.raises(TypeError, match="reached by safe casts$"):
        times(2.5, b)


def test_D19_wrong_calls_have_the_words_of_numba(device):
    b = np.arange(10, dtype=np.int32)
    words = _said(TypeError, lambda: times(b))
    assert "gufunc accepts 2 positional arguments" in words and "or 3 positional arguments" in words and "Got 1 positional argument." in words
    out = np.zeros(10, np.int32)
    assert "both positional and keyword" in _said(ValueError, lambda: times(2, b, out, out=out))
    assert "guvectorized functions cannot return values" in _said(
        TypeError, lambda: guvectorize(["int32(int32[:], int32[:])"], "(m)->(m)", target="cuda")(lambda x, y: None))
    assert _said(TypeError, lambda: guvectorize(["void(int32[:], int32[:])"], "(m)->(m)", target="cuda", nopython=False)(
        lambda x, y: None)) == "nopython flag must be True"


def test_D19_arrays_of_one_element_stand_for_numbers_where_the_output_says_so(device):
    @guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)", target="cuda")
    def plus(x, y, res):
        for i in range(x.shape[0]):
            res[i] = x[i] + y[0]
    a, b = np.array([1, 2, 3, 4], np.int32), np.array([2], np.int32)
    res = np.zeros(4, np.int32)
    plus(a, b, out=res)
    assert res.tolist() == [3, 4, 5, 6] and plus(a, b).shape == (1, 4)


def test_T06_D19_times(device):
    @guvectorize(["(datetime64[D], datetime64[D], timedelta64[D][:])"], "(),()->()", target="cuda")
    def between(start, end, out):
        out[0] = end - start
    first = np.arange("2005-02", "2006-02", dtype="datetime64[D]")
    then = first + np.arange(first.size) * 3
    np.testing.assert_equal(between(first, then), then - first)
