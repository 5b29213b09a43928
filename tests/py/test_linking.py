"""Functions of other languages in kernels: cuda.declare_device, link=, CUSource, PTXSource."""
import pathlib

import numpy as np
import pytest

from quern import cuda, errors, float32, hip, int32, njit, types

SOURCE = cuda.CUSource("""
extern "C" __device__ int times2(int *out, int a) { *out = a * 2; return 0; }
extern "C" __device__ int later(int *out, int a);
extern "C" __device__ float scale(float a, double b) { return a * b; }
extern "C" __device__ void put(int *a, int v) { *a = v; }
extern "C" __device__ unsigned char low(long long x, bool up) { return x + up; }
extern "C" __device__ int seven(void) { return 7; }
""", name="functions.cu")
MORE = cuda.CUSource("""
extern "C" __device__ int times2(int *out, int a);
extern "C" __device__ int times4(int *out, int a) { int t; times2(&t, a); *out = 2 * t; return 0; }
""")


def code(device):
    """The same functions, for GPUs as PTX that clang has made of them."""
    if device == "hip":
        pytest.skip("AMD GPUs link nothing")
    return [SOURCE, MORE] if device == "cpu" else [pathlib.Path(__file__).with_name("linked.ptx")]


def declared(device):
    link = code(device)
    pointer = types.void(types.CPointer(types.int32), types.int32)
    return {name: cuda.declare_device(name, sig, link=link, abi=abi) for name, sig, abi in (
        ("times2", "int32(int32)", "numba"), ("times4", int32(int32), "numba"), ("scale", "float32(float32, float64)", "c"),
        ("put", pointer, "c"), ("low", "uint8(int64, boolean)", "c"), ("seven", "int32()", "c"))}


def test_numbers_in_both_conventions(device):
    f = declared(device)
    times2, times4, scale, low, seven = (f[k] for k in "times2 times4 scale low seven".split())

    @cuda.jit(device=True)
    def both(x):
        return times2(x) + times4(x)

    @cuda.jit
    def kernel(a, x, u):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = both(i) + times2(i) + seven()
            x[i] = scale(x[i], 0.25)
            u[i] = low(i + 300, i > 2)

    a, x, u = np.zeros(7, np.int32), np.arange(7, dtype=np.float32), np.zeros(7, np.uint8)
    kernel[2, 4](a, x, u)
    i = np.arange(7)
    assert (a == 8 * i + 7).all() and (x == i / 4).all() and (u == (i + 300 + (i > 2)) % 256).all()


def test_pointers_are_arrays(device):
    put = declared(device)["put"]

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        put(a[i:], i * i)

    a = np.zeros(6, np.int32)
    kernel[2, 3](a)
    assert (a == np.arange(6) ** 2).all()


def test_pointers_of_cffi(device):
    cffi = pytest.importorskip("cffi")
    ffi, put = cffi.FFI(), declared(device)["put"]

    @cuda.jit
    def kernel(a):
        put(ffi.from_buffer(a), 5)

    a = np.zeros(2, np.int32)
    kernel[1, 1](a)
    assert a.tolist() == [5, 0]


def test_the_option_link_of_the_kernel(device):
    times2 = cuda.declare_device("times2", "int32(int32)")

    @cuda.jit(link=code(device))
    def kernel(a):
        a[0] = times2(a[0])

    a = np.array([4], np.int32)
    kernel[1, 1](a)
    assert a[0] == 8


def test_a_function_that_no_code_has(device):
    nowhere = cuda.declare_device("nowhere", "int32(int32)", link=code(device), abi="c")
    unlinked = cuda.declare_device("nowhere", "int32(int32)", abi="c")
    for function in (nowhere, unlinked):
        @cuda.jit
        def kernel(a):
            a[0] = function(a[0])

        with pytest.raises(errors.LinkerError, match="nowhere"):
            kernel[1, 1](np.zeros(1, np.int32))


def test_one_that_waits_for_the_grid_makes_the_launch_cooperative(device):
    link = code(device)
    times2 = cuda.declare_device("times2", "int32(int32)", link=link, use_cooperative=True)
    put = cuda.declare_device("put", types.void(types.CPointer(types.int32), types.int32), link=link, abi="c", use_cooperative=True)

    @cuda.jit("void(int32[::1])")
    def kernel(a):
        a[cuda.grid(1)] = times2(a[cuda.grid(1)])
        put(a[:1], 7)

    overload, = kernel.overloads.values()
    a = np.arange(4, dtype=np.int32)
    kernel[1, 4](a)
    assert overload.cooperative and a[1:].tolist() == [2, 4, 6]


