"""Names of numba.cuda about devices, contexts and launches that programs use now and then."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import quern
from quern import cuda, hip
from quern.cuda import launchconfig
from quern.extending import overload


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


def test_configure_takes_keywords(device):
    a = np.zeros(40)
    add_one.configure(1, 40)(a)
    add_one.configure(griddim=(2, 1), blockdim=20, stream=0, sharedmem=64)(a)
    add_one.configure(1, blockdim=40, sharedmem=0)(a)
    assert (a == 3).all()
    launch = add_one.configure(2, (4, 5), sharedmem=16)
    assert (launch.griddim, launch.blockdim, launch.sharedmem) == ((2, 1, 1), (4, 5, 1), 16)
    with pytest.raises(TypeError):
        add_one.configure(1)
    with pytest.raises(TypeError):
        add_one.configure(1, 2, shared=3)


def test_attributes_of_devices(device):
    current = cuda.get_current_device()
    assert (current.COMPUTE_CAPABILITY_MAJOR, current.COMPUTE_CAPABILITY_MINOR) == current.compute_capability
    if device == "cuda":
        assert current.attribute(1) == current.MAX_THREADS_PER_BLOCK == 1024
        assert current.UNIFIED_ADDRESSING == current.attribute(41) == 1
        assert isinstance(current.TOTAL_CONSTANT_MEMORY, int) and isinstance(current.L2_CACHE_SIZE, int)
        with pytest.raises(quern.errors.CudaAPIError):
            current.attribute(100000)
    else:
        with pytest.raises(AttributeError, match="'TOTAL_CONSTANT_MEMORY' is an attribute of NVIDIA's devices"):
            current.TOTAL_CONSTANT_MEMORY
    for name in "NOTHING", "nothing":
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(current, name)


def test_reset_gives_memory_back(device):
    kept = cuda.to_device(np.arange(4.0))
    cuda.to_device(np.zeros(1 << 16))
    current = cuda.get_current_device()
    current.reset()
    assert current.memory_info()["cached"] == 0
    cuda.to_device(np.zeros(1 << 16))
    deallocations = cuda.current_context().deallocations
    with deallocations.disable():
        pass
    deallocations.clear()
    assert len(deallocations) == 0 and not deallocations.is_disabled and current.memory_info()["cached"] == 0
    add_one[1, 4](kept)
    assert kept.copy_to_host().tolist() == [1, 2, 3, 4]


def test_contexts_are_pushed_and_popped(device):
    context = cuda.current_context()
    assert context == cuda.current_context() and hash(context) == hash(cuda.current_context())
    context.push()
    assert cuda.current_context() == context
    context.pop()
    with pytest.raises(RuntimeError, match="nothing was pushed"):
        context.pop()


CHILD = """
import numpy as np
from quern import {module} as gpu
gpu.profile_start()
gpu.profile_stop()
with gpu.profiling():
    gpu.to_device(np.zeros(3))
