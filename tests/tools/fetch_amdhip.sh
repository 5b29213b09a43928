#!/bin/sh
# Puts Debian's libamdhip64-5 and what it needs into a folder of its own, not into the system: fetch_amdhip.sh [build folder].
# tests/py/test_hip_driver.py finds it there.
set -e
folder=${1:-build}/amdhip
mkdir -p "$folder" && cd "$folder"
for package in libamdhip64-5 libamdhip64-dev libhsa-runtime64-1 libhsakmt1 libamd-comgr2 libdrm2 libdrm-amdgpu1 libnuma1; do
    apt-get download "$package"
done
for file in *.deb; do dpkg -x "$file" .; done
rm -f ./*.deb
