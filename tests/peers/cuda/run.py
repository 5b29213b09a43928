"""Runs numba-cuda's own tests with `numba` and `numba.cuda` answered by Quern. Own code; nothing of the peer is kept.

  python run.py --python PY --suite NUMBA_CUDA --out FILE.json [--device cpu|cuda] [--driver DIR] [--only GLOB ...]
                [--work DIR] [--site DIR with cffi and ml_dtypes] [--file-timeout 240] [--test-timeout 20] [--strong] [--ptxas] [--add]
  python run.py --report FILE.json [FILE2.json]

PY: an interpreter with quern, numpy and pytest. NUMBA_CUDA: the unpacked wheel of numba-cuda (or any folder with
numba/cuda/tests below it). One process a module; a crash or a hang ends one test, the rest goes on in a new process."""
import argparse
import collections
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# whole modules about the peer's inside: driver bindings, linker, NVVM, IR, passes, typing machinery, debug metadata
INTERNAL = """
cudapy/test_analysis cudapy/test_byteflow cudapy/test_copy_propagate cudapy/test_ir cudapy/test_ir_utils
cudapy/test_flow_control cudapy/test_tracing cudapy/test_typeconv cudapy/test_typeinfer cudapy/test_debuginfo
cudapy/test_debuginfo_types cudapy/test_gufunc_scheduling cudapy/test_const_string cudapy/test_extending
cudapy/test_extending_types cudapy/test_make_function_to_jit_function cudapy/test_launch_config_sensitive
cudapy/test_device_array_capture cudapy/test_bfloat16_bindings cudapy/test_fp8_bindings
cudapy/test_cupy_bfloat16_interop cudapy/test_ssa cudapy/test_numba_interop
cudadrv/test_context_stack cudadrv/test_cuda_driver cudadrv/test_cuda_memory cudadrv/test_deallocations
cudadrv/test_emm_plugins cudadrv/test_init cudadrv/test_inline_ptx cudadrv/test_is_fp16 cudadrv/test_linkable_code
cudadrv/test_linker cudadrv/test_module_callbacks cudadrv/test_nvjitlink cudadrv/test_nvrtc cudadrv/test_nvvm_driver
cudadrv/test_runtime cudadrv/test_managed_alloc
nocuda/test_cache_version nocuda/test_dummyarray nocuda/test_function_resolution nocuda/test_import
nocuda/test_library_lookup nocuda/test_nvvm nrt/test_nrt nrt/test_nrt_refct
core/test_itanium_mangler core/test_serialize
""".split()
# of these some tests use public names only: they are run, and tests that stop at an inner name are counted as internal
MIXED = """cudapy/test_ssa cudapy/test_device_array_capture cudadrv/test_init cudadrv/test_managed_alloc
cudadrv/test_context_stack cudadrv/test_is_fp16 cudadrv/test_deallocations cudapy/test_extending_types""".split()
INTERNAL = [m for m in INTERNAL if m not in MIXED]
INNER = re.compile(
    r"missing (numba\.internal|llvmlite|cuda\.(core|bindings|pathfinder)|numba_cuda|numba\.runtests|filecheck|"
    r"numba\.cuda\.(cudadrv|core(?!\.errors)|codegen|descriptor|cudadecl|cudaimpl|deviceufunc|typing|simulator|"
    r"libdevicefuncs|compiler\.run_frontend|cgutils|cudamath|memory_management|serialize|cloudpickle|itanium|"
    r"models|target|nvvmutils|launchconfig|initialize|_internal|cache_dir|args)|numba\.core\.(?!errors))")
DIRS = ["cudapy", "cudadrv", "doc_examples", "nocuda", "nrt", "core", "cudasim"]


# -- the worker: one module in this process -------------------------------------------------------------------------

class Overtime(BaseException):
    pass


