"""Random programs of nested functions against CPython: variables that functions share, functions with other names, in lists and in
tuples, loops over tuples of several types, generators, handlers.

    python tests/fuzz/scopes.py [--seed 0] [--programs 1000] [--show]

Numbers stay small, so that Python's are the reference as they are. Prints each program that gives something else than CPython does, or
that leaves objects behind; programs that are refused are counted by reason, and only listed reasons are fine."""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import sys
import time

BUILD = os.environ.get("QUERN_BUILD")
if BUILD:
    sys.path.insert(0, str(pathlib.Path(BUILD) / "python"))

from quern import _quern, errors, njit  # noqa: E402

# What may be refused: functions with values of several kinds that meet, and functions that hold themselves.
REFUSED = ("different types on different paths", "kept in a variable of its own", "no common type", "of different types",
           "put into a list of", "too deeply", "a default of", "too many different types")
ARGUMENTS = [(0, 1), (1, 2), (3, 2), (5, 7)]


class Scope:
    """Of one function: its variables, the functions that may be called by name, with what they are."""

    def __init__(self, outer, names):
        self.outer, self.own = outer, list(names)
        self.functions, self.lists, self.nonlocals = [], [], set()


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.lines = []
        scope = Scope(None, ["n", "m", "a", "b"])
        self.lines.append("def f(n, m):")
        self.line(1, "a, b = n + 1, m")
        self.block(scope, 1, self.rng.randint(4, 8), 0, 0)
        self.line(1, f"return ({', '.join(scope.own)},)")
        self.source = "\n".join(self.lines) + "\n"

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def readable(self, scope):
        names = []
        while scope:
            names += [v for v in scope.own if v not in names]
            scope = scope.outer
        return names

    def writable(self, scope):
        return [v for v in scope.own if v not in ("n", "m") or scope.outer is None] + sorted(scope.nonlocals)

    def value(self, scope, depth=2, more=()):
        r = self.rng.random()
        if depth == 0 or r < 0.35:
            return self.rng.choice([*self.readable(scope), *more, *more, str(self.rng.randint(0, 9))])
        if r < 0.75:
            op = self.rng.choice(["+", "-", "*", "+"])
            return f"({self.value(scope, depth - 1, more)} {op} {self.value(scope, depth - 1, more)}) % 97"
        if r < 0.85:
            return f"(lambda t: t + {self.value(scope, depth - 1, more)})({self.value(scope, depth - 1, more)})"
        callable_now = self.callables(scope)
        if callable_now and r < 0.95:
            return f"{self.rng.choice(callable_now)}({self.value(scope, depth - 1, more)})"
        return f"sum({self.value(scope, depth - 1, (*more, 'q'))} for q in range({self.rng.randint(0, 3)})) % 97"

    def callables(self, scope):
        found = []
        while scope:
            found += scope.functions
            scope = scope.outer
        return found

    def test(self, scope, more=()):
        return f"{self.value(scope, 1, more)} {self.rng.choice(['<', '>', '==', '!='])} {self.value(scope, 1, more)}"

    def block(self, scope, depth, n, level, loops):
        marks = len(scope.functions), len(scope.lists)
        for _ in range(n):
            self.statement(scope, depth, level, loops)
        if depth > 1 and self.lines[-1].rstrip().endswith(":"):
            self.line(depth, "pass")
        # what is defined in a block need not be there behind it
        del scope.functions[marks[0]:], scope.lists[marks[1]:]

    def statement(self, scope, depth, level, loops):
        choices = [self.assign] * 5 + [self.condition] * 2 + [self.loop] * 2 + [self.handler, self.mixed, self.alias, self.collect]
        if level < 2:
            choices += [self.function] * 4 + [self.generator]
        if loops:
            choices.append(self.leave)
        self.rng.choice(choices if depth < 5 else [self.assign])(scope, depth, level, loops)

    def assign(self, scope, depth, level, loops):
        names = self.writable(scope)
        if not names:
            return self.line(depth, f"{self.value(scope)}")
        name = self.rng.choice(names)
        if self.rng.random() < 0.3:
            self.line(depth, f"{name} += {self.value(scope)}")
            self.line(depth, f"{name} %= 89")
        else:
            self.line(depth, f"{name} = {self.value(scope)} % 89")

    def condition(self, scope, depth, level, loops):
        self.line(depth, f"if {self.test(scope)}:")
        self.block(scope, depth + 1, self.rng.randint(1, 2), level, loops)
        if self.rng.random() < 0.5:
            self.line(depth, "else:")
            self.block(scope, depth + 1, 1, level, loops)

    def loop(self, scope, depth, level, loops):
        name = self.fresh("i")
        self.line(depth, f"{name} = 0")
        scope.own.append(name)
        self.line(depth, f"for {name} in range({self.rng.choice(['2', '3', 'n % 4'])}):")
        self.block(scope, depth + 1, self.rng.randint(1, 3), level, loops + 1)

    def leave(self, scope, depth, level, loops):
        self.line(depth, f"if {self.test(scope)}:")
        self.line(depth + 1, self.rng.choice(["break", "continue"]))

    def handler(self, scope, depth, level, loops):
        self.line(depth, "try:")
        self.block(scope, depth + 1, 1, level, 0)
        self.line(depth + 1, f"if {self.test(scope)}:")
        self.line(depth + 2, f"raise {self.rng.choice(['ValueError(1)', 'KeyError(2)'])}")
        self.line(depth, f"except {self.rng.choice(['ValueError', 'KeyError', '(ValueError, KeyError)', 'Exception'])}:")
        self.block(scope, depth + 1, 1, level, 0)
        if self.rng.random() < 0.4:
            self.line(depth, "finally:")
            self.block(scope, depth + 1, 1, level, 0)

    def function(self, scope, depth, level, loops):
        name, own = self.fresh("g"), self.fresh("x")
        inner = Scope(scope, [own])
        shared = [v for v in self.readable(scope) if self.rng.random() < 0.4]
        inner.nonlocals = set(shared)
        self.line(depth, f"def {name}({own}{self.rng.choice(['', '', ', y=3'])}):")
        if shared:
            self.line(depth + 1, f"nonlocal {', '.join(shared)}")
        self.block(inner, depth + 1, self.rng.randint(1, 3), level + 1, 0)
        self.line(depth + 1, f"return {self.value(inner)} % 83")
        scope.functions.append(name)
        if self.rng.random() < 0.7:
            self.line(depth, f"{self.rng.choice(self.writable(scope) or ['_'])} = {name}({self.value(scope, 1)})")

    def generator(self, scope, depth, level, loops):
        name, count, at = self.fresh("y"), self.fresh("k"), self.fresh("j")
        inner = Scope(scope, [count, at])
        shared = [v for v in self.readable(scope) if self.rng.random() < 0.3]
        inner.nonlocals = set(shared)
        self.line(depth, f"def {name}({count}):")
        if shared:
            self.line(depth + 1, f"nonlocal {', '.join(shared)}")
        self.line(depth + 1, f"{at} = 0")
        self.line(depth + 1, f"for {at} in range({count} % 4):")
        self.block(inner, depth + 2, 1, level + 1, 0)
        self.line(depth + 2, f"yield {self.value(inner, 1)}")
        item = self.fresh("i")
        self.line(depth, f"{item} = 0")
        scope.own.append(item)
        self.line(depth, f"for {item} in {name}({self.value(scope, 1)}):")
        self.block(scope, depth + 1, 1, 2, 1)

    def mixed(self, scope, depth, level, loops):
        name = self.fresh("z")
        items = ", ".join(self.rng.sample([self.value(scope, 1), "'abc'", "(1, 2)", "''"], 3))
        self.line(depth, f"for {name} in ({items}):")
        target = self.rng.choice(self.writable(scope) or ["_"])
        self.line(depth + 1, f"if isinstance({name}, tuple):")
        self.line(depth + 2, f"{target} = len({name})")
        self.line(depth + 1, "else:")
        self.line(depth + 2, f"{target} = len(str({name})) + {self.value(scope, 1)}")
        self.block(scope, depth + 1, self.rng.randint(0, 1), 2, 1)

    def alias(self, scope, depth, level, loops):
        if not scope.functions:
            return self.assign(scope, depth, level, loops)
        name = self.fresh("h")
        self.line(depth, f"{name} = {self.rng.choice(scope.functions)}")
        scope.functions.append(name)

    def collect(self, scope, depth, level, loops):
        name, item = self.fresh("fs"), self.fresh("i")
        captured = self.rng.choice(self.readable(scope))
        self.line(depth, f"{name} = []")
        self.line(depth, f"{item} = 0")
        scope.own.append(item)
        self.line(depth, f"for {item} in range({self.rng.randint(1, 3)}):")
        self.line(depth + 1, f"{name}.append(lambda t: t + {item} + {captured})")
        self.block(scope, depth + 1, 1, 2, 1)
        self.line(depth, f"for o in {name}:")
        target = self.rng.choice(self.writable(scope) or ["_"])
        self.line(depth + 1, f"{target} = o({self.value(scope, 1)}) % 79")


