"""Functions whose syntax only CPython 3.14 and newer have: see programs.py."""


def refused_template(a):
    return t"{a} and {a!r:>5}"
