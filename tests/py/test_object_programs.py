"""Random programs of containers, text, records, classes and exceptions beside CPython, with fixed seeds; make fuzz runs others (tests/fuzz/object_programs.py)."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import object_programs  # noqa: E402


@pytest.mark.parametrize("seed", range(12))
def test_a_program_of_objects(seed):
    found = object_programs.check(seed, smallest=False)
    assert not found or found[0] == "refused" and any(reason in found[1] for reason in object_programs.REFUSED), found[1]


def test_a_difference_is_found_and_made_small(monkeypatch):
    """What is said of a program that does something else: compiled code whose lists grow at the other end."""
    space_of = object_programs.space_of

    def wrong(source, seed, fast):
        return space_of(source.replace(".append(", ".insert(0, ") if fast else source, seed, fast)

    monkeypatch.setattr(object_programs, "space_of", wrong)
    seed = next(seed for seed in range(40) if object_programs.check(seed, smallest=False))
    whole, small = (object_programs.check(seed, smallest=smallest, tries=25) for smallest in (False, True))
    assert whole[0] == small[0] == "different" and "CPython gives" in small[1] and len(small[1]) < len(whole[1])
