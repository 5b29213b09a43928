"""Ordinary programs of containers, text, classes and exceptions, as one writes them for CPython: the same results compiled."""
import copy
import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401

from quern import njit


@dataclass(frozen=True, order=True)
class Event:
    time: float
    kind: str
    who: int


def apply_op(stack, op):
    b = stack.pop()
    a = stack.pop()
    if op == "+":
        stack.append(a + b)
    elif op == "-":
        stack.append(a - b)
    elif op == "*":
        stack.append(a * b)
    elif op == "/":
        if b == 0:
            raise ZeroDivisionError("division by zero in expression")
        stack.append(a / b)
    else:
        stack.append(a ** b)


class Account(NamedTuple):
    owner: str
    balance: float


class Insufficient(Exception):

    def __init__(self, need, have):
        super().__init__(need, have)
        self.need = need
        self.have = have


class ParseError(Exception):
    pass


class EOFParse(ParseError):
    pass


def toposort(edges):
    adj = defaultdict(list)
    deg = Counter()
    nodes = set()
    for u, v in edges:
        adj[u].append(v)
        deg[v] += 1
        nodes.add(u)
        nodes.add(v)
    ready = sorted((n for n in nodes if deg[n] == 0))
    out = []
    while ready:
        u = ready.pop(0)
        out.append(u)
        for v in adj[u]:
            deg[v] -= 1
            if deg[v] == 0:
                ready.append(v)
        ready.sort()
    if len(out) != len(nodes):
        raise ValueError("cycle")
    return out


def event_queue(seed):
    q = []
    state = seed
    for i in range(6):
        state = (state * 1103515245 + 12345) % 2147483648
        heapq.heappush(q, Event(state % 100 / 10, "arrive", i))
    log = []
    busy = 0.0
    while q:
        e = heapq.heappop(q)
        if e.kind == "arrive":
            start = max(e.time, busy)
            busy = start + 1.5
            heapq.heappush(q, Event(busy, "leave", e.who))
        log.append(f'{e.time:.2f} {e.kind} {e.who}')
    return log


def calculator(src):
    tokens = []
    i = 0
    while i < len(src):
        c = src[i]
        if c.isspace():
            i += 1
            continue
        if c.isdigit():
            j = i
            while j < len(src) and (src[j].isdigit() or src[j] == "."):
                j += 1
            tokens.append(("num", src[i:j]))
            i = j
        elif c in "+-*/^()":
            tokens.append(("op", c))
            i += 1
        else:
            raise SyntaxError(f'bad character {c!r} at {i}')
    prec = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
    out = []
    ops = []
    for kind, t in tokens:
        if kind == "num":
            out.append(float(t))
        elif t == "(":
            ops.append(t)
        elif t == ")":
            while ops[-1] != "(":
                apply_op(out, ops.pop())
            ops.pop()
        else:
            while ops and ops[-1] != "(" and (prec[ops[-1]] > prec[t] or (prec[ops[-1]] == prec[t] and t != "^")):
                apply_op(out, ops.pop())
            ops.append(t)
    while ops:
        apply_op(out, ops.pop())
    return (out[0], [t for k, t in tokens])


def parse_csv(text):
    rows = []
    bad = []
    lines = text.splitlines()
    header = lines[0].split(",")
    for no, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        parts = [p.strip() for p in line.split(",")]
        try:
            age = int(parts[1]) if parts[1] else -1
            rows.append((parts[0].title(), age, float(parts[2])))
        except ValueError as e:
            bad.append(f'line {no}: {e}')
    return (header, rows, bad)


def lsystem(n, axiom):
    rules = {"F": "F+G", "G": "F-G"}
    s = axiom
    for _ in range(n):
        s = "".join((rules.get(c, c) for c in s))
    return (len(s), s[:20], s.count("+"))


def life_sets(n):
    live = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    for _ in range(n):
        cnt = Counter(((x + dx, y + dy) for x, y in live for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)))
        live = {c for c, k in cnt.items() if k == 3 or (k == 2 and c in live)}
    return sorted(live)


def collatz(n):
    seen = {1: 0}

    def steps(k):
        path = []
        while k not in seen:
            path.append(k)
            k = k // 2 if k % 2 == 0 else 3 * k + 1
        d = seen[k]
        for p in reversed(path):
            d += 1
            seen[p] = d
        return d
    return max(((steps(i), i) for i in range(1, n)))


def queens(n):

    def solve(row, cols, d1, d2):
        if row == n:
            return 1
        c = 0
        for col in range(n):
            if col in cols or row + col in d1 or row - col in d2:
                continue
            c += solve(row + 1, cols | {col}, d1 | {row + col}, d2 | {row - col})
        return c
    return solve(0, set(), set(), set())


