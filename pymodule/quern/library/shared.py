"""typed.List(items) and its kin: containers that Python holds, too."""

from .._names import Intrinsic

# quern.typed itself is not imported: it compiles functions
List, Dict, Set = (Intrinsic("typed." + name) for name in ("List", "Dict", "Set"))


def list_(iterable):
    out = List()
    for item in iterable:
        out.append(item)
    return out


def dict_(iterable):
    out = Dict()
    out.update(iterable)
    return out


def set_(iterable):
    out = Set()
    for item in iterable:
        out.add(item)
    return out


FUNCTIONS = {
    "typed.Dict": dict_,
    "typed.List": list_,
    "typed.Set": set_,
}
