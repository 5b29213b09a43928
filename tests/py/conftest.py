"""Finds the built package and gives tests the fixture `device`.

QUERN_BUILD names a CMake build folder; without it `build` and then the installed package are used. Kernels run on
the cpu device unless a test asks for `device`: then it runs once for each device present. QUERN_DEVICE=cuda asks for
the real one; the stand-in driver of the build takes its place where there is none. AMD's has two chips, one with waves of
32 lanes and one with 64: `device` is "hip" for both, and the kernel runs on the chip that the parameter names. QUERN_AMD_CHIPS names
others, or none.

QUERN_OPT=0 (1, 2) optimises less, and compiles in a fraction of the time; tests with the mark `optimised`, which look at what the
optimiser makes of code, and what modules compile when they are imported, are not touched.

QUERN_SHARE="1/3" runs the first third of the cases of a test that has many (and all of those with few): the others are other
interpreters' work. Which case falls to whom does not depend on the order of the tests."""
import ctypes
import gc
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import zlib

import pytest

pytest.register_assert_rewrite("objects")  # what its comparisons compared is said

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # started in the background of a script: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)

OPTIMISER = os.environ.pop("QUERN_OPT", None)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QUERN_BUILD", ROOT / "build"))
if (BUILD / "python" / "quern").is_dir():
    sys.path.insert(0, str(BUILD / "python"))
    # subprocesses of tests import the same package
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(BUILD / "python")] + [p for p in [os.environ.get("PYTHONPATH")] if p])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

STAND_IN = BUILD / "fakecuda" / "libcuda.so.1"
if STAND_IN.exists() and not any(os.path.exists(f"/usr/lib/x86_64-linux-gnu/libcuda.so{s}") for s in ("", ".1")):
    os.environ.setdefault("QUERN_CUDA_LIBRARY", str(STAND_IN))


# Every PTX that the tests load is kept, and assembled at the end: test_ptxas (run last). Workers of one run share the
# folder; who made it takes it away.
OWNS_PTX_FOLDER = "FAKECUDA_SAVE" not in os.environ
PTX_FOLDER = os.environ.setdefault("FAKECUDA_SAVE", tempfile.mkdtemp(prefix="quern-ptx-"))
# As well every object file of host code that is loaded, for test_loader.
OWNS_OBJECT_FOLDER = "QUERN_KEEP_OBJECTS" not in os.environ
OBJECT_FOLDER = os.environ.setdefault("QUERN_KEEP_OBJECTS", tempfile.mkdtemp(prefix="quern-objects-"))


try:
    from quern import _quern
except ImportError:  # tests of tools and oracles run without a build
    _quern = None


AMD_CHIPS = tuple(os.environ.get("QUERN_AMD_CHIPS", "gfx1100 gfx942").split())
AMD_STAND_IN = BUILD / "fakehip" / "libamdhip64.so.7"


def _devices():
    """AMD's stand-in is opened here, once: subprocesses of tests do not inherit it."""
    kinds = ["cuda"] if _quern and _quern.device_count("cuda")[0] > 0 else []
    if _quern is None:
        return ["cpu"]
    if AMD_CHIPS and AMD_STAND_IN.exists() and "QUERN_HIP_LIBRARY" not in os.environ:
        ours = {"QUERN_HIP_LIBRARY": str(AMD_STAND_IN), "FAKEHIP_DEVICES": str(len(AMD_CHIPS)), "FAKEHIP_ARCH": ",".join(AMD_CHIPS)}
        os.environ.update(ours)
        if _quern.device_count("hip")[0] == len(AMD_CHIPS):
            kinds += [f"hip-{chip}" for chip in AMD_CHIPS]
        for name in ours:
            del os.environ[name]
    elif _quern.device_count("hip")[0] > 0:
        kinds.append("hip")
    return ["cpu"] + kinds


