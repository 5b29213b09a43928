"""Generalised ufuncs beside Numba's: `python gufuncs.py quern` and `python gufuncs.py numba`, each under its own Python.

For each function the first call (decorated with a signature, called once; the best of three new functions) and a warm call (the
best of seven). CPU time of the process: what else the machine does counts little. A ratio is made of two runs, one after the
other."""
import sys
import time
from types import FunctionType

import numpy as np


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def moving_average(x, w, out):
    for i in range(x.shape[0]):
        low = max(0, i - w)
        s = 0.0
        for j in range(low, i + 1):
            s += x[j]
        out[i] = s / (i + 1 - low)


def axpy(a, x, y, out):
    out[0] = a * x + y


def softmax(x, out):
    m = x[0]
    for i in range(x.shape[0]):
        m = max(m, x[i])
    s = 0.0
    for i in range(x.shape[0]):
        out[i] = np.exp(x[i] - m)
        s += out[i]
    for i in range(x.shape[0]):
        out[i] /= s


def total(x, out):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    out[0] = s


def scaled(x, k, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * k + 1.0


def cases():
    r = np.random.default_rng(0)
    matrices, line = "(m,n),(n,p)->(m,p)", ["f8[:],f8[:]"]
    planes = ["f8[:,:],f8[:,:],f8[:,:]"]
    return [
        ("matmul, 4 x 4", matmul, planes, matrices, (r.random((50000, 4, 4)), r.random((50000, 4, 4)))),
        ("matmul, 64 x 64", matmul, planes, matrices, (r.random((50, 64, 64)), r.random((50, 64, 64)))),
        ("moving average", moving_average, ["f8[:],i8,f8[:]"], "(n),()->(n)", (r.random((1000, 1000)), 7)),
        ("axpy", axpy, ["f8,f8,f8,f8[:]"], "(),(),()->()", (2.5, r.random(10 ** 6), r.random(10 ** 6))),
        ("softmax, rows of 64", softmax, line, "(n)->(n)", (r.random((10000, 64)),)),
        ("sums of rows of 4", total, line, "(n)->()", (r.random((200000, 4)),)),
        ("sums of rows of 1000", total, line, "(n)->()", (r.random((1000, 1000)),)),
        ("sums of columns of 1000", total, line, "(n)->()", (r.random((1000, 1000)).T,)),
        ("rows of 1000 scaled", scaled, ["f8[:],f8,f8[:]"], "(n),()->(n)", (r.random((1000, 1000)), 2.5)),
        ("one row of 4, one call", total, line, "(n)->()", (r.random(4),)),
    ]


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def new(function):
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def main(package):
    guvectorize = __import__(package).guvectorize
    guvectorize(["f8[:],f8[:]"], "(n)->()")(new(total))(np.ones(2))  # what is done once in a process
    for name, function, signatures, layout, args in cases():
        first = min(seconds(lambda: guvectorize(signatures, layout)(new(function))(*args)) for _ in range(3))
        ufunc = guvectorize(signatures, layout)(function)
        out = ufunc(*args)
        times = 1000 if np.size(out) == 1 else 1
        run = min(seconds(lambda: [ufunc(*args) if times > 1 else ufunc(*args, out) for _ in range(times)]) for _ in range(7))
        print(f"{name:24s} first {first * 1e3:7.1f} ms   warm {run / times * 1e6:9.1f} us", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
