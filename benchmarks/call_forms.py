"""Forms of calls beside the positional one: call_forms.py [quern|numba]. QUERN_BUILD names a build folder; without it the installed package is measured.

ns of a call, the least of many batches less the empty loop: keywords, *args, a returned tuple, and 1 to 32 arrays, which should take as much more each."""
import os
import pathlib
import sys
import time

LIBRARY = sys.argv[1] if len(sys.argv) > 1 else "quern"
if LIBRARY == "quern" and "QUERN_BUILD" in os.environ:
    sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))

import numpy as np  # noqa: E402

njit = __import__(LIBRARY).njit
BATCHES, CALLS = 2000, 200


def batches(call, names):
    """A function of no arguments that times one batch; `call` is compiled into its loop."""
    names = dict(names, clock=time.perf_counter_ns)
    exec(f"def timed():\n    start = clock()\n    for _ in range({CALLS}):\n        {call}\n    return clock() - start", names)
    return names["timed"]


def measure(forms):
    """Forms take turns: {form: ns of one call}."""
    timed = {name: batches(call, names) for name, (call, names) in forms.items()}
    for one in timed.values():
        one()
    least = dict.fromkeys(timed, float("inf"))
    for _ in range(BATCHES):
        for name, one in timed.items():
            least[name] = min(least[name], one())
    return {name: (ns - least["nothing"]) / CALLS for name, ns in least.items() if name != "nothing"}


def many(n):
    names = [f"a{i}" for i in range(n)]
    made = {}
    exec(f"def f({', '.join(names)}):\n    return a0[0]", made)
    return f"f({', '.join(names)})", {"f": njit(made["f"]), **{name: np.ones(3) for name in names}}


def main():
    two, four, pair = njit(lambda x, y: x + y), njit(lambda x, y, z, w: x + y), njit(lambda x, y: (x, y))
    arrays = njit(lambda x, y: x[0] + y[0])
    a = np.ones(3)
    forms = {
        "nothing": ("pass", {}),
        "f(1, 2)": ("f(1, 2)", {"f": two}),
        "f(x=1, y=2)": ("f(x=1, y=2)", {"f": two}),
        "f(*args) of 2": ("f(*args)", {"f": two, "args": (1, 2)}),
        "a pair": ("f(1, 2)", {"f": pair}),
        "f(1, 2, 3, 4)": ("f(1, 2, 3, 4)", {"f": four}),
        "4 by keywords": ("f(x=1, y=2, z=3, w=4)", {"f": four}),
        "f(*args) of 4": ("f(*args)", {"f": four, "args": (1, 2, 3, 4)}),
        "two arrays": ("f(a, a)", {"f": arrays, "a": a}),
        "two arrays by keywords": ("f(x=a, y=a)", {"f": arrays, "a": a}),
        **{f"{n} arrays": many(n) for n in (1, 8, 14, 15, 16, 20, 24, 30, 32)},
    }
    found = measure(forms)
    against = {"f(x=1, y=2)": "f(1, 2)", "f(*args) of 2": "f(1, 2)", "a pair": "f(1, 2)", "4 by keywords": "f(1, 2, 3, 4)", "f(*args) of 4": "f(1, 2, 3, 4)",
               "two arrays by keywords": "two arrays"}
    for name, ns in found.items():
        print(f"{name:24}{ns:8.1f} ns" + (f"{ns / found[against[name]]:8.2f}" if name in against else ""))


if __name__ == "__main__":
    main()