def worker(path, log_path, done_path, limit):
    sys.path.insert(0, str(HERE / "shim"))
    import quern_as_numba
    quern_as_numba.install()
    quern_as_numba.quiet()
    quern_as_numba.IMPORTING[0] = True
    import pytest
    done = set(Path(done_path).read_text().split("\n")) if os.path.exists(done_path) else set()
    log = open(log_path, "a", buffering=1)

    def alarm(*_):
        raise Overtime("longer than the limit")
    signal.signal(signal.SIGALRM, alarm)

    def write(**record):
        log.write(json.dumps(record) + "\n")

    def short(node):
        return node.split("::", 1)[-1]

    class Plugin:
        def pytest_collection_modifyitems(self, items):
            write(collected=[short(i.nodeid) for i in items])
            items[:] = [i for i in items if short(i.nodeid) not in done]

        def pytest_collectreport(self, report):
            if report.failed:
                write(broken=str(report.longrepr)[-1500:])

        def pytest_collection_finish(self):
            quern_as_numba.IMPORTING[0] = False

        def pytest_runtest_logstart(self, nodeid):
            write(start=short(nodeid))
            signal.alarm(limit)

        def pytest_runtest_logfinish(self, nodeid):
            signal.alarm(0)
            write(finish=short(nodeid))

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(self, item, call):
            report = yield
            if report.when == "call" or report.outcome != "passed":
                kind = message = trace = ""
                if call.excinfo is not None:
                    kind = call.excinfo.type.__name__
                    message = str(call.excinfo.value)[:2500]
                    child = getattr(call.excinfo.value, "stderr", None)  # of a failed child process
                    if child:
                        child = child.decode() if isinstance(child, bytes) else child
                        message = "child: " + " ".join(re.findall(r"[^\n]*(?:rror: |missing )[^\n]*", child))[:1000]
                    trace = str(report.longrepr)[-2500:]
                write(test=short(item.nodeid), when=report.when, outcome=report.outcome, kind=kind, message=message,
                      trace=trace, s=round(report.duration, 2))
            return report

    pytest.main(["-q", "-p", "no:cacheprovider", "--assert=plain", "--import-mode=importlib", "--tb=native",
                 "--rootdir", str(Path(path).parent), "-W", "ignore::pytest.PytestUnknownMarkWarning", path],
                plugins=[Plugin()])
    log.flush()
    os._exit(0)


# -- the driver -----------------------------------------------------------------------------------------------------

def status_of(record):
    kind, message = record["kind"], record["message"]
    if record["outcome"] == "passed":
        return "pass"
    if record["outcome"] == "skipped":
        return "skip"
    if message == "Unexpected success":
        return "pass"
    if kind == "Overtime":
        return "hang"
    if INNER.search(message) or re.search(r"object has no attribute '(_\w+|memory_manager|deallocations|memalloc\w*|"
                                          r"memhostalloc|create_event|create_stream|handle|cooperative)'", message):
        return "internal"
    if re.search(r"missing (numba|llvmlite|cuda)", message):
        return "missing"
    if kind == "TypingError" and re.search(r"takes 0 positional arguments but \d+ (was|were) given", message) \
            and "test_overload" in message:
        record["message"] = "missing numba.cuda.extending.overload (the stub was called)"
        return "missing"
    if kind == "AssertionError" or kind in ("Failed", "failureException"):
        code = [x for x in record["trace"].splitlines() if "assert" in x or "fail(" in x]
        if re.search(r"\.text\\n|^unexpectedly None : \s*\.text|\.version \d|ModuleID|Generated by", message) or \
                any(re.search(r"ptx|inspect_|_asm|llvm|sass", x) for x in code) or \
                re.search(r"test_fastmath(?!.*divf_exception)|test_inline\b|in _do_test\n|lineinfo_in_", record["trace"], re.S):
            return "asm"
        if "not raised" in message or "DID NOT RAISE" in message:
            return "not-raised"
        if re.search(r"Traceback|error: ", message):
            return "error"
        if re.search(r"does not match|not found in", message):
            return "message"
        return "wrong"
    return "error"


