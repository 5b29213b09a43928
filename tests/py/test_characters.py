"""Characters of text below 256 are one object each, which is never counted: s[i], chr(), and walks make none."""
import threading

import pytest

from objects import MEM_01_nothing_is_left, collected, live, same  # noqa: F401
from quern import _quern, njit

TEXT = "".join(map(chr, range(256))) + "Ā日本\U0001f600" + "az('\\x00')" * 3


def test_walks_indices_and_chr_are_cpythons():
    @njit
    def f(s):
        out = [""]
        for i in range(len(s)):
            out.append(s[i])
        for c in s:
            out.append(c + "!" if "a" <= c <= "z" else c.upper())
        for i in range(300):
            out.append(chr(i))
        return out, s[-1], s[:1], ord(s[3]), [ord(c) for c in s], s[0] == s[256 - 256], {c: ord(c) for c in s}, sorted(set(s))
    same(f, TEXT)
    same(f, "abcd")


@pytest.mark.parametrize("code", [0, 65, 127, 128, 255, 256, 65535, 65536])
def test_one_that_lives_on_in_what_holds_it(code):
    @njit
    def f(n, code):
        xs = [chr(code)] * 3
        d = {chr(code): chr(code)}
        t = (chr(code), chr(code) + "b")
        for i in range(n):
            xs.append(chr(code))
            xs.pop(0)
            d[chr(code)] = xs[-1]
        return xs, d, t, "".join(xs), xs[0] is xs[1]
    fast, slow = f(5, code), f.py_func(5, code)
    assert fast[:4] == slow[:4]
    before = live()
    for _ in range(10):
        f(100, code)
    assert live() == before


def test_MEM_they_make_no_objects():
    @njit
    def f(s):
        n = 0
        for i in range(len(s)):
            n += s[i] == "a"
        for c in s:
            if "a" < c <= "z":
                n += ord(c)
        return n
    want = f("abz" * 50)
    _quern.test_fail_allocation(3)  # the argument takes two
    try:
        assert f("abz" * 50) == want
    finally:
        _quern.test_fail_allocation(0)


def test_threads_share_them():
    @njit(nogil=True)
    def f(s, n):
        d = {"": 0}
        for _ in range(n):
            for c in s:
                d[c] = d.get(c, 0) + 1
        return sorted(d.items())
    want = f.py_func(TEXT, 3)
    f("a", 1)
    found = []
    threads = [threading.Thread(target=lambda: found.append(f(TEXT, 3) == want)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 8
