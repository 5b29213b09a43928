"""A two-dimensional grid over a two-dimensional array, with a bounds test and tuples for grid and block."""
import math

import numpy as np
import show
from show import cuda  # quern.cuda, or quern.hip with `hip` on the command line


@cuda.jit
def increment_a_2D_array(an_array):
    x, y = cuda.grid(2)
    if x < an_array.shape[0] and y < an_array.shape[1]:
        an_array[x, y] += 1


an_array = np.zeros((300, 500))
threadsperblock = (16, 16)
blockspergrid_x = math.ceil(an_array.shape[0] / threadsperblock[0])
blockspergrid_y = math.ceil(an_array.shape[1] / threadsperblock[1])
blockspergrid = (blockspergrid_x, blockspergrid_y)

show.device()
increment_a_2D_array[blockspergrid, threadsperblock](an_array)
print("every element is one:", bool((an_array == 1).all()))

view = an_array[10:20, ::2]  # a view: only its elements are written
increment_a_2D_array[(1, 16), (16, 16)](view)
print("only the view grew:", int(an_array.sum()) == 300 * 500 + view.size)
