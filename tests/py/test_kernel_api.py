"""Kernels seen from the host: configuration, arguments, device arrays, streams, devices, ufuncs on the device.
Every test that takes `device` runs on each device present."""
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

import quern
from quern import _quern, cuda, errors, float32, float64, hip, int32, njit, vectorize


@cuda.jit
def scale(a, k):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * k


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = a * x[i] + y[i]


# -- configuration ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [(2, 4), ((2,), (4,)), ((2, 1), (4, 1, 1)), (np.int64(2), np.int32(4)),
                                    (2, 4, 0), (2, 4, 0, 0), (np.uint8(8), 1), ([2], [4])], ids=str)
def test_C04_forms_of_a_configuration(device, config):
    a = np.arange(8.0)
    scale[config](a, 3.0)
    assert (a == np.arange(8) * 3.0).all()


@pytest.mark.parametrize("config, error", [
    (2, ValueError), ((2,), ValueError), ((1, 2, 0, 0, 0), ValueError), ((0, 4), ValueError), ((4, 0), ValueError),
    ((-1, 4), ValueError), ((1, 2.5), TypeError), ((1.0, 4), TypeError), (((1, 1, 1, 1), 2), ValueError),
    (((), 2), ValueError), ((2**70, 1), ValueError), ((1, 10**6), ValueError), (("a", 2), TypeError),
    ((True, 1), TypeError), ((1, 1, "stream"), TypeError), ((1, 1, 0, -5), ValueError)], ids=str)
def test_CUH_01_wrong_configurations(device, config, error):
    with pytest.raises(error):
        scale[config]
    a = np.ones(2)
    scale[1, 2](a, 2.0)
    assert (a == 2).all()


def test_a_configuration_is_kept():
    assert scale[3, 32] is scale[3, 32] and scale[3, 32] is not scale[3, 64]
    ref = weakref.ref(cuda.jit(lambda a: None))
    gc.collect()
    assert ref() is None
    kernel = cuda.jit(lambda a: None)
    kernel[1, 1], kernel[2, 2]
    ref = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert ref() is None


def test_a_kernel_needs_a_configuration():
    with pytest.raises(TypeError, match=r"scale\[blocks_per_grid, threads_per_block\]"):
        scale(np.zeros(3), 1.0)
    with pytest.raises(ValueError):
        scale()


def test_forall(device):
    for n in (0, 1, 5, 1000):
        a = np.ones(n)
        scale.forall(n)(a, 4.0)
        assert (a == 4).all()
        scale.forall(n, tpb=32)(a, 0.5)
        assert (a == 2).all()
    with pytest.raises(ValueError):
        scale.forall(-1)


# -- arguments ---------------------------------------------------------------------------------------------------


def test_C05_keywords_and_defaults(device):
    @cuda.jit
    def f(out, a, b=10):
        out[0] = a * 100 + b

    out = np.zeros(1, int)
    f[1, 1](out, 2)
    assert out[0] == 210
    f[1, 1](out, b=3, a=4)
    assert out[0] == 403
    with pytest.raises(TypeError, match="missing"):
        f[1, 1](out)
    with pytest.raises(TypeError, match="were given"):
        f[1, 1](out, 1, 2, 3)


def test_weak_scalars_keep_arrays_single(device):
    x, y = np.arange(5, dtype="f4"), np.ones(5, "f4")
    axpy[1, 8](2.0, x, y)
    assert (y == 2 * x + 1).all()


@pytest.mark.parametrize("value", [np.int8(-3), np.uint16(9), np.float32(1.5), np.complex64(1 + 2j), True, 2.5, 1j,
                                   np.bool_(True)], ids=repr)
def test_CUH_21_scalar_arguments(device, value):
    @cuda.jit
    def store(out, v):
        out[0] = v

    out = np.zeros(1, complex if isinstance(value, (complex, np.complexfloating)) else float)
    store[1, 1](out, value)
    assert out[0] == value


