"""Containers: Quern beside the newest Numba, in one process, by turns.

    PYTHONPATH=build/test-3.12/python PYTHON_WITH_NUMBA benchmarks/containers.py [WORD ...]

One line a program: microseconds of Quern, of Numba, the ratio, and the goal. A word takes the programs whose names have it."""
import sys
import time
import warnings

import numba
import numba.experimental
import numba.typed
import numpy as np
import quern
import quern.experimental
import quern.typed

warnings.simplefilter("ignore")
N = 10000


# -- in compiled code: each builds what it needs outside of what is measured, and repeats ------------------------------------------


def list_append(rounds, n):
    total = 0
    for _ in range(rounds):
        xs = [0.5]
        for i in range(n):
            xs.append(i * 0.5)
        total += len(xs)
    return total


def list_index(rounds, n):
    xs = [i * 0.5 for i in range(n)]
    s = 0.0
    for _ in range(rounds):
        for i in range(n):
            s += xs[i]
    return s


def list_index_ints(rounds, n):
    xs = [i ^ 5 for i in range(n)]  # no division, which would be most of the time
    s = 0
    for _ in range(rounds):
        for i in range(n):
            s += xs[i]
    return s


def list_index_apart(rounds, n):  # four sums: none waits for another
    xs = [i * 0.5 for i in range(n)]
    a = b = c = d = 0.0
    for _ in range(rounds):
        for i in range(0, n - 3, 4):
            a += xs[i]
            b += xs[i + 1]
            c += xs[i + 2]
            d += xs[i + 3]
    return a + b + c + d


def list_gather(rounds, n):
    xs = [i * 7 % n for i in range(n)]
    s = 0
    k = 0
    for _ in range(rounds):
        for i in range(n):
            k = xs[k]
            s += k
    return s


def list_assign(rounds, n):
    xs = [i for i in range(n)]
    for _ in range(rounds):
        for i in range(1, n):
            xs[i] = xs[i - 1] + i
    return xs[n - 1]


def list_iterate(rounds, n):
    xs = [i * 0.5 for i in range(n)]
    s = 0.0
    for _ in range(rounds):
        for x in xs:
            s += x
    return s


def list_of_lists(rounds, n):
    rows = [[i, i + 1, i + 2] for i in range(n)]
    s = 0
    for _ in range(rounds):
        for i in range(n):
            s += rows[i][1]
    return s


def dict_insert(rounds, n):
    total = 0
    for _ in range(rounds):
        d = {0: 1.0}
        for i in range(n):
            d[i * 7] = i * 0.5
        total += len(d)
    return total


def dict_look_up(rounds, n):
    d = {0: 1.0}
    for i in range(n):
        d[i * 7] = i * 0.5
    s = 0.0
    for _ in range(rounds):
        for i in range(n):
            s += d[i * 7]
    return s


def dict_count(rounds, n):
    d = {0: 0}
    for _ in range(rounds):
        for i in range(n):
            k = i * i % 1009
            if k in d:
                d[k] += 1
            else:
                d[k] = 1
    return len(d)


def dict_iterate(rounds, n):
    d = {0: 1.0}
    for i in range(n):
        d[i * 7] = i * 0.5
    s = 0.0
    for _ in range(rounds):
        for k, v in d.items():
            s += k * v
    return s


def set_insert(rounds, n):
    total = 0
    for _ in range(rounds):
        d = {0}
        for i in range(n):
            d.add(i * 7)
        total += len(d)
    return total


def set_look_up(rounds, n):
    d = {0}
    for i in range(n):
        d.add(i * 7)
    hits = 0
    for _ in range(rounds):
        for i in range(n):
            if i in d:
                hits += 1
    return hits


def set_iterate(rounds, n):
    d = {0}
    for i in range(n):
        d.add(i * 7)
    s = 0
    for _ in range(rounds):
        for k in d:
            s += k
    return s


def text_keys(rounds, n):
    words = ["word" + str(i % 500) for i in range(n)]
    d = {"word": 0}
    for _ in range(rounds):
        for w in words:
            if w in d:
                d[w] += 1
            else:
                d[w] = 1
    return len(d)


COMPILED = [  # goals: of Numba's reflected lists, its dicts and sets
    (list_append, 0.5), (list_index, 0.5), (list_index_ints, 0.5), (list_index_apart, 0.5), (list_gather, 0.5), (list_assign, 0.5), (list_iterate, 0.5), (list_of_lists, 0.5),
    (dict_insert, 0.8), (dict_look_up, 0.8), (dict_count, 0.8), (dict_iterate, 0.8),
    (set_insert, 0.8), (set_look_up, 0.8), (set_iterate, 0.8), (text_keys, 1.0)]


# -- typed lists: the list is an argument ------------------------------------------------------------------------------------------


def typed_append(xs, rounds, n):
    for _ in range(rounds):
        xs.clear()
        for i in range(n):
            xs.append(i * 0.5)
    return len(xs)


def typed_index(xs, rounds, n):
    s = 0.0
    for _ in range(rounds):
        for i in range(n):
            s += xs[i]
    return s


# -- generators and functions as values -----------------------------------------------------------------------------------------------


