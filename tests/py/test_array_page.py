"""docs/arrays.md lists what quern/library implements."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from gen_array_page import page  # noqa: E402


def test_the_page_is_current():
    assert (ROOT / "docs" / "arrays.md").read_text() == page(), "python tests/tools/gen_array_page.py > docs/arrays.md"
