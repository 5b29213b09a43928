"""The functions behind tests/golden/bytecode: every form of control flow, call and variable that the
bytecode frontend reads, and one function for each construct that it refuses (names that start with
`refused_`). The first line of each docstring-free function is the interesting one.

    for v in 3.11 3.12 3.13 3.14:
        pythonV tests/tools/dump_code.py tests/golden/bytecode/programs.py --golden tests/golden/bytecode/3VV
"""

import math

COUNT = 10
HIDDEN = ("make_closure", "helper", "gather")


def helper(a, b=2, *, c=3):
    return a * 100 + b * 10 + c


def gather(*items, **named):
    return items, tuple(named.items())


# -- straight lines


def constants(a):
    return a, 1, -2, 300, 2.5, 3j, True, None, "text", ..., (1, (2.0, "x")), 10**30, 2**63


def arithmetic(a, b):
    return a + b - a * b, a / b, a // b, a % b, a**2, +a, -b


def bits(a, b):
    return a << 3, b >> 1, a & b, a | b, a ^ b, ~a


def matrix(a, b):
    return a @ b


def inplace(a, b):
    x = a
    x += b
    x -= 1
    x *= b
    x //= 2
    x %= 1000
    x <<= 2
    x >>= 1
    x &= 255
    x |= 64
    x ^= 5
    y = b
    y /= 2
    y **= 2
    return x, y


def inplace_matrix(a, b):
    a @= b
    return a


def comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b


def membership(a, t):
    return a in t, a not in t


