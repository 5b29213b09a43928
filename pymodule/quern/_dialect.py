"""Names for kernels that few programs use: made when a program first asks quern.cuda or quern.hip for one. Which there are is what
the modules of quern/library implement."""
from ._names import Intrinsic, Namespace

_OF_CUDA = {"int8": "char", "int16": "short", "int32": "int", "int64": "long longlong", "uint8": "uchar", "uint16": "ushort",
            "uint32": "uint", "uint64": "ulong ulonglong", "float32": "float", "float64": "double"}
VECTORS = {f"{other}{n}": f"{kind}x{n}" for kind, others in _OF_CUDA.items() for other in others.split() for n in (1, 2, 3, 4)}


def find(name):
    """The object of that name; None: there is no such name."""
    if name == "literal_unroll":
        from ._more import literal_unroll
        return literal_unroll
    from .library import halves, hints, libdevice, vectors
    if name == "fp16":
        return Namespace("cuda.fp16", [full.rpartition(".")[2] for full in halves.FUNCTIONS], "Functions of float16.")
    if name == "bf16":
        return _bf16()
    if name == "libdevice":
        names = [full.rpartition(".")[2] for full in libdevice.FUNCTIONS]
        return Namespace("cuda.libdevice", names, "Functions of CUDA's mathematics library, by its names.")
    if name == "cg":
        return Namespace("cuda.cg", ["this_grid"], "Cooperative groups.")
    full = "cuda." + name
    return Intrinsic(full) if full in vectors.FUNCTIONS or full in hints.FUNCTIONS else None


def _bf16():
    from .library import bfloats
    from .types import bfloat16
    names = [full.rpartition(".")[2] for full in bfloats.FUNCTIONS]
    return Namespace("cuda.bf16", names, "The type bfloat16 and its functions.", bfloat16=bfloat16)
