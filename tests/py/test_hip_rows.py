"""Every row of the table of GPUs on AMD's chips: each has code there, or is refused with a reason (ROWS, REFUSED). The names
are those of docs/reference.md, which is printed from the table."""
import pathlib
import re

import numpy as np
import pytest

from quern import cuda, errors, float32, float64, hip, int32  # noqa: F401 (names of the expressions)

CHIPS = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]
FLAG, LANE = "x[0] > 2", "int32(i)"
ROWS = {
    **{f"{name}.{axis}": f"cuda.{name}.{axis}" for name in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in "xyz"},
    **{name: f"cuda.{name}(m, {FLAG})" for name in ("all_sync", "any_sync", "eq_sync", "ballot_sync")},
    **{f"atomic.{name}": f"cuda.atomic.{name}(n, 0, n[1])" for name in "add sub max min nanmax nanmin and_ or_ xor exch inc dec".split()},
    **{name: f"cuda.{name}(m, x[i], 1)" for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")},
    **{name: f"cuda.{name}({FLAG})" for name in ("syncthreads_and", "syncthreads_or", "syncthreads_count")},
    **{name: f"cuda.{name}()" for name in ("activemask", "lanemask_lt", "clock", "clock64")},
    **{name: f"cuda.{name}" for name in ("laneid", "warpsize")},
    **{name: f"cuda.{name}(n[1])" for name in ("brev", "clz", "ffs", "popc")},
    **{name: f"cuda.{name}() or 0" for name in ("syncthreads", "threadfence", "threadfence_block", "threadfence_system")},
    "atomic.cas": "cuda.atomic.cas(n, 0, n[1], n[2])", "atomic.compare_and_swap": "cuda.atomic.compare_and_swap(n, n[1], n[2])",
    "cbrt": "cuda.cbrt(x[i])", "fma": "cuda.fma(x[i], x[0], x[1])", "selp": f"cuda.selp({FLAG}, x[i], x[1])",
    "cg.sync_grid": "cuda.cg.this_grid().sync() or 0", "cg.together": "cuda.cg.this_grid().sync() or 0",
    "const.array_like": "cuda.const.array_like(TABLE)[i]", "grid": "cuda.grid(1)", "gridsize": "cuda.gridsize(1)",
    "local.array": "cuda.local.array(3, float32)[n[0]]", "shared.array": "cuda.shared.array(3, float32)[n[0]]",
    "match_all_sync": "cuda.match_all_sync(m, n[i])[0]", "match_any_sync": "cuda.match_any_sync(m, n[i])",
    "nanosleep": "cuda.nanosleep(100) or 0", "syncwarp": "cuda.syncwarp(m) or 0",
}
REFUSED = {}  # row -> a part of the sentence that says why there is no code for it
TABLE = np.arange(64, dtype=np.float32)


def rows_of_the_table():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "reference.md").read_text()
    return {name: targets for name, targets in re.findall(r"^\| `cuda\.(.+?)` \| `.*?` \| (.*?) \|", page, re.M)}


def kernel_of(name):
    """A statement for what gives nothing, a sum into y otherwise."""
    expression = ROWS[name]
    line = expression.removesuffix(" or 0") if expression.endswith(" or 0") else f"y[i] += {expression}"
    text = f"def kernel(x, y, n):\n    i = cuda.grid(1)\n    m = cuda.activemask()\n    {line}\n"
    space = {**globals()}
    exec(compile(text, f"<row {name}>", "exec"), space)
    return space["kernel"]


def test_every_row_has_its_line_here():
    assert set(rows_of_the_table()) == set(ROWS)


def test_the_page_says_what_is_refused():
    assert {name for name, targets in rows_of_the_table().items() if "hip" not in targets} == set(REFUSED)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_have_code_on_every_chip(name):
    function = kernel_of(name)
    for chip in CHIPS:
        if name in REFUSED:
            with pytest.raises(errors.TypingError, match=REFUSED[name]):
                hip.compile(function, "void(float32[:], float64[:], uint32[:])", arch=chip)
            continue
        code = hip.compile(function, "void(float32[:], float64[:], uint32[:])", arch=chip)
        assert code.code[:4] == b"\x7fELF" and "quern_kernel" in code.asm
