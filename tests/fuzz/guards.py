"""Random loops over tables whose indices are compared on the way to where they are used (guards_of, tested and moves in codegen/opt/bounds_interval.c), against
CPython, with arrays between guard pages: items of ranges and what was loaded behind tests against lengths and parameters, sums that a while loop tests, variables
that several nested loops move. Half of the tests do not keep the index inside: then IndexError is what is right, or counting from the end."""
import functools
import random

import windows
from searches import Text

SHAPES = [(3, 8), (4, 6), (1, 5), (2, 2), (0, 3), (5, 1), (3, 17), (9, 9)]


class Guards:
    """f(t, u, n, m): two tables of ints, two ints."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def end(self, axis):
        """What an index of the axis may be compared with."""
        r = self.random
        return r.choice(["hw"[axis]] * 5 + [f"t.shape[{axis}]", f"u.shape[{axis}]", "n", "m"]) + r.choice(["", "", "", " - 1", " - 2", " + 1"])

    def test(self, index, axis, by):
        """Tests of both sides, or of one, that hold `index + by` inside, or nearly."""
        r = self.random
        near = by + r.choice([0, 0, 0, 0, 1, -1])
        moved = f"{index} + {near}" if near > 0 else f"{index} - {-near}" if near < 0 else index
        upper = r.choice([f"{moved} < {self.end(axis)}", f"{index} < {self.end(axis)} - {max(near, 0)}", f"not ({moved} >= {self.end(axis)})", f"{self.end(axis)} > {moved}",
                          f"{index} <= {self.end(axis)} - {max(near, 0) + 1}"])
        lower = r.choice([f"{moved} >= 0", f"0 <= {moved}", f"{index} > {-near - 1}", f"not ({moved} < 0)", f"{index} >= {r.choice(['n', 'm', '1'])}"])
        return r.choice([upper, upper, f"{lower} and {upper}", f"{lower} and {upper}", f"{upper} and {lower}", lower, f"({lower} and {upper}) or n > 7"])

    def offset(self, index, by):
        return f"{index} + {by}" if by > 0 else f"{index} - {-by}" if by < 0 else index

    def use(self, depth, row, column):
        r = self.random
        self.line(depth, r.choice([f"k += int({r.choice('ttu')}[{row}, {column}])", f"{r.choice('ttu')}[{row}, {column}] = (k + 1) & 7", f"k = (k * 3 + int(t[{row}, {column}])) & 32767"]))

    def items(self, depth):
        """Items of ranges, and sums of them."""
        r = self.random
        self.line(depth, f"for i in range({r.choice(['h', 'h', '1, h', 'n', 'h - 1, -1, -1'])}):")
        self.line(depth + 1, f"for j in range({r.choice(['w', 'w', 'm', 'i, w', '-2, w + 2', 'w + 1, -2, -1', '0, w, 2'])}):")
        for _ in range(r.randrange(1, 4)):
            by = r.randrange(-2, 3)
            self.line(depth + 2, f"if {self.test('j', 1, by)}:")
            self.use(depth + 3, r.choice(["i", "i", "0"]), self.offset("j", by))

    def loads(self, depth):
        """What was loaded, or computed of it."""
        r = self.random
        self.line(depth, "for i in range(h):")
        self.line(depth + 1, f"for j in range({r.choice(['w', 'w - 1', 'm'])}):")
        self.line(depth + 2, f"q = {r.choice(['int', 'int', 'np.int32', 'np.int8'])}({r.choice('tu')}[i, j]) {r.choice(['- 1', '+ n', '- n', '', '* 2', '- 3'])}")
        by = r.randrange(-1, 3)
        self.line(depth + 2, f"if {self.test('q', 1, by)}:")
        self.use(depth + 3, "i", self.offset("q", by))

    def weights(self, depth):
        """What is taken from an item is the same in all rounds of the loop inside, and of fewer bits."""
        r = self.random
        self.line(depth, "for i in range(h):")
        self.line(depth + 1, f"q = {r.choice(['np.int32', 'np.int32', 'np.int8', 'np.int16', 'int'])}({r.choice(['t[i, 0]', 'u[i, 0]', 't[i, 0] - 2'])})")
        self.line(depth + 1, f"for j in range({r.choice(['w', 'w', 'm', 'w + 1', 'w - 1, -1, -1'])}):")
        self.line(depth + 2, f"if {r.choice(['j >= q', 'j >= q', 'q <= j', 'j > q', 'q < j + 1', 'q >= 0 and j - q >= 0', 'j < w - q', 'j + q < w'])}:")
        self.use(depth + 3, r.choice(["i", "0"]), r.choice(["j - q", "j - q", "j + q", "j", "q"]))

    def pairs(self, depth):
        """A variable whose sum with another one is tested."""
        r = self.random
        step = r.choice(["1", "1", "2", "n + 2" if r.random() < 0.5 else "1"])
        self.line(depth, f"for i in range({r.choice(['w', '1, w', 'm'])}):")
        self.line(depth + 1, f"q = {r.choice(['0', '0', '1', 'n', 'min(i, 2)', '-1'])}")
        sum_of = r.choice(["i + q", "i + q", "q + i", "q + n", "q + 2"])
        more = r.choice([f" and t[0, q] == t[0, {sum_of}]", f" and q < m and t[0, q] <= u[0, {sum_of}]", ""])
        self.line(depth + 1, "z = 0")
        self.line(depth + 1, f"while {sum_of} < {self.end(1)}{more}:")
        way = r.random()
        if way < 0.2:  # back, and further on again, so that the loop ends
            self.line(depth + 2, f"if {r.choice(['k % 2 == 0', 't[0, i] > 2', 'n < 3'])}:")
            self.line(depth + 3, "q -= 3")
        if r.random() < 0.6 or way < 0.4:
            self.use(depth + 2, "0", r.choice([sum_of, "q", f"{sum_of} - 1"]))
        if 0.2 < way < 0.4:
            self.lines += [f"{'    ' * (depth + 2)}{text}" for text in ("z += 1", "if z % 3 == 0:", "    q -= 1", "else:", "    q += 2")]
        else:
            self.line(depth + 2, f"q += {4 if way < 0.2 else step}")
        self.line(depth + 1, "k += q")

    def downwards(self, depth):
        r = self.random
        self.line(depth, f"for i in range({r.choice(['w', '1, w', 'm'])}):")
        self.line(depth + 1, f"q = {r.choice(['i', 'w - 1', 'i - 1', 'm'])}")
        by = r.choice([0, 1, 2])
        more = r.choice([f" and t[0, {self.offset('q', -by)}] >= t[0, i]", ""])
        self.line(depth + 1, f"while q - {by} >= {r.choice(['0', '0', '1', 'n', '-1'])}{more}:")
        self.use(depth + 2, "0", r.choice([self.offset("q", -by), "q"]))
        self.line(depth + 2, f"q -= {r.choice(['1', '1', '2'])}")

    def walks(self, depth):
        """Over the table in a direction that data say, as far as both sides of both axes are tested."""
        r = self.random
        self.line(depth, "for i in range(h):")
        self.line(depth + 1, f"dy = {r.choice(['t[i, 0] % 3 - 1', 'n - 1', '0', '1', '-1'])}")
        self.line(depth + 1, f"dx = {r.choice(['t[i, w - 1] % 3 - 1', 'm - 2', '1', '-2'])}")
        self.line(depth + 1, f"y = i{r.choice(['', '', ' + dy', ' - 1'])}")
        self.line(depth + 1, f"x = {r.choice(['0', 'w // 2', 'w - 1', 'm'])}{r.choice(['', ' + dx'])}")
        self.line(depth + 1, "z = 0")
        tests = [f"y >= {r.choice(['0', '0', '0', 'n', '-1'])}", f"y < {self.end(0)}", f"x >= {r.choice(['0', '0', '0', '1', '-2'])}", f"x < {self.end(1)}"]
        if r.random() < 0.3:
            tests.pop(r.randrange(4))
        more = r.choice(["", "", " and t[y, x] > 1", " and t[y, x] == u[i, 0]"])
        self.line(depth + 1, f"while {' and '.join(tests)}{more} and z < 20:")
        if r.random() < 0.5:
            self.use(depth + 2, "y", "x")
        self.lines += ["    " * (depth + 2) + text for text in ("y += dy", "x += dx", "z += 1")]
        if r.random() < 0.3:
            self.line(depth + 2, f"if {' and '.join(tests)}:")
            self.use(depth + 3, "y", r.choice(["x", "x", "x - dx"]))
        self.line(depth + 1, "k += z")

    def several(self, depth):
        """Loops in loops that move one variable on."""
        r = self.random
        by = r.choice([1, 2, 3])
        sign, start, test = ("+", r.choice(["0", "n", "1"]), f"at + {by} {r.choice(['<=', '<=', '<'])} {self.end(1)}") if r.random() < 0.8 else \
            ("-", r.choice(["w - 1", "w", "m"]), f"at - {by} >= {r.choice(['-1', '0', '0', 'n'])}")
        places = [f"at {sign} {q}" if q else "at" for q in range(by + (r.random() < 0.2))]
        self.line(depth, f"at = {start}")
        self.line(depth, f"while {test}:")
        self.line(depth + 1, f"if t[0, {r.choice(places)}] > {r.choice(['3', 'n'])}:")
        same = r.random() < 0.8
        self.line(depth + 2, f"while {test if same else self.end(1) + ' > at' if sign == '+' else 'at > 0'}:")
        self.use(depth + 3, "0", r.choice(places))
        self.line(depth + 3, f"at {sign}= {r.choice([1, by, by])}")
        if r.random() < 0.7:
            self.line(depth + 3, f"if k % {r.choice([2, 3])} == 0:")
            self.line(depth + 4, "break")
        if same and r.random() < 0.5:
            self.line(depth + 1, "else:")
            self.use(depth + 2, "0", r.choice(places))
            self.line(depth + 2, f"at {sign}= 1")
        else:
            self.line(depth + 1, f"at {sign}= 1")
        self.line(depth, "k += at")

    def source(self):
        r = self.random
        self.lines += ["def f(t, u, n, m):", "    k = 0", "    h, w = t.shape"]
        r.choice([self.items, self.items, self.loads, self.weights, self.pairs, self.pairs, self.downwards, self.several, self.several, self.walks, self.walks])(1)
        self.lines.append("    return k")
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Text(Guards(seed).source())


differences = functools.partial(windows.differences, shapes=SHAPES)