def test_tuples_of_arrays_and_scalars(device):
    @cuda.jit
    def f(out, parts):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = parts[0][i] * parts[1] + parts[2][0][i]

    out, a, b = np.zeros(4), np.arange(4.0), np.full(4, 100.0)
    f[1, 4](out, (a, 3, (b,)))
    assert (out == a * 3 + b).all()


def test_more_arrays_than_there_is_room_for_at_first(device):
    names = [f"a{k}" for k in range(70)]
    space = {"cuda": cuda}
    exec(f"def k(out, {', '.join(names)}):\n i = cuda.grid(1)\n out[i] = {' + '.join(f'{n}[i]' for n in names)}\n", space)
    out = np.zeros(3)
    cuda.jit(space["k"])[1, 3](out, *(np.full(3, 10.0 * k) for k in range(70)))
    assert (out == 10.0 * sum(range(70))).all()


def test_strided_and_read_only_hosts(device):
    base = np.zeros((6, 8))
    scale[1, 16](base[1, ::2], 2.0)
    base[:] = 1
    scale[1, 16](base[1, ::2], 2.0)
    assert (base[1, ::2] == 2).all() and base.sum() == 6 * 8 + 4
    x = np.arange(4.0)
    x.flags.writeable = False
    y = np.ones(4)
    axpy[1, 4](2.0, x, y)
    assert (y == 2 * np.arange(4) + 1).all()
    with pytest.raises((TypeError, ValueError)):
        scale[1, 4](x, 2.0)
    assert (x == np.arange(4)).all()


def test_refused_arguments(device):
    for value in ["text", [1.0], {}, object(), np.array(["x"]), np.zeros(3, ">f8")]:
        with pytest.raises(TypeError):
            scale[1, 1](value, 1.0)
    with pytest.raises(OverflowError):
        scale[1, 1](np.zeros(1), 2**70)


def test_C01_eager_signatures(device):
    @cuda.jit("void(float32[:], float32)")
    def f(a, k):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = k

    a = np.zeros(3, "f4")
    f[1, 4](a, 2)
    assert (a == 2).all()
    f[1, 4](np.zeros(6, "f4")[::2], 2.5)
    with pytest.raises(TypeError, match="No matching definition"):
        f[1, 4](np.zeros(3), 2)

    @cuda.jit([(float32[:],), (float64[:],)])
    def g(a):
        a[0] = 1

    for kind in ("f4", "f8"):
        a = np.zeros(2, kind)
        g[1, 1](a)
        assert a[0] == 1
    assert len(g.signatures) == 2
    with pytest.raises(TypeError):
        g[1, 1](np.zeros(2, "i4"))


