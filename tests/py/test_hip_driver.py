"""The HIP path over the stand-in runtime, which checks every call and launch and executes the kernels: what is missing, what
fails, what travels. Every scenario is a process of its own. FAKEHIP_* are explained in tests/drivers/hip/README.md.

That kernels compute the same is shown by every test with the fixture `device`."""
import os
import re
import shutil
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

STAND_IN = BUILD / "fakehip" / "libamdhip64.so.7"
OLDER = BUILD / "fakehip" / "libamdhip64.so.5"
CUDA = BUILD / "fakecuda" / "libcuda.so.1"
NOWHERE = {"QUERN_HIP_LIBRARY": "/not/there/libamdhip64.so.7"}
pytestmark = pytest.mark.skipif(not STAND_IN.exists(), reason="the stand-in runtime is not built")

PREAMBLE = """
import ctypes, gc, os, sys, threading, warnings
import numpy as np
from quern import cuda, errors, hip, njit, vectorize

def driver():
    return ctypes.CDLL(os.environ["QUERN_HIP_LIBRARY"])

def calls(name):
    return driver().fakehip_call_count(name.encode())

def fail(rules):
    assert driver().fakehip_set_fail(rules.encode()) == 0

def raises(kind, part, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        assert part in str(error), str(error)
        return error
    raise AssertionError(f"{kind} was not raised")

@hip.jit
def add(x, y, out):
    i = hip.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]

@cuda.jit
def cuda_add(x, y, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]

def computes(kernel=add):
    x, out = np.arange(100.0), np.zeros(100)
    kernel[4, 32](x, x, out)
    assert (out == 2 * x).all() and (x == np.arange(100)).all()
"""