def swaps(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    x = y = a
    a, b, c, x = x, c, b, a
    return a, b, c, x, y


def unpacking(t):
    (a, b), c = t
    return a + b * c


def negation(a, b):
    return not a, not (a and b), -a if not b else ~a


def many_values(a):
    b = a + 1; c = b + 1; d = c + 1; e = d + 1; f = e + 1; g = f + 1; h = g + 1; i = h + 1
    j = i + 1; k = j + 1; l = k + 1; m = l + 1; n = m + 1; o = n + 1; p = o + 1; q = p + 1
    r = q + 1; s = r + 1
    return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s


# -- choices


def if_else(a, b):
    if a > b:
        x = a
    else:
        x = b
    return x


def if_elif(a):
    if a < 0:
        return -1
    elif a == 0:
        return 0
    elif a < 10:
        r = 1
    else:
        r = 2
    return r


def conditional_expression(a, b):
    return (a if a > b else b) + 5


def and_or(a, b, c):
    x = a and b or c
    y = (a or b) and c
    return x, y, not (a or b)


def chained(a, b, c):
    x = a < b < c
    if a <= b <= c != 7:
        return x, 1
    return x, 2


def none_tests(a, b):
    if a is None:
        return 1
    if b is not None:
        return 2
    x = 5 if a is not None else 6
    return x


def nested_conditional(a, b, c):
    return a if b else (b if c else (c if a else 9))


def dead_code(a):
    return a
    for i in range(a):
        a += i
    return a + 1


def walrus(a):
    if (n := a + 1) > 3:
        return n
    return n * 2


def match_literal(a):
    match a:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case _:
            return 30


# -- loops


def while_loop(n):
    s = 0
    while n > 0:
        s += n
        n -= 1
    return s


def while_else(n, k):
    while n > 0:
        if n == k:
            break
        n -= 1
    else:
        n = 99
    return n


def while_true(n):
    while True:
        n -= 3
        if n < 0:
            return n


def while_and(a, b):
    while a and b > 0:
        b -= a
    return b


def while_none(a, n):
    x = None
    while x is None:
        n -= 1
        if n < a:
            x = n
    return x


def while_not_none(a, n):
    x = a
    while x is not None:
        n -= 1
        if n < a:
            x = None
    return n


def while_not(n):
    while not n > 10:
        n += 3
    return n


def for_range(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


def for_else(t, x):
    for v in t:
        if v == x:
            r = 1
            break
    else:
        r = 2
    return r


def for_continue(t):
    s = 0
    for v in t:
        if v < 0:
            continue
        if v > 100:
            break
        s += v
    return s


def for_after(n):
    i = -1
    for i in range(n):
        i += 10
    return i


def for_nested(n, m):
    s = 0
    for i in range(n):
        for j in range(i, m):
            if i == j:
                continue
            s += i * j
        else:
            s += 1000
    return s


def for_return(t, u):
    for i in t:
        for j in u:
            if i == j:
                return i
    return -1


def for_unpack(t):
    s = 0
    for i, (a, b) in enumerate(t):
        s += i * a - b
    return s


def for_zip(t, u):
    s = 0
    for a, b in zip(t, u):
        s = s * 3 + a - b
    return s


def for_twice(n):
    s = 0
    for i in range(n):
        s += i
    for i in range(n, 0, -1):
        s = s * 2 + i
    return s


def for_conditional(c, t, u):
    s = 0
    for v in t if c else u:
        s = s * 10 + v
    return s


def loop_in_call(t):
    total = 0
    for v in t:
        total = helper(total, v if v > 2 else (v or 7), c=v and 1)
    return total


def fibonacci(n):
    a, b = 0, 1
    while n:
        a, b, n = b, a + b, n - 1
    return a


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def long_body(n):
    s = 0
    for i in range(n):
        s = s * 3 + i - 9; s = s % 10007 if s > i else s + 3
        s = s * 4 + i - 16; s = s % 10007 if s > i else s + 4
        s = s * 5 + i - 25; s = s % 10007 if s > i else s + 5
        s = s * 6 + i - 36; s = s % 10007 if s > i else s + 6
        s = s * 7 + i - 49; s = s % 10007 if s > i else s + 7
        s = s * 8 + i - 64; s = s % 10007 if s > i else s + 8
        s = s * 9 + i - 81; s = s % 10007 if s > i else s + 9
        s = s * 10 + i - 100; s = s % 10007 if s > i else s + 10
        s = s * 11 + i - 121; s = s % 10007 if s > i else s + 11
        s = s * 12 + i - 144; s = s % 10007 if s > i else s + 12
        s = s * 13 + i - 169; s = s % 10007 if s > i else s + 13
        s = s * 14 + i - 196; s = s % 10007 if s > i else s + 14
        s = s * 15 + i - 225; s = s % 10007 if s > i else s + 15
    return s


# -- unassigned locals


def maybe_unbound(a):
    if a:
        x = 1
    return x


def loop_unbound(n):
    for i in range(n):
        last = i
    return last


def surely_bound(a):
    if a:
        x = 1
    else:
        x = 2
    return x


def deleted(a):
    x = a
    del x
    return x


def delete_and_assign(a):
    x = a
    if a:
        del x
        x = 3
    return x


def bound_in_later_blocks(a, b):
    if a:
        x = 1
    y = x
    if b:
        y += x
    return x + y


def copies(a, b):
    x = a
    y = x
    if b:
        x = y
    while b > 0:
        b -= 1
        if b == 2:
            x, y = y, x
    return x


def delete_on_a_path(a):
    x = a
    if a:
        del x
    a += 1
    return x


def delete_in_loop(n):
    x = n
    for i in range(n):
        if i == 3:
            del x
        elif i > 4:
            return x
    return i


def delete_maybe(a):
    if a:
        x = 1
    del x
    x = a
    return x


def bound_after_read(a):
    if a:
        x = 1
    x + 1
    return x


# -- items, slices, attributes


def items(a, i):
    a[i] = a[i - 1] + a[0]
    a[i] += 2
    return a[i]


def slices(a, n):
    return a[1:n], a[:n], a[n:], a[::2], a[1:n:2], a[:]


def constant_slices(a):
    return a[1:2], a[:-1], a[::-1]


def store_slice(a, n):
    a[1:n] = a[: n - 1]
    a[::2] = a[1::2]
    return a


def attributes(x):
    return x.real + x.conjugate().imag


def store_attribute(x, v):
    x.field = v
    x.field += 1
    return x.field


def displays(a, b):
    l = [a, b]
    m = [1, 2, 3]
    t = (a, b, a)
    return l[0] + m[1] + t[2], [], ()


def star_tuple(a, t):
    return (*t, a, *t)


def annotated(a: int) -> int:
    x: int = a
    y: float
    return x


# -- calls, globals, closures


def calls(a):
    return helper(a), helper(a, 1), helper(a, c=4), helper(a, b=a, c=a), math.floor(a)


def star_and_keywords(t):
    return helper(*t, c=3)


def star_and_two_keywords(t, a):
    return gather(*t, b=a, c=3)


def many_keywords(a, b):
    return gather(
        a,
        k0=a, k1=b, k2=a, k3=b, k4=a, k5=b, k6=a, k7=b,
        k8=a, k9=b, k10=a, k11=b, k12=a, k13=b, k14=a, k15=b,
    )


def many_keywords_and_branches(a, b):
    return gather(
        a,
        k0=a, k1=b, k2=a, k3=a if b else 7, k4=a, k5=b, k6=a, k7=b,
        k8=a, k9=b, k10=a and b, k11=b, k12=a, k13=b, k14=a, k15=b,
    )


def many_positional(a, b):
    return gather(
        a, b, a, b, a, a if b else 7, a, b, a, b, a, b, a, b, a, b,
        a, b, a, b, a and b, b, a, b, a, b, a, b, a, b, a, b,
    )


def star_behind_a_branch(a, t):
    return gather(a, *(t if a else (1, 2)), a)


def call_parameter(f, a):
    return f(a, f(a, a, key=a), other=2)


def star_calls(t):
    return helper(*t), helper(1, *t), max(*t, 5), max(*t, *t)


def globals_used(a):
    return a * COUNT + abs(-a) + len((a, a))


def method_chain(s):
    return s.strip().upper().find("X", 0)


def parameters(a, /, b, *args, c, d=4):
    return a + b + c + d + len(args)


def make_closure(k):
    m = k + 1

    def closure(x):
        s = x
        for _ in range(m):
            s += k
        return s

    return closure


closure = make_closure(3)


def cell_nobody_shares(a):
    x = a
    if a > 3:
        x += 1
        y = x
        del y
    y = 2
    return x + y
    f = lambda: (x, y)


def raises(a):
    if a < 0:
        raise ValueError("negative", a)
    if a == 0:
        raise ZeroDivisionError
    return a


def raises_from(a):
    raise ValueError("no") from a


def asserts(a, b):
    assert a > 0
    assert b > a, "b must be larger"
    return a + b


def not_implemented(a):
    raise NotImplementedError


# -- refused, each with its phrase and place


def try_except(a):
    try:
        return 1 / a
    except ZeroDivisionError:
        return 0


def try_finally(a, b):
    try:
        a += 1
    finally:
        b += 1
    return a + b


def refused_bare_raise(a):
    raise


def refused_with(a):
    with a as b:
        return b


def yield_once(n):
    yield n


def yield_from(n):
    yield from n


async def refused_async(a):
    return await a


async def refused_async_generator(a):
    yield a


async def refused_async_with(a):
    async with a:
        pass


async def refused_async_for(a):
    async for i in a:
        pass


def refused_lambda(a):
    f = lambda x: x + a
    return f(1)


def refused_nested(a):
    def inner(x, y=a, *, z: int = 3):
        return x + a

    return inner(1)


def inlined_comprehension(t):
    return [v * 2 for v in t]


def set_comprehension(t):
    return {v * 2 for v in t}


def dict_comprehension(t):
    return {v: 2 for v in t}


def refused_generator_expression(t):
    return sum(v * 2 for v in t)


def refused_all(t):
    return all(v for v in t)


def refused_any(t):
    return any(v for v in t)


def refused_tuple_of(t):
    return tuple(v for v in t)


def fstring(a):
    return f"{a} and {a!r:>10} or {a:5}"


def fstring_convert(a):
    return f"{a!r}"


def fstring_spec(a):
    return f"{a:5}"


def fstring_join(a):
    return f"{'x'}{a}"


def dict_display(a):
    return {a: 1, "b": 2}


def const_dict(a):
    return {"a": a, "b": 2}


def dict_update(a, b):
    return {**a, **b}


def big_dict(a):
    return {
        a: 0, 1: a, 2: a, 3: a, 4: a, 5: a, 6: a, 7: a, 8: a, 9: a, 10: a, 11: a, 12: a, 13: a,
        14: a, 15: a, 16: a, 17: a, 18: a,
    }


def set_display(a, b):
    return {a, b}


def set_update(a, b):
    return {*a, *b}


def star_list(t):
    return [*t, 1]


def refused_star_keywords(d):
    return helper(1, **d)


def refused_two_dicts(a, b):
    return gather(**({"a": a} if a else {"b": b}))


def refused_keyword_parameters(a, **keywords):
    return a


def imports():
    import math

    return math.pi


def imports_from():
    from math import pi

    return pi


def refused_class(a):
    class Point:
        x: int = 1

    return Point




def refused_global(a):
    global COUNT
    COUNT = a


def refused_delete_global(a):
    global COUNT
    del COUNT


def _nonlocal():
    k = 0

    def assigns_nonlocal(a):
        nonlocal k
        k = a
        return k

    return assigns_nonlocal


def _nonlocal_delete():
    k = 0

    def deletes_nonlocal(a):
        nonlocal k
        del k

    return deletes_nonlocal


assigns_nonlocal = _nonlocal()
deletes_nonlocal = _nonlocal_delete()
HIDDEN += ("_nonlocal", "_nonlocal_delete", "_class")


def refused_cell_write(a):
    x = a
    x += 1
    f = lambda: x
    del x
    return f


def delete_item(a):
    del a[0]


def refused_delete_attribute(a):
    del a.x


def starred_assignment(t):
    a, *b = t
    return a


def match_sequence(a):
    match a:
        case [x, y]:
            return x


def match_mapping(a):
    match a:
        case {"k": v}:
            return v


def match_class(a):
    match a:
        case complex(real=r):
            return r


def refused_except_group(a):
    try:
        a()
    except* ValueError:
        a = 1
    return a


def _class():
    class Base:
        def refused_super(self):
            return super().method()

        def refused_super_attribute(self):
            return super().method

    return Base


refused_super = _class().refused_super
refused_super_attribute = _class().refused_super_attribute
