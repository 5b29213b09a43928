"""Random array programs against NumPy: operators, element-wise functions, slices, masks, in-place work that overlaps, reductions,
over arrays of every dtype, of no to three dimensions, C, F, strided, reversed, broadcast and empty, with weak and strong numbers.

    python tests/fuzz/whole_arrays.py [--seed 0] [--programs 500] [--show]

Values, dtypes, shapes, what was written into the arguments, and the class of an exception must be NumPy's. Prints what
differs, with its seed; exits with 1 where there was any. QUERN_BUILD names the build folder."""
import argparse
import os
import pathlib
import random
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
BUILD = os.environ.get("QUERN_BUILD")
sys.path[:0] = [str(HERE.parent / "py")] + ([str(pathlib.Path(BUILD) / "python")] if BUILD else [])

import numpy as np  # noqa: E402
from beside import DTYPES, LAYOUTS, copied, laid_out, values  # noqa: E402

import quern  # noqa: E402

UNARY = ["np.sqrt", "np.exp", "np.sin", "np.square", "np.abs", "abs", "-", "+", "~", "np.sign", "np.floor", "np.isnan", "np.isfinite", "np.conj",
         "np.negative", "np.logical_not", "np.rint", "np.cos", "np.tanh", "np.log1p"]
BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]
PAIRS = ["np.minimum", "np.maximum", "np.hypot", "np.add", "np.multiply", "np.fmax", "np.logical_and", "np.not_equal", "np.arctan2", "np.copysign", "np.logaddexp"]
NUMBERS = ["s", "2", "1.5", "-1", "True"]
REDUCTIONS = ["sum", "min", "max", "mean", "any", "all", "prod", "argmin", "argmax", "cumsum", "std"]
WHOLE = ["np.einsum('...i->i...', X)", "np.einsum('...i,...i->...', X, Y)", "np.einsum('...i->...', X)", "np.sort(X, axis=-1)", "np.flip(X, 0)", "np.roll(X, 1, axis=-1)", "np.moveaxis(X, 0, -1)",
         "np.concatenate((X, Y), axis=0)", "np.stack((X, Y), axis=-1)", "np.copy(X)", "np.argwhere(X)", "np.repeat(X, 2, axis=-1)", "np.diff(X, axis=-1)", "np.count_nonzero(X, axis=0)", "np.cumsum(X, axis=0)", "np.ptp(X, axis=-1)"]
SHAPES = [((3,), (3,), (1,)), ((4,), (4,), (4,)), ((3, 4), (4,), (3, 1)), ((2, 1, 4), (3, 1), (4,)), ((2, 3, 4),) * 3, ((0,), (1,), (0,)),
          ((5,), (1,), (5,)), ((2, 3), (2, 3), (3,)), ((3, 0), (1,), (3, 1)), ((2, 3), (), (3,)), ((17,), (17,), (17,)), ((3,), (4,), (3,))]
SCALARS = [3, -2, 0.5, True, np.float32(0.25), np.int8(3), np.uint16(2), np.float64(-1.5), np.complex64(1 + 1j), 2 - 1j]


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        lines = [self.statement() for _ in range(self.rng.randrange(3))]
        lines.append("return " + self.result())
        self.source = "def f(a, b, c, s):\n" + "".join(f"    {line}\n" for line in lines)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def name(self):
        return self.rng.choice("abc")

    def place(self):
        """Of an array: all, some or one row of it."""
        return self.name() + self.pick("", "", "", "[1:]", "[:-1]", "[::2]", "[::-1]", ".T", "[...]", "[..., :2]", "[None]", "[0:0]", "[..., :1]",
                                       "[1:2]", "[-1:]", "[..., 1:2]", "[..., ::-2]", "[..., None]", ".reshape(-1, 1)")

    def operand(self, depth):
        return self.rng.choice(NUMBERS) if self.rng.random() < 0.2 else self.tree(depth)

    def tree(self, depth):
        r = self.rng.random()
        if depth == 0 or r < 0.15:
            return self.place()
        if r < 0.3:
            return f"{self.rng.choice(UNARY)}({self.tree(depth - 1)})"
        if r < 0.4:
            return f"{self.rng.choice(PAIRS)}({self.tree(depth - 1)}, {self.operand(depth - 1)})"
        if r < 0.48:
            return f"np.where({self.tree(depth - 1)} > {self.operand(depth - 1)}, {self.tree(depth - 1)}, {self.operand(depth - 1)})"
        if r < 0.54:
            return f"{self.tree(depth - 1)}.astype(np.{self.pick('float64', 'float32', 'complex128')})"
        if r < 0.6:
            return f"np.{self.pick('sum', 'max', 'mean', 'any')}({self.tree(depth - 1)}, axis={self.pick(0, -1)}, keepdims=True)"
        pair = [self.tree(depth - 1), self.operand(depth - 1)]
        self.rng.shuffle(pair)
        return f"({pair[0]} {self.rng.choice(BINARY)} {pair[1]})"

    def statement(self):
        r = self.rng.random()
        target = self.place()
        if r < 0.4 and target.endswith("]"):
            return f"{target} = {self.operand(2)}"
        if r < 0.7:
            name = self.name()
            return f"{name} {self.pick('+', '-', '*', '/', '//', '&', '|')}= {self.operand(2)}"
        if r < 0.8:
            name = self.name()
            return f"{name}[{name} > {self.pick('1', 's')}] = {self.pick('1', '0', 's')}"
        return f"np.{self.pick('add', 'multiply', 'maximum', 'subtract')}({self.tree(1)}, {self.operand(1)}, out={self.pick('', '', 'out=')}{target})".replace("out=out=", "out=")

    def result(self):
        r = self.rng.random()
        if r < 0.6:
            return self.tree(3)
        if r < 0.9:
            axis = self.pick("", "axis=0", "axis=-1", "axis=1", "axis=0, keepdims=True")
            kind = self.rng.choice(REDUCTIONS)
            if kind == "cumsum":
                axis = axis.replace(", keepdims=True", "")
            return f"np.{kind}({self.tree(2)}{', ' if axis else ''}{axis})"
        if r < 0.95:
            return f"({self.tree(2)}, {self.tree(1)})"
        return self.rng.choice(WHOLE).replace("X", self.tree(2)).replace("Y", self.tree(1))


