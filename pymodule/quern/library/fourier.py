"""Discrete Fourier transforms.

A transform works on lines: an array of the shape (A, n, B), of which the middle axis is transformed. Real and imaginary parts lie
apart, so that the innermost loops are over neighbours, and the B columns of a block go through all steps together. The steps are
Stockham's, which need no reversal of bits: one of radix r reads r parts of x and writes y with the order of the result; `s` numbers
lie beside each other, and `m` of them are still to be transformed after it. Lengths with a large prime factor become convolutions
of a length that has none (Bluestein). The inverse is the forward transform with both parts exchanged."""

import math

import numpy as np

from .creation import as_array
from .joining import roll
from .primitives import convert, known, load, map, result_type, store
from .shapes import axis_of, on_axis, product, refuse, reshape, tuple_to

LARGE = 60  # sums of prime factors above 5 from which a convolution is less work


# -- numbers ----------------------------------------------------------------------------------------------------------------


def roots(n, kind):
    """Cosines and negative sines of 2 pi k / n for k = 0 ... n - 1, from two tables of about sqrt(n) angles."""
    width = 1
    while width * width < n:
        width *= 2
    cosines, sines = np.empty(n, kind), np.empty(n, kind)
    near_cos, near_sin = np.empty(width), np.empty(width)
    for k in range(width):
        near_cos[k], near_sin[k] = turned(k, n)
    k = 0
    while k < n:
        far_cos, far_sin = turned(k, n)
        for i in range(min(width, n - k)):
            cosines[k + i] = far_cos * near_cos[i] - far_sin * near_sin[i]
            sines[k + i] = -(far_sin * near_cos[i] + far_cos * near_sin[i])
        k += width
    return cosines, sines


def turned(k, n):
    """The cosine and the sine of 2 pi k / n, of an angle up to pi / 4."""
    k = k % n
    eighth = 8 * k // n
    rest = 8 * k - eighth * n if eighth % 2 == 0 else (eighth + 1) * n - 8 * k
    x = rest * (math.pi / 4) / n
    c, s = math.cos(x), math.sin(x)
    if eighth == 1 or eighth == 2 or eighth == 5 or eighth == 6:
        c, s = s, c
    if 2 <= eighth < 6:
        c = -c
    return c, s if eighth < 4 else -s


def radix_of(n):
    """Of the next step."""
    if n % 4 == 0:
        return 4
    if n % 2 == 0:
        return 2
    p = 3
    while p * p <= n and n % p != 0:
        p += 2
    return p if n % p == 0 else n


def work_of(n):
    """The sum of the prime factors above 5."""
    total = 0
    while n > 1:
        r = radix_of(n)
        total += r if r > 5 else 0
        n //= r
    return total


def smooth_from(n):
    """The least product of 2, 3 and 5 that is at least n."""
    best = 1
    while best < n:
        best *= 2
    five = 1
    while five < best:
        three = five
        while three < best:
            number = three
            while number < n:
                number *= 2
            best = min(best, number)
            three *= 3
        five *= 5
    return best


# -- steps ------------------------------------------------------------------------------------------------------------------


def step_2(xr, xi, yr, yi, m, s, c1, s1, by):
    for q in range(m):
        wr, wi = load(c1, q * by), load(s1, q * by)
        for j in range(s):
            a, b, to = s * q + j, s * (q + m) + j, 2 * s * q + j
            ar, ai, br, bi = load(xr, a), load(xi, a), load(xr, b), load(xi, b)
            store(yr, to, ar + br)
            store(yi, to, ai + bi)
            dr, di = ar - br, ai - bi
            store(yr, to + s, dr * wr - di * wi)
            store(yi, to + s, dr * wi + di * wr)


