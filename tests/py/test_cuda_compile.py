"""cuda.compile and its kind: PTX of kernels and device functions for any GPU (FEATURES F01)."""
import ctypes
import math
import re
import struct

import pytest
from conftest import STAND_IN

from quern import _idle, cuda, errors, types
from quern.types import complex64, float32, float64, int32, int64, uint8, void


def add(x, y):
    return x + y


def test_c_functions():
    ptx, result = cuda.compile(add, float32(float32, float32))
    assert result == float32
    assert re.search(r"\.visible \.func +\(\.param \.b32 func_retval0\) add\(\s*\.param \.b32 add_param_0,\s*\.param \.b32 add_param_1\s*\)", ptx)
    assert ".target sm_75" in ptx
    assert cuda.compile(add, (int32, int32))[1] == int64 and cuda.compile(add, "(float32, float64)")[1] == float64
    assert cuda.compile(cuda.jit(device=True)(add), (float32, float32))[1] == float32


def test_names_and_targets():
    ptx, _ = cuda.compile(add, (float64, float64), cc=(8, 0), abi_info={"abi_name": "my_add"})
    assert " my_add(" in ptx and ".target sm_80" in ptx
    assert " _lambda_(" in cuda.compile(lambda x: x, (float32,))[0]
    with pytest.raises(ValueError, match="identifier"):
        cuda.compile(add, (float64, float64), abi_info={"abi_name": "my add"})
    with pytest.raises(ValueError, match="5.0"):
        cuda.compile(add, (float64, float64), cc=(3, 5))
    with pytest.raises(ValueError, match="compute capability such as"):
        cuda.compile(add, (float64, float64), cc=80)


def test_kernels_keep_their_parameters():
    def kernel(a, unused, n):
        a[cuda.grid(1)] = n

    ptx, result = cuda.compile_ptx(kernel, void(float32[::1], float64[:, :], int32))
    assert result == void
    assert len(re.findall(r"\.param \.\w+ (?:\.ptr [^,]*)?quern_kernel_param_\d+,?$", ptx, re.M)) == 2 + 5 + 1
    assert ".visible .entry quern_kernel(" in ptx
    assert " other(" in cuda.compile(kernel, "void(float32[::1], float64[:, :], int32)", device=False, abi="numba",
                                     abi_info={"abi_name": "other"})[0]
    with pytest.raises(errors.TypingError, match="must not return"):
        cuda.compile_ptx(add, (float32, float32))


def test_F03_pointers():
    """Of a pointer the address alone is passed."""
    def kernel(p, n):
        p[n] = 1

    ptx, _ = cuda.compile_ptx(kernel, void(types.CPointer(float32), int64))
    assert len(re.findall(r"\.param \.\w+ (?:\.ptr [^,]*)?quern_kernel_param_\d+,?$", ptx, re.M)) == 2
    ptx, result = cuda.compile(lambda p, i: p[i], (types.CPointer(float32), int64))
    assert result == float32 and len(re.findall(r"_lambda__param_\d+,?$", ptx, re.M)) == 2


def test_what_is_refused():
    for options, kind, words in (({"abi": "fortran"}, NotImplementedError, "Unsupported ABI: fortran"),
                                 ({"device": False}, NotImplementedError, "C ABI is not supported for kernels"),
                                 ({"output": "ltoir"}, errors.UnsupportedError, "ltoir"),
                                 ({"output": "elf"}, NotImplementedError, "Unsupported output type: elf")):
        with pytest.raises(kind, match=words):
            cuda.compile(add, (float32, float32), **options)
    with pytest.raises(errors.TypingError, match="no attribute 'size'"):
        cuda.compile(lambda x: x.size, (float32,))
    _idle._said.discard("forceinline")  # it is said once in a process
    with pytest.warns(errors.IdleOptionWarning, match="forceinline"):
        cuda.compile(add, (float32, float32), forceinline=True)
    with pytest.raises(TypeError):
        cuda.compile(add, (float32, float32), no_such_option=1)


def test_others():
    assert cuda.compile_for_current_device(add, (float32, float32))[1] == float32
    assert cuda.compile_ptx_for_current_device(add, (float32, float32), device=True)[1] == float32
    codes, result = cuda.compile_all(add, (float32, float32), device=True)
    assert result == float32 and len(codes) == 1 and " add(" in codes[0]


# -- executed ---------------------------------------------------------------------------------------------

