"""typed.List(items) and its kin: containers that Python holds, too."""


class _Class:
    """A class of quern.typed, to the compiler. That itself is not imported: it compiles functions."""

    def __init__(self, name):
        self._quern_name = name


List, Dict, Set = _Class("typed.List"), _Class("typed.Dict"), _Class("typed.Set")


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
