"""Names for kernels that few programs use: made when a program first asks quern.cuda or quern.hip for one."""
from ._names import Intrinsic, Namespace

_HALVES = ("habs hadd hceil hcos hdiv heq hexp hexp10 hexp2 hfloor hfma hge hgt hle hlog hlog10 hlog2 hlt hmax hmin hmul hne hneg hrcp "
           "hrint hrsqrt hsin hsqrt hsub htanh htrunc").split()
_HINTS = "ldca ldcg ldcs ldlu ldcv stcg stcs stwb stwt".split()
_VECTORS = {"int8": "char", "int16": "short", "int32": "int", "int64": "long longlong", "uint8": "uchar", "uint16": "ushort",
            "uint32": "uint", "uint64": "ulong ulonglong", "float32": "float", "float64": "double"}


def _vector(name):
    """float32x3 of its name or of CUDA's, float3; None: it is neither."""
    base, n = name[:-1], name[-1:]
    if n not in ("1", "2", "3", "4"):
        return None
    for kind, others in _VECTORS.items():
        if base == f"{kind}x" or base in others.split():
            return f"{kind}x{n}"
    return None


def find(name):
    """The object of that name; None: there is no such name."""
    if name == "literal_unroll":
        from ._more import literal_unroll
        return literal_unroll
    if name == "fp16":
        return Namespace("cuda.fp16", _HALVES, "Functions of float16.")
    vector = _vector(name)
    if vector or name in _HINTS:
        return Intrinsic(f"cuda.{vector or name}")
    return None
