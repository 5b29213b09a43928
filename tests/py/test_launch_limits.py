"""As much as a launch may ask for: parameters, shared memory, blocks."""
import numpy as np
import pytest

from quern import cuda, errors


def of_numbers(n):
    """A kernel that is passed n numbers, side by side in its parameters."""
    space = {}
    exec(f"def kernel(out, v):\n    out[0] = {' + '.join(f'v[{i}]' for i in range(n))}\n    out[1] = v[{n - 1}]", space)
    out = np.zeros(2)
    cuda.jit(space["kernel"])[1, 1](out, tuple(float(i) for i in range(n)))
    return out.tolist()


def test_parameters_of_4096_bytes(device):
    """The array takes 8 of them."""
    assert of_numbers(511) == [511 * 510 / 2, 510]
    if device == "cpu":  # which knows no limit
        assert of_numbers(1000) == [1000 * 999 / 2, 999]
        return
    with pytest.raises(errors.TypingError, match="kernel parameters take 4104 bytes; the limit is 4096"):
        of_numbers(512)


def test_shared_memory_above_48_kilobytes(device):
    """The launch may ask for more of it than a kernel may declare on NVIDIA's."""
    def dynamic(out):
        words = cuda.shared.array(0, np.float64)
        words[7499 - cuda.threadIdx.x] = cuda.threadIdx.x
        cuda.syncthreads()
        out[cuda.threadIdx.x] = words[7499 - 31 + cuda.threadIdx.x]

    def declared(out):
        words = cuda.shared.array(7500, np.float64)
        words[7499 - cuda.threadIdx.x] = cuda.threadIdx.x
        cuda.syncthreads()
        out[cuda.threadIdx.x] = words[7499 - 31 + cuda.threadIdx.x]

    out = np.zeros(32)
    cuda.jit(dynamic)[1, 32, 0, 60000](out)
    assert out.tolist() == list(range(31, -1, -1))
    with pytest.raises(ValueError, match="300000 bytes of dynamic shared memory are asked for"):
        cuda.jit(dynamic)[1, 32, 0, 300000](out)
    if device == "cuda":
        with pytest.raises(errors.TypingError, match="shared arrays take 60000 bytes together; a block of sm_.. has 49152"):
            cuda.jit(declared)[1, 32](out)
        return
    out[:] = 0
    cuda.jit(declared)[1, 32](out)
    assert out.tolist() == list(range(31, -1, -1))


def test_grids_of_more_blocks_than_there_may_be(device):
    kernel, out = cuda.jit(lambda out: None), np.zeros(1)
    with pytest.raises(ValueError, match="at most 2147483647 in dimension x"):
        kernel[2**31, 1](out)
    kernel[(1, 65535), 1](out)
