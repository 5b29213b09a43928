"""Measures one contestant: worker.py quern|numba|c SET LIBRARY. Questions come on stdin, one answer a line."""
import ctypes
import importlib
import json
import os
import pathlib
import sys
import time

import numpy as np

CONTESTANT, SET, LIBRARY = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
if "QUERN_BUILD" in os.environ:
    sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))
SOURCE = importlib.import_module(SET)
CASES = SOURCE.CASES
HELPERS = getattr(SOURCE, "HELPERS", ())  # functions that kernels call by name
RESULTS = {None: None, "i": ctypes.c_int64, "d": ctypes.c_double}
clock = time.perf_counter_ns
made = {}


def placed(arguments):
    """The arguments with their arrays at multiples of 64 bytes of one piece of memory: each lies at the same place in its page for all
    contestants, and no two at nearly the same one, where a load waits for the store before it."""
    page, places, end = 4096, [], 0
    for a in arguments:
        if isinstance(a, np.ndarray):
            end = -(-end // page) * page + len(places) * 704 % page
            places.append(end)
            end += a.nbytes
    raw = np.zeros(end + page, np.uint8)
    base = -raw.ctypes.data % page

    def place(a):
        if not isinstance(a, np.ndarray):
            return a
        at = base + places.pop(0)
        array = raw[at:at + a.nbytes].view(a.dtype).reshape(a.shape)
        array[...] = a
        return array

    return [place(a) for a in arguments]


def sums(a):
    """Two of an array's: of sizes, and one that knows places and signs."""
    for part in [a.real, a.imag] if np.iscomplexobj(a) else [a]:
        part = part.astype("f8").ravel()
        size = np.abs(part)
        yield float(size.sum())
        yield float((size * (1 + np.arange(size.size) % 1009) * np.where(part < 0, 1.5, 1.0)).sum())


def c_arguments(args):
    for a in args:
        if isinstance(a, np.ndarray):
            yield ctypes.c_void_p(a.ctypes.data)
            yield from map(ctypes.c_int64, a.shape)
        elif isinstance(a, complex):
            yield from map(ctypes.c_double, (a.real, a.imag))
        else:
            yield ctypes.c_double(a) if isinstance(a, float) else ctypes.c_int64(a)


def fresh(kernel):
    return placed(CASES[kernel][1](np.random.default_rng(7)))


def make(kernel, variant):
    args = fresh(kernel)
    if CONTESTANT == "c":
        f = getattr(ctypes.CDLL(LIBRARY), kernel)
        f.restype = RESULTS[CASES[kernel][2]]
        values = tuple(c_arguments(args))
    else:
        library = importlib.import_module(CONTESTANT)
        njit = library.njit(boundscheck=False) if variant == "unchecked" else library.njit
        for helper in HELPERS:  # of the same variant, and compiled with the kernel
            setattr(sys.modules[helper.__module__], helper.__name__, njit(helper))
        f = njit(CASES[kernel][0])
        values = tuple(args)
    start = clock()
    value = f(*values)
    compiled = clock() - start
    result = [float(value or 0)] + [number for a in args if isinstance(a, np.ndarray) for number in sums(a)]
    return f, values, args, compiled, result


def measure(kernel, variant, seconds):
    if (kernel, variant) not in made:
        made[kernel, variant] = make(kernel, variant)
    f, values, _, compiled, result = made[kernel, variant]
    calls, spent = 1, 0
    while spent < 4e5:
        start = clock()
        for _ in range(calls):
            f(*values)
        spent = clock() - start
        best, calls = spent / calls, calls * 2
    end = clock() + int(seconds * 1e9)
    calls //= 2
    while clock() < end:
        start = clock()
        for _ in range(calls):
            f(*values)
        best = min(best, (clock() - start) / calls)
    return {"ns": best, "compile": compiled, "result": result}


def loops_of(kernel):
    f = made[kernel, "checked"][0]
    return f.inspect_loops(f.signatures[0])


if CONTESTANT != "c":  # what the first compilation of a process sets up is no kernel's
    importlib.import_module(CONTESTANT).njit(lambda x: x + 1)(1)
for line in sys.stdin:
    question = json.loads(line)
    if question[0] == "loops":
        print(json.dumps(loops_of(question[1])), flush=True)
        continue
    if question[0] == "kernels":
        print(json.dumps(list(CASES)), flush=True)
        continue
    try:
        answer = measure(*question)
    except Exception as error:  # told, and the others are measured
        answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"}
    print(json.dumps(answer), flush=True)
