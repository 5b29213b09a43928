"""TRAPS section D and the control flow of the language: every function runs in CPython too, which is the oracle."""
import pytest

from quern import errors, njit


def check(function, *argument_tuples):
    compiled = njit(function)
    for arguments in argument_tuples:
        assert compiled(*arguments) == function(*arguments), arguments


def test_CF_01_range_of_all_signs():
    def collect(start, stop, step):
        total, count, last = 0, 0, -99
        for i in range(start, stop, step):
            total = total * 3 + i
            count += 1
            last = i
        return total, count, last

    cases = [(a, b, s) for a in range(-4, 5) for b in range(-4, 5) for s in (-3, -2, -1, 1, 2, 3)]
    check(collect, *cases)
    with pytest.raises(ValueError):
        njit(collect)(0, 5, 0)


def test_CF_02_range_near_the_limits():
    def count(start, stop, step):
        n = 0
        for i in range(start, stop, step):
            n += 1
        return n

    check(count, (2**63 - 2, 2**63 - 1, 2), (-2**63, -2**63 + 3, 1), (-2**63 + 7, -2**63, -3),
          (2**63 - 10, 2**63 - 1, 4), (-2**63, 2**63 - 1, 2**62))


def test_CF_03_loop_variable():
    def after(n):
        for i in range(n):
            j = i
            i += 10
        return i, j

    check(after, (1,), (5,))

    def for_else(n, stop):
        for i in range(n):
            if i == stop:
                result = i
                break
        else:
            result = -1
        return result

    check(for_else, (5, 3), (5, 9), (0, 0))

    def while_else(n, stop):
        i = 0
        while i < n:
            if i == stop:
                break
            i += 1
        else:
            return -1
        return i

    check(while_else, (5, 3), (5, 9), (0, 0))


def test_CF_04_loop_variable_changes_type():
    def reassigned(n):
        s = 0
        for i in range(n):
            s += i
        i = 1.5
        return s + i

    check(reassigned, (4,), (0,))


def test_CF_05_expressions():
    check(lambda a, b: (a if a > b else b) + 5, (1, 2), (2, 1))
    check(lambda a, b, c: a and b or c, (1, 2, 3), (0, 2, 3), (1, 0, 3), (0, 0, 0))
    check(lambda a, b, c: a < b < c, (1, 2, 3), (1, 3, 2), (3, 2, 1))
    check(lambda a, b, c: a < b <= c != 7, (1, 2, 3), (1, 2, 7))
    check(lambda a, b: not a or not b, (0, 1), (1, 1))

    def swaps(a, b, c):
        a, b = b, a
        a, b, c = c, a, b
        return a, b, c

    check(swaps, (1, 2, 3))


def test_CF_05_continue_and_break_nested():
    def nested(n):
        count = 0
        for i in range(n):
            if i % 2:
                continue
            for j in range(n):
                if j > i:
                    break
                if (i + j) % 3 == 0:
                    continue
                count += j
            else:
                count += 100
        return count

    check(nested, *[(n,) for n in range(9)])


def test_CF_05_while_true():
    def collatz(n):
        steps = 0
        while True:
            if n == 1:
                return steps
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1

    check(collatz, *[(n,) for n in range(1, 40)])


def test_CF_06_large_functions():
    lines = ["def f(x):"] + [f"    if x > {i}: x = x - 1" for i in range(1500)] + ["    return x"]
    namespace = {}
    exec("\n".join(lines), namespace)
    assert njit(namespace["f"])(100) == namespace["f"](100)


def test_CF_07_loops_do_not_eat_the_stack():
    def inner(i):
        t = (i, i + 1, i + 2)
        return t[i % 3]

    def outer(n):
        s = 0
        for i in range(n):
            s += inner(i)
        return s

    assert njit(outer)(3_000_000) == sum(i + i % 3 for i in range(3_000_000))


def test_CF_11_trip_counts():
    import numpy as np

    compiled = njit(add_one_loop)
    for n in list(range(0, 70)) + [127, 128, 129, 65535, 65536, 65537]:
        a = np.arange(n, dtype=np.float64)
        b = np.zeros(n + 1)
        compiled(a, b)
        assert (b[:n] == a + 1).all() and b[n] == 0


