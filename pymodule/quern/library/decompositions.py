"""Decompositions of matrices, one and stacks of them, by LAPACK: singular values, eigenvalues, QR, least squares."""

import numpy as np

from .linear import is_complex, matmul_new
from .primitives import (
    convert, eig_columns, eigh_columns, lstsq_columns, lu_columns, promise, q_columns, qr_columns, result_type, svd_columns,
)
from .shapes import refuse, swapaxes
from .systems import check_square, columns, set_identities, system_type

_results = getattr(np.linalg, "_linalg", None) or np.linalg.linalg
EigResult = _results.EigResult
EighResult = _results.EighResult
QRResult = _results.QRResult
SlogdetResult = _results.SlogdetResult
SVDResult = _results.SVDResult


# -- what all share -----------------------------------------------------------------------------------------------------


def real_type(kind):
    return np.float32 if kind == np.float32 or kind == np.complex64 else np.float64


def complex_type(kind):
    return np.complex64 if kind == np.float32 or kind == np.complex64 else np.complex128


def precision(kind):
    """The distance of 1 from the next number."""
    return 2.0**-23 if kind == np.float32 or kind == np.complex64 else 2.0**-52


def check_status(status, text):
    if status == -1:
        raise MemoryError("no memory for a decomposition of a matrix")
    if status == -2:
        raise RuntimeError("this needs LAPACK, and no library that is loaded has it; QUERN_BLAS names one")
    if status < 0:
        raise np.linalg.LinAlgError(text)


# -- singular values -------------------------------------------------------------------------------------------------------


