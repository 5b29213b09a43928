"""What a launch costs the host: three arrays, sixteen, a kernel with a barrier, one small block each.

    python benchmarks/launches.py --device cpu
    python benchmarks/launches.py --fakecuda build/test/fakecuda/libcuda.so.1
    python benchmarks/launches.py --fakehip build/test/fakehip/libamdhip64.so.7

On the cpu device the time is that of the whole launch, the block's work with it; over the stand-in drivers, which check launches and
run nothing, what remains when the driver's own call (bare_launch.c) and the call of an empty Python function with as many arguments are
taken off. Best of many batches: other work on the machine only makes them longer."""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def kernels(cuda):
    @cuda.jit
    def three(a, b, c):
        i = cuda.grid(1)
        if i < a.size:
            c[i] = a[i] + b[i]

    @cuda.jit
    def barrier(a):
        tile = cuda.shared.array(32, np.float64)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        cuda.syncthreads()
        a[t] = tile[31 - t]

    names = ", ".join(f"a{k}" for k in range(16))
    scope = {"cuda": cuda}
    exec(f"def sixteen({names}):\n    i = cuda.grid(1)\n    if i < a0.size:\n        a15[i] = a0[i]\n", scope)
    return (("three arrays", three, 3), ("sixteen arrays", cuda.jit(scope["sixteen"]), 16), ("one barrier", barrier, 1))


def nothing(*arguments):
    pass


def best(cuda, function, arguments, batch=300, batches=200):
    for _ in range(20):
        function(*arguments)
    least = float("inf")
    for _ in range(batches):
        cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(batch):
            function(*arguments)
        least = min(least, (time.perf_counter_ns() - start) / batch)
    return least


def six(a, b, c, d, e, f):
    """A kernel whose parameters have 48 bytes, as those of bare_launch.c."""
    a[0] = b + c + d + e + f


def driver_call(library, more=None):
    """more: the code object of `six` and the name of the kernel in it."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "bare")
        subprocess.run(["cc", "-O2", "-o", program, str(HERE / "bare_launch.c"), "-ldl", "-pthread"], check=True)
        words = [program, library]
        if more:
            (pathlib.Path(folder) / "six").write_bytes(more.code)
            words += [str(pathlib.Path(folder) / "six"), more.name]
        return min(float(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for _ in range(5))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "hip"])
    parser.add_argument("--fakecuda", help="the stand-in libcuda.so.1")
    parser.add_argument("--fakehip", help="the stand-in libamdhip64.so")
    options = parser.parse_args()
    options.fakecuda, options.fakehip = (name and os.path.abspath(name) for name in (options.fakecuda, options.fakehip))
    os.environ["QUERN_DEVICE"] = options.device
    driver = 0.0
    if options.fakecuda:
        os.environ.update(QUERN_DEVICE="cuda", QUERN_CUDA_LIBRARY=options.fakecuda, FAKECUDA_NOEXEC="1")
        driver = driver_call(options.fakecuda)
        print(f"cuLaunchKernel of the stand-in {driver:10.0f} ns")
    if options.fakehip:
        os.environ.update(QUERN_DEVICE="hip", QUERN_HIP_LIBRARY=options.fakehip, FAKEHIP_NOEXEC="1")
        from quern import hip
        driver = driver_call(options.fakehip, hip.compile(six, "void(int64[::1], int64, int64, int64, int64, int64)", arch="gfx1100"))
        print(f"hipModuleLaunchKernel of the stand-in {driver:3.0f} ns")
    from quern import cuda
    arrays = [cuda.to_device(np.ones(32)) for _ in range(16)]
    for name, kernel, n in kernels(cuda):
        whole = best(cuda, kernel[1, 32], arrays[:n])
        call = best(cuda, nothing, arrays[:n])
        print(f"{name:16s} {whole:8.0f} ns, an empty function {call:6.0f} ns, besides {whole - call - driver:8.0f} ns")


if __name__ == "__main__":
    main()
