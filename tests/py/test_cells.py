"""Variables that functions share while they are assigned: nonlocal, late binding, functions that are kept in a loop."""
import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, each_allocation_fails  # noqa: F401

import quern
from quern import njit


def counter(n):
    total = 0

    def add(x):
        nonlocal total
        total += x

    for i in range(n):
        add(i)
    return total


def two_share(n):
    a, b = 0, 0.0

    def step(x):
        nonlocal a, b
        a += 1
        b += x * 0.5
        return a

    def back():
        nonlocal a
        a -= 3

    out = 0
    for i in range(n):
        out += step(i)
        if i % 3 == 0:
            back()
    return a, b, out


def widened_inside(n):
    x = 0

    def half():
        nonlocal x
        x = x + 0.5

    for _ in range(n):
        half()
    return x * 2


def assigned_inside_alone(n):
    x: int

    def put(v):
        nonlocal x
        x = v

    put(n)
    put(n + 1)
    return x


def late(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    s = 0
    for f in fs:
        s = s * 10 + f()
    return s


def made_by_a_function(n):
    def make(k):
        def step():
            nonlocal k
            k += 1
            return k

        return step

    a, b = make(n), make(10 * n)
    return a(), a(), b(), a(), b()


def kept_in_a_list(n):
    def make(k):
        def step(x):
            nonlocal k
            k += x
            return k

        return step

    fs = [make(i) for i in range(n)]
    out = 0
    for r in range(3):
        for f in fs:
            out = out * 3 + f(r)
    return out


def kept_in_a_dict(n):
    d = {}
    for i in range(n):
        k = i * i
        d[i] = lambda x: x + k  # the last one's, for all
    return [d[i](i) for i in range(n)]


def reassigned_later(n):
    k = 1
    f = lambda x: x + k  # noqa: E731
    a = f(n)
    k = 100
    b = f(n)
    k += 1
    return a, b, f(n)


def parameter(n, k):
    def twice():
        nonlocal k
        k *= 2

    for _ in range(n):
        twice()
    return k


def three_deep(n):
    x = n

    def outer():
        y = 1

        def inner():
            nonlocal x, y
            x += y
            y *= 2
            return x

        inner()
        inner()
        return y

    return outer(), outer(), x


def passed_on(n):
    seen = 0

    def visit(k):
        nonlocal seen
        seen += k

    def walk(f, k):
        if k > 0:
            f(k)
            walk(f, k - 1)

    walk(visit, n)
    return seen


def recursion(n):
    calls = 0

    def fib(k):
        nonlocal calls
        calls += 1
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n), calls


def each_other(n):
    depth = 0

    def even(k):
        nonlocal depth
        depth += 1
        return True if k == 0 else odd(k - 1)

    def odd(k):
        nonlocal depth
        depth += 10
        return False if k == 0 else even(k - 1)

    return even(n), depth


def best_so_far(n):
    best = None

    def look(x):
        nonlocal best
        if best is None or x > best:
            best = x

    for i in range(n):
        look(i * 7 % 5)
    return -1 if best is None else best


def a_list_in_a_cell(n):
    xs = []

    def fill(k):
        nonlocal xs
        if k % 4 == 3:
            xs = []
        xs.append(k * 0.5)

    for i in range(n):
        fill(i)
    return xs


def a_string_in_a_cell(n):
    text = "a"

    def more(k):
        nonlocal text
        text = text + str(k)

    for i in range(n):
        more(i)
    return text


def a_tuple_in_a_cell(n):
    p = (0, 1)

    def turn():
        nonlocal p
        p = (p[1], p[0] + p[1])

    for _ in range(n):
        turn()
    return p


def a_function_in_a_cell(n):
    def one(x):
        return x + 1

    def two(x):
        return x * 2

    f = one

    def use(x):
        return f(x)

    a = use(n)
    f = two
    return a, use(n)


def deleted(n):
    x = n

    def drop():
        nonlocal x
        del x

    drop()
    x = 2 * n
    return x


def assigned_in_try(n):
    state = 0

    def work(k):
        nonlocal state
        try:
            state += 1
            if k % 2:
                raise ValueError("odd")
            state += 10
        except ValueError:
            state += 100
        finally:
            state += 1000

    for i in range(n):
        work(i)
    return state


def in_a_generator(n):
    last = 0

    def items(m):
        nonlocal last
        for i in range(m):
            last += i
            yield last

    s = 0
    for x in items(n):
        s += x + last
    return s, last


