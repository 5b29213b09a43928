"""Retag a Linux wheel by the glibc its extension needs: manylinux_2_N, read from the symbol versions.

usage: tag_wheel.py WHEEL...   (each is replaced by its retagged form; sizes are printed)
"""
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def needed_glibc(wheel):
    """The newest GLIBC_2.N that any shared object inside mentions."""
    newest = 17
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                path = archive.extract(name, folder)
                text = subprocess.run(["readelf", "-V", path], capture_output=True, text=True, check=True).stdout
                newest = max([newest] + [int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", text)])
    return newest


def retag(wheel):
    """Rewrite the archive with the new platform tag in its WHEEL file and its name."""
    tag = f"manylinux_2_{needed_glibc(wheel)}_x86_64"
    target = wheel.with_name(re.sub(r"(linux|manylinux[^-]*)_x86_64\.whl$", tag + ".whl", wheel.name))
    if target == wheel:
        return wheel
    from wheel.wheelfile import WheelFile  # writes the RECORD

    with WheelFile(wheel) as old, WheelFile(target, "w") as new:
        for item in old.infolist():
            if item.filename.endswith(".dist-info/RECORD"):
                continue
            data = old.read(item)
            if item.filename.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^(Tag: .*-)(linux|manylinux\S*)_x86_64$", rb"\1" + tag.encode(), data)
            new.writestr(item, data)
    wheel.unlink()
    return target


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        result = retag(Path(argument))
        print(f"{result}  {result.stat().st_size / 2**20:.1f} MiB")