def add_one_loop(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1


def test_TYP_01_loop_that_runs_zero_times():
    def halve(n):
        x = 1
        for _ in range(n):
            x = x / 2
        return x

    check(halve, (0,), (3,))


def test_TYP_02_variable_reused_with_another_type():
    def reuse(n):
        s = 0.0
        for x in range(n):
            s += x
        x = 0.5
        for y in range(n):
            s += x * y
        return s

    check(reuse, (0,), (5,))


def test_TYP_03_values_after_branches():
    def branches(n):
        x = 5
        y = x
        if n > 2:
            x = 7
        y = y + x
        x = x + 1
        if n > 4:
            y = x
        return x, y

    check(branches, (1,), (3,), (5,))


def test_TYP_04_unbound_local():
    def maybe(p):
        if p:
            y = 1
        return y

    compiled = njit(maybe)
    assert compiled(True) == 1
    with pytest.raises(UnboundLocalError, match="'y'"):
        compiled(False)


def test_TYP_05_loop_variable_of_empty_loop():
    def last(n):
        for i in range(n):
            pass
        return i

    compiled = njit(last)
    assert compiled(3) == 2
    with pytest.raises(UnboundLocalError):
        compiled(0)


def test_L03_del_makes_unbound():
    def deleted(p):
        x = 3
        if p:
            del x
        return x

    compiled = njit(deleted)
    assert compiled(False) == 3
    with pytest.raises(UnboundLocalError):
        compiled(True)


def test_L27_enumerate_zip_reversed():
    import numpy as np

    def loops(a, b):
        s = 0.0
        for i, x in enumerate(a):
            s += i * x
        for x, y in zip(a, b):
            s += x * y
        for i in reversed(range(4)):
            s = s * 2 + i
        for x in (1, 2, 3):
            s += x
        for i, (x, y) in enumerate(zip(a, b), 5):
            s += i * x - y
        return s

    check(loops, (np.arange(5.0), np.arange(3.0)))


@pytest.mark.parametrize("n", [14, 15, 16, 17, 29, 30, 31, 32, 100, 254, 255])
def test_L09_calls_with_many_arguments(n):
    """CPython compiles more than 15 keywords or 30 values on the stack in another way: through a list or a dict."""
    names = [f"a{i}" for i in range(n)]
    values = {name: f"x * {i + 1}" for i, name in enumerate(names)}
    values["a3"], values["a9"] = "(x if x > 2 else -x)", "(x and 7)"  # branches while the others wait
    kwargs = [f"{name}={value}" for name, value in values.items()]
    half = n // 2
    weighed = " + ".join(f"{i + 1} * {name}" for i, name in enumerate(names))
    namespace = {}
    exec(f"""
def callee({", ".join(names)}):
    return {weighed}

def positional(x):
    return callee({", ".join(values.values())})

def keywords(x):
    return callee({", ".join(kwargs[::-1])})

def both(x):
    return callee({", ".join([*values.values()][:half] + kwargs[half:])})

def in_a_loop(x):
    total = 0
    for x in range(x):
        total += callee({", ".join([*values.values()][:3] + kwargs[3:])})
    return total

def star(x):
    t = (x, x + 1)
    return callee(*t, {", ".join(kwargs[2:])})
""", namespace)
    python = dict(namespace)
    namespace["callee"] = njit(namespace["callee"])
    for name in ("positional", "keywords", "both", "in_a_loop", "star"):
        function = namespace[name]
        compiled = njit(function)
        for x in (0, 1, 3):
            assert compiled(x) == python[name](x)


def test_L09_star_arguments_beside_keywords():
    @njit
    def callee(a, b=2, *rest, c=3, d=4):
        return a * 1000 + b * 100 + c * 10 + d + len(rest)

    def calls(t, x):
        total = callee(*t, c=5) + callee(1, *t, d=x, c=9) + callee(c=x, *t)
        for i in range(3):
            total += callee(i, *(i, i), c=(x if i % 2 else 3), d=i)
        return total

    assert njit(calls)((1, 2), 7) == calls((1, 2), 7)
    assert njit(lambda t: callee(*t, b=7))((1,)) == 1734
    assert njit(lambda t: callee(*t, **{"c": 7}))((1, 2)) == 1274
    for function, hint in ((lambda t: callee(*t, b=7), "multiple values for argument 'b'"),
                           (lambda t: callee(*t, zz=7), "unexpected keyword argument 'zz'")):
        with pytest.raises(errors.TypingError, match=hint):
            njit(function)((1, 2))


def test_L09_defaults_and_keywords():
    @njit
    def base(a, b=2, *, c=3):
        return a * 100 + b * 10 + c

    def caller(x):
        return base(x) + base(x, 5) + base(x, b=6, c=7) + base(c=1, a=2)

    assert base(1) == 123 and base(1, c=9) == 129 and base(b=4, a=1) == 143
    check_value = sum([base.py_func(1), base.py_func(1, 5), base.py_func(1, b=6, c=7), base.py_func(c=1, a=2)])
    assert njit(caller)(1) == check_value
    with pytest.raises(TypeError):
        base()
    with pytest.raises(TypeError):
        base(1, 2, 3)
    with pytest.raises(TypeError):
        base(1, d=3)


def test_L08_recursion():
    @njit
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert fib(20) == 6765


def test_L08_recursion_of_an_eager_function():
    """Compiled while it is decorated: its own name is not bound yet."""
    namespace = {"njit": njit}
    exec("@njit('int64(int64)')\ndef fact(n):\n    return 1 if n < 2 else n * fact(n - 1)", namespace)
    assert namespace["fact"](10) == 3628800


def test_L08_mutual_recursion():
    assert is_even(10) is True and is_even(7) is False


@njit
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@njit
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def test_L07_tuples():
    def swap(t):
        a, b = t
        return b, (a, b), t[0], t[-1], len(t)

    check(swap, ((1, 2.5),), ((1, 2),))
    check(lambda a, b: (a, b) == (b, a), (1, 1), (1, 2))


def test_CF_membership_of_ranges_ends_before_the_stop():
    def member(x, start, stop, step):
        return x in range(start, stop, step)

    compiled = njit(member)
    for args in [(x, start, stop, step) for x in range(-4, 5) for start, stop in [(-3, 3), (3, -3), (2, 2), (0, 4)] for step in (-3, -1, 1, 2)]:
        assert compiled(*args) == member(*args), args


def refuse(what, value):
    raise ValueError(what, value)


def refuse_deeper(what, value):
    if value > 0:
        refuse(what, value)
    else:
        refuse("below", value)


def test_CF_what_always_raises_ends_the_path():
    def factor(mode):
        if mode == 0:
            scale = (1.5, mode)
        elif mode == 1:
            scale = (2.5, mode)
        else:
            refuse("mode", mode)
        return scale

    def chosen(mode):
        return refuse_deeper("mode", mode) if mode > 1 else (mode, mode + 1)

    def caught(mode):
        try:
            x = refuse_deeper("mode", mode)
            return x
        except ValueError as e:
            return mode if mode > 0 else -1

    def follows(n):
        best = (0, 0)
        for i in range(n):
            best = max(best, (i * 7 % 5, i), chosen(i % 2))
        return best

    check(factor, (0,), (1,))
    check(chosen, (0,), (1,))
    check(caught, (3,), (-3,))
    check(follows, (0,), (10,))
    compiled = njit(chosen)
    compiled(1)
    assert str(compiled.nopython_signatures[0].return_type).startswith("UniTuple")
    for function in (factor, chosen):
        with pytest.raises(ValueError) as expected:
            function(7)
        with pytest.raises(ValueError) as raised:
            njit(function)(7)
        assert raised.value.args == expected.value.args


def test_CF_loops_that_never_end_end_the_path():
    def find(n):
        while True:
            if n % 7 == 0:
                raise ValueError(n)
            n += 1

    def found(n):
        try:
            return find(n)
        except ValueError:
            return n * 1.5

    check(lambda n: found(n), (3,), (7,))