def test_other_arguments_are_refused(device):
    f = declared(device)
    times2, scale = f["times2"], f["scale"]
    for body in (lambda a: times2(a), lambda a: times2(1, 2), lambda a: scale(1j, 2.0)):
        function = cuda.jit(device=True)(body)

        @cuda.jit
        def kernel(a):
            function(a)

        with pytest.raises(errors.TypingError, match="declared"):
            kernel[1, 1](np.zeros(1, np.int32))


def test_kernels_of_amd_gpus_refuse_it(device):
    if device != "hip":
        pytest.skip("of AMD GPUs")
    times2 = cuda.declare_device("times2", "int32(int32)", link=SOURCE)

    @cuda.jit
    def kernel(a):
        a[0] = times2(a[0])

    with pytest.raises(errors.TypingError, match="times2 is not available on AMD GPUs: code of others is linked with PTX alone"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_what_is_declared():
    f = cuda.declare_device("f", "int32(float32[:])")
    assert (f.name, f.sig.args, f.sig.return_type) == ("f", (float32[:],), int32)
    assert hip.declare_device is cuda.declare_device
    for bad in ((float32[:],), "(float32[:],)"):
        with pytest.raises(TypeError, match="Return type"):
            cuda.declare_device("f", bad)
    with pytest.raises(NotImplementedError, match="Unsupported ABI: d"):
        cuda.declare_device("f", "int32()", abi="d")
    with pytest.raises(ValueError, match="identifier"):
        cuda.declare_device("f g", "int32()")
    with pytest.raises(errors.LaunchError):
        f(1)
    with pytest.raises(ValueError, match="ends in .cu or .ptx"):
        cuda.declare_device("f", "int32()", link="f.py")
    with pytest.raises(errors.UnsupportedError, match="Cubin is not supported"):
        cuda.Cubin(b"")

    @cuda.jit
    def kernel(a):
        a[0] = f(a)

    with pytest.raises(errors.UnsupportedError, match="with other types than numbers"):
        kernel[1, 1](np.zeros(1, np.float32))


def test_other_functions_do_not_call_it():
    seven = cuda.declare_device("seven", "int32()", link=SOURCE, abi="c")

    @njit
    def outside():
        return seven()

    with pytest.raises(errors.TypingError, match="seven is not available outside a kernel"):
        outside()


def test_errors_of_the_compiler_have_the_place():
    f = cuda.declare_device("f", "int32()", link=cuda.CUSource("int f( { }", name="broken.cu"), abi="c")

    @cuda.jit
    def kernel(a):
        a[0] = f()

    with pytest.raises(errors.LinkerError, match="broken.cu"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_cuda_c_by_nvrtc():
    """What NVRTC makes of the source is joined with the kernel: PTX of the toolkit's version, which a driver may be too old for."""
    from quern import _link
    try:
        ptx = _link._compiled("functions.cu", SOURCE.data, "sm_80", ())
    except errors.LinkerError as error:
        if "needs NVRTC" not in str(error):
            raise
        pytest.skip("NVRTC is not here")
    kernel = ".version 6.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) seven\n(\n)\n;\n.visible .entry k()\n{\n ret;\n}\n"
    joined = _link.join(kernel, [SOURCE], "sm_80")
    assert joined.count(".version") == 1 and f".version {'.'.join(map(str, _link._version(ptx)))}" in joined
    assert joined.index("func_retval0) seven") < joined.index(".entry k") and ".extern" not in joined
    with pytest.raises(errors.LinkerError, match="broken.cu"):
        _link._compiled("broken.cu", "int f( { }", "sm_80", ())


def test_includes_beside_the_file(tmp_path):
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    (tmp_path / "f.cu").write_text('#include "three.h"\nextern "C" __device__ int three() { return THREE; }\n')
    three = cuda.declare_device("three", "int32()", link=tmp_path / "f.cu", abi="c")

    @cuda.jit
    def kernel(a):
        a[0] = three()

    a = np.zeros(1, np.int32)
    kernel[1, 1](a)
    assert a[0] == 3
