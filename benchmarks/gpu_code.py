"""Machine code of kernels beside nvcc's: no GPU needed.

    QUERN_DEVICE=cpu python benchmarks/gpu_code.py [--arch sm_90] [--only a,b] [--show-unseen]

Wants nvcc, ptxas and nvdisasm (CUDA toolkit; the latter also as nvidia-cuda-nvdisasm from PyPI). Printed for each kernel: instructions
for each round of its main loop (kernels.py says by what a round is known), or those of the kernel, registers, spills. Of the kernels
in unseen_nvcc.py, which judge, means alone. Fewer is not always faster, but twice as many is a question.

    python benchmarks/gpu_code.py --amd gfx942 gfx1100      beside clang-19 -x hip -O3, which wants no toolkit
    python benchmarks/gpu_code.py --unseen gfx942 gfx1100   the same for kernels_unseen.py, of which most were not tuned for
    python benchmarks/gpu_code.py --judge gfx942 gfx1100    the same for kernels_judge.py, whose machine code nobody looks at
    python benchmarks/gpu_code.py --times                   compile times to a finished code object beside those to PTX
"""
import argparse
import math
import pathlib
import re
import subprocess
import tempfile
import time

import unseen_nvcc
from kernels import KERNELS
from kernels_judge import JUDGE
from kernels_unseen import UNSEEN

from quern import _gpu, _quern


def functions(listing):
    """The machine instructions of each function, and where its loops begin and end, by nvdisasm's listing."""
    found = {}
    for line in listing.splitlines():
        if start := re.match(r"\.text\.(?:quern_)?(\w+):", line):
            code, labels, loops = [], {}, {}
            found[start.group(1)] = code, loops
        elif label := re.match(r"(\.L_x_\d+):", line):
            labels[label.group(1)] = len(code)
        elif (word := re.match(r"\s+/\*[0-9a-f]{4,5}\*/\s+(.*?)\s*;", line)) and word.group(1) != "NOP":
            code.append(word.group(1))
            branch = re.search(r"BRA.*\((\.L_x_\d+)\)", line)
            at = labels.get(branch.group(1)) if branch else None
            if at is not None and at < len(code) - 1:  # the last of a function is a branch to itself
                loops[at] = len(code)
    return found


def per_round(kernel, code, loops):
    """Instructions for each round of the kernel's main loop: of the loop in which the marker occurs most often, an inner one before the one
    around it. Where a constant loop was unrolled as a whole, and without a marker, those of the kernel."""
    if not kernel.marker:
        return len(code)

    def rounds(start, end):
        return sum(bool(re.match(r"(@!?U?P\d+ )?(%s)" % kernel.marker, word)) for word in code[start:end]) / kernel.per_round

    inner = [(start, end) for start, end in loops.items()
             if rounds(start, end) and not any(start <= s and e <= end and (s, e) != (start, end) and rounds(s, e) for s, e in loops.items())]
    start, end = max(inner, key=lambda loop: rounds(*loop), default=(0, len(code)))
    return (end - start) / rounds(start, end)


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


def amd_assembly(function, signature, arch):
    """As a launch has it, which promises what hip.compile cannot: divisors above zero, indices not below it, one shape for arrays seen as
    one grid."""
    options = {**_gpu.compile_options({"launch_bounds": 1024}), "target": 2}
    return _quern.compile_kernel(function, signature, options, arch, True)["asm"]


def amd(arch, kernels, source):
    folder = pathlib.Path(__file__).parent
    theirs = amd_functions(subprocess.run(
        ["clang-19", "-x", "hip", "--offload-device-only", "-nogpulib", "-nogpuinc", "-O3", f"--offload-arch={arch}",
         "-include", folder / "kernels_amd.h", "-S", "-o", "-", folder / source],
        check=True, capture_output=True, text=True).stdout)
    print(f"\n{arch}, ours / clang's:\n\n| kernel | instructions | loops | {' | '.join(_FACTS)} |\n|---{'|---' * (len(_FACTS) + 2)}|")
    for name, (function, signature, *_) in kernels.items():
        if name not in theirs:  # kernels.cu has some for nvcc alone
            continue
        ours, facts = amd_functions(amd_assembly(function, signature, arch))[name]
        their, their_facts = theirs[name]
        loops = " / ".join(" ".join(map(str, side[1:])) for side in (ours, their))
        print(f"| {name} | {ours[0]} / {their[0]} | {loops.strip(' /') and loops} | " +
              " | ".join(f"{facts[k]} / {their_facts[k]}" for k in _FACTS) + " |")


def times(names=("add", "matmul_tiled", "black_scholes"), rounds=15):
    """Milliseconds, the best of several."""
    kinds = {"PTX, sm_90": (1, "sm_90"), "gfx942": (2, "gfx942"), "gfx1100": (2, "gfx1100")}
    print(f"| kernel | {' | '.join(kinds)} |\n|---{'|---' * len(kinds)}|")
    for name in names:
        function, signature, *_ = KERNELS[name]
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


