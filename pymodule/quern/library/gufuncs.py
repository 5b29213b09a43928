"""Calls of guvectorize functions from compiled code. What the decorator knows comes in as constants: for each operand
the numbers of its core lengths, for each loop the dtypes of its operands and the shapes that the function gets for those
without core axes: () for a number, (1,) for an array of one element."""

import numpy as np

from .indexing import is_array, rows
from .primitives import convert, disjoint, guard, restride, result_type
from .shapes import broadcast_lengths, copy, expand_dims, moveaxis, refuse, squeeze, stretched
from .ufuncs import are_castable, each_converted


COUNT, FEW, LOOP, DIMENSIONS, SHAPE = 0, 1, 2, 3, 4


def texts_of(name, nin, nargs):
    """What can be wrong with a call."""
    return (f"{name}() takes {nin} positional arguments, or {nargs} with its outputs",
            f"Too few arguments for function '{name}': it has no declared signatures, so that the types of its outputs are those "
            "of the arrays that a call passes for them",
            f"ufunc '{name}' has no loop for arguments of these types: it was compiled for fixed signatures, and none can be "
            "reached by safe casts",
            f"{name}: an operand does not have enough dimensions for its core axes",
            f"Loop and array shapes are incompatible: {name}: an output does not have the shape that the operands broadcast to")


def bound(f, name, layout, fixed, nin, written, loops):
    """The function that stands for the ufunc in compiled code. `fixed`: for each number its length, where the layout says it,
    else 0; `written`: is the operand written to?"""
    texts = texts_of(name, nin, len(layout))

    def gufunc(*args, out=None, axes=None, axis=None, keepdims=False, dtype=None, casting="same_kind", order="K", subok=True):
        return keywords(f, texts, layout, fixed, nin, written, loops, args, out, axes, axis, keepdims, dtype, casting)
    gufunc.__name__ = gufunc.__qualname__ = name
    return gufunc


# -- keywords -----------------------------------------------------------------------------------------------------


def keywords(f, texts, layout, fixed, nin, written, loops, args, out, axes, axis, keepdims, dtype, casting):
    if dtype is not None:
        if not are_castable(args[:nin], dtype, casting):
            raise TypeError("cannot cast an input of a ufunc to the dtype that is asked for with this casting rule")
        cast = each_converted(args[:nin], dtype) + args[nin:]
        return keywords(f, texts, layout, fixed, nin, written, loops, cast, out, axes, axis, keepdims, None, casting)
    if casting == "no" or casting == "equiv":
        loop = chosen(args[:nin], loops)
        if loop is not None and not have_dtypes(args[:nin], loop[0]):
            raise TypeError("cannot cast an input of a ufunc with this casting rule")
    if axes is None and axis is None and not keepdims:
        return call(f, texts, layout, fixed, nin, written, loops, args, out)
    if axes is not None and axis is not None:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if axis is not None and not has_one_axis(layout, len(fixed)):
        raise TypeError("axis can only be used with a single shared core dimension")
    if keepdims and not may_keep(layout, nin):
        raise TypeError("keepdims requires all inputs to have the same number of core dimensions, and outputs to have none")
    if axes is not None:
        places = axes_given(axes, layout, nin, keepdims)
    elif axis is not None:
        places = same_axis(axis, layout, nin, keepdims)
    else:
        places = last_axes(layout, nin, keepdims)
    outputs = args[nin:] if out is None else out if isinstance(out, tuple) else (out,)
    inputs = moved_inputs(args[:nin], layout, places)
    targets = moved_outputs(outputs, layout[nin:], places[nin:], keepdims)
    made = call(f, texts, layout, fixed, nin, written, loops, inputs + targets, None)
    if len(outputs) > 0:
        return outputs[0] if len(outputs) == 1 else outputs
    if len(layout) - nin == 1:
        return moved_result(made, layout[nin], places[nin], keepdims)
    return moved_results(made, layout[nin:], places[nin:], keepdims)