def step_4(xr, xi, yr, yi, m, s, c1, s1, by):
    for q in range(m):
        ur, ui = load(c1, q * by), load(s1, q * by)
        vr, vi = load(c1, 2 * q * by), load(s1, 2 * q * by)
        wr, wi = load(c1, 3 * q * by), load(s1, 3 * q * by)
        for j in range(s):
            a, to = s * q + j, 4 * s * q + j
            b, c, d = a + s * m, a + 2 * s * m, a + 3 * s * m
            er, ei = load(xr, a) + load(xr, c), load(xi, a) + load(xi, c)
            fr, fi = load(xr, a) - load(xr, c), load(xi, a) - load(xi, c)
            gr, gi = load(xr, b) + load(xr, d), load(xi, b) + load(xi, d)
            hr, hi = load(xi, b) - load(xi, d), load(xr, d) - load(xr, b)
            store(yr, to, er + gr)
            store(yi, to, ei + gi)
            pr, pi = fr + hr, fi + hi
            store(yr, to + s, pr * ur - pi * ui)
            store(yi, to + s, pr * ui + pi * ur)
            pr, pi = er - gr, ei - gi
            store(yr, to + 2 * s, pr * vr - pi * vi)
            store(yi, to + 2 * s, pr * vi + pi * vr)
            pr, pi = fr - hr, fi - hi
            store(yr, to + 3 * s, pr * wr - pi * wi)
            store(yi, to + 3 * s, pr * wi + pi * wr)


def step_3(xr, xi, yr, yi, m, s, c1, s1, by):
    half, high = 0.5, 0.8660254037844386
    for q in range(m):
        ur, ui = load(c1, q * by), load(s1, q * by)
        vr, vi = load(c1, 2 * q * by), load(s1, 2 * q * by)
        for j in range(s):
            a, to = s * q + j, 3 * s * q + j
            b, c = a + s * m, a + 2 * s * m
            er, ei = load(xr, b) + load(xr, c), load(xi, b) + load(xi, c)
            hr, hi = (load(xi, b) - load(xi, c)) * high, (load(xr, c) - load(xr, b)) * high
            fr, fi = load(xr, a) - er * half, load(xi, a) - ei * half
            store(yr, to, load(xr, a) + er)
            store(yi, to, load(xi, a) + ei)
            pr, pi = fr + hr, fi + hi
            store(yr, to + s, pr * ur - pi * ui)
            store(yi, to + s, pr * ui + pi * ur)
            pr, pi = fr - hr, fi - hi
            store(yr, to + 2 * s, pr * vr - pi * vi)
            store(yi, to + 2 * s, pr * vi + pi * vr)


def step_5(xr, xi, yr, yi, m, s, c1, s1, by):
    near, far = 0.30901699437494745, -0.8090169943749475
    high, low = 0.9510565162951535, 0.5877852522924731
    for q in range(m):
        t1r, t1i = load(c1, q * by), load(s1, q * by)
        t2r, t2i = load(c1, 2 * q * by), load(s1, 2 * q * by)
        t3r, t3i = load(c1, 3 * q * by), load(s1, 3 * q * by)
        t4r, t4i = load(c1, 4 * q * by), load(s1, 4 * q * by)
        for j in range(s):
            a, to = s * q + j, 5 * s * q + j
            b, c, d, e = a + s * m, a + 2 * s * m, a + 3 * s * m, a + 4 * s * m
            ar, ai = load(xr, a), load(xi, a)
            er, ei = load(xr, b) + load(xr, e), load(xi, b) + load(xi, e)
            fr, fi = load(xr, b) - load(xr, e), load(xi, b) - load(xi, e)
            gr, gi = load(xr, c) + load(xr, d), load(xi, c) + load(xi, d)
            hr, hi = load(xr, c) - load(xr, d), load(xi, c) - load(xi, d)
            store(yr, to, ar + er + gr)
            store(yi, to, ai + ei + gi)
            kr, ki = ar + er * near + gr * far, ai + ei * near + gi * far
            lr, li = fi * high + hi * low, -(fr * high + hr * low)
            pr, pi = kr + lr, ki + li
            store(yr, to + s, pr * t1r - pi * t1i)
            store(yi, to + s, pr * t1i + pi * t1r)
            pr, pi = kr - lr, ki - li
            store(yr, to + 4 * s, pr * t4r - pi * t4i)
            store(yi, to + 4 * s, pr * t4i + pi * t4r)
            kr, ki = ar + er * far + gr * near, ai + ei * far + gi * near
            lr, li = fi * low - hi * high, hr * high - fr * low
            pr, pi = kr + lr, ki + li
            store(yr, to + 2 * s, pr * t2r - pi * t2i)
            store(yi, to + 2 * s, pr * t2i + pi * t2r)
            pr, pi = kr - lr, ki - li
            store(yr, to + 3 * s, pr * t3r - pi * t3i)
            store(yi, to + 3 * s, pr * t3i + pi * t3r)


