"""Random generators with handlers against CPython: what they give, what they return, and the order in which their handlers run when they
end, are left, dropped, closed, sent to or thrown into, from compiled code and from Python; lists and dicts live across all of that.

    python tests/fuzz/generators.py [--seed 0] [--programs 1000] [--show]

A program is a row of generators, each of which goes over those before it, and a function that goes over the last ones. All write numbers
into a log. Seeds from 10,000,000 on have no handlers, and loops over generators in each other: there frames lie on stacks. Prints each
program that does something else than CPython does, or that leaves objects behind; programs that are refused are counted by reason, and
only listed reasons are fine."""
import gc
import os
import pathlib
import random
import re
import sys

BUILD = os.environ.get("QUERN_BUILD")
if BUILD:
    sys.path.insert(0, str(pathlib.Path(BUILD) / "python"))

import numpy as np  # noqa: E402
from quern import _quern, errors, njit  # noqa: E402
from scopes import main  # noqa: E402

# What may be refused: the exception of a handler lies in memory that a yield leaves.
REFUSED = ("a yield while an exception waits",)
ARGUMENTS = (0, 1, 2, 3, 5)
LOG = 3000
WITHOUT_HANDLERS = 10000000  # seeds from here on
RAISED = ["ValueError(1)", "KeyError(2)", "IndexError(3)", "1 // (n - n)"]
CAUGHT = ["ValueError", "KeyError", "(ValueError, IndexError)", "LookupError", "Exception", "ArithmeticError", ""]


