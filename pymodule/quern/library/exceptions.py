"""Text that is read of caught exceptions: of all of it, or of an argument (typeinfer/infer_caught.c)."""

import numpy as np

from .primitives import buffer, exception_copy, exception_size, exception_text, new


def copied_text(made):
    """Of text that the caller has made (quern_exception_text, quern_array_text)."""
    length, kind = exception_size(made, 0), exception_size(made, 1)
    data = buffer(np.uint8, length * kind)
    exception_copy(made, data)
    return new("str", length, kind, -1, data)


def _text(e, place, count):
    return copied_text(exception_text(e, place, count))


FUNCTIONS = {"exception.text": _text}
