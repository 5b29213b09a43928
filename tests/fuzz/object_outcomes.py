"""What a call of a random program of objects (object_programs.py) came to, in words that two ways of running it can be compared by."""
import collections
import contextlib
import dataclasses
import io
import re
import signal

import numpy as np

# Texts of exceptions that are not what CPython says: they differ between its versions, or name a key that is an object of a class. In what is
# printed these stand in lines that name the class of an exception.
TEXTS_APART = [(re.compile(pattern), other) for pattern, other in (
    (r"(integer division or modulo|integer modulo|float floor division|float division|float modulo|division|modulo) by zero|float modulo|float divmod\(\)", "by zero"),
    (r"(arg is an empty sequence|iterable argument is empty)", "of nothing"), (r"[^\n]*( is not in (list|deque)|(list|deque)\.index\(x\): x not in (list|deque))[^\n]*", "not in"),
    (r"[^\n]*Unicode(Decode|Encode)?Error\([^\n]*", "of text"), (r"'the (key|element), (a [a-z ]*|None)'", "key"),
    (r"(Point|Cell)\([^()]*\)|^None$|(?<=KeyError\()None(?=\))", "key"), (r'"(\w+\(key\))"', r"'\1'"))]


def plain(x, seen):
    """What a value is, with the numbers of the objects in it that can change."""
    name = type(x).__name__
    if isinstance(x, (list, dict, set, collections.deque)) or name == "Tally":
        if id(x) in seen:
            return ("the same", seen[id(x)])
        seen[id(x)] = len(seen)
    if name == "Tally":
        return (name, x.total, x.label)
    if isinstance(x, np.ndarray):
        return (name, str(x.dtype), x.tolist())
    if isinstance(x, dict):
        return (name, [(plain(k, seen), plain(v, seen)) for k, v in x.items()])
    if isinstance(x, (set, frozenset)):
        return (name, sorted(repr(plain(q, seen)) for q in x))
    if isinstance(x, (list, tuple, collections.deque)):
        return (name, [plain(q, seen) for q in x])
    if dataclasses.is_dataclass(x):
        return (name, [plain(q, seen) for q in dataclasses.astuple(x)])
    return (name, repr(x))


OF_EXCEPTION = re.compile(r"(Error|Exception|Iteration|Bad|Worse|Lost)\b")


def same_text(text):
    for pattern, other in TEXTS_APART:
        text = pattern.sub(other, text)
    return text


def same_lines(printed):
    return [same_text(line) if OF_EXCEPTION.search(line) else line for line in printed.split("\n")]


def told(error, depth=3):
    """An exception, with what it came of."""
    if error is None or depth == 0:
        return None
    name = "UnicodeError" if isinstance(error, UnicodeError) else type(error).__name__  # compiled code has no arguments for those derived from it
    return (name, same_text(str(error)), told(error.__cause__, depth - 1), error.__suppress_context__ or told(error.__context__, depth - 1))


def outcome(f, args, refusals=()):
    """What a call gives or raises, what its arguments are then, and what it has printed."""
    out, what = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            result = f(*args)
        except refusals:
            raise
        except Exception as error:  # noqa: BLE001
            what = told(error)
    seen = {}
    after = [plain(a, seen) for a in args]
    return ("raised", what) if what else ("gave", plain(result, seen)), after, same_lines(out.getvalue())


class TooLong(BaseException):
    """Some programs let a list grow while they go over it. No handler of a program catches this."""


@contextlib.contextmanager
def in_time(seconds):
    """TooLong in a block that does not end; the time that the whole program has goes on behind it."""
    def give_up(number, frame):
        raise TooLong

    handler, left = signal.signal(signal.SIGALRM, give_up), signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        signal.alarm(left)