def test_C03_device_functions(device):
    @cuda.jit(device=True)
    def twice(x):
        return 2 * x

    def plain(x):
        return x + 1

    cpu = njit(lambda x: x * 10)

    @cuda.jit
    def f(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = cpu(twice(plain(a[i])))

    a = np.arange(4.0)
    f[1, 4](a)
    assert (a == (np.arange(4) + 1) * 20).all()
    with pytest.raises((TypeError, RuntimeError), match="device function"):
        twice(1)
    with pytest.raises((TypeError, RuntimeError), match="device function"):
        twice[1, 1]


def test_kernels_do_not_return():
    with pytest.raises(errors.TypingError, match="return"):
        cuda.jit(lambda a: a[0])[1, 1](np.zeros(1))


def test_names_of_kernels_on_the_host():
    for name in (cuda.grid, cuda.syncthreads, cuda.atomic.add, cuda.shared.array):
        with pytest.raises(TypeError, match="inside a kernel"):
            name(1)
    assert repr(cuda.threadIdx.x) == "<cuda.threadIdx.x>"
    assert pickle.loads(pickle.dumps(cuda.threadIdx)) is cuda.threadIdx
    for name in ("threadIdx", "threadIdx.y", "grid", "atomic.add", "float32x3", "ldca", "cg.this_grid"):
        outer, _, inner = name.partition(".")
        for module, kind in ((cuda, "cuda"), (hip, "hip")):
            thing = getattr(getattr(module, outer), inner) if inner else getattr(module, outer)
            assert repr(thing).startswith(f"<{kind}.") and pickle.loads(pickle.dumps(thing)) is thing


def test_options():
    cuda.jit(max_registers=32, fastmath=True, lineinfo=True, opt=True, cache=True, inline="always")(lambda a: None)
    with pytest.raises(TypeError, match="did you mean max_registers"):
        cuda.jit(max_register=3)
    with pytest.raises(TypeError, match="compiled already"):
        cuda.jit(scale)


def test_pickling():
    assert pickle.loads(pickle.dumps(scale)) is scale


def test_inspection(device):
    scale[1, 1](np.ones(1), 1.0)
    assert scale.signatures and "define" in next(iter(scale.inspect_llvm().values()))
    assembly = next(iter(scale.inspect_asm().values()))
    assert (".entry" in assembly) if device == "cuda" else assembly
    assert len(scale.inspect_lto_ptx()) == len(scale.inspect_asm())
    assert next(iter(scale.get_max_threads_per_block().values())) >= 32


# -- device arrays ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", [np.arange(6.0), np.arange(6, dtype="i2").reshape(2, 3), np.zeros((0, 3)),
                                  np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(7.0),
                                  np.arange(12.0)[::2], np.arange(3) > 1, np.arange(2) * 1j], ids=repr)
def test_H01_to_device_and_back(device, host):
    d = cuda.to_device(host)
    assert d.shape == host.shape and d.dtype == host.dtype and d.ndim == host.ndim and d.size == host.size
    assert d.nbytes == host.nbytes
    back = d.copy_to_host()
    assert back.dtype == host.dtype and (back == host).all() and back is not host
    out = np.empty_like(host)
    assert d.copy_to_host(out) is out and (out == host).all()
    assert (np.asarray(d) == host).all()


def test_H02_allocation(device):
    a = cuda.device_array((3, 4), np.float32)
    assert a.shape == (3, 4) and a.strides == (16, 4) and a.is_c_contiguous()
    f = cuda.device_array((3, 4), np.float32, order="F")
    assert f.strides == (4, 12) and f.is_f_contiguous() and not f.is_c_contiguous()
    like = cuda.device_array_like(f)
    assert like.strides == f.strides and like.dtype == f.dtype
    assert cuda.device_array(5).dtype == np.float64 and cuda.device_array(0).size == 0
    for bad in [(-1,), (2**40, 2**40), (2**62,)]:
        with pytest.raises(ValueError):
            cuda.device_array(bad)
    for bad in (">f8", object):
        with pytest.raises(TypeError, match="cannot lie on a device"):
            cuda.device_array(3, bad)
    for make in (cuda.device_array, cuda.pinned_array):
        with pytest.raises(ValueError, match="the order of an array is 'C' or 'F', not 'Z'"):
            make(3, order="Z")
    with pytest.raises(TypeError, match="an array is expected, not an object of type 'list'"):
        cuda.device_array_like([1, 2])


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (1, 5, 1), (0, 3), (3, 0, 2), (), (4,), (2, 3)])
def test_R20_contiguity_is_numpys(device, shape):
    for order in "CF":
        host = np.zeros(shape, order=order)
        d = cuda.to_device(host)
        for key in (..., np.s_[..., None], np.s_[None]):
            want, got = host[key].flags, d[key].flags
            assert [got[f] for f in ("C_CONTIGUOUS", "F_CONTIGUOUS")] == [want.c_contiguous, want.f_contiguous]
            assert (d[key].is_c_contiguous(), d[key].is_f_contiguous()) == (want.c_contiguous, want.f_contiguous)
    if 0 not in shape and max(shape + (1,)) == host.size:  # both orders: either way is a view
        assert [d.reshape(-1, order=o).shape for o in "CFA"] == [(host.size,)] * 3


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[:, ::2], np.s_[:, :, ::-1], np.s_[::-1, ::-1, ::-1], np.s_[1:, 1:, 1:],
                                  np.s_[:, 1], np.s_[..., None], np.s_[:2, None, 1:]])
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
def test_R20_like_keeps_the_order_of_a_view(device, view, axes):
    host = np.zeros((3, 4, 5), np.float32).transpose(axes)[view]
    want = np.empty_like(host)
    on_device = cuda.to_device(np.zeros((3, 4, 5), np.float32)).transpose(axes)[view]
    for made in (cuda.device_array_like(host), cuda.device_array_like(on_device), cuda.pinned_array_like(host),
                 cuda.mapped_array_like(on_device)):
        assert (made.shape, made.strides, made.dtype) == (want.shape, want.strides, want.dtype)
    broadcast = np.broadcast_to(np.zeros((4, 1)), (2, 4, 5))
    assert cuda.device_array_like(broadcast).strides == np.empty_like(broadcast).strides


