"""Kernels for AMD GPUs, compiled and linked: nothing here runs. That what our linker makes is what ld.lld makes is compared
section by section and byte by byte."""
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import pytest

import quern
from quern import cuda, errors, float32, float64, hip, int32, int64, types

CHIPS = ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx11-generic"]
LINKER = shutil.which("ld.lld-19") or "/usr/lib/llvm-19/bin/ld.lld"


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def mathematics(x, y):
    i = hip.grid(1)
    if i < x.shape[0]:
        y[i] = math.sin(x[i]) + math.exp(x[i]) ** math.lgamma(x[i]) + math.fmod(x[i], y[i])


def lanes(x, y):
    i = hip.grid(1)
    v = x[i]
    mask = hip.activemask()
    v += hip.shfl_xor_sync(mask, v, 1) + hip.shfl_up_sync(mask, v, 2)
    v += hip.shfl_down_sync(mask, v, 3) + hip.shfl_sync(mask, v, 5)
    votes = hip.ballot_sync(mask, v > 0)
    if hip.all_sync(mask, v > 1) or hip.any_sync(mask, v > 2) or hip.eq_sync(mask, v > 3):
        v += 1
    any_of, (all_of, same) = hip.match_any_sync(mask, i), hip.match_all_sync(mask, i)
    y[i] = v + hip.popc(votes) + hip.popc(any_of) + hip.popc(all_of) + same + hip.laneid + hip.wavesize
    hip.syncwarp()
    hip.threadfence()
    hip.threadfence_block()
    hip.threadfence_system()
    hip.nanosleep(100)
    y[i] += hip.popc(hip.lanemask_lt()) + hip.syncthreads_count(v > 0)
    y[i] += hip.syncthreads_and(v > 0) + hip.syncthreads_or(v > 0)


def shared(x, y):
    s, d = hip.lds.array(128, float32), hip.shared.array(0, float32)
    t = hip.threadIdx.x
    s[t] = d[t] = x[t]
    hip.syncthreads()
    y[t] = s[127 - t] + d[d.shape[0] - 1 - t]


def atomics(x, y):
    i = hip.grid(1)
    hip.atomic.add(y, 0, x[i])
    hip.atomic.sub(y, 1, x[i])
    hip.atomic.max(y, 2, x[i])
    hip.atomic.nanmin(y, 3, x[i])
    hip.atomic.cas(y, 4, x[i], x[0])
    hip.atomic.exch(y, 5, x[i])


def divisions(x, y):
    i = hip.grid(1)
    y[i] = x[i] // y[i] + x[i] % y[i]


def table(x, y):
    i = hip.grid(1)
    y[i] = TABLE[i & 3] * x[i]


import numpy as np  # noqa: E402  (a constant array of a kernel)
TABLE = np.array([1.5, 2.5, 3.5, 4.5])

PROGRAMS = [
    (saxpy, "void(float64, float32[::1], float32[::1])", {}),
    (saxpy, "void(float64, float32[:], float32[:])", {"debug": True}),
    (saxpy, "void(float64, float32[:], float32[:])", {"opt": 0}),
    (mathematics, "void(float64[::1], float64[::1])", {}),
    (mathematics, "void(float32[::1], float32[::1])", {"fastmath": True}),
    (lanes, "void(float32[::1], float64[::1])", {}),
    (lanes, "void(complex64[::1], complex64[::1])", {}),
    (shared, "void(float32[::1], float32[::1])", {}),
    (table, "void(float64[::1], float64[::1])", {}),
] + [(atomics, f"void({t}[::1], {t}[::1])", {}) for t in ("int32", "uint64", "float32", "float64")] + [
    (divisions, f"void({t}[::1], {t}[::1])", {}) for t in ("int8", "int16", "uint32", "int64", "float32")]
PROGRAMS = [p for p in PROGRAMS if not (p[0] is lanes and "complex" in p[1])]


def sections(code):
    """{name: (address, size, bytes)} of what is loaded."""
    start, = struct.unpack_from("<Q", code, 40)
    size, count, names = struct.unpack_from("<HHH", code, 58)
    table = [struct.unpack_from("<IIQQQQIIQQ", code, start + i * size) for i in range(count)]
    text = table[names][4]
    found = {}
    for name, kind, flags, address, offset, length, *_ in table:
        at = text + name
        if flags & 2:
            found[code[at:code.index(b"\0", at)]] = (address, length, b"" if kind == 8 else code[offset:offset + length])
    return found


def segments(code):
    start, = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    return [struct.unpack_from("<IIQQQQQQ", code, start + i * size) for i in range(count)]