def run_module(args, env, path, name):
    """{test: record}"""
    work = Path(tempfile.mkdtemp(dir=args.work))
    log, done_file = work / "log", work / "done"
    results, collected, start_all = {}, [], time.time()
    for attempt in range(40):
        log.write_text("")
        done_file.write_text("\n".join(results))
        with open(work / "out", "w") as out:
            process = subprocess.Popen([args.python, str(HERE / "run.py"), "--worker", str(path), str(log),
                                        str(done_file), str(args.test_timeout)], stdout=out, stderr=out, env=env,
                                       cwd=str(work), stdin=subprocess.DEVNULL, start_new_session=True)
        size, last, why = 0, time.time(), ""
        while process.poll() is None:
            time.sleep(0.1)
            now = log.stat().st_size
            if now != size:
                size, last = now, time.time()
            if time.time() - last > args.test_timeout + 15:
                why = "hang"
            elif time.time() - start_all > args.file_timeout:
                why = "file timeout"
            if why:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        current = None
        for line in log.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if "collected" in record:
                collected = collected or record["collected"]
            elif "broken" in record:
                message = record["broken"]
                found = INNER.search(message)
                results["(import)"] = dict(status="internal" if found else "import", kind="", message=message)
            elif "start" in record:
                current = record["start"]
            elif "finish" in record:
                current = None
            elif "test" in record:
                test = record.pop("test")
                if test in results and results[test]["status"] != "pass":
                    continue  # a failed subtest comes before the test's own record
                results[test] = dict(record, status=status_of(record))
        if process.returncode == 0 and not why:
            if not collected and "(import)" not in results:
                results["(import)"] = dict(status="import", kind="", message=(work / "out").read_text()[-1500:])
            break
        if current is None and attempt > 2:
            break
        if current is not None:
            tail = (work / "out").read_text()[-1500:]
            results[current] = dict(status="hang" if why else "crash", kind=f"exit {process.returncode}",
                                    message=why or tail)
        if why == "file timeout":
            break
    for test in collected:
        if test not in results:
            results[test] = dict(status="not-run", kind="", message="")
    shutil.rmtree(work, ignore_errors=True)
    return results


def find_tests(suite):
    for path in [suite / "numba_cuda/numba/cuda/tests", suite / "numba/cuda/tests", suite]:
        if (path / "cudapy").is_dir():
            return path
    sys.exit(f"no numba/cuda/tests below {suite}")


def reclassify(file):
    data = json.loads(Path(file).read_text())
    for tests in data.values():
        for t in tests.values():
            if t.get("outcome") and t["status"] not in ("crash", "not-run"):
                t["status"] = status_of(t)
    Path(file).write_text(json.dumps(data, indent=1))


def make_stage(tests, work):
    """The tests without what their packages import."""
    stage = work / "stage"
    if not stage.exists():
        work.mkdir(parents=True, exist_ok=True)
        shutil.copytree(tests, stage, ignore=shutil.ignore_patterns("__pycache__"))
        for init in stage.rglob("__init__.py"):
            init.write_text("")
    return stage


def drive(args):
    args.work = Path(args.work or tempfile.mkdtemp(prefix="peersuite"))
    stage = make_stage(find_tests(Path(args.suite)), args.work)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("QUERN", "NUMBA", "FAKECUDA"))}
    env.update(PEERSUITE_STAGE=str(stage), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", QUERN_NUM_THREADS="2",
               PYTHONPATH=os.pathsep.join(filter(None, [str(HERE / "shim"), str(args.work), args.site, env.get("PYTHONPATH")])))
    if args.strong:
        env["QUERN_AS_NUMBA"] = "1"
    if args.device == "cuda":
        env.update(QUERN_DEVICE="cuda", FAKECUDA_LAZY="1", FAKECUDA_DRIVER_VERSION="13000")  # NVRTC's PTX is as new as the toolkit
        if args.ptxas:
            env["FAKECUDA_PTXAS"] = "1"
        if args.driver:
            env["QUERN_CUDA_LIBRARY"] = str(Path(args.driver).resolve() / "libcuda.so.1")
    everything = json.loads(Path(args.out).read_text()) if args.add and os.path.exists(args.out) else {}
    for folder in DIRS:
        for path in sorted((stage / folder).glob("test_*.py")) if (stage / folder).is_dir() else []:
            name = f"{folder}/{path.stem}"
            if not any(fnmatch.fnmatch(name, g) for g in args.only or ["*"]):
                continue
            if name in INTERNAL and not args.all:
                count = len(re.findall(r"^\s+def test", path.read_text(), re.M))
                everything[name] = {f"#{i}": dict(status="internal", kind="", message="") for i in range(count)}
                continue
            start = time.time()
            everything[name] = run_module(args, env, path, name)
            counts = collections.Counter(r["status"] for r in everything[name].values())
            print(f"{name:45s} {time.time() - start:6.1f} s  {dict(counts)}", flush=True)
            Path(args.out).write_text(json.dumps(everything, indent=1))
    Path(args.out).write_text(json.dumps(everything, indent=1))
    if not args.quiet:
        report([args.out])


