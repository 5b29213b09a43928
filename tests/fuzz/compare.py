"""One program against CPython: the function runs over the oracle's numbers and compiled, with the same arguments, in
arrays between guard pages. `differences(program, seed)` gives what does not agree, in words; an access outside of an
array kills the process instead."""
import functools
import math
import os
import random
import types
from dataclasses import dataclass

import numpy as np
import oracle
from guarded import Region, same_elements
from nests import family, public
from quern import _quern, cuda, njit

SETS = 6  # of arguments for each program
GRID = (2, 8)
RAISED = (IndexError, ValueError, ZeroDivisionError, UnboundLocalError, OverflowError)


def cast(kind, x):
    """np.int8(x) and its like: as the oracle, but NaN and infinity are no ints."""
    v = oracle.value(x)
    if family(kind) in ("SINT", "UINT") and isinstance(v, float) and not math.isfinite(v):
        raise ValueError("NaN") if v != v else Infinite
    return oracle.make(kind, v)


class Infinite(OverflowError):
    """Apart from other OverflowErrors, which are indices that NumPy cannot hold."""


CASTS = {public(k): functools.partial(cast, k) for k in oracle.TYPES if not k.startswith("w")}


@dataclass
class Place:
    """How the arrays of one parameter lie in memory, in all sets of arguments."""
    steps: tuple
    order: str
    readonly: bool
    alias: object  # a slice of `a`, or None


def places(program, rng):
    result = []
    for array in program.arrays:
        first = program.arrays[0]
        steps = (1,) * array.ndim
        order = "C"
        if rng.random() < 0.45:
            steps = tuple(rng.choice([1, 1, 2, 3, -1, -2]) for _ in range(array.ndim))
            order = rng.choice("CF")
        readonly = not array.written and rng.random() < 0.3
        if readonly and rng.random() < 0.3:
            steps = (0,) + steps[1:]
        alias = None
        if array is not first and (array.kind, array.ndim) == (first.kind, first.ndim) and not program.kernel and rng.random() < 0.6:
            alias = rng.choice([slice(None), slice(1, None), slice(None, -1), slice(2, None), slice(None, None, -1)])
            readonly = False
        result.append(Place(steps, order, readonly, alias))
    return result


