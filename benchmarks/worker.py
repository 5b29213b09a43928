"""One measurement in a process of its own: worker.py LIBRARY JOB [NAME]. Prints one JSON object.

LIBRARY is quern, numba or c (programs.c, through ctypes; only for loops). JOB: import, first, compile, call, loop, launch.
"""
import json
import sys
import time


def clock_of(function, seconds=0.2, rounds=7):
    """Nanoseconds a call: the best of `rounds` batches that last about seconds / rounds each."""
    calls = 1
    while True:
        start = time.perf_counter_ns()
        for _ in range(calls):
            function()
        spent = time.perf_counter_ns() - start
        if spent > seconds * 1e9 / rounds or calls > 10**8:
            break
        calls = max(calls * 2, int(calls * seconds * 1e9 / rounds / max(spent, 1)))
    best = spent
    for _ in range(rounds - 1):
        start = time.perf_counter_ns()
        for _ in range(calls):
            function()
        best = min(best, time.perf_counter_ns() - start)
    return best / calls


def decorator(library, **options):
    module = __import__(library)
    return module.njit(**options) if options else module.njit


def job_import(library, _):
    import numpy  # noqa: F401  (its own time is not ours)

    start = time.perf_counter_ns()
    __import__(library)
    return {"ns": time.perf_counter_ns() - start}


def job_first(library, name):
    """From before the import to the first result, NumPy already there."""
    import numpy as np

    start = time.perf_counter_ns()
    njit = decorator(library)
    if name == "add":
        assert njit(lambda a, b: a + b)(1, 2) == 3
    else:
        from programs import total

        assert njit(total)(np.ones(10)) == 10
    return {"ns": time.perf_counter_ns() - start}


def job_compile(library, name):
    """First call of a program in a process that has compiled before."""
    import copy

    from programs import arguments

    njit = decorator(library)
    njit(lambda a, b: a + b)(1, 2)
    function, args = arguments()[name]
    best = None
    for _ in range(3):
        fresh = copy.copy(function)
        code = function.__code__.replace(co_name=function.__name__)
        fresh = type(function)(code, function.__globals__)
        start = time.perf_counter_ns()
        njit(fresh)(*args)
        spent = time.perf_counter_ns() - start
        best = spent if best is None else min(best, spent)
    return {"ns": best}


def job_call(library, name):
    import numpy as np

    njit = decorator(library)
    a = np.zeros(4)
    cases = {
        "two ints": (njit(lambda x, y: x), (1, 2)),
        "two floats": (njit(lambda x, y: x), (1.0, 2.0)),
        "one array": (njit(lambda x: 0), (a,)),
        "scalar and three arrays": (njit(lambda s, x, y, z: s), (1.0, a, a, a)),
        "eight arrays": (njit(lambda a, b, c, d, e, f, g, h: 0), (a,) * 8),
    }
    function, args = cases[name]
    function(*args)

    def empty(*_):
        pass

    # The loop's own cost is measured with the same arguments on a loop that calls nothing.
    namespace = {"f": function, "args": args, "clock": time.perf_counter_ns}
    names = ", ".join(f"args[{i}]" for i in range(len(args)))
    locals_ = "; ".join(f"v{i} = args[{i}]" for i in range(len(args)))
    call = ", ".join(f"v{i}" for i in range(len(args)))
    exec(f"""
def timed(n):
    {locals_}
    start = clock()
    for _ in range(n):
        f({call})
    return clock() - start

def bare(n):
    {locals_}
    start = clock()
    for _ in range(n):
        pass
    return clock() - start
""", namespace)
    del names, empty
    n = 200_000
    return {"ns": (min(namespace["timed"](n) for _ in range(9)) - min(namespace["bare"](n) for _ in range(9))) / n}


def c_program(name, args):
    import ctypes

    import numpy as np

    function = getattr(ctypes.CDLL(C_LIBRARY), {"sum": "total"}.get(name, name))
    converted, lengths = [], []
    for a in args:
        if isinstance(a, np.ndarray):
            converted.append(ctypes.c_void_p(a.ctypes.data))
            lengths = list(a.shape) if name in ("stencil", "mandelbrot") and len(lengths) < 2 else [a.shape[0]] if not lengths else lengths
        elif isinstance(a, float):
            converted.append(ctypes.c_double(a))
        else:
            converted.append(ctypes.c_int64(a))
    converted += [ctypes.c_int64(n) for n in lengths]
    function.restype = {"sum": ctypes.c_double, "sieve": ctypes.c_int64}.get(name)
    return lambda: function(*converted)


C_LIBRARY = None


def job_loop(library, name, options=None):
    from programs import arguments

    function, args = arguments()[name]
    if library == "c":
        run = c_program(name, args)
    else:
        compiled = decorator(library, **(options or {}))(function)
        compiled(*args)

        def run():
            compiled(*args)

    return {"ns": clock_of(run)}


def job_launch(library, name):
    """Host work of kernel[grid, block](three device arrays) against the stand-in driver, which executes nothing."""
    import numpy as np
    from quern import cuda

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i] + y[i]

    d = [cuda.to_device(np.zeros(128, np.float32)) for _ in range(3)]
    configured = kernel[1, 128]
    configured(*d)
    x, y, out = d
    # What the loop and the lambda cost is not the launch's. Batches of a millisecond, as bare_launch.c has them: on a busy
    # machine longer ones always contain the turn of somebody else.
    short = {"seconds": 0.3, "rounds": 300}
    return {"ns": clock_of(lambda: configured(x, y, out), **short) - clock_of(lambda: None, **short)}


if __name__ == "__main__":
    library, job, name = (sys.argv + [""])[1:4]
    options = json.loads(sys.argv[4]) if len(sys.argv) > 4 and not sys.argv[4].endswith(".so") else None
    if sys.argv[-1].endswith(".so"):
        C_LIBRARY = sys.argv[-1]
    function = globals()["job_" + job]
    result = function(library, name, options) if job == "loop" else function(library, name)
    print(json.dumps(result))
