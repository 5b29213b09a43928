"""Keywords, methods and attributes of ufuncs in compiled code: what the same call gives in Python is the oracle."""
import numpy as np
import pytest
from beside import check, same

import quern
from quern import guvectorize, njit, vectorize


@vectorize(["int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"], identity=0)
def add(x, y):
    return x + y


@vectorize
def lazy(x, y):
    return x * y + 1


@vectorize(["float64(float64, float64)"])
def larger(x, y):
    return x if x > y else y


@vectorize(["float64(float64, float64)"], identity="reorderable")
def any_order(x, y):
    return x if x > y else y


@vectorize(["float64(float64)"])
def twice(x):
    return x * 2


@guvectorize(["(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(a, b, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    out[0] = s


@guvectorize(["(float64[:], float64[:], float64[:])"], "(n)->(),()")
def ends(a, least, most):
    least[0] = a.min()
    most[0] = a.max()


@guvectorize(["(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, c):
    c[:, :] = 0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def arguments():
    a = np.arange(12.0).reshape(3, 4)
    i = np.arange(12).reshape(3, 4)
    return a, i, a.astype("f4"), i % 2 == 0, np.zeros((3, 4)), np.zeros(3)


def beside_python(source):
    """Both, with arguments of their own, which must be the same afterwards."""
    space = dict(globals())
    exec(f"def f(a, i, f, m, o, p):\n    r = {source}\n    return r\n", space)
    mine, theirs = arguments(), arguments()
    with np.errstate(all="ignore"):
        try:
            want = space["f"](*theirs)
        except (TypeError, ValueError, IndexError) as error:
            with pytest.raises((TypeError, quern.TypingError) if isinstance(error, TypeError) else type(error)):
                njit(space["f"])(*mine)
            return "raised"
        got = njit(space["f"])(*mine)
    same(got, want, False, source) if want is not None else None
    for g, w in zip(mine, theirs):
        same(g, w, False, source)
    return "same"


KEYWORDS = """add(a, a, out=o, where=m)|add(a, a, o, where=m)|add(a, a, dtype=np.float32)|add(a, a, dtype=np.float32, casting='unsafe')
add(f, f, dtype=np.float64)|add(i, i, dtype=np.float64)|add(a, a, out=(o,))|add(f, f, casting='no')|add(a, a, order='F')
add(a, a, order='C', subok=False)|lazy(a, i, out=o)|lazy(f, 2.0, dtype=np.float64)|np.add(a, a, order='F')|np.add(a, a, out=(o,), where=m)
np.add(a, a, casting='no')|np.multiply(a, f, dtype=np.float64, casting='safe')|np.sqrt(a, out=o, where=m)|np.add(a, a, out=f)"""
REFUSED = """np.add(a, f, casting='no')|np.add(a, a, dtype=np.int64)|np.add(a, a, casting='bogus')|np.add(a, a, order='X')|add(a, a, bogus=1)
np.add(a, a, out=i)|add(a, a, dtype=np.int64)"""


def spelled(text):
    return text.replace("\n", "|").split("|")


@pytest.mark.parametrize("source", spelled(KEYWORDS))
def test_UFN_03_keywords_in_compiled_code(source):
    assert beside_python(source) == "same"


@pytest.mark.parametrize("source", spelled(REFUSED))
def test_UFN_03_keywords_that_are_refused(source):
    assert beside_python(source) == "raised"


def test_UFN_03_the_casting_decides_about_outputs():
    """As NumPy's: float64 into int64 with "unsafe" only."""
    assert beside_python("np.add(a, a, out=i, casting='unsafe')") == "same"


REDUCED = """add.reduce(a)|add.reduce(a, 1)|add.reduce(a, axis=1)|add.reduce(a, axis=(0, 1))|add.reduce(a, axis=None)|add.reduce(a, keepdims=True)
add.reduce(a, axis=1, keepdims=True)|add.reduce(a, initial=5.0)|add.reduce(f, dtype=np.float64)|add.reduce(a, where=m)|add.reduce(i)
larger.reduce(a)|larger.reduce(a, where=m, initial=0.0)|larger.reduce(a, axis=1, where=m, initial=3.0)|larger.reduce(a, where=m[0], initial=0.0)
larger.reduce(a, -1)|any_order.reduce(a, axis=None)|any_order.reduce(a, axis=(0, 1), where=m, initial=0.0)|lazy.reduce(i)|lazy.reduce(a[0])
np.add.reduce(a)|np.add.reduce(f, axis=None)|np.add.reduce(m)|np.multiply.reduce(i + 1, axis=1)|np.maximum.reduce(a, axis=(0, 1))
np.minimum.reduce(a, axis=1, keepdims=True)|np.subtract.reduce(a)|np.logical_and.reduce(a)|np.logical_or.reduce(i, axis=1)
np.bitwise_and.reduce(i)|np.bitwise_or.reduce(i, axis=None)|np.bitwise_xor.reduce(i, axis=1)|np.hypot.reduce(a)|np.true_divide.reduce(a + 1)
np.logaddexp.reduce(a, axis=1)|np.add.reduce(a, where=m)|np.maximum.reduce(a, where=m, initial=-1.0)|np.add.reduce(a, out=np.zeros(4))
np.power.reduce(a[:2])|np.gcd.reduce(i, axis=1)|np.add.reduce(a[:0])|np.arctan2.reduce(a)|np.fmax.reduce(a, axis=None)"""
NOT_REDUCED = """larger.reduce(a, axis=(0, 1))|larger.reduce(a, axis=None)|larger.reduce(a, where=m)|larger.reduce(a[:0])|np.maximum.reduce(a[:0])
np.subtract.reduce(a, axis=None)|twice.reduce(a)|add.reduce(a, axis=2)|np.maximum.reduce(a, where=m)|np.add.reduce(a, axis=(0, 0))"""


@pytest.mark.parametrize("source", spelled(REDUCED))
def test_UFN_01_reduce_in_compiled_code(source):
    assert beside_python(source) == "same"


@pytest.mark.parametrize("source", spelled(NOT_REDUCED))
def test_UFN_01_reductions_that_are_refused(source):
    assert beside_python(source) == "raised"


OTHERS = """add.accumulate(a)|add.accumulate(a, 1)|add.accumulate(a, axis=1)|add.accumulate(i, dtype=np.float64)|larger.accumulate(a[:, 0])
np.add.accumulate(i, axis=1)|np.maximum.accumulate(a, axis=-1)|np.subtract.accumulate(a)|np.multiply.accumulate(f, out=np.zeros((3, 4), np.float32))
add.outer(a, a)|add.outer(a[0], 2.0)|lazy.outer(a[0], i[0])|np.multiply.outer(a[0], a[1])|np.add.outer(i[:, 0], i[0])|np.less.outer(a[0], a[:, 1])
np.subtract.outer(1.0, a[0])|np.add.outer(a[0], a[0], dtype=np.float32)|np.add.outer(a[:, 1], a[0], out=o)
add.reduceat(a, [0, 2])|add.reduceat(a, np.array([0, 2]), axis=1)|add.reduceat(a[0], [0, 2, 1])|np.add.reduceat(i[0], [0, 2, 1, 3])
np.maximum.reduceat(a, [0, 1, 0], axis=1)|np.subtract.reduceat(a, [0])|np.add.reduceat(a, [0, 3, 1], axis=-1, dtype=np.float32)
add.at(o, 0, 1.0)|add.at(o[0], [0, 0, 1], 1.0)|add.at(o[0], np.array([0, 0, 1]), a[0, :3])|twice.at(a[0], [0, 0, 1])
np.add.at(o, (slice(None), [0, 0]), 1.0)|np.add.at(o, ([0, 0], [1, 1]), 2.5)|np.add.at(o, m, a[m])|np.add.at(o, slice(0, 2), a[:2])
np.subtract.at(i, [0, 0], i[1])|np.maximum.at(a[1], [-1, 0], 9.0)|np.negative.at(a[0], [1, 1, 2])|np.add.at(o, (1, 2), 3.0)
np.add.at(o[:, 1], [0, 2, 0], [1.0, 2.0, 3.0])|np.add.at(i[0], [0, 1], True)|np.add.at(i[0], [0], 1.5)"""
OTHERS_REFUSED = """add.reduceat(a, [0, 3])|add.reduceat(a, [-1])|twice.accumulate(a)|twice.outer(a, a)|np.add.at(o[0], [4], 1.0)|np.add.at(o[0], [-5], 1.0)
add.accumulate(a, axis=2)|np.sqrt.reduce(a)|np.add.at(o[0], [0, 1], a[0, :3])"""


@pytest.mark.parametrize("source", spelled(OTHERS))
def test_UFN_03_other_methods_in_compiled_code(source):
    assert beside_python(source) == "same"


@pytest.mark.parametrize("source", spelled(OTHERS_REFUSED))
def test_UFN_03_calls_of_methods_that_are_refused(source):
    assert beside_python(source) == "raised"


@pytest.mark.parametrize("source", spelled("add.nin|add.nout|add.nargs|add.identity|larger.identity|any_order.identity|add.ntypes|np.add.nin"
                                           "|np.add.identity|np.multiply.identity|np.maximum.identity|np.bitwise_and.identity|np.sqrt.nargs"))
def test_U01_attributes_in_compiled_code(source):
    assert beside_python(source) == "same"


GENERAL = """dot(a.T, a.T, axis=0)|dot(a, a, axis=0)|dot(a, a, keepdims=True)|dot(a, a, axes=[0, 0, ()])|dot(a, a, axes=[0, 0])|ends(a, axis=0)
ends(a, keepdims=True)|ends(a, axis=0, keepdims=True)|product(a.T, a, axes=[(0, 1), (0, 1), (1, 0)])|product(a, a, axes=[(1, 0), (0, 1), (0, 1)])
dot(a, a, casting='no')|dot(f, f, dtype=np.float64)|dot(a, a, keepdims=True, out=np.zeros((3, 1)))|dot(a, a, axes=[(1,), (1,), ()])
ends(a, axes=[0, (), ()])|dot(i, i, axis=0, dtype=np.float64)|product(a, a.T, out=np.zeros((3, 3)), axes=[(-2, -1), (-2, -1), (-1, -2)])"""
GENERAL_REFUSED = """dot(a, a, axis=0, axes=[0, 0])|product(a, a.T, axis=0)|product(a, a.T, keepdims=True)|dot(a, a, axes=[(0, 1), 0, ()])|dot(f, f, casting='no')
dot(a, a, axes=[0])|dot(a, a, axis=5)|dot(a, a, bogus=1)"""


@pytest.mark.parametrize("source", spelled(GENERAL))
def test_U07_axes_of_generalised_ufuncs_in_compiled_code(source):
    assert beside_python(source) == "same"


@pytest.mark.parametrize("source", spelled(GENERAL_REFUSED))
def test_U07_axes_that_are_refused(source):
    assert beside_python(source) == "raised"


def test_an_axis_that_is_known_when_the_function_runs():
    a = np.arange(24.0).reshape(2, 3, 4)
    check("np.add.reduceat(a, i, x)", [(a, np.array([0, 1]), 0), (a, np.array([2, 0, 1]), 1), (a, [3, 1], -1), (a[0, 0], [0, 2, 1], 0), (a, [0], 3)], arguments="a, i, x")
    check("np.add.reduce(a, axis=x, initial=i)", [(a, 0, 100.0), (a, -1, 1.5), (a[0, 0], 0, 2.0), (a, 3, 0.0)], arguments="a, x, i")
