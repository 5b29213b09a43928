"""numpy.fft in compiled code, beside NumPy."""
import numpy as np
import pytest

from beside import check, compiled
from quern import njit

RNG = np.random.default_rng(5)
Z = RNG.normal(size=(4, 6, 5)) + 1j * RNG.normal(size=(4, 6, 5))
R = Z.real.copy()
NORMS = [None, "backward", "ortho", "forward"]
# Every radix alone and with others; lengths that have no small factors, and those that become convolutions.
LENGTHS = [*range(1, 34), 49, 59, 64, 77, 97, 100, 101, 121, 127, 128, 143, 240, 360, 2 * 61, 3 * 67, 256, 509, 1024, 1009, 5**4, 3**6]


def near(got, want, scale=1e-14):
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.abs(got - want).max(initial=0) <= scale * np.abs(want).max(initial=1e-300) + 1e-300


@njit
def all_of(z, r, n):
    return np.fft.fft(z), np.fft.ifft(z), np.fft.rfft(r), np.fft.irfft(z[:n // 2 + 1], n), np.fft.fft(r), np.fft.hfft(z[:n // 2 + 1], n), np.fft.ihfft(r)


@pytest.mark.parametrize("kind,scale", [(np.complex128, 4e-15), (np.complex64, 2e-6)])
def test_lengths(kind, scale):
    for n in LENGTHS:
        z = (RNG.normal(size=n) + 1j * RNG.normal(size=n)).astype(kind)
        r = z.real.copy()
        for got, want in zip(all_of(z, r, n), all_of.py_func(z, r, n)):
            near(got, want, scale)


def test_an_impulse_and_a_constant_are_exact():
    f = njit(lambda a: np.fft.fft(a))
    for n in (1, 2, 8, 12, 30, 53, 128):
        one = np.zeros(n)
        one[0] = 1
        assert np.array_equal(f(one), np.ones(n))
        near(f(np.ones(n)), np.fft.fft(np.ones(n)))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_axes_lengths_and_norms(name):
    a = R if name in ("rfft", "ihfft") else Z
    f = njit(eval(f"lambda a: np.fft.{name}(a, axis=1)"))
    for b in (a, a[::2, ::-1], np.asfortranarray(a)):
        near(f(b), f.py_func(b))
    f = njit(eval(f"lambda a, n, axis: np.fft.{name}(a, n, axis)"))
    for axis in (0, 1, 2, -3):
        for n in (2, 3, 6, 9):
            near(f(a, n, axis), f.py_func(a, n, axis))


@pytest.mark.parametrize("norm", NORMS)
def test_norms(norm):
    f = njit(eval(f"lambda z, r, n: (np.fft.fft(z, norm={norm!r}), np.fft.ifft(z, norm={norm!r}), np.fft.rfft(r, n, norm={norm!r}), np.fft.irfft(z, n, norm={norm!r}))"))
    for got, want in zip(f(Z, R, 7), f.py_func(Z, R, 7)):
        near(got, want)


def test_norms_of_hermitian_lines():
    for norm in NORMS:
        f = njit(eval(f"lambda z, r: (np.fft.hfft(z, norm={norm!r}), np.fft.ihfft(r, norm={norm!r}))"))
        for got, want in zip(f(Z, R), f.py_func(Z, R)):
            near(got, want)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_several_axes(name):
    a = R if name.startswith("r") else Z
    for more in ("", ", axes=(0, 1)", ", s=(5, 4), axes=(1, 2)", ", s=(4, 8), axes=(0, -1)", ", axes=(0, 2), norm='ortho'"):
        f = njit(eval(f"lambda a: np.fft.{name}(a{more})"))
        near(f(a), f.py_func(a))


def test_dtypes():
    for dtype in ("bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128"):
        a = np.array([1, 0, 1, 1, 0, 1]).astype(dtype)
        for name in ("fft", "ifft") if dtype.startswith("complex") else ("fft", "ifft", "rfft"):
            f = njit(eval(f"lambda a: np.fft.{name}(a)"))
            near(f(a), f.py_func(a), 2e-7 if dtype in ("float32", "complex64") else 1e-15)


def test_a_given_array_takes_the_result():
    @njit
    def f(a, out):
        return np.fft.fft(a, out=out)

    out = np.empty(5, complex)
    assert f(Z[0, 0], out) is not None
    near(out, np.fft.fft(Z[0, 0]))
    with pytest.raises(ValueError, match="wrong shape"):
        f(Z[0, 0], np.empty(4, complex))


def test_what_is_empty_or_wrong():
    f = njit(lambda a, n: np.fft.fft(a, n))
    near(f(np.zeros((0, 4)), 4), np.fft.fft(np.zeros((0, 4)), 4))
    for n in (0, -1):
        with pytest.raises(ValueError, match="Invalid number of FFT data points"):
            f(Z, n)
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        njit(lambda a: np.fft.irfft(a))(np.ones(1))
    with pytest.raises(TypeError, match="real numbers"):
        njit(lambda a: np.fft.rfft(a))(Z)
    with pytest.raises(ValueError, match="Invalid norm value"):
        njit(lambda a: np.fft.fft(a, norm="half"))(Z)
    with pytest.raises(ValueError, match="different lengths"):
        njit(lambda a: np.fft.fftn(a, s=(2, 2), axes=(0,)))(Z)
    with pytest.raises(np.exceptions.AxisError):
        njit(lambda a: np.fft.fft(a, axis=3))(Z)


def test_arguments_stay_as_they_are():
    a, before = Z.copy(), Z.copy()
    njit(lambda a: np.fft.fftn(a))(a)
    njit(lambda a: np.fft.irfft(a, 61))(a)
    assert np.array_equal(a, before)


def test_frequencies_and_shifts():
    for source in ("np.fft.fftfreq(n)", "np.fft.fftfreq(n, 0.25)", "np.fft.rfftfreq(n)", "np.fft.rfftfreq(n, d=3)"):
        check(source, [(n,) for n in (1, 2, 5, 8, 9)], arguments="n", exact=False)
    for name in ("fftshift", "ifftshift"):
        for more in ("", ", axes=0", ", axes=(0, 2)", ", axes=-1"):
            check(f"np.fft.{name}(a{more})", [(R,), (Z,), (R[:, ::2],)])


def test_a_spectral_solver():
    """The second derivative of a sine on a ring."""
    @njit
    def f(u):
        k = 2 * np.pi * np.fft.fftfreq(len(u), 1 / len(u))
        return np.fft.ifft(-k * k * np.fft.fft(u)).real

    x = np.arange(64) / 64
    assert np.allclose(f(np.sin(2 * np.pi * x)), -4 * np.pi**2 * np.sin(2 * np.pi * x))


def test_used_by_parallel_loops():
    @njit(parallel=True)
    def f(a):
        out = np.empty(a.shape, np.complex128)
        for i in range(a.shape[0]):
            out[i] = np.fft.fft(a[i])
        return out

    near(f(Z[0]), np.fft.fft(Z[0]))
    assert compiled("np.fft.fft(a)[0]")[1](np.arange(4.0)) == 6
