#!/usr/bin/env bash
# What `make demo`, `make test`, `make wheel`, `make bench` and the others do, from nothing: system packages (by apt-get when they are
# missing and we may, otherwise said by name), a virtual environment, the build, then the job.
set -euo pipefail
cd "$(dirname "$0")/../.."
job=$1
shift
python=${PYTHON:-python3}
jobs=$(nproc)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# -- system packages ---------------------------------------------------------------------------
have_c_header() { echo "#include <$1>" | "${CC:-cc}" -E -x c - >/dev/null 2>&1; }
have_amd_libs() { # where CMakeLists.txt looks
    compgen -G '/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc' || compgen -G '/usr/lib/llvm-1[4-9]/lib/clang/*/amdgcn/bitcode/ocml.bc' ||
        compgen -G '/usr/lib/llvm-1[4-9]/lib/clang/*/lib/amdgcn/bitcode/ocml.bc'
} >/dev/null
missing_packages() {
    command -v "${CC:-cc}" >/dev/null || echo gcc
    [ -n "$("${CC:-cc}" -print-file-name=libstdc++.a 2>/dev/null | grep /)" ] || echo g++
    command -v cmake >/dev/null || echo cmake
    command -v ninja >/dev/null || echo ninja-build
    command -v llvm-config-19 >/dev/null || echo llvm-19-dev
    [ -n "$(command -v ld.lld-19 || ls /usr/lib/llvm-19/bin/ld.lld 2>/dev/null)" ] || echo lld-19
    have_amd_libs || echo rocm-device-libs
    have_c_header zlib.h || echo zlib1g-dev
    have_c_header zstd.h || echo libzstd-dev
    [ "$job" != test ] || command -v ccache >/dev/null || echo ccache
    if ! command -v "$python" >/dev/null; then echo python3 python3-dev python3-venv; return; fi
    "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    "$python" -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
        echo python3-dev
}
packages=$(missing_packages | tr '\n' ' ')
if [ -n "${packages// /}" ]; then
    as_root=
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || die "please install: apt-get install $packages"
        as_root=sudo
    fi
    command -v apt-get >/dev/null || die "please install: $packages"
    say "installing $packages"
    $as_root apt-get update -qq || true
    # newer distributions have one for each LLVM; 17 is one that our LLVM reads
    if apt-cache show rocm-device-libs-17 >/dev/null 2>&1; then packages=${packages/rocm-device-libs/rocm-device-libs-17}; fi
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null ||
        die "apt-get could not install: $packages"
fi

# -- an interpreter, its virtual environment, its build ------------------------------------------
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
environment() { # interpreter -> $venv with what the tests need
    venv=build/venv-$(version_of "$1")
    [ -x "$venv/bin/python" ] || "$1" -m venv "$venv"
    "$venv/bin/python" -c 'import numpy, pytest, hypothesis, xdist, pandas, dask.array, xarray, mpmath, ml_dtypes' 2>/dev/null ||
        "$venv/bin/python" -m pip install -q --disable-pip-version-check numpy pytest hypothesis pytest-xdist pandas dask xarray mpmath ml_dtypes
}
build() { # interpreter, build folder, further options
    local interpreter=$1 folder=$2
    shift 2
    environment "$interpreter"
    # Debian's python3.11 has no headers inside the virtual environment: CMake follows it to the base.
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$PWD/$venv/bin/python" \
        -DPython_FIND_VIRTUALENV=ONLY "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; die "cmake failed"; }
    ninja -C "$folder" -j "$jobs" >"$folder.log" 2>&1 || { grep -v '^\[' "$folder.log" | head -80; die "build failed"; }
}
others() { # further interpreters at hand, one for each minor version
    local seen
    seen=" $(version_of "$python") "
    for candidate in python3.11 python3.12 python3.13 python3.14 \
        "$HOME"/.pyenv/versions/3.1[1-4].*/bin/python3; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        "$candidate" -c 'import sys, sysconfig, os, venv, ensurepip
sys.exit(not (sys.version_info[:2] in ((3,11),(3,12),(3,13),(3,14)) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))))' \
            2>/dev/null || continue
        version=$(version_of "$candidate")
        case "$seen" in *" $version "*) continue ;; esac
        seen="$seen$version "
        command -v "$candidate"
    done
}
c_files() { find frontend typeinfer codegen runtime pymodule tests examples benchmarks -name '*.[ch]'; }
mkdir -p build

case $job in
demo)
    say "building"
    build "$python" build/release -DQUERN_TESTS=OFF
    for example in examples/[0-9]*.py; do
        say "$example"
        PYTHONPATH=build/release/python "$venv/bin/python" "$example"
    done
    if PYTHONPATH=build/release/python "$venv/bin/python" -c 'import sys; from quern import hip; sys.exit(not hip.is_available())'; then
        for example in examples/[1236]_*.py examples/1[39]_*.py; do
            say "$example hip"
            PYTHONPATH=build/release/python "$venv/bin/python" "$example" hip
        done
    fi
    ;;
