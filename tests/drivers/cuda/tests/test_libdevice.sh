#!/bin/sh
# Compiles libdevice_kernels.c and links it with libdevice, then runs the test on it. Exit status 77
# (skipped) where LLVM 19 or libdevice is missing.
#   test_libdevice.sh <test program> <source folder> <scratch folder>
set -eu
program=$1 source=$2 scratch=$3
libdevice=${QUERN_LIBDEVICE:-}
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/lib/nvidia-cuda-toolkit /usr/lib/cuda; do
    file=$folder/nvvm/libdevice/libdevice.10.bc
    if [ -z "$libdevice" ] && [ -f "$file" ]; then libdevice=$file; fi
done
for tool in clang-19 llvm-link-19 opt-19 llc-19; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
[ -n "$libdevice" ] || { echo "skipped: no libdevice"; exit 77; }
mkdir -p "$scratch"
cd "$scratch"
clang-19 --target=nvptx64-nvidia-cuda --cuda-path=/nonexistent -march=sm_70 -Wno-everything -nostdlib \
    -ffreestanding -fno-builtin -O1 -emit-llvm -c "$source/libdevice_kernels.c" -o kernels.bc
llvm-link-19 --only-needed --internalize kernels.bc "$libdevice" -o linked.bc 2>link.log
for level in 0 3; do
    opt-19 -mtriple=nvptx64-nvidia-cuda -passes="default<O$level>" linked.bc -o "linked$level.bc"
    llc-19 -O$level -mcpu=sm_70 -mattr=+ptx70 -mtriple=nvptx64-nvidia-cuda "linked$level.bc" -o "kernels$level.ptx"
done
# Every function of libdevice, to be read even where nobody calls it.
llc-19 -mcpu=sm_70 -mattr=+ptx70 -mtriple=nvptx64-nvidia-cuda "$libdevice" -o all.ptx 2>llc.log || true
status=0
"$program" kernels0.ptx || status=1
"$program" kernels3.ptx all.ptx || status=1
if command -v ptxas >/dev/null; then ptxas -arch=sm_90 kernels3.ptx -o /dev/null || status=1; fi
exit $status
