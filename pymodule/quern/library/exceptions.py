"""Text that is read of caught exceptions: of all of it, or of an argument (typeinfer/infer_caught.c)."""

import numpy as np

from .primitives import buffer, exception_copy, exception_size, exception_text, new


def _text(e, place, count):
    made = exception_text(e, place, count)
    length, kind = exception_size(made, 0), exception_size(made, 1)
    data = buffer(np.uint8, length * kind)
    exception_copy(made, data)
    return new("str", length, kind, -1, data)


FUNCTIONS = {"exception.text": _text}