# -- the report -------------------------------------------------------------------------------------------------------

def first_line(record):
    lines = [x for x in record["message"].splitlines() if x.strip()]
    line = next((x for x in lines if "error:" in x or "missing " in x), lines[0] if lines else "")
    line = re.sub(r"^\S+\.py:\d+:\d+: ", "", line.strip())
    return f"{record['kind']}: {line}"[:230]


def feature(record):
    """A text to rank by: the missing name, or the message without names, numbers and types in it."""
    lacks = re.search(r"missing ((?:numba|llvmlite|cuda)[\w.]*)", record["message"])
    if lacks:
        return "missing " + lacks.group(1)
    text = first_line(record)
    if "object has no attribute" not in text and "has no attribute" not in text:
        text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"\b(u?int|float|complex)\d+", "T", text)
    return re.sub(r"\d+", "N", text)


# (feature, pattern searched in "module | test | message"): the first that fits counts the test
GROUPS = [(name, re.compile(pattern, re.S)) for name, pattern in (
    ("records and structured arrays", r"values of dtype void|recarray|'record'|numpy\.void|dtype \[\('|dtype \{'names'|"
                                      r"CONST_RECORD|ndarray of an unsupported dtype"),
    ("ufuncs of arrays with out= in a kernel", r"numpy\.\w+ cannot be called with the arguments"),
    ("literal arguments of device functions (shape, dtype)", r"test_atomics.*shape of a shared or local array"),
    ("guvectorize", r"missing numba\.(cuda\.)?guvectorize"),
    ("extending: overload, intrinsic, register_model", r"missing numba\.(cuda\.)?(core\.)?extending|TestStructModelType"),
    ("linking: declare_device, link=, CUSource, cffi", r"declare_device|missing numba\.cuda\.(CUSource|PTXSource|ffi)|option 'link'"),
    ("compile, compile_ptx, compile_all", r"missing numba\.cuda\.(compiler\.)?compile"),
    ("cuda.fp16", r"missing numba\.cuda\.fp16"),
    ("bfloat16", r"bfloat16|bf16"),
    ("cuda.cg", r"missing numba\.cuda\.cg"),
    ("array creation and reductions in kernels", r"test_array_reductions|test_array_methods|has no attribute '(sum|copy|view)'"),
    ("inspect_lto_ptx", r"inspect_lto_ptx"),
    ("round(float, digits)", r"test_round_to"),
    ("reshape in a kernel", r"has no attribute 'reshape'"),
    (".real and .imag of complex arrays", r"has no attribute '(real|imag)'"),
    ("literal_unroll", r"literal_unroll"),
    ("cuda.random", r"missing numba\.cuda\.random"),
    ("print in a kernel", r"function print is not supported"),
    ("cuda.libdevice", r"libdevice"),
    ("vector types", r"vector_types|missing numba\.cuda\.\w+[1-4]\b"),
    ("kernel.extensions, prepare_args", r"has no attribute 'extensions'"),
    ("variables set on some paths only (E0212)", r"is used before it is assigned"),
    ("captured device arrays", r"has the type quern\._quern\.DeviceNDArray"),
    ("Enum members and arguments", r"Color|RequestError|EnumMember|ENUM"),
    ("datetime64, timedelta64", r"datetime64|timedelta64"),
    ("cache hints ldca, stcg ...", r"missing numba\.cuda\.(ld|st)\w\w\b|test_cache_hints"),
    ("cache on disk", r"test_caching"),
    ("int.bit_count", r"bit_count"),
    ("CPointer, carray, farray", r"CPointer|carray|farray"),
    ("signatures of device functions", r"explicit_signatures_device|test_device_casting"),
    ("performance and configuration warnings", r"DID NOT WARN|is not among \[\]|_OptLevel"),
    ("pointers of local and shared arrays (.ctypes)", r"has no attribute 'ctypes'"),
    ("arrays of another dtype than the one signature are refused, not reinterpreted", r"No matching definition"),
    ("register, shared and local memory counts (dict for one signature; 0)", r"test_get_(regs|shared|local|const)"),
    ("device arrays: flags, strides and order of views", r"test_c_f_contig|array_like_2d_view|test_transpose_view|contiguous_(copy|slice)|transpose_wrongdim|negative_strided|auto_device|relaxed_strides|issue_8477"),
    ("interface of foreign arrays and streams on the cpu device", r"this array is not on a CUDA device|produce_(managed_)?stream|test_ufunc_arg"),
    ("NUMBA_DUMP_*", r"test_debug "),
    ("texts of messages", r"not found in|does not match"),
    ("specialize by types, .specialized, .specializations", r"an object of type 'Type'|specializations|_specialized"),
    ("device array: bind, fill, ravel(order=), stream, pointers, iteration",
     r"DeviceNDArray' object (has no attribute|is not iterable)|ravel\(\) takes|cannot create 'quern._quern.DeviceNDArray'"),
    ("NaN and infinity in cmath", r"TestCMath"),
    ("ipc", r"ipc"),
    ("device functions: inspect_asm, compile_device", r"compile_device|test_device_(no)?opt"),
    ("pickle of local kernels and ufuncs", r"pickl"),
    ("exceptions of debug kernels at the launch", r"test_user_raise|test_user_exception"),
    ("scalars that do not fit the signature wrap round", r"does not fit into"),
    ("too slow on the stand-in driver", r"hang (test_issue_9229|test_laplace|test_cuda_matmul)"),
)]