"""


@pytest.mark.parametrize("kind, begins, ends", [("cuda", "cuProfilerStart", "cuProfilerStop"), ("hip", "hipProfilerStart", "hipProfilerStop")])
def test_ranges_of_the_profiler_reach_the_driver(device, kind, begins, ends, tmp_path):
    if device != kind:
        pytest.skip(f"the log of the {kind} driver is read")
    if os.environ.get("QUERN_DEVICE"):
        pytest.skip("the log is the stand-in driver's")
    log = tmp_path / "log"
    build = os.environ.get("QUERN_BUILD", "build")
    more = {"QUERN_DEVICE": kind, "FAKECUDA_LOG": str(log), "FAKEHIP_LOG": str(log),
            "QUERN_HIP_LIBRARY": os.path.join(build, "fakehip", "libamdhip64.so.7")}
    subprocess.run([sys.executable, "-c", textwrap.dedent(CHILD.format(module=kind))], check=True, env={**os.environ, **more})
    lines = [line for line in log.read_text().splitlines() if "GetProcAddress" not in line]
    calls = [line for line in lines if begins in line or ends in line or "cpyHtoD" in line]
    assert [next(name for name in (begins, ends, "cpyHtoD") if name in line) for line in calls] == [begins, ends, begins, "cpyHtoD", ends]


def test_ranges_of_the_profiler_are_nothing_to_the_cpu_device():
    with cuda.profiling():
        cuda.profile_start()
    cuda.profile_stop()


def test_ufuncs_by_the_names_of_the_module(device):
    @cuda.vectorize(["float64(float64, float64)"])
    def add(a, b):
        return a + b

    @cuda.vectorize
    def twice(a):
        return a * 2

    @cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(row, out):
        out[0] = row.sum()

    a = np.arange(6.0).reshape(2, 3)
    on_device = cuda.to_device(a)
    assert (add(on_device, on_device).copy_to_host() == 2 * a).all()
    assert (twice(on_device).copy_to_host() == 2 * a).all()
    assert total(on_device).copy_to_host().tolist() == a.sum(1).tolist()
    assert callable(hip.vectorize) and callable(hip.guvectorize)


def test_modules_about_the_driver():
    from quern.cuda.cudadrv import devicearray, devices, driver, error
    assert devicearray is cuda.cudadrv.devicearray
    assert devicearray.DeviceNDArray is devicearray.DeviceNDArrayBase is cuda.DeviceNDArray and driver.CudaAPIError is error.CudaDriverError is quern.errors.CudaAPIError
    assert devicearray.is_cuda_ndarray(cuda.to_device(np.zeros(2))) and devices.get_context() == cuda.current_context()
    assert isinstance(cuda.managed_array(3), devicearray.ManagedNDArray) and cuda.CudaSupportError is error.CudaSupportError
    records = cuda.to_device(np.zeros(2, dtype=[("x", "i4")]))
    assert isinstance(records[0], devicearray.DeviceRecord)
    devices.reset()
    for name in "BaseCUDAMemoryManager Context Device Event HostOnlyCUDAMemoryManager MemoryPointer Stream".split():
        assert isinstance(getattr(driver, name), type)


def test_overloads_ask_for_the_launch(device):
    seen = []

    def width():
        """Of kernels alone."""

    @overload(width, target="cuda")
    def width_in_kernels():
        launch = launchconfig.ensure_current_launch_config()
        seen.append(launch)
        threads = launch.blockdim[0]
        return lambda: threads

    @cuda.jit
    def kernel(out):
        out[0] = width()

    out = np.zeros(1, np.int64)
    assert launchconfig.current_launch_config() is None
    with pytest.raises(RuntimeError, match="No launch config set"):
        launchconfig.ensure_current_launch_config()
    with launchconfig.capture_compile_config(kernel) as record:
        kernel[3, 7](out)
        assert record["config"].griddim == (3, 1, 1) and record["config"].dispatcher is kernel
    assert out[0] == 7 and seen[0].griddim == (3, 1, 1)
    assert launchconfig.current_launch_config() is None
    with launchconfig.capture_compile_config(kernel) as record:
        kernel[2, 5](out)  # compiled already
    assert record == {"config": None} and "_capture" not in kernel.__dict__


def test_the_control_flow_of_machine_code(device):
    if device == "cuda":
        import shutil
        kernel = cuda.jit("void(float64[:])")(add_one.py_func)
        if shutil.which("ptxas") and shutil.which("nvdisasm"):
            graph, = kernel.inspect_sass_cfg().values()
            assert graph.lstrip().startswith("digraph") and "EXIT" in graph
            assert "EXIT" in kernel.inspect_sass(kernel.signatures[0])
        else:
            with pytest.raises(RuntimeError, match="inspect_sass_cfg needs ptxas and nvdisasm"):
                kernel.inspect_sass_cfg()


COPIES = """
import ctypes, os
import numpy as np
from quern import {kind} as gpu
library = ctypes.CDLL(os.environ["{library}"])
calls = getattr(library, "fake{kind}_call_count")
calls.restype = ctypes.c_long

@gpu.jit
def double(a):
    i = gpu.grid(1)
    if i < a.size:
        a[i] *= 2

def waits(function):
    before = calls(b"{wait}")
    function()
    return calls(b"{wait}") - before

stream = gpu.stream()
pinned, back, host = gpu.pinned_array(1000), gpu.pinned_array(2000)[500:1500], np.zeros(1000)
pinned[:] = np.arange(1000)
a = gpu.device_array(1000)
launch = double.configure(8, 128, stream)

def travel(here, there, s):
    a.copy_to_device(here, stream=s)
    launch(a)
    a.copy_to_host(there, stream=s)

def made():
    global b
    b = gpu.to_device(pinned, stream=stream)

