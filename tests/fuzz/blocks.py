"""Random kernels whose work-items meet: shared memory that is written, read and written again behind barriers, atomic
operations, shuffles and votes of warps. Everybody of a block takes the same way to where they meet, nobody reads what
another one may be writing, and atomic operations are those whose sum does not depend on their order: so that there is
one right result, which CPython finds with a generator for each work-item.

Kernels have the parameters of nests.py. All indices lie inside; nothing is raised."""
import ast
import types
from dataclasses import dataclass

import nests
import numpy as np
import oracle
from nests import ARITHMETIC, Array, Nest, Program, family, public

SHARED = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128"]
COUNTED = ["i32", "i64", "u32", "u64"]
CARRIED = ["i32", "i64", "u32", "u64", "f32", "f64"]  # by shuffles
LEAST = 5  # elements of an array along each axis
ORDERLESS = ["add", "add", "sub", "and_", "or_", "xor", "max", "min"]


@dataclass
class Meeting(Program):
    """A kernel of blocks."""
    grid: tuple = ()
    warps: bool = False  # does it ask how wide a warp is?


class Block(Nest):
    def __init__(self, rng):
        super().__init__(rng, kernel=True, careful=True, budget=2, deep=1, sets=1)
        self.warps = rng.random() < 0.3
        self.grid = (1, 64 * rng.choice([1, 1, 1, 2])) if self.warps else (rng.choice([1, 2, 2, 3]), rng.choice([5, 8, 12, 16, 24, 40]))
        self.shared, self.sizes = [], {}

    # -- what differs from a nest: indices of any int lie inside, nobody leaves, only the end writes to `a` ------------------

    def index(self, array, axis=0):
        r, size = self.rng, f"{array.name}.shape[{axis}]"
        i, j, c = r.choice(self.ints), r.choice(self.ints), r.randrange(4)
        mask = (1 << (self.sizes[array.name][axis] if array.name in self.sizes else LEAST).bit_length() - 1) - 1  # cheaper than a remainder
        return r.choice([f"{i} & {mask}"] * 3 + [f"({i} + {c}) & {mask}"] * 2 + [
            f"{size} - 1 - ({i} & {mask})", f"({i} * {c} + {j}) & {mask}", f"-1 - ({i} & {mask})", f"({i} ^ {c}) & {mask}", "0", "-1",
            f"min(max({i} - {c}, 0), {size} - 1)", f"({i} + {c}) % {size}"])

    def readable(self, array):
        return not array.written

    def leave(self, indent):
        if not self.advance:
            return self.assign(indent)
        self.line(indent, f"if {self.condition(0)}:")
        if self.advance[-1] and self.chance(0.5):
            self.line(indent + 1, self.advance[-1])
            return self.line(indent + 1, "continue")
        return self.line(indent + 1, "break")

    def store(self, indent):
        self.assign(indent)

    def variable(self):
        """A variable for a new value; what was computed last is what the end most likely shows."""
        self.last = self.rng.choice([v for v in self.values if v[0] == "s"])
        return self.last

    def assign(self, indent):
        name = self.variable()
        text, kind = self.expression(1)
        self.line(indent, f"{name} = {self.cast(text, kind, self.values[name])}")

    def leaf(self):
        if self.shared and self.chance(0.5):
            array = self.rng.choice([a for a in self.arrays if a.name in self.shared] or [a for a in self.arrays if self.readable(a)])
            return self.element(array), array.kind
        while True:
            text, kind = super().leaf()
            if not text.startswith("a["):
                return text, kind

    # -- meetings ------------------------------------------------------------------------------------

    def barrier(self, indent):
        self.line(indent, "cuda.syncthreads()")

    def exchange(self, indent):
        """Each work-item writes its own element, waits, reads those of others, and waits."""
        kind = self.rng.choice(SHARED)
        name = self.fresh("e")
        width = self.grid[1]
        deep = self.chance(0.3)
        self.declare.append(f"{name} = cuda.shared.array({f'({width}, 2)' if deep else width}, np.{public(kind)})")
        self.sizes[name] = width, 2
        rounds = self.pick("2", "m & 3", "3") if self.chance(0.4) else None
        if rounds:
            again = self.fresh("r")
            self.line(indent, f"for {again} in range({rounds}):")
            self.ints.append(again)
            indent += 1
        for cell in [", 0", ", 1"] if deep else [""]:
            text, of = self.expression(1)
            self.line(indent, f"{name}[t{cell}] = {self.cast(text, of, kind)}")
        self.barrier(indent)
        self.arrays.append(Array(name, kind, 1 + deep, False))
        self.shared.append(name)
        self.assign(indent)
        if self.chance(0.5):
            self.block(indent, 1)
        self.shared.pop()
        self.arrays.pop()
        self.barrier(indent)
        if rounds:
            self.ints.pop()

    def count(self, indent):
        """Atomic operations of all work-items on a few elements."""
        kind = self.rng.choice([*COUNTED, "f32", "f64"])
        op = self.rng.choice(ORDERLESS) if kind in COUNTED else self.rng.choice(["add", "sub"])
        name, size = self.fresh("q"), self.rng.choice([1, 2, 3, 5])
        self.sizes[name] = size,
        start = self.pick("0", "1", "t", "n")
        self.declare.append(f"{name} = cuda.shared.array({size}, np.{public(kind)})")
        self.line(indent, f"if t < {size}:")
        self.line(indent + 1, f"{name}[t] = np.{public(kind)}({start})")
        self.barrier(indent)
        inside = indent
        if self.chance(0.4):
            self.line(indent, f"if {self.condition(0)}:")
            inside += 1
        self.line(inside, f"cuda.atomic.{op}({name}, {self.pick('t', 'i', 't * 3')} % {size}, {self.operand(kind)})")
        self.barrier(indent)
        self.arrays.append(Array(name, kind, 1, False))
        self.shared.append(name)
        self.assign(indent)
        self.shared.pop()
        self.arrays.pop()
        self.barrier(indent)

    def operand(self, kind):
        """For atomic operations: sums of floats are exact."""
        if family(kind) == "FLT":
            return f"np.{public(kind)}({self.pick('t & 7', 'i % 5', '0.25', '-1.5', 'm')})"
        text, of = self.expression(1)
        return self.cast(text, of, kind) if family(of) in ("SINT", "UINT") else f"np.{public(kind)}({self.pick('t', 'i', 'm', 'n - t')})"

    def vote(self, indent):
        name = self.variable()
        what = self.rng.random()
        if what < 0.45:
            kind = self.rng.choice(CARRIED)
            text, of = self.expression(1)
            lane = self.pick("0", "1", "3", "5", "31", "(t + 1) & 31", "t ^ 3", "63 - (t & 63)", "m")
            if self.chance(0.5):
                call = f"cuda.shfl_sync(-1, {self.cast(text, of, kind)}, ({lane}) & (cuda.warpsize - 1))"
            else:
                call = f"cuda.shfl_{self.pick('up', 'down', 'xor')}_sync(-1, {self.cast(text, of, kind)}, {self.pick(1, 2, 3, 7, 16, 31)})"
            return self.line(indent, f"{name} = {self.cast(call, kind, self.values[name])}")
        if what < 0.8:
            call = self.pick("cuda.ballot_sync(-1, {})", "cuda.popc(cuda.ballot_sync(-1, {}))", "cuda.ffs(cuda.ballot_sync(-1, {}))",
                             "cuda.clz(cuda.ballot_sync(-1, {}))")
        else:
            call = self.pick("(1 if cuda.all_sync(-1, {}) else 0)", "(1 if cuda.any_sync(-1, {}) else 0)", "(1 if cuda.eq_sync(-1, {}) else 0)")
        text = call.format(self.condition(0))
        kind = self.values[name]
        self.line(indent, f"{name} = np.{public(kind)}({text})")

    def sum_over(self, indent):
        name = self.variable()
        what = self.pick("count", "and", "or")
        self.line(indent, f"{name} = np.{public(self.values[name])}(cuda.syncthreads_{what}({self.condition(0)}))")

    def make(self):
        r = self.rng
        parameters = self.parameters()
        self.values["x"] = scalar = r.choice(nests.KINDS)
        for k in range(r.randrange(1, 4)):
            self.values[f"s{k}"] = r.choice(nests.KINDS)
        self.ints += ["t", "i"]
        self.declare = []
        for name, kind in self.values.items():
            if name != "x":
                self.line(1, f"{name} = np.{public(kind)}({r.choice([0, 1])})")
        for _ in range(r.choice([1, 1, 2])):
            what = r.random()
            if self.warps and what < 0.7:
                self.vote(1)
            elif what < 0.55:
                self.exchange(1)
            elif what < 0.9:
                self.count(1)
            else:
                self.sum_over(1)
        if self.warps and r.random() < 0.5:
            self.vote(1)
        self.finish(parameters[0])
        head = ["def f(a, b, c, n, m, x):", *(f"    {d}" for d in self.declare), "    t = cuda.threadIdx.x", "    i = cuda.grid(1)"]
        return Meeting("\n".join([*head, *self.lines]) + "\n", parameters, scalar, True, True, self.sets, self.grid, self.warps)

    def finish(self, array):
        """What `a` shows: an element of each work-item, or atomic operations on any of its elements."""
        if array.kind in COUNTED and array.ndim == 1 and self.chance(0.5):
            op = self.pick(*ORDERLESS)
            return self.line(1, f"cuda.atomic.{op}(a, {self.pick('i', 't', 'i * 3', 't // 2')} % a.shape[0], {self.operand(array.kind)})")
        self.line(1, "if i < a.shape[0]:")
        text, kind = self.expression(1)
        name = self.last
        own = self.values[name]
        if nests.kind_of("+", kind, own) is None or "u64" in (kind, own):
            text, kind = name, own
        else:
            text, kind = f"({text} + {name})", nests.kind_of("+", kind, own)
        place = "i" if array.ndim == 1 else f"i, {self.pick('0', '-1')} "
        self.line(2, f"a[{place}] = {self.cast(text, kind, array.kind)}")


