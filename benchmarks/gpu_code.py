"""Machine code of kernels, Quern's beside nvcc's, counted: no GPU needed.

    QUERN_DEVICE=cuda QUERN_CUDA_LIBRARY=<libcuda.so.1, the stand-in will do> python benchmarks/gpu_code.py [--arch sm_90]

Wants nvcc, ptxas and nvdisasm (CUDA toolkit; the latter also as nvidia-cuda-nvdisasm from PyPI). Printed for each kernel: all
instructions, and those of its loops, outermost first as they stand; unrolling differs, so read them with the code at hand.
Fewer is not always faster, but twice as many is a question.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

from kernels import KERNELS

from quern import cuda


def functions(listing):
    """Of each function: the number of instructions, and of those between a backward branch and its target."""
    found = {}
    for line in listing.splitlines():
        if start := re.match(r"\.text\.(?:quern_)?(\w+):", line):
            count, labels, loops = 0, {}, []
            found[start.group(1)] = loops
            loops.append(0)
        elif label := re.match(r"(\.L_x_\d+):", line):
            labels[label.group(1)] = count
        elif re.match(r"\s+/\*[0-9a-f]{4,5}\*/", line) and "NOP" not in line:
            branch = re.search(r"BRA.*\((\.L_x_\d+)\)", line)
            if branch and labels.get(branch.group(1), count) < count:
                loops.append(count - labels[branch.group(1)] + 1)
            count += 1
            loops[0] = count
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())

    def tool(*words):
        return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout

    def disassembled(file):
        return functions(tool(options.nvdisasm, "-c", file))

    source = pathlib.Path(__file__).with_name("kernels.cu")
    tool("nvcc", "-O3", f"-arch={options.arch}", "-cubin", "-o", folder / "nvcc.cubin", source)
    theirs = disassembled(folder / "nvcc.cubin")
    print("| kernel | instructions | nvcc | loops | nvcc |\n|---|---|---|---|---|")
    for name, (function, signature) in KERNELS.items():
        kernel = cuda.jit(signature)(function)
        ptx = next(iter(kernel.inspect_ptx().values()))
        (folder / "k.ptx").write_text(ptx)
        tool("ptxas", "-O3", f"-arch={options.arch}", "-o", folder / "k.cubin", folder / "k.ptx")
        ours = disassembled(folder / "k.cubin")[name]
        rows = [" ".join(map(str, loops[1:])) for loops in (ours, theirs[name])]
        print(f"| {name} | {ours[0]} | {theirs[name][0]} | {rows[0]} | {rows[1]} |")


if __name__ == "__main__":
    main()