test)
    # further interpreters compile the same C files, but for those of pymodule: they are taken from what this run has compiled
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=$PWD/build/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    say "building (warnings are errors)"
    build "$python" build/test -DQUERN_WERROR=ON
    say "layers, unused code, formatting"
    "$venv/bin/python" tests/tools/check_layers.py
    "$venv/bin/python" tests/tools/check_unused.py
    "$venv/bin/python" -m pip install -q --disable-pip-version-check clang-format==14.0.6
    c_files | xargs "$venv/bin/clang-format" --dry-run -Werror
    say "tests in C"
    ctest --test-dir build/test --output-on-failure -j "$jobs"
    say "tests in Python $(version_of "$python")"
    # random programs take two minutes here, and a few seconds under the others
    QUERN_PROGRAMS=800 QUERN_BUILD=$PWD/build/test "$venv/bin/python" -m pytest -q -n "$jobs" --dist worksteal tests/py
    number=0
    for other in $(others); do
        number=$((number + 1))
        # machine code of AMD GPUs is interpreted, which takes minutes, and is the same whatever made the kernels' bytecode; of the cases of
        # a test each further interpreter has its third, unless WHOLE=1
        export QUERN_AMD_CHIPS='' QUERN_SHARE=${WHOLE:+1/1}
        QUERN_SHARE=${QUERN_SHARE:-$number/3}
        # the first with little optimisation and every function compiled by itself, the second with none compiled by itself
        unset QUERN_OPT QUERN_INSTANCES
        if [ -z "${WHOLE:-}" ] && [ $number = 1 ]; then export QUERN_OPT=0 QUERN_INSTANCES=all; fi
        if [ -z "${WHOLE:-}" ] && [ $number = 2 ]; then export QUERN_INSTANCES=none; fi
        say "tests in Python $(version_of "$other") (cases $QUERN_SHARE${QUERN_OPT:+, QUERN_OPT=$QUERN_OPT}${QUERN_INSTANCES:+, QUERN_INSTANCES=$QUERN_INSTANCES})"
        build "$other" "build/test-$(version_of "$other")" -DQUERN_TESTS=OFF -DQUERN_WERROR=ON
        ln -sfn ../test/fakecuda "build/test-$(version_of "$other")/fakecuda" # the stand-in drivers serve all
        ln -sfn ../test/fakehip "build/test-$(version_of "$other")/fakehip"
        QUERN_BUILD=$PWD/build/test-$(version_of "$other") "$venv/bin/python" -m pytest -q -n "$jobs" --dist worksteal tests/py
    done
    say "all tests passed"
    ;;
wheel)
    environment "$python"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check build scikit-build-core wheel
    "$venv/bin/python" -m build --wheel --no-isolation --outdir dist .
    "$venv/bin/python" tests/tools/tag_wheel.py dist/*.whl
    ;;
bench | bench-loops)
    build "$python" build/release -DQUERN_TESTS=ON
    [ -x build/venv-numba/bin/python ] || "$python" -m venv build/venv-numba
    build/venv-numba/bin/python -c 'import numba' 2>/dev/null ||
        build/venv-numba/bin/python -m pip install -q --disable-pip-version-check numba
    if [ "$job" = bench-loops ]; then
        QUERN_BUILD=$PWD/build/release "$venv/bin/python" benchmarks/loops/run.py --loops --numba "$PWD/build/venv-numba/bin/python" "$@"
    else
        PYTHONPATH=$PWD/build/release/python "$venv/bin/python" benchmarks/run.py --numba "$PWD/build/venv-numba/bin/python" --fakecuda "$PWD/build/release/fakecuda/libcuda.so.1"
    fi
    ;;
fuzz)
    build "$python" build/test
    for sort in nests searches strips windows float-ints tiles guards steps; do
        QUERN_BUILD=$PWD/build/test "$venv/bin/python" tests/fuzz/fuzz.py --sort "$sort" "$@"
    done
    QUERN_BUILD=$PWD/build/test "$venv/bin/python" tests/fuzz/scopes.py "$@"
    QUERN_BUILD=$PWD/build/test "$venv/bin/python" tests/fuzz/generators.py "$@"
    QUERN_BUILD=$PWD/build/test "$venv/bin/python" tests/fuzz/object_programs.py "$@"
    ;;
fuzz-kernels)
    build "$python" build/test
    QUERN_BUILD=$PWD/build/test "$venv/bin/python" tests/fuzz/fuzz.py --kernels "$@"
    ;;
fuzz-cache) # seed, rounds; with the sanitizers: nothing that is read touches what it must not
    build "$python" build/fuzz-cache -DQUERN_EXTENSION=OFF -DQUERN_SANITIZE=address,undefined
    for reader in test_store test_elf_load; do
        say "$reader $*"
        ASAN_OPTIONS=detect_leaks=1 "build/fuzz-cache/$reader" "$@"
    done
    ;;
peers)
    for candidate in $(others); do # the peers' wheels are for one minor version: 3.12 where it is at hand
        [ "$(version_of "$candidate")" = 3.12 ] && python=$candidate
    done
    [ -x build/venv-peers/bin/python ] || "$python" -m venv build/venv-peers
    build/venv-peers/bin/python -c 'import numpy, pytest, cffi, setuptools, ml_dtypes' 2>/dev/null ||
        build/venv-peers/bin/python -m pip install -q --disable-pip-version-check numpy pytest cffi setuptools ml_dtypes
    for wheel in numba numba-cuda; do # the newest; an older copy serves where there is no network
        build/venv-peers/bin/python -m pip install -q --disable-pip-version-check --upgrade --no-deps --target "build/peers-$wheel" "$wheel" ||
            [ -d "build/peers-$wheel" ] || die "$wheel could not be installed"
    done
    build "$python" build/peers -DQUERN_TESTS=OFF
    PYTHONPATH=$PWD/build/peers/python build/venv-peers/bin/python tests/peers/peers.py --python "$PWD/build/venv-peers/bin/python" \
        --numba "$PWD/build/peers-numba" --numba-cuda "$PWD/build/peers-numba-cuda" "$@"
    ;;
mutate)
    build "$python" build/test
    "$venv/bin/python" tests/tools/mutate.py "$@"
    ;;
format)
    environment "$python"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check clang-format==14.0.6
    c_files | xargs "$venv/bin/clang-format" -i
    ;;
*) die "unknown job $job" ;;
esac
