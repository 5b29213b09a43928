"""Products of matrices and vectors.

Numbers are multiplied by primitive.product and primitive.dot,
for one dtype and two axes; the rest of NumPy's meaning is here."""

import numpy as np

from .primitives import convert, dot as dot_of_lines, guard, has_memory, map, map_into, product, reshape as reshape_c, result_type
from .shapes import (
    axes_of,
    axis_of,
    broadcast_lengths,
    broadcast_to,
    expand_dims,
    is_c_order,
    moveaxis,
    picked,
    product as product_of,
    ravel,
    reshape,
    transpose,
    tuple_to,
    without,
)


# -- what all share ---------------------------------------------------------------------------------------------------


def as_kind(a, kind):
    return a if a.dtype == kind else convert(a, kind)


def work_type(kind):
    """float16 is added up in single precision."""
    return np.float32 if kind == np.float16 else kind


def is_number(a):
    return not isinstance(a, np.ndarray) or a.ndim == 0


def as_line(a):
    """All elements of an array, or one number, along one axis."""
    if is_number(a):
        return np.full((1,), a, result_type(a))
    return ravel(a)


def is_complex(kind):
    return kind == np.complex64 or kind == np.complex128


def unchanged(x):
    return x


def store(out, result):
    """NumPy's casting of results: never to a kind below."""
    map_into(out, unchanged, result)
    return out


