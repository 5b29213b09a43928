"""Generators of compiled functions in Python: an iterator over a frame of compiled code (issue 8)."""
from collections import deque
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401
from quern import njit


@njit
def count(n, step=1):
    i = 0
    while i < n:
        yield i
        i += step


def same(function, *args):
    assert list(njit(function)(*args)) == list(function(*args))


def test_an_iterator_like_pythons():
    it = count(3)
    assert iter(it) is it and next(it) == 0 and it.send(None) == 1 and list(it) == [2] and list(it) == []
    with pytest.raises(StopIteration):
        next(it)
    with pytest.raises(StopIteration):
        it.send(None)
    assert next(it, "end") == "end" and repr(it) == "<compiled generator count, at its end>"
    assert sum(count(100)) == sum(range(100)) and max(count(10, 3)) == 9 and list(zip(count(2), count(9, 4))) == [(0, 0), (1, 4)]
    assert list(itertools.islice(count(10**12), 3)) == [0, 1, 2] and dict(enumerate(count(2))) == {0: 0, 1: 1}
    assert [*count(0)] == []


def test_generators_of_one_function_are_independent():
    a, b, c = count(10), count(10), count(4.5)
    assert [next(a), next(a), next(b), next(a), next(b), next(c)] == [0, 1, 0, 2, 1, 0] and list(c) == [1, 2, 3, 4]


@pytest.mark.parametrize("value", [1, 2.5, True, 1j, "text", (1, "a"), None])
def test_items_of_every_type(value):
    def f(x, n):
        for i in range(n):
            yield x
    same(f, value, 3)


def test_arrays_and_text_live_across_yields():
    @njit
    def parts(a, word):
        own = a * 2
        for i in range(len(a)):
            yield own[i:], word + str(i)
            own[i] = -1
    given = np.arange(3.0)
    it = parts(given, "w")
    del given
    gc.collect()
    first, text = next(it)
    assert first.tolist() == [0, 2, 4] and text == "w0"
    rest = [(a.tolist(), s) for a, s in it]
    assert rest == [([2, 4], "w1"), ([4], "w2")] and first.tolist() == [-1, -1, -1]


def test_an_argument_that_is_yielded_is_itself():
    @njit
    def back(a, n):
        for i in range(n):
            a[i] += 1
            yield a
    a = np.zeros(3)
    it = back(a, 2)
    assert next(it) is a and next(it) is a and a.tolist() == [1, 1, 0]


def test_containers_live_across_yields():
    @njit
    def lengths(words, n):
        seen = {}
        for w in words:
            seen[w] = len(seen)
            yield seen[w], [w + "!"] * n
    it = lengths(["a", "b", "c"], 2)
    assert next(it) == (0, ["a!", "a!"]) and [k for k, _ in it] == [1, 2]


def test_MEM_01_an_early_end_gives_everything_back():
    @njit
    def hold(a, word):
        xs = [a * i for i in range(3)]
        for x in xs:
            yield x, word
    before = live()
    given = np.ones(1000)
    for how in ("close", "with", "drop"):
        it = hold(given, "a word")
        next(it)
        assert live()[0] > before[0]
        if how == "close":
            it.close()
            assert list(it) == []
            it.close()
        elif how == "with":
            with it:
                pass
            assert next(it, None) is None
        del it
        gc.collect()
        assert live() == before
    it = hold(given, "never begun")
    del it
    assert live() == before and sys.getrefcount(given) == 2


def test_MEM_01_exceptions_end_it():
    @njit
    def f(a, n):
        xs = [a]
        for i in range(n):
            xs.append(a * i)
            if i == 2:
                raise ValueError("at", i)
            yield len(xs)
    it = f(np.ones(3), 5)
    assert [next(it), next(it)] == [2, 3]
    with pytest.raises(ValueError) as caught:
        next(it)
    assert caught.value.args == ("at", 2) and list(it) == []


def test_EXC_02_the_traceback_has_the_line():
    import traceback

    @njit
    def f(n):
        yield 1
        yield 1 // n
    it = f(0)
    next(it)
    with pytest.raises(ZeroDivisionError) as caught:
        next(it)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "yield 1 // n"


