"""Cooperative groups: cuda.cg.this_grid().sync() on every device."""
import numpy as np
import pytest

from quern import cuda, float64, hip, int32


def rows_in_turn(m):
    """Each thread reads what its opposite, in another block, has written a row before."""
    col = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for row in range(1, m.shape[0]):
        m[row, col] = m[row - 1, m.shape[1] - col - 1] + 1
        grid.sync()


@pytest.mark.parametrize("blocks, threads", [(1, 64), (2, 32), (8, 16), (5, 7)])
def test_blocks_wait_for_each_other(device, blocks, threads):
    m = np.zeros((9, blocks * threads), np.int32)
    cuda.jit(rows_in_turn)[blocks, threads](m)
    assert (m == np.arange(9)[:, None]).all()


def test_the_barrier_serves_many_launches(device):
    kernel = cuda.jit(rows_in_turn)
    for blocks in (2, 4, 3, 4):
        m = np.zeros((6, blocks * 8), np.int32)
        kernel[blocks, 8](m)
        assert (m == np.arange(6)[:, None]).all()


def test_grids_and_blocks_of_three_axes(device):
    @cuda.jit
    def count(cells, seen):
        x, y, z = cuda.grid(3)
        cells[x, y, z] = 1
        cuda.cg.this_grid().sync()
        total = 0
        for i in range(cells.shape[0]):
            for k in range(cells.shape[1]):
                for m in range(cells.shape[2]):
                    total += cells[i, k, m]
        seen[x, y, z] = total

    cells = np.zeros((4, 6, 4), np.int32)
    seen = np.zeros_like(cells)
    count[(2, 2, 2), (2, 3, 2)](cells, seen)
    assert (seen == cells.size).all()


def test_each_block_keeps_its_shared_memory_across_the_barrier(device):
    @cuda.jit
    def sums(a, parts, out):
        tile = cuda.shared.array(16, float64)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        tile[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            for k in range(16):
                parts[b] += tile[k]
        cuda.cg.this_grid().sync()
        total = 0.0
        for k in range(cuda.gridDim.x):
            total += parts[k]
        out[cuda.grid(1)] = tile[t] / total

    a = np.arange(1.0, 65.0)
    parts, out = np.zeros(4), np.zeros(64)
    sums[4, 16](a, parts, out)
    np.testing.assert_allclose(out, a / a.sum(), rtol=1e-14)


def test_dynamic_shared_memory_of_each_block(device):
    @cuda.jit
    def keep(out):
        mine = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        mine[t] = cuda.grid(1)
        cuda.cg.this_grid().sync()
        out[cuda.grid(1)] = mine[cuda.blockDim.x - 1 - t]

    out = np.zeros(24, np.int32)
    keep[3, 8, 0, 32](out)
    assert (out == np.arange(24).reshape(3, 8)[:, ::-1].ravel()).all()


def test_a_device_function_may_wait(device):
    @cuda.jit(device=True)
    def everybody(group):
        group.sync()

    @cuda.jit
    def shift(a, b):
        i, n = cuda.grid(1), cuda.gridsize(1)
        group = cuda.cg.this_grid()
        b[i] = a[i]
        everybody(group)
        a[i] = b[(i + 1) % n]

    a = np.arange(24)
    b = np.zeros_like(a)
    shift[4, 6](a, b)
    assert (a == np.roll(np.arange(24), -1)).all()


def test_what_the_dispatcher_tells(device):
    kernel = cuda.jit("void(int32[:, ::1])")(rows_in_turn)
    plain = cuda.jit("void(int32[:])")(lambda a: None)
    overload, = kernel.overloads.values()
    other, = plain.overloads.values()
    assert overload.cooperative and not other.cooperative
    most = overload.max_cooperative_grid_blocks(256)
    assert most > 0
    assert 0 < overload.active_blocks_per_multiprocessor((16, 16)) <= most
    assert overload.max_cooperative_grid_blocks((16, 16)) == overload.max_cooperative_grid_blocks((4, 4, 16)) == most


def test_too_many_blocks_are_refused_with_their_number(device):
    kernel = cuda.jit("void(int32[:, ::1])")(rows_in_turn)
    overload, = kernel.overloads.values()
    most = overload.max_cooperative_grid_blocks(128)
    with pytest.raises(ValueError, match=f"room for {most} of 128 threads, not for {most + 1}"):
        kernel[most + 1, 128](np.zeros((1, 128 * (most + 1)), np.int32))


def test_two_streams_take_turns(device):
    kernel = cuda.jit(rows_in_turn)
    streams = [cuda.stream(), cuda.stream()]
    arrays = [cuda.to_device(np.zeros((5, 32), np.int32)) for _ in range(4)]
    for k, m in enumerate(arrays):
        kernel[4, 8, streams[k % 2]](m)
    cuda.synchronize()
    for m in arrays:
        assert (m.copy_to_host() == np.arange(5)[:, None]).all()


def test_blocks_that_end_early_are_told_on_the_cpu_device():
    @cuda.jit
    def some(out):
        if cuda.blockIdx.x == 0:
            cuda.cg.this_grid().sync()
        out[0] = 1

    with pytest.raises(RuntimeError, match="blocks of a grid wait for each other for ever: 1 at its barrier, 2 have ended"):
        some[3, 4](np.zeros(1))


def test_an_exception_ends_all_blocks_on_the_cpu_device():
    @cuda.jit(debug=True)
    def fails(a, out):
        i = cuda.grid(1)
        cuda.cg.this_grid().sync()
        out[i] = a[i]
        cuda.cg.this_grid().sync()

    with pytest.raises(IndexError):
        fails[4, 8](np.zeros(20), np.zeros(32))
    a, out = np.arange(32.0), np.zeros(32)
    fails[4, 8](a, out)
    assert (out == a).all()


def test_hip_has_the_same_names():
    @hip.jit
    def kernel(m):
        col = hip.grid(1)
        for row in range(1, m.shape[0]):
            m[row, col] = m[row - 1, m.shape[1] - col - 1] + 1
            hip.cg.this_grid().sync()

    m = np.zeros((4, 32), np.int32)
    kernel[4, 8](m)
    assert (m == np.arange(4)[:, None]).all()


def test_outside_of_kernels_there_is_no_grid():
    from quern import njit
    from quern.errors import TypingError

    @njit
    def f():
        cuda.cg.this_grid().sync()

    with pytest.raises(TypingError, match="outside a kernel"):
        f()
