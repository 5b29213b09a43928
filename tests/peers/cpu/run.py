"""Numba's own tests on quern (or, as a control, on Numba): one process for each module, restarted after a crash.

  VENV/bin/python run.py --wheel SITE_PACKAGES_WITH_NUMBA --out FOLDER [--python PY] [--peer quern|numba] [MODULE ...]

MODULE is test_lists or npyufunc.test_dufunc; without any, all run. report.py reads FOLDER."""
import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def modules(wheel):
    """All that this wheel has, but for those that drive a debugger."""
    base = os.path.join(wheel, "numba", "tests")
    found = glob.glob(os.path.join(base, "test_*.py")) + glob.glob(os.path.join(base, "*", "test_*.py"))
    names = [os.path.relpath(f, base)[:-3].replace(os.sep, ".") for f in found]
    return sorted(n for n in names if not n.startswith("gdb."))


def events(path):
    if not os.path.exists(path):
        return
    with open(path, errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                pass


def state(path):
    ended, current, all_tests, done = set(), None, None, False
    for e in events(path):
        if e["event"] == "tests":
            all_tests = e["tests"]
        elif e["event"] == "start":
            current = e["test"]
        elif e["event"] == "end":
            ended.add(e["test"])
            current = None
        elif e["event"] in ("done", "import_failed"):
            done = True
    return ended, current, all_tests, done


def run_module(args, name):
    out = os.path.join(args.out, name + ".jsonl")
    for old in glob.glob(out + "*"):
        os.remove(old)
    env = dict(os.environ)
    env["PEERSUITE_WHEEL"] = args.wheel
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.setdefault("QUERN_AS_NUMBA", "1")
    if args.peer == "quern":   # programs that a test starts see quern as well
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [os.path.join(HERE, "site"), env.get("PYTHONPATH")]))
        env["PEERSUITE_STRICT"] = "1"
        env["PEERSUITE_INLINE"] = "1"
    # one thread for BLAS, two for the compilers
    for n in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        env.setdefault(n, "1")
    begin = time.time()
    restarts = 0
    while True:
        ended, _, _, _ = state(out)
        skip = out + ".skip"
        with open(skip, "w") as file:
            file.write("\n".join(sorted(ended)))
        log = open(out + ".log", "ab")
        process = subprocess.Popen(
            [args.python, os.path.join(HERE, "worker.py"), "numba.tests." + name, out, "--skip", skip, "--peer", args.peer,
             "--seconds", str(args.test_seconds)],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env, cwd=args.out, start_new_session=True)
        last, since = None, time.time()
        reason = None
        while process.poll() is None:
            time.sleep(0.1)
            size = os.path.getsize(out) if os.path.exists(out) else 0
            if size != last:
                last, since = size, time.time()
            elif time.time() - since > args.test_seconds + 8:
                reason = "hang"
            if time.time() - begin > args.module_seconds:
                reason = "module timeout"
            if reason:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                break
        _, current, all_tests, done = state(out)
        if done and not reason:
            return
        with open(out, "a") as file:
            if reason == "module timeout":
                file.write(json.dumps({"event": "module_timeout", "test": current}) + "\n")
                return
            status = "hang" if reason else "crash"
            trace = open(out + ".trace", errors="replace").read()[:3000] if os.path.exists(out + ".trace") else ""
            if current is None:
                file.write(json.dumps({"event": "import_failed" if all_tests is None else "died", "type": status,
                                       "message": f"{status} {process.returncode}", "trace": trace}) + "\n")
                if all_tests is None:
                    return
            else:
                file.write(json.dumps({"event": "end", "test": current, "status": status, "touched": [], "count": 1,
                                       "info": {"type": status, "quern": [], "message":
                                                f"{status} (exit {process.returncode})", "trace": trace}}) + "\n")
        restarts += 1
        if restarts > 60:
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peer", default="quern", choices=["quern", "numba"])
    parser.add_argument("--test-seconds", type=int, default=20)
    parser.add_argument("--module-seconds", type=int, default=240)
    parser.add_argument("--skip", default="", help="modules not to run, with commas")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.wheel, args.out = os.path.abspath(args.wheel), os.path.abspath(args.out)
    os.makedirs(args.out, exist_ok=True)
    os.nice(10)
    for name in args.names or modules(args.wheel):
        if name in args.skip.split(","):
            continue
        begin = time.time()
        run_module(args, name)
        counts = {}
        for e in events(os.path.join(args.out, name + ".jsonl")):
            key = e.get("status") if e["event"] == "end" else e["event"] if e["event"] not in (
                "start", "tests", "done") else None
            if key:
                counts[key] = counts.get(key, 0) + 1
        print(f"{name:45s} {time.time() - begin:6.1f}s {counts}", flush=True)


if __name__ == "__main__":
    main()
