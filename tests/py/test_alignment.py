"""alignment= of shared and local arrays: the address is a multiple of it, in kernels of every form."""
import numpy as np
import pytest

from quern import cuda, errors, float64, uint8


def addresses(shape, alignment, waiting):
    """Of a shared and of a local array behind others, for each thread of two blocks."""
    if waiting == "nothing":
        @cuda.jit
        def kernel(out, tests):
            before = cuda.shared.array(3, uint8)
            s = cuda.shared.array(shape, uint8, alignment=alignment)
            near = cuda.local.array(1, uint8)
            a = cuda.local.array(shape, float64, alignment)
            i = cuda.grid(1)
            before[0] = near[0] = 1
            out[i, 0] = s.ctypes.data
            out[i, 1] = a.ctypes.data
    elif waiting == "a barrier":
        @cuda.jit
        def kernel(out, tests):
            before = cuda.shared.array(3, uint8)
            s = cuda.shared.array(shape, uint8, alignment=alignment)
            near = cuda.local.array(1, uint8)
            a = cuda.local.array(shape, float64, alignment)
            t, i = cuda.threadIdx.x, cuda.grid(1)
            before[0] = near[0] = 1
            a[0, 0] = t
            s[t // 4, t % 4] = t
            cuda.syncthreads()
            if a[0, 0] + s[(7 - t) // 4, (7 - t) % 4] == 7:      # each thread's own, and the block's
                out[i, 0] = s.ctypes.data
                out[i, 1] = a.ctypes.data
    else:
        @cuda.jit
        def kernel(out, tests):
            near = cuda.local.array(1, uint8)
            a = cuda.local.array(shape, float64, alignment)
            s = cuda.shared.array(shape, uint8, alignment=alignment)
            t, i = cuda.threadIdx.x, cuda.grid(1)
            near[0] = 1
            a[0, 0] = t
            s[t // 4, t % 4] = t
            if tests[t]:                                        # waits where others might not
                cuda.syncthreads()
            if a[0, 0] + s[(7 - t) // 4, (7 - t) % 4] == 7:
                out[i, 0] = s.ctypes.data
                out[i, 1] = a.ctypes.data

    out = np.zeros((16, 2), np.int64)
    kernel[2, 8](out, np.ones(8, np.bool_))
    return out


@pytest.mark.parametrize("alignment", [1, 16, 32, 64, 128, 256, 1024])
@pytest.mark.parametrize("waiting", ["nothing", "a barrier", "some"])
def test_addresses(device, alignment, waiting):
    if device == "hip":
        pytest.skip("addresses of LDS")
    out = addresses((2, 4), alignment, waiting)
    assert out.all() and not (out % max(alignment, 16)).any()


def test_none_is_as_it_comes(device):
    if device == "hip":
        pytest.skip("addresses of LDS")
    out = addresses((2, 4), None, "a barrier")
    assert out.all() and not (out % 16).any()


@pytest.mark.parametrize("where", [cuda.shared, cuda.local])
@pytest.mark.parametrize("alignment", [-1, 0, 3, 17, 33, 2048])
def test_what_is_no_alignment(where, alignment):
    @cuda.jit
    def k(a):
        s = where.array(3, uint8, alignment=alignment)
        a[0] = s[0]

    with pytest.raises(ValueError, match=f"Alignment must be a power of two from 1 to 1024, not {alignment}") as caught:
        k[1, 1](np.zeros(1))
    assert isinstance(caught.value, errors.TypingError)


@pytest.mark.parametrize("alignment", [1.0, "16", True, (16,)])
def test_what_is_no_integer(alignment):
    @cuda.jit
    def k(a):
        s = cuda.shared.array(3, uint8, alignment=alignment)
        a[0] = s[0]

    with pytest.raises(errors.TypingError, match="alignment.*must be a constant integer"):
        k[1, 1](np.zeros(1))


def test_one_that_is_not_known():
    @cuda.jit
    def k(a, n):
        s = cuda.shared.array(3, uint8, alignment=n)
        a[0] = s[0]

    with pytest.raises(errors.TypingError, match="alignment.*must be a constant integer"):
        k[1, 1](np.zeros(1), 16)
