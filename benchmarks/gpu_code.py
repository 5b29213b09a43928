"""Machine code of kernels, Quern's beside nvcc's or clang's, counted: no GPU needed.

    QUERN_DEVICE=cuda QUERN_CUDA_LIBRARY=<libcuda.so.1, the stand-in will do> python benchmarks/gpu_code.py [--arch sm_90]

Wants nvcc, ptxas and nvdisasm (CUDA toolkit; the latter also as nvidia-cuda-nvdisasm from PyPI). Printed for each kernel: all
instructions, and those of its loops, outermost first as they stand; unrolling differs, so read them with the code at hand.
Fewer is not always faster, but twice as many is a question.

    python benchmarks/gpu_code.py --amd gfx942 gfx1100      beside clang-19 -x hip -O3, which wants no toolkit
    python benchmarks/gpu_code.py --unseen gfx942 gfx1100   the same for kernels_unseen.py, whose code nobody tunes for
    python benchmarks/gpu_code.py --times                   compile times to a finished code object beside those to PTX
"""
import argparse
import pathlib
import re
import subprocess
import tempfile
import time

from kernels import COMPILED, KERNELS
from kernels_unseen import UNSEEN

from quern import _gpu, _quern, cuda, hip


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


# -- AMD -----------------------------------------------------------------------------------------------------

_FACTS = {"VGPRs": "vgpr_count", "SGPRs": "sgpr_count", "spills": "vgpr_spill_count", "scratch": "private_segment_fixed_size"}


def amd_functions(assembly):
    """name -> ([instructions, of each loop ...], facts of the metadata) of LLVM's assembly."""
    found, facts = {}, {}
    for name in re.findall(r"^\t\.type\s+(\w+),@function", assembly, re.M):
        body = re.search(rf"^{name}:(.*?)^\t(?:\.section|\.size)", assembly, re.M | re.S).group(1)
        name = name.removeprefix("quern_")
        count, labels, loops = 0, {}, []
        for line in body.splitlines():
            line = line.split(";")[0]
            if label := re.match(r"(\.LBB\w+):", line):
                labels[label.group(1)] = count
            elif re.match(r"\t[a-z]\w+", line) and not re.match(r"\ts_(nop|code_end|delay_alu|endpgm|sendmsg)", line):
                count += 1
                branch = re.match(r"\ts_c?branch\w*\s+(\.LBB\w+)", line)
                if branch and branch.group(1) in labels:
                    loops.append(count - labels[branch.group(1)])
        found[name] = [count] + loops
    for kernel in re.split(r"\n  - ", assembly.split("amdhsa.kernels:")[-1])[1:]:
        name = re.search(r"^\s*\.name:\s*(?:quern_)?(\w+)", kernel, re.M)
        if name:
            facts[name.group(1)] = {k: int(re.search(rf"\.{v}:\s*(\d+)", kernel).group(1)) for k, v in _FACTS.items()}
    return {name: (loops, facts[name]) for name, loops in found.items() if name in facts}


def amd(arch, kernels, source):
    folder = pathlib.Path(__file__).parent
    theirs = amd_functions(subprocess.run(
        ["clang-19", "-x", "hip", "--offload-device-only", "-nogpulib", "-nogpuinc", "-O3", f"--offload-arch={arch}",
         "-include", folder / "kernels_amd.h", "-S", "-o", "-", folder / source],
        check=True, capture_output=True, text=True).stdout)
    print(f"\n{arch}, ours / clang's:\n\n| kernel | instructions | loops | {' | '.join(_FACTS)} |\n|---{'|---' * (len(_FACTS) + 2)}|")
    for name, (function, signature) in kernels.items():
        ours, facts = amd_functions(hip.compile(function, signature, arch=arch, launch_bounds=1024).asm)[name]
        their, their_facts = theirs[name]
        loops = " / ".join(" ".join(map(str, side[1:])) for side in (ours, their))
        print(f"| {name} | {ours[0]} / {their[0]} | {loops.strip(' /') and loops} | " +
              " | ".join(f"{facts[k]} / {their_facts[k]}" for k in _FACTS) + " |")


def times(names=("add", "matmul_tiled", "black_scholes"), rounds=15):
    """Milliseconds, the best of several."""
    kinds = {"PTX, sm_90": (1, "sm_90"), "gfx942": (2, "gfx942"), "gfx1100": (2, "gfx1100")}
    print(f"| kernel | {' | '.join(kinds)} |\n|---{'|---' * len(kinds)}|")
    for name in names:
        function, signature = COMPILED[name]
        row = []
        for target, arch in kinds.values():
            options = {**_gpu.compile_options({}), "target": target}
            best = 1e9
            for _ in range(rounds):
                start = time.perf_counter()
                _quern.compile_kernel(function, signature, options, arch, False)
                best = min(best, time.perf_counter() - start)
            row.append(best * 1e3)
        print(f"| {name} | {row[0]:.1f} | " + " | ".join(f"{ms:.1f} ({ms / row[0]:.2f})" for ms in row[1:]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--amd", nargs="+", metavar="CHIP")
    parser.add_argument("--unseen", nargs="+", metavar="CHIP")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    for chip in options.amd or ():
        amd(chip, KERNELS, "kernels.cu")
    for chip in options.unseen or ():
        amd(chip, UNSEEN, "kernels_unseen.cu")
    if options.times:
        times()
    if options.amd or options.unseen or options.times:
        return
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