def set_svd(u, s, vh, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_svd(u[i], s[i], vh[i], a[i], kind)
    elif s.size == 0:
        u[...] = 0
        vh[...] = 0
        for i in range(min(u.shape)):
            u[i, i] = 1
        for i in range(min(vh.shape)):
            vh[i, i] = 1
    else:
        left = np.empty(u.shape, kind, "F")
        right = np.empty(vh.shape, kind, "F")
        values = np.empty(s.shape, s.dtype)
        full = left.shape[0] == left.shape[1] and right.shape[0] == right.shape[1]
        check_status(svd_columns(columns(a, kind), values, left, right, 2 if full else 1), "SVD did not converge")
        s[...] = values
        u[...] = left
        vh[...] = right


def set_singular_values(s, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_singular_values(s[i], a[i], kind)
    elif s.size > 0:
        values = np.empty(s.shape, s.dtype)
        check_status(svd_columns(columns(a, kind), values, values, values, 0), "SVD did not converge")
        s[...] = values


def svdvals(x):
    if x.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    kind = system_type(x.dtype)
    s = np.empty(x.shape[:-2] + (min(x.shape[-2], x.shape[-1]),), real_type(kind))
    set_singular_values(s, x, kind)
    return s


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    if hermitian:
        return svd_hermitian(a, compute_uv)
    if not compute_uv:
        return svdvals(a)
    kind = system_type(a.dtype)
    rows = a.shape[-2]
    width = a.shape[-1]
    least = min(rows, width)
    u = np.empty(a.shape[:-2] + (rows, rows if full_matrices else least), kind)
    s = np.empty(a.shape[:-2] + (least,), real_type(kind))
    vh = np.empty(a.shape[:-2] + (width if full_matrices else least, width), kind)
    set_svd(u, s, vh, a, kind)
    return SVDResult(u, s, vh)


def svd_hermitian(a, compute_uv):
    """Of a matrix that is its own conjugate transpose: its eigenvalues without their signs, the greatest first."""
    if not compute_uv:
        return np.sort(np.abs(eigvalsh(a)))[..., ::-1]
    w, v = eigh(a)
    sizes = np.abs(w)
    order = np.argsort(sizes)[..., ::-1]
    signs = np.expand_dims(np.take_along_axis(np.sign(w), order, -1), -2)
    u = np.take_along_axis(v, np.expand_dims(order, -2), -1)
    return SVDResult(u, np.take_along_axis(sizes, order, -1), np.conj(swapaxes(u * signs, -2, -1)))


# -- eigenvalues -----------------------------------------------------------------------------------------------------------


def check_finite(a):
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")


def store_eigen(target, values, name):
    """Floats have eigenvalues that are floats, or none: which of the two is not known when types are."""
    if is_complex(target.dtype):
        target[...] = values
    else:
        target[...] = values.real


def check_real(w, kind, text):
    if not is_complex(kind) and np.any(w.imag != 0):
        raise ValueError(text)


def set_eig(w, v, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_eig(w[i], v[i], a[i], kind)
    elif len(a) > 0:
        values = np.empty(w.shape, complex_type(kind))
        vectors = np.empty(v.shape, complex_type(kind), "F")
        check_status(eig_columns(columns(a, kind), values, vectors, values, 1), "Eigenvalues did not converge")
        check_real(values, kind, "eig() argument must not cause a domain change.")
        store_eigen(w, values, kind)
        store_eigen(v, vectors, kind)


def eig(a):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    check_finite(a)
    w = np.empty(a.shape[:-1], kind)
    v = np.empty(a.shape, kind)
    set_eig(w, v, a, kind)
    return EigResult(w, v)


def set_eigvals(w, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_eigvals(w[i], a[i], kind)
    elif len(a) > 0:
        values = np.empty(w.shape, complex_type(kind))
        check_status(eig_columns(columns(a, kind), values, values, values, 0), "Eigenvalues did not converge")
        check_real(values, kind, "eigvals() argument must not cause a domain change.")
        store_eigen(w, values, kind)


def eigvals(a):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    check_finite(a)
    w = np.empty(a.shape[:-1], kind)
    set_eigvals(w, a, kind)
    return w


def triangle(UPLO):
    if UPLO == "L" or UPLO == "l":
        return 0
    if UPLO != "U" and UPLO != "u":
        refuse("UPLO argument must be 'L' or 'U'")
    return 2


def set_eigh(w, v, a, kind, flags):
    if a.ndim > 2:
        for i in range(len(a)):
            set_eigh(w[i], v[i], a[i], kind, flags)
    elif len(a) > 0:
        vectors = columns(a, kind)
        values = np.empty(w.shape, w.dtype)
        check_status(eigh_columns(vectors, values, values, values, flags + 1), "Eigenvalues did not converge")
        w[...] = values
        v[...] = vectors


def eigh(a, UPLO="L"):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    flags = triangle(UPLO)
    check_square(a)
    kind = system_type(a.dtype)
    w = np.empty(a.shape[:-1], real_type(kind))
    v = np.empty(a.shape, kind)
    set_eigh(w, v, a, kind, flags)
    return EighResult(w, v)


def set_eigvalsh(w, a, kind, flags):
    if a.ndim > 2:
        for i in range(len(a)):
            set_eigvalsh(w[i], a[i], kind, flags)
    elif len(a) > 0:
        values = np.empty(w.shape, w.dtype)
        check_status(eigh_columns(columns(a, kind), values, values, values, flags), "Eigenvalues did not converge")
        w[...] = values


def eigvalsh(a, UPLO="L"):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    flags = triangle(UPLO)
    check_square(a)
    kind = system_type(a.dtype)
    w = np.empty(a.shape[:-1], real_type(kind))
    set_eigvalsh(w, a, kind, flags)
    return w


# -- QR ----------------------------------------------------------------------------------------------------------------------


def factored(a, kind, width, tau):
    """R and reflectors in the first columns of a matrix with that many."""
    factors = np.zeros((a.shape[0], max(width, a.shape[1])), kind, "F")
    factors[:, :a.shape[1]] = a
    if a.size > 0:
        own = promise(factors[:, :a.shape[1]], "F")
        check_status(qr_columns(own, tau, tau, tau, 0), "QR did not converge")
    return factors


def store_upper(r, factors):
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            r[i, j] = factors[i, j] if i <= j else 0


def set_r(r, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_r(r[i], a[i], kind)
    else:
        store_upper(r, factored(a, kind, 0, np.empty(min(a.shape), kind)))


def set_qr(q, r, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_qr(q[i], r[i], a[i], kind)
    else:
        tau = np.empty(min(a.shape), kind)
        factors = factored(a, kind, q.shape[1], tau)
        store_upper(r, factors)
        if q.size > 0:
            if len(tau) == 0:
                set_identities(q)
            else:
                first = promise(factors[:, :q.shape[1]], "F")
                check_status(q_columns(first, tau, tau, tau, len(tau)), "QR did not converge")
                q[...] = first


def set_raw(h, tau, a, kind):
    if a.ndim > 2:
        for i in range(len(a)):
            set_raw(h[i], tau[i], a[i], kind)
    else:
        reflectors = np.empty(tau.shape, kind)
        h[...] = factored(a, kind, 0, reflectors).T
        tau[...] = reflectors


def qr(a, mode="reduced"):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    kind = system_type(a.dtype)
    lead = a.shape[:-2]
    rows = a.shape[-2]
    width = a.shape[-1]
    least = min(rows, width)
    if mode == "r":
        r = np.empty(lead + (least, width), kind)
        set_r(r, a, kind)
        return r
    if mode == "raw":
        h = np.empty(lead + (width, rows), kind)
        tau = np.empty(lead + (least,), kind)
        set_raw(h, tau, a, kind)
        return h, tau
    if mode != "reduced" and mode != "complete":
        raise ValueError("Unrecognized mode: 'reduced', 'complete', 'r' and 'raw' are known")
    size = rows if mode == "complete" else least
    q = np.zeros(lead + (rows, size), kind)
    upper = np.empty(lead + (size, width), kind)
    set_qr(q, upper, a, kind)
    return QRResult(q, upper)


# -- least squares -------------------------------------------------------------------------------------------------------------


def lstsq(a, b, rcond=None):
    if a.ndim != 2 or b.ndim < 1 or b.ndim > 2:
        raise np.linalg.LinAlgError("lstsq: the first array must be two-dimensional, the second one- or two-dimensional")
    if a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    kind = system_type(result_type(a, b))
    limit = np.empty(1, real_type(kind))
    limit[0] = precision(kind) * max(a.shape) if rcond is None else rcond
    if b.ndim == 1:
        x, residuals, rank, s = least_squares(a, b[:, None], limit, kind)
        return x[:, 0], residuals, rank, s
    return least_squares(a, b, limit, kind)


def least_squares(a, b, limit, kind):
    rows, width = a.shape
    s = np.zeros(min(rows, width), limit.dtype)
    x = np.zeros((max(rows, width), b.shape[1]), kind, "F")
    x[:rows] = b
    rank = 0
    if a.size > 0 and b.shape[1] > 0:
        rank = lstsq_columns(columns(a, kind), x, s, limit, b.shape[1])
        check_status(rank, "SVD did not converge in Linear Least Squares")
    elif a.size > 0:
        rank = lstsq_columns(columns(a, kind), np.zeros((max(rows, width), 1), kind, "F"), s, limit, 1)
        check_status(rank, "SVD did not converge in Linear Least Squares")
    known = rank == width and rows > width
    residuals = np.zeros(b.shape[1] if known else 0, limit.dtype)
    for j in range(len(residuals)):
        for i in range(width, rows):
            residuals[j] += x[i, j].real * x[i, j].real + x[i, j].imag * x[i, j].imag
    result = np.zeros((width, b.shape[1]), kind)
    if a.size > 0:
        result[...] = x[:width]
    return result, residuals, rank, s


# -- of one matrix --------------------------------------------------------------------------------------------------------------


def sign_and_log(a, kind):
    """Of the determinant."""
    factors = columns(a, kind)
    odd = lu_columns(factors)
    if odd == 0:
        raise MemoryError("no memory for the factors of a matrix")
    sign = np.full(1, odd, kind)
    log = np.zeros(1, real_type(kind))
    for i in range(len(a)):
        size = np.abs(factors[i, i])
        sign[0] *= np.sign(factors[i, i]) if size == size else 1
        log[0] += np.log(size)
    if log[0] == -np.inf:
        sign[0] = 0
    return sign[0], log[0]


def set_slogdet(sign, log, a, kind):
    for i in range(len(a)):
        if a.ndim == 3:
            sign[i], log[i] = sign_and_log(a[i], kind)
        else:
            set_slogdet(sign[i], log[i], a[i], kind)


def slogdet(a):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    check_square(a)
    kind = system_type(a.dtype)
    if a.ndim == 2:
        one, log_of_one = sign_and_log(a, kind)
        return SlogdetResult(one, log_of_one)
    sign = np.empty(a.shape[:-2], kind)
    log = np.empty(a.shape[:-2], real_type(kind))
    set_slogdet(sign, log, a, kind)
    return SlogdetResult(sign, log)


def pinv(a, rcond=None, hermitian=False, *, rtol=1e-15):
    if a.ndim < 2:
        raise np.linalg.LinAlgError("1-dimensional array given. Array must be at least two-dimensional")
    kind = system_type(a.dtype)
    if a.size == 0:
        return np.empty(a.shape[:-2] + (a.shape[-1], a.shape[-2]), kind)
    if rcond is not None:
        return pseudoinverse(a, rcond, hermitian, kind)
    if rtol is not None:
        return pseudoinverse(a, rtol, hermitian, kind)
    return pseudoinverse(a, max(a.shape[-2], a.shape[-1]) * precision(kind), hermitian, kind)


def pseudoinverse(a, limit, hermitian, kind):
    u, s, vh = svd(np.conj(a), False, True, hermitian)
    cut = limit_of(limit) * s.max(axis=-1, keepdims=True)
    large = s > cut
    inverse = np.where(large, np.true_divide(convert(1, s.dtype), np.where(large, s, convert(1, s.dtype))), convert(0, s.dtype))
    return matmul_new(swapaxes(vh, -2, -1), np.expand_dims(inverse, -1) * swapaxes(u, -2, -1), kind)


def limit_of(limit):
    """One for all matrices, or one for each."""
    return np.expand_dims(limit, -1) if isinstance(limit, np.ndarray) else limit


FUNCTIONS = {
    "numpy.linalg.eig": eig,
    "numpy.linalg.eigh": eigh,
    "numpy.linalg.eigvals": eigvals,
    "numpy.linalg.eigvalsh": eigvalsh,
    "numpy.linalg.lstsq": lstsq,
    "numpy.linalg.pinv": pinv,
    "numpy.linalg.qr": qr,
    "numpy.linalg.slogdet": slogdet,
    "numpy.linalg.svd": svd,
    "numpy.linalg.svdvals": svdvals,
}