@pytest.mark.optimised
@pytest.mark.skipif(not os.path.exists(LINKER), reason="there is no ld.lld to compare with")
@pytest.mark.parametrize("arch", CHIPS)
def test_code_objects_are_those_of_lld(arch, tmp_path):
    for k, (function, signature, options) in enumerate(PROGRAMS):
        made = hip.compile(function, signature, arch=arch, **options)
        (tmp_path / f"{k}.o").write_bytes(made.object)
        subprocess.run([LINKER, "-flavor", "gnu", "-shared", f"{k}.o", "-o", f"{k}.so"] if LINKER.endswith("ld.lld") else
                       [LINKER, "-shared", f"{k}.o", "-o", f"{k}.so"], cwd=tmp_path, check=True)
        theirs = (tmp_path / f"{k}.so").read_bytes()
        what = f"{function.__name__} {signature} {options}"
        assert sections(made.code) == sections(theirs), what
        assert segments(made.code) == segments(theirs), what
        assert made.code[:32] == theirs[:32] and made.code[48:58] == theirs[48:58], what  # the head but for table places


@pytest.mark.skipif(not shutil.which("llvm-mc-19"), reason="there is no llvm-mc")
def test_the_assembly_can_be_assembled(tmp_path):
    for function, signature, options in PROGRAMS:
        made = hip.compile(function, signature, arch="gfx942", **options)
        (tmp_path / "k.s").write_text(made.asm)
        subprocess.run(["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", "k.s", "-o", "k.o"],
                       cwd=tmp_path, check=True)
        again = sections((tmp_path / "k.o").read_bytes())
        assert again[b".text"][2] == sections(made.object)[b".text"][2], function.__name__


@pytest.mark.optimised
def test_metadata_and_resources():
    made = hip.compile(shared, "void(float32[::1], float32[::1])", arch="gfx90a", launch_bounds=128)
    assert made.arch == "gfx90a" and bytes(made) == made.code and len(made) == len(made.code)
    assert made.metadata[".symbol"] == made.name + ".kd"
    assert made.metadata[".max_flat_workgroup_size"] == 128
    assert made.metadata[".uniform_work_group_size"] == 1
    resources = made.resources
    assert resources["lds_bytes"] == 512 and resources["wavesize"] == 64 and resources["scratch_bytes"] == 0
    assert 0 < resources["vgprs"] < 64 and resources["vgpr_spills"] == resources["sgpr_spills"] == 0


def test_parameters_lie_where_the_metadata_say():
    made = hip.compile(saxpy, "void(int8, float32[:], float64[::1])", arch="gfx1100")
    plain = [a for a in made.metadata[".args"] if not a[".value_kind"].startswith("hidden_")]
    assert [(a[".offset"], a[".size"]) for a in plain][-1][0] + plain[-1][".size"] == made.param_bytes
    assert {a[".value_kind"] for a in plain} == {"by_value", "global_buffer"}


@pytest.mark.parametrize("arch,wave", [("gfx942", 64), ("gfx1100", 32)])
def test_AMD_02_masks_have_the_width_of_the_wave(arch, wave):
    def kernel(out):
        out[0] = hip.ballot_sync(hip.activemask(), out[0] > 0)

    made = hip.compile(kernel, "void(uint64[::1])", arch=arch)
    assert f"llvm.amdgcn.ballot.i{wave}" in made.llvm
    assert made.resources["wavesize"] == wave


def test_AMD_01_the_machine_is_in_the_flags():
    def machine(arch):
        code = hip.compile(saxpy, "void(float64, float32[::1], float32[::1])", arch=arch).code
        return struct.unpack_from("<I", code, 48)[0], code[8]
    assert machine("gfx942") == (0x54c, 3)  # any xnack, any sramecc; code object version 5
    assert machine("gfx942:sramecc+:xnack-") == (0xe4c, 3)
    assert machine("gfx1100") == (0x41, 3)
    assert machine("gfx11-generic") == (0x1000054, 4)  # version 6


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_JIT_13_every_mathematical_function_has_code(arch):
    """All functions of math that take floats, in both precisions: none is missing in ocml, none stops LLVM."""
    one = [n for n in dir(math) if not n.startswith("_") and callable(getattr(math, n))]
    made = 0
    for name in one:
        for count in (1, 2):
            function = {}
            args = ", ".join(["x[i]"] * count)
            exec(f"import math\nfrom quern import hip\ndef kernel(x, y):\n    i = hip.grid(1)\n    y[i] = math.{name}({args})\n",
                 function)
            for t in ("float32", "float64"):
                try:
                    hip.compile(function["kernel"], f"void({t}[::1], {t}[::1])", arch=arch, keep_text=False)
                    made += 1
                except errors.LoweringError as error:
                    raise AssertionError(f"math.{name} in {t}: {error}") from error
                except errors.NumbaError:
                    pass  # it takes other arguments
    assert made > 80