def step_any(xr, xi, yr, yi, r, m, s, c1, s1, by):
    """Of any radix, by its definition: of the sums over pairs of parts, which lie alike round the first."""
    turn = by * m
    for q in range(m):
        for k in range(r):
            to = s * (r * q + k)
            for j in range(s):
                store(yr, to + j, load(xr, s * q + j))
                store(yi, to + j, load(xi, s * q + j))
            for part in range(1, r):
                wr, wi = load(c1, turn * (k * part % r)), load(s1, turn * (k * part % r))
                at = s * (q + m * part)
                for j in range(s):
                    ar, ai = load(xr, at + j), load(xi, at + j)
                    store(yr, to + j, load(yr, to + j) + ar * wr - ai * wi)
                    store(yi, to + j, load(yi, to + j) + ar * wi + ai * wr)
            if q * k > 0:
                wr, wi = load(c1, q * k * by), load(s1, q * k * by)
                for j in range(s):
                    pr, pi = load(yr, to + j), load(yi, to + j)
                    store(yr, to + j, pr * wr - pi * wi)
                    store(yi, to + j, pr * wi + pi * wr)


def steps(xr, xi, yr, yi, n, s):
    """n numbers of each of s columns. True: the result is in y, and otherwise in x. Both are overwritten."""
    c1, s1 = roots(n, result_type(xr))
    m, by, swapped = n, 1, False
    while m > 1:
        r = radix_of(m)
        m //= r
        if r == 4:
            step_4(xr, xi, yr, yi, m, s, c1, s1, by)
        elif r == 2:
            step_2(xr, xi, yr, yi, m, s, c1, s1, by)
        elif r == 3:
            step_3(xr, xi, yr, yi, m, s, c1, s1, by)
        elif r == 5:
            step_5(xr, xi, yr, yi, m, s, c1, s1, by)
        else:
            step_any(xr, xi, yr, yi, r, m, s, c1, s1, by)
        xr, xi, yr, yi = yr, yi, xr, xi
        s *= r
        by *= r
        swapped = not swapped
    return swapped


def line(xr, xi, yr, yi, n, s):
    """x becomes its transform."""
    if work_of(n) > LARGE:
        convolved(xr, xi, n, s)
    elif steps(xr, xi, yr, yi, n, s):
        xr[:] = yr
        xi[:] = yi


