"""Random functions that make small lists and arrays, in loops and behind tests, give them other names and change them: as a kernel calls them
beside CPython. `program(seed)` has the text; `wrong_lists` tells what differs.

A function that is refused with E0609 uses the array of a round of a loop when the next round has made its own, which no kernel can have."""
import random

import numpy as np

from quern import cuda, errors

ITEMS = np.array([1.5, -2.0, 3.0, 0.25])
ITEMS.flags.writeable = False


class Lists:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.made = []  # (name, length, is it a list?)
        self.count = 0

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def index(self, length):
        r = self.random
        return r.choice([str(r.randrange(length)), str(-r.randrange(1, length + 1)), f"i % {length}", f"(i + {r.randrange(5)}) % {length}"])

    def value(self):
        r = self.random
        if not self.made or r.random() < 0.3:
            return r.choice([str(r.randrange(-3, 9)), "i", f"x[{r.randrange(4)}]", "acc"])
        name, length, _ = r.choice(self.made)
        return f"{name}[{self.index(length)}]"

    def fresh(self, length, is_list):
        values = "[" + ", ".join(f"{self.value()} * 1.0" for _ in range(length)) + "]"
        if is_list:
            return self.random.choice([f"[0.0] * {length}", values])
        return self.random.choice([f"np.zeros({length})", f"np.ones({length})", f"np.array({values})", f"made({length}, {self.value()})"])

    def make(self, depth):
        r = self.random
        name, length, is_list = f"v{self.count}", r.randrange(1, 5), r.random() < 0.5
        self.count += 1
        self.emit(depth, f"{name} = {self.fresh(length, is_list)}")
        self.emit(depth, f"{name}[0] += 0.0")  # so that a list is no tuple
        self.made.append((name, length, is_list))

    def rename(self, depth):
        """One name for two, and often another array under the one that gave it."""
        r = self.random
        name, length, is_list = r.choice(self.made)
        others = [other for other, n, kind in self.made if (n, kind) == (length, is_list) and other != name]
        if not others:
            return
        other = r.choice(others)
        self.emit(depth, f"{name} = {other}")
        if r.random() < 0.5:
            self.emit(depth, f"{other} = {self.fresh(length, is_list)}")
            self.emit(depth, f"{other}[{self.index(length)}] = {self.value()} * 1.0")

    def inside(self, depth, head, most):
        """What is made in there is not named behind it."""
        made = list(self.made)
        self.emit(depth, head)
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth + 1, most // 2)
        self.emit(depth + 1, "acc += 1")
        self.made = made

    def statement(self, depth, most):
        r, what = self.random, self.random.random()
        if what < 0.25 or not self.made:
            return self.make(depth)
        name, length, _ = r.choice(self.made)
        if what < 0.45:
            self.emit(depth, f"{name}[{self.index(length)}] {r.choice(['=', '+=', '-='])} {self.value()} * 1.0")
        elif what < 0.55:
            other, n, _ = r.choice(self.made)
            a, b = f"{name}[{self.index(length)}]", f"{other}[{self.index(n)}]"
            self.emit(depth, f"{a}, {b} = {b}, {a}")
        elif what < 0.62:
            self.rename(depth)
        elif what < 0.7:
            self.emit(depth, f"acc += sum({name}) + len({name}) + max({name})")
        elif what < 0.78:
            self.emit(depth, f"for v in {name}:")
            self.emit(depth + 1, "acc += v * 0.5")
        elif depth < 4 and most > 1 and what < 0.9:
            self.inside(depth, f"for j{depth} in range({r.randrange(1, 4)}):", most)
        elif depth < 4:
            self.inside(depth, f"if {self.value()} > {self.value()}:", most)
        return None

    def source(self):
        self.emit(1, "acc = 0.0")
        for _ in range(self.random.randrange(4, 10)):
            self.statement(1, 6)
        for name, length, _ in self.made:
            self.emit(1, f"acc += {name}[i % {length}] * 3")
        return ("def made(n, x):\n    a = np.zeros(n)\n    a[n - 1] = x\n    return a\n\n\ndef body(i, x):\n" + "\n".join(self.lines)
                + "\n    return acc\n")


def program(seed):
    return Lists(seed).source()


def wrong_lists(source):
    """[(thread, the kernel's, CPython's)]; None: it is refused, as it may be."""
    scope = {"np": np, "cuda": cuda}
    exec(source + "\n\ndef kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = body(i, x)\n", scope)
    out = np.zeros(4)
    try:
        cuda.jit(scope["kernel"])[1, 4](ITEMS, out)
        cuda.synchronize()
    except errors.UnsupportedError as error:
        if "E0609" in str(error):
            return None
        raise
    want = [float(scope["body"](i, ITEMS)) for i in range(4)]
    return [(i, *pair) for i, pair in enumerate(zip(out.tolist(), want)) if not np.isclose(*pair, rtol=1e-12, atol=1e-9)]
