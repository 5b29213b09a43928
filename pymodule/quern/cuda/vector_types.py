"""CUDA's vector types as objects: what numba.cuda has under this name."""
from collections import namedtuple

from .. import _dialect, cuda, types

VectorType = namedtuple("VectorType", "name base_type num_elements user_facing_object")

vector_types = {name: VectorType(name, getattr(types, name[:-2]), int(name[-1]), getattr(cuda, name))
                for name in dict.fromkeys(_dialect.VECTORS.values())}
