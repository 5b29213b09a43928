"""The CUDA path over the stand-in driver: what is missing, what fails, and what survives. Every scenario is a process of
its own, since a driver is looked for once in a process. FAKECUDA_* are explained in tests/drivers/cuda/README.md."""
import os
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

STAND_IN = BUILD / "fakecuda" / "libcuda.so.1"
pytestmark = pytest.mark.skipif(not STAND_IN.exists(), reason="the stand-in driver is not built")

PREAMBLE = """
import ctypes, gc, os, sys, threading, warnings
import numpy as np
from quern import cuda, errors, njit

def driver():
    return ctypes.CDLL(os.environ["QUERN_CUDA_LIBRARY"])

def calls(name):
    return driver().fakecuda_call_count(name.encode())

def fail(rules):
    assert driver().fakecuda_set_fail(rules.encode()) == 0

def raises(kind, part, function, *args):
    try:
        function(*args)
    except kind as error:
        assert part in str(error), str(error)
        return error
    raise AssertionError(f"{kind} was not raised")

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]

@cuda.jit
def increment(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1

@cuda.jit
def wild(a):
    a[cuda.grid(1) + 1_000_000_000] = 1

def works():
    x, out = np.arange(100.0), np.zeros(100)
    add[4, 32](x, x, out)
    assert (out == 2 * x).all()
"""