def test_AMD_01_every_chip_is_what_LLVM_makes_of_it():
    """The flags of LLVM's files say which options a chip has, and its metadata how wide its waves are."""
    def width(out):
        out[0] = hip.wavesize

    def compiled(arch):
        return hip.compile(width, "void(uint64[::1])", arch=arch)

    def takes(arch):
        try:
            return bool(compiled(arch))
        except errors.LoweringError:
            return False

    with pytest.raises(errors.LoweringError) as caught:
        compiled("none")
    names = re.findall(r"gfx[\w-]+", str(caught.value))
    table = (pathlib.Path(__file__).parents[2] / "codegen/amdgpu_chips.def").read_text()
    machines = {name: int(number, 16) for name, number in re.findall(r'^CHIP\("([^"]+)", (\w+),', table, re.M)}
    assert sorted(names) == sorted(machines) and len(names) > 20
    for arch in names:
        made = compiled(arch)
        flags, version = struct.unpack_from("<I", made.code, 48)[0], made.code[8]
        assert flags & 0xff == machines[arch], arch
        wave = made.metadata[".wavefront_size"]
        assert wave == made.resources["wavesize"] and f"store i64 {wave}," in made.llvm, arch
        assert takes(arch + ":xnack+") == bool(flags & 0x300), arch
        assert takes(arch + ":sramecc-") == bool(flags & 0xc00), arch
        assert version == (4 if "generic" in arch else 3), arch


def test_every_name_of_cuda_is_one_of_hip():
    """Of those that are there before a program imports more (numba.cuda.args and the like)."""
    program = "from quern import cuda, hip; print([name for name in dir(cuda) if not name.startswith('_') and not hasattr(hip, name)])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942"])
def test_registers_of_matrices_are_there_where_a_work_item_can_have_them(arch):
    def negate(a):
        i = hip.grid(1)
        if i < a.shape[0]:
            a[i] = -a[i]

    for most, there in ((256, True), (257, False), (1024, False)):  # vector registers beyond 256
        made = hip.compile(negate, "void(float32[::1])", arch=arch, launch_bounds=most)
        assert (".agpr_count" in made.asm) == there, most
        assert struct.unpack_from("<I", made.code, 48) == struct.unpack_from("<I", hip.compile(negate, "void(float32[::1])", arch=arch).code, 48)


def test_unknown_chips_are_refused_with_their_names():
    for arch in ("gfx1", "sm_90", "gfx1100:xnack+", "gfx942:xnack", "gfx942:", ""):
        with pytest.raises(errors.LoweringError, match="gfx1201") as caught:
            hip.compile(saxpy, "void(float64, float32[::1], float32[::1])", arch=arch)
        assert caught.value.code == "E0503"
    with pytest.raises(TypeError, match="arch"):
        hip.compile(saxpy, "void(float64, float32[::1], float32[::1])", arch=942)


def test_messages_name_the_chip():
    def wrong(x):
        x[0] = nothing_of_this_name

    with pytest.raises(errors.NumbaError, match="hip:gfx1100"):
        hip.compile(wrong, "void(float32[::1])", arch="gfx1100")


