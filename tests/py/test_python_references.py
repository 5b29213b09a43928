"""References of Python objects that compiling takes and gives back."""
import gc
import sys
import tracemalloc
from collections import namedtuple

from quern import float64, njit

Nothing = namedtuple("Nothing", "")


def grown(work, times):
    """Bytes that Python has more of after `times` turns than after two."""
    for _ in range(2):
        work()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_defaults():
    def f(x, y=2.5, *, z=(1, 2)):
        return x + y + z[0]

    before = sys.getrefcount(f.__defaults__), sys.getrefcount(f.__kwdefaults__)
    for _ in range(5):
        assert njit(f)(1) == 4.5 and njit(lambda x: f(x))(1) == 4.5
    gc.collect()
    assert (sys.getrefcount(f.__defaults__), sys.getrefcount(f.__kwdefaults__)) == before


def test_names_of_declared_variables():
    name = "x" * 20000
    space = {}
    exec(f"def f(a):\n {name} = a\n return {name}", space)

    def work():
        assert njit(locals={name: float64})(space["f"])(1) == 1.0

    assert grown(work, 10) < 100_000


def test_classes_of_handlers():
    class Mine(ValueError):
        pass

    def f(x):
        try:
            if x > 1:
                raise Mine("mine")
            if x > 0:
                raise KeyError("key")
        except (Mine, KeyError):
            return 1
        except ValueError:
            return 2
        return 3

    njit(f)(1)
    gc.collect()
    before = sys.getrefcount(Mine), sys.getrefcount(ValueError)
    for _ in range(8):
        assert [njit(f)(x) for x in (0, 1, 2)] == [3, 1, 1]
    gc.collect()
    assert sys.getrefcount(Mine) - before[0] < 4 and sys.getrefcount(ValueError) - before[1] < 4


def test_containers_that_are_written_back():
    @njit
    def more(d, s):
        d[len(d)] = 1.5
        s.add(len(s))

    d, s = {i: float(i) for i in range(3000)}, set(range(3000))
    references = sys.getrefcount(d), sys.getrefcount(s)
    assert grown(lambda: more(d, s), 20) < 1_500_000  # a dict of them takes 150,000, a set 130,000
    assert (sys.getrefcount(d), sys.getrefcount(s)) == references and len(d) == len(s) == 3022


def test_empty_tuples_fit_declared_ones():
    f = njit("float64(Tuple((Tuple(()), float64)))")(lambda t: t[1] + len(t[0]))
    assert f(((), 1)) == 1.0 and f(((), 2.5)) == 2.5 and f((Nothing(), 3)) == 3.0
