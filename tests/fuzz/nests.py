"""Random loop nests over arrays, as source text. A program is made of typed expressions: every assignment to a variable
casts, so that no two types meet where paths meet, which CPython could not show (the oracle's own tests are for that).
Two of three are careful: their arrays have one size and their indices lie inside, so that the whole nest runs.

Functions are `f(a, b, c, n, m, x)`: arrays of one or two dimensions, two ints of about the length of the arrays, a
number. Kernels have the same parameters; each work-item writes its own element, or row, of `a`."""
import functools
import operator
import random
from dataclasses import dataclass, field

import oracle

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
KINDS = [*INTS, "f32", "f64", "c64", "c128"]
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
              "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
              ">>": operator.rshift}
COMPARE = ["<", "<=", ">", ">=", "==", "!="]


def public(kind):
    return oracle.TYPES[kind][0]


def family(kind):
    return oracle.TYPES[kind][2]


def component(kind):
    """Of a complex number."""
    return oracle.kind(oracle.make(kind, 1).real)


def weak(kind):
    return kind.startswith("w")


@functools.lru_cache(None)
def kind_of(op, left, right):
    """The kind of an operation, asked of the oracle; None where there is none."""
    try:
        return oracle.kind(ARITHMETIC[op](oracle.make(left, 1), oracle.make(right, 1)))
    except TypeError:
        return None


@dataclass
class Array:
    name: str
    kind: str
    ndim: int
    written: bool
    view: bool = False


@dataclass
class Program:
    source: str
    arrays: list
    scalar: str  # the kind of x
    kernel: bool
    careful: bool
    sets: int = 6  # of arguments that it is tried with


