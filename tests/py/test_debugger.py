"""TRAPS JIT-09: debuggers are told of code that is made and dropped. They read a list from outside; here it is read from
inside, and by GDB where it is installed."""
import ctypes
import gc
import os
import shutil
import struct
import subprocess
import sys
import textwrap

import pytest

from conftest import BUILD
from quern import _quern, njit


class Code(ctypes.Structure):
    pass


Code._fields_ = [("next", ctypes.POINTER(Code)), ("before", ctypes.POINTER(Code)), ("file", ctypes.c_void_p),
                 ("size", ctypes.c_uint64)]


class Descriptor(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("action", ctypes.c_uint32), ("relevant", ctypes.POINTER(Code)),
                ("first", ctypes.POINTER(Code))]


def listed():
    """{address: bytes} of all object files that a debugger would see; the list must hold together both ways."""
    descriptor = Descriptor.in_dll(ctypes.CDLL(_quern.__file__), "__jit_debug_descriptor")
    assert (descriptor.version, descriptor.action) == (1, 0) and not descriptor.relevant
    files, code, before = {}, descriptor.first, None
    while code:
        back = code.contents.before
        assert bool(back) == bool(before) and (not back or ctypes.addressof(back.contents) == before)
        files[ctypes.addressof(code.contents)] = ctypes.string_at(code.contents.file, code.contents.size)
        before, code = ctypes.addressof(code.contents), code.contents.next
    return files


def code_section(file):
    """Where the section of machine code lies in memory, and its bytes."""
    offset, = struct.unpack_from("<Q", file, 0x28)
    size, count = struct.unpack_from("<HH", file, 0x3A)
    for k in range(count):
        _, kind, flags, address, at, length = struct.unpack_from("<IIQQQQ", file, offset + k * size)
        if kind == 1 and flags & 4 and address:
            return address, file[at:at + length]
    raise AssertionError("no section of machine code has a place")


def test_JIT_09_debuggers_see_what_is_compiled():
    gc.collect()
    before = listed()
    function = njit(lambda x: x * 7 - 1)
    assert function(3) == 20
    new = {key: file for key, file in listed().items() if key not in before}
    assert len(new) == 1
    file, = new.values()
    assert file[:4] == b"\x7fELF" and b"quern_entry" in file
    address, code = code_section(file)
    assert len(code) >= 16 and ctypes.string_at(address, 16) == code[:16]  # as it lies in memory, before relocations
    others = [njit(lambda x, k=k: x + k) for k in range(5)]
    assert [f(1) for f in others] == [1, 2, 3, 4, 5]
    assert len(listed()) == len(before) + 6
    del function, others[1], others[-1]  # out of the middle and from both ends
    gc.collect()
    after = listed()
    assert len(after) == len(before) + 3 and set(before) <= set(after) and not set(new) & set(after)


@pytest.mark.optimised
@pytest.mark.skipif(not shutil.which("gdb"), reason="GDB is not installed")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="GDB would be loaded with what is meant for Python")
def test_JIT_09_gdb_names_the_frame(tmp_path):
    trial = subprocess.run(["gdb", "-q", "-batch", "-nx", "-ex", "run", "--args", "true"], capture_output=True, text=True,
                           timeout=60, env={**os.environ, "DEBUGINFOD_URLS": ""})
    if "exited normally" not in trial.stdout:
        pytest.skip("GDB may not run programs here: " + trial.stderr[-300:])
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import signal, threading, time
        from quern import njit

        @njit(nogil=True)
        def endless(n):
            s = 0
            while n > 0:
                s = s * 3 + n
            return s

        def stop():
            time.sleep(1)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

        endless(0)
        threading.Thread(target=stop, daemon=True).start()
        endless(1)
    """))
    # the signal may come while the loop looks for Ctrl-C and waits for the GIL, which the sender has: then its frame is further up
    result = subprocess.run(["gdb", "-q", "-batch", "-nx", "-ex", "handle SIGUSR1 stop nopass", "-ex", "run", "-ex", "bt 40",
                             "-ex", "kill", "--args", sys.executable, program], capture_output=True, text=True, timeout=100,
                            env={**os.environ, "PYTHONPATH": str(BUILD / "python"), "DEBUGINFOD_URLS": ""})
    assert "SIGUSR1" in result.stdout and "in quern_entry_" in result.stdout, result.stdout + result.stderr
