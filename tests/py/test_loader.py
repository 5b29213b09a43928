"""The loader of host code beside LLVM's RuntimeDyld, over every object file that this run has loaded (tests/tools/load_check.c)."""
import os
import subprocess
import zlib
from pathlib import Path

import pytest

from conftest import BUILD

PARTS = 8
CHECK = BUILD / "load_check"
pytestmark = pytest.mark.skipif(
    not CHECK.exists(), reason="load_check comes with the build that has the C tests (QUERN_TESTS=ON): that of the first interpreter")


def objects(part):
    return sorted(str(path) for path in Path(os.environ["QUERN_KEEP_OBJECTS"]).glob("*.o") if zlib.crc32(path.name.encode()) % PARTS == part)


def checked(paths):
    done = [subprocess.run([str(CHECK), *paths[at:at + 500]], capture_output=True, text=True) for at in range(0, len(paths), 500)]
    assert all(one.returncode == 0 for one in done), "".join(one.stdout[-3000:] + one.stderr[-1000:] for one in done if one.returncode)
    return [one.stdout for one in done]


@pytest.mark.parametrize("part", range(PARTS))
def test_both_loaders_make_the_same_of_every_object(part):
    paths = objects(part)
    if not paths:
        pytest.skip("nothing was compiled for the host in this run")
    told = checked(paths)
    assert sum(int(text.split()[0]) for text in told) == len(paths)
    print(*told)


def test_the_tool_refuses_what_is_no_object_file(tmp_path):
    bad = tmp_path / "bad.o"
    bad.write_bytes(b"\x7fELF" + bytes(100))
    done = subprocess.run([str(CHECK), str(bad)], capture_output=True, text=True)
    assert done.returncode != 0
