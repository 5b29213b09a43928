"""What kernels and their launches offer beside running: specialize, extensions, callbacks, attributes, pickling; cuda.kernels."""
import pickle

import numpy as np
import pytest

from quern import cuda, float32, int32, types
from quern.cuda.args import wrap_arg
from quern.cuda.kernels.transpose import transpose


def test_specialize(device):
    @cuda.jit
    def add(a, x):
        a[cuda.grid(1)] += x

    assert add.specializations == {} and not add.specialized
    of_floats = add.specialize(float32[::1], float32)
    assert of_floats.specialized and add.specialize(float32[::1], float32) is of_floats and len(add.specializations) == 1
    assert add.specialize(np.zeros(1, np.int32), 3) is not of_floats and len(add.specializations) == 2
    a = np.zeros(3, np.float32)
    of_floats[1, 3](a, 2)
    add.specializations[types.typeof(np.zeros(1, np.int32)), types.int64][1, 2](b := np.zeros(2, np.int32), 5)
    assert a.tolist() == [2, 2, 2] and b.tolist() == [5, 5]
    for done in (of_floats, cuda.jit("void(int32[:])")(lambda a: None)):
        with pytest.raises(RuntimeError, match="already specialized"):
            done.specialize(int32[::1])


class Foreign:
    """An array of another library: by __cuda_array_interface__, or by DLPack alone."""

    def __init__(self, array, interface=False):
        self.array = array
        if interface:
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_specialize_for_arrays_of_the_device(device):
    """Numba's programs give the arrays that they launch with."""
    @cuda.jit
    def add(a, x):
        a[cuda.grid(1)] += x

    d = cuda.to_device(np.zeros(4))
    of_doubles = add.specialize(d, 1.5)
    of_doubles[1, 4](d, 1.5)
    assert d.copy_to_host().tolist() == [1.5] * 4
    assert types.typeof(d) == types.typeof(np.zeros(4)) and types.typeof(cuda.to_device(np.zeros((2, 3), order="F"))).layout == "F"
    assert types.typeof(d[::2]).layout == "A" and add.specialize(np.zeros(1), 1.5) is of_doubles
    for foreign in (Foreign(d, interface) for interface in ([False] if device == "cpu" else [False, True])):
        assert add.specialize(foreign, 1.5) is of_doubles
    with pytest.raises(TypeError):
        add.specialize(object(), 1.5)