def matrix_chain(n):
    dims = [10, 30, 5, 60, 8][:n + 1]
    best = {}

    def cost(i, j):
        if i == j:
            return 0
        if (i, j) not in best:
            best[i, j] = min((cost(i, k) + cost(k + 1, j) + dims[i] * dims[k + 1] * dims[j + 1] for k in range(i, j)))
        return best[i, j]
    return (cost(0, n - 1), sorted(best))


def cleanup(n):
    log = []

    def work(i):
        log.append(f'open {i}')
        try:
            if i == 1:
                raise KeyError("k")
            if i == 2:
                return 10 // (i - 2)
            return i
        except KeyError as e:
            log.append(f'caught {e}')
            raise RuntimeError("wrapped") from e
        finally:
            log.append(f'close {i}')
    res = []
    for i in range(n):
        try:
            res.append(work(i))
        except RuntimeError as e:
            log.append("R " + str(e))
            res.append(-1)
        except ZeroDivisionError:
            res.append(-2)
        else:
            log.append("fine")
    return (log, res)


def bank(accounts):
    book = {a.owner: a for a in accounts}
    errs = []
    for src, dst, amt in [("a", "b", 3.0), ("b", "a", 20.0), ("a", "b", 7.0)]:
        try:
            s = book[src]
            if s.balance < amt:
                raise Insufficient(amt, s.balance)
            book[src] = s._replace(balance=s.balance - amt)
            book[dst] = book[dst]._replace(balance=book[dst].balance + amt)
        except Insufficient as e:
            errs.append((e.args, str(e)))
    return ([book[k] for k in sorted(book)], errs)


def sexpr(s):
    depth = 0
    mx = 0
    tot = 0
    num = ""
    sums = [0]
    for c in s:
        if c == "(":
            sums.append(0)
        elif c.isdigit():
            num += c
        if not c.isdigit() and num:
            sums[-1] += int(num)
            num = ""
        if c == ")":
            if len(sums) < 2:
                raise EOFParse("unbalanced")
            v = sums.pop()
            sums[-1] += v
        mx = max(mx, len(sums) - 1)
    return (sums[0], mx)


def evaluator(lines):
    ops = {"+": lambda a, b: a + b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    res = []
    for ln in lines:
        try:
            a, o, b = ln.split()
            res.append(str(ops[o](float(a), float(b))))
        except KeyError as e:
            res.append(f'unknown op {e}')
        except ZeroDivisionError:
            res.append("div")
        except ValueError as e:
            res.append(str(e))
    return res


def sort_tuples(names, vals):
    z = sorted(zip(vals, names), reverse=True)
    d = dict(zip(names, vals))
    inv = {v: k for k, v in d.items()}
    ks = list(d.keys())
    ks.sort(key=d.get)
    names.sort()
    vals.reverse()
    return (z, d, inv, ks, names, vals, min(d, key=lambda k: d[k]), sorted(d.items(), key=lambda t: t[1]), [n for _, n in z])


def topk_stream(n):
    h = []
    s = 1
    for i in range(n):
        s = s * 75 % 65537
        if len(h) < 5:
            heapq.heappush(h, (s, i))
        elif (s, i) > h[0]:
            heapq.heapreplace(h, (s, i))
    return (sorted(h, reverse=True), list(heapq.merge([1, 4], [2, 3])))


def hist_text(n):
    s = 7
    bins = [0] * 10
    for _ in range(n):
        s = s * 48271 % 2147483647
        bins[s * 10 // 2147483647] += 1
    return [f"{i / 10:.1f}-{(i + 1) / 10:.1f} {'#' * (b // 10):<15}|{b:4d} {b / n:6.1%}" for i, b in enumerate(bins)]


PROGRAMS = [
    (toposort, ([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")],)),
    (event_queue, (7,)),
    (calculator, ("3 + 4 * (2 - 1) ^ 2 / 5",)),
    (parse_csv, ("name,age,score\nann,31,4.5\nbob,,3.25\n\n carl ,40,x\n",)),
    (lsystem, (5, "F",)),
    (life_sets, (30,)),
    (collatz, (12,)),
    (queens, (4,)),
    (matrix_chain, (4,)),
    (cleanup, (3,)),
    (bank, ([Account("a", 10.0), Account("b", 5.0)],)),
    (sexpr, ("(1 (2 3) (4 (5)))",)),
    (evaluator, (["3 + x", "2 * 7", "9 / 0", "5 ! 5"],)),
    (sort_tuples, (["b", "a", "c"], [2, 3, 1],)),
    (topk_stream, (30,)),
    (hist_text, (1000,)),
]


@pytest.mark.parametrize("f, args", PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_an_ordinary_program(f, args):
    wanted, got = (g(*copy.deepcopy(args)) for g in (f, njit(f)))
    assert got == wanted and repr(got) == repr(wanted)
