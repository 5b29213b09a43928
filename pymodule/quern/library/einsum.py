"""Sums of products by subscripts.

The subscripts are read when the call is compiled: a label is the code of its letter, the axes of an ellipsis are -1, -2 ...
from the last one on. Products of two operands over a common label go to the product of matrices."""

import numpy as np

from .creation import as_array, each_array
from .linear import as_kind, matmul_new, store, work_type
from .primitives import characters, convert, reduce, restride, result_type
from .shapes import picked, product, refuse, reshape, transpose

COMMA, MINUS, GREATER, DOT, SPACE = 44, 45, 62, 46, 32


# -- subscripts -----------------------------------------------------------------------------------------------------------


def letters(chars):
    """Without spaces."""
    if len(chars) == 0:
        return ()
    rest = letters(chars[1:])
    return rest if chars[0] == SPACE else (chars[0],) + rest


def is_letter(c):
    return (c >= 65 and c <= 90) or (c >= 97 and c <= 122)


def are_known(chars):
    """Only letters, commas, and dots in threes."""
    if len(chars) == 0:
        return True
    if chars[0] == DOT:
        return len(chars) > 2 and chars[1] == DOT and chars[2] == DOT and are_known(chars[3:])
    return (is_letter(chars[0]) or chars[0] == COMMA) and are_known(chars[1:])


def before_arrow(chars):
    if len(chars) == 0 or chars[0] == MINUS:
        return ()
    return chars[:1] + before_arrow(chars[1:])


def terms_of(chars, term):
    """One tuple for each operand."""
    if len(chars) == 0:
        return (term,)
    if chars[0] == COMMA:
        return (term,) + terms_of(chars[1:], ())
    return terms_of(chars[1:], term + chars[:1])


def counted_letters(term):
    if len(term) == 0:
        return 0
    return (0 if term[0] == DOT else 1) + counted_letters(term[1:])


def ellipsis_of(n):
    """Labels of n axes: -n ... -1"""
    if n == 0:
        return ()
    return (-n,) + ellipsis_of(n - 1)


def expanded(term, n):
    """The ellipsis stands for n axes."""
    if len(term) == 0:
        return ()
    if term[0] == DOT:
        return ellipsis_of(n) + expanded(term[3:], n)
    return term[:1] + expanded(term[1:], n)


def labels_of(term, ndim):
    more = ndim - counted_letters(term)
    if more < 0:
        refuse("einstein sum subscripts string contains too many subscripts for an operand")
        return ellipsis_of(ndim)
    if DOT not in term:
        if more > 0:
            refuse("operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the extra dimensions.")
            return ellipsis_of(ndim)
        return term
    return expanded(term, more)


def each_labels(terms, operands):
    if len(terms) == 0:
        return ()
    return (labels_of(terms[0], operands[0].ndim),) + each_labels(terms[1:], operands[1:])


def joined(tuples):
    if len(tuples) == 0:
        return ()
    return tuples[0] + joined(tuples[1:])


def distinct(labels):
    if len(labels) == 0:
        return ()
    rest = distinct(labels[:-1])
    return rest if labels[-1] in rest else rest + labels[-1:]


def common(labels, others):
    """Those that are in both."""
    if len(labels) == 0:
        return ()
    rest = common(labels[1:], others)
    return labels[:1] + rest if labels[0] in others else rest


def apart(labels, others):
    """Those that are not in the others."""
    if len(labels) == 0:
        return ()
    rest = apart(labels[1:], others)
    return rest if labels[0] in others else labels[:1] + rest


def single(labels, all_labels):
    """Those that occur once, or belong to an ellipsis."""
    if len(labels) == 0:
        return ()
    rest = single(labels[1:], all_labels)
    return labels[:1] + rest if labels[0] < 0 or occurrences(labels[0], all_labels) == 1 else rest


def occurrences(label, labels):
    if len(labels) == 0:
        return 0
    return (1 if labels[0] == label else 0) + occurrences(label, labels[1:])


def with_label(label, ordered):
    if len(ordered) == 0 or label < ordered[0]:
        return (label,) + ordered
    return ordered[:1] + with_label(label, ordered[1:])


