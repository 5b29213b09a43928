"""numpy.memmap: an array like any other whose memory is a file. Other subclasses of ndarray stay refused."""
import numpy as np
import pytest

from quern import cuda, errors, float64, jit, njit, vectorize

DATA = np.arange(12.0)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.bin"
    DATA.tofile(file)
    return file


def total(a):
    s = 0.0
    for i in range(a.size):
        s += a[i]
    return s


def double(a):
    for i in range(a.size):
        a[i] *= 2
    return a


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_read_in_a_function(path, mode):
    f = njit(total)
    a = np.memmap(path, np.float64, mode)
    for _ in range(3):
        assert f(a) == 66 and f(DATA) == 66
    assert len(f.signatures) == (2 if mode == "r" else 1)  # a read-only array is a type of its own


def test_written_in_a_function(path):
    f = njit(double)
    a = np.memmap(path, np.float64, "r+")
    for n in range(3):
        assert f(a) is a and f(a[:0]) is not None
    a.flush()
    assert (np.fromfile(path) == DATA * 8).all()
    private = np.memmap(path, np.float64, "c")
    assert f(private) is private and (private == DATA * 16).all() and (np.fromfile(path) == DATA * 8).all()


def test_a_read_only_map_is_a_read_only_array(path):
    a = np.memmap(path, np.float64, "r")
    assert total(a) == njit(total)(a)
    with pytest.raises(errors.TypingError, match="cannot write to the read-only readonly float64|read-only"):
        njit(double)(a)
    assert njit(lambda a: a)(a) is a


def test_views_keep_the_map_alive(path):
    f = njit(lambda a: a[2:5])
    view = f(np.memmap(path, np.float64, "r+"))
    assert type(view) is np.ndarray and type(view.base) is np.memmap and view.flags.writeable
    assert view.tolist() == [2, 3, 4]
    assert not f(np.memmap(path, np.float64, "r")).flags.writeable


@pytest.mark.parametrize("order", "CF")
def test_axes_and_strides(path, order):
    a = np.memmap(path, np.float64, "r+", shape=(3, 4), order=order)
    plain = np.array(a, order=order)
    f = njit(lambda a: a[2, 1] * 100 + a[1, 3])
    assert f(a) == f(plain) and f(a[:, ::-1]) == f(plain[:, ::-1])
    assert f(a.T[::-1, ::-1].T) == f(plain.T[::-1, ::-1].T)
    unaligned = np.memmap(path, np.int32, "r", offset=3, shape=(4,))
    assert not unaligned.flags.aligned and njit(lambda a: a[1])(unaligned) == int(unaligned[1])


def test_in_a_tuple_and_declared(path):
    a = np.memmap(path, np.float64, "r+")
    assert njit(lambda t: t[0][3] + t[1])((a, 2)) == 5
    eager = njit("float64(float64[::1])")(total)
    assert eager(a) == 66
    assert njit(float64[:](float64[:]))(double)(a) is a


def test_jit_compiles_it(path, recwarn):
    assert jit(total)(np.memmap(path, np.float64, "r")) == 66 and not recwarn.list


def test_ufunc(path):
    @vectorize
    def f(x, y):
        return x * y

    a = np.memmap(path, np.float64, "r")
    assert (f(a, 2) == DATA * 2).all() and (f(a, a) == DATA ** 2).all()


def test_device_ufunc(device, path):
    @vectorize(["float64(float64, float64)"], target="cuda")
    def f(x, y):
        return x * y

    a = np.memmap(path, np.float64, "r")
    out = np.memmap(path, np.float64, "r+")
    assert (f(a, a) == DATA ** 2).all()
    assert f(a, 3.0, out=out) is out
    assert (np.fromfile(path) == DATA * 3).all()


def test_kernel(device, path):
    @cuda.jit
    def scale(x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = 2 * x[i] + 1

    a = np.memmap(path, np.float64, "r")
    b = np.memmap(path, np.float64, "r+")
    y = np.zeros(12)
    for _ in range(2):
        scale[2, 8](a, y)
        assert (y == 2 * DATA + 1).all()
    scale[2, 8](a, b)  # one file, two maps
    assert (np.fromfile(path) == 2 * DATA + 1).all()
    with pytest.raises(TypeError, match="read-only"):
        scale[2, 8](y, a)
    scale[2, 8](y, y)


def test_copy_to_the_device(device, path):
    a = np.memmap(path, np.float64, "r+")
    d = cuda.to_device(a)
    assert (d.copy_to_host() == DATA).all()

    @cuda.jit
    def increment(x):
        x[cuda.grid(1)] += 1

    increment[1, 12](d)
    d.copy_to_host(a)
    assert (np.fromfile(path) == DATA + 1).all()


class Own(np.memmap):
    pass


def test_other_subclasses_stay_refused(device, path):
    @cuda.jit
    def k(a):
        a[0] = 1

    for array in (np.ma.array([1.0]), np.memmap(path, np.float64, "r+").view(Own)):
        for call in (njit(lambda a: a.size), k[1, 1]):
            with pytest.raises(errors.TypingError, match=r"subclass of numpy.ndarray.*pass np\.asarray\(a\)"):
                call(array)
