"""Elements as a base and 32 bits of offset on AMD GPUs (codegen/target/amdgpu_offsets.c): the same as in CPython where an index that only
a part of is positive, neighbours before and behind the first element that is read, indices that are parts of others, rows and columns,
parts of elements and loops that count down; and the instructions that are left of it."""
import re

import numpy as np
import pytest

from quern import cuda, float32, hip, int64, types, void


def behind(a, b, out, n):
    i = cuda.grid(1) - 5
    if i + 6 < n:
        out[i + 5] = a[i + 5] + 2 * a[i + 6]


def behind_a_parameter(a, b, out, n):
    i = cuda.grid(1) - b.shape[0] - 2
    if 0 <= i + 5 and i + 6 < n:
        out[i + 5] = a[i + 5] + 2 * a[i + 6]
        if i >= 0:
            out[i + 5] += a[i]


def before_and_behind(a, b, out, n):
    i = cuda.grid(1) - 5
    if i + 5 < n:
        x = a[i + 5]
        if i >= 0:
            x += 2 * a[i] + 3 * a[i + 1]
        if i + 9 < n:
            x += 5 * a[i + 9] + 7 * a[i + 8]
        out[i + 5] = x


def far_apart(a, b, out, n):
    i = cuda.grid(1)
    if i + 900 < n:
        out[i] = a[i] + a[i + 500] + a[i + 511] + a[i + 512] + a[i + 900] + a[n - 1 - i] + a[n - 900 - i]


def around(a, b, out, n):
    i = cuda.grid(1)
    y, x = i // b.shape[1] - 1, i % b.shape[1] - 1
    if y + 1 < b.shape[0]:
        total = 0.0
        for dy in range(3):
            for dx in range(3):
                if 0 <= y + dy < b.shape[0] and 0 <= x + dx < b.shape[1]:
                    total += (dy + 2 * dx + 1) * b[y + dy, x + dx]
        out[i] = total


def inside(a, b, out, n):
    i = cuda.grid(1)
    y, x = i // b.shape[1], i % b.shape[1]
    if 2 <= y < b.shape[0] - 1 and 1 <= x < b.shape[1] - 2:
        out[i] = b[y - 2, x - 1] + b[y - 1, x] * 2 + b[y, x - 1] * 3 + b[y, x + 2] * 5 + b[y + 1, x + 1] * 7 + b[y - 2, x + 2]


def down_and_up(a, b, out, n):
    for k in range(n):
        out[n - 1 - k] = a[n - 1 - k] + 2 * a[k]
    for j in range(b.shape[0]):
        for k in range(b.shape[1] - 1, -1, -1):
            out[j] += b[j, k] * a[k] + b[b.shape[0] - 1 - j, k]


def from_the_end(a, b, out, n):
    i = cuda.grid(1)
    if i < n:
        out[-1 - i] = a[i - n] + b[-1, i % b.shape[1] - 1]


def a_part_of_another(a, b, out, n):
    i = cuda.grid(1)
    m = b.shape[0]
    if i < m:
        out[i] = a[i + m] + a[m]


def a_part_of_itself(a, b, out, n):
    i = cuda.grid(1)
    m = b.shape[0]
    if 1 <= i and i * m + i < n:
        out[i] = a[(i - 1) * m] + 2 * a[(i - 1) * m + (i - 1)]


def parts_of_one_another(a, b, out, n):
    i = cuda.grid(1)
    m = b.shape[0]
    if i + 3 * m < n:
        out[i] = a[i + m] + 2 * a[m] + 3 * a[i + 3 * m] + 5 * a[2 * m] + 7 * a[i + m] + 11 * a[3 * m]
        for k in range(n):
            if m * k + m + i < n:
                out[i] += a[m * k + m] * a[m] - a[m * k + m + i] + a[i]


KERNELS = [behind, behind_a_parameter, before_and_behind, far_apart, around, inside, down_and_up, from_the_end, a_part_of_another, a_part_of_itself,
           parts_of_one_another]
LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "A": lambda b: np.repeat(b[::-1], 2, axis=1)[::-1, ::2]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_elements_are_those_of_cpython(device, kernel, layout):
    compiled = cuda.jit(kernel)
    for n, shape in ((7, (3, 5)), (40, (5, 8)), (1030, (4, 70))):
        a, rng = np.arange(1.0, n + 1), np.random.default_rng(n)
        b = LAYOUTS[layout](rng.integers(0, 100, shape).astype(float))
        wanted, out = np.zeros(max(n, 300)), np.zeros(max(n, 300))
        threads = 1 if kernel is down_and_up else max(n, shape[0] * shape[1])
        for t in range(threads):
            run_in_cpython(kernel, t, (a, b, wanted, n))
        compiled[(threads + 63) // 64, min(threads, 64)](a, b, out, n)
        np.testing.assert_array_equal(out, wanted, err_msg=f"{kernel.__name__}, {n}")


def run_in_cpython(kernel, thread, args):
    class cuda:
        grid = staticmethod(lambda axes: thread)

    type(kernel)(kernel.__code__, {"cuda": cuda, "np": np})(*args)


def parts(points, z, out):
    i = cuda.grid(1) - 1
    if i + 2 < points.shape[0]:
        out[i + 1] = points[i + 1].x + points[i + 2].y * 2 + z[i + 1].imag + z[i + 2].real
        cuda.atomic.add(out, i + 22, 1000.0)


def test_parts_of_elements_and_atomics(device):
    points = np.array([(k, -3 * k, k * k) for k in range(20)], [("x", "f4"), ("y", "i2"), ("w", "f8")])
    z = np.arange(20) * (2 - 7j)
    out = np.zeros(41)
    cuda.jit(parts)[1, 32](points, z, out)
    wanted = np.zeros(41)
    for i in range(19):
        wanted[i] = points["x"][i] + 2 * points["y"][i + 1] + z.imag[i] + z.real[i + 1]
    wanted[21:40] += 1000.0
    np.testing.assert_array_equal(out, wanted)


def stencil(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@pytest.mark.optimised
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("layout", ["C", "A"])
def test_instructions(arch, layout):
    plane = types.Array(float32, 2, layout)
    asm = hip.compile(stencil, void(plane, plane), arch=arch).asm
    accesses = re.findall(r"\tglobal_(?:load|store)_\w+ (.*)", asm)
    shared = [text for text in accesses if re.search(r", s\[\d+:\d+\]", text)]
    if layout == "A":  # steps may be negative
        assert not shared, accesses
        return
    assert len(accesses) == len(shared) == 4, accesses  # a[i, j - 1] to a[i, j + 1] are one
    assert not re.search(r"\tv_(lshl_add_u64|ashrrev_i32|add_co_ci_u32|addc_co_u32)", asm), asm
    assert asm.count("\tglobal_load_dwordx3 ") + asm.count("\tglobal_load_b96 ") == 1, asm


@pytest.mark.optimised
def test_pointers_have_no_first_element():
    def each(p, out, n):
        i = cuda.grid(1) - n
        out[i + n] = p[i]
    asm = hip.compile(each, void(types.CPointer(float32), types.Array(float32, 1, "C"), int64), arch="gfx942").asm
    load, = re.findall(r"\tglobal_load_\w+ (.*)", asm)
    assert ", off" in load, load