def outcome(f, args):
    try:
        return f(*args)
    except (ValueError, KeyError, NameError, ZeroDivisionError) as error:
        return type(error), str(error)


def live():
    return _quern.live_objects(), _quern.live_allocations()


def check(seed):
    """(sort, words) or None."""
    source = Program(seed).source
    space = {}
    try:
        exec(compile(source, f"<scopes {seed}>", "exec"), space)
        wanted = [outcome(space["f"], args) for args in ARGUMENTS]
    except (SyntaxError, RecursionError, TypeError) as error:
        return "invalid", f"{error}\n{source}"
    f, before = njit(space["f"]), live()
    for args, want in zip(ARGUMENTS, wanted):
        try:
            got = outcome(f, args)
        except (errors.TypingError, errors.UnsupportedError) as error:
            return "refused", f"{error}\n{source}"
        except Exception as error:  # noqa: BLE001
            return "different", f"{type(error).__name__}: {error}\n{source}"
        if got != want or [type(x) for x in got] != [type(x) for x in want]:
            return "different", f"f{args}: CPython gives {want}, compiled code {got}\n{source}"
    return None if live() == before else ("left", f"{live()} objects, {before} before\n{source}")


ROUND = 1000  # programs of one process: what it has compiled stays with it, and serves the programs that follow
PATIENCE = 600  # seconds that a program may take, one that is made smaller among them


