"""quern.library.find imports the module that has a name, and no others."""
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys

import quern
from quern import library

MODULES = [m.name for m in pkgutil.iter_modules(library.__path__)]
HERE = str(pathlib.Path(quern.__file__).parents[1])


def rows():
    return [(module, name, function) for module in MODULES
            for name, function in getattr(importlib.import_module(f"quern.library.{module}"), "FUNCTIONS", {}).items()]


def test_every_name_leads_to_its_module():
    library._texts.clear()
    library._read_texts()
    texts = dict(library._texts)
    lost = [(module, name) for module, name, _ in rows() if not any(s in texts[module] for s in library._spellings(name))]
    assert not lost and len(rows()) > 1000


def test_names_stand_in_one_table():
    names = [name for _, name, _ in rows()]
    assert sorted(set(names)) == sorted(names)


def test_every_row_is_found():
    assert [name for _, name, function in rows() if library.find(name) is not function] == []
    assert library.find("builtins.no_such_function") is None


def test_first_call_imports_what_it_needs():
    program = """
import sys, math
from quern import njit
assert njit(lambda x, y: math.gcd(x, y))(12, 18) == 6
print(*sorted(m for m in sys.modules if m.startswith("quern.library.")))
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": HERE})
    assert out.stderr == ""
    assert out.stdout.split() == ["quern.library.math_", "quern.library.primitives"]
