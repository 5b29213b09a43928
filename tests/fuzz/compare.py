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
from blocks import Blocks, Meeting
from guarded import Region, same_elements
from nests import family, public
from quern import _quern, cuda, njit

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


FLOATS = {name: oracle.float_function(name) for name in ("floor", "ceil")}
CASTS = {public(k): functools.partial(cast, k) for k in oracle.TYPES if not k.startswith("w")}


@dataclass
class Place:
    """How the arrays of one parameter lie in memory, in all sets of arguments."""
    steps: tuple
    order: str
    readonly: bool
    alias: object  # a slice of `a`, or None
    between: bool = False  # `a` and `b` have every other element of one array: apart, but their spans overlap


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
    a, b = program.arrays[:2]
    if program.kernel and (a.kind, a.ndim, b.ndim) == (b.kind, 1, 1) and rng.random() < 0.7:
        result[0].between = result[1].between = True
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
    n = rng.choice([5, 7, 8, 9, 11, 12] if isinstance(program, Meeting) or program.careful and rng.random() < 0.9 else [0, 1, 2, 3, 4, 5, 7, 8, 9, 11])
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
        both = beside(data[0], data[1][0], where[0].steps, regions[0]) if where[0].between else ()
        for k, (place, (values, at_end)) in enumerate(zip(where, data)):
            if place.between:
                arrays.append(both[k::2][:len(values)])
                if k:
                    regions[k].bytes[:] = 0
                continue
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


def beside(first, second, steps, region):
    """One array with the elements of two by turns."""
    values, at_end = first
    both = np.zeros(2 * max(len(values), len(second)), values.dtype)
    both[::2][:len(values)], both[1::2][:len(second)] = values, second
    return region.place(both, steps if steps[0] else (1,), at_end=at_end)


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
    """The function over the oracle's numbers; a kernel once for each work-item, or for each block."""

    def __init__(self, program, warp=32):
        numpy = types.SimpleNamespace(**CASTS, **FLOATS)
        if isinstance(program, Meeting):
            self.function, self.kernel = Blocks(program, numpy, warp), self.blocks
            return
        self.position = 0
        grid = types.SimpleNamespace(grid=lambda n: self.position, gridsize=lambda n: GRID[0] * GRID[1])
        namespace = {"np": numpy, "cuda": grid, "math": oracle.math}
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

    def blocks(self, *args):
        """Nothing is raised: where Python would, the others of a block cannot go on."""
        with np.errstate(all="ignore"):
            try:
                self.function(*args)
            except RAISED as error:
                raise oracle.Undecided(str(error)) from None
        return set()

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


# What kernels are compiled with, and whether wrong indices are noticed.
PLAIN, SIMPLE = ({"fma": False}, False), ({"fma": False, "opt": False}, False)
DEBUG, DEBUG_SIMPLE = ({"fma": False, "debug": True}, True), ({"fma": False, "debug": True, "opt": False}, True)
TURNS = 10 * [PLAIN] + 4 * [SIMPLE] + [DEBUG, DEBUG_SIMPLE]  # code for debugging takes three times as long


def turn(seed, device):
    """How this seed's kernel is compiled: on all GPUs alike. On the cpu device nearly always with little optimisation, which
    takes a tenth of the time: `make fuzz` looks at the rest."""
    rng = random.Random(f"turn {seed}")
    options, checked = rng.choice(TURNS)
    return (DEBUG_SIMPLE if checked else SIMPLE) if device == "cpu" and rng.random() < 0.9 else (options, checked)


def variants(program, seed, devices, one=False):
    """(name, device or None, call, whether wrong indices are noticed): made once for each program. `one`: each kernel is
    compiled in one way only, by turns."""
    namespace = {"np": np, "cuda": cuda, "math": math}
    exec(compile(program.source, "<nest>", "exec"), namespace)
    f = namespace["f"]
    if not program.kernel:
        made = [("opt=3", None, njit(opt=3)(f), True), ("opt=3, unchecked", None, njit(opt=3, boundscheck=False)(f), False)]
        return made + [("opt=0", None, njit(opt=0)(f), True)] * (seed % 3 == 0)
    grid = program.grid if isinstance(program, Meeting) else GRID

    def launched(kernel):
        def call(*args):
            kernel[grid](*args)
            cuda.synchronize()
        return call

    made = []
    for device in devices:
        if _quern.device_count(device.partition("-")[0])[0] == 0:
            continue
        for options, checked in [turn(seed, device)] if one else [PLAIN, DEBUG_SIMPLE]:
            words = ", ".join(f"{k}={v}" for k, v in options.items())
            made.append((f"{device}, {words}", device, launched(cuda.jit(**options)(f)), checked))
    return made


def choose(device):
    """The device of the next launches: "cpu", "cuda", "hip", or a chip, "hip-gfx942", which FAKEHIP_ARCH lists."""
    kind, _, chip = device.partition("-")
    _quern.pin_device(kind)
    if chip:
        _quern.select_device("hip", os.environ["FAKEHIP_ARCH"].split(",").index(chip))


def warp_of(program, device):
    """Threads of a warp, where the program asks for them."""
    return 64 if isinstance(program, Meeting) and program.warps and device and device.startswith("hip-gfx9") else 32


def differences(program, seed, devices=("cpu",), one=False):
    """The first thing that does not agree with CPython, as (what sort, words), or None. Sorts: "refused" (no result and
    no exception that a function may raise), "different"."""
    rng = random.Random(seed)
    where = places(program, rng)
    made = variants(program, seed, devices, one)
    oracles = {warp: Oracle(program, warp) for warp in {warp_of(program, device) for _, device, _, _ in made}}
    ours, theirs = regions()
    for _ in range(program.sets):
        build, scalars = arguments(program, where, rng)
        try:
            seen = {w: observe(f.kernel if program.kernel else f, build, theirs, scalars) for w, f in oracles.items()}
        except oracle.Undecided:
            continue
        for name, device, call, checked in made:
            expected = seen[warp_of(program, device)]
            failed = bool(expected.result) if program.kernel else isinstance(expected.result, type)
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