def multiply_by_loops(c, a, b):
    """In kernels, where a thread has its small matrices to itself."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = convert(0, c.dtype)
            for k in range(a.shape[1]):
                total = np.add(total, np.multiply(a[i, k], b[k, j]))
            c[i, j] = total


def multiply_into(c, a, b):
    """c = a @ b for matrices, and for each of stacks of one shape."""
    if c.ndim == 2:
        if not has_memory():
            multiply_by_loops(c, a, b)
        elif product(c, a, b):
            raise MemoryError("no memory for a product of matrices")
    else:
        for i in range(len(c)):
            multiply_into(c[i], a[i], b[i])


def line_product(a, b, kind):
    """Of two arrays of one axis and one length."""
    work = work_type(kind)
    if not has_memory():
        total = convert(0, work)
        for i in range(len(a)):
            total = np.add(total, np.multiply(convert(a[i], work), convert(b[i], work)))
        return convert(total, kind)
    return convert(dot_of_lines(as_kind(a, work), as_kind(b, work)), kind)


# -- matmul ------------------------------------------------------------------------------------------------------------


def check_inner(a, b):
    length = b.shape[0] if b.ndim == 1 else b.shape[-2]
    guard("matmul_sizes", a.shape[-1] != length, length, a.shape[-1])


def rows_of(a):
    """The lengths of the axes before the last two, and the number of rows: nothing where a is a vector."""
    return () if a.ndim == 1 else (a.shape[-2],)


def columns_of(b):
    return () if b.ndim == 1 else (b.shape[-1],)


def multiply_stacks(target, x1, x2, lead):
    a = expand_dims(x1, 0) if x1.ndim == 1 else x1
    b = expand_dims(x2, 1) if x2.ndim == 1 else x2
    c = target
    if x1.ndim == 1:
        c = expand_dims(target, -2) if x2.ndim > 1 else target
    elif x2.ndim == 1:
        c = expand_dims(target, -1)
    if len(lead) == 0:
        multiply_into(c, a, b)
    else:
        multiply_into(c, broadcast_to(a, lead + a.shape[-2:]), broadcast_to(b, lead + b.shape[-2:]))


def matmul_new(x1, x2, kind):
    """A new array; the operands have an axis at least, and one of them two."""
    check_inner(x1, x2)
    lead = broadcast_lengths(x1.shape[:-2], x2.shape[:-2])
    work = work_type(kind)
    result = np.empty(lead + rows_of(x1) + columns_of(x2), work)
    multiply_stacks(result, as_kind(x1, work), as_kind(x2, work), lead)
    return as_kind(result, kind)


def matmul_into(out, x1, x2, kind):
    """Matrices go where they belong; products of stacks wait until all are read."""
    check_inner(x1, x2)
    shape = broadcast_lengths(x1.shape[:-2], x2.shape[:-2]) + rows_of(x1) + columns_of(x2)
    if out.ndim != len(shape) or out.shape != shape:
        raise ValueError("matmul: Output operand 0 has a mismatch in its dimensions, with gufunc signature (n?,k),(k,m?)->(n?,m?)")
    if x1.ndim <= 2 and x2.ndim <= 2 and out.dtype == kind and kind != np.float16:
        multiply_stacks(out, as_kind(x1, kind), as_kind(x2, kind), ())
        return out
    return store(out, matmul_new(x1, x2, kind))


def matmul(x1, x2, out=None):
    if is_number(x1) or is_number(x2):
        raise ValueError("matmul: Input operand does not have enough dimensions (has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)")
    kind = result_type(x1, x2)
    if x1.ndim == 1 and x2.ndim == 1:
        check_inner(x1, x2)
        if out is None:
            return line_product(x1, x2, kind)
        return store(out, line_product(x1, x2, kind))
    if out is None:
        return matmul_new(x1, x2, kind)
    return matmul_into(out, x1, x2, kind)


def matmul_in_place(a, b):
    if b.ndim < 2:
        raise ValueError("inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions.")
    return matmul(a, b, a)


# -- dot and its kin -----------------------------------------------------------------------------------------------------


def check_aligned(first, second):
    guard("not_aligned", first != second, first, second)


def multiply_numbers(a, b):
    """One of the two is a number: with a dtype of its own, as an array of it would have."""
    if is_number(a) and is_number(b):
        return np.multiply(convert(a, result_type(a)), convert(b, result_type(b)))
    if is_number(a):
        return np.multiply(convert(a, result_type(a)), b)
    return np.multiply(a, convert(b, result_type(b)))


def flat_product(a, b, shape, kind):
    """a[p, k] @ b[k, q] as an array of another shape."""
    work = work_type(kind)
    result = np.empty((a.shape[0], b.shape[1]), work)
    multiply_into(result, as_kind(a, work), as_kind(b, work))
    return reshape_c(as_kind(result, kind), shape)


def dot_new(a, b):
    kind = result_type(a, b)
    if is_number(a) or is_number(b):
        return multiply_numbers(a, b)
    if b.ndim == 1:
        check_aligned(a.shape[-1], b.shape[0])
        return line_product(a, b, kind) if a.ndim == 1 else matmul_new(a, b, kind)
    check_aligned(a.shape[-1], b.shape[-2])
    if a.ndim <= 2 and b.ndim == 2:
        return matmul_new(a, b, kind)
    left = reshape(a, (product_of(a.shape[:-1]), a.shape[-1]))
    right = reshape(moveaxis(b, -2, 0), (b.shape[-2], product_of(b.shape[:-2]) * b.shape[-1]))
    return flat_product(left, right, a.shape[:-1] + b.shape[:-2] + b.shape[-1:], kind)


def check_out(out, kind, ndim):
    if out.dtype != kind or out.ndim != ndim or not is_c_order(out.shape, out.strides, out.itemsize):
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")


def ndim_of(a):
    return a.ndim if isinstance(a, np.ndarray) else 0


def dot(a, b, out=None):
    if out is None:
        return dot_new(a, b)
    check_out(out, result_type(a, b), max(ndim_of(a), ndim_of(b)) if is_number(a) or is_number(b) else max(ndim_of(a) - 1, 0) + max(ndim_of(b) - 1, 0))
    if out.dtype != result_type(a, b):
        return out
    result = dot_new(a, b)
    if isinstance(result, np.ndarray) and result.shape != out.shape:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    return store(out, result)


def vdot(a, b):
    left = as_line(a)
    right = as_line(b)
    kind = result_type(left, right)
    guard("vector_lengths", len(left) != len(right), len(left), len(right))
    if is_complex(left.dtype):
        return line_product(np.conj(left), right, kind)
    return line_product(left, right, kind)


def inner(a, b):
    if is_number(a) or is_number(b):
        return multiply_numbers(a, b)
    check_aligned(a.shape[-1], b.shape[-1])
    if a.ndim == 1 and b.ndim == 1:
        return line_product(a, b, result_type(a, b))
    left = reshape(a, (product_of(a.shape[:-1]), a.shape[-1]))
    right = reshape(b, (product_of(b.shape[:-1]), b.shape[-1]))
    return flat_product(left, right.T, a.shape[:-1] + b.shape[:-1], result_type(a, b))


def outer(a, b, out=None):
    column = expand_dims(as_line(a), 1)
    row = expand_dims(as_line(b), 0)
    if out is None:
        return np.multiply(column, row)
    if out.ndim != 2 or out.shape[0] != column.shape[0] or out.shape[1] != row.shape[1]:
        raise ValueError("operands could not be broadcast together with the shape of the output")
    map_into(out, np.multiply, column, row)
    return out


def shifted(axes, by):
    if len(axes) == 0:
        return ()
    return (axes[0] + by,) + shifted(axes[1:], by)


def contract(a, b, axes_a, axes_b):
    """Sums over pairs of axes; the others of a, then those of b."""
    lengths_a = picked(a.shape, axes_a)
    lengths_b = picked(b.shape, axes_b)
    if len(axes_a) != len(axes_b) or lengths_a != lengths_b:
        raise ValueError("shape-mismatch for sum")
    free_a = without(tuple_to(a.ndim), axes_a)
    free_b = without(tuple_to(b.ndim), axes_b)
    shape_a = picked(a.shape, free_a)
    shape_b = picked(b.shape, free_b)
    size = product_of(lengths_a)
    left = reshape(transpose(a, free_a + axes_a), (product_of(shape_a), size))
    right = reshape(transpose(b, axes_b + free_b), (size, product_of(shape_b)))
    return flat_product(left, right, shape_a + shape_b, result_type(a, b))


def tensordot(a, b, axes=2):
    if isinstance(axes, tuple):
        return contract(a, b, axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim))
    if axes > a.ndim or axes > b.ndim:
        raise ValueError("shape-mismatch for sum")
    return contract(a, b, shifted(tuple_to(axes), a.ndim - axes), tuple_to(axes))


def vecdot(x1, x2, axis=-1):
    """The first one's numbers are conjugated, as in vdot."""
    return np.sum(np.conjugate(x1) * x2, axis=axis)


def matvec(x1, x2):
    return np.squeeze(np.matmul(x1, np.expand_dims(x2, -1)), -1)


def vecmat(x1, x2):
    return np.squeeze(np.matmul(np.expand_dims(np.conjugate(x1), -2), x2), -2)


FUNCTIONS = {
    "ndarray.dot": dot,
    "numpy.dot": dot,
    "numpy.inner": inner,
    "numpy.matmul": matmul,
    "numpy.matvec": matvec,
    "numpy.outer": outer,
    "numpy.tensordot": tensordot,
    "numpy.vdot": vdot,
    "numpy.vecdot": vecdot,
    "numpy.vecmat": vecmat,
    "operator.imatmul": matmul_in_place,
}
