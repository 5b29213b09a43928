"""typed.List(items) and its kin: containers that Python holds, too."""

from .. import typed


def list_(iterable):
    out = typed.List()
    for item in iterable:
        out.append(item)
    return out


def dict_(iterable):
    out = typed.Dict()
    out.update(iterable)
    return out


def set_(iterable):
    out = typed.Set()
    for item in iterable:
        out.add(item)
    return out


FUNCTIONS = {
    "typed.Dict": dict_,
    "typed.List": list_,
    "typed.Set": set_,
}