def have_dtypes(args, dtypes):
    if len(args) == 0:
        return True
    return result_type(args[0]) == dtypes[0] and have_dtypes(args[1:], dtypes[1:])


def has_one_axis(layout, names):
    return names == 1 and have_at_most(layout, 1)


def have_at_most(layout, n):
    return len(layout) == 0 or len(layout[0]) <= n and have_at_most(layout[1:], n)


def may_keep(layout, nin):
    return have_exactly(layout[:nin], len(layout[0])) and have_at_most(layout[nin:], 0)


def have_exactly(layout, n):
    return len(layout) == 0 or len(layout[0]) == n and have_exactly(layout[1:], n)


def count_of(layout, nin, keepdims, at):
    """How many axes of operand number `at` are named: with keepdims outputs have those of the inputs."""
    return len(layout[0]) if keepdims and at >= nin else len(layout[at])


def axes_given(axes, layout, nin, keepdims):
    if len(axes) != len(layout) and (len(axes) != nin or keepdims or not have_at_most(layout[nin:], 0)):
        refuse("axes should be a list with an entry for all inputs and outputs; entries for outputs can only be omitted if none of "
               "them has core axes")
        return last_axes(layout, nin, keepdims)
    return each_entry(axes, layout, nin, keepdims, 0)


def refuse_entry():
    raise np.exceptions.AxisError("axes has an entry with another number of axes than its operand has core axes")


def each_entry(axes, layout, nin, keepdims, at):
    if at == len(layout):
        return ()
    entry = () if at >= len(axes) else axes[at] if isinstance(axes[at], tuple) else (axes[at],)
    if len(entry) != count_of(layout, nin, keepdims, at):
        refuse_entry()
        return last_axes(layout, nin, keepdims, at)
    return (entry,) + each_entry(axes, layout, nin, keepdims, at + 1)


def same_axis(axis, layout, nin, keepdims, at=0):
    if at == len(layout):
        return ()
    first = (axis,) * count_of(layout, nin, keepdims, at)
    return (first,) + same_axis(axis, layout, nin, keepdims, at + 1)


def last_axes(layout, nin, keepdims, at=0):
    if at == len(layout):
        return ()
    n = count_of(layout, nin, keepdims, at)
    return (from_the_end(n),) + last_axes(layout, nin, keepdims, at + 1)


def from_the_end(n):
    if n == 0:
        return ()
    return (-n,) + from_the_end(n - 1)


def moved_inputs(args, layout, places):
    if len(args) == 0:
        return ()
    a = args[0]
    first = moveaxis(a, places[0], from_the_end(len(places[0]))) if is_array(a) and len(places[0]) > 0 else a
    return (first,) + moved_inputs(args[1:], layout[1:], places[1:])


def moved_outputs(outputs, layout, places, keepdims):
    """Views of the arrays that are given for outputs, with their core axes last; those of length 1 that keepdims adds go."""
    if len(outputs) == 0:
        return ()
    a = outputs[0]
    if len(places[0]) == 0:
        first = a
    elif keepdims:
        first = squeeze(a, places[0])
    else:
        first = moveaxis(a, places[0], from_the_end(len(places[0])))
    return (first,) + moved_outputs(outputs[1:], layout[1:], places[1:], keepdims)


def moved_result(a, core, places, keepdims):
    if len(places) == 0:
        return a
    if keepdims:
        return expand_dims(a if is_array(a) else np.full((), a), places)
    return moveaxis(a, from_the_end(len(places)), places)


def moved_results(made, layout, places, keepdims):
    if len(made) == 0:
        return ()
    first = moved_result(made[0], layout[0], places[0], keepdims)
    return (first,) + moved_results(made[1:], layout[1:], places[1:], keepdims)


# -- calls ----------------------------------------------------------------------------------------------------------


