"""Dicts of constant text keys whose values have several types (issue 8, part 2): read by key, gone over, passed on and returned."""
import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import cuda, errors, literal_unroll, njit, types


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(plain(v) for v in x)
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


def alike(function, *args):
    got, want = njit(function)(*args), function(*args)
    assert repr(plain(got)) == repr(plain(want))
    return got


def test_values_by_key():
    def f(a, n):
        d = {"n": n, "a": a, "text": "x" * n, "pair": (n, a), "none": None, "f": lambda x: x + n}
        return d["n"] + d["a"][0], d["text"], d["pair"], d["none"], d["f"](3), d["a"].sum() * d["n"]
    alike(f, np.array([1.5, 2.5]), 2)


def test_questions():
    def f(a, n):
        d = {"n": n, "a": a}
        return len(d), "n" in d, "m" in d, "m" not in d, bool(d), d.get("n"), d.get("m"), d.get("m", n), d.get("a")[0], isinstance(d, dict), isinstance(d, tuple)
    alike(f, np.ones(2), 3)


def test_keys_of_run_time_are_looked_for():
    def f(a, key):
        d = {"n": 1, "a": a}
        return key in d, key not in d, key in d.keys()
    for key in ("n", "a", "b", ""):
        alike(f, np.ones(2), key)


def test_gone_over():
    def f(a, n):
        d = {"n": n, "a": a, "b": n * 0.5}
        names = [k for k in d]
        for k in d.keys():
            names.append(k + "!")
        total = 0.0
        for v in literal_unroll(d.values()):
            total += np.sum(v)
        for k, v in literal_unroll(d.items()):
            names.append(k)
            total += len(k) * np.sum(v)
        for k, v in d.items():
            names.append(k)
        return names, total, list(d), sorted(d), tuple(d.keys()), tuple(d.items())[1][0]
    alike(f, np.array([1.5, 2.5]), 2)


def test_containers_in_it():
    def f(n):
        d = {"xs": [1, 2], "names": {"a": n}, "n": n, "empty": [0.5]}
        d["xs"].append(n)
        d["names"]["b"] = 2 * n
        d["empty"].clear()
        return d["xs"], d["names"], len(d["empty"])
    alike(f, 3)


def test_nested_passed_on_and_returned():
    def scaled(config, k):
        return config["inner"]["a"] * config["rate"] * k

    def f(a, n):
        config = {"rate": 0.5, "inner": {"a": a, "n": n}}
        return scaled(config, n), config, {"x": config, "y": 1}
    alike(f, np.array([1.0, 2.0]), 4)


def test_an_array_comes_back_as_it_is():
    a = np.ones(3)
    got = njit(lambda a: {"a": a, "n": 1})(a)
    assert got["a"] is a and list(got) == ["a", "n"]


def test_where_paths_meet():
    def f(c, a):
        d = {"n": 1, "a": a}
        if c:
            d = {"n": 2, "a": a[1:]}
        e = {"n": 1, "a": a} if c else None
        return d["n"], d["a"], e is None, d.copy()["n"]
    for c in (True, False):
        alike(f, c, np.arange(3.0))

    def other_keys(n, a):
        d = {"n": 1, "a": a}
        for _ in range(n):
            d = {"n": 1, "b": a}
        return d["n"]
    with pytest.raises(errors.TypingError, match="different types"):
        njit(other_keys)(1, np.ones(2))


def test_dict_of_keywords():
    alike(lambda a, n: (dict(n=n, a=a), dict(x=n, y=n + 1), dict(x=n)["x"]), np.ones(2), 3)
    alike(lambda n: sorted(dict(x=n, y=2).values()), 3)


def test_values_of_one_type_are_a_dict_that_changes():
    def f(n):
        d = {"a": 1, "b": n, "c": None}
        d["d"] = 5
        return d
    alike(f, 3)


def test_text_of_it():
    alike(lambda a, n: str({"n": n, "t": "x", "f": (n, 0.5)}), 1, 3)


def test_the_same_key_twice_is_no_such_dict():
    with pytest.raises(errors.TypingError, match="all values of a dict are of one type"):
        njit(lambda a: {"a": 1, "a": a})(np.ones(2))  # noqa: F601


def assigned(a):
    d = {"n": 1, "a": a}
    d["n"] = 2
    return d["n"]


def deleted(a):
    d = {"n": 1, "a": a}
    del d["n"]
    return 1


@pytest.mark.parametrize("f, message", [
    (assigned, "does not change"), (deleted, "del of an item"),
    (lambda a: {"n": 1, "a": a}["m"], "it has no key 'm'"),
    (lambda a: {"n": 1, "a": a}["n" * int(a[0])], "its keys are constants"),
    (lambda a: {"n": 1, "a": a}.get("n" * int(a[0])), "its keys are constants"),
    (lambda a: {"n": 1, "a": a}.popitem(), "does not change"),
    (lambda a: {"n": 1, "a": a}.update({"n": 2}), "does not change"),
    (lambda a: {"n": 1, "a": a} == {"n": 1, "a": a}, "cannot compare"),
    (lambda a: {"n": 1, "a": a}.n, "no attribute 'n'"),
    (lambda a: {1: 1, 2: a}[1], "all values of a dict are of one type"),
])
def test_refusals(f, message):
    with pytest.raises(errors.NumbaError, match=message):
        njit(f)(np.ones(2))


def test_in_kernels():
    @cuda.jit
    def kernel(a, n):
        d = {"a": a, "n": n, "half": 0.5}
        i = cuda.grid(1)
        if i < len(d["a"]) and "n" in d:
            d["a"][i] += d["n"] * d["half"]
    a = np.zeros(5)
    kernel[1, 32](a, 3)
    assert a.tolist() == [1.5] * 5


def test_closures_and_exceptions():
    def f(a, n):
        d = {"n": n, "a": a}

        def g(k):
            return d["n"] * k + d["a"][0]
        try:
            if n > 2:
                raise ValueError(d["n"])
        except ValueError as e:
            return g(10), e.args[0]
        return g(1), 0
    for n in (1, 3):
        alike(f, np.ones(2), n)


def test_cached(tmp_path):
    """A result of that kind keeps its function out of the disk cache, with the reason; others are stored."""
    import os
    os.environ["QUERN_CACHE_DIR"] = str(tmp_path)
    try:
        inside = njit(cache=True)(lambda a, n: {"n": n, "a": a}["n"])
        assert inside(np.ones(2), 3) == 3
        out = njit(cache=True)(lambda a, n: {"n": n, "a": a})
        assert out(np.ones(2), 3)["n"] == 3
        assert "dict of several types" in list(out.stats.cache_reasons.values())[0]
    finally:
        del os.environ["QUERN_CACHE_DIR"]


def test_eager_signature():
    f = njit([types.int64(types.float64[::1], types.int64)])(lambda a, n: {"n": n, "a": a}["n"] + len({"n": n, "a": a}["a"]))
    assert f(np.ones(2), 3) == 5