def ptx_of(kernel, arch):
    options = {**_gpu.compile_options({"fastmath": kernel.fast}), "target": 1}
    return _quern.compile_kernel(kernel.function, kernel.signature, options, arch, False)["code"].rstrip(b"\0").decode()


class Tools:
    def __init__(self, arch, nvdisasm, keep):
        self.arch, self.nvdisasm, self.keep = arch, nvdisasm, keep
        self.folder = keep or pathlib.Path(tempfile.mkdtemp())

    def compiled(self, *words):
        """name -> (instructions, loops, registers, bytes of spills) of what nvcc or ptxas make of it."""
        cubin = self.folder / "cubin"
        done = subprocess.run([*map(str, words), f"-arch={self.arch}", "-o", cubin], check=True, capture_output=True, text=True)
        listing = subprocess.run([self.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
        usage = {}
        for part in re.split(r"Compiling entry function '", done.stderr)[1:]:
            usage[re.match(r"(?:quern_)?(\w+)", part).group(1)] = (int(re.search(r"Used (\d+) registers", part).group(1)),
                                                                   int(re.search(r"(\d+) bytes spill stores", part).group(1)))
        return {name: (*found, *usage[name]) for name, found in functions(listing).items() if name in usage}

    def theirs(self, source, fast):
        return self.compiled("nvcc", "-O3", "-cubin", "-Xptxas", "-v", *(["-use_fast_math"] if fast else []), source)

    def ours(self, kernel):
        (self.folder / "k.ptx").write_text(ptx_of(kernel, self.arch))
        done, = self.compiled("ptxas", "-O3", "-v", self.folder / "k.ptx").values()
        return done


def beside_nvcc(tools, kernels, source, shown, only):
    theirs = {fast: tools.theirs(source, fast) for fast in (False, True)}
    rows = []
    for name, kernel in kernels.items():
        if only and name not in only:
            continue
        ours, their = tools.ours(kernel), theirs[kernel.fast][name.removesuffix("_fast") if kernel.fast else name]
        sides = per_round(kernel, *ours[:2]), per_round(kernel, *their[:2])
        rows.append((name, sides, ours[2:], their[2:], len(ours[0]), len(their[0])))
    ratios = [ours / theirs for _, (ours, theirs), *_ in rows]
    if shown:
        print("| kernel | a round | nvcc | ratio | registers | nvcc | all instructions | nvcc |\n|---|---|---|---|---|---|---|---|")
        for (name, sides, (ours, spills), (theirs, their_spills), n, m), ratio in zip(rows, ratios, strict=True):
            print(f"| {name} | {sides[0]:.1f} | {sides[1]:.1f} | {ratio:.2f} | {ours} | {theirs} | {n} | {m} |"
                  + (f" spills {spills} / {their_spills} bytes" if spills > their_spills else ""))
    more = [ours[0] - theirs[0] for _, _, ours, theirs, *_ in rows]
    print(f"\n{len(rows)} kernels of {source.name}: instructions a round, ours / nvcc's: geometric mean "
          f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, worst {max(ratios):.2f}, {sum(r > 1.25 for r in ratios)} above 1.25; registers: "
          f"{max(more)} more at most, {sum(n > 8 for n in more)} with more than 8; spills where nvcc has none: "
          f"{sum(ours[1] > theirs[1] for _, _, ours, theirs, *_ in rows)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--amd", nargs="+", metavar="CHIP")
    parser.add_argument("--unseen", nargs="+", metavar="CHIP")
    parser.add_argument("--judge", nargs="+", metavar="CHIP")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="A,B", help="kernels of kernels.py")
    parser.add_argument("--show-unseen", action="store_true", help="the rows of unseen_nvcc.py, too: who sees them tunes for them")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for PTX and listings of the kernels that are shown")
    options = parser.parse_args()
    for chip in options.amd or ():
        amd(chip, KERNELS, "kernels.cu")
    for chip in options.unseen or ():
        amd(chip, UNSEEN, "kernels_unseen.cu")
    for chip in options.judge or ():
        amd(chip, JUDGE, "kernels_judge.cu")
    if options.times:
        times()
    if options.amd or options.unseen or options.judge or options.times:
        return
    tools, here = Tools(options.arch, options.nvdisasm, options.keep), pathlib.Path(__file__).parent
    beside_nvcc(tools, KERNELS, here / "kernels.cu", True, options.only)
    beside_nvcc(tools, unseen_nvcc.KERNELS, here / "unseen_nvcc.cu", options.show_unseen, options.only if options.show_unseen else None)


if __name__ == "__main__":
    main()
