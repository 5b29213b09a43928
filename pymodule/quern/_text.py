"""The text of arrays of compiled code: NumPy makes it, with the options that the program has set."""
import ast

import numpy as np

STR, REPR = 0, 1


def of_array(memory, shape, dtype, how):
    """`memory` is a copy of the array in C order. A record has no axes."""
    dtype = np.dtype(ast.literal_eval(dtype))
    array = np.ndarray(shape, dtype, memory)
    if not shape and dtype.names:
        array = array[()]
    return repr(array) if how == REPR else str(array)
