"""PTX of CUDA C by NVRTC, as a program of its own: python _nvrtc.py NAME OPTION ... < source. The compiler shares nothing with the
process that asks, whose driver may be one that it does not expect. Exit status 3: there is no NVRTC."""
import ctypes
import os
import sys


def library():
    """NVIDIA's compiler, of the toolkit or of a package; None: there is none."""
    names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]
    places = [""] + [os.path.join(os.environ[v], "lib64") for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ]
    for folder in sys.path:
        places += [os.path.join(folder, "nvidia", part, "lib") for part in ("cuda_nvrtc", "cu13")]
    named = os.environ.get("QUERN_NVRTC_LIBRARY")
    for path in [named] if named else [os.path.join(place, name) for place in places for name in names]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _text(lib, what, program):
    size = ctypes.c_size_t()
    getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value + 1)
    getattr(lib, f"nvrtcGet{what}")(program, out)
    return out.value


def main(name, *options):
    lib = library()
    if lib is None:
        return 3
    source = sys.stdin.buffer.read()
    program = ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None)
    failed = lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options]))
    (sys.stderr if failed else sys.stdout).buffer.write(_text(lib, "ProgramLog" if failed else "PTX", program))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