# -- in CPython --------------------------------------------------------------------------------------

MEET = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"}
WARP = {"shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "ballot_sync", "all_sync", "any_sync", "eq_sync"}


class _Yields(ast.NodeTransformer):
    """Where work-items meet, a generator hands out what it asks."""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name not in MEET | WARP:
            return node
        return ast.Yield(ast.Tuple([ast.Constant(name), *node.args], ast.Load()))


def _atomic(op):
    def change(array, index, x):
        array[index] = op(array[index], x)
    return change


ATOMIC = types.SimpleNamespace(
    add=_atomic(ARITHMETIC["+"]), sub=_atomic(ARITHMETIC["-"]), and_=_atomic(ARITHMETIC["&"]), or_=_atomic(ARITHMETIC["|"]),
    xor=_atomic(ARITHMETIC["^"]), max=_atomic(lambda a, b: a if a >= b else b), min=_atomic(lambda a, b: a if a <= b else b))


def _truth(x):
    return bool(oracle.value(x))


def _bits(values):
    return sum(1 << k for k, x in enumerate(values) if _truth(x))


class Blocks:
    """A kernel of blocks over the oracle's numbers, with warps of `warp` threads."""

    def __init__(self, program, numpy, warp):
        tree = ast.fix_missing_locations(_Yields().visit(ast.parse(program.source)))
        self.grid, self.warp, self.block = program.grid, warp, None
        self.at = (0, 0)
        cuda = types.SimpleNamespace(
            grid=lambda n: self.at[0] * self.grid[1] + self.at[1], shared=types.SimpleNamespace(array=self.array), atomic=ATOMIC,
            warpsize=warp, popc=lambda x: self.unsigned(x).bit_count(),
            ffs=lambda x: (self.unsigned(x) & -self.unsigned(x)).bit_length(), clz=lambda x: warp - self.unsigned(x).bit_length())
        Place = type("Place", (), {"x": property(lambda _: self.at[1])})
        cuda.threadIdx = Place()
        namespace = {"np": numpy, "cuda": cuda}
        exec(compile(tree, "<kernel>", "exec"), namespace)
        self.function = namespace["f"]

    def unsigned(self, x):
        return oracle.value(x) & (1 << self.warp) - 1

    def array(self, shape, kind):
        """One for the block: the n-th that each work-item asks for is the n-th of all."""
        made, k = self.block, self.asked
        self.asked += 1
        if k == len(made):
            made.append(oracle.Array(np.zeros(shape, public(kind.args[0]))))
        return made[k]

    def __call__(self, *args):
        for block in range(self.grid[0]):
            self.block = []
            items = []
            for t in range(self.grid[1]):
                items.append(oracle.run(self.function, *args))
            self.run(block, items)

    def run(self, block, items):
        answers = [None] * len(items)
        while items:
            asked = []
            for t, item in enumerate(items):
                self.at, self.asked = (block, t), 0
                try:
                    asked.append(item.send(answers[t]))
                except StopIteration:
                    asked.append(None)
            if asked[0] is None:
                assert not any(asked), "work-items end at different places"
                return
            assert len({a[0] for a in asked}) == 1, "work-items wait at different places"
            if asked[0][0] in MEET:
                answers = self.meet(asked[0][0], asked)
            else:
                answers = [x for k in range(0, len(asked), self.warp) for x in self.warp_answers(asked[k:k + self.warp])]

    def meet(self, name, asked):
        n = sum(_truth(a[1]) for a in asked) if len(asked[0]) > 1 else 0
        result = {"syncthreads": None, "syncthreads_count": n, "syncthreads_and": int(n == len(asked)), "syncthreads_or": int(n > 0)}[name]
        return [None if result is None else oracle.of(result)] * len(asked)

    def warp_answers(self, asked):
        name, n = asked[0][0], len(asked)
        values = [a[2] for a in asked]
        bits = 0 if name.startswith("shfl") else _bits(values)
        if name == "ballot_sync":
            return [oracle.make("u64" if self.warp == 64 else "u32", bits)] * n
        if name in ("all_sync", "any_sync", "eq_sync"):
            full = (1 << n) - 1
            return [{"all_sync": bits == full, "any_sync": bits != 0, "eq_sync": bits in (0, full)}[name]] * n
        answers = []
        for lane, a in enumerate(asked):
            k = int(oracle.value(a[3]))
            source = {"shfl_sync": k, "shfl_up_sync": lane - k, "shfl_down_sync": lane + k, "shfl_xor_sync": lane ^ k}[name]
            answers.append(values[source] if 0 <= source < n else values[lane])
        return answers
