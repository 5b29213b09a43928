"""Functions that tests compile and that pytest must not rewrite (it changes `assert` in test modules)."""


class Custom(Exception):
    pass


def fail(kind, x):
    if kind == 0:
        raise ValueError
    if kind == 1:
        raise ValueError("constant message")
    if kind == 2:
        raise Custom("mine", 5)
    if kind == 3:
        raise IndexError("value is", x, x * 0.5)
    if kind == 4:
        assert x > 100, "x is too small"
    if kind == 5:
        assert x > 100
    return x
