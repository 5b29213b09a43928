"""match statements: patterns that are numbers, texts, None, tuples and lists, with names, stars and guards."""
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, njit


def kind(p):
    match p:
        case ():
            return "nothing"
        case (0, y):
            return f"on the axis at {y}"
        case (x, 0):
            return f"at {x}"
        case (x, y) if x == y:
            return f"diagonal {x}"
        case (x, y):
            return f"{x}, {y}"
        case (x, *rest):
            return f"{x} and {len(rest)} more"
        case _:
            return "no sequence"


@pytest.mark.parametrize("p", [(), (0, 3), (2, 0), (4, 4), (1, 2), (0.5, 1), (1, 2, 3), (7,), (1, 2, 3, 4), 5, 2.5, "ab", None])
def test_sequences(p):
    assert njit(kind)(p) == kind(p)


@pytest.mark.parametrize("p", [[], [0, 3], [2, 0], [4, 4], [1, 2], [1, 2, 3], [7], {1: 2}])
def test_lists_and_what_is_no_sequence(p):
    if isinstance(p, list):
        assert njit(lists)(p) == lists(p)
    else:
        assert njit(kind)(p) == kind(p) == "no sequence"


def lists(p):
    match p:
        case []:
            return 0
        case [0, y]:
            return 10 + y
        case [x, 0]:
            return 20 + x
        case [first, *middle, last] if first == last:
            return 30 + len(middle)
        case [first, *middle, last]:
            return 40 + len(middle) + last
        case [only]:
            return only
    return -1


def test_shapes_and_alternatives():
    @njit
    def area(shape):
        match shape:
            case ("square", a):
                return a * a
            case ("rectangle" | "box", a, b):
                return a * b
            case (kind, *_):
                return -len(kind)

    for shape in (("square", 3), ("rectangle", 2, 5), ("box", 2, 4), ("circle", 9), ("disk",)):
        assert area(shape) == area.py_func(shape)


def test_nested():
    @njit
    def f(line):
        match line:
            case ((x0, y0), (x1, y1)) as whole:
                return abs(x1 - x0) + abs(y1 - y0) + len(whole)
            case (x, y):
                return x + y

    assert f(((1, 2), (4, 6))) == 9 and f((3, 4)) == 7


def test_in_a_loop_over_tuples():
    @njit
    def run(program):
        stack = [0]
        for step in program:
            match step:
                case (0, n):
                    stack.append(n)
                case (1, _):
                    stack.append(stack.pop() + stack.pop())
                case (2, n) if n > 0:
                    stack.append(stack.pop() * n)
        return stack[-1]

    program = [(0, 3), (0, 4), (1, 0), (2, 5), (2, -1)]
    assert run(program) == run.py_func(program) == 35


def test_none_and_constants():
    @njit
    def f(x):
        match x:
            case None:
                return "none"
            case True:
                return "true"
            case -1 | 1.5:
                return "number"
            case "a" | "b":
                return "text"
            case _:
                return "other"

    for x in (None, True, -1, 1.5, "a", "c", 7):
        assert f(x) == f.py_func(x)


def test_a_name_that_no_pattern_bound():
    @njit
    def f(p):
        match p:
            case (x, 1):
                pass
        return x

    assert f((5, 1)) == 5
    with pytest.raises(UnboundLocalError):
        f((5, 2))


def test_classes_and_mappings_are_refused():
    @njit
    def f(x):
        match x:
            case int(n):
                return n

    with pytest.raises(errors.UnsupportedError, match="patterns of classes or mappings"):
        f(3)

    @njit
    def g(x):
        match x:
            case {"a": n}:
                return n

    with pytest.raises(errors.UnsupportedError, match="patterns of classes or mappings"):
        g({"a": 1})
