"""Arrays of two axes, transposed on the device."""
from quern import cuda

_TILE = 32


@cuda.jit
def _transpose(a, b):
    """Through a tile in shared memory, so that neighbours read and write neighbours."""
    tile = cuda.shared.array((_TILE, _TILE + 1), a.dtype)
    row, column = cuda.blockIdx.y * _TILE, cuda.blockIdx.x * _TILE
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if row + y < a.shape[0] and column + x < a.shape[1]:
        tile[y, x] = a[row + y, column + x]
    cuda.syncthreads()
    if column + y < a.shape[1] and row + x < a.shape[0]:
        b[column + y, row + x] = tile[x, y]


@cuda.jit
def _transpose_any(a, b):
    i, k = cuda.grid(2)
    if i < a.shape[0] and k < a.shape[1]:
        b[k, i] = a[i, k]


def transpose(a, b=None, stream=0):
    """The transposed array in `b`, or in a new device array; packed, whereas a.T is a view of the same memory."""
    if len(a.shape) != 2:
        raise ValueError(f"transpose: an array of two axes is expected, not of {len(a.shape)}")
    rows, columns = a.shape
    if b is None:
        b = cuda.device_array((columns, rows), a.dtype, stream=stream)
    if tuple(b.shape) != (columns, rows):
        raise ValueError(f"transpose: the result has shape {(columns, rows)}, not {tuple(b.shape)}")
    if rows and columns:
        kernel = _transpose_any if a.dtype.names else _transpose
        blocks = (rows + _TILE - 1) // _TILE, (columns + _TILE - 1) // _TILE
        kernel[blocks if a.dtype.names else blocks[::-1], (_TILE, _TILE), stream](a, b)
    return b
