"""What the random programs of object_programs.py begin with: their classes, and the names that they know."""
import collections
import dataclasses
import functools
import typing
import warnings

import numpy as np
from quern import njit
from quern.experimental import jitclass

ROW = np.dtype([("n", np.int64), ("w", np.float64)])
HEAD = """
class Bad(ValueError):
    pass

class Worse(Bad):
    pass

class Lost(LookupError):
    pass

class Point(NamedTuple):
    x: int
    y: float

@dataclass(frozen=True)
class Cell:
    name: str
    count: int

    def more(self, k):
        return Cell(self.name, self.count + k)

@jitclass
class Tally:
    total: int
    label: str

    def __init__(self, total, label):
        self.total = total
        self.label = label

    def add(self, k):
        self.total = (self.total + k) % 997
        if self.total % 11 == 3:
            raise Worse(self.label, k)
        return self.total

    @property
    def twice(self):
        return self.total * 2

"""


@functools.cache
def head_of(fast):
    """What all programs of a process begin with: what was compiled for these classes once serves the programs that follow, too."""
    space = {"np": np, "NamedTuple": typing.NamedTuple, "dataclass": dataclasses.dataclass, "replace": dataclasses.replace, "deque": collections.deque, "defaultdict": collections.defaultdict, "Counter": collections.Counter, "ROW": ROW,
             "njit": njit if fast else lambda f: f, "jitclass": jitclass if fast else lambda c: c, "__name__": "object_programs"}
    exec("import bisect, heapq\nfrom functools import reduce\n" + HEAD, space)
    return space


def space_of(source, seed, fast):
    space = dict(head_of(fast))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, f"<objects {seed}>", "exec"), space)
    return space