def number(kind, rng, edges):
    """A value of a kind: small, or from the edges of its range."""
    if family(kind) in ("SINT", "UINT"):
        low, high = oracle.limits(kind)
        if edges:
            return rng.choice([low, high, low + 1, high - 1, 0, 1, max(low, -1), high // 3])
        return rng.choice([0, 0, 1, 1, 2, 3, 4, 5, 6, max(low, -1), max(low, -2)])
    if family(kind) == "CPX":
        return complex(rng.randrange(-8, 9) / 4, rng.randrange(-8, 9) / 4)
    if edges:
        return rng.choice([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38, 1e-40, 5e-324, 0.1])
    return rng.randrange(-16, 17) / 4


def arguments(program, where, rng):
    """(build, scalars): build(regions) places the arrays of one set of arguments."""
    n = rng.choice([5, 7, 8, 9, 11, 12] if program.careful and rng.random() < 0.9 else [0, 1, 2, 3, 4, 5, 7, 8, 9, 11])
    edges = rng.random() < 0.3
    data = []
    for array in program.arrays:
        shape = tuple(max(n + rng.choice([0] if program.careful else [0, 0, 0, 0, 1, -1, 2]), 0) for _ in range(array.ndim))
        values = [number(array.kind, rng, edges) for _ in range(int(np.prod(shape)))]
        data.append((np.array(values, public(array.kind)).reshape(shape), rng.random() < 0.5))
    ints = (n, rng.choice([1, 2, 3, n])) if program.careful else (n + rng.choice([0, 0, 0, 1, -1, 2]), rng.choice([1, 2, 3, n, n - 1, -2, 0]))
    scalars = (*ints, oracle.numpy_value(program.scalar, number(program.scalar, rng, edges)))

    def build(regions):
        arrays = []
        for k, (place, (values, at_end)) in enumerate(zip(where, data)):
            if place.alias is not None:
                regions[k].bytes[:] = 0
                arrays.append(arrays[0][place.alias])
                continue
            made = regions[k].place(values if 0 not in place.steps else np.broadcast_to(values[:1], values.shape), place.steps,
                                        place.order, at_end)
            made.setflags(write=not place.readonly)
            arrays.append(made)
        return arrays

    return build, scalars


def bare(x):
    """A result as a plain number that can be compared."""
    x = oracle.python_value(x)
    return np.array([x], "c16" if isinstance(x, complex) else "f8" if isinstance(x, float) else "O")


def same_results(expected, found):
    if not isinstance(expected, tuple) or not isinstance(found, tuple):
        return expected is found
    if len(expected) != len(found):
        return False
    pairs = [(bare(a), bare(b)) for a, b in zip(expected, found)]
    return all(a.dtype == b.dtype and (a[0] == b[0] if a.dtype == object else same_elements(a, b)) for a, b in pairs)


def outcome(call, args):
    try:
        return call(*args)
    except RAISED as error:
        return OverflowError if isinstance(error, Infinite) else type(error)


class Oracle:
    """The function over the oracle's numbers; a kernel once for each work-item."""

    def __init__(self, program):
        numpy = types.SimpleNamespace(**CASTS)
        self.position = 0
        grid = types.SimpleNamespace(grid=lambda n: self.position, gridsize=lambda n: GRID[0] * GRID[1])
        namespace = {"np": numpy, "cuda": grid}
        exec(program.source, namespace)
        self.function = namespace["f"]

    def __call__(self, *args):
        with np.errstate(all="ignore"):
            try:
                return oracle.run(self.function, *args)
            except Infinite:
                raise
            except OverflowError as error:  # compiled code calls it out of bounds
                raise oracle.Undecided(str(error)) from None

    def kernel(self, *args):
        """The classes of what work-items raised."""
        raised = set()
        for self.position in range(GRID[0] * GRID[1]):
            result = outcome(self, args)
            if isinstance(result, type):
                raised.add(result)
        return raised


@dataclass
class Seen:
    """What a call did: its result (or a set of classes, of which a kernel raises one), elements and everything else."""
    result: object
    elements: list
    margins: list

    def difference(self, found):
        """From CPython's to that of compiled code, in words, or None."""
        kernel = isinstance(self.result, set)
        if kernel:
            agree = found.result in self.result if self.result else found.result is None
        elif isinstance(self.result, type) or isinstance(found.result, type):
            agree = self.result is found.result
        else:
            agree = same_results(self.result, found.result)
        if not agree:
            return f"CPython gives {self.result}, compiled code {found.result}"
        for k, (a, b) in enumerate(zip(self.elements, found.elements)):
            # a kernel that raised may have done any part of its work
            if not (kernel and self.result and k == 0) and not same_elements(a, b):
                return f"in CPython {'abc'[k]} = {a.tolist()}, compiled code leaves {b.tolist()}"
        for k, (a, b) in enumerate(zip(self.margins, found.margins)):
            if not (a == b).all():
                return f"bytes around {'abc'[k]} were changed: {np.flatnonzero(a != b).tolist()}"
        return None


def observe(call, build, regions, scalars):
    arrays = build(regions)
    result = outcome(call, (*arrays, *scalars))
    elements = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=True)
        a[...] = 0
    return Seen(result, elements, [r.bytes.copy() for r in regions])


REGIONS = []


def regions():
    """Two times three, used again and again: for the oracle and for compiled code."""
    if not REGIONS:
        REGIONS.extend([Region() for _ in range(3)] for _ in range(2))
    return REGIONS


def variants(program, seed, devices, one=False):
    """(name, device or None, call, whether wrong indices are noticed): made once for each program. `one`: every other kernel is
    compiled for debugging, the others as they run, on all devices alike."""
    namespace = {"np": np, "cuda": cuda}
    exec(compile(program.source, "<nest>", "exec"), namespace)
    f = namespace["f"]
    if not program.kernel:
        made = [("opt=3", None, njit(opt=3)(f), True), ("opt=3, unchecked", None, njit(opt=3, boundscheck=False)(f), False)]
        return made + [("opt=0", None, njit(opt=0)(f), True)] * (seed % 3 == 0)

    def launched(kernel):
        def call(*args):
            kernel[GRID](*args)
            cuda.synchronize()
        return call

    made = []
    for device in devices:
        if _quern.device_count(device.partition("-")[0])[0] == 0:
            continue
        made.append((f"{device}, fma=False", device, launched(cuda.jit(fma=False)(f)), False))
        made.append((f"{device}, debug", device, launched(cuda.jit(debug=True, opt=False, fma=False)(f)), True))
    return made[seed % 2::2] if one else made


def choose(device):
    """The device of the next launches: "cpu", "cuda", "hip", or a chip, "hip-gfx942", which FAKEHIP_ARCH lists."""
    kind, _, chip = device.partition("-")
    _quern.pin_device(kind)
    if chip:
        _quern.select_device("hip", os.environ["FAKEHIP_ARCH"].split(",").index(chip))


def differences(program, seed, devices=("cpu",), sets=SETS, one=False):
    """The first thing that does not agree with CPython, as (what sort, words), or None. Sorts: "refused" (no result and
    no exception that a function may raise), "different"."""
    rng = random.Random(seed)
    where = places(program, rng)
    oracle_of = Oracle(program)
    made = variants(program, seed, devices, one)
    ours, theirs = regions()
    for _ in range(sets):
        build, scalars = arguments(program, where, rng)
        try:
            expected = observe(oracle_of.kernel if program.kernel else oracle_of, build, theirs, scalars)
        except oracle.Undecided:
            continue
        failed = bool(expected.result) if program.kernel else isinstance(expected.result, type)
        for name, device, call, checked in made:
            if failed and not checked:
                continue
            if device:
                choose(device)
            sort = "different"
            try:
                found = expected.difference(observe(call, build, ours, scalars))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not what the function raises
                sort, found = "refused", f"{type(error).__name__}: {error}"
            if found:
                values = [f"  {n} = {v!r}" for n, v in zip("abcnmx", (*build(theirs), *scalars))]
                memory = [f"  {n}: {p}" for n, p in zip("abc", where)]
                return sort, "\n".join([f"{name}: {found}", program.source.rstrip(), *values, *memory])
    return None