def told_by_child(check, seeds):
    """(seed, what check says) for each, from a process of its own; the last one may be a crash, or hang."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "w") as pipe:
                for seed in seeds:
                    signal.alarm(PATIENCE)
                    print(json.dumps([seed, check(seed)]), file=pipe, flush=True)
        finally:
            os._exit(0)
    os.close(write)
    told = 0
    with os.fdopen(read) as pipe:
        for line in pipe:
            told += 1
            yield json.loads(line)
    status = os.waitpid(child, 0)[1]
    if told < len(seeds):
        yield seeds[told], ("crashed", f"the process ended with status {status} (signal {status & 127})")


def all_told(check, seeds, sort_of):
    """Programs of one sort run in processes of their own."""
    sorts = {}
    for seed in seeds:
        sorts.setdefault(sort_of(seed), []).append(seed)
    for left in sorts.values():
        while left:
            told = 0
            for told, (seed, found) in enumerate(told_by_child(check, left[:ROUND]), 1):
                yield seed, found
            left = left[told:]


def main(text, program, check, refusals, sort_of=lambda seed: 0):
    """Random programs of one kind from the command line: `check` says what is wrong with one, `refusals` what may be refused, `sort_of` which of
    them share a process."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--show", action="store_true", help="only print the programs")
    args = parser.parse_args()
    start, bad, counts = time.monotonic(), 0, {}
    seeds = range(args.seed, args.seed + args.programs)
    for seed in seeds if args.show else ():
        print(f"# seed {seed}\n{program(seed).source}")
    for seed, found in () if args.show else all_told(check, seeds, sort_of):
        sort = found[0] if found else "same"
        if sort == "refused":
            reason = next((r for r in refusals if r in found[1]), None)
            sort = f"refused: {reason}" if reason else "refused without need"
        counts[sort] = counts.get(sort, 0) + 1
        if sort in ("different", "left", "crashed", "refused without need"):
            bad += 1
            first = re.sub(r"\s+", " ", found[1])[:160]
            print(f"== seed {seed}: {sort}: {first}\n{found[1]}" if bad <= 5 else f"== seed {seed}: {sort}: {first}", flush=True)
    for sort, n in sorted(counts.items()):
        print(f"{n:6d} {sort}")
    print(f"{args.programs} programs from seed {args.seed}: {bad or 'none'} differ, {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(__doc__, Program, check, REFUSED))