@dataclass
class Nest:
    rng: random.Random
    kernel: bool
    careful: bool
    lines: list = field(default_factory=list)
    ints: list = field(default_factory=lambda: ["n", "m"])  # Python ints that may be read here
    values: dict = field(default_factory=dict)
    arrays: list = field(default_factory=list)
    advance: list = field(default_factory=list)  # for each loop around: what a `continue` does first, None for `for`
    gathered: list = field(default_factory=list)  # arrays of ints and the ints by which they were read as indices
    names: int = 0
    budget: int = 9
    deep: int = 2  # operations within operations
    sets: int = 6

    # -- expressions ------------------------------------------------------------------------------

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, share):
        return self.rng.random() < share

    def index(self, array, axis=0):
        """A Python int that often lies inside the axis."""
        r, size = self.rng, f"{array.name}.shape[{axis}]"
        i = r.choice(self.ints)
        j = r.choice(self.ints)
        c = r.randrange(4)
        if self.careful and (array.view or self.chance(0.3)):
            return r.choice([f"{i} % {size}", f"min({i}, {size} - 1)", f"({i} * {c} + {j}) % {size}", f"-1 - {i} % {size}", "0", "-1",
                             f"min(max({i} - {c}, 0), {size} - 1)"])
        if self.careful:
            inside = [k for k in self.ints if k not in ("n", "m")]
            i = r.choice(inside) if inside else "0"
            return r.choice([i] * 6 + [f"{size} - 1 - {i}", f"-{i}", f"-{i} - 1", f"({i} + {j}) % {size}", f"{i} // {r.choice([1, 2, 3])}",
                                       f"({i} - {c}) % {size}", f"({i} + {c}) % {size}", f"{i} - {j}", f"{i} + {j} - 1",
                                       f"{i} >> 1", f"{i} & 3", f"{i} % {c + 1}", f"max({i} - {c}, 0)", f"{i} - {c}", "n - 1", "m - 1"])
        if self.chance(0.1):
            return self.rounded(f"{i} {self.pick('/ 2', '/ 3', '* 0.5', '* 0.75', '* 1.25 - 1.5', '- 0.5')}")
        forms = [i] * 6 + [f"{i} + {c}", f"{i} - {c}", f"-{i}", f"-{i} - 1", f"{size} - 1 - {i}", f"{i} + {j}", f"{i} - {j}", f"{i} * {j}",
                           f"{i} * {c} + {j}", f"({i} + {j}) // 2", f"{i} % {size}", f"({i} * {c} + {j}) % {size}", f"{i} & 7",
                           f"({i} - {c}) % {size}", f"({i} + {c}) % {size}", f"({i} - {c}) % n", f"{i} + {j} - 1", f"{i} - {j} + {c}",
                           f"{i} >> 1", f"{i} ^ {c}", f"{i} % {r.choice([2, 3, -3])}", f"min({i}, {size} - 1)", f"max({i} - {c}, 0)",
                           "0", "-1", str(c), f"{size} - 1", f"{i} // {r.choice([2, 3, -2])}"]
        if self.chance(0.3 if self.gathered else 0.12) and not (self.careful and array.view):
            other = [a for a in self.arrays if a.kind in INTS and a.ndim == 1 and self.readable(a)]
            if other:
                again = [(a, k) for a, k in self.gathered if k in self.ints and a in other]
                if again and self.chance(0.5):  # an index that is read a second time
                    a, i = r.choice(again)
                else:
                    a = r.choice(other)
                    self.gathered.append((a, i))
                if self.careful:
                    return f"{a.name}[{i} % {a.name}.shape[0]] % {size}" if a.kind != "u64" else "1"
                if self.kernel:
                    return f"{a.name}[{i} % {a.name}.shape[0]]"
                return f"{a.name}[{i}]" if self.chance(0.6) else f"{a.name}[{self.index(a)}]"
        return r.choice(forms)

    def rounded(self, text):
        """An int of a float."""
        how = self.pick("math.floor", "math.ceil", "math.trunc", "int", "round", "int(math.floor", "int(np.floor", "int(np.ceil")
        return f"{how}({text})" + ")" * (how.count("("))

    def readable(self, array):
        return not (self.kernel and array.written)

    def element(self, array, store=False):
        """a[i], a[i, j] or a[i][j]. In a kernel the work-item's own element of what is written."""
        first = "i" if self.kernel and array.written else self.index(array)
        if array.ndim == 1:
            return f"{array.name}[{first}]"
        second = self.index(array, 1)
        return f"{array.name}[{first}, {second}]" if store or self.chance(0.8) else f"{array.name}[{first}][{second}]"

    def leaf(self):
        r = self.rng
        what = r.random()
        if what < 0.5:
            array = r.choice(self.arrays)
            return self.element(array), array.kind
        if what < 0.7 and self.values:
            name = r.choice(list(self.values))
            return name, self.values[name]
        if what < 0.8:
            return r.choice(self.ints), "wint"
        if what < 0.9:
            return r.choice([("0", "wint"), ("1", "wint"), ("2", "wint"), ("3", "wint"), ("0.5", "wflt"), ("2.0", "wflt")])
        return "x", self.values["x"]

    def expression(self, depth):
        """(text, kind)"""
        if depth == 0 or self.chance(0.15):
            return self.leaf()
        a, ka = self.expression(depth - 1)
        b, kb = self.expression(depth - 1)
        what = self.rng.random()
        if what < 0.08 and family(ka) in ("SINT", "FLT"):
            return f"(-{a})", oracle.kind(-oracle.make(ka, 1))
        if what < 0.14:
            return self.magnitude(a, ka)
        if what < 0.2 and family(ka) == "CPX":
            return f"({a}).{self.pick('real', 'imag')}", component(ka)
        if what < 0.3:
            kind = self.rng.choice([k for k in KINDS if family(k) == family(ka)])
            return f"({self.cast(a, ka, kind)} if {self.condition(0)} else {self.cast(b, kb, kind)})", kind
        if what < 0.36 and "CPX" not in (family(ka), family(kb)):
            kind = self.rng.choice([k for k in KINDS if family(k) == family(ka)])
            return f"{self.pick('min', 'max')}({self.cast(a, ka, kind)}, {self.cast(b, kb, kind)})", kind
        if what < 0.4 and family(ka) == "FLT" and not self.kernel:
            finite = f"{self.rng.choice(self.ints)} * {self.pick('0.37', '-1.5', '0.5')} - {self.pick('0.5', '7.3')}"
            return f"np.int64({self.rounded(finite if self.careful else a)})", "i64"
        op = self.rng.choice(["+", "+", "+", "-", "-", "*", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"])
        if "u64" in (ka, kb):  # a Python int beside a uint64 may be below zero
            a = f"np.uint64({a})" if weak(ka) and family(ka) == "SINT" and not a.isdigit() else a
            b = f"np.uint64({b})" if weak(kb) and family(kb) == "SINT" and not b.isdigit() else b
        if kind_of(op, ka, kb) is None or (op == "/" and kind_of(op, ka, kb) == "c64"):  # whose last bits nobody promises
            op = "+"
        kind = kind_of(op, ka, kb)
        if op in ("<<", ">>"):
            b = f"({b} & {self.pick(3, 7, 63, 127)})"
        elif op in ("/", "//", "%") and (self.careful or self.chance(0.8)):
            b = f"({b} | 1)" if family(kb) in ("SINT", "UINT") else f"({b} * {b} + 1.0)" if len(b) < 20 else "2.0"
            kind = kind_of(op, ka, kb) if b != "2.0" else kind_of(op, ka, "wflt")
            if "* " in b:  # the divisor's kind may have grown
                kind = kind_of(op, ka, kind_of("+", kind_of("*", kb, kb), "wflt"))
            elif b.endswith("| 1)"):
                kind = kind_of(op, ka, kind_of("|", kb, "wint"))
        return f"({a} {op} {b})", kind

    def magnitude(self, text, kind):
        """abs(); of a complex number in a kernel the real part, because GPUs have another last bit."""
        if family(kind) == "CPX":
            return (f"({text}).real" if self.kernel else f"abs({text})"), component(kind)
        return f"abs({text})", oracle.kind(abs(oracle.make(kind, 1)))

    def cast(self, text, kind, to):
        if family(kind) == "CPX" and family(to) != "CPX":
            text = self.magnitude(text, kind)[0]
        return f"np.{public(to)}({text})"

    def condition(self, depth=1):
        a, ka = self.expression(depth)
        b, kb = self.expression(depth)
        if "CPX" in (family(ka), family(kb)) and not self.kernel and self.chance(0.5):
            (z, kz), (x, kx) = ((a, ka), (b, kb)) if family(ka) == "CPX" else ((b, kb), (a, ka))
            x = self.pick("2.0", "1.0", "5", self.magnitude(x, kx)[0])
            return f"abs({z}) {self.rng.choice(COMPARE)} {x}"
        if "CPX" in (family(ka), family(kb)):
            return f"{a} {self.pick('==', '!=')} {b}"
        text = f"{a} {self.rng.choice(COMPARE)} {b}"
        return f"{text} {self.pick('and', 'or')} {self.pick('n > 2', 'm != 1', 'not n < 3')}" if self.chance(0.15) else text

    # -- statements -------------------------------------------------------------------------------

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def limit(self):
        """Where a loop starts or ends: an int of the size of the arrays."""
        array = self.rng.choice(self.arrays)
        size = f"{array.name}.shape[{self.rng.randrange(array.ndim)}]"
        i = self.rng.choice(self.ints)
        if self.careful:
            return self.pick("n", "n", "m", size, size, f"{size} - 1", f"{size} - 2", f"n - {self.rng.randrange(3)}", "4", *[
                f"{i} + 1", i, f"n - {i}", f"n - {i} + 1"] * (i not in ("n", "m")))
        return self.pick("n", "n", "m", size, size, size, f"{size} - 1", f"{size} - 2", f"n - {self.rng.randrange(3)}", f"{i} + 1", i,
                         f"{i} + {self.rng.randrange(1, 4)}", "4", "7")

    def store(self, indent):
        targets = [a for a in self.arrays if a.written]
        array = self.rng.choice(targets)
        text, kind = self.expression(self.deep)
        if family(kind) == "CPX" and family(array.kind) != "CPX":
            text, kind = self.magnitude(text, kind)
        op = self.rng.choice(["+", "-", "*"]) if self.chance(0.4) else ""
        if array.kind == "u64" and weak(kind) and not text.isdigit() and family(kind) == "SINT":
            text = f"np.uint64({text})"
        self.line(indent, f"{self.element(array, store=True)} {op}= {text}")

    def assign(self, indent):
        name = self.rng.choice([v for v in self.values if v != "x"])
        text, kind = self.expression(self.deep)
        self.line(indent, f"{name} = {self.cast(text, kind, self.values[name])}")

    def for_loop(self, indent, depth):
        name = self.fresh("i")
        a, b = self.limit(), self.limit()
        array = self.rng.choice(self.arrays)
        if self.chance(0.1) and self.readable(array) and array.ndim == 1:
            value = self.fresh("v")
            self.line(indent, f"for {value} in {array.name}:")
            self.values[value] = array.kind
            self.body(indent + 1, depth - 1, None)
            del self.values[value]
            return
        what = self.pick(f"range({b})", f"range({b})", f"range({a}, {b})", f"range(1, {b})", f"range({b} - 1, -1, -1)", f"range(0, {b}, 2)",
                         f"range({a}, {b}, {self.pick(1, 2, 3, -1, -2)})", f"range({b} - 1, {a}, -1)", f"range(0, {b}, (m & 3) + 1)")
        along = self.fresh("k") if self.chance(0.25) else None  # a variable that counts along with the loop
        if along:
            self.line(indent, f"{along} = {self.pick('0', '0', '1', a)}")
        self.line(indent, f"for {name} in {what}:")
        self.body(indent + 1, depth - 1, None, name, *([along] if along else []))
        if along:
            sometimes = self.chance(0.4)  # a variable that counts no faster than the loop
            if sometimes:
                self.line(indent + 1, f"if {self.condition(0)}:")
            self.line(indent + 1 + sometimes, f"{along} {self.pick('+=', '+=', '-=')} {self.pick(1, 1, 1 if sometimes else 2, 3)}")

    def while_loop(self, indent, depth):
        name, step = self.fresh("j"), self.pick("1", "1", "2", "3", "(m & 1) + 1")
        up = self.chance(0.6)
        start, end = self.limit(), self.limit()
        if not up and self.chance(0.6):
            end = "0"
        elif up and (self.careful or self.chance(0.6)):
            start = "0"
        if self.careful and not up:
            start, end = f"{start} - 1", self.pick("0", "0", "1", "m - 1")
        self.line(indent, f"{name} = {start}")
        condition = f"{name} {self.pick('<', '<', '<' if self.careful else '<=')} {end}" if up else f"{name} {self.pick('>=', '>')} {end}"
        self.ints.append(name)
        if self.chance(0.25):
            condition += f" and ({self.condition(0)})"
        self.line(indent, f"while {condition}:")
        self.ints.pop()
        advance = f"{name} {'+' if up else '-'}= {step}"
        self.body(indent + 1, depth - 1, advance, name)
        self.line(indent + 1, advance)

    def euclid(self, indent):
        """Remainders that wear a number out, of either sign."""
        x, y = self.fresh("u"), self.fresh("w")
        self.line(indent, f"{x}, {y} = {self.limit()} - {self.pick(0, 5, 40)}, {self.limit()} - {self.pick(0, 3, 30)}")
        self.line(indent, f"while {y}{self.pick('', ' != 0')}:")
        if self.chance(0.3):
            self.store(indent + 1)
        self.line(indent + 1, f"{x}, {y} = {y}, {self.pick(x, x, x, f'({x} + 1)')} % {y}")
        name = self.rng.choice([v for v in self.values if v != "x"])
        self.line(indent, f"{name} = {self.cast(x, 'wint', self.values[name])}")

    def counter(self, indent):
        """A variable that a loop inside of a loop counts, by the same number in each round where nothing ends it."""
        k, j, outer = self.fresh("k"), self.fresh("j"), self.fresh("i")
        self.line(indent, f"{k} = {self.pick('0', '0', '0', '1', self.limit())}")
        self.line(indent, f"for {outer} in range({self.pick('2', '3', 'n', 'n // 4')}):")
        self.line(indent + 1, f"for {j} in range({self.pick('2', '3', '4', 'm & 3')}):")
        self.ints += [k, j]
        self.store(indent + 2)
        if self.chance(0.2):
            self.line(indent + 2, f"if {self.condition(0)}:")
            self.line(indent + 3, self.pick("break", "continue", f"{k} += 1"))
        self.line(indent + 2, f"{k} {self.pick('+=', '+=', '+=', '-=')} {self.pick('1', '1', '2')}")
        del self.ints[-2:]

    def search(self, indent):
        """Two that come nearer to each other; three of four forms do so until they meet."""
        low, high, middle = self.fresh("l"), self.fresh("h"), self.fresh("k")
        test, up, down, end = self.pick(("{l} < {h}", "{k} + 1", "{k}", ""), ("{l} <= {h}", "{k} + 1", "{k} - 1", " - 1"),
                                        ("{h} - {l} > 1", "{k}", "{k}", " - 1"), ("{l} < {h}", "{k} + 2", "{k}", ""))
        array = self.rng.choice([a for a in self.arrays if self.readable(a)] or self.arrays)
        size = f"{array.name}.shape[0]"
        names = {"l": low, "h": high, "k": middle}
        self.line(indent, f"{low}, {high} = {self.pick('0', '0', '1', self.limit())}, {self.pick(size, size, 'n', self.limit())}{end}")
        self.line(indent, f"while {test.format(**names)}:")
        half = self.pick(f"({low} + {high}) // 2", f"({low} + {high}) >> 1", f"{low} + ({high} - {low}) // 2")
        self.line(indent + 1, f"{middle} = {half}")
        self.ints.append(middle)
        self.line(indent + 1, f"if {self.condition(0)}:")
        self.line(indent + 2, f"{low} = {up.format(**names)}")
        self.line(indent + 1, "else:")
        self.line(indent + 2, f"{high} = {down.format(**names)}")
        self.ints.pop()

    def body(self, indent, depth, advance, *ints):
        self.ints += ints
        self.advance.append(advance)
        self.block(indent, depth)
        self.advance.pop()
        del self.ints[len(self.ints) - len(ints):]

    def leave(self, indent):
        self.line(indent, f"if {self.condition(0)}:")
        if self.advance and self.chance(0.75):
            if self.chance(0.5):
                return self.line(indent + 1, "break")
            if self.advance[-1]:
                self.line(indent + 1, self.advance[-1])
            return self.line(indent + 1, "continue")
        if self.chance(0.6):
            return self.line(indent + 1, "return" if self.kernel else f"return {self.result()}")
        self.line(indent + 1, self.pick("raise ValueError", "raise IndexError('mine')"))

    def view(self, indent, depth):
        """A view under a new name, for the statements of one block."""
        array = self.rng.choice([a for a in self.arrays if self.readable(a)] or self.arrays)
        name = self.fresh("v")
        if not self.readable(array):
            return self.assign(indent)
        if array.ndim == 2:
            what = self.pick(f"{array.name}[{self.index(array)}]", f"{array.name}[:, {self.index(array, 1)}]")
        else:
            a, b = self.limit(), self.limit()
            what = f"{array.name}[" + self.pick(f"{a}:", f":{b}", f"{a}:{b}", "::2", "::-1", "1:", ":-1", f"{a}:{b}:2", f"{b}:{a}:-1") + "]"
            if self.careful:
                what = f"{array.name}[" + self.pick("::2", "::-1", "1:", ":-1", "1:-1", "3::-1") + "]"
        self.line(indent, f"{name} = {what}")
        self.arrays.append(Array(name, array.kind, 1, array.written, view=True))
        self.block(indent, depth)
        self.arrays.pop()

    def handled(self, indent, depth):
        """A loop in try. No handler catches an IndexError, after which unchecked code would have done anything."""
        self.line(indent, "try:")
        (self.for_loop if self.chance(0.8) else self.while_loop)(indent + 1, depth)
        self.line(indent, f"except {self.pick('ValueError', 'ZeroDivisionError', '(ZeroDivisionError, ValueError)')}:")
        self.assign(indent + 1)

    def block(self, indent, depth):
        for _ in range(self.rng.randrange(1, 4)):
            self.budget -= 1
            what = self.rng.random()
            if depth > 0 and self.budget > 0 and what < 0.5:
                (self.for_loop if self.chance(0.65) else self.while_loop)(indent, depth)
            elif depth > 0 and self.budget > 0 and what < 0.54:
                self.view(indent, depth)
            elif depth > 0 and self.budget > 0 and what < 0.57 and not self.kernel:
                self.handled(indent, depth)
            elif what < 0.6 and self.budget > 0:
                self.euclid(indent)
            elif what < 0.62 and self.budget > 0 and not self.kernel:
                (self.counter if self.chance(0.5) else self.search)(indent)
            elif what < 0.65 and self.budget > 0:
                self.leave(indent)
            elif what < 0.7 and self.budget > 0:
                self.line(indent, f"if {self.condition()}:")
                self.store(indent + 1)
                if self.chance(0.5):
                    self.line(indent, "else:")
                    self.assign(indent + 1)
            elif what < 0.85:
                self.store(indent)
            else:
                self.assign(indent)

    def result(self):
        return ", ".join(v for v in self.values if v[0] == "s") + ","

    # -- the whole --------------------------------------------------------------------------------

    def parameters(self):
        for k, name in enumerate("abc"):
            self.arrays.append(Array(name, self.rng.choice(INTS if name == "c" else KINDS), 2 if self.chance(0.3) else 1,
                                     k == 0 or not self.kernel and self.chance(0.25)))
        return list(self.arrays)

    def make(self):
        r = self.rng
        parameters = self.parameters()
        scalar = r.choice(KINDS)
        self.values["x"] = scalar
        for k in range(r.randrange(1, 4)):
            self.values[f"s{k}"] = r.choice(KINDS)
        self.line(0, "def f(a, b, c, n, m, x):")
        for name, kind in self.values.items():
            if name != "x":
                self.line(1, f"{name} = np.{public(kind)}({r.choice([0, 1])})")
        if self.kernel:
            self.ints.append("i")
            if self.chance(0.4):
                self.line(1, "for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):")
                self.advance.append(None)
            else:
                self.line(1, "i = cuda.grid(1)")
                self.line(1, f"if i {self.pick('<', '<', '<' if self.careful else '<=')} a.shape[0]{self.pick('', ' - 1')}:")
            self.block(2, 2)
            self.store(2)
        else:
            for _ in range(r.randrange(1, 3)):
                (self.for_loop if self.chance(0.7) else self.while_loop)(1, 2)
            self.block(1, 1)
            self.line(1, f"return {self.result()}")
        return Program("\n".join(self.lines) + "\n", parameters, scalar, self.kernel, self.careful, self.sets)


class Small(Nest):
    """A kernel that is compiled in little time. Two arrays of some are of one kind, so that they may lie between each other."""

    def __init__(self, rng, careful):
        super().__init__(rng, kernel=True, careful=careful, budget=2, deep=rng.choice([1, 1, 2]), sets=2)

    def parameters(self):
        made = super().parameters()
        if self.chance(0.2):
            made[1].kind, made[0].ndim, made[1].ndim = made[0].kind, 1, 1
        return made


def program(seed, kernels=False):
    """Every fourth program is a kernel, or all."""
    return Nest(random.Random(seed), kernel=kernels or seed % 4 == 3, careful=seed % 3 != 0).make()