def generator_expression(n):
    k = 1
    g = (i * k for i in range(n))
    k = 10
    return sum(g)


def walrus(n):
    ys = [w := i * 2 for i in range(n)]
    return w, len(ys)


def walrus_in_a_generator(n):
    w = -1
    s = sum(w for i in range(n) if (w := i * 2) > 2)
    return s, w


def lambdas_of_a_comprehension(n):
    fs = [lambda x: x + i for i in range(n)]
    s = 0
    for f in fs:
        s += f(10)
    return s


def lambdas_of_a_comprehension_beside(n):
    i = 100
    fs = [lambda: i for i in range(n)]
    s = i
    for f in fs:
        s += f()
    g = lambda: i  # noqa: E731
    i += 1
    return s + g()


def comprehension_reads(n):
    k = 1

    def up():
        nonlocal k
        k += 1
        return k

    return [up() + k for _ in range(n)], k


def default_and_cell(n):
    k = n
    fs = []
    for i in range(3):
        k += i
        fs.append(lambda x, i=i: x + i + k)
    s = 0
    for f in fs:
        s = 100 * s + f(1)
    return s


def conditional_def(n):
    k = 5
    if n > 3:

        def f(x):
            nonlocal k
            k += x
            return k

    else:

        def f(x):
            nonlocal k
            k -= x
            return k

    return f(n), k


def a_loop_that_redefines(n):
    out = 0
    last = None
    for i in range(n):
        def f(x):
            return x * i

        out += f(2)
        last = f
    return out if last is None else out + last(1)


def named_later(n):
    def area():
        return width * height

    width = n
    height = n + 1
    return area()


def another_name(n):
    k = n
    f = lambda: k  # noqa: E731
    g = f
    k = 2
    return g()


def in_a_tuple(n):
    k = n
    t = (lambda: k, 1)
    k = 2
    return t[0]()


def another_function(n):
    g = lambda x: x  # noqa: E731

    def h(x):
        return g(x) + 1

    t = h
    g = lambda x: 2 * x  # noqa: E731
    return t(n)


SAME = [another_name, in_a_tuple, another_function, counter, two_share, widened_inside, assigned_inside_alone, late, made_by_a_function, kept_in_a_list, kept_in_a_dict,
        reassigned_later, three_deep, passed_on, recursion, each_other, best_so_far, a_list_in_a_cell, a_string_in_a_cell,
        a_tuple_in_a_cell, a_function_in_a_cell, deleted, assigned_in_try, in_a_generator, generator_expression, walrus,
        walrus_in_a_generator, lambdas_of_a_comprehension, lambdas_of_a_comprehension_beside, comprehension_reads,
        default_and_cell, a_loop_that_redefines, named_later]


@pytest.mark.parametrize("f", SAME, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 5])
def test_as_cpython(f, n, MEM_01_nothing_is_left):  # noqa: F811
    assert njit(f)(n) == f(n)


@pytest.mark.parametrize("k", [1, 2.5])
def test_a_parameter_that_is_a_cell(k):
    assert njit(parameter)(4, k) == parameter(4, k)


@pytest.mark.parametrize("n", [3, 5])
def test_conditional_defs(n):
    assert njit(conditional_def)(n) == conditional_def(n)


# -- errors -------------------------------------------------------------------------------------------


def read_before(n):
    def get():
        return x

    if n > 0:
        x = n
    return get()


def read_before_here(n):
    def get():
        return x

    if n > 0:
        x = n
        get()
    return x


def delete_twice(n):
    x = n

    def drop():
        nonlocal x
        del x

    drop()
    drop()
    return 0


def read_deleted(n):
    x = n

    def drop():
        nonlocal x
        del x

    drop()
    return x


@pytest.mark.parametrize("f", [read_before, read_before_here, delete_twice, read_deleted], ids=lambda f: f.__name__)
def test_reading_what_is_not_assigned(f):
    def outcome(function):
        try:
            return function(0)
        except NameError as e:
            return type(e), str(e)

    assert outcome(njit(f)) == outcome(f)


def test_a_closure_variable_of_python_is_not_assigned():
    total = 0

    @njit
    def add(x):
        nonlocal total
        total += x

    with pytest.raises(quern.errors.UnsupportedError, match="an assignment to a variable of an enclosing function"):
        add(1)
    assert total == 0


