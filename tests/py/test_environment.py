"""The variables of the environment: one table (frontend/base/environment.def), held against the sources that read them."""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import AMD_STAND_IN, STAND_IN
from quern import config

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("frontend", "typeinfer", "codegen", "runtime", "pymodule")
TABLE = ROOT / "frontend" / "base" / "environment.def"
ROWS = dict(re.findall(r'^VARIABLE\((\w+), "(\w+)"', TABLE.read_text(), re.M))


def sources(*suffixes):
    paths = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in suffixes]
    return "\n".join(p.read_text() for p in paths if not p.name.startswith(("environment.", "_inner")))


def test_rows_are_sorted_and_named_after_their_variables():
    assert list(ROWS) == sorted(ROWS)
    assert all(name.removeprefix("QUERN_") == row for row, name in ROWS.items())


def test_each_variable_that_is_read_has_a_row():
    named = set(re.findall(r"QUERN_[A-Z]+(?:_[A-Z]+)*\b(?!_H\b)", "\n".join(re.findall(r'"[^"\n]*"', sources(".c", ".h")))))
    named |= set(re.findall(r"""["'](QUERN_[A-Z_]+[A-Z])["']""", sources(".py")))
    assert named and named <= set(ROWS.values()), named - set(ROWS.values())
    assert not re.search(r'getenv\("(QUERN|NUMBA)_', sources(".c"))


def test_each_row_is_read():
    c, python = sources(".c"), sources(".py")
    for row, name in ROWS.items():
        setting = name.startswith("QUERN_") and row in config._SETTINGS
        assert f"ENV_{row}" in c or setting or f'"{name}"' in python or row in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH"), name


def test_the_reference_lists_them():
    page = (ROOT / "docs" / "reference.md").read_text()
    assert all(f"| `{name}` |" in page for name in ROWS.values())


@pytest.mark.parametrize("name", ["QUERN_ROCM_DEVICE_LIBS", "ROCM_PATH", "QUERN_LIBDEVICE", "CUDA_HOME"])
def test_code_of_other_device_libraries_is_not_taken_from_the_cache(tmp_path, name):
    """Where they are looked for is a part of the key; an empty variable is as good as none."""
    program = textwrap.dedent("""
        import numpy as np
        from quern import cuda, hip
        module = hip if "ROC" in __import__("sys").argv[1] else cuda
        @module.jit("void(float64[:])", cache=True)
        def kernel(a):
            a[0] += 1.0
        kernel[1, 1](np.zeros(1))
        print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
        """)
    (tmp_path / "program.py").write_text(program)
    device, stand_in = ("hip", AMD_STAND_IN) if "ROC" in name else ("cuda", STAND_IN)
    if not stand_in.exists():
        pytest.skip("the stand-in drivers are not built")
    drivers = {f"QUERN_{device.upper()}_LIBRARY": str(stand_in), "FAKEHIP_ARCH": "gfx1100"}

    def run(value):
        around = {**os.environ, **drivers, "QUERN_CACHE_DIR": str(tmp_path / "cache"), "QUERN_DEVICE": device}
        around.pop(name, None)
        if value is not None:
            around[name] = value
        done = subprocess.run([sys.executable, str(tmp_path / "program.py"), name], capture_output=True, text=True, env=around)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run(None) == ["0", "1"]
    assert run(None) == ["1", "0"]
    assert run("") == ["1", "0"]
    assert run(str(tmp_path)) == ["0", "1"]
    assert run(str(tmp_path)) == ["1", "0"]
