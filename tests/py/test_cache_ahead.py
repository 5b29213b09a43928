"""Code that is compiled by itself (cuda.compile, hip.compile, f.compile_to_ptx, inspection) and the disk cache: a second process finds
it without LLVM, and whatever changes it is a miss."""
import os
import shutil
import subprocess
import sys

import pytest
from test_cache import files, run

PTXAS = shutil.which("ptxas")

PROGRAM = """
import hashlib, sys
from quern import _quern, cuda, float32, float64, hip, int64, njit, types
BASE = 3.0

def scaled(x, y):
    return x * y + BASE

def kernel(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = a[i] * 2 + math.sin(a[i])

import math
mine = cuda.jit(cache=True)(kernel)
device = cuda.jit(device=True, cache=True)(scaled)
host = njit(cache=True)(scaled)
made = [cuda.compile(scaled, (float32, float32), cache=True), cuda.compile_ptx(mine, "void(float32[:], int64)"),
        cuda.compile_all(scaled, "float64(float64, float64)", cc=(9, 0), cache=True),
        mine.compile_to_ptx("void(float64[::1], int64)", "sm_80"), device.compile_to_ptx((float64, float64), (8, 6)),
        host.compile_to_ptx("(float64, float64)"), device.inspect_llvm((float32, float32)), device.inspect_asm((float32, float32))]
for keep_text in (True, False):
    code = hip.compile(mine, "void(float32[:], int64)", arch="gfx1100", keep_text=keep_text)
    made.append([code.name, code.code, code.object, code.llvm, code.asm, code.param_bytes, code.resources])
if {cubin}:
    made.append(cuda.compile(scaled, (float32, float32), cc=(8, 0), output="cubin", cache=True))
maps = open("/proc/self/maps").read()
counts = [(len(f.stats.cache_hits), sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values())) for f in (mine, device, host)]
print(hashlib.sha256(repr(made).encode()).hexdigest(), "libquern_llvm" in maps, counts, mine.stats.cache_reasons)
"""


def test_a_second_process_needs_no_llvm(tmp_path):
    program = PROGRAM.replace("{cubin}", str(bool(PTXAS)))
    first, second = (run(program, tmp_path / "store", where=tmp_path, QUERN_DEVICE="cpu").split(maxsplit=2) for _ in range(2))
    assert first[1:] == ["True", "[(0, 0, 4), (1, 1, 2), (0, 0, 1)] {}"]
    assert second == [first[0], "False", "[(2, 4, 0), (2, 3, 0), (1, 1, 0)] {}"]


ONE = """
from quern import cuda, hip, float32, float64, int32, njit
{helper}
SCALE = {scale}
def f(x, y):
    return helper(x) * y / SCALE + y
def kernel(a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = f(a[i], b[i])
def pointed(a, b):
    a[0] = f(a[0], b[0])
{extra}
print(hash(str({call})))
"""
PLAIN = {"helper": "def helper(x): return x + 1", "scale": 2, "extra": "", "call": "cuda.compile(f, (float32, float32), cache=True)"}


@pytest.mark.parametrize("change", [
    {}, {"helper": "def helper(x): return x + 2"}, {"scale": 3}, {"scale": 2.0},
    *({"call": f"cuda.compile(f, (float32, float32), cache=True, {option})"} for option in (
        "debug=True, opt=False", "lineinfo=True", "fastmath=True", "fastmath={'nsz'}", "fma=False", "cc=(8, 0)", "opt=1", "boundscheck=True",
        "abi='numba'", "abi_info={'abi_name': 'other'}", "max_registers=32", "weak_numbers=False", "locals={'x': float64}",
        *["output='cubin', cc=(7, 5)"] * bool(PTXAS))),
    {"call": "cuda.compile(f, (float64, float32), cache=True)"}, {"call": "cuda.compile(f, float64(float32, float32), cache=True)"},
    {"call": "cuda.compile_ptx(kernel, 'void(float32[:], float32[:])', cache=True)"},
    {"call": "cuda.compile_ptx(kernel, 'void(float32[:], float32[:])', launch_bounds=64, cache=True)"},
    {"call": "hip.compile(kernel, 'void(float32[:], float32[:])', arch='gfx1100', cache=True).code"},
])
def test_whatever_changes_the_code_is_a_miss(tmp_path, change):
    """Each program twice: the second time its entry is found, and those of the others stay."""
    def outcome(**changes):
        told = {**PLAIN, **changes}
        (tmp_path / "program.py").write_text(ONE.format(**told))
        done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, timeout=120,
                              env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store"), "QUERN_DUMP": "cache", "PYTHONHASHSEED": "0"})
        assert done.returncode == 0, done.stderr
        return done.stdout, [line.split(": ")[1].split()[0] for line in done.stderr.splitlines() if line.startswith("==== cache of")]

    plain, told = outcome()
    assert told == ["miss", "stored"]
    changed, told = outcome(**change)
    assert told == (["miss", "stored"] if change else ["hit"])
    assert outcome(**change) == (changed, ["hit"])
    assert outcome() == (plain, ["hit"])