class Driver:
    """Enough of the driver's interface to run one kernel of one thread."""

    def __init__(self):
        self.api = ctypes.CDLL(str(STAND_IN))
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        assert getattr(self.api, name)(*args) == 0, name

    def run(self, ptx, data):
        """The kernel `main` with one buffer of these bytes; what they are then."""
        module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"main")
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(len(data)))
        args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
        self.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, args, None)
        self.call("cuCtxSynchronize")
        out = ctypes.create_string_buffer(len(data))
        self.call("cuMemcpyDtoH_v2", out, memory, ctypes.c_size_t(len(data)))
        return out.raw


def caller(callee, params, result, body):
    """A kernel with one pointer, in %rd1, that calls a function: `params` are the types and registers that are passed."""
    lines = [".visible .entry main(.param .u64 p)", "{", ".reg .b64 %rd<16>; .reg .f64 %fd<16>; .reg .f32 %f<16>; .reg .b32 %r<16>;",
             "ld.param.u64 %rd1, [p];", body[0], "{"]
    for i, (kind, register) in enumerate(params):
        lines += [f".param .{kind} q{i};", f"st.param.{kind} [q{i}+0], {register};"]
    lines += [f".param {result[0]} out;", f"call.uni (out), {callee}, ({', '.join(f'q{i}' for i in range(len(params)))});", *result[1:], "}",
              body[1], "ret;", "}"]
    return "\n".join(lines)


stand_in = pytest.mark.skipif(not STAND_IN.exists(), reason="no stand-in driver")


@stand_in
def test_a_function_runs():
    def norm(x, y):
        return math.sqrt(x * x + y * y)

    ptx, _ = cuda.compile(norm, (float64, float64))
    main = caller("norm", [("f64", "%fd1"), ("f64", "%fd2")], [".b64", "ld.param.f64 %fd3, [out+0];"],
                  ["ld.global.f64 %fd1, [%rd1]; ld.global.f64 %fd2, [%rd1+8];", "st.global.f64 [%rd1], %fd3;"])
    assert struct.unpack("2d", Driver().run(ptx + main, struct.pack("2d", 3.0, 4.0))) == (5.0, 4.0)


@stand_in
def test_a_function_with_numbas_convention_runs():
    def scaled(a, k):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * k
        return s

    ptx, result = cuda.compile(scaled, (float64[:], int32), abi="numba", abi_info={"abi_name": "scaled"})
    assert result == float64
    main = caller("scaled", [("b64", "%rd1"), ("b64", "%rd2"), ("b64", "%rd3"), ("b64", "%rd4"), ("b32", "%r1")],
                  [".b32", "ld.param.b32 %r2, [out+0];"],
                  ["add.u64 %rd2, %rd1, 16; mov.u64 %rd3, 2; mov.u64 %rd4, 8; mov.u32 %r1, 10;", "st.global.u32 [%rd1+8], %r2;"])
    data = Driver().run(ptx + main, struct.pack("dq2d", -1.0, -1, 1.5, 2.0))
    assert struct.unpack("dI", data[:12]) == (35.0, 0)


@stand_in
def test_F03_a_kernel_with_a_pointer_runs():
    def kernel(p):
        for i in range(3):
            p[i + 1] += p[i]

    ptx, _ = cuda.compile(kernel, void(types.CPointer(int32)), device=False, abi="numba", abi_info={"abi_name": "main"})
    assert struct.unpack("4i", Driver().run(ptx, struct.pack("4i", 1, 2, 3, 4))) == (1, 3, 6, 10)


@stand_in
def test_results_of_several_parts():
    def both(z, flag):
        return z.imag, flag

    ptx, result = cuda.compile(both, (complex64, types.boolean))
    assert result == types.Tuple((float32, types.boolean))
    main = caller("both", [("f32", "%f1"), ("f32", "%f2"), ("b32", "%r1")],
                  [".align 4 .b8", "ld.param.f32 %f3, [out+0];", "ld.param.b8 %r2, [out+4];"],
                  ["ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; mov.u32 %r1, 1;",
                   "st.global.f32 [%rd1], %f3; st.global.u32 [%rd1+4], %r2;"]).replace("out;", "out[8];", 1)
    assert struct.unpack("fI", Driver().run(ptx + main, struct.pack("2f", 1.0, 2.5))) == (2.5, 1)


def test_small_results():
    for kind in (uint8, types.boolean, types.int16, types.float16):
        ptx, result = cuda.compile(lambda x: x, kind(kind))
        assert result == kind and re.search(r"func_retval0(\[2\])?\) _lambda_\(", ptx)
