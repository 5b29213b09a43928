"""Random loops over tables in blocks and steps (bounds_step in codegen/opt/bounds_interval.c), against CPython, with arrays between guard pages: ranges upwards and
downwards by more than one, from ends that are numbers, lengths, parameters and counters of loops around, and loops of constant length inside, which fill the
table exactly, reach beyond it, or leave something over."""
import functools
import random

import windows
from searches import Text

SHAPES = [(8, 8), (4, 8), (9, 7), (8, 16), (0, 4), (16, 6), (7, 12), (1, 8), (2, 3)]


class Tiles:
    """f(t, u, n, m): two tables of ints, two ints."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def ends(self, step, axis, around):
        """What range() is told."""
        r = self.random
        length = r.choice([f"t.shape[{axis}]", f"t.shape[{axis}]", "hw"[axis], "nm"[axis]])
        near, far = r.choice(["0", "0", "0", "1", "2", "n", "-1", *around]), r.choice([length, length, length, f"{length} - 1", f"{length} + 1", f"{length} - {step - 1}"])
        if r.random() < 0.25:
            first = r.choice([f"{length} - 1", f"{length} - {step}", f"{length} - {step}", length])
            return f"{first}, {r.choice(['-1', '-1', '0', near])}, -{step}"
        return f"{near}, {far}, {step}"

    def index(self, block, inside):
        r = self.random
        with_inside = [f"{block} + {inside}", f"{block} + {inside}", f"{block} + {inside}", f"{block} - {inside}", f"{block} + {inside} - 1", f"{block} + 2 * {inside}"]
        return r.choice(with_inside * (inside != "0") + [block, block, f"{block} + 1", f"{block} - 1", f"{block} + 3"])

    def body(self, indent, rows, columns):
        r = self.random
        for _ in range(r.randrange(1, 4)):
            i, j = r.choice(rows), r.choice(columns)
            at, read = f"{r.choice('ttu')}[{i}, {j}]", f"{r.choice('ttu')}[{r.choice(rows)}, {r.choice(columns)}]"
            self.lines.append(indent + r.choice([f"k = (k * 3 + int({read})) & 32767", f"{at} = (k + int({read})) & 32767", f"k += int({read})", f"{at} = k & 32767"]))

    def source(self):
        r = self.random
        self.lines += ["def f(t, u, n, m):", "    k = 0", "    h, w = t.shape"]
        first, second = r.choice([2, 3, 4, 8, 8, 5, 16]), r.choice([1, 2, 4, 8, 3])
        self.lines.append(f"    for i in range({self.ends(first, 0, [])}):")
        both = r.random() < 0.6
        indent, y, x = "        ", "0", "0"
        if both:
            self.lines.append(f"{indent}for j in range({self.ends(second, 1, ['i'])}):")
            indent += "    "
        if r.random() < 0.7:
            y = "y"
            self.lines.append(f"{indent}for y in range({r.choice([first, first, first - 1, second, 2])}):")
            indent += "    "
        if both and r.random() < 0.5:
            x = "x"
            self.lines.append(f"{indent}for x in range({r.choice([second, second, 2, first])}):")
            indent += "    "
        rows = [self.index("i", y) for _ in range(2)]
        columns = [self.index("j", x) if both else r.choice(["0", "1", "i"]) for _ in range(2)]
        self.body(indent, rows, columns)
        self.lines.append("    return k")
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Text(Tiles(seed).source())


differences = functools.partial(windows.differences, shapes=SHAPES)