def test_R20_the_interface_names_the_stream(device):
    s = cuda.stream()
    made = [cuda.device_array((2, 3), stream=s), cuda.to_device(np.zeros((2, 3)), stream=s),
            cuda.device_array_like(np.zeros((2, 3))[:, ::2], stream=s)]
    plain = cuda.to_device(np.zeros((2, 3)))
    if device != "cuda":
        return
    number = s.handle
    assert number not in (0, 1, 2) and plain.__cuda_array_interface__["stream"] is None
    del s
    gc.collect()  # an array keeps its stream
    for a in made:
        for b in (a, a[0], a.T, a.view(np.int64)):
            assert b.__cuda_array_interface__["stream"] == number
        assert cuda.as_cuda_array(_With(a.__cuda_array_interface__)).__cuda_array_interface__["stream"] == number

    legacy = {**plain.__cuda_array_interface__, "stream": 1}
    assert cuda.as_cuda_array(_With(legacy), sync=False).__cuda_array_interface__["stream"] == 1
    assert cuda.from_cuda_array_interface(legacy).shape == (2, 3)
    with pytest.raises(ValueError, match="a stream is not 0"):
        cuda.as_cuda_array(_With({**legacy, "stream": 0}))
    with pytest.raises(TypeError, match="a stream is expected"):
        cuda.as_cuda_array(_With({**legacy, "stream": "one"}))


class _With:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


def test_H04_indexing(device):
    host = np.arange(60.0).reshape(3, 4, 5)
    d = cuda.to_device(host)
    for key in [0, -1, np.s_[1:], np.s_[:, ::2], np.s_[..., 1], np.s_[1, 2], np.s_[::-1, 1:3, ::-2], np.s_[None, 1],
                np.s_[5:], (), np.s_[1, 2, 3], np.s_[-1, -1, -1]]:
        assert (np.asarray(d[key]) == host[key]).all(), key
    assert type(d[1, 2, 3]) is np.float64 and len(d) == 3
    for bad in [5, (0, 0, 0, 0), 1.5, [0, 1], np.array([0]), "x", True]:
        with pytest.raises((IndexError, TypeError)):
            d[bad]


def test_H04_assignment(device):
    host = np.zeros((3, 4))
    d = cuda.to_device(host)
    for key, value in [(0, 5), (np.s_[1, 1:], [1, 2, 3]), (np.s_[:, 0], np.arange(3)), (np.s_[2, 3], 9),
                       (np.s_[::2, ::2], 7.5)]:
        host[key] = value
        d[key] = value
        assert (d.copy_to_host() == host).all()
    d[1] = d[0]
    assert (d.copy_to_host()[1] == host[0]).all()
    with pytest.raises(ValueError):
        d[0] = [1, 2, 3]