@pytest.fixture
def program(tmp_path):
    """program(text, **environment) runs it; it must succeed, silently on stderr unless `stderr` is asked for. Returns what
    it printed."""

    def run(text, stderr=False, seconds=100, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE", "QUERN_DEVICE", "QUERN_CUDA_ON", "HIP_", "CUDA_"))}
        env["QUERN_HIP_LIBRARY"] = str(STAND_IN)
        env["QUERN_CUDA_LIBRARY"] = "/not/there/libcuda.so.1"
        env.update({k: str(v) for k, v in environment.items()})
        file = tmp_path / "program.py"
        file.write_text(PREAMBLE + text)
        result = subprocess.run([sys.executable, file], env=env, capture_output=True, text=True, timeout=seconds)
        assert result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        assert stderr or result.stderr == "", result.stderr
        return result.stdout

    return run


# -- nothing there -------------------------------------------------------------------------------------------------


def test_HIP_no_driver_pinned(program):
    program("""
for _ in range(2):
    error = raises(errors.HipSupportError, "/not/there/libamdhip64.so.7", computes)
    assert "cannot open shared object file" in str(error) and "QUERN_DEVICE=hip" in str(error)
raises(errors.HipSupportError, "/not/there", hip.to_device, np.zeros(3))
raises(errors.HipSupportError, "/not/there", hip.get_current_device)
raises(errors.HipSupportError, "/not/there", cuda.select_device, 0)
assert njit(lambda x: x + 1)(1) == 2
""", QUERN_DEVICE="hip", **NOWHERE)


def test_HIP_no_driver_by_the_loaders_rules(program):
    program("""
del os.environ["QUERN_HIP_LIBRARY"]
error = raises(errors.HipSupportError, "libamdhip64.so.7, libamdhip64.so.6 and libamdhip64.so.5 were looked for", computes)
assert "cannot open shared object file" in str(error) and "Is ROCm installed?" in str(error)
""" if not shutil.which("rocminfo") else "", QUERN_DEVICE="hip")


def test_HIP_no_driver_falls_back_with_one_warning(program):
    program("""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    computes()
    computes()
    d = hip.to_device(np.arange(3))
    assert d.copy_to_host().tolist() == [0, 1, 2]
assert [w.category for w in caught] == [errors.DeviceWarning], caught
assert "/not/there/libamdhip64.so.7" in str(caught[0].message) and "on the cpu device" in str(caught[0].message)
assert os.path.basename(caught[0].filename) == "program.py", caught[0].filename
assert hip.get_current_device().kind == "cpu"
assert not hip.is_available() and not hip.detect() and "/not/there" in hip.hip_error()
""", **NOWHERE)


def test_HIP_import_touches_no_driver(program):
    out = program("""
import quern, quern.hip
assert njit(lambda x: x + 1)(1) == 2
print("libamdhip64" in open("/proc/self/maps").read())
assert hip.is_available() and hip.hip_error() is None
print("libamdhip64" in open("/proc/self/maps").read())
""")
    assert out.split() == ["False", "True"]


@pytest.mark.parametrize("variable, part", [
    ({"FAKEHIP_DEVICES": "0"}, "HIP_VISIBLE_DEVICES"),
    ({"FAKEHIP_DEVICES": "0", "QUERN_HIP_LIBRARY": OLDER}, "hipErrorInvalidDevice (101)"),
    ({"FAKEHIP_VERSION": "40321100"}, "too old"),
    ({"FAKEHIP_FAIL": "hipInit:1:999"}, "hipInit answered hipErrorUnknown (999)"),
    ({"FAKEHIP_FAIL": "hipRuntimeGetVersion:1:999"}, "hipRuntimeGetVersion answered 999"),
    ({"FAKEHIP_FAIL": "hipGetDeviceCount:1:999"}, "hipGetDeviceCount"),
    ({"QUERN_HIP_LIBRARY": f"{STAND_IN}.lacks"}, "lacks hipModuleLaunchKernel"),
    ({"QUERN_HIP_LIBRARY": "libamdhip64.so.7"}, "must be an absolute path"),
    ({"QUERN_HIP_LIBRARY": __file__}, "could not be opened"),
], ids=str)
def test_HIP_driver_that_cannot_be_used(program, variable, part):
    program(f"raises((errors.HipSupportError, errors.HipAPIError), {part!r}, computes)", QUERN_DEVICE="hip", **variable)
    program(f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    computes()
    computes()
assert len(caught) == 1 and {part!r} in str(caught[0].message), caught
""", **variable)


# -- which device --------------------------------------------------------------------------------------------------


def test_HIP_kernels_of_cuda_move_when_asked(program):
    warned = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {}(cuda_add)
assert [w.category for w in caught] == [errors.DeviceWarning]
message = str(caught[0].message)
assert "/not/there/libcuda.so.1" in message, message
"""
    program(warned.format("computes") + """
assert "kernels run on the cpu device" in message and "with QUERN_CUDA_ON_HIP=1 they run there" in message, message
assert cuda.get_current_device().kind == "cpu" and not cuda.is_available() and calls("hipModuleLaunchKernel") == 0
computes(add)  # those of hip.jit go where they want to
""")
    program(warned.format("computes") + """
assert "kernels run on the hip device" in message and "QUERN_CUDA_ON_HIP=1" in message, message
assert cuda.get_current_device().kind == "hip" and cuda.is_available() and len(cuda.gpus) == 2
d = cuda.to_device(np.arange(4))
assert d.copy_to_host().tolist() == [0, 1, 2, 3] and calls("hipModuleLaunchKernel") == 1
with cuda.gpus[1]:
    computes(cuda_add)
computes(add)
""", QUERN_CUDA_ON_HIP=1, FAKEHIP_DEVICES=2)
    program(warned.format("computes") + """
assert "QUERN_CUDA_ON_HIP asks for an AMD device, but there is none" in message and "libamdhip64" in message, message
""", QUERN_CUDA_ON_HIP=1, **NOWHERE)
    program(warned.format("computes") + "assert 'they run there' in message", QUERN_CUDA_ON_HIP=0)


@pytest.mark.skipif(not CUDA.exists(), reason="the stand-in driver is not built")
def test_HIP_nvidia_first_amd_second(program):
    both = {"QUERN_CUDA_LIBRARY": CUDA}
    program("""
warnings.simplefilter("error")
computes(cuda_add)
computes(add)
assert cuda.get_current_device().kind == "cuda" and hip.get_current_device().kind == "hip"
""", QUERN_CUDA_ON_HIP=1, **both)
    program("computes(cuda_add)\ncomputes(add)\nassert cuda.get_current_device().kind == 'hip'", QUERN_DEVICE="hip", **both)
    program("computes(cuda_add)\ncomputes(add)\nassert hip.get_current_device().kind == 'cuda'", QUERN_DEVICE="cuda", **both)
    program("computes(cuda_add)\ncomputes(add)\nassert calls('any') == 0", QUERN_DEVICE="cpu", **both)


def test_AMD_02_waves_follow_the_chip(program, tmp_path):
    """The wave of the device, of the code object, and the width of masks agree."""
    for arch, wave in (("gfx942:sramecc+:xnack-", 64), ("gfx1100", 32)):
        folder = tmp_path / str(wave)
        folder.mkdir()
        program(f"""
@hip.jit
def votes(out):
    out[hip.grid(1)] = hip.ballot_sync(hip.activemask(), hip.laneid < hip.warpsize) + hip.wavesize

assert hip.get_current_device().WARP_SIZE == {wave} and hip.get_current_device().arch == {arch!r}
votes[1, 64](np.zeros(64, np.uint64))
text, = votes.inspect_asm().values()
assert ".amdhsa_wavefront_size32 {int(wave == 32)}" in text or {wave} == 64, text
assert '.amdgcn_target "amdgcn-amd-amdhsa--{arch.split(":")[0]}' in text
assert "define amdgpu_kernel void" in next(iter(votes.inspect_llvm().values()))
""", FAKEHIP_ARCH=arch, FAKEHIP_SAVE=folder)
        from quern.hip._code_object import _metadata
        file, = folder.iterdir()
        assert _metadata(file.read_bytes())["amdhsa.kernels"][0][".wavefront_size"] == wave


def test_HIP_chips_of_one_process_differ(program):
    """Kernels are compiled for each chip; arrays of one device are refused by the other."""
    out = program("""
archs = [g.arch for g in hip.gpus]
for g in hip.gpus:
    with g:
        computes()
        computes()
assert calls("hipModuleLoadDataEx") == 6
d = hip.to_device(np.zeros(4))
with hip.gpus[1]:
    raises(ValueError, "lies on hip device 0, the kernel runs on hip device 1", add[1, 4], d, d, d)
    computes()
print(*archs)
""", FAKEHIP_DEVICES=6, FAKEHIP_ARCH="gfx1100,gfx1030,gfx1100,gfx90a:sramecc+:xnack-,gfx90a:sramecc+:xnack+,gfx1030")
    assert out.split()[:2] == ["gfx1100", "gfx1030"]


def test_HIP_unknown_chip(program):
    program("""
raises(errors.LoweringError, "gfx9999", computes)
raises(errors.LoweringError, "gfx1100", computes)  # those that are known are named
assert hip.to_device(np.arange(3)).copy_to_host().tolist() == [0, 1, 2]
assert calls("hipModuleLoadDataEx") == 0
""", FAKEHIP_ARCH="gfx9999")


# -- what travels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [STAND_IN, OLDER], ids=["7", "5"])
def test_HIP_arguments_and_transfers(program, library, tmp_path):
    log = tmp_path / "log"
    program("""
x, y, out = np.arange(100.0), np.arange(100.0), np.full(100, 7.0)
dx, dout = hip.to_device(x), hip.device_array_like(out)
before = calls("hipMemcpyHtoDAsync"), calls("hipMemcpyDtoHAsync")
add[4, 32](dx, dx, dout)                   # nothing travels
assert (calls("hipMemcpyHtoDAsync"), calls("hipMemcpyDtoHAsync")) == before
add[4, 32](x, dx, dout)                    # to the device only
assert (calls("hipMemcpyHtoDAsync"), calls("hipMemcpyDtoHAsync")) == (before[0] + 1, before[1])
add[4, 32](dx, dx, out)                    # written: there and back
assert calls("hipMemcpyDtoHAsync") == before[1] + 1 and (out == x + y).all()
strided = np.arange(200.0)[::2]
add[4, 32](strided, strided, strided)
assert (strided == np.arange(0, 400, 4)).all()
frozen = np.zeros(100)
frozen.flags.writeable = False
raises(TypeError, "read-only", add[4, 32], x, x, frozen)
@hip.jit
def mixed(a, b, c, d, e, t):
    i = hip.grid(1)
    if i < a.shape[0]:
        a[i] = b + c * d + e.real + t[0] + t[1]
mixed[1, 32](dout, np.int8(1), np.float32(2), 3, 4j, (1, 2.5))
last_fault = driver().fakehip_last_fault
last_fault.restype = ctypes.c_char_p
assert last_fault() == b"", last_fault()
""",
            QUERN_HIP_LIBRARY=library, FAKEHIP_LOG=log)
    assert not re.search(r"\) = (?!0$)", log.read_text().replace(") = 500", ") = 0"), re.M), log.read_text()


def test_HIP_arrays_streams_events(program):
    program("""
a = hip.to_device(np.arange(12.0).reshape(3, 4))
assert a[1].copy_to_host().tolist() == [4, 5, 6, 7] and a.T.copy_to_host().shape == (4, 3)
a[0] = 5
a[1, 2] = 9
assert a.copy_to_host()[:2].tolist() == [[5, 5, 5, 5], [4, 5, 9, 7]]
assert "on hip" in repr(a)
p = hip.pinned_array(5, np.int32)
p[:] = 3
m = hip.managed_array(5, np.int32)
m.copy_to_device(p)
assert m.copy_to_host().tolist() == [3] * 5 and hip.mapped_array(3).shape == (3,)
s, e1, e2 = hip.stream(), hip.event(), hip.event()
e1.record(s)
add[4, 32, s](a[0], a[0], a[0])
e2.record(s)
e2.wait(hip.default_stream())
s.synchronize()
assert e2.query() and hip.event_elapsed_time(e1, e2) >= 0
done = threading.Event()
s.add_callback(lambda stream, status, arg: done.set())
assert done.wait(10)
with s.auto_synchronize():
    add[1, 32, s](a[0], a[0], a[0])
add.forall(100)(a[0], a[0], a[0])
info = hip.current_context().get_memory_info()
assert 0 < info.free <= info.total
assert hip.detect() and len(hip.gpus) == 1 and hip.list_devices()[0].name == "Stand-in gfx1100"
assert list(add.get_regs_per_thread().values())[0] > 0
hip.synchronize()
hip.close()
""")


def test_HIP_ufuncs_and_reductions(program):
    program("""
@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="hip")
def f(x, y):
    return x * y + 1

g = vectorize(target="roc")(lambda x: x + 1)
a = hip.to_device(np.arange(6, dtype=np.float32))
b = f(a, a)
assert repr(f) == "<ufunc 'f' for hip>" and b.dtype == np.float32 and type(b) is hip.DeviceNDArray and g(a).dtype == np.float32
f(np.ones((3, 4)), np.ones(4))
total = hip.reduce(lambda x, y: x + y)
total(a)
total(np.ones(1000))
assert type(total) is hip.Reduce and hip.Reduce is not cuda.Reduce
assert calls("hipModuleLaunchKernel") == 6, calls("hipModuleLaunchKernel")
raises(ValueError, "no target 'rocm'", vectorize, target="rocm")
""")
    program("""
warnings.simplefilter("ignore")
f = vectorize(["float64(float64, float64)"], target="hip")(lambda x, y: x * y + 1)
x = np.arange(20.0)
assert (f(x, 3) == x * 3 + 1).all() and hip.reduce(lambda a, b: a + b)(x) == x.sum()
""", **NOWHERE)


def test_HIP_kernels_call_device_functions_of_either(program):
    program("""
warnings.simplefilter("ignore")
@cuda.jit(device=True)
def twice(x):
    return x * 2

@hip.jit(device=True)
def thrice(x):
    return x * 3

@hip.jit("void(float64[:], float64[:])")
def both(x, out):
    i = hip.grid(1)
    s = hip.lds.array(64, np.float64)
    s[hip.threadIdx.x] = x[i]
    hip.syncthreads()
    out[i] = twice(s[hip.threadIdx.x]) + thrice(x[i])

x, out = np.arange(64.0), np.zeros(64)
both[1, 64](x, out)
assert (out == 5 * x).all()
raises(TypeError, "hip.jit() has no option 'fastmaths'", hip.jit, fastmaths=True)
raises(errors.UnsupportedError, "'link' of hip.jit", hip.jit, link=["x.o"])
raises(AttributeError, "'quern.hip' has no attribute 'nothing'", getattr, hip, "nothing")
""", **NOWHERE)


# -- other libraries -----------------------------------------------------------------------------------------------

TENSOR = """
class Tensor:
    "What a ROCm build of PyTorch shows of a tensor."
    def __init__(self, array, **only):
        self.array, self.only = array, only
        if "interface" in only:
            self.__cuda_array_interface__ = array.__cuda_array_interface__
    def __getattr__(self, name):
        if name in ("__dlpack__", "__dlpack_device__") and "dlpack" in self.only:
            return getattr(self, name[2:-2])
        raise AttributeError(name)
    def dlpack_device(self):
        return self.only["dlpack"]
    def dlpack(self, stream=None, **version):
        self.asked = stream, version
        if version and "old" in self.only:
            raise TypeError("unexpected argument")
        return self.array.__dlpack__(stream=stream, **version)
"""


def test_HIP_DLPack_and_array_interface_without_copies(program):
    program(TENSOR + """
a = hip.to_device(np.arange(12.0).reshape(3, 4)[:, ::2].copy())
copies = calls("hipMemcpyHtoDAsync")
for tensor in (Tensor(a, interface=1), Tensor(a, dlpack=(10, 0)), Tensor(a, dlpack=(10, 0), old=1), Tensor(a[1:, 1], interface=1),
               Tensor(a.T, dlpack=(10, 0))):
    for take in (hip.to_device, hip.as_cuda_array):
        b = take(tensor)
        assert b.device_pointer == tensor.array.device_pointer and b.shape == tensor.array.shape
        assert b.strides == tensor.array.strides and b.dtype == a.dtype
    flat = Tensor(a[0], **tensor.only)
    add[1, 32](flat, flat, flat)
assert calls("hipMemcpyHtoDAsync") == copies
assert Tensor(a, dlpack=(10, 0)) and a.__dlpack_device__() == (10, 0)
t = Tensor(a, dlpack=(10, 0))
hip.to_device(t)
assert t.asked == (0, {"max_version": (1, 0)})  # ROCm's default stream
vectorize(["float64(float64)"], target="hip")(lambda x: x + 1)(t)
assert type(a.__dlpack__()).__name__ == "PyCapsule"
del t, b, flat, tensor
before = driver().fakehip_live(b"memory")
c = hip.to_device(Tensor(hip.device_array(3), dlpack=(10, 0)))
gc.collect()
assert c.shape == (3,)  # it keeps its owner
raises(BufferError, "no copy", a.__dlpack__, copy=True)
raises(BufferError, "not on that device", a.__dlpack__, dl_device=(1, 0))
raises(ValueError, "an array of cuda memory was given to hip device 0", hip.to_device, Tensor(a, dlpack=(2, 0)))
raises(ValueError, "hip device 3", hip.to_device, Tensor(a, dlpack=(10, 3)))
""")


def test_HIP_DLPack_types_and_owners(program):
    program(TENSOR + """
for dtype in (np.int8, np.uint16, np.int64, np.float32, np.float64, np.complex128, np.bool_):
    a = hip.to_device(np.ones((2, 3), dtype))
    b = hip.to_device(Tensor(a, dlpack=(10, 0)))
    assert b.dtype == dtype and (b.copy_to_host() == 1).all()
    del a, b
gc.collect()
hip.synchronize()
hip.close()
assert driver().fakehip_live(b"memory") == 0, driver().fakehip_live(b"memory")
""")
    program("""
warnings.simplefilter("ignore")
a = hip.to_device(np.arange(6.0).reshape(2, 3))  # on the cpu device, where NumPy reads it
assert a.__dlpack_device__() == (1, 0) and (np.from_dlpack(a) == a.copy_to_host()).all()
assert (np.from_dlpack(a.T) == a.copy_to_host().T).all()
b = hip.to_device(np.arange(3.0))
assert (hip.to_device(memoryview(np.arange(3.0))).copy_to_host() == [0, 1, 2]).all()
""", **NOWHERE)


# -- what fails ----------------------------------------------------------------------------------------------------


def test_HIP_bad_launches(program):
    program("""
d = hip.to_device(np.zeros(4))
raises(ValueError, "at most 65536 in dimension y", lambda: add[(1, 65537), 32])
raises(ValueError, "at least 1", lambda: add[0, 32])
raises(ValueError, "at most 1024", lambda: add[1, 1025])
raises(ValueError, "more than 4294967295 threads along x", lambda: add[2**31 - 1, 3])
raises(ValueError, "allows 0 to 65536 in a block", lambda: add[1, 32, 0, 65537])

@hip.jit(launch_bounds=64)
def bounded(x):
    x[hip.grid(1) % 4] = 1
raises(ValueError, "launch bound of 64", bounded[1, 128], d)
bounded[1, 64](d)

@hip.jit
def large(x):
    s = hip.lds.array(10000, np.float32)
    s[hip.threadIdx.x] = x[0]
    hip.syncthreads()
    x[hip.grid(1) % 4] = s[63 - hip.threadIdx.x]
raises(ValueError, "and is given 40000 bytes of dynamic shared memory", large[1, 64, 0, 40000], d)
large[1, 64](d)

computes()
""")


def test_HIP_shared_memory_that_no_chip_has(program):
    program("""
@hip.jit
def huge(x):
    s = hip.lds.array(20000, np.float64)
    s[hip.threadIdx.x] = x[0]
    hip.syncthreads()
    x[hip.grid(1) % 4] = s[63 - hip.threadIdx.x]
raises(errors.TypingError, "take 160000 bytes together; a block of gfx1100 has 65536", huge[1, 64], np.zeros(4))
computes()
""")


def test_HIP_what_is_of_NVIDIA_GPUs_alone(program):
    """What docs/gpu.md lists as refused on AMD GPUs, each with its reason; the next launch works."""
    program("""
outside = cuda.declare_device("outside", "float32(float32)", link=cuda.PTXSource(b".version 7.0"))
@hip.jit
def calls(x):
    x[0] = outside(x[0])
raises(errors.TypingError, "outside is not available on AMD GPUs: code of others is linked with PTX alone", calls[1, 1], np.zeros(1, np.float32))
raises(errors.UnsupportedError, "the option 'link' of hip.jit is not supported: code of others is linked by cuda.jit",
       lambda: hip.jit(link=[cuda.PTXSource(b"")])(lambda x: None))
declared = hip.jit("void(float32[:])")(lambda x: None)
raises(errors.UnsupportedError, "inspect_sass is of NVIDIA GPUs: inspect_asm gives the assembly", declared.inspect_sass)
raises(errors.CudaSupportError, "cannot be opened by other processes", hip.to_device(np.zeros(3)).get_ipc_handle)
computes()
""")


def test_HIP_out_of_memory(program):
    program("""
raises(MemoryError, "536870912 bytes were asked for", hip.device_array, 1 << 26)
kept = [hip.device_array(1 << 20) for _ in range(3)]
computes()
driver().hipPeekAtLastError.restype = ctypes.c_int
assert driver().hipPeekAtLastError() == 0  # PyTorch would take it for its own
""", FAKEHIP_MEMORY=1 << 26)


def test_HIP_device_lost_in_the_middle(program):
    program("""
computes()
error = raises(errors.DeviceError, "hipErrorLaunchFailure (719)", computes)
assert "kernel" in str(error) and "add" in str(error)
for _ in range(2):
    raises(errors.DeviceError, "cannot be used any more", computes)
raises(errors.DeviceError, "cannot be used any more", hip.to_device, np.zeros(3))
with hip.gpus[1]:
    computes()
assert njit(lambda x: x + 1)(1) == 2
""", FAKEHIP_FAULT="2:719", FAKEHIP_DEVICES=2)


def test_HIP_exceptions_of_kernels(program):
    """They are left in the mailbox, which the next synchronisation reads."""
    program("""
@hip.jit(debug=True)
def checked(x, i):
    x[i] = 1
x = np.zeros(4)
before = calls("hipModuleGetGlobal")
checked[1, 1](x, 3)
hip.synchronize()
assert calls("hipModuleGetGlobal") > before and x.tolist() == [0, 0, 0, 1]
error = raises(IndexError, "index 9 is out of bounds for axis 0 with size 4", checked[1, 1], x, 9)
checked[1, 1](x, 0)  # and the device lives on
hip.synchronize()
assert x.tolist() == [1, 0, 0, 1]
""")
    program("""
warnings.simplefilter("ignore")
@hip.jit(debug=True)
def checked(x, i):
    x[i] = 1
raises(IndexError, "", checked[1, 1], np.zeros(4), 9)
""", **NOWHERE)


FAILING = """
import re
names = re.findall(r"^(?:SYM|SHARED)\\(\\d,.*?\\b(hip\\w+)", open(os.environ["SYMS"]).read(), re.M)
names = [n for n in names if n not in ("hipGetErrorName", "hipGetErrorString", "hipGetLastError")]  # these cannot fail
assert len(names) > 40

def fresh():
    @hip.jit
    def kernel(x, out, both):
        i = hip.grid(1)
        if i < out.shape[0]:
            out[i] = x[i] * 3
            both[i] += out[i]
    return kernel

def launch(kernel):
    base = np.full((40, 2), -1.0)
    x, out, both, error = np.arange(40.0), base[:, 0], np.ones(40), None
    try:
        kernel[2, 32](x, out, both)
    except Exception as caught:
        error = caught.with_traceback(None)
    assert (x == np.arange(40)).all() and (base == -1).all() and (both == 1).all()
    return error

def settled():
    gc.collect()
    hip.synchronize()
    hip.close()
    return [(n, driver().fakehip_live(n.encode())) for n in ("memory", "pinned", "module", "stream", "event")
            if driver().fakehip_live(n.encode())]
"""


@pytest.mark.parametrize("code", [1, 2, 999])
@pytest.mark.parametrize("loaded", [False, True])
def test_HIP_every_function_fails_during_a_launch(program, code, loaded):
    """Each function, at each of its calls, once and from then on. The arrays stay whole, the next launch works, and nothing
    is lost but what the runtime refused to take back."""
    out = program(FAILING + f"""
# (no kernel runs: whatever happens, the arrays are what was sent)
code, loaded = {code}, {loaded}
# Their failure may pass unnoticed: facts for inspection, and memory and events that are given back.
unnoticed = {{"hipFuncGetAttribute", "hipFree", "hipEventDestroy", "hipGetDevice"}}
hip.synchronize()  # the device is open
kernel = fresh()
if loaded: launch(kernel)
before = [calls(n) for n in names]
assert launch(kernel) is None
plan = [(n, calls(n) - b) for n, b in zip(names, before) if calls(n) > b]
assert len(plan) >= 8 and ("hipModuleLoadDataEx" in dict(plan)) != loaded, plan
del kernel
lost, tried = settled(), 0
assert not lost, lost
for name, n in plan:
    for k in range(1, n + 1):
        for rule in (f"{{name}}:{{k}}:{{code}}", f"{{name}}:{{k}}+:{{code}}"):
            kernel = fresh()
            if loaded: launch(kernel)
            hip.close()
            fail(rule)
            error = launch(kernel)
            fail("")
            tried += 1
            tried_again = name == "hipMalloc" and code == 2 and "+" not in rule
            if name not in unnoticed and not tried_again:
                assert error is not None, rule
            if error is not None:
                assert isinstance(error, MemoryError if code == 2 else errors.HipAPIError), (rule, error)
                assert name in str(error) or code == 2, (rule, error)
            assert driver().hipPeekAtLastError() == 0 or error is None, rule
            assert launch(kernel) is None, rule
            del kernel
            now = settled()
            assert now == lost or name in unnoticed, (rule, lost, now)
            lost = now
print(tried)
""", SYMS=ROOT / "runtime/hip/hip_syms.def", QUERN_DEVICE="hip", FAKEHIP_NOEXEC=1)
    assert int(out) > 30


# -- the examples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1_add_ufunc", "2_add_kernel", "3_increment_2d", "6_shared_memory"])
def test_HIP_examples(name, tmp_path):
    """With `hip` on the command line: right on the cpu device; over the stand-in, which computes nothing, every launch
    passes its checks (-O: results are not asserted)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("FAKE", "QUERN_DEVICE"))}
    example, log = str(ROOT / f"examples/{name}.py"), tmp_path / "log"
    done = subprocess.run([sys.executable, example, "hip"], env={**env, **NOWHERE}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout or "3_" not in name
    env |= {"QUERN_HIP_LIBRARY": str(STAND_IN), "FAKEHIP_LOG": str(log), "FAKEHIP_ARCH": "gfx942:sramecc+:xnack-"}
    done = subprocess.run([sys.executable, "-O", example, "hip"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "kernels run on: Stand-in gfx942" in done.stdout, done.stderr
    calls = log.read_text()
    assert "hipModuleLaunchKernel" in calls and not re.search(r"^fault|hipModuleLaunchKernel.* = [1-9]", calls, re.M)


def accept(files, folder):
    """The tools of others read the code objects: the sections are in order for readelf, every word is an instruction of the chip for
    llvm-objdump, and ld.lld links with them. Those that are not installed are left out."""
    names = sorted(str(file) for file in files)
    for words, refused in ((["readelf", "--wide", "--all"], "arning|rror"), (["llvm-objdump-19", "--disassemble"], "<unknown>|rror"),
                           (["ld.lld-19", "-shared", "-o", str(folder / "linked")], "arning|rror")):
        if shutil.which(words[0]):
            done = subprocess.run([*words, *names], capture_output=True, text=True, errors="replace")
            assert done.returncode == 0 and not re.search(refused, done.stderr), done.stderr
            assert "<unknown>" not in done.stdout and (words[0] != "llvm-objdump-19" or "s_endpgm" in done.stdout)


@pytest.mark.parametrize("arch", ["gfx90a:sramecc+:xnack-", "gfx942:sramecc+:xnack-", "gfx1030", "gfx1100", "gfx1201"])
def test_HIP_the_kernels_of_the_suite_run_on_other_chips(arch, tmp_path):
    """test_kernels.py on a chip of each family: all of it is right there, and every code object is loaded and
    launched with arguments and memory as it wants them, and accepted by the tools of others."""
    log = tmp_path / "log"
    env = {k: v for k, v in os.environ.items() if not k.startswith("FAKE")}
    env |= {"QUERN_DEVICE": "hip", "QUERN_HIP_LIBRARY": str(STAND_IN), "FAKEHIP_LOG": str(log), "FAKEHIP_ARCH": arch,
            "FAKEHIP_SAVE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist",
                           ROOT / "tests/py/test_kernels.py"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    calls = log.read_text()
    assert not re.search(r"^fault", calls, re.M), re.findall(r"^fault.*", calls, re.M)
    answers = re.findall(r"hipModule(?:LaunchKernel|LoadDataEx|GetFunction)\(.*\) = (\d+)$", calls, re.M)
    assert len(answers) > 100 and set(answers) == {"0"}
    saved = list(tmp_path.glob("*.hsaco"))
    assert len(saved) > 30
    accept(saved, tmp_path)


# -- the real library ------------------------------------------------------------------------------------------------


def _real_library():
    """libamdhip64.so.5 of Debian and what it needs: QUERN_REAL_HIP names it, tests/tools/fetch_amdhip.sh puts it into the
    build folder; otherwise the system's."""
    for path in (os.environ.get("QUERN_REAL_HIP"), BUILD / "amdhip/usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
                 "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5"):
        if path and os.path.exists(path):
            return os.path.realpath(path)
    pytest.skip("Debian's libamdhip64-5 is not here; tests/tools/fetch_amdhip.sh fetches it")


def test_HIP_real_library_exports_the_table():
    library = _real_library()
    nm = shutil.which("nm") or pytest.skip("nm is not here")
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = dict(re.findall(r" T (hip\w+)@@hip_(\d+\.\d+)", lines))
    rows = re.findall(r"^(?:SYM\((\d), (hip\w+), (\d+)|SHARED\((\d), \w+, (hip\w+), (\d+))",
                      (ROOT / "runtime/hip/hip_syms.def").read_text(), re.M)
    rows = [(r[0] or r[3], r[1] or r[4], int(r[2] or r[5])) for r in rows]
    assert len(rows) > 40 and len(exported) > 300
    for required, name, since in rows:
        if since <= 502:
            major, minor = map(int, exported[name].split("."))
            assert major * 100 + minor == since, name
        else:
            assert required == "0" and name not in exported, name
    stand_in = re.findall(r"^SYM\((hip\w+), (\d+)", (ROOT / "tests/drivers/hip/driver/syms.def").read_text(), re.M)
    for name, since in stand_in:
        assert (name in exported) == (int(since) <= 502), name


def test_HIP_real_header_agrees(tmp_path):
    """Offsets of device properties, numbers of errors and attributes: those of the stand-in and those that the runtime reads."""
    include = BUILD / "amdhip/usr/include"
    compiler = shutil.which("cc")
    if not compiler or not (include / "hip/hip_runtime_api.h").exists():
        pytest.skip("Debian's libamdhip64-dev is not here; tests/tools/fetch_amdhip.sh fetches it")
    rows = {"name": "name", "memory": "totalGlobalMem", "max_shared": "sharedMemPerBlock", "max_registers": "regsPerBlock",
            "warp_size": "warpSize", "max_threads": "maxThreadsPerBlock", "max_block": "maxThreadsDim", "max_grid": "maxGridSize",
            "clock_khz": "clockRate", "cc_major": "major", "cc_minor": "minor", "multiprocessors": "multiProcessorCount",
            "pci_domain": "pciDomainID", "pci_bus": "pciBusID", "pci_device": "pciDeviceID", "can_map_host": "canMapHostMemory",
            "arch": "gcnArchName", "integrated": "integrated", "cooperative": "cooperativeLaunch", "managed_memory": "managedMemory"}
    props = re.findall(r"^PROP\(\w+, (\w+)(?:\[(\d)\])?, (-?\d+), \d+\)", (ROOT / "runtime/hip/hip_props.def").read_text(), re.M)
    older = {(name, int(index or 0)): int(offset) for name, index, offset in props if offset != "-1"}
    assert {name for name, _ in older} == set(rows)
    checks = [f"offsetof(hipDeviceProp_t, {rows[name]}) + {4 * index} == {offset}" for (name, index), offset in older.items()]
    mine = {"memory": "totalGlobalMem", "lds": "sharedMemPerBlock", "wave": "warpSize", "gcn_name": "gcnArchName", "managed": "managedMemory",
            "processors": "multiProcessorCount", "pci_bus": "pciBusID", "max_grid": "maxGridSize", "cooperative": "cooperativeLaunch"}
    checks += [f"offsetof(OlderProperties, {ours}) == offsetof(hipDeviceProp_t, {theirs})" for ours, theirs in mine.items()]
    checks += ["sizeof(OlderProperties) == sizeof(hipDeviceProp_t)", "hipSuccess == HIP_Success", "HIP_FUNC_ATTRIBUTE_NUM_REGS == 4",
               "HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == 3", "hipEventDisableTiming == 2", "hipHostMallocPortable == 1", "hipMemAttachGlobal == 1",
               "hipHostMallocMapped == 2", "HIP_LAUNCH_PARAM_END == (void *)3", "HIP_LAUNCH_PARAM_BUFFER_SIZE == (void *)2"]
    header = (ROOT / "tests/drivers/hip/driver/hip_abi.h").read_text()
    known = (include / "hip/hip_runtime_api.h").read_text()
    names = [n for n in re.findall(r"ROW\((\w+), \d+", header) if f"hipError{n} " in known]
    assert len(names) > 15
    checks += [f"hipError{n} == HIP_{n}" for n in names]
    source, program = tmp_path / "abi.c", tmp_path / "abi"
    source.write_text("#define __HIP_PLATFORM_AMD__ 1\n#include <hip/hip_runtime_api.h>\n#include <stdio.h>\n"
                      f'#include "{ROOT}/tests/drivers/hip/driver/hip_abi.h"\nint main(void) {{\n' +
                      "\n".join(f'if (!({c})) puts("{c}");' for c in checks) + "\n}\n")
    subprocess.run([compiler, f"-I{include}", source, "-o", program], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == ""


def test_HIP_real_library_without_a_GPU(program):
    library = _real_library()
    if os.path.exists("/dev/kfd"):
        pytest.skip("there is an AMD GPU")
    folder = os.path.dirname(library)
    program("""
error = raises(errors.HipSupportError, "The HIP runtime 5.2 is here but does not start: hipInit answered hipError", computes)
assert "/dev/kfd" in str(error) and "No" in str(error) or "Invalid" in str(error)
assert not hip.is_available() and "HIP runtime 5.2" in hip.hip_error()
""", stderr=True, QUERN_DEVICE="hip", QUERN_HIP_LIBRARY=library, LD_LIBRARY_PATH=folder)
    program("""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    computes()
assert len(caught) == 1 and "HIP runtime 5.2" in str(caught[0].message), caught
""", stderr=True, QUERN_HIP_LIBRARY=library, LD_LIBRARY_PATH=folder)


def test_HIP_real_library_whose_parts_are_missing(program, tmp_path):
    """The loader's answer names what is missing."""
    library = _real_library()
    copy = tmp_path / "libamdhip64.so.5"
    shutil.copy(library, copy)
    program("""
raises(errors.HipSupportError, "libhsa-runtime64.so.1: cannot open shared object file", computes)
""", QUERN_DEVICE="hip", QUERN_HIP_LIBRARY=copy, LD_LIBRARY_PATH=str(tmp_path))
    program("""
del os.environ["QUERN_HIP_LIBRARY"]
raises(errors.HipSupportError, "libhsa-runtime64.so.1: cannot open shared object file", computes)
""", QUERN_DEVICE="hip", LD_LIBRARY_PATH=str(tmp_path))