@pytest.fixture(autouse=True)
def _on_the_cpu_device(request):
    """Every test: kernels run on the cpu device, whatever is there. Pinned devices stay as the user said."""
    if os.environ.get("QUERN_DEVICE") or _quern is None:
        yield
        return
    _quern.pin_device("cpu")
    yield
    _quern.pin_device(None)


@pytest.fixture(autouse=True)
def _optimiser(request):
    """Every test: how much the optimiser does, here and in processes of the test's own."""
    if OPTIMISER is None or _quern is None or request.node.get_closest_marker("optimised"):
        yield
        return
    from quern import config
    default, config.OPT = config.OPT, int(OPTIMISER)
    os.environ["QUERN_OPT"] = OPTIMISER
    yield
    config.OPT = default
    os.environ.pop("QUERN_OPT", None)


def pytest_configure(config):
    config.addinivalue_line("markers", "optimised: looks at what the optimiser makes of code; QUERN_OPT does not reach it")


KINDS = _devices()


@pytest.fixture(params=KINDS)
def device(request, _on_the_cpu_device):
    """The name of a device; kernels of the test run there."""
    pinned = os.environ.get("QUERN_DEVICE")
    kind, _, chip = request.param.partition("-")
    if pinned:
        if pinned != kind:
            pytest.skip(f"QUERN_DEVICE={pinned}")
    else:
        _quern.pin_device(kind)
    if chip:
        _quern.select_device("hip", AMD_CHIPS.index(chip))
    return kind


FEW = 6  # cases of one test that every interpreter runs
WHOLE = "test_bytecode_ssa", "test_diag", "test_refusals"  # bytecode, and places in it, are each interpreter's own


def _shared_out(items, share):
    """The items of a share "k/n", and those of others."""
    mine, of = map(int, share.split("/"))
    cases = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept, left = [], []
    for item in items:
        test = item.nodeid.partition("[")[0]
        many = len(cases[test]) > FEW and not any(name in test for name in WHOLE)
        (left if many and zlib.crc32(item.name.encode()) % of != mine % of else kept).append(item)
    return kept, left


def pytest_collection_modifyitems(config, items):
    """test_loader and test_ptxas see what all the others produced."""
    share = os.environ.get("QUERN_SHARE")
    if share:
        items[:], left = _shared_out(items, share)
        config.hook.pytest_deselected(items=left)
    items.sort(key=lambda item: ("test_ptxas" in item.nodeid) + ("test_loader" in item.nodeid))


def pytest_collection_finish():
    """A hundred tests ask the garbage collector what is left. It need not look through all imported packages and collected tests
    each time, which took a tenth of the whole run."""
    gc.collect()
    gc.freeze()


_EXECUTED = "lane-instructions of AMD GPUs"
_executed = []  # by each process of the run


def pytest_sessionfinish(session):
    """How much of AMD's machine code the stand-in has executed in this process, its subprocesses left out."""
    if not any(kind.startswith("hip-") for kind in KINDS):
        return
    stand_in = ctypes.CDLL(str(AMD_STAND_IN), os.RTLD_NOLOAD)
    stand_in.fakehip_executed.restype = ctypes.c_uint64
    answers = getattr(session.config, "workeroutput", None)
    if answers is None:
        _executed.append(stand_in.fakehip_executed())
    else:
        answers[_EXECUTED] = stand_in.fakehip_executed()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _executed.append(getattr(node, "workeroutput", {}).get(_EXECUTED, 0))


def pytest_terminal_summary(terminalreporter):
    if sum(_executed):
        terminalreporter.write_line(f"{sum(_executed) / 1e6:,.1f} million {_EXECUTED} executed")


def pytest_unconfigure():
    if OWNS_PTX_FOLDER:
        shutil.rmtree(PTX_FOLDER, ignore_errors=True)
    if OWNS_OBJECT_FOLDER:
        shutil.rmtree(OBJECT_FOLDER, ignore_errors=True)