def call(f, texts, layout, fixed, nin, written, loops, args, out):
    if out is not None:
        outputs = out if isinstance(out, tuple) else (out,)
        return call(f, texts, layout, fixed, nin, written, loops, args + outputs, None)
    if len(args) != nin and len(args) != len(layout):
        raise TypeError(texts[COUNT])
    if len(loops) == 0:
        if len(args) == nin:
            raise TypeError(texts[FEW])
        return run(f, texts, layout, fixed, nin, written, dtypes_of(args), single_shapes(layout, nin), args)
    loop = chosen(args[:nin], loops)
    if loop is None:
        raise TypeError(texts[LOOP])
    return run(f, texts, layout, fixed, nin, written, loop[0], loop[1], args)


# -- the loop ---------------------------------------------------------------------------------------------------


def dtypes_of(args):
    if len(args) == 0:
        return ()
    return (result_type(args[0]),) + dtypes_of(args[1:])


def single_shapes(layout, nin):
    """Without declared signatures: inputs are numbers where they have no core axes, outputs arrays."""
    if len(layout) == 0:
        return ()
    return ((1,) if nin <= 0 and len(layout[0]) == 0 else (),) + single_shapes(layout[1:], nin - 1)


def fits(args, dtypes):
    """Can all arguments be cast safely?"""
    if len(args) == 0:
        return True
    if result_type(args[0], dtypes[0]) != dtypes[0]:
        return False
    return fits(args[1:], dtypes[1:])


def chosen(args, loops):
    if len(loops) == 0:
        return None
    if fits(args, loops[0][0]):
        return loops[0]
    return chosen(args, loops[1:])


# -- lengths ----------------------------------------------------------------------------------------------------


def lead(a, core):
    """The loop axes of an operand."""
    if not is_array(a):
        return ()
    return a.shape[:a.ndim - core]


def loop_lengths(args, layout):
    if len(args) == 0:
        return ()
    return broadcast_lengths(lead(args[0], len(layout[0])), loop_lengths(args[1:], layout[1:]))


def have_core(args, layout):
    """Has each operand its core axes?"""
    if len(args) == 0:
        return True
    if (args[0].ndim if is_array(args[0]) else 0) < len(layout[0]):
        return False
    return have_core(args[1:], layout[1:])


def search(number, a, axes, at):
    """The length of that number among the axes of one operand; -1: it has none."""
    if at == len(axes):
        return -1
    if axes[at] == number:
        return a.shape[a.ndim - len(axes) + at]
    return search(number, a, axes, at + 1)


def length_of(number, args, layout):
    if number in layout[0]:
        return search(number, args[0], layout[0], 0)
    return length_of(number, args[1:], layout[1:])


def core_lengths(args, layout, fixed, number):
    if number == len(fixed):
        return ()
    first = fixed[number] if fixed[number] > 0 else length_of(number, args, layout)
    return (first,) + core_lengths(args, layout, fixed, number + 1)


def check_core(a, axes, lengths, operand, at):
    if at < len(axes):
        n = a.shape[a.ndim - len(axes) + at]
        guard("core_dimension", n != lengths[axes[at]], operand, at, n, lengths[axes[at]])
        check_core(a, axes, lengths, operand, at + 1)


def check_all(args, layout, lengths, operand):
    if len(args) > 0:
        check_core(args[0], layout[0], lengths, operand, 0)
        check_all(args[1:], layout[1:], lengths, operand + 1)


def picked_lengths(axes, lengths):
    if len(axes) == 0:
        return ()
    return (lengths[axes[0]],) + picked_lengths(axes[1:], lengths)


# -- operands ---------------------------------------------------------------------------------------------------


def converted(args, dtypes, written):
    if len(args) == 0:
        return ()
    if result_type(args[0]) == dtypes[0] and is_array(args[0]):
        return (args[0],) + converted(args[1:], dtypes[1:], written[1:])
    return (convert(args[0], dtypes[0]),) + converted(args[1:], dtypes[1:], written[1:])


def apart(a, written, outputs):
    """The input, or a copy of it where it shares memory with an output."""
    if len(outputs) == 0 or written or not is_array(a):
        return a
    if disjoint(a, outputs[0]):
        return apart(a, written, outputs[1:])
    return copy(a)


