"""CUDA's vector types (cuda.float32x3 ...): immutable values with the fields x, y, z and w."""
from collections import namedtuple

import numpy as np

_KINDS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def _parts(of, kind):
    """The numbers of a row of numbers and vectors, one after the other."""
    if len(of) == 0:
        return ()
    first = of[0]
    if isinstance(first, tuple):
        return _parts(tuple(first), kind) + _parts(of[1:], kind)
    return (kind(first),) + _parts(of[1:], kind)


def _constructor(kind, n):
    """The function that makes a vector of numbers and shorter vectors, which have n numbers together."""
    made = namedtuple(f"{kind.__name__}x{n}", list("xyzw"[:n]))

    def vector(*parts):
        return made(*_parts(parts, kind))

    return vector


FUNCTIONS = {f"cuda.{kind}x{n}": _constructor(getattr(np, kind), n) for kind in _KINDS for n in (1, 2, 3, 4)}