def group(name, test, record):
    text = f"{name} | {record['status']} {test.split('::')[-1]} {test} | {record['kind']}: {record['message']}"
    return next((feature for feature, pattern in GROUPS if pattern.search(text)), "other")


def report(files):
    for file in files:
        data = json.loads(Path(file).read_text())
        total = collections.Counter()
        print(f"\n== {file}")
        for name, tests in data.items():
            counts = collections.Counter(t["status"] for t in tests.values())
            total += counts
            print(f"  {name:45s} " + "  ".join(f"{k} {v}" for k, v in sorted(counts.items())))
        public = sum(v for k, v in total.items() if k not in ("internal", "skip"))
        print(f"public tests: pass {total['pass']}/{public}, without those that look into assembly "
              f"{total['pass']}/{public - total['asm']}   {dict(total)}")
        ranking = collections.Counter()
        for tests in data.values():
            for t in tests.values():
                if t["status"] in ("missing", "error", "import"):
                    ranking[feature(t)] += 1
        groups = collections.Counter()
        for name, tests in data.items():
            for test, t in tests.items():
                if t["status"] not in ("pass", "skip", "internal", "asm", "not-run"):
                    groups[group(name, test, t)] += 1
        print("features by the tests that wait for them:")
        for text, count in groups.most_common():
            print(f"  {count:4d}  {text}")
        print("messages that stop the most tests:")
        for text, count in ranking.most_common(60):
            print(f"  {count:4d}  {text}")
        for status in ("wrong", "asm", "not-raised", "message", "crash", "hang", "not-run"):
            for name, tests in data.items():
                for test, t in tests.items():
                    if t["status"] == status:
                        print(f"{status:10s} {name} {test}: {first_line(t)}")


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        return worker(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    parser = argparse.ArgumentParser()
    for option in "python suite out driver work site".split():
        parser.add_argument("--" + option)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--file-timeout", type=int, default=240)
    parser.add_argument("--test-timeout", type=int, default=20)
    for flag in "strong ptxas all add quiet".split():
        parser.add_argument("--" + flag, action="store_true")
    parser.add_argument("--report", nargs="+")
    args = parser.parse_args()
    if args.report:
        for file in args.report:
            reclassify(file)
        return report(args.report)
    args.python = args.python or sys.executable
    drive(args)


if __name__ == "__main__":
    main()
