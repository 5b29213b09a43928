"""docs/arrays.md lists what quern/library implements."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from gen_array_page import page  # noqa: E402


def test_the_page_is_current():
    assert (ROOT / "docs" / "arrays.md").read_text() == page(), "python tests/tools/gen_array_page.py > docs/arrays.md"


def test_every_function_of_the_library_is_defined_once():
    """A second definition in a module would take the place of the first, without a word."""
    for path in sorted((ROOT / "pymodule" / "quern" / "library").glob("*.py")):
        names = collections.Counter(re.findall(r"^def (\w+)", path.read_text(), re.MULTILINE))
        assert [name for name, count in names.items() if count > 1] == [], path.name