def test_a_library_folder_that_cannot_be_read_is_passed_over(tmp_path):
    (tmp_path / "ocml.bc").write_bytes(b"no bitcode")
    program = """
import math
from quern import hip
def kernel(x):
    x[0] = math.sin(x[0])
print(len(hip.compile(kernel, "void(float32[::1])", arch="gfx1100").code) > 1000)
"""
    environment = {**os.environ, "QUERN_ROCM_DEVICE_LIBS": str(tmp_path), "ROCM_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_a_library_is_looked_at_once_until_it_changes(tmp_path):
    """Whether LLVM can read it costs 12 ms; a file that is replaced is another."""
    shipped = pathlib.Path(quern.__file__).parent / "amdgcn" / "bitcode"
    for name in ("ocml.bc", "ockl.bc"):
        shutil.copy(shipped / name, tmp_path / name)
    program = f"""
import math, os, pathlib, time
from quern import hip
def kernel(x):
    x[0] = math.sin(x[0])
def spent():
    start = time.process_time()
    code = hip.compile(kernel, "void(float32[::1])", arch="gfx1100", keep_text=False).code
    return time.process_time() - start, code
folder = pathlib.Path({str(tmp_path)!r})
first = spent()[1]
with_it = min(spent()[0] for _ in range(9))
os.environ["QUERN_ROCM_DEVICE_LIBS"] = ""
without = min(spent()[0] for _ in range(9))
os.environ["QUERN_ROCM_DEVICE_LIBS"] = str(folder)
for name in ("ocml.bc", "ockl.bc"):
    (folder / name).write_bytes(b"no bitcode any more")
print(spent()[1] == first, with_it < 1.4 * without, with_it, without)
"""
    environment = {**os.environ, "QUERN_ROCM_DEVICE_LIBS": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.split()[:2] == ["True", "True"], done.stdout + done.stderr


def test_F03_pointers():
    """Of a pointer the address alone is passed, and what it leads to may be what another leads to."""
    def add(p, q, n):
        i = hip.grid(1)
        if i < n:
            p[i] = q[i] + q[0]

    pointer = types.CPointer(float32)
    for signature in (types.void(pointer, pointer, int64), (pointer, pointer, int64)):
        made = hip.compile(add, signature, arch="gfx1100")
        kinds = [(arg[".size"], arg[".value_kind"]) for arg in made.metadata[".args"] if "hidden" not in arg[".value_kind"]]
        assert kinds == [(8, "global_buffer"), (8, "global_buffer"), (8, "by_value")] and made.param_bytes == 24
        assert "noalias" not in made.llvm.split("define")[1].splitlines()[0]
    assert hip.compile(lambda p, n: None, (types.voidptr, int64), arch="gfx942").param_bytes == 0
    with pytest.raises(ValueError, match="hip.compile: a pointer can be one of the first 64 parameters, not parameter 65"):
        hip.compile(add, types.void(*[int64] * 64, pointer), arch="gfx942")


def test_kept_parts_of_a_library_give_the_same_code():
    """The functions that a kernel asks for are kept as a module of their own, and the whole library is opened no more for them: whatever was
    compiled between, for another chip, of other functions, or of more kinds than are kept, the code is that of a first compilation."""
    program = """
import hashlib, math, sys
from quern import hip
names = ["sin", "cos", "exp", "log", "erf", "erfc", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "log1p", "expm1", "lgamma", "cbrt", "asin", "acos"]
def digest(name, arch):
    scope = {"math": math}
    exec(f"def kernel(x):\\n    x[0] = math.{name}(x[0]) + math.exp(x[1])", scope)
    return hashlib.sha256(hip.compile(scope["kernel"], "void(float64[::1])", arch=arch, keep_text=False).code).hexdigest()
print(*[digest(name, arch) for name in sys.argv[1].split() for arch in ("gfx942", "gfx1100")])
"""
    def digests(names):
        done = subprocess.run([sys.executable, "-c", program, " ".join(names)], capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return done.stdout.split()

    names = program.split("[", 1)[1].split("]")[0].replace('"', "").split(", ")
    many = digests(names + names)  # in the second round, the first of them are made anew
    assert many[:2 * len(names)] == many[2 * len(names):]
    assert digests(["lgamma", "lgamma"]) == 2 * many[2 * names.index("lgamma"):][:2]
    assert digests(["sin"]) == many[:2]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("opt", [0, 1, 3])
def test_JIT_13_what_only_dead_code_calls_is_left_out(arch, opt):
    """Without optimisation a function of ocml stayed that nobody called, and LLVM's backend crashed on it."""
    def dead(x, y):
        i = hip.grid(1)
        one = 1.0
        while i < x.shape[0] and one > one:
            x[i] = y[i] // (one * y[i])

    text = hip.compile(dead, "void(float64[:], float64[:])", arch=arch, opt=opt)
    assert len(text) and "__ocml" not in text.asm


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("opt", [0, 1, 3])
def test_JIT_13_what_a_store_that_is_written_over_called_is_left_out(arch, opt):
    """The last passes find that the store is dead, and so is the call: the backend crashed on a function of ocml that was left without one."""
    def written_over(x, y, n):
        x[1] = y[0] // (n | 1)
        x[1] = 0

    text = hip.compile(written_over, "void(float64[::1], uint64[::1], uint32)", arch=arch, opt=opt)
    assert len(text) and "__ocml" not in text.asm


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "float32", "float64"])
def test_small_local_arrays_stay_in_registers(chip, kind):
    element = getattr(quern, kind)

    def kernel(x, k, out):
        a = hip.local.array(8, element)
        for j in range(8):
            a[j] = x[j]
        i = hip.grid(1)
        a[k] = a[k - 1] + a[i & 7]  # numbers from the end, two steps
        out[i] = a[(k + i) & 7]

    code = hip.compile(kernel, (element[::1], int32, element[::1]), arch=chip)
    assert code.resources["scratch_bytes"] == 0, code.asm