def test_tensors_of_the_host_are_arrays_of_the_cpu_device():
    """DLPack without an interface, as PyTorch's tensors have: kernels take the memory as it is, to_device a copy of it."""
    @cuda.jit
    def increment(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    host = np.arange(6.0)
    tensor = Foreign(host)
    increment[1, 8](tensor)
    assert host.tolist() == [1, 2, 3, 4, 5, 6]
    view, copied = cuda.as_cuda_array(tensor), cuda.to_device(tensor)
    same = cuda.to_device(tensor, copy=False)
    host[0] = 10
    assert view.copy_to_host()[0] == same.copy_to_host()[0] == 10 and copied.copy_to_host()[0] == 1
    d = cuda.device_array(6)
    d.copy_to_device(tensor)
    cuda.to_device(tensor, to=copied)
    assert d.copy_to_host().tolist() == copied.copy_to_host().tolist() == host.tolist()
    increment[1, 8](Foreign(cuda.to_device(host)))
    assert increment.specialize(tensor) is increment.specialize(host)


def test_clocks(device):
    @cuda.jit
    def took(a, out):
        start = cuda.clock64()
        for _ in range(100):
            a[0] += 1
        out[0] = cuda.clock64() - start
        out[1] = cuda.clock() - start

    out = np.zeros(2, np.int64)
    took[1, 1](np.zeros(1), out)
    assert 0 < out[0] <= out[1]


def test_facts_of_one_signature():
    one = cuda.jit("void(float32[::1])")(lambda a: None)
    several = cuda.jit(["void(float32[::1])", "void(int32[::1])"])(lambda a: None)
    overload, = one.overloads.values()
    assert "define " in overload.inspect_llvm() and "quern" in overload.inspect_asm()
    assert isinstance(one.get_shared_mem_per_block(), int) and isinstance(one.get_regs_per_thread(), int)
    assert len(several.get_shared_mem_per_block()) == 2 and isinstance(several.get_local_mem_per_thread((int32[::1],)), int)


class Doubled:
    """Numbers are doubled, arrays travel to the device alone."""

    def __init__(self, log):
        self.log = log

    def prepare_args(self, ty, value, stream=None, retr=None):
        self.log.append((str(ty), stream))
        retr.append(lambda: self.log.append("behind"))
        return ty, wrap_arg(value * 2 if isinstance(value, int) else value, default=cuda.In)


def test_C06_extensions(device):
    log = []

    @cuda.jit
    def fill(a, x):
        a[cuda.grid(1)] = x

    a = np.zeros(2, np.int64)
    d = cuda.to_device(a)
    fill.extensions.append(Doubled(log))
    fill[1, 2](a, 4)
    fill[1, 2](d, x=4)
    assert a.tolist() == [0, 0] and d.copy_to_host().tolist() == [8, 8]
    assert log[1] == ("int64", 0) and log.count("behind") == 4
    stream = cuda.stream()
    fill[1, 2, stream](d, 5)
    assert log[-3][1] == stream and d.copy_to_host().tolist() == [10, 10]
    fill.extensions.clear()
    fill[1, 2](a, 4)
    assert a.tolist() == [4, 4]

    class Last:
        def prepare_args(self, ty, value, **kwargs):
            return ty, value + 1 if isinstance(value, int) else value

    @cuda.jit(extensions=[Doubled([]), Last()])
    def both(a, x):
        a[0] = x

    both[1, 1](d, 3)
    assert d[0] == 8  # the last is asked first


def test_extensions_and_arguments_by_name(device):
    """Those that can be given by name alone, too."""
    log = []

    @cuda.jit(extensions=[Doubled(log)])
    def add(a, *, x=1, y=10):
        a[cuda.grid(1)] += x + y

    d = cuda.to_device(np.zeros(3))
    add[1, 3](a=d, y=3)
    add[1, 3](d, x=2)
    add[1, 3](d)
    assert d.copy_to_host().tolist() == [7 + 14 + 11] * 3
    assert [t for t, _ in (entry for entry in log if entry != "behind")].count("int64") == 2
    with pytest.raises(TypeError):
        add[1, 3](d, z=2)


def test_extensions_that_fail():
    class Bad:
        def prepare_args(self, ty, value, stream, retr):
            raise KeyError("no")

    class Later:
        def prepare_args(self, ty, value, stream, retr):
            retr.append(lambda: 1 // 0)
            return ty, value

    kernel = cuda.jit(lambda a: None)
    kernel.extensions.append(Bad())
    with pytest.raises(KeyError):
        kernel[1, 1](np.zeros(1))
    kernel.extensions[:] = [Later()]
    with pytest.raises(ZeroDivisionError):
        kernel[1, 1](np.zeros(1))


def test_C08_callbacks_and_attributes_of_launches(device):
    @cuda.jit
    def count(a):
        a[0] += 1

    seen = []
    launch = count[(2, 3), 4, 0, 16]
    assert (launch.griddim, launch.blockdim, launch.stream, launch.sharedmem) == ((2, 3, 1), (4, 1, 1), 0, 16)
    assert launch.dispatcher is count
    stream = cuda.stream()
    assert count[1, 1, stream].stream == stream
    launch = count[1, 1]
    launch.pre_launch_callbacks.append(lambda kernel, config: seen.append((kernel is count, config.griddim)))
    a = cuda.to_device(np.zeros(1))
    launch(a)
    count[1, 1](a)
    count[1, 2](a)
    assert seen == [(True, (1, 1, 1))] * 2 and a[0] >= 3


def test_pickling_of_kernels_that_are_no_names():
    @cuda.jit(device=True)
    def inner(x):
        return x + 1

    @cuda.jit
    def lazy(a):
        a[0] = inner(a[0])

    @cuda.jit("void(int64[::1])", fastmath=True)
    def eager(a):
        a[0] = inner(a[0])

    for kernel in (lazy, eager):
        again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(kernel))))
        a = np.array([100])
        again[1, 1](a)
        assert a[0] == 101 and again.specialized == kernel.specialized
        assert again.targetoptions["fastmath"] == kernel.targetoptions["fastmath"]
        launch = pickle.loads(pickle.dumps(again[5, (8, 2), 0, 32]))
        assert (launch.griddim, launch.blockdim, launch.sharedmem) == ((5, 1, 1), (8, 2, 1), 32)
    launch = lazy[1, 2]
    launch.pre_launch_callbacks.append(print)
    with pytest.raises(pickle.PicklingError, match="pre-launch callbacks"):
        pickle.dumps(launch)
    with pytest.raises(pickle.PicklingError, match="stream"):
        pickle.dumps(lazy[1, 1, cuda.stream()])


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (33, 31), (70, 5), (0, 4)])
def test_H15_transpose(device, shape):
    for dtype in (np.float64, np.bool_, np.complex64, np.dtype([("i", "i4"), ("x", "f4")])):
        host = np.zeros(shape, dtype)
        host.view(np.uint8).ravel()[:] = np.arange(host.nbytes) % 2
        a = cuda.to_device(host)
        b = cuda.device_array(shape[::-1], dtype)
        assert transpose(a, b) is b and (b.copy_to_host() == host.T).all()
        assert (transpose(a).copy_to_host() == host.T).all()
    with pytest.raises(ValueError, match="two axes"):
        transpose(cuda.to_device(np.zeros(3)))
    with pytest.raises(ValueError, match="the result has shape"):
        transpose(cuda.to_device(np.zeros((2, 3))), cuda.device_array((2, 3)))


def test_options_out_of_range():
    for value, text in ((150, "between -1 and 100"), (-2, "between -1 and 100"), ("some", "Invalid carveout"), (1.5, "Invalid carveout")):
        with pytest.raises(ValueError, match=text):
            cuda.jit(shared_memory_carveout=value)(lambda: None)
    with pytest.raises(ValueError, match="Got 4 launch bounds"):
        cuda.jit(launch_bounds=(128, 2, 4, 8))(lambda: None)
    cuda.jit(launch_bounds=(128, 2, 1))
    assert ".target sm_90" in cuda.compile_ptx(lambda: None, "void()", cc=(9, 0, "a"))[0]