travel(pinned, back, stream)
stream.synchronize()
assert (back == 2 * np.arange(1000)).all()
back[:] = 0
assert waits(lambda: travel(pinned, back, stream)) == 0 and waits(made) == 0
mapped = gpu.mapped_array(1000)
assert waits(lambda: a.copy_to_host(mapped, stream=stream)) == 0
del pinned  # goes when the device is done with it
stream.synchronize()
assert (back == 2 * np.arange(1000)).all() and (mapped == back).all() and (b.copy_to_host() == np.arange(1000)).all()
assert waits(lambda: travel(host, host, stream)) == 2  # memory that is not pinned
assert waits(lambda: travel(back, back, 0)) == 2  # the default stream
assert waits(lambda: a.copy_to_host(host, stream=stream)) == 1
strided = gpu.pinned_array(2000)
assert waits(lambda: a.copy_to_host(strided[::2], stream=stream)) >= 1 and (strided[::2] == a.copy_to_host()).all()
"""


@pytest.mark.parametrize("kind, wait, library", [("cuda", "cuStreamSynchronize", "QUERN_CUDA_LIBRARY"), ("hip", "hipStreamSynchronize", "QUERN_HIP_LIBRARY")])
@pytest.mark.parametrize("late", ["0", "1"])
def test_copies_of_pinned_memory_on_a_stream_are_not_waited_for(device, kind, wait, library, late):
    if device != kind or os.environ.get("QUERN_DEVICE"):
        pytest.skip(f"the log of the {kind} driver is read")
    build = os.environ.get("QUERN_BUILD", "build")
    more = {"QUERN_DEVICE": kind, "FAKEHIP_LATE": late}
    if kind == "hip":
        more["QUERN_HIP_LIBRARY"] = os.path.join(build, "fakehip", "libamdhip64.so.7")
    subprocess.run([sys.executable, "-c", COPIES.format(kind=kind, wait=wait, library=library)], check=True, env={**os.environ, **more})


def test_static_shared_memory_beyond_what_a_block_may_have(device):
    @cuda.jit
    def kernel(a):
        s = cuda.shared.array(10000, np.float64)
        s[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        a[0] = s[0]

    if device == "cpu":
        kernel[1, 1](np.zeros(1))
        return
    with pytest.raises(quern.errors.TypingError, match="shared arrays take 80000 bytes together"):
        kernel[1, 1](np.zeros(1))
    if device == "cuda":
        with pytest.raises(quern.errors.TypingError, match=r"cuda.shared.array\(0, dtype\)"):
            kernel[1, 1](np.zeros(1))


def test_types_of_the_functions_of_libdevice():
    from quern import types
    from quern.cuda.libdevicefuncs import create_signature, functions
    from quern.library import libdevice
    assert set(functions) == {"__nv_" + name.rpartition(".")[2] for name in libdevice.FUNCTIONS}
    assert functions["__nv_sin"][0] == types.float64 and [(a.name, a.ty, a.is_ptr) for a in functions["__nv_sin"][1]] == [("x", types.float64, False)]
    for name, result, params in (("sinf", types.float32, [types.float32]), ("fma_rn", types.float64, [types.float64] * 3), ("jn", types.float64, [types.int32, types.float64]),
                                 ("frexp", types.Tuple([types.float64, types.int32]), [types.float64]), ("clzll", types.int32, [types.int64]),
                                 ("sincos", types.UniTuple(types.float64, 2), [types.float64]), ("remquof", types.Tuple([types.float32, types.int32]), [types.float32] * 2)):
        signature = create_signature(*functions["__nv_" + name])
        assert signature.return_type == result and list(signature.args) == params, name


def test_numbers_are_viewed_as_other_types(device):
    @cuda.jit
    def kernel(x, i, y, out, floats):
        out[0] = x.view(np.int32)
        out[1] = y.view(np.uint64)
        out[2] = np.float16(y).view(np.int16)
        floats[0] = i.view(np.float32)
        for k in range(3):
            floats[1] += np.int64(0x3ff0000000000000 + k).view(np.float64)

    out, floats = np.zeros(3, np.int64), np.zeros(2)
    x, i, y = np.float32(-1.5), np.int32(0x40490fdb), np.float64(0.1)
    kernel[1, 1](x, i, y, out, floats)
    assert out.tolist() == [x.view(np.int32), y.view(np.uint64), np.float16(0.1).view(np.int16)]
    assert floats.tolist() == [i.view(np.float32), sum(np.int64(0x3ff0000000000000 + k).view(np.float64) for k in range(3))]

    @cuda.jit
    def wrong(x, out):
        out[0] = x.view(np.float64)

    with pytest.raises(quern.errors.TypingError, match="itemsize is unchanged"):
        wrong[1, 1](x, floats)