def test_H04_shape_methods(device):
    host = np.arange(24.0).reshape(2, 3, 4)
    d = cuda.to_device(host)
    assert (d.T.copy_to_host() == host.T).all() and (d.transpose((1, 0, 2)).copy_to_host() == host.transpose((1, 0, 2))).all()
    assert (d.reshape(6, 4).copy_to_host() == host.reshape(6, 4)).all() and d.ravel().shape == (24,)
    assert d.reshape(-1).shape == (24,) and d[:1].squeeze().shape == (3, 4)
    assert (d.view(np.int64).copy_to_host() == host.view(np.int64)).all()
    with pytest.raises(NotImplementedError):
        d[:, ::2].reshape(-1)
    parts = d.ravel().split(10)
    assert [p.size for p in parts] == [10, 10, 4] and parts[2][3] == 23


def test_views_share_memory_and_keep_it(device):
    d = cuda.to_device(np.zeros(8))
    part = d[2:6]
    scale[1, 8](part, 2.0)
    part[:] = 3.0
    scale[1, 8](part, 2.0)
    assert d.copy_to_host().tolist() == [0, 0, 6, 6, 6, 6, 0, 0]
    del d
    gc.collect()
    assert part.copy_to_host().tolist() == [6] * 4


def test_C06_which_way_arguments_travel(device):
    a = np.arange(4.0)
    scale[1, 4](cuda.In(a), 2.0)
    assert a.tolist() == [0, 1, 2, 3]  # what the kernel wrote stays on the device
    scale[1, 4](cuda.InOut(a), 2.0)
    assert a.tolist() == [0, 2, 4, 6]
    scale[1, 4](cuda.Out(a), 2.0)
    assert a.tolist() == [0, 4, 8, 12]
    out = np.zeros(4)
    axpy[1, 4](2.0, cuda.In(a[::-1]), cuda.InOut(out))
    assert out.tolist() == [24, 16, 8, 0]


def test_H01_copy_to_device(device):
    d = cuda.to_device(np.zeros((2, 3)))
    d.copy_to_device(np.arange(6.0).reshape(2, 3))
    assert d.copy_to_host()[1, 2] == 5
    d.T.copy_to_device(np.ones((3, 2)))
    assert (d.copy_to_host() == 1).all()
    other = cuda.device_array_like(d)
    other.copy_to_device(d)
    assert (other.copy_to_host() == 1).all()
    with pytest.raises(ValueError):
        d.copy_to_device(np.zeros((3, 3)))
    with pytest.raises(TypeError):
        d.copy_to_device(np.zeros((2, 3), "f4"))
    with pytest.raises(ValueError):
        d.copy_to_host(np.zeros((3, 2)))
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        d.copy_to_host(frozen)


def test_H09_cuda_array_interface(device):
    d = cuda.to_device(np.arange(12.0).reshape(3, 4))
    if device != "cuda":
        assert cuda.is_cuda_array(d) == (device == "hip")
        return
    view = d[:, ::2]
    interface = view.__cuda_array_interface__
    assert interface["shape"] == (3, 2) and interface["strides"] == (32, 16) and interface["version"] == 3

    class Foreign:
        __cuda_array_interface__ = interface

    foreign = Foreign()
    alias = cuda.as_cuda_array(foreign)
    assert (alias.copy_to_host() == np.arange(12.0).reshape(3, 4)[:, ::2]).all()
    row = d[1]

    class Row:
        __cuda_array_interface__ = row.__cuda_array_interface__

    scale[1, 4](Row(), 10.0)
    assert (row.copy_to_host() == np.arange(4, 8) * 10).all()
    ref = weakref.ref(foreign)
    del foreign
    gc.collect()
    assert ref() is not None
    del alias
    gc.collect()
    assert ref() is None