def convolved(xr, xi, n, s):
    """Bluestein's: j k = (j j + k k - (k - j) (k - j)) / 2 makes a convolution of the transform."""
    kind = result_type(xr)
    size = smooth_from(2 * n - 1)
    cosines, sines = roots(2 * n, kind)
    wr, wi = np.empty(n, kind), np.empty(n, kind)
    br, bi = np.zeros(size, kind), np.zeros(size, kind)
    square = 0
    for k in range(n):
        wr[k], wi[k] = cosines[square], sines[square]
        br[k], bi[k] = wr[k], -wi[k]
        br[-k], bi[-k] = wr[k], -wi[k]
        square = (square + 2 * k + 1) % (2 * n)
    spare_r, spare_i = np.empty(size * s, kind), np.empty(size * s, kind)
    if steps(br, bi, spare_r, spare_i, size, len(br) // size):
        br[:] = spare_r[:size]
        bi[:] = spare_i[:size]
    ar, ai = np.zeros(size * s, kind), np.zeros(size * s, kind)
    for k in range(n):
        for j in range(s * k, s * k + s):
            ar[j] = xr[j] * wr[k] - xi[j] * wi[k]
            ai[j] = xr[j] * wi[k] + xi[j] * wr[k]
    if steps(ar, ai, spare_r, spare_i, size, s):
        ar, ai, spare_r, spare_i = spare_r, spare_i, ar, ai
    scale = 1.0 / size
    for k in range(size):
        for j in range(s * k, s * k + s):
            pr, pi = ar[j], ai[j]
            ar[j] = (pr * br[k] - pi * bi[k]) * scale
            ai[j] = (pr * bi[k] + pi * br[k]) * scale
    # back: with the parts exchanged
    if steps(ai, ar, spare_i, spare_r, size, s):
        ar, ai = spare_r, spare_i
    for k in range(n):
        for j in range(s * k, s * k + s):
            xr[j] = ar[j] * wr[k] - ai[j] * wi[k]
            xi[j] = ar[j] * wi[k] + ai[j] * wr[k]


# -- lines of an array ------------------------------------------------------------------------------------------------------


def part_kind(kind):
    """What real and imaginary parts are computed in."""
    return np.float32 if kind == np.float32 or kind == np.complex64 or kind == np.float16 else np.float64


def line_kind(kind):
    return np.complex64 if kind == np.float32 else np.complex128


def lines_of(a, axis):
    """As (A, n, B)"""
    return reshape(a, (product(a.shape[:axis]), a.shape[axis], product(a.shape[axis + 1:])))


def filled(n, lines, kind):
    """The first n numbers of each line, and zeros where there are less."""
    count = min(n, lines.shape[1])
    result = np.zeros((lines.shape[0], n, lines.shape[2]), kind)
    result[:, :count] = lines[:, :count]
    return result


def transform(re, im):
    """Of all lines, in place."""
    blocks, n, columns = re.shape
    size = n * columns
    if size > 0 and n > 1:
        yr, yi = np.empty(size, result_type(re)), np.empty(size, result_type(re))
        for i in range(blocks):
            line(reshape(re[i], (size,)), reshape(im[i], (size,)), yr, yi, n, columns)


def scale_of(n, norm, inverse):
    if norm is None or norm == "backward":
        return 1.0 / n if inverse else 1.0
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    if norm != "forward":
        refuse('Invalid norm value; should be "backward", "ortho" or "forward".')
    return 1.0 if inverse else 1.0 / n


def swapped_norm(norm):
    if norm is None or norm == "backward":
        return "forward"
    return "backward" if norm == "forward" else norm


def both(re, im, scale):
    return complex(re * scale, im * scale)


def scaled(x, scale):
    return x * scale


def with_length(shape, axis, n):
    return shape[:axis] + (n,) + shape[axis + 1:]


def points_of(n):
    if n < 1:
        refuse("Invalid number of FFT data points: there must be at least 1")
    return n


def given(out, result):
    """The result, in `out` where there is one."""
    if out is None:
        return result
    if out.shape != result.shape:
        refuse("output array has wrong shape.")
    out[...] = result
    return out


def along(a, axis, n, norm, inverse):
    """Complex lines."""
    at = axis_of(axis, a.ndim)
    kind = part_kind(result_type(a))
    count = points_of(a.shape[at] if n is None else n)
    lines = lines_of(a, at)
    re, im = filled(count, lines.real, kind), filled(count, lines.imag, kind)
    if inverse:
        transform(im, re)
    else:
        transform(re, im)
    result = convert(map(both, re, im, convert(scale_of(count, norm, inverse), kind)), line_kind(kind))
    return reshape(result, with_length(a.shape, at, count))


def pairs(re, im, norm_scale, n, kind):
    """The first half of the spectrum of n real numbers, n even, from that of n / 2 complex ones: the even and the odd numbers."""
    blocks, half, columns = re.shape
    cosines, sines = roots(n, result_type(re))
    result = np.empty((blocks, half + 1, columns), kind)
    scale = norm_scale / 2
    for i in range(blocks):
        for k in range(half + 1):
            a, b = k if k < half else 0, half - k if k > 0 else 0
            wr, wi = cosines[k], sines[k]
            for j in range(columns):
                er, ei = re[i, a, j] + re[i, b, j], im[i, a, j] - im[i, b, j]
                fr, fi = im[i, a, j] + im[i, b, j], re[i, b, j] - re[i, a, j]
                result[i, k, j] = convert(complex((er + fr * wr - fi * wi) * scale, (ei + fr * wi + fi * wr) * scale), kind)
    return result


def real_along(a, axis, n, norm):
    """Real lines: the first n // 2 + 1 numbers of their spectra."""
    at = axis_of(axis, a.ndim)
    if result_type(a).kind == "c":
        raise TypeError("rfft is of real numbers: fft takes complex ones")
    kind = part_kind(result_type(a))
    count = points_of(a.shape[at] if n is None else n)
    lines = lines_of(a, at)
    shape = with_length(a.shape, at, count // 2 + 1)
    scale = convert(scale_of(count, norm, False), kind)
    if count % 2 == 0:
        re, im = filled(count // 2, lines[:, ::2], kind), filled(count // 2, lines[:, 1::2], kind)
        if count < lines.shape[1]:
            re[:], im[:] = lines[:, :count:2], lines[:, 1:count:2]
        transform(re, im)
        return reshape(pairs(re, im, scale, count, line_kind(kind)), shape)
    re, im = filled(count, lines, kind), np.zeros((lines.shape[0], count, lines.shape[2]), kind)
    transform(re, im)
    half = count // 2 + 1
    return reshape(convert(map(both, re[:, :half], im[:, :half], scale), line_kind(kind)), shape)


def halves(re, im, n):
    """From the first half of a spectrum of n real numbers, n even, that of the even numbers and, as imaginary parts, of the odd ones."""
    blocks, columns, half = re.shape[0], re.shape[2], n // 2
    cosines, sines = roots(n, result_type(re))
    zr, zi = np.empty((blocks, half, columns), result_type(re)), np.empty((blocks, half, columns), result_type(re))
    for i in range(blocks):
        for k in range(half):
            wr, wi = cosines[k], -sines[k]
            for j in range(columns):
                ai = im[i, k, j] if k > 0 else im[i, 0, j] * 0
                bi = im[i, half - k, j] if k > 0 else ai
                er, ei = re[i, k, j] + re[i, half - k, j], ai - bi
                dr, di = re[i, k, j] - re[i, half - k, j], ai + bi
                fr, fi = dr * wr - di * wi, dr * wi + di * wr
                zr[i, k, j] = er - fi
                zi[i, k, j] = ei + fr
    return zr, zi


def real_back(a, axis, n, norm):
    """The real lines of whose spectra the first half is given."""
    at = axis_of(axis, a.ndim)
    kind = part_kind(result_type(a))
    count = points_of(2 * (a.shape[at] - 1) if n is None else n)
    lines = lines_of(a, at)
    half = count // 2 + 1
    re, im = filled(half, lines.real, kind), filled(half, lines.imag, kind)
    result = np.empty((lines.shape[0], count, lines.shape[2]), kind)
    scale = convert(scale_of(count, norm, True), kind)
    if count % 2 == 0:
        zr, zi = halves(re, im, count)
        transform(zi, zr)
        result[:, ::2] = map(scaled, zr, scale)
        result[:, 1::2] = map(scaled, zi, scale)
    else:
        im[:, 0] = 0
        whole_r, whole_i = np.empty(result.shape, kind), np.empty(result.shape, kind)
        whole_r[:, :half], whole_i[:, :half] = re, im
        for k in range(1, half):
            whole_r[:, count - k], whole_i[:, count - k] = re[:, k], -im[:, k]
        transform(whole_i, whole_r)
        result[:] = map(scaled, whole_r, scale)
    return reshape(result, with_length(a.shape, at, count))


# -- the functions ----------------------------------------------------------------------------------------------------------


def fft(a, n=None, axis=-1, norm=None, out=None):
    if not known(axis):
        return given(out, on_axis(along, as_array(a), axis, (n, norm, False)))
    return given(out, along(as_array(a), axis, n, norm, False))


def ifft(a, n=None, axis=-1, norm=None, out=None):
    if not known(axis):
        return given(out, on_axis(along, as_array(a), axis, (n, norm, True)))
    return given(out, along(as_array(a), axis, n, norm, True))


def rfft(a, n=None, axis=-1, norm=None, out=None):
    if not known(axis):
        return given(out, on_axis(real_along, as_array(a), axis, (n, norm)))
    return given(out, real_along(as_array(a), axis, n, norm))


def irfft(a, n=None, axis=-1, norm=None, out=None):
    if not known(axis):
        return given(out, on_axis(real_back, as_array(a), axis, (n, norm)))
    return given(out, real_back(as_array(a), axis, n, norm))


def hfft(a, n=None, axis=-1, norm=None, out=None):
    return irfft(np.conj(as_array(a)), n, axis, swapped_norm(norm), out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return given(out, np.conj(rfft(a, n, axis, swapped_norm(norm))))


def axes_for(ndim, s, axes):
    if axes is not None:
        return axes
    if s is None:
        return tuple_to(ndim)
    return tuple_to(ndim)[ndim - len(s):]


def check_lengths(s, axes):
    if s is not None and len(s) != len(axes):
        refuse("Shape and axes have different lengths.")


def length_at(s, k, own):
    """What is asked for; where nothing is, or -1, its own."""
    if s is None:
        return own
    return own if s[k] == -1 else s[k]


def each_along(a, s, axes, norm, inverse):
    """The last of the axes first."""
    if len(axes) == 0:
        return convert(a, line_kind(part_kind(result_type(a))))
    last = len(axes) - 1
    at = axis_of(axes[last], a.ndim)
    done = along(a, at, length_at(s, last, a.shape[at]), norm, inverse)
    if last == 0:
        return done
    return each_along(done, None if s is None else s[:last], axes[:last], norm, inverse)


def on_all(a, s, axes, norm, inverse):
    chosen = axes_for(a.ndim, s, axes)
    check_lengths(s, chosen)
    return each_along(a, s, chosen, norm, inverse)


def fftn(a, s=None, axes=None, norm=None, out=None):
    return given(out, on_all(as_array(a), s, axes, norm, False))


def ifftn(a, s=None, axes=None, norm=None, out=None):
    return given(out, on_all(as_array(a), s, axes, norm, True))


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return ifftn(a, s, axes, norm, out)


def real_on_all(a, s, axes, norm):
    chosen = axes_for(a.ndim, s, axes)
    check_lengths(s, chosen)
    last = len(chosen) - 1
    at = axis_of(chosen[last], a.ndim)
    done = real_along(a, at, length_at(s, last, a.shape[at]), norm)
    return each_along(done, None if s is None else s[:last], chosen[:last], norm, False)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    return given(out, real_on_all(as_array(a), s, axes, norm))


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm, out)


def real_back_on_all(a, s, axes, norm):
    chosen = axes_for(a.ndim, s, axes)
    check_lengths(s, chosen)
    last = len(chosen) - 1
    at = axis_of(chosen[last], a.ndim)
    done = each_along(a, None if s is None else s[:last], chosen[:last], norm, True)
    return real_back(done, at, length_at(s, last, 2 * (done.shape[at] - 1)), norm)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    return given(out, real_back_on_all(as_array(a), s, axes, norm))


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm, out)


# -- frequencies ------------------------------------------------------------------------------------------------------------


def frequency(k, n, first, step):
    return (k if k < first else k - n) * step


def fftfreq(n, d=1.0):
    return map(frequency, np.arange(n), n, (n + 1) // 2, 1.0 / (n * d))


def rfftfreq(n, d=1.0):
    return map(scaled, np.arange(n // 2 + 1), 1.0 / (n * d))


def shifts(shape, axes, inverse):
    if len(axes) == 0:
        return ()
    half = shape[axes[0]] // 2
    return (-half if inverse else half,) + shifts(shape, axes[1:], inverse)


def shifted(a, axes, inverse):
    if axes is None:
        return roll(a, shifts(a.shape, tuple_to(a.ndim), inverse), tuple_to(a.ndim))
    if isinstance(axes, tuple):
        return roll(a, shifts(a.shape, axes, inverse), axes)
    return roll(a, shifts(a.shape, (axes,), inverse), (axes,))


def fftshift(x, axes=None):
    return shifted(as_array(x), axes, False)


def ifftshift(x, axes=None):
    return shifted(as_array(x), axes, True)


FUNCTIONS = {
    "numpy.fft.fft": fft,
    "numpy.fft.fft2": fft2,
    "numpy.fft.fftfreq": fftfreq,
    "numpy.fft.fftn": fftn,
    "numpy.fft.fftshift": fftshift,
    "numpy.fft.hfft": hfft,
    "numpy.fft.ifft": ifft,
    "numpy.fft.ifft2": ifft2,
    "numpy.fft.ifftn": ifftn,
    "numpy.fft.ifftshift": ifftshift,
    "numpy.fft.ihfft": ihfft,
    "numpy.fft.irfft": irfft,
    "numpy.fft.irfft2": irfft2,
    "numpy.fft.irfftn": irfftn,
    "numpy.fft.rfft": rfft,
    "numpy.fft.rfft2": rfft2,
    "numpy.fft.rfftfreq": rfftfreq,
    "numpy.fft.rfftn": rfftn,
}
