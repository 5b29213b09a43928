"""Text, and tuples with text in them, as keys of dicts and elements of sets, against CPython."""
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same, same_values  # noqa: F401
from quern import errors, njit

TEXTS = ["", "a", "b", "ab", "aa", "é", "日本", "😀", "a" * 100, "ab😀"[:2], "x\0y", "\ud800"]


# -- programs -----------------------------------------------------------------------------------------------

@njit
def word_count(text):
    counts = {}
    for word in text.split():
        word = word.strip(".,;").lower()
        counts[word] = counts.get(word, 0) + 1
    best, most = "", 0
    for word, n in counts.items():
        if n > most or (n == most and word < best):
            best, most = word, n
    return best, most, counts


@njit
def display(n):
    ages = {"ann": 3, "bob": n}
    ages["cid"] = ages["ann"] + ages["bob"]
    if "dan" not in ages:
        ages["dan"] = -1
    del ages["ann"]
    return ages, ages.pop("bob"), ages.get("nobody", 7), "cid" in ages, sorted([name for name in ages])


@njit
def by_first_letter(words):
    groups = {}
    for w in words:
        groups.setdefault(w[:1], []).append(w)
    return groups


@njit
def tuples(names, n):
    seen = {}
    for i in range(n):
        for name in names:
            seen[(name, i % 2)] = i
    total = 0
    for (name, k), i in seen.items():
        total += len(name) * k + i
    return seen, total, ("ab", 1) in seen, (names[0], 0) in seen


@njit
def nested_tuples(names):
    seen = {(0, (names[0], 1.5)): names[0]}
    for i, name in enumerate(names):
        seen[i, (name, i * 0.5)] = name + "!"
    return seen


@njit
def sets(words):
    seen = set()
    twice = {"never"}
    for w in words:
        if w in seen:
            twice.add(w)
        seen.add(w)
    both = seen & twice
    seen.discard("a")
    return len(seen), sorted(list(seen)), sorted(list(twice)), both, "b" in seen, seen == {w for w in words}


@njit
def text_of_many_widths():
    wide = "a" + chr(128512)
    narrow = wide[:1]
    d = {narrow: 1}
    return d["a"], "a" in d, {("a", 1): 2}[narrow, 1], narrow in {"a", "b"}, hash(narrow) == hash("a")


@njit
def comprehended(words):
    return {w: len(w) for w in words}, {w[::-1] for w in words if w}


def test_programs():
    text = "The cat, the dog; the bird. A cat is a cat; éclair Éclair."
    for t in ("", "one", text, text * 20):
        same(word_count, t)
    same(display, 5)
    for words in (["x"], TEXTS, TEXTS * 3, [str(i % 37) for i in range(300)]):
        same(by_first_letter, words)
        same(tuples, words, 5)
        same(nested_tuples, words)
        same_values(sets, words)
        same_values(comprehended, words)
    assert text_of_many_widths() == (1, True, 2, True, True)


# -- methods, arguments and results --------------------------------------------------------------------------

@njit
def through(d):
    return d


@njit
def stored(d, key, value):
    d[key] = value
    return d


@njit
def asked(d, key):
    return key in d, d.get(key, -1), key == "a"


@njit
def indexed(d, key):
    return d[key]


@njit
def removed(s, x):
    s.remove(x)
    return s


@njit
def inner(d, a, b):
    d[a][b] += 1
    d[b] = {a: 1, b: 2}
    return d


def test_arguments_and_results():
    d = {w: i for i, w in enumerate(TEXTS)}
    assert through(d) is d
    for w in TEXTS + ["not there", "日", "ba"]:
        same(asked, d, w)
        same(indexed, d, w)
        same(stored, d, w, 5)
        same(indexed, {(w, 1): 2.5, ("é", 2): 3.5}, (w, 1))
        same_values(removed, set(TEXTS), w)
    for e in ({}, {"a": "b"}, {"a": ["b", "c"]}, {("a", 1): 2}, {(1, ("é", 2.5)): True}, {1: {"x": {"y": 2}}}, set(), {"a"}, {("a", "b")}):
        same(through, e)
    same(inner, {"p": {"q": 1}, "r": {}}, "p", "q")