def in_order(labels):
    if len(labels) == 0:
        return ()
    return with_label(labels[0], in_order(labels[1:]))


def most_axes(labels):
    """Of the ellipses."""
    if len(labels) == 0:
        return 0
    rest = most_axes(labels[1:])
    return -labels[0] if -labels[0] > rest else rest


def result_labels(chars, given):
    """Of the result: what stands behind the arrow, or the labels that occur once, by the alphabet."""
    if MINUS not in chars:
        return in_order(single(distinct(given), given))
    term = chars[len(before_arrow(chars)) + 2:]
    axes = most_axes(given)
    if axes > 0 and DOT not in term:
        refuse("output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the extra dimensions.")
        return ()
    labels = expanded(term, axes)
    if len(distinct(labels)) != len(labels):
        refuse("einstein sum subscripts string includes an output subscript multiple times")
        return distinct(given)
    if len(apart(labels, given)) > 0:
        refuse("einstein sum subscripts string included an output subscript which never appeared in an input")
        return distinct(given)
    return labels


# -- views ------------------------------------------------------------------------------------------------------------------


def broadcast_length(n, m):
    if n != m and n != 1 and m != 1:
        raise ValueError("operands could not be broadcast together with remapped shapes: an axis of einsum has two lengths")
    return m if n == 1 else n


def length_in(label, labels, shape):
    """Of a label in an operand; 1 where it has none."""
    if len(labels) == 0:
        return 1
    rest = length_in(label, labels[1:], shape[1:])
    return broadcast_length(shape[0], rest) if labels[0] == label else rest


def lengths_in(wanted, labels, shape):
    if len(wanted) == 0:
        return ()
    return (length_in(wanted[0], labels, shape),) + lengths_in(wanted[1:], labels, shape)


def longer(a, b):
    if len(a) == 0:
        return ()
    return (broadcast_length(a[0], b[0]),) + longer(a[1:], b[1:])


def stride_in(label, labels, shape, strides):
    """Along all its axes at once, which is a diagonal where there are two."""
    if len(labels) == 0:
        return 0
    rest = stride_in(label, labels[1:], shape[1:], strides[1:])
    return (strides[0] if shape[0] != 1 else 0) + rest if labels[0] == label else rest


def strides_in(wanted, labels, shape, strides):
    if len(wanted) == 0:
        return ()
    return (stride_in(wanted[0], labels, shape, strides),) + strides_in(wanted[1:], labels, shape, strides)


def laid_out(a, labels, wanted, lengths):
    """One axis for each wanted label, of that length."""
    if labels == wanted and a.shape == lengths:
        return restride(a, lengths, a.strides)
    return restride(a, lengths, strides_in(wanted, labels, a.shape, a.strides))


def positions(wanted, labels):
    if len(wanted) == 0:
        return ()
    return (position(wanted[0], labels, 0),) + positions(wanted[1:], labels)


def position(label, labels, at):
    return at if labels[at] == label else position(label, labels, at + 1)


def range_of(start, stop):
    if start >= stop:
        return ()
    return (start,) + range_of(start + 1, stop)


# -- sums -----------------------------------------------------------------------------------------------------------------------


def summed(a, labels, wanted, kind):
    """Over the labels that are not wanted."""
    order = wanted + apart(distinct(labels), wanted)
    view = laid_out(a, labels, order, lengths_in(order, labels, a.shape))
    if len(order) == len(wanted):
        return as_kind(view, kind)
    return reduce(np.add, convert(0, kind), range_of(len(wanted), len(order)), as_kind(view, kind))


def without_own(a, labels, others, kind):
    """An operand, summed over the labels that only it has."""
    if len(apart(labels, others)) == 0 and len(distinct(labels)) == len(labels):
        return a
    return as_array(summed(a, labels, common(distinct(labels), others), kind))


