"""Random while loops in which several variables go in step, one of them tested (of_in_step in codegen/opt/bounds_interval.c), and tables whose index is cut from
bits (bounds_bits.c), against CPython, with arrays between guard pages. Half of the programs reach over an end: then IndexError is what is right."""
import functools
import random

import windows
from searches import Text

SHAPES = [(3, 8), (4, 6), (1, 5), (2, 2), (0, 3), (5, 1), (3, 17), (9, 9), (1, 64), (2, 33)]


class Steps:
    """f(t, u, n, m): two tables of ints, two ints."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def move(self, depth, name, by):
        """The same number in each round, or nearly always."""
        r, kind = self.random, self.random.random() * (0.95 if name == "i" else 1)  # what is tested moves on in each round
        sign, size = ("+", by) if by >= 0 else ("-", -by)
        if kind < 0.65:
            self.line(depth, f"{name} {sign}= {size}")
        elif kind < 0.75:
            self.lines += ["    " * depth + x for x in (f"if k % 2 == {r.choice('01')}:", f"    {name} {sign}= {size}", "else:", f"    {name} {sign}= {r.choice([size, size, size + 1])}")]
        elif kind < 0.85:
            self.lines += ["    " * depth + x for x in (f"for z in range({r.choice([1, 2, 3])}):", f"    {name} {sign}= {size}")]
        elif kind < 0.95:
            self.lines += ["    " * depth + x for x in (f"{name} {sign}= {size + 1}", f"if k % 3 != {r.choice('05')}:", f"    {name} {sign}= {r.choice([-1, -1, 0])}")]
        else:
            self.line(depth, f"{name} {sign}= n")

    def use(self, depth, index):
        r = self.random
        at = f"{r.choice(['0', '0', 'h - 1'])}, {index}"
        self.line(depth, r.choice([f"k += int({r.choice('tu')}[{at}])", f"u[{at}] = (k + 1) & 7", f"k = (k * 3 + int(u[{at}])) & 32767"]))

    def along(self, depth, more):
        r = self.random
        by, beside, upward = r.choice([1, 1, 2, 3]), r.choice([-2, -1, 1, 2, 3, 4]), r.random() < 0.75
        start = r.choice(["0", "0", "n", "1", "m - 1"]) if upward else r.choice(["w - 1", "w", "m"])
        ahead = r.choice([0, by - 1, by - 1, by])
        end = r.choice(["w", "w", "m", "u.shape[1]", "w - 1"])
        test = f"i + {ahead} < {end}" if upward and ahead else f"i < {end}" if upward else f"i - {ahead} >= {r.choice(['0', '0', 'n', '-1'])}"
        self.line(depth, f"i = {start}")
        self.line(depth, f"j = {r.choice(['0', '0', 'w - 1', 'u.shape[1] - 1', 'n', '1', 'i'])}")
        if r.random() < 0.3:
            self.line(depth, "x = 0")
        self.line(depth, f"while {test}{r.choice(['', '', '', ' and k < 30000', f' and t[0, i] != {r.randrange(9)}'])}:")
        if r.random() < 0.3:
            self.line(depth + 1, f"if {r.choice(['k % 5 == 4', 't[0, i] == 8'])}:")
            self.line(depth + 2, "break")
        for _ in range(r.randrange(1, 4)):
            self.use(depth + 1, r.choice(["j", "j", f"j + {r.choice([1, 2, 3])}", "j - 1", "i", "i + j", f"j * {r.choice([2, 3])}", "j // 2"]))
        if more and r.random() < 0.4:
            self.lines += ["    " * (depth + 1) + x for x in (f"for y in range({r.choice(['n', '2', 'm'])}):",)]
            self.use(depth + 2, r.choice(["j", "y + j", "j * y"]))
        moves = [("i", by if upward else -by), ("j", beside)]
        r.shuffle(moves)
        for name, step in moves:
            self.move(depth + 1, name, step)
        if r.random() < 0.3:
            self.use(depth + 1, "j")
        self.line(depth, "k += i + 3 * j")

    def nest(self, depth):
        self.line(depth, f"for q in range({self.random.choice(['h', '2', 'n'])}):")
        self.along(depth + 1, False)

    def bits(self, depth):
        """An index of bits cut from elements."""
        r = self.random

        def part(deep):
            a = r.choice(["int(t[i, j])", "int(u[i, j])", "i", "j", "int(np.uint8(t[i, j]))", "int(np.uint8(u[i, j]))", "int(np.int8(t[i, j]))", "(int(t[i, j]) - 4)", "k"])
            if deep == 0:
                return a
            b, k = part(deep - 1), r.choice([1, 2, 3, 7, 15])
            return r.choice([f"({b} & {k})", f"({b} >> {r.choice([1, 2, 3])})", f"({b} << {r.choice([1, 2])} & {k})", f"({b} % {k + 1})", f"({b} // {r.choice([2, 4])})",
                             f"({b} << 2 | {part(deep - 1)} & 3)", f"({b} ^ {part(deep - 1)})", f"({b} + {part(deep - 1)})", f"({part(deep - 1)} & {b})", f"({b} * {k})"])

        self.line(depth, "for i in range(h):")
        self.line(depth + 1, f"for j in range({r.choice(['w', 'w', 'm'])}):")
        for _ in range(r.randrange(1, 3)):
            self.use(depth + 2, part(r.choice([1, 2, 3])))
        self.line(depth + 2, "k &= 4095")

    def source(self):
        self.lines += ["def f(t, u, n, m):", "    k = 0", "    h, w = t.shape"]
        self.random.choice([lambda depth: self.along(depth, True)] * 3 + [self.nest, self.bits, self.bits])(1)
        self.lines.append("    return k")
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Text(Steps(seed).source())


differences = functools.partial(windows.differences, shapes=SHAPES)