@pytest.fixture
def program(tmp_path):
    """program(text, **environment) runs it; it must succeed, silently on stderr unless `stderr` is asked for. Returns
    what it printed."""

    def run(text, stderr=False, seconds=100, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKECUDA_", "QUERN_DEVICE", "CUDA_"))}
        env["QUERN_CUDA_LIBRARY"] = str(STAND_IN)
        env.update({k: str(v) for k, v in environment.items()})
        file = tmp_path / "program.py"
        file.write_text(PREAMBLE + text)
        result = subprocess.run([sys.executable, file], env=env, capture_output=True, text=True, timeout=seconds)
        assert result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        assert stderr or result.stderr == "", result.stderr
        return result.stdout

    return run


# -- nothing there -------------------------------------------------------------------------------------------------

MISSING = {"QUERN_CUDA_LIBRARY": "/not/there/libcuda.so.1"}


def test_CUH_18_no_driver_pinned(program):
    program("""
for _ in range(2):
    error = raises(errors.CudaSupportError, "/not/there/libcuda.so.1", works)
    assert "cannot open shared object file" in str(error) and "QUERN_DEVICE=cuda" in str(error)
raises(errors.CudaSupportError, "/not/there", cuda.to_device, np.zeros(3))
raises(errors.CudaSupportError, "/not/there", cuda.get_current_device)
raises(errors.CudaSupportError, "/not/there", cuda.select_device, 0)
assert njit(lambda x: x + 1)(1) == 2
""", QUERN_DEVICE="cuda", **MISSING)


def test_CUH_18_no_driver_falls_back_with_one_warning(program):
    program("""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    works()
    works()
    increment[1, 4](np.zeros(3))
    d = cuda.to_device(np.arange(3))
    assert d.copy_to_host().tolist() == [0, 1, 2]
assert [w.category for w in caught] == [errors.DeviceWarning], caught
assert "/not/there/libcuda.so.1" in str(caught[0].message) and "cpu device" in str(caught[0].message)
assert os.path.basename(caught[0].filename) == "program.py", caught[0].filename
assert cuda.get_current_device().kind == "cpu"
assert not cuda.is_available() and not cuda.detect() and "/not/there" in cuda.cuda_error()
""", **MISSING)


@pytest.mark.parametrize("first", ["cuda.get_current_device()", "cuda.to_device(np.arange(3))", "cuda.device_array(3)",
                                   "cuda.stream()", "cuda.gpus.lst", "cuda.get_current_device().name", "works()"])
def test_CUH_18_the_warning_names_the_users_line(program, first):
    program(f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {first}
    works()
assert [w.category for w in caught] == [errors.DeviceWarning], caught
assert os.path.basename(caught[0].filename) == "program.py", caught[0].filename
""", **MISSING)


def test_CUH_18_warning_as_error_does_not_break_later_calls(program):
    program("""
warnings.simplefilter("error")
raises(errors.DeviceWarning, "cpu device", works)
works()
""", **MISSING)


def test_CUH_18_import_touches_no_driver(program):
    log = program("""
import quern, quern.cuda
assert njit(lambda x: x + 1)(1) == 2
print("libcuda" in open("/proc/self/maps").read())
assert cuda.is_available()
print("libcuda" in open("/proc/self/maps").read())
""")
    assert log.split() == ["False", "True"]


@pytest.mark.parametrize("variable, part", [
    ({"FAKECUDA_DEVICES": 0}, "CUDA_ERROR_NO_DEVICE"),
    ({"FAKECUDA_DRIVER_VERSION": 10020}, "it is for CUDA 10.2, 11.0 is needed"),
    ({"FAKECUDA_FAIL": "cuDriverGetVersion:1:999"}, "cuDriverGetVersion"),
    ({"FAKECUDA_MISSING": "cuLaunchKernel"}, "lacks cuLaunchKernel"),
    ({"FAKECUDA_FAIL": "cuInit:1:803"}, "803"),
    ({"FAKECUDA_FAIL": "cuInit:1:999"}, "cuInit"),
    ({"FAKECUDA_FAIL": "cuDeviceGetCount:1:999"}, "cuDeviceGetCount"),
    ({"QUERN_CUDA_LIBRARY": "libcuda.so.1"}, "must be an absolute path"),
    ({"QUERN_CUDA_LIBRARY": "/"}, "could not be opened"),
    ({"QUERN_CUDA_LIBRARY": __file__}, "could not be opened"),
], ids=str)
def test_CUH_18_driver_that_cannot_be_used(program, variable, part):
    program(f"raises((errors.CudaSupportError, errors.CudaAPIError), {part!r}, works)\n", QUERN_DEVICE="cuda", **variable)
    program(f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    works()
    works()
assert len(caught) == 1 and {part!r} in str(caught[0].message), caught
assert not cuda.is_available() and {part!r} in cuda.cuda_error()
""" if "DeviceGetCount" not in str(variable) else "", **variable)


def test_CUH_18_another_library(program):
    import ctypes.util
    math = next(line.split()[-1] for line in open("/proc/self/maps") if "libm.so" in line or "libc.so" in line)
    program('raises(errors.CudaSupportError, "another library", works)', QUERN_DEVICE="cuda", QUERN_CUDA_LIBRARY=math)


def test_optional_functions_may_be_missing(program):
    names = re.findall(r"^(?:SYM|SHARED)\(0,.*?\b(cu\w+)", (ROOT / "runtime/cuda/cuda_syms.def").read_text(), re.M)
    assert len(names) > 5
    program("""
works()
assert cuda.get_current_device().name
raises(errors.CudaSupportError, "lacks cuMemHostAlloc", cuda.pinned_array, 3)
increment.forall(5, tpb=32)(np.zeros(5))
raises(errors.CudaSupportError, "lacks cuOccupancy", increment.forall(5), np.zeros(5))
raises(errors.CudaSupportError, "lacks cuLaunchHostFunc", cuda.stream().add_callback, print)
works()
""", FAKECUDA_MISSING=",".join(names))


@pytest.mark.parametrize("value, part", [("gpu", "cuda, hip or cpu"), ("CUDA", "cuda, hip or cpu"), ("hip", "hip")])
def test_unknown_QUERN_DEVICE(program, value, part):
    program(f"""
for _ in range(2):
    error = raises((ValueError, errors.CudaSupportError), {part!r}, works)
    assert {value!r} in str(error)
assert njit(lambda x: x * 2)(4) == 8
""", QUERN_DEVICE=value)


def test_QUERN_DEVICE_cpu_is_silent(program):
    program("works()\nassert cuda.get_current_device().kind == 'cpu' and calls('any') == 0", QUERN_DEVICE="cpu")


# -- devices ---------------------------------------------------------------------------------------------------------


def test_H07_several_devices(program):
    out = program("""
assert len(cuda.gpus) == 3 and [g.id for g in cuda.gpus] == [0, 1, 2] and len(cuda.list_devices()) == 3
assert cuda.get_current_device().id == 0
with cuda.gpus[1]:
    assert cuda.get_current_device().id == 1
    d = cuda.to_device(np.arange(4.0))
    increment[1, 4](d)
    works()
    with cuda.gpus[2] as inner:
        assert inner.id == cuda.get_current_device().id == 2
    assert cuda.gpus.current.id == 1
assert cuda.get_current_device().id == 0
raises(ValueError, "lies on cuda device 1", increment[1, 4], d)
assert d.copy_to_host().tolist() == [1, 2, 3, 4]
other = cuda.to_device(np.zeros(4))
other.copy_to_device(d)
assert other.copy_to_host().tolist() == [1, 2, 3, 4]
raises(IndexError, "no device 3", cuda.gpus.__getitem__, 3)
error = raises(ValueError, "no cuda device 3", cuda.select_device, 3)
assert "sees 3" in str(error)
raises(ValueError, "no cuda device -1", cuda.select_device, -1)
raises(TypeError, "", cuda.select_device, "0")
cuda.select_device(2)
works()
seen = []
t = threading.Thread(target=lambda: seen.append(cuda.get_current_device().id))
t.start(), t.join()
assert seen == [0]  # the selection is the thread's
s = cuda.stream()
cuda.select_device(0)
raises(ValueError, "device", lambda: increment[1, 4, s](np.zeros(4)))
works()
assert cuda.detect() is True
""", FAKECUDA_DEVICES=3)
    assert "Found 3 CUDA devices" in out and out.count("compute capability 9.0") == 3


def test_H07_attributes(program):
    program("""
d = cuda.get_current_device()
assert d.kind == "cuda" and d.id == 0 and d.compute_capability == (8, 6) and d.arch == "sm_86"
assert d.name and d.uuid.startswith("GPU-") and len(d.uuid) == 40
assert d.MAX_THREADS_PER_BLOCK == 1024 and d.WARP_SIZE == 32 and d.MULTIPROCESSOR_COUNT > 0
assert d.MAX_BLOCK_DIM_Z == 64 and d.MAX_GRID_DIM_X == 2**31 - 1 and d.MAX_SHARED_MEMORY_PER_BLOCK == 49152
assert d.TOTAL_MEMORY == 1 << 30 and d.DRIVER_VERSION == 12020
raises(AttributeError, "NO_SUCH_THING", getattr, d, "NO_SUCH_THING")
free, total = cuda.current_context().get_memory_info()
assert 0 < free <= total == 1 << 30
""", FAKECUDA_CC=86, FAKECUDA_MEMORY=1 << 30, FAKECUDA_DRIVER_VERSION=12020)


@pytest.mark.parametrize("cc, version", [(50, 11000), (60, 11000), (70, 11040), (75, 11020), (80, 11000), (86, 11010),
                                         (89, 11080), (90, 11080), (90, 12000), (90, 12080), (100, 12080),
                                         (120, 12080), (121, 13000)])
def test_CUH_13_ptx_fits_driver_and_device(program, cc, version):
    program("works()\nprint(next(iter(add.inspect_asm().values())).splitlines())", FAKECUDA_CC=cc,
            FAKECUDA_DRIVER_VERSION=version, QUERN_DEVICE="cuda")


# -- launches ------------------------------------------------------------------------------------------------------------


def test_H08_only_what_is_written_comes_back(program):
    program("""
x, y, out = np.arange(100.0), np.ones(100), np.zeros(100)
add[4, 32](x, y, out)
before = [calls(n) for n in ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuLaunchKernel", "cuMemAlloc", "cuModuleLoadDataEx")]
add[4, 32](x, y, out)
after = [calls(n) for n in ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuLaunchKernel", "cuMemAlloc", "cuModuleLoadDataEx")]
assert [b - a for a, b in zip(before, after)] == [3, 1, 1, 0, 0], (before, after)
assert (out == x + y).all()
frozen = x.copy()
frozen.flags.writeable = False
add[4, 32](frozen, frozen, out)
assert (out == 2 * x).all()
raises(TypeError, "read-only", add[4, 32], x, y, frozen)
assert (frozen == x).all()

@cuda.jit
def nothing(a):
    pass

nothing[1, 1](x)
copies = calls("cuMemcpyDtoHAsync")
nothing[1, 1](x)
assert calls("cuMemcpyDtoHAsync") == copies
""")


def test_ALS_06_shared_memory_travels_as_one_range(program):
    program("""
def copied(function):
    before = calls("cuMemcpyHtoDAsync"), calls("cuMemcpyDtoHAsync")
    function()
    return calls("cuMemcpyHtoDAsync") - before[0], calls("cuMemcpyDtoHAsync") - before[1]

x = np.arange(50.0)
assert copied(lambda: add[2, 32](x, x, x)) == (1, 1)
assert (x == 2 * np.arange(50)).all()

@cuda.jit
def shift(a, b):
    i = cuda.grid(1)
    if i < a.shape[0]:
        v = a[i]
        cuda.syncthreads()
        b[i] = v

y = np.arange(33.0)
assert copied(lambda: shift[1, 32](y[1:], y[:-1])) == (1, 1)
assert y.tolist() == [*range(1, 33), 32]
z = np.arange(40.0)
assert copied(lambda: shift[1, 32](z[:20], z[20:])) == (2, 1)  # neighbours, but not shared
assert (z[20:] == np.arange(20)).all()
m = np.zeros((8, 8))
increment[1, 8](m[::2, 3])
assert m.sum() == 4 and (m[::2, 3] == 1).all()
""")


def test_H05_streams_and_events(program):
    program("""
s, t = cuda.stream(), cuda.stream()
a, b = cuda.event(), cuda.event()
d = cuda.to_device(np.zeros(64), stream=s)
a.record(s)
for _ in range(10):
    increment[2, 32, s](d)
b.record(s)
b.wait(t)
increment[2, 32, t](d)
t.synchronize()
assert b.query() and s.query() and a.elapsed_time(b) >= 0 and cuda.event_elapsed_time(a, b) >= 0
assert (d.copy_to_host() == 11).all()
raises(ValueError, "the start event is not", cuda.event_elapsed_time, cuda.event(), b)
raises(ValueError, "timing=True", cuda.event_elapsed_time, cuda.event(timing=False), b)
seen = []
s.add_callback(lambda stream, status, arg: seen.append(arg), 5)
s.synchronize()
for _ in range(100):
    if seen: break
    cuda.synchronize()
assert seen == [5]
with s.auto_synchronize():
    increment[2, 32, s](d)
assert driver().fakecuda_live(b"stream") == 2
del s, t, a, b, d, increment  # a kernel keeps its configurations, streams included
gc.collect()
assert driver().fakecuda_live(b"stream") == 0 and driver().fakecuda_live(b"event") == 0
""")


def test_CUH_19_threads(program):
    program("""
barrier, failures = threading.Barrier(8), []

def work(k):
    try:
        barrier.wait()
        stream = cuda.stream() if k % 2 else 0
        for round in range(25):
            x, out = np.full(200, float(k)), np.zeros(200)
            add[7, 32, stream](x, x, out)
            assert (out == 2 * k).all()
            d = cuda.to_device(np.zeros(50, "f4" if k % 3 else "i8"), stream=stream)
            increment[2, 32, stream](d)
            assert (d.copy_to_host(stream=stream) == 1).all()
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert not failures, failures
assert calls("cuModuleLoadDataEx") == 3 and calls("cuDevicePrimaryCtxRetain") == 1
""")


def test_PTX_is_refused(program):
    program("""
error = raises(errors.CudaAPIError, "refused the PTX", works)
assert error.code == 218 and "add" in str(error) and "sm_90" in str(error), error
works()
error = raises(errors.CudaAPIError, "newer version", increment[1, 1], np.zeros(1))
assert error.code == 222
works()
assert driver().fakecuda_live(b"module") == 1
""", FAKECUDA_FAIL="cuModuleLoadDataEx:1:218,cuModuleLoadDataEx:3:222")


def test_CUH_02_too_many_resources(program):
    program("""
raises(errors.CudaAPIError, "max_registers", works)
works()
raises((ValueError, errors.CudaAPIError), "shared", lambda: add[1, 1, 0, 1 << 30](np.zeros(1), np.zeros(1), np.zeros(1)))
add[1, 1, 0, 100_000](np.zeros(1), np.zeros(1), np.zeros(1))  # more than is allowed without asking
assert calls("cuFuncSetAttribute") == 1
works()
""", FAKECUDA_FAIL="cuLaunchKernel:1:701")


# -- out of memory -----------------------------------------------------------------------------------------------------


def test_CUH_11_out_of_memory(program):
    program("""
held = cuda.device_array(40 << 20, np.uint8)
error = raises(MemoryError, "Out of memory on cuda device 0", cuda.device_array, 40 << 20, np.uint8)
assert str(40 << 20) in str(error) and "bytes are free" in str(error), error
raises(MemoryError, "Out of memory", cuda.to_device, np.zeros(50 << 20, np.uint8))
big = np.zeros(50 << 20, np.uint8)
raises(MemoryError, "Out of memory", increment[1, 1], big)
assert not big.any()
works()
del held
d = cuda.device_array(40 << 20, np.uint8)  # cached memory was given back
works()
for size in (2**62, 2**63 - 1):
    raises((MemoryError, ValueError), "", cuda.device_array, size, np.uint8)
works()
""", FAKECUDA_MEMORY=64 << 20)


def test_CUH_11_cached_memory_is_given_back_first(program):
    program("""
for size in (1, 3, 9, 17, 33, 40, 48):  # sizes that no cached block fits
    x = np.zeros(size << 20, np.uint8)
    increment[1, 32](x)
    assert x[:32].all() and not x[32:].any()
cuda.close()
assert driver().fakecuda_live(b"memory") == 0
""", FAKECUDA_MEMORY=64 << 20)


# -- every function fails ----------------------------------------------------------------------------------------------------

LAUNCHES = """
import re
names = re.findall(r"^(?:SYM|SHARED)\\(\\d,.*?\\b(cu\\w+)", open(os.environ["SYMS"]).read(), re.M)
assert len(names) > 40

def fresh():
    @cuda.jit
    def kernel(x, out, both):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i] * 3
            both[i] += out[i]
    return kernel

def arrays():
    base = np.full((40, 2), -1.0)
    return np.arange(40.0), base[:, 0], np.ones(40), base

def launch(kernel):
    x, out, both, base = arrays()
    error = None
    try:
        kernel[2, 32](x, out, both)
    except Exception as caught:
        error = caught.with_traceback(None)
        assert (out == -1).all() and (both == 1).all(), "half-written"
    else:
        assert (out == 3 * x).all() and (both == 1 + 3 * x).all()
    assert (x == np.arange(40)).all() and (base[:, 1] == -1).all()
    return error

def counted(kernel):
    before = [calls(n) for n in names]
    assert launch(kernel) is None
    return [(n, calls(n) - b) for n, b in zip(names, before) if calls(n) > b]

def settled():
    gc.collect()
    cuda.synchronize()
    cuda.close()
    return [(n, driver().fakecuda_live(n.encode())) for n in ("memory", "pinned", "module", "stream", "event")
            if driver().fakecuda_live(n.encode())]
"""


@pytest.mark.parametrize("code", [1, 2, 999])
@pytest.mark.parametrize("loaded", [False, True])
def test_every_function_fails_during_a_launch(program, code, loaded):
    """Each function, at each of its calls, once and from then on. Whatever happens, the arrays are either untouched or
    right, the next launch works, and nothing is lost but what the driver refused to take back."""
    out = program(LAUNCHES + f"""
code, loaded = {code}, {loaded}
# Their failure may pass unnoticed: facts for inspection, and memory and events that are given back.
unnoticed = {{"cuFuncGetAttribute", "cuMemFree", "cuEventDestroy", "cuCtxGetCurrent"}}
cuda.synchronize()  # the device is open
kernel = fresh()
if loaded: launch(kernel)
plan = counted(kernel)
assert len(plan) >= 8 and ("cuModuleLoadDataEx" in dict(plan)) != loaded, plan
del kernel
lost, tried = settled(), 0
assert not lost, lost
for name, n in plan:
    for k in range(1, n + 1):
        for rule in (f"{{name}}:{{k}}:{{code}}", f"{{name}}:{{k}}+:{{code}}"):
            kernel = fresh()
            if loaded: launch(kernel)
            cuda.close()
            fail(rule)
            error = launch(kernel)
            fail("")
            tried += 1
            tried_again = name == "cuMemAlloc" and code == 2 and "+" not in rule
            if name not in unnoticed and not tried_again:
                assert error is not None, rule
            if error is not None:
                assert isinstance(error, MemoryError if code == 2 else errors.CudaAPIError), (rule, error)
                assert name in str(error) or code == 2, (rule, error)
            assert launch(kernel) is None, rule
            del kernel
            now = settled()
            assert now == lost or name in unnoticed, (rule, lost, now)
            lost = now
print(tried)
""", SYMS=ROOT / "runtime/cuda/cuda_syms.def", QUERN_DEVICE="cuda")
    assert int(out) > 30


def test_every_function_fails_while_the_device_is_opened(program):
    """Each in a child that inherits an untouched driver."""
    out = program(LAUNCHES + """
def child(name, k):
    os.environ["FAKECUDA_FAIL"] = f"{name}:{k}:999"
    optional = name in ("cuDeviceGetUuid", "cuDeviceGetAttribute", "cuCtxPopCurrent", "cuCtxGetCurrent")
    try:
        kernel = fresh()
        error = launch(kernel)
        reached = calls(name) >= k
        fail("")
        again = launch(kernel)
        assert error is not None or optional or not reached, "not noticed"
        if again is None:
            del kernel
            assert not settled() or name == "cuCtxGetCurrent", settled()
        else:  # a driver that did not start is not tried again in this process
            assert name in ("cuInit", "cuDriverGetVersion", "cuDeviceGetCount"), again
            assert str(again) == str(error) and name in str(error), (error, again)
        os._exit(20 + reached)
    except BaseException as problem:
        print(name, k, repr(problem), file=sys.stderr, flush=True)
    os._exit(1)

opening = [n for n in names if n.startswith(("cuDevice", "cuCtx"))] + ["cuInit", "cuDriverGetVersion"]
reached = 0
for name in opening:
    for k in (1, 2) if "Attribute" not in name else (1, 2, 5, 10, 20):
        pid = os.fork()
        if pid == 0:
            child(name, k)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status in (20, 21), (name, k)
        reached += status == 21
print(reached)
""", SYMS=ROOT / "runtime/cuda/cuda_syms.def", QUERN_DEVICE="cuda")
    assert int(out) > 14


PROGRAM = LAUNCHES + """
from quern import float64, vectorize

@cuda.jit
def dynamic(a):
    s = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    s[t + 8000] = a[t]
    cuda.syncthreads()
    a[t] = s[8000 + a.size - 1 - t]

@cuda.jit
def together(a, b):
    grid, i = cuda.cg.this_grid(), cuda.grid(1)
    a[i] = i
    grid.sync()
    b[i] = a[a.size - 1 - i]

@vectorize(["float64(float64, float64)"], target="cuda")
def plus(a, b):
    return a + b

@cuda.jit(debug=True)
def outside(a, i):
    a[i] = 1

total = cuda.reduce(lambda a, b: a + b)

def transfers(a):
    d, s, t = cuda.to_device(a), cuda.stream(), cuda.stream()
    begin, end = cuda.event(), cuda.event()
    begin.record(s)
    increment.configure(1, 64, s)(d)  # kernel[...] would keep the stream
    end.record(s)
    end.wait(t)
    increment.configure(1, 64, t)(d)
    end.synchronize()
    begin.elapsed_time(end), begin.query()
    t.synchronize()
    assert (d.copy_to_host() == a + 2).all()
    done = []
    s.add_callback(lambda *given: done.append(given))
    s.synchronize()
    assert done
    pinned, mapped, managed = cuda.pinned_array(64), cuda.mapped_array(64), cuda.managed_array(64)
    pinned[:], mapped[:], managed[:] = a, a, a
    d.copy_to_device(pinned, stream=s)
    d.copy_to_host(pinned, stream=s)
    increment[1, 64](mapped)
    increment[1, 64](managed)
    s.synchronize()
    cuda.synchronize()
    assert (pinned == a).all() and (mapped == a + 1).all() and (managed == a + 1).all()
    other = cuda.device_array_like(d)
    other.copy_to_device(d)
    other[:] = 3
    other[::2] = d[::2]
    assert other.copy_to_host()[1] == 3 and d.get_ipc_handle()
    return d

def everything():
    a = np.arange(64.0)
    d = transfers(a)
    dynamic[1, 64, 0, 70000](d)
    assert (d.copy_to_host() == a[::-1]).all()
    b = cuda.to_device(np.zeros(64))
    together[2, 32](d, b)
    assert (b.copy_to_host() == a[::-1]).all()
    increment.forall(64)(b)
    assert (plus(d, d).copy_to_host() == 2 * a).all() and total(d) == a.sum()
    graph = cuda.graph()
    for array in d, b:
        with graph:
            increment.configure(1, 64, graph.stream)(array)
            increment.configure(1, 64, graph.stream)(array)
        graph.launch()
    graph.stream.synchronize()
    assert (d.copy_to_host() == a + 2).all()
    increment[1, 64](a)
    assert a[0] == 1
    try:
        outside[1, 1](d, 64)
        cuda.synchronize()
        raise AssertionError("no IndexError")
    except IndexError:
        pass
    cuda.current_context().get_memory_info()
    with cuda.profiling(), cuda.gpus[1]:
        increment[1, 4](np.zeros(4))
        return cuda.to_device(np.zeros(4))

def drained():
    try:  # an exception of a kernel that nobody has heard of
        cuda.synchronize()
    except IndexError:
        pass
    gc.collect()
    for gpu in cuda.gpus:
        with gpu:
            cuda.synchronize()
            cuda.close()
    return [(n, driver().fakecuda_live(n.encode())) for n in ("memory", "pinned", "stream", "event")]
"""


@pytest.mark.parametrize("code", [2, 999])
def test_every_function_fails_in_a_program(program, code):
    """Streams, events, callbacks, all kinds of memory, graphs, cooperative launches, several devices: each function, at its calls (of many
    some), once and from then on. There is an exception or the right result, the next run works, and nothing is lost but what the driver
    refused to take back."""
    out = program(PROGRAM + f"""
everything(), drained(), everything()
lost = drained()
before = [calls(n) for n in names]
everything()
plan = [(n, calls(n) - b) for n, b in zip(names, before) if calls(n) > b]
assert len(plan) > 35, plan
drained()
noticed = 0
for name, n in plan:
    for k in sorted({{1, (n + 1) // 2, n}}):
        for rule in (f"{{name}}:{{k}}:{code}", f"{{name}}:{{k}}+:{code}")[:2 if k == 1 else 1]:
            error = None
            fail(rule)
            try:
                everything()
            except (MemoryError, errors.CudaAPIError, errors.CudaSupportError) as caught:
                error = str(caught)
            fail("")
            assert error is None or name in error or {code} == 2, (rule, error)
            noticed += error is not None
            drained()
            everything()
            now = drained()
            assert now == lost or name == "cuCtxGetCurrent" or any(word in name for word in ("Free", "Destroy", "CtxPush")), (rule, lost, now)
            lost = now
print(noticed)
""", SYMS=ROOT / "runtime/cuda/cuda_syms.def", QUERN_DEVICE="cuda", FAKECUDA_DEVICES=2, seconds=600)
    assert int(out) > 60


def test_grids_of_all_blocks_reach_the_driver(program):
    """(It would take minutes to execute them.)"""
    program("""
increment[2**31 - 1, 1](np.zeros(3))
increment.configure((2**31 - 1, 65535, 65535), 1024)(np.zeros(3))
""", QUERN_DEVICE="cuda", FAKECUDA_NOEXEC=1)


# -- sticky errors and fork ---------------------------------------------------------------------------------------------------


def test_CUH_05_sticky_error(program):
    program("""
a = np.zeros(4)
d = cuda.to_device(a)
error = raises(errors.DeviceError, "wild", wild[1, 4], a)
assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error) and "memory that is not its own" in str(error), error
assert not a.any()
for later in (works, d.copy_to_host, cuda.synchronize, lambda: cuda.to_device(a), lambda: wild[1, 4](a), cuda.stream,
              cuda.event, lambda: increment[1, 4](d)):
    error = raises(errors.DeviceError, "cannot be used any more", later)
    assert "Restart the process" in str(error) and "wild" in str(error), error
assert njit(lambda x: x + 1)(1) == 2
del d
gc.collect()
cuda.get_current_device()
""")


def test_CUH_05_sticky_error_of_an_asynchronous_launch(program):
    program("""
s = cuda.stream()
d, e = cuda.to_device(np.zeros(4)), cuda.to_device(np.ones(4))
increment[1, 4](e)
wild[1, 4, s](d)
error = raises(errors.DeviceError, "wild", cuda.synchronize)
assert "likely" in str(error) and "increment" in str(error), error  # it cannot be known which: both are named
raises(errors.DeviceError, "cannot be used any more", e.copy_to_host)
""")


def test_CUH_05_other_devices_live_on(program):
    program("""
raises(errors.DeviceError, "wild", wild[1, 4], np.zeros(4))
with cuda.gpus[1]:
    works()
raises(errors.DeviceError, "cannot be used any more", works)
cuda.select_device(1)
works()
""", FAKECUDA_DEVICES=2)


def test_FRK_03_fork_then_use(program):
    program("""
works()
d = cuda.to_device(np.arange(3.0))
s = cuda.stream()
pid = os.fork()
if pid == 0:
    status = 1
    try:
        for use in (works, d.copy_to_host, cuda.synchronize, lambda: cuda.to_device(np.zeros(3)), cuda.stream,
                    lambda: increment[1, 3, s](d)):
            error = raises(RuntimeError, "fork", use)
            assert "spawn" in str(error)
        assert njit(lambda x: x + 1)(1) == 2
        del d, s
        gc.collect()
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)
assert os.waitpid(pid, 0)[1] == 0
works()
assert d.copy_to_host().tolist() == [0, 1, 2]
pid = os.fork()  # and one that ends in the ordinary way
if pid == 0:
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
works()
""", stderr=sys.version_info >= (3, 12))


def test_FRK_03_fork_before_the_first_use(program):
    program("""
pid = os.fork()
works()
d = cuda.to_device(np.zeros(3))
if pid:
    assert os.waitpid(pid, 0)[1] == 0
""", stderr=sys.version_info >= (3, 12))


# -- the end ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [
    "d = cuda.to_device(np.zeros(1000))",
    "d = cuda.to_device(np.zeros(1000)); s = cuda.stream(); e = cuda.event(); increment[1, 32, s](d); e.record(s)",
    "p = cuda.pinned_array(100); m = cuda.managed_array(100)",
    "works(); keep = [add, increment, add[4, 32]]; keep.append(keep)",
    "raises(errors.DeviceError, 'wild', wild[1, 4], np.zeros(4)); d = 1",
    "class A: pass\na = A(); a.self = a; a.array = cuda.to_device(np.zeros(3)); a.view = a.array[1:]",
    "import atexit; d = cuda.to_device(np.zeros(3)); atexit.register(works)",
    "cuda.stream().add_callback(lambda *a: None); works()",
    "t = threading.Thread(target=works); t.start()",
    "t = threading.Thread(target=lambda: [works() for _ in range(10000)], daemon=True); t.start(); works()",
    "class Late:\n    def __del__(self): self.array.copy_to_host()\nl = Late(); l.array = cuda.to_device(np.zeros(3))",
    "import builtins; builtins.kept = cuda.to_device(np.zeros(1000)), cuda.stream(), increment",
    "driver_ = driver(); d = cuda.to_device(np.zeros(9)); fail('any:1+:4')",
], ids=lambda text: text[:40])
def test_CUH_05_exit_with_live_objects(program, last):
    program(last)


