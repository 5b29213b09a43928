"""The vendor's assembler over every PTX that this run produced (JIT-07, GPU-15), for its own target and the newest we emit."""
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

PARTS = 12  # a run of a third of the tests' cases assembles a third of its modules

PTXAS = shutil.which("ptxas") or next((p for p in ("/usr/local/cuda/bin/ptxas",) if os.path.exists(p)), None)


def assemble(path):
    """The assembler's complaint, or None. sm_70 is older than what CUDA 13 knows: it is assembled as sm_75."""
    target = int(re.search(r"\.target sm_(\d+)", path.read_text())[1])
    command = [PTXAS, f"-arch=sm_{max(target, 75)}", "-o", os.devnull, str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    return None if result.returncode == 0 else f"{path.read_text()}\n{result.stdout}{result.stderr}"


@pytest.mark.parametrize("part", range(PARTS))
def test_ptxas_accepts_every_module(part):
    modules = [path for path in Path(os.environ["FAKECUDA_SAVE"]).glob("*.ptx") if zlib.crc32(path.name.encode()) % PARTS == part]
    if not modules:
        pytest.skip("no kernel ran on the stand-in driver in this run")
    if not PTXAS:
        pytest.skip("ptxas is not installed")
    complaints = [c for c in map(assemble, modules) if c]
    assert not complaints, complaints[0]
    print(f"{len(modules)} modules assembled")
