"""Square matrices, one and stacks of them: solve, inv, det, cholesky, matrix_power."""

import numpy as np

from .linear import matmul_new
from .primitives import cholesky_columns, guard, lu_columns, result_type, solve_columns
from .shapes import broadcast_lengths, broadcast_to, expand_dims


def check_square(a):
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def set_identities(a):
    """Ones into the diagonals of zeros."""
    if a.ndim == 2:
        for i in range(len(a)):
            a[i, i] = 1
    else:
        for i in range(len(a)):
            set_identities(a[i])


def is_system_type(kind):
    return kind == np.float32 or kind == np.float64 or kind == np.complex64 or kind == np.complex128


def system_type(kind):
    """Ints and bools are computed in double precision."""
    if kind == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    return kind if is_system_type(kind) else np.float64


def columns(a, kind):
    """A copy that is stored column by column."""
    result = np.empty(a.shape, kind, "F")
    result[...] = a
    return result


# -- solve, inv ----------------------------------------------------------------------------------------------------------


def solve_matrix(x, a, b, kind):
    """x = the solution for one matrix b or, in x, each of a stack."""
    if x.ndim > 2:
        for i in range(len(x)):
            solve_matrix(x[i], a[i], b[i], kind)
    else:
        result = columns(b, kind)
        status = solve_columns(columns(a, kind), result)
        if status > 0:
            raise np.linalg.LinAlgError("Singular matrix")
        if status < 0:
            raise MemoryError("no memory to solve a linear system")
        x[...] = result


def solve(a, b):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(result_type(a, b))
    vector = b.ndim == 1
    right = expand_dims(b, 1) if vector else b
    guard("solve_sizes", a.shape[-1] != right.shape[-2], right.shape[-2], a.shape[-1])
    lead = broadcast_lengths(a.shape[:-2], right.shape[:-2])
    result = np.empty(lead + (a.shape[-1],) if vector else lead + right.shape[-2:], kind)
    x = expand_dims(result, -1) if vector else result
    if len(lead) == 0:
        solve_matrix(x, a, right, kind)
    else:
        solve_matrix(x, broadcast_to(a, lead + a.shape[-2:]), broadcast_to(right, lead + right.shape[-2:]), kind)
    return result


def inv(a):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    result = np.zeros(a.shape, kind)
    set_identities(result)
    solve_matrix(result, a, result, kind)
    return result


# -- det -----------------------------------------------------------------------------------------------------------------


def det_matrix(a, kind):
    factors = columns(a, kind)
    sign = lu_columns(factors)
    if sign == 0:
        raise MemoryError("no memory for the factors of a matrix")
    result = np.full((1,), sign, kind)
    for i in range(len(a)):
        result[0] *= factors[i, i]
    return result[0]


def set_dets(result, a, kind):
    for i in range(len(a)):
        if a.ndim == 3:
            result[i] = det_matrix(a[i], kind)
        else:
            set_dets(result[i], a[i], kind)


def det(a):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    if a.ndim == 2:
        return det_matrix(a, kind)
    result = np.empty(a.shape[:-2], kind)
    set_dets(result, a, kind)
    return result


# -- cholesky --------------------------------------------------------------------------------------------------------------


def set_cholesky(result, a, kind, upper):
    if a.ndim > 2:
        for i in range(len(a)):
            set_cholesky(result[i], a[i], kind, upper)
    else:
        factor = columns(np.conj(a.T) if upper else a, kind)
        if cholesky_columns(factor) != 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        for i in range(len(a)):
            for j in range(i + 1):
                if upper:
                    result[j, i] = np.conj(factor[i, j])
                else:
                    result[i, j] = factor[i, j]


def cholesky(a, upper=False):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    result = np.zeros(a.shape, kind)
    set_cholesky(result, a, kind, upper)
    return result


# -- powers ----------------------------------------------------------------------------------------------------------------


def power(a, n):
    """By squaring; n is not negative. `a` is ours."""
    result = np.zeros(a.shape, a.dtype)
    set_identities(result)
    while n > 0:
        if n % 2 == 1:
            result = matmul_new(result, a, a.dtype)
        n //= 2
        if n > 0:
            a = matmul_new(a, a, a.dtype)
    return result


def matrix_power(a, n):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    base = np.empty(a.shape, a.dtype)
    if n >= 0:
        base[...] = a
    elif is_system_type(a.dtype):
        base[...] = inv(a)
    else:
        raise ValueError("a negative power of a matrix needs one of floats: whether n is negative is known too late")
    return power(base, abs(n))


FUNCTIONS = {
    "numpy.linalg.cholesky": cholesky,
    "numpy.linalg.det": det,
    "numpy.linalg.inv": inv,
    "numpy.linalg.matrix_power": matrix_power,
    "numpy.linalg.solve": solve,
}
