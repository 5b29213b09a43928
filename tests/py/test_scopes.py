"""Random programs of nested functions beside CPython, with fixed seeds; make fuzz runs others (tests/fuzz/scopes.py)."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import scopes  # noqa: E402


@pytest.mark.parametrize("seed", [*range(24), 26, 45, 64, 96, 101, 103, 147, 1023, 2169])
def test_a_program_of_nested_functions(seed):
    """Those behind the first were once translated, or joined, wrongly."""
    found = scopes.check(seed)
    assert not found or found[0] == "refused" and any(reason in found[1] for reason in scopes.REFUSED), found[1]