def test_keys_that_do_not_change_stay_the_objects_they_are():
    key = "".join(["a long ", "key"])
    d = {key: 1, "b": 2}
    stored(d, "c", 3)
    assert next(iter(d)) is key and d == {key: 1, "b": 2, "c": 3}


def test_EXC_a_missing_key_is_in_the_exception():
    assert same(indexed, {"a": 1}, "b") == (KeyError, ("b",))
    assert same(indexed, {"a": 1}, "日本") == (KeyError, ("日本",))
    assert same(removed, {"a"}, "b") == (KeyError, ("b",))


# -- hashes --------------------------------------------------------------------------------------------------

@njit
def hashed(x):
    return hash(x)


@given(st.one_of(st.text(), st.tuples(st.text(), st.integers(-5, 5)), st.tuples(st.text(), st.tuples(st.text(), st.floats(-2, 2)))))
@settings(max_examples=200, deadline=None)
def test_hashes_are_those_of_python(x):
    assert hashed(x) == hash(x)


# -- refused ---------------------------------------------------------------------------------------------------

@njit
def text_and_numbers(n):
    d = {"a": n}
    d[n] = 1
    return d


def test_refused():
    with pytest.raises(errors.TypingError, match="dict with keys of str"):
        text_and_numbers(1)
    with pytest.raises(errors.TypingError, match="the keys of a dict are of different types"):
        through({"a": 2, 1: 3})
    with pytest.raises(errors.TypingError, match="numbers, strings, bytes, and tuples"):
        through({None: 2})


# -- memory ------------------------------------------------------------------------------------------------------

@njit
def program(d, n):
    e = {}
    for i in range(n):
        e["k" + str(i)] = [str(i)]
        if i % 3 == 0:
            e.pop("k" + str(i // 2), ["x"])
    d["new"] = ["y"]
    e |= d
    return e, {k[-1:] for k in e}


def test_MEM_02_each_allocation_fails_in_turn():
    program({"a": ["b"]}, 12)
    assert repr(each_allocation_fails(program, lambda: ({"a": ["b"]}, 12), 900)[0]) == repr(program.py_func({"a": ["b"]}, 12)[0])


# -- any order of operations ---------------------------------------------------------------------------------------

@njit
def apply(d, op, k, v):
    if op == 0:
        d[k] = v
    elif op == 1:
        del d[k]
    elif op == 2:
        return d.pop(k, v)
    elif op == 3:
        return d.popitem()[1]
    elif op == 4:
        return d.setdefault(k, v)
    elif op == 5:
        d.update([(k, v), (k + "'", v)])
    elif op == 6:
        for i in range(20):
            d[k + str(i)] = v
    elif op == 7:
        for i in range(20):
            if k + str(i) in d:
                del d[k + str(i)]
    return d[k]


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.fast, self.slow = {}, {}

    @rule(op=st.integers(0, 8), k=st.sampled_from(["", "a", "é", "日本", "a1", "é5", "b"]), v=st.integers(0, 5))
    def step(self, op, k, v):
        results = []
        for f, d in ((apply, self.fast), (apply.py_func, self.slow)):
            if not d:  # an empty one is of ints
                d["first"] = 0
            try:
                results.append(f(d, op, k, v))
            except KeyError as e:
                results.append(e.args)
        assert results[0] == results[1]

    @invariant()
    def equal(self):
        assert repr(self.fast) == repr(self.slow)


def test_any_order_of_operations():
    from hypothesis.stateful import run_state_machine_as_test
    run_state_machine_as_test(Machine, settings=settings(max_examples=25, stateful_step_count=40, deadline=None,
                                                        suppress_health_check=list(HealthCheck)))
