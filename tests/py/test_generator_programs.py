"""Random generators, with handlers and without, beside CPython, with fixed seeds; make fuzz runs others (tests/fuzz/generators.py)."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import generators  # noqa: E402


@pytest.mark.parametrize("seed", [*range(12), *range(generators.WITHOUT_HANDLERS, generators.WITHOUT_HANDLERS + 8)])
def test_a_program_of_generators(seed):
    found = generators.check(seed)
    assert not found or found[0] == "refused" and any(reason in found[1] for reason in generators.REFUSED), found[1]