def test_kinds_of_calls_do_not_meet(tmp_path):
    """One function and one signature as code of a launch, as PTX that keeps all parameters, with pointers, and as what is looked at."""
    program = """
    import numpy as np
    from quern import cuda, types, float32
    @cuda.jit(cache=True)
    def kernel(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1
    texts = [kernel.compile_to_ptx("void(float32[::1], float32[::1])"),
             kernel.compile_to_ptx(types.void(types.CPointer(float32), types.CPointer(float32))),
             kernel.compile_to_ptx(types.void(types.Array(float32, 1, "C"), types.CPointer(float32)))]
    a = np.ones(3, np.float32)
    kernel[1, 32](a, np.ones(3, np.float32))
    print([len(set(texts)), a.tolist()], [t.count(".param .") for t in texts], len(kernel.inspect_llvm()) > 0)
    s = kernel.stats
    print(sum(s.cache_hits.values()), sum(s.cache_misses.values()), s.cache_reasons)
    """
    for device in ("cpu", "cuda"):
        results = [run(program, tmp_path / device, where=tmp_path, QUERN_DEVICE=device).splitlines() for _ in range(2)]
        assert results[0][0] == results[1][0] and results[0][0].startswith("[3, [2.0, 2.0, 2.0]] [4, 2, 3]")
        assert results[0][1] == "0 5 {}" and results[1][1] == "5 0 {}"


@pytest.mark.parametrize("kind", ["nvidia", "amd"])
def test_another_device_library_is_a_miss(tmp_path, kind):
    """The file that functions of a device come from is replaced; one that is looked for earlier appears."""
    from quern import _quern
    program = """
    import math, sys
    from quern import cuda, hip, float32, float64
    def kernel(a):
        a[0] = math.sin(a[0])
    f = cuda.jit(cache=True)(kernel)
    if {amd}:
        hip.compile(f, "void(float64[:])", arch="gfx90a")
    else:
        f.compile_to_ptx("void(float64[:])")
    print(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
    """.format(amd=kind == "amd")
    folder = tmp_path / "library"
    folder.mkdir()
    if kind == "amd":
        import quern
        packed = os.path.join(os.path.dirname(quern.__file__), "amdgcn", "bitcode")
        names = ["ocml.bc", "ockl.bc"]
        if not os.path.exists(os.path.join(packed, names[0])):
            pytest.skip("the package was built without the libraries for AMD GPUs")
        environment = {"QUERN_ROCM_DEVICE_LIBS": str(folder)}
    else:
        packed = next((p for p in ("/usr/local/cuda/nvvm/libdevice", os.path.dirname(os.environ.get("QUERN_LIBDEVICE", ""))) if p and
                       os.path.exists(os.path.join(p, "libdevice.10.bc"))), None)
        names = ["libdevice.10.bc"]
        if not packed:
            pytest.skip("libdevice is neither where QUERN_LIBDEVICE says nor below /usr/local/cuda")
        environment = {"QUERN_LIBDEVICE": str(folder / names[0])}

    def outcome():
        return run(program, tmp_path / "store", where=tmp_path, **environment)

    assert [outcome(), outcome()] == ["0 1", "1 0"]
    for name in names:
        shutil.copy(os.path.join(packed, name), folder / name)
    assert [outcome(), outcome()] == ["0 1", "1 0"]
    for name in names:
        os.utime(folder / name, (1, 1))
    assert [outcome(), outcome()] == ["0 1", "1 0"]


def test_without_the_option_nothing_is_kept(tmp_path, monkeypatch):
    from quern import cuda, float32, hip
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path / "store"))
    f = cuda.jit(lambda a: None)
    cuda.compile_ptx(f, "void(float32[:])")
    hip.compile(f, "void(float32[:])", arch="gfx1100")
    f.compile_to_ptx((float32,))
    assert not (tmp_path / "store").exists() and not f.stats.cache_misses and f.stats.cache_path is None
    cuda.compile_ptx(f, "void(float32[:])", cache=True)
    assert len(files(tmp_path / "store")) == 1 and f.stats.cache_misses
    g = cuda.jit(cache=True)(lambda a: None)
    cuda.compile_ptx(g, "void(float32[:])", cache=False)
    assert len(files(tmp_path / "store")) == 1 and not g.stats.cache_misses


def test_compile_to_ptx():
    from quern import cuda, errors, float64, njit
    add = njit(fastmath=True)(lambda x, y: x / y)
    ptx = add.compile_to_ptx((float64, float64), "sm_90")
    assert ".target sm_90" in ptx and " _lambda_(" in ptx
    assert ".target sm_75" in add.compile_to_ptx("float64(float64, float64)")
    assert ".target sm_80" in cuda.jit(lambda a: None).compile_to_ptx("void(float64[:])", "compute_80")
    for arch, kind in (("gfx90a", ValueError), (80, ValueError), ("sm_30", ValueError)):
        with pytest.raises(kind):
            add.compile_to_ptx((float64, float64), arch)
    with pytest.raises(errors.TypingError):
        njit(lambda x: x.size).compile_to_ptx((float64,))


def test_damaged_entries(tmp_path, monkeypatch):
    """A byte of an entry of PTX, of a code object and of texts is another: a miss, and the code is what it was."""
    import random
    from quern import _quern, cuda, hip
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path / "store"))

    def kernel(a):
        a[0] += 1

    def make():
        k = cuda.jit(cache=True)(kernel)
        code = hip.compile(k, "void(float32[:])", arch="gfx1100")
        return [k.compile_to_ptx("void(float32[:])"), code.code, code.llvm, code.asm], k.stats

    expected, _ = make()
    entries = files(tmp_path / "store")
    assert len(entries) == 2
    random.seed(7)
    for _ in range(20):
        path = random.choice(entries)
        data = bytearray(path.read_bytes())
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        assert isinstance(_quern.cache_entry(bytes(data)), str)
        path.write_bytes(data)
        found, stats = make()
        assert found == expected and sum(stats.cache_hits.values()) == 1 and sum(stats.cache_misses.values()) == 1
    assert sum(make()[1].cache_hits.values()) == 2