def test_pinned_and_mapped(device):
    p = cuda.pinned_array((3, 4), np.float32)
    assert isinstance(p, np.ndarray) and p.shape == (3, 4) and p.flags.c_contiguous
    p[:] = 2
    d = cuda.to_device(p)
    assert (d.copy_to_host() == 2).all()
    with cuda.pinned(np.zeros(3)):
        pass
    assert cuda.mapped_array_like(np.zeros((2, 2))).shape == (2, 2)


def test_strides_of_pinned_and_mapped_arrays(device):
    """numba.cuda's parameters and their order: shape, dtype, strides, order."""
    for make in (cuda.pinned_array, cuda.mapped_array):
        a = make((3, 4), np.float32, (-32, 8), "C")
        assert a.strides == (-32, 8) and a.flags.writeable and a.flags.aligned
        a[:] = np.arange(12).reshape(3, 4)
        assert (cuda.to_device(a).copy_to_host() == a).all() and a.sum() == 66
        f = make((2, 3), np.int16, None, "F")
        assert f.flags.f_contiguous and make((2, 3), order="F").flags.f_contiguous and make(3).flags.c_contiguous
        for strides in ((4,), (1 << 62, 1 << 62)):
            with pytest.raises(ValueError):
                make((3, 4), np.float32, strides)


def test_device_arrays_do_not_go_to_the_cpu_compiler(device):
    with pytest.raises(TypeError, match="device memory"):
        njit(lambda a: a[0])(cuda.to_device(np.zeros(2)))


def test_memory_is_given_back(device):
    info = cuda.get_current_device().memory_info
    cuda.to_device(np.zeros(1000))
    gc.collect()
    before = info()["in_use"]
    for _ in range(20):
        cuda.to_device(np.zeros(100_000))[5:].copy_to_host()
    gc.collect()
    assert info()["in_use"] == before


# -- streams, events, devices ------------------------------------------------------------------------------------------


def test_H05_streams(device):
    s = cuda.stream()
    d = cuda.to_device(np.arange(100.0), stream=s)
    scale[4, 32, s](d, 2.0)
    out = d.copy_to_host(stream=s)
    s.synchronize()
    assert (out == np.arange(100) * 2).all() and s.query()
    with s.auto_synchronize() as same:
        assert same is s
        scale[4, 32, s](d, 0.5)
    assert (d.copy_to_host() == np.arange(100)).all()
    seen = []
    s.add_callback(lambda stream, status, arg: seen.append((stream is s, status, arg)), "data")
    s.synchronize()
    for _ in range(200):
        if seen:
            break
        quern.cuda.synchronize()
    assert seen == [(True, 0, "data")]
    assert isinstance(int(s), int) and cuda.default_stream().query()


def test_H06_events(device):
    start, end = cuda.event(), cuda.event()
    start.record()
    scale[1, 32](cuda.to_device(np.ones(32)), 2.0)
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0 and cuda.event_elapsed_time(start, end) >= 0
    start.wait()


@pytest.mark.parametrize("how", ["stream", "event"])
def test_H06_synchronize_waits(device, how):
    @cuda.jit
    def slow(a):
        for k in range(200000):
            a[cuda.grid(1)] = a[cuda.grid(1)] * 0.5 + k

    stream, event = cuda.stream(), cuda.event()
    a = cuda.to_device(np.ones(32), stream=stream)
    slow[1, 32, stream](a)
    event.record(stream)
    (stream if how == "stream" else event).synchronize()
    assert event.query()


def test_H07_devices(device):
    current = cuda.get_current_device()
    assert current.kind == device and isinstance(current.name, str)
    assert current.MAX_THREADS_PER_BLOCK >= 64 and current.WARP_SIZE in (1, 32, 64)
    assert len(cuda.gpus) >= 1 and cuda.gpus[current.id] == current
    with cuda.gpus[0] as selected:
        assert selected.id == 0
    with pytest.raises(IndexError):
        cuda.gpus[99]
    with pytest.raises(ValueError):
        cuda.select_device(99)
    assert cuda.select_device(current.id) == current
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    assert isinstance(cuda.is_available(), bool) and (cuda.cuda_error() is None) == cuda.is_available()
    cuda.synchronize()