class Program:
    """With handlers at most one loop over a generator is open in a function at a time: in which order CPython drops several differs by version."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = ["def note(log, what):", "    if log[0] < len(log) - 2:", "        log[0] += 1", "        log[log[0]] = what", ""]
        self.marks = self.names = 0
        self.inside = True  # of a generator
        self.handlers = seed < WITHOUT_HANDLERS
        self.generators = []
        for k in range(self.rng.randint(1, 4)):
            self.generator(f"g{k}")
        self.function()
        self.source = "\n".join(self.lines) + "\n"

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def note(self, depth):
        self.marks += 1
        self.line(depth, f"note(log, {self.marks} * 10 + n % 7)")

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def value(self):
        return self.rng.choice(["n", "s", "s + n", "len(xs)", "s * 3 % 17", str(self.rng.randint(0, 9)), "xs[-1]", "len(d)", "d.get(s, n)"])

    def test(self):
        return self.rng.choice(["s % 3 == 1", "n == 2", "s > n", "len(xs) > 3", "n > 2", "s % 2 == 0", "s in d"])

    def generator(self, name):
        self.line(0, f"def {name}(n, log):")
        self.line(1, "s, xs, d = n % 3, [n], {n: 1}")
        self.body(1, 3, True, False, False)
        if self.rng.random() < 0.5:
            self.line(1, f"yield {self.value()}")
        self.line(1, "if n < -5:")
        self.line(2, "yield s")
        self.line(1, f"return {self.value()}")
        self.line(0, "")
        self.generators.append(name)

    def function(self):
        self.inside = False
        self.line(0, "def f(n, log):")
        self.line(1, "s, xs, d = n % 3, [n], {n: 1}")
        self.body(1, 3, False, False, False)
        self.body(1, 3, False, False, False)
        self.line(1, "return s, xs")

    def body(self, depth, n, yields, loops, held):
        for _ in range(self.rng.randint(1, n)):
            self.statement(depth, yields, loops, held)

    def statement(self, depth, yields, loops, held):
        choices = [self.step] * 3
        if yields:
            choices += [self.give] * 4
        held &= self.handlers
        if depth < 5:
            choices += [self.handler] * 4 * self.handlers + [self.condition, self.count]
            if self.generators and not held:
                choices += [self.over] * 4 + [self.taken] + [self.by_hand] * 2 * self.handlers
            if self.generators and yields and not held:
                choices += [self.delegate] * 2
        if loops:
            choices += [self.leave]
        choices += [self.fail]
        self.rng.choice(choices)(depth, yields, loops, held)

    def step(self, depth, yields, loops, held):
        self.line(depth, f"s = (s * 2 + {self.value()}) % 101")
        kept = self.rng.choice(["xs.append(s)", "d[s % 5] = s", "d[s] = len(xs)", "xs[0] = s", "xs = xs + [s]", "s += d.pop(s, 3)", "d.update({n: s})"])
        self.rng.choice([self.note, self.note, lambda depth: self.line(depth, kept)])(depth)

    def give(self, depth, yields, loops, held):
        if self.rng.random() < 0.6:
            self.line(depth, f"yield {self.value()}")
            return
        got = self.fresh("got")
        self.line(depth, f"{got} = yield {self.value()}")
        self.line(depth, f"if {got} is not None:")
        self.line(depth + 1, f"s = (s + {got}) % 113")

    def by_hand(self, depth, yields, loops, held):
        """A generator in a variable, which is closed where it ends in all versions."""
        it = self.fresh("it")
        self.line(depth, f"{it} = {self.rng.choice(self.generators)}(n % 4, log)")
        self.line(depth, "try:")
        if self.rng.random() < 0.9:
            self.line(depth + 1, f"s = (s + next({it}, 7)) % 107")
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice([self.sends, self.sends, self.throws, self.asks, self.closes])(depth + 1, it)
        if yields and self.rng.random() < 0.4:
            self.give(depth + 1, yields, loops, held)
        self.line(depth, "finally:")
        self.line(depth + 1, f"{it}.close()")

    def asks(self, depth, it):
        self.line(depth, f"s = (s + next({it}, {self.value()})) % 107")

    def closes(self, depth, it):
        self.line(depth, f"if {self.test()}:")
        self.line(depth + 1, f"{it}.close()")

    def sends(self, depth, it):
        self.tried(depth, f"{it}.send({self.value()})", "StopIteration")

    def throws(self, depth, it):
        raised = self.rng.choice([r for r in RAISED if "//" not in r] + ["OSError", "ValueError"])
        self.tried(depth, f"{it}.throw({raised})", self.rng.choice(["StopIteration", "(ValueError, StopIteration)", "Exception"]))

    def tried(self, depth, call, caught):
        self.line(depth, "try:")
        self.line(depth + 1, f"s = (s + {call}) % 109")
        self.line(depth, f"except {caught}:")
        self.note(depth + 1)

    def delegate(self, depth, yields, loops, held):
        self.line(depth, f"s = (s + (yield from {self.rng.choice(self.generators)}(n % 4, log))) % 101")

    def fail(self, depth, yields, loops, held):
        self.line(depth, f"if {self.test()}:")
        if self.rng.random() < 0.3:
            self.line(depth + 1, "return s" if self.inside else "return s, xs")
        else:
            raised = self.rng.choice(RAISED)
            self.line(depth + 1, f"s = {raised}" if "//" in raised else f"raise {raised}")

    def leave(self, depth, yields, loops, held):
        self.line(depth, f"if {self.test()}:")
        self.line(depth + 1, self.rng.choice(["break", "continue", "break"]))

    def condition(self, depth, yields, loops, held):
        self.line(depth, f"if {self.test()}:")
        self.body(depth + 1, 2, yields, loops, held)
        if self.rng.random() < 0.4:
            self.line(depth, "else:")
            self.body(depth + 1, 2, yields, loops, held)

    def count(self, depth, yields, loops, held):
        self.line(depth, f"for {self.fresh('i')} in range({self.rng.choice(['n', '2', '3'])}):")
        self.body(depth + 1, 2, yields, True, held)

    def over(self, depth, yields, loops, held):
        item, of = self.fresh("x"), self.rng.choice(self.generators)
        what = self.rng.choice([f"{of}(n % 5, log)"] * 4 + [f"({of}(n % 3, log))", f"(q + 1 for q in {of}(n % 4, log))"])
        self.line(depth, f"for {item} in {what}:")
        self.line(depth + 1, f"s = (s + {item}) % 103")
        self.body(depth + 1, 2, yields, True, True)
        if self.rng.random() < 0.2:
            self.line(depth, "else:")
            self.note(depth + 1)

    def taken(self, depth, yields, loops, held):
        of = f"{self.rng.choice(self.generators)}(n % 4, log)"
        how = self.rng.choice([f"sum({of})", f"len(list({of}))", f"next({of}, 7)", f"sum([q for q in {of}])", f"int(any(q == 2 for q in {of}))"])
        self.line(depth, f"s = (s + {how}) % 107")

    def handler(self, depth, yields, loops, held):
        last = self.rng.random() < 0.5
        self.line(depth, "try:")
        self.body(depth + 1, 3, yields, loops, held)
        if not last or self.rng.random() < 0.5:
            caught = self.rng.choice(CAUGHT[: -1 if self.inside else None])
            self.line(depth, f"except {caught}:" if caught else "except:")
            self.body(depth + 1, 2, yields and self.rng.random() < 0.5, loops, held)
            if self.rng.random() < 0.15:
                self.line(depth + 1, "raise")
            if self.rng.random() < 0.3:
                self.line(depth, "else:")
                self.note(depth + 1)
        if last:
            self.line(depth, "finally:")
            self.note(depth + 1)
            if self.rng.random() < 0.3:
                self.line(depth + 1, "s = (s + 1) % 11")


def plain(x):
    return x.item() if isinstance(x, np.generic) else type(x)(map(plain, x)) if isinstance(x, (tuple, list)) else x


def outcome(call):
    try:
        return plain(call())
    except (errors.TypingError, errors.UnsupportedError):
        raise
    except Exception as error:  # noqa: BLE001
        return type(error), [] if isinstance(error, ZeroDivisionError) else plain(error.args)


class Lost:
    """What is raised where nobody can catch it."""

    def __enter__(self):
        self.seen, self.before = [], sys.unraisablehook
        sys.unraisablehook = lambda told: self.seen.append(told.exc_type)
        return self.seen

    def __exit__(self, *error):
        sys.unraisablehook = self.before


def called(f, n):
    log = np.zeros(LOG, np.int64)
    with Lost() as lost:
        return outcome(lambda: f(n, log)), log.tolist(), list(lost)


def driven(generator, n, seed):
    """What Python does with one: random steps."""
    rng, log, seen = random.Random(seed), np.zeros(LOG, np.int64), []
    with Lost() as lost:
        it = generator(n, log)
        for _ in range(rng.randint(1, 9)):
            step = rng.random()
            if step < 0.6:
                seen.append(outcome(lambda: next(it)))
            elif step < 0.85:
                error = rng.choice([ValueError, KeyError, IndexError, OSError])(rng.randint(0, 9))
                seen.append(outcome(lambda: it.throw(error)))
            elif step < 0.93:
                seen.append(outcome(lambda: it.close() and None))
            else:
                break
        it = None
        gc.collect()
    return seen, log.tolist(), list(lost)


def live():
    return _quern.live_objects(), _quern.live_allocations()


def differs(space, seed):
    """What compiled code does, where it is not what CPython does."""
    slow = {name: value for name, value in space.items() if callable(value)}
    fast = dict(space)
    fast["note"] = njit(slow["note"])
    exec(compile(Program(seed).source.split("\n\n", 1)[1], f"<generators {seed}>", "exec"), fast)
    f = njit(fast["f"])
    for n in ARGUMENTS:
        want, got = called(slow["f"], n), called(f, n)
        if got != want:
            return f"f({n}): CPython gives {want}, compiled code {got}".replace(", 0" * 20, "")
    last = max(name for name in slow if re.fullmatch(r"g\d", name))
    compiled = njit(fast[last])
    for k in range(12):
        want, got = driven(slow[last], k % 5, k), driven(compiled, k % 5, k)
        if got != want:
            return f"{last}({k % 5}), steps {k}: CPython gives {want}, compiled code {got}".replace(", 0" * 20, "")
    return None


def check(seed):
    """(sort, words) or None."""
    source = Program(seed).source
    space = {}
    exec(compile(source, f"<generators {seed}>", "exec"), space)
    before = live()
    try:
        found = differs(space, seed)
    except (errors.TypingError, errors.UnsupportedError) as error:
        return "refused", f"{error}\n{source}"
    if found:
        return "different", f"{found}\n{source}"
    return None if live() == before else ("left", f"{live()} objects, {before} before\n{source}")


if __name__ == "__main__":
    sys.exit(main(__doc__, Program, check, REFUSED))