def test_the_code_outlives_the_function():
    def make():
        @njit
        def f(n):
            for i in range(n):
                yield i * 0.5
        return f(3)
    it = make()
    gc.collect()
    assert list(it) == [0.0, 0.5, 1.0]


def test_defaults_keywords_and_stars():
    @njit
    def f(a, b=2, *more):
        yield a
        yield b
        yield len(more)
    assert list(f(1)) == [1, 2, 0] and list(f(b=5, a=3)) == [3, 5, 0] and list(f(1, 2, 3.5, 4)) == [1, 2, 2]


def test_yield_from_other_generators():
    @njit
    def pairs(n):
        yield from count(n)
        yield from (10 * i for i in range(n))
    assert list(pairs(3)) == [0, 1, 2, 0, 10, 20]


def test_nothing_but_none_can_be_sent():
    it = count(3)
    with pytest.raises(TypeError, match="nothing can be sent to a compiled generator"):
        it.send(5)
    assert list(it) == [0, 1, 2]


def test_it_is_not_entered_twice():
    import io

    class Out(io.StringIO):
        def write(self, text):
            try:
                next(it)
            except ValueError as e:
                seen.append(str(e))
            return len(text)
    seen = []

    @njit
    def f(n):
        for i in range(n):
            print(i)
            yield i
    it = f(1)
    out, sys.stdout = sys.stdout, Out()
    try:
        assert next(it) == 0
    finally:
        sys.stdout = out
    it.close()
    assert seen and set(seen) == {"generator already executing"}


def test_EXC_03_interrupted():
    @njit
    def forever(n):
        yield 0
        while n:
            n += 2
        yield 1
    it = forever(1)
    next(it)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(it)
    assert list(it) == []


def test_from_the_disk_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
from quern import njit
@njit(cache=True)
def f(n, word):
    for i in range(n):
        yield word * i
print(list(f(3, "ab")), sum(f.stats.cache_hits.values()))
""")
    runs = [subprocess.run([sys.executable, str(program)], capture_output=True, text=True,
                           env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}).stdout.strip() for _ in range(2)]
    assert runs == ["['', 'ab', 'abab'] 0", "['', 'ab', 'abab'] 1"]


def test_many_threads_have_their_own():
    results = [None] * 4

    def run(k):
        results[k] = sum(count(20000, k + 1))
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [sum(range(0, 20000, k + 1)) for k in range(4)]


def test_MEM_05_what_is_yielded_twice_is_a_new_list_each_time():
    """The object would know a Python list that is gone."""
    @njit
    def f(n):
        xs = [[1]]
        d, s, q, text = {"a": xs[0]}, {1, 2}, deque([xs[0]]), "abc" * n
        for i in range(n):
            xs[0].append(i)
            yield xs, d, q, s, text, (xs[0], xs[0])
            s.add(i)
            yield xs, d, q, s, text, (xs[0], xs[0])
    for hold in (False, True):
        seen, held = [], []
        for item in f(6):
            seen.append(repr(item))
            if hold:
                held.append(item)
            del item
            gc.collect()
            [[float(k)] for k in range(100)]
        assert seen == [repr(item) for item in f.py_func(6)]
    first, second = f(1)
    assert first[0][0] is first[1]["a"] is first[5][0] is first[5][1] and first[0][0] is not second[0][0]


def test_MEM_05_what_it_takes_along_may_go():
    @njit
    def f(xs, table, letters, more):
        for i in range(4):
            xs[0].append(i)
            letters.append(65 + i)
            yield xs, table, letters, more
    it = f([[7]], {"k": [8]}, bytearray(b"x"), ({5}, "text"))
    gc.collect()
    [[float(k)] for k in range(1000)]
    seen = [repr(item) for item in it]
    assert seen == [repr(item) for item in f.py_func([[7]], {"k": [8]}, bytearray(b"x"), ({5}, "text"))]


def test_a_list_as_return_value():
    @njit
    def f(n):
        xs = [0]
        for i in range(n):
            xs.append(i)
            yield xs
        return xs
    for n in (0, 3):
        it = f(n)
        assert [list(x) for x in itertools.islice(it, n)] == [[0, *range(k + 1)] for k in range(n)]
        with pytest.raises(StopIteration) as stop:
            next(it)
        assert stop.value.value == [0, *range(n)]