def arguments(seed):
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    dtypes = rng.choices(DTYPES, k=3) if rng.random() < 0.5 else [rng.choice(DTYPES)] * 3
    shapes = rng.choice(SHAPES)
    arrays = []
    for dtype, shape in zip(dtypes, shapes):
        layout = rng.choice(LAYOUTS)
        # an array that is stretched cannot be written to, as NumPy sees it, and there is nothing to stretch in an empty one
        arrays.append(laid_out(values(numbers, dtype, shape), "C" if 0 in shape and layout == "broadcast" else layout))
    return arrays + [rng.choice(SCALARS)]


def outcome(f, args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args), None
        except Exception as error:
            return None, error


# refusals that we mean: where NumPy drops imaginary parts with a warning, and masks of arrays without axes
KNOWN = ["take z.real", "cannot assign complex", "astype cannot be called with the arguments (complex",
         "astype cannot be called with the arguments (Array(complex", "cannot be indexed with bool"]


def differs(got, want):
    """What is not the same, or None."""
    if isinstance(want, tuple):
        parts = [differs(g, w) for g, w in zip(got, want)] if isinstance(got, tuple) and len(got) == len(want) else ["no tuple"]
        return next((p for p in parts if p), None)
    if isinstance(got, np.ndarray) != isinstance(want, np.ndarray):
        return f"{type(got)} for {type(want)}"
    if not isinstance(want, np.ndarray):
        got = np.asarray(want).dtype.type(got)
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape} for {want.dtype}{want.shape}"
    if want.dtype.kind in "biu":
        other = got[got != want]
        if want.dtype.kind != "b":  # floats that no int holds: they saturate here, nan is 0
            other = other[~np.isin(other, [0, np.iinfo(want.dtype).min, np.iinfo(want.dtype).max])]
        return f"{got} for {want}" if other.size else None
    narrow = np.float16 if want.dtype == np.float16 else np.float32 if want.dtype in (np.float32, np.complex64) else np.float64
    with np.errstate(all="ignore"):
        close = np.isclose(got, want, rtol=1e3 * np.finfo(narrow).eps, atol=1e2 * np.finfo(narrow).eps, equal_nan=True)
        if want.dtype.kind == "c":  # one part is no number: the other is not compared
            close |= np.isnan(got) & np.isnan(want) | ~np.isfinite(got) & ~np.isfinite(want)
    return None if close.all() else f"{got} for {want}"


def problem(seed):
    """None, or what compiled code does otherwise."""
    program = Program(seed)
    space = {"np": np}
    exec(program.source, space)
    f, compiled = space["f"], quern.njit(space["f"])
    for k in range(3):
        args = arguments(seed * 3 + k)
        theirs, mine = [copied(a) for a in args], [copied(a) for a in args]
        (want, wrong), (got, mistake) = outcome(f, theirs), outcome(compiled, mine)
        about = ", ".join(f"{a.dtype}{a.shape}{a.strides}" if isinstance(a, np.ndarray) else f"{type(a).__name__}({a})" for a in args)
        if wrong and mistake:  # of two things that are wrong either may be told
            if not isinstance(mistake, (quern.TypingError, ValueError, OverflowError, type(wrong))):
                return f"{about}: {mistake!r} for {wrong!r}"
            continue
        if isinstance(wrong, OverflowError) and any(0 in a.shape for a in args[:3]):
            continue  # an int that does not fit is seen where it meets an element
        if isinstance(mistake, quern.TypingError) and any(k in str(mistake) for k in KNOWN):
            continue
        if mistake or wrong:
            return f"{about}: {mistake!r} for {wrong!r}"
        what = differs(got, want) or differs(tuple(mine[:3]), tuple(theirs[:3]))
        if what:
            return f"{about}: {what}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--show", action="store_true", help="print every program")
    args = parser.parse_args()
    found = 0
    for seed in range(args.seed, args.seed + args.programs):
        if args.show:
            print(f"# {seed}\n{Program(seed).source}", flush=True)
        what = problem(seed)
        if what:
            found += 1
            print(f"# {seed}\n{Program(seed).source}    {what}\n", flush=True)
    print(f"{args.programs} programs, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
