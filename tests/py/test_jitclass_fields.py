"""What is put into fields of jitclasses that hold containers: what fits becomes one of Python's, what does not is refused."""
import numpy as np
import pytest

from quern import errors, njit, typed, types
from quern.experimental import jitclass

FLOATS, ROWS = types.List(types.float64), types.List(types.List(types.float64))


def made(spec, lines, n=3):
    space = {"np": np}
    exec("class Kept:\n    def __init__(self, n):\n" + "".join(f"        {line}\n" for line in lines), space)
    return jitclass(spec)(space["Kept"])(n)


@pytest.mark.parametrize("spec, lines, wanted", [
    (FLOATS, ["self.data = [1.5, n]"], [1.5, 3.0]),
    (FLOATS, ["x = [float(i) for i in range(n)]", "self.data = x"], [0.0, 1.0, 2.0]),
    (ROWS, ["self.data = [[1.5], [n, 2.5]]"], [[1.5], [3.0, 2.5]]),
    (ROWS, ["self.data = [[i + 0.5] for i in range(n)]"], [[0.5], [1.5], [2.5]]),
    (ROWS, ["x = [[i + 0.5] for i in range(n)]", "x.append([9.0])", "self.data = x"], [[0.5], [1.5], [2.5], [9.0]]),
    (types.ListType(types.List(types.float64)), ["self.data = [[0.5] for i in range(n)]"], [[0.5]] * 3),
    (types.List(types.List(types.List(types.int64))), ["self.data = [[[i], [i, n]] for i in range(n)]"], [[[0], [0, 3]], [[1], [1, 3]], [[2], [2, 3]]]),
    (types.DictType(types.int64, types.List(types.float64)), ["self.data = {i: [i * 0.5] for i in range(n)}"], {0: [0.0], 1: [0.5], 2: [1.0]}),
])
def test_containers_in_containers(spec, lines, wanted):
    assert made({"data": spec}, lines).data == wanted


def test_rows_of_arrays_are_changed_by_methods():
    @jitclass({"data": types.List(types.List(types.float64[::1]))})
    class Rows:
        def __init__(self, n):
            self.data = [[np.arange(i).astype(np.float64)] for i in range(n)]

        def more(self, n):
            for i in range(n):
                self.data.append([np.arange(i).astype(np.float64)])

    rows = Rows(4)
    rows.more(3)
    assert [[a.tolist() for a in row] for row in rows.data] == [[[float(k) for k in range(n)]] for n in (0, 1, 2, 3, 0, 1, 2)]
    assert isinstance(rows.data, typed.List) and isinstance(rows.data[0], typed.List)


@pytest.mark.parametrize("spec, line", [
    (FLOATS, "self.data = {i: 1 for i in range(n)}"), (FLOATS, "self.data = {i for i in range(n)}"), (FLOATS, "self.data = {1: 2.5}"),
    (FLOATS, "self.data = [str(i) for i in range(n)]"), (FLOATS, "self.data = [[1.5]]"), (ROWS, "self.data = [1.5]"), (ROWS, "self.data = [{1.5}]"),
    (types.Set(types.int64), "self.data = [i for i in range(n)]"), (types.DictType(types.int64, types.int64), "self.data = [i for i in range(n)]"),
    (types.DictType(types.int64, types.int64), "self.data = {i: 'a' for i in range(n)}"), (types.float64, "self.data = [1.5]"),
])
def test_what_does_not_fit_is_refused(spec, line):
    """A dict that was made for a list's field got through inference, and the code ran into what is never reached."""
    with pytest.raises(errors.TypingError):
        made({"data": spec}, [line])


@pytest.mark.parametrize("value", [1, True, 2.5, np.int8(1), np.uint8(1), np.int32(1), np.uint64(1), np.float32(1), np.float64(1), 1j, "1"])
def test_NumPy_s_scalars_are_no_int_but_those_of_64_bits(value):
    @njit
    def f(x):
        return isinstance(x, int), isinstance(x, float), isinstance(x, complex)

    assert f(value) == f.py_func(value)
    assert f(np.int64(1)) == (True, False, False)