def contracted(a, first, b, second, wanted, kind):
    """The sum over the labels of two operands that are not wanted."""
    x = without_own(a, first, second + wanted, kind)
    y = without_own(b, second, first + wanted, kind)
    left = common(distinct(first), second + wanted)
    right = common(distinct(second), first + wanted)
    inside = apart(common(left, right), wanted)
    if len(inside) > 0 and len(left) + len(right) > 2 * len(inside) + len(common(common(left, right), wanted)):
        return by_matrices(x, left, y, right, wanted, inside, kind)
    order = wanted + inside
    lengths = longer(lengths_in(order, left, x.shape), lengths_in(order, right, y.shape))
    terms = np.multiply(as_kind(laid_out(x, left, order, lengths), kind), as_kind(laid_out(y, right, order, lengths), kind))
    if len(inside) == 0:
        return terms
    return reduce(np.add, convert(0, kind), range_of(len(wanted), len(order)), terms)


def grouped(a, labels, groups, lengths):
    """Each group of labels becomes one axis, but the first, whose labels stay."""
    order = groups[0] + groups[1] + groups[2]
    view = laid_out(a, labels, order, lengths[0] + lengths[1] + lengths[2])
    if len(groups[1]) == 1 and len(groups[2]) == 1:
        return view
    return reshape(view, lengths[0] + (product(lengths[1]), product(lengths[2])))


def by_matrices(a, left, b, right, wanted, inside, kind):
    stack = common(common(left, right), wanted)
    rows = apart(left, right)
    width = apart(right, left)
    stack_lengths = longer(lengths_in(stack, left, a.shape), lengths_in(stack, right, b.shape))
    inside_lengths = longer(lengths_in(inside, left, a.shape), lengths_in(inside, right, b.shape))
    row_lengths = lengths_in(rows, left, a.shape)
    width_lengths = lengths_in(width, right, b.shape)
    x = grouped(as_kind(a, kind), left, (stack, rows, inside), (stack_lengths, row_lengths, inside_lengths))
    y = grouped(as_kind(b, kind), right, (stack, inside, width), (stack_lengths, inside_lengths, width_lengths))
    result = reshape(matmul_new(x, y, kind), stack_lengths + row_lengths + width_lengths)
    labels = stack + rows + width
    return result if labels == wanted else transpose(result, positions(wanted, labels))


def sum_of_all(operands, labels, wanted, kind):
    """Two by two, from the first on."""
    if len(operands) == 1:
        return summed(operands[0], labels[0], wanted, kind)
    if len(operands) == 2:
        return contracted(operands[0], labels[0], operands[1], labels[1], wanted, kind)
    needed = common(distinct(labels[0] + labels[1]), joined(labels[2:]) + wanted)
    first = as_array(contracted(operands[0], labels[0], operands[1], labels[1], needed, kind))
    return sum_of_all((first,) + operands[2:], (needed,) + labels[2:], wanted, kind)


def sum_of_products(operands, labels, wanted, kind, out):
    if len(operands) == 1 and out is None and operands[0].dtype == kind and len(apart(labels[0], wanted)) == 0 and len(wanted) > 0:
        return laid_out(operands[0], labels[0], wanted, lengths_in(wanted, labels[0], operands[0].shape))
    work = work_type(kind)
    result = convert(sum_of_all(operands, labels, wanted, work), kind) if work != kind else sum_of_all(operands, labels, wanted, kind)
    return result if out is None else store(out, result)


def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    chars = letters(characters(subscripts))
    arrays = each_array(operands)
    terms = terms_of(before_arrow(chars), ())
    if not are_known(before_arrow(chars)) or (MINUS in chars and (chars[len(before_arrow(chars)):][:2] != (MINUS, GREATER) or not are_known(chars[len(before_arrow(chars)) + 2:]))):
        raise ValueError("invalid subscript in einstein sum subscripts string, subscripts must be letters")
    if len(terms) < len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string")
    if len(terms) > len(arrays):
        raise ValueError("fewer operands provided to einstein sum function than specified in the subscripts string")
    labels = each_labels(terms, arrays)
    wanted = result_labels(chars, joined(labels))
    if dtype is None:
        return sum_of_products(arrays, labels, wanted, result_type(*arrays), out)
    return sum_of_products(arrays, labels, wanted, result_type(dtype), out)


FUNCTIONS = {
    "numpy.einsum": einsum,
}
