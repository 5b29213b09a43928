"""What tests of objects share: compiled and interpreted programs beside each other, and how many objects are alive."""
import copy
import gc
import re

import pytest

from quern import _quern


def live():
    return _quern.live_objects(), _quern.live_allocations()


@pytest.fixture(scope="module")
def collected():
    """Garbage of other modules, which may hold objects, is gone before one begins: a test that collects must not free it."""
    gc.collect()


@pytest.fixture(autouse=True)
def MEM_01_nothing_is_left(collected):
    """Every test ends with as many objects of compiled code as it began with."""
    before = live()
    yield
    assert live() == before


def outcomes(function, *args):
    """Compiled and interpreted: results or exceptions, and the arguments afterwards."""
    def run(f):
        given = copy.deepcopy(args)
        try:
            out = f(*given)
        except Exception as e:  # noqa: BLE001
            out = type(e), e.args
        return out, given
    return run(function), run(function.py_func)


def shown(x):
    """Compiled code gives Python's numbers for NumPy's."""
    return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", repr(x))


def same(function, *args):
    fast, slow = outcomes(function, *args)
    assert shown(fast) == shown(slow)
    return fast[0]


def same_values(function, *args):
    """The same where the order is the interpreter's own: of sets."""
    fast, slow = outcomes(function, *args)
    assert fast == slow
    return fast[0]


def each_allocation_fails(program, make_args, most=400):
    """The result of the first call that gets all its memory; every other one raises MemoryError and leaves nothing."""
    for n in range(1, most):
        args, before = make_args(), live()
        _quern.test_fail_allocation(n)
        try:
            got = program(*args)
        except MemoryError:
            del args
            assert live() == before
            continue
        finally:
            _quern.test_fail_allocation(0)
        assert n > 1
        return got
    raise AssertionError("there is always one more allocation")