def of_values(jit):
    """{name: (function, further arguments)}, and a generator function."""
    @jit
    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            yield a
            a, b = b, (a + b) & 0xffff

    @jit
    def evens(n):
        for x in fibonacci(n):
            if x % 2 == 0:
                yield x

    @jit
    def generator(rounds, n):
        s = 0.0
        for _ in range(rounds):
            for x in fibonacci(n):
                s += x
        return s

    @jit
    def generator_in_generator(rounds, n):
        s = 0
        for _ in range(rounds):
            for x in evens(n):
                s += x
        return s

    @jit
    def values(xs):
        for i in range(len(xs)):
            yield xs[i]

    @jit
    def above(xs, least):
        for x in values(xs):
            if x > least:
                yield x

    @jit
    def generator_of_array(rounds, n):
        a = np.arange(n) * 0.5
        s = 0.0
        for _ in range(rounds):
            for x in values(a):
                s += x
        return s

    @jit
    def generator_of_list(rounds, n):
        xs = [i * 0.5 for i in range(n)]
        s = 0.0
        for _ in range(rounds):
            for x in values(xs):
                s += x
        return s

    @jit
    def generator_that_filters(rounds, n):
        a = np.arange(n) * 0.5
        found = 0
        for _ in range(rounds):
            for x in above(a, n * 0.25):
                found += 1
        return found

    @jit
    def more(x):
        return x + 1.0

    @jit
    def applied(rounds, n, f):
        s = 0.0
        for _ in range(rounds * n):
            s = f(s)
        return s

    found = {f.__name__: (f, ()) for f in (generator, generator_in_generator, generator_of_array, generator_of_list, generator_that_filters)}
    return {**found, "function_value": (applied, (more,))}, fibonacci


# -- from the interpreter -----------------------------------------------------------------------------------------------------------


def of_interpreter(jit):
    """{name: (statement, names)} with the package's own containers."""
    module = quern if jit is quern.njit else numba
    xs = [float(i) for i in range(N)]
    first = jit(lambda xs: xs[0])
    d = module.typed.Dict()
    for i in range(100):
        d[i] = i * 0.5
    typed = module.typed.List([i * 0.5 for i in range(100)])

    @module.experimental.jitclass([("x", module.float64)])
    class Point:
        def __init__(self, x):
            self.x = x

        @property
        def twice(self):
            return 2 * self.x

        def plus(self, y):
            return self.x + y

    point = Point(1.5)
    return {
        "call with 10,000 floats": ("first(xs)", dict(first=first, xs=xs), 1 / 3),
        "typed list l[i]": ("l[7]", dict(l=typed), 0.25),
        "typed dict d[k]": ("d[7]", dict(d=d), 0.25),
        "typed dict, walked": ("for k in d: pass", dict(d=d), 0.25),
        "typed list, walked": ("for x in l: pass", dict(l=typed), 0.25),
        "generator, walked": ("for x in g(100): pass", dict(g=of_values(jit)[1]), 1.0),
        "jitclass attribute": ("p.x", dict(p=point), 0.25),
        "jitclass property": ("p.twice", dict(p=point), 0.25),
        "jitclass method": ("p.plus(2.0)", dict(p=point), 0.25),
    }


# -- measuring ----------------------------------------------------------------------------------------------------------------------


def best(runs, turns=7):
    """Least processor time of each, by turns."""
    least = [float("inf")] * len(runs)
    for _ in range(turns):
        for k, run in enumerate(runs):
            start = time.process_time()
            run()
            least[k] = min(least[k], time.process_time() - start)
    return least


def show(name, seconds, goal):
    ratio = seconds[0] / seconds[1]
    print(f"{name:28} {seconds[0] * 1e6:11.2f} {seconds[1] * 1e6:11.2f} {ratio:7.2f} {goal:6.2f} {'' if ratio <= goal else 'missed'}", flush=True)


def compiled(name, goal, function, args):
    pair = function if isinstance(function, list) else [module.njit(function) for module in (quern, numba)]
    results = [f(*a) for f, a in zip(pair, args)]
    assert results[0] == results[1], (name, results)
    show(name, best([lambda f=f, a=a: f(*a) for f, a in zip(pair, args)]), goal)


AT_ONCE = 20  # copies of a statement in a round, so that what is measured is not the loop


def interpreted(name, goal, rows, repeats=2000):
    copies = 1 if rows[0][name][0].startswith("for ") else AT_ONCE

    def loop(statement, names):
        scope = dict(names)
        lines = f"\n        {statement}" * copies
        exec(f"def run():\n    for _ in range({repeats // copies}):{lines}", scope)
        return scope["run"]

    runs = [loop(*row[name][:2]) for row in rows]
    for run in runs:
        run()
    show(name, [s / repeats for s in best(runs)], goal)


def main(words):
    def wanted(name):
        return not words or any(word in name for word in words)

    print(f"{'':28} {'Quern us':>11} {'Numba us':>11} {'ratio':>7} {'goal':>6}   quern {quern.__version__}, numba {numba.__version__}")
    for function, goal in COMPILED:
        if wanted(function.__name__):
            compiled(function.__name__, goal, function, [(20, N)] * 2)
    for function in (typed_append, typed_index):
        if wanted(function.__name__):
            lists = [module.typed.List([0.5] * N) for module in (quern, numba)]
            compiled(function.__name__, 1.0, function, [(xs, 20, N) for xs in lists])
    of_both = [of_values(module.njit)[0] for module in (quern, numba)]
    for name in of_both[0]:
        if wanted(name):
            compiled(name, 1.0, [values[name][0] for values in of_both], [(20, N) + values[name][1] for values in of_both])
    rows = [of_interpreter(quern.njit), of_interpreter(numba.njit)]
    for name in rows[0]:
        if wanted(name):
            interpreted(name, rows[0][name][2], rows, 20 if "10,000" in name else 200 if "walked" in name else 2000)


if __name__ == "__main__":
    main(sys.argv[1:])