def all_apart(args, written, outputs):
    if len(args) == 0:
        return ()
    return (apart(args[0], written[0], outputs),) + all_apart(args[1:], written[1:], outputs)


def new_outputs(layout, dtypes, shape, lengths):
    if len(layout) == 0:
        return ()
    made = np.empty(shape + picked_lengths(layout[0], lengths), dtypes[0])
    return (made,) + new_outputs(layout[1:], dtypes[1:], shape, lengths)


def check_outputs(texts, outputs, layout, shape):
    """Outputs are not stretched."""
    if len(outputs) > 0:
        own = lead(outputs[0], len(layout[0]))
        if len(own) != len(shape) or own != shape:
            raise ValueError(texts[SHAPE])
        check_outputs(texts, outputs[1:], layout[1:], shape)


def spread(a, core, single, shape, dtype):
    """An operand with all loop axes, then its core axes, or those of `single`. A number stays one where that has none."""
    if not is_array(a):
        return spread_number(a, single, shape, dtype)
    own = a.ndim - core
    more = len(shape) - own
    strides = (0,) * more + stretched(a.strides[:own], a.shape[:own], shape[more:])
    if len(single) == 1:
        return restride(a, shape + single, strides + (a.itemsize,))
    if len(shape) == 0 and core == 0:
        return a[()]
    return restride(a, shape + a.shape[own:], strides + a.strides[own:])


def spread_number(x, single, shape, dtype):
    if len(single) == 0:
        return x
    one = np.empty(single, dtype)
    one[0] = x
    return restride(one, shape + single, (0,) * len(shape) + (one.itemsize,))


def all_spread(args, layout, singles, shape, dtypes):
    if len(args) == 0:
        return ()
    first = spread(args[0], len(layout[0]), singles[0], shape, dtypes[0])
    return (first,) + all_spread(args[1:], layout[1:], singles[1:], shape, dtypes[1:])


def each(f, operands, shape):
    if len(shape) == 0:
        f(*operands)
    else:
        for i in range(shape[0]):
            each(f, rows(operands, i), shape[1:])


def stored(outputs, results):
    """Results that were computed in another dtype than the given arrays have."""
    if len(outputs) > 0:
        if outputs[0].dtype != results[0].dtype:
            outputs[0][...] = results[0]
        stored(outputs[1:], results[1:])


def targets(outputs, layout, dtypes, shape, lengths):
    """Arrays of the loop's dtypes: the outputs themselves where they have it."""
    if len(outputs) == 0:
        return ()
    rest = targets(outputs[1:], layout[1:], dtypes[1:], shape, lengths)
    if outputs[0].dtype == dtypes[0]:
        return (outputs[0],) + rest
    return new_outputs(layout[:1], dtypes[:1], shape, lengths) + rest


def answer(outputs):
    if len(outputs) == 1:
        return outputs[0][()] if outputs[0].ndim == 0 else outputs[0]
    return each_answer(outputs)


def each_answer(outputs):
    if len(outputs) == 0:
        return ()
    return (outputs[0][()] if outputs[0].ndim == 0 else outputs[0],) + each_answer(outputs[1:])


def run(f, texts, layout, fixed, nin, written, dtypes, singles, args):
    if not have_core(args, layout):
        raise ValueError(texts[DIMENSIONS])
    inputs = converted(args[:nin], dtypes, written)
    lengths = core_lengths(args, layout, fixed, 0)
    check_all(args, layout, lengths, 0)
    shape = loop_lengths(args, layout)
    if len(args) == nin:
        made = new_outputs(layout[nin:], dtypes[nin:], shape, lengths)
        each(f, all_spread(inputs + made, layout, singles, shape, dtypes), shape)
        return answer(made)
    given = args[nin:]
    check_outputs(texts, given, layout[nin:], shape)
    made = targets(given, layout[nin:], dtypes[nin:], shape, lengths)
    each(f, all_spread(all_apart(inputs, written, made) + made, layout, singles, shape, dtypes), shape)
    stored(given, made)
    return each_answer(given) if len(given) > 1 else given[0]
