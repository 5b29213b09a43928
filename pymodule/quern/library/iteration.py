"""What programs iterate over, as a length and a function of the position."""

from .primitives import iterate, layout, reshape
from .shapes import product


def position(lengths, i):
    """The indices of element number i, the last axis first to run through."""
    if len(lengths) == 0:
        return ()
    if len(lengths) == 1:
        return (i,)
    return position(lengths[:-1], i // lengths[-1]) + (i % lengths[-1],)


def ndindex(*shape):
    if len(shape) == 1 and isinstance(shape[0], tuple):
        return ndindex(*shape[0])
    for n in shape:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
    return iterate(product(shape), position, shape)


def element(a, i):
    if layout(a) == "C":
        return reshape(a, (a.size,))[i]
    return a[position(a.shape, i)]


def flat(a):
    return iterate(a.size, element, a)


def numbered_element(a, i):
    return position(a.shape, i), element(a, i)


def ndenumerate(arr):
    return iterate(arr.size, numbered_element, arr)


FUNCTIONS = {
    "ndarray.flat": flat,
    "numpy.ndenumerate": ndenumerate,
    "numpy.ndindex": ndindex,
}