def test_cpu_device_takes_the_place_of_a_missing_driver():
    program = textwrap.dedent("""
        import warnings, numpy as np
        from quern import cuda, errors
        assert not cuda.is_available() and "nowhere" in cuda.cuda_error()
        @cuda.jit
        def f(a): a[cuda.grid(1)] = 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            a = np.zeros(4)
            f[1, 4](a)
            f[1, 4](a)
        print(a.sum(), [w.category.__name__ for w in caught], cuda.get_current_device().kind)
    """)
    env = {**os.environ, "QUERN_CUDA_LIBRARY": "/nowhere/libcuda.so.1"}
    env.pop("QUERN_DEVICE", None)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env)
    assert result.stdout == "4.0 ['DeviceWarning'] cpu\n", result.stderr
    env["QUERN_DEVICE"] = "cuda"
    program = "import numpy as np\nfrom quern import cuda\ncuda.to_device(np.zeros(2))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env)
    assert result.returncode == 1 and "CudaSupportError" in result.stderr and "/nowhere/libcuda.so.1" in result.stderr


# -- ufuncs and reductions on the device ------------------------------------------------------------------------------------


def test_H14_vectorize_for_cuda(device):
    @vectorize(["int64(int64, int64)", "float32(float32, float32)"], target="cuda")
    def add(x, y):
        return x + y

    a = np.arange(1000)
    result = add(a, a)
    assert isinstance(result, np.ndarray) and result.dtype == np.int64 and (result == 2 * a).all()
    assert add(a.astype("f4"), a.astype("f4")).dtype == np.float32
    assert add(a.astype("i1"), 5).dtype == np.int64 and add(2, 3) == 5
    with pytest.raises(TypeError, match="no signature"):
        add(a * 1j, a)
    d = cuda.to_device(a)
    result = add(d, d)
    assert isinstance(result, cuda.DeviceNDArray) and (result.copy_to_host() == 2 * a).all()
    out = cuda.device_array_like(d)
    assert add(d, 1, out=out) is out and (out.copy_to_host() == a + 1).all()
    host = np.zeros_like(a)
    assert add(a, a, host) is host and host[9] == 18
    with pytest.raises(ValueError):
        add(a, a, out=np.zeros(3, int))


@pytest.mark.parametrize("shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((5,), ()), ((), ()),
                                    ((0,), (1,)), ((2, 3), (2, 3))], ids=str)
def test_H14_broadcasting(device, shapes):
    f = vectorize(target="cuda")(lambda x, y: x * 10 + y)
    a, b = (np.arange(float(np.prod(s))).reshape(s) for s in shapes)
    assert np.array_equal(f(a, b), a * 10 + b)
    assert np.array_equal(f(a.T, b.T) if len(shapes[0]) == len(shapes[1]) else f(a, b),
                          a.T * 10 + b.T if len(shapes[0]) == len(shapes[1]) else a * 10 + b)
    single = f(a.astype("f4"), 2.0)
    assert single.dtype == np.float32 and np.array_equal(single, (a * 10 + 2).astype("f4"))


def test_H13_reduce(device):
    total = cuda.reduce(lambda x, y: x + y)
    for n in (1, 2, 127, 128, 129, 1000):
        a = np.arange(1.0, n + 1)
        assert total(a) == a.sum()
    a = np.arange(10.0)
    assert total(a, init=100.0) == 145 and total(a, size=3) == 3 and total(cuda.to_device(a)) == 45
    result = cuda.device_array(1)
    assert total(a, res=result) is None and result[0] == 45
    assert cuda.reduce(lambda x, y: max(x, y))(np.array([3, 9, 2], int32.as_dtype)) == 9
    with pytest.raises(TypeError):
        total(np.zeros((2, 2)))


def test_pin_device():
    with pytest.raises(ValueError):
        _quern.pin_device("tpu")