def test_all_memory_is_given_back(program):
    program(LAUNCHES + """
kernel = fresh()
for _ in range(3):
    launch(kernel)
    d = cuda.to_device(np.zeros(10))
    increment[1, 32](d)
    s = cuda.stream()
    increment[1, 32, s](d)
assert dict(settled())["module"] == 2
del kernel, d, s, increment
assert not settled(), settled()
""", SYMS=ROOT / "runtime/cuda/cuda_syms.def")


def test_FAKECUDA_LOG_shows_no_failed_call(program, tmp_path):
    """What we ask of a driver in ordinary work is never an error there."""
    log = tmp_path / "log"
    program("""
works()
s = cuda.stream()
d = cuda.to_device(np.zeros(64), stream=s)
increment[2, 32, s](d)
d.copy_to_host(stream=s)
cuda.pinned_array(5), cuda.managed_array(5), cuda.event().record(s)
increment.forall(64)(d)
del d, s
cuda.synchronize()
""", FAKECUDA_LOG=log)
    lines = log.read_text().splitlines()
    assert len(lines) > 60
    failed = [line for line in lines if not line.endswith(" = 0")]
    # a module is asked for the mailbox of its exceptions, which few have; a stream may not be done yet
    assert all(line.startswith("cuModuleGetGlobal") and line.endswith("= 500") for line in failed), failed
    made = [line for line in lines if line.startswith("cuStreamCreate(")]
    assert made and all(line.endswith(", 0) = 0") for line in made), made  # streams that wait for the default one


def test_H05_every_wait_reaches_the_driver(program):
    program("""
works()
stream, event, other = cuda.stream(), cuda.event(), cuda.stream()
a = cuda.to_device(np.arange(100.0), stream=stream)
event.record(stream)
device = cuda.get_current_device()
waits = {"stream": stream.synchronize, "event": event.synchronize, "all": cuda.synchronize,
         "behind": lambda: event.wait(other)}
names = {"stream": ("cuStreamSynchronize", "cuStreamQuery"), "event": ("cuEventSynchronize", "cuEventQuery"),
         "all": ("cuCtxSynchronize",), "behind": ("cuStreamWaitEvent",)}
for what, wait in waits.items():
    increment[4, 32, stream](a)
    if what in ("event", "behind"):
        event.record(stream)
    before = [calls(name) for name in names[what]]
    wait()
    assert any(calls(name) > count for name, count in zip(names[what], before)), what
""")


def test_CUH_11_no_memory_for_a_copy(program):
    program("""
works()
fail("cuMemAlloc:1+:2")
raises(MemoryError, "Out of memory", cuda.to_device, np.zeros(1 << 20))
fail("")
assert cuda.to_device(np.ones(1 << 20)).copy_to_host().sum() == 1 << 20
""")