def test_a_function_kept_in_its_own_variable_is_refused():
    def f(n):
        g = lambda x: x  # noqa: E731

        def h(x):
            return g(x)

        g = h
        return g(n)

    with pytest.raises(quern.errors.UnsupportedError, match="kept in a variable of its own"):
        njit(f)(1)


def test_types_that_have_no_common_one():
    def f(n):
        x = 1

        def put():
            nonlocal x
            x = (1, 2)

        put()
        return 0

    with pytest.raises(quern.errors.TypingError):
        njit(f)(1)


def test_a_loop_over_a_generator_in_a_handler():
    def f(n):
        try:
            n = 10 // n
        except ZeroDivisionError:
            if n < 5:
                def items(k):
                    yield k
                for i in items(8):
                    pass
        finally:
            n = 0
        return i + n

    assert njit(f)(0) == 8
    with pytest.raises(UnboundLocalError):
        njit(f)(3)


def test_a_default_and_a_variable_of_the_function_around_in_try():
    def f(n):
        def g(x):
            try:
                if x > n:
                    raise KeyError(2)
            except KeyError:
                def h(y, k=3):
                    nonlocal x, n
                    x += y * k
                    n += 1
                    return x
                return h(n) + x
            return x
        return g(n + 1), g(n - 1), n

    assert njit(f)(4) == f(4)


# -- memory, options ---------------------------------------------------------------------------------


def test_arrays_in_cells():
    def f(n):
        a = np.zeros(n)
        history = [a]

        def grow():
            nonlocal a
            a = np.concatenate((a, a + 1))
            history.append(a)

        for _ in range(3):
            grow()
        return a, len(history)

    a, m = njit(f)(2)
    b, k = f(2)
    assert m == k and np.array_equal(a, b)


def test_an_exception_leaves_nothing():
    def f(n):
        xs = [1.0]

        def step(i):
            nonlocal xs
            xs = xs + [i * 1.0]
            if len(xs) > 3:
                raise ValueError("long")

        for i in range(n):
            step(i)
        return len(xs)

    g = njit(f)
    assert g(2) == f(2)
    with pytest.raises(ValueError, match="long"):
        g(9)


def test_MEM_each_allocation_fails():
    def f(n):
        text = ""
        fs = []

        def make(k):
            def step(x):
                nonlocal k, text
                k += x
                text += str(k)
                return k

            return step

        for i in range(n):
            fs.append(make(i))
        s = 0
        for f in fs:
            s += f(2) + f(3)
        return s, text

    assert each_allocation_fails(njit(f), lambda: (3,)) == f(3)


def test_strong_numbers_and_explain():
    g = njit(widened_inside)
    assert g.explain(3) is None or "error" not in str(g.explain(3))
    assert g(3) == widened_inside(3)


def test_lists_that_callees_fill():
    """What a function puts into a list that it was given says what the list is of."""
    @njit
    def put(xs, x):
        xs.append(x)

    @njit
    def f(n):
        xs, ys = [], []

        def add(x):
            ys.append((x, 0.5))

        for i in range(n):
            put(xs, i * 0.5)
            add(i)
        return xs, ys

    assert f(3) == ([0.0, 0.5, 1.0], [(0, 0.5), (1, 0.5), (2, 0.5)])


def test_a_kernel_has_no_cells():
    @quern.cuda.jit
    def k(a):
        x = 0

        def up():
            nonlocal x
            x += 1

        up()
        a[0] = x

    with pytest.raises(quern.errors.UnsupportedError, match="a function with a variable that is assigned later"):
        k[1, 1](np.zeros(1))


def loop_in_a_handler(n, m):
    if m:
        a = m
    for z in (1, "abc", ""):
        try:
            b = 60 // m if n < 5 else a
        except ZeroDivisionError:
            for i in range(3):
                n = 1 + n
        finally:
            for c in "":
                a = n

    def keeps():
        nonlocal a, b, i

    return n, b


@pytest.mark.parametrize("n, m", [(0, 1), (5, 1), (2, 2), (3, 0), (7, 0), (7, 3)])
def test_a_loop_in_a_handler_may_be_interrupted(n, m):
    """Where it is, the clean-up behind it has variables of the loop, through no phi of its own."""
    def told(f):
        try:
            return f(n, m)
        except UnboundLocalError as error:
            return str(error)

    assert told(njit(loop_in_a_handler)) == told(loop_in_a_handler)
