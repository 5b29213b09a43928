"""Norms of vectors and matrices, condition numbers, ranks."""

import numpy as np

from .decompositions import limit_of, precision, real_type, svd, svdvals
from .linear import as_kind, is_complex
from .primitives import convert, dot as dot_of_lines, has_memory, map, result_type, solve_columns
from .shapes import axes_of, expand_dims, moveaxis, ravel
from .systems import check_square, columns, set_identities, system_type


# -- norms -----------------------------------------------------------------------------------------------------------------


def norm_type(kind):
    if kind == np.float16:
        return np.float16
    if kind == np.float32 or kind == np.complex64:
        return np.float32
    return np.float64


def squared_size(x):
    """|x| ** 2 of a complex number."""
    return np.add(np.multiply(x.real, x.real), np.multiply(x.imag, x.imag))


def magnitudes(x):
    """|x| in the type of norms."""
    if is_complex(x.dtype):
        return np.abs(x)
    return np.abs(as_kind(x, norm_type(x.dtype)))


def squares(x):
    if is_complex(x.dtype):
        return map(squared_size, x)
    return np.square(as_kind(x, norm_type(x.dtype)))


def vector_norm(x, ord, axis, keepdims):
    sizes = magnitudes(x)
    if ord == np.inf:
        return sizes.max(axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return sizes.min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return convert(sizes != 0, sizes.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return sizes.sum(axis=axis, keepdims=keepdims)
    return (sizes**ord).sum(axis=axis, keepdims=keepdims) ** (1 / ord)


def of_singular_values(x, ord, axes, keepdims):
    s = svdvals(moveaxis(x, axes, (-2, -1)))
    if isinstance(ord, str):
        result = s.sum(axis=-1)
    elif ord == 2:
        result = s.max(axis=-1, initial=0)
    else:
        result = s.min(axis=-1)
    if keepdims and isinstance(result, np.ndarray):
        return expand_dims(result, axes)
    return np.full((1, 1), result, s.dtype) if keepdims else result


def matrix_norm(x, ord, axes, keepdims):
    """Sums of rows or columns, or singular values."""
    if ord == 2 or ord == -2:
        return of_singular_values(x, ord, axes, keepdims)
    sizes = magnitudes(x)
    if ord == 1 or ord == -1:
        sums = sizes.sum(axis=axes[0], keepdims=True)
        return sums.max(axis=axes, keepdims=keepdims) if ord == 1 else sums.min(axis=axes, keepdims=keepdims)
    if ord == np.inf or ord == -np.inf:
        sums = sizes.sum(axis=axes[1], keepdims=True)
        return sums.max(axis=axes, keepdims=keepdims) if ord == np.inf else sums.min(axis=axes, keepdims=keepdims)
    raise ValueError("Invalid norm order for matrices.")


def euclidean(x, axes, keepdims):
    return np.sqrt(squares(x).sum(axis=axes, keepdims=keepdims))


def length(x):
    """Of all elements, as one vector."""
    if is_complex(x.dtype) or x.dtype == np.float16:
        return np.sqrt(squares(x).sum())
    line = as_kind(ravel(x), norm_type(x.dtype))
    return np.sqrt(dot_of_lines(line, line) if has_memory() else np.dot(line, line))


def norm(x, ord=None, axis=None, keepdims=False):
    axes = axes_of(axis, x.ndim)
    if ord is None:
        if axis is None and not keepdims:
            return length(x)
        if axis is not None and len(axes) > 2:
            raise ValueError("Improper number of dimensions to norm.")
        return euclidean(x, axes, keepdims)
    if len(axes) > 2:
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(ord, (int, float)):
        if len(axes) == 2:
            return matrix_norm(x, ord, axes, keepdims)
        return euclidean(x, axes, keepdims) if ord == 2 else vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2 and ord == "nuc":
        return of_singular_values(x, ord, axes, keepdims)
    if len(axes) == 1:
        raise ValueError("Invalid norm order for vectors: text names norms of matrices")
    if ord != "fro" and ord != "f":
        raise ValueError("Invalid norm order for matrices.")
    return euclidean(x, axes, keepdims)


# -- condition and rank ------------------------------------------------------------------------------------------------------


def set_inverse(result, a, kind):
    """Of a singular matrix nan."""
    if a.ndim > 2:
        for i in range(len(a)):
            set_inverse(result[i], a[i], kind)
    else:
        inverse = columns(result, kind)
        status = solve_columns(columns(a, kind), inverse)
        if status < 0:
            raise MemoryError("no memory to solve a linear system")
        if status > 0:
            result[...] = np.nan
        else:
            result[...] = inverse


def infinite_unless(condition, has_nan):
    return convert(np.inf, result_type(condition)) if condition != condition and not has_nan else condition


def cond(x, p=None):
    if x.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    kind = system_type(x.dtype)
    has_nan = np.isnan(x).any(axis=(-2, -1))
    return map(infinite_unless, convert(condition(x, p, kind), real_type(kind)), has_nan)


def condition(x, p, kind):
    if p is None or (isinstance(p, (int, float)) and (p == 2 or p == -2)):
        s = svdvals(x)
        return np.true_divide(s[..., 0], s[..., -1]) if p is None or p == 2 else np.true_divide(s[..., -1], s[..., 0])
    check_square(x)
    inverse = np.zeros(x.shape, kind)
    set_identities(inverse)
    set_inverse(inverse, x, kind)
    return np.multiply(norm(x, p, (-2, -1)), norm(inverse, p, (-2, -1)))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    if A.ndim < 2:
        return 1 if np.any(A != 0) else 0
    s = svd(A, True, False, hermitian)
    if tol is not None:
        return np.count_nonzero(s > limit_of(tol), axis=-1)
    most = s.max(axis=-1, keepdims=True, initial=0)
    if rtol is not None:
        return np.count_nonzero(s > most * limit_of(rtol), axis=-1)
    return np.count_nonzero(s > most * (max(A.shape[-2], A.shape[-1]) * precision(s.dtype)), axis=-1)


FUNCTIONS = {
    "numpy.linalg.cond": cond,
    "numpy.linalg.matrix_rank": matrix_rank,
    "numpy.linalg.norm": norm,
}
