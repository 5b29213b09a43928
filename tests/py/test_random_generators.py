"""numpy.random.Generator as an argument of compiled functions (FEATURES N14): NumPy's numbers, NumPy's state afterwards, NumPy's refusals."""
import copy
import dataclasses
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import quern
from quern import njit, objmode, prange
from quern.errors import QuernError
from objects import MEM_01_nothing_is_left, collected  # noqa: F401

KINDS = np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM
CORRECTED = np.lib.NumpyVersion(np.__version__) >= "2.4.0"  # numbers are those of NumPy since 2.4


def pair(kind, seed):
    return np.random.Generator(kind(seed)), np.random.Generator(kind(seed))


def same_state(a, b):
    return repr(a.bit_generator.state) == repr(b.bit_generator.state)


def equal(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return not isinstance(b, np.ndarray) and (a == b or (a != a and b != b))


# -- the numbers --------------------------------------------------------------------------------------------------

EVENLY = """random() random(5) random((2,3)) random(()) random(0) random(dtype=np.float32) random(7,np.float32) random(size=(2,2),dtype=np.float64)
uniform() uniform(2.0,5.0) uniform(x,1,(2,2)) uniform(2,2) uniform(np.zeros((2,1)),np.arange(1.0,4.0)) uniform(size=3) uniform(-1,np.ones(3,np.float32))"""

INTEGERS = """integers(10) integers(5,10) integers(0,100,20) integers(3,size=4) integers(0,2**32,20) integers(0,2**40,20) integers(-5,5,(3,4))
integers(-2**63,2**63-1,9) integers(-2**63,2**63-1,9,np.int64,True) integers(7,8) integers(0,2**32-1,9,np.int64,True) integers(0,2**32-1,9) integers(3,endpoint=True)
integers(0,2**63,9) integers(0,2**64-1,9,np.uint64) integers(0,2**63+5,9,dtype=np.uint64) integers(2**63,2**63+9,9,np.uint64)
integers(0,2**64-1,9,np.uint64,True) integers(10,dtype=np.uint64) integers(0,100,9,np.int32) integers(5,dtype=np.uint32) integers(0,2**32,9,np.uint32)
integers(-2**31,2**31,9,np.int32) integers(0,2**32-2,9,np.uint32) integers(0,2,9,np.bool_) integers(0,2,70,np.bool_) integers(0,1,3,np.bool_) integers(1,2,3,np.bool_) integers(2,dtype=np.bool_)
integers(0,1,5,np.bool_,endpoint=True) integers(0,256,11,np.uint8) integers(-128,128,11,np.int8) integers(0,100,11,np.int8)
integers(3,100,(2,5),np.uint8) integers(100,dtype=np.int8) integers(0,2**16,11,np.uint16) integers(-2**15,2**15,11,np.int16) integers(0,30000,11,np.int16)
integers(9,size=3,dtype=np.int64) integers(np.array([1,5,100]),np.array([3,50,2**40])) integers(np.arange(1,6)) integers(0,np.array([[3],[200]]),(2,4))
integers(0,np.array([3,200]),dtype=np.uint8) integers(np.array([-5,0]),7,(3,2),np.int16) integers(np.arange(4),np.arange(4),endpoint=True) integers(0,size=0)
integers(0,np.array([2,1,2]),(9,3),np.bool_) integers(np.uint64(3),np.uint64(9),5) integers(2.7,9.9,5) integers(np.int32(3),np.int32(9))"""

REALS = """normal() normal(3.0,2.0,7) normal(1,2) normal(np.arange(3.0),np.ones(3)) normal(0,0.0) normal(x,np.inf) standard_normal() standard_normal(3) standard_normal((2,2))
standard_normal(dtype=np.float32) standard_normal(2000,np.float32) standard_normal(2000) lognormal(0.5,0.3,50) lognormal() exponential(2.0) exponential(2.0,100) exponential(size=4)
exponential(np.arange(3)) standard_exponential() standard_exponential(2000) standard_exponential(2000,np.float32) standard_exponential(dtype=np.float32)
standard_exponential(9,method='inv') standard_exponential(9,np.float32,'inv') standard_exponential(method='inv') standard_gamma(2.0,5) standard_gamma(0.5,50) standard_gamma(1,3)
standard_gamma(0) standard_gamma(2.5,500,np.float32) standard_gamma(x,500,np.float32) standard_gamma(1.0,9,np.float32) standard_gamma(np.array([0.0,0.5,1.0,2.0]))
standard_gamma(3.0,dtype=np.float32) gamma(x,2.0,500) gamma(3.5,1.0,500) gamma(1.0) gamma(0.0,1.0,3) gamma(2,np.array([1.0,2.0])) beta(x,0.5,500) beta(2.0,3.0,500)
beta(x*0.1,x*0.2,50) beta(1e-3,1e-3,50) beta(1e-200,1e-200,9) beta(np.array([0.1,5.0]),0.3) chisquare(3.0,100) chisquare(0.5) noncentral_chisquare(3.0,2.0,200)
noncentral_chisquare(0.5,2.0,200) noncentral_chisquare(0.5,0.0,20) noncentral_chisquare(2.0,np.nan) noncentral_chisquare(np.array([0.5,2.0]),3.0) f(3.0,4.0,200) f(1,2)
noncentral_f(3.0,4.0,1.5,200) standard_t(4.0,200) standard_t(np.array([1,2,3])) standard_cauchy() standard_cauchy(200) pareto(3.0,500) pareto(0.1) weibull(1.0+x,500)
weibull(0.0) weibull(np.inf,3) power(3.0,500) power(x) rayleigh(2.0,500) rayleigh() laplace(1.0,2.0,500) laplace() gumbel(1.0,2.0,500) gumbel() logistic(1.0,2.0,500)
logistic() triangular(1.0,2.0,4.0,500) triangular(0,0,1,9) triangular(np.array([1.0,2.0]),2.5,4.0) wald(1.0,2.0,500) wald(5.0,0.1,50) wald(1e6,1e-6,50) vonmises(1.0,2.0,500)
vonmises(-3.0,x,500) vonmises(0.0,1e-9,5) vonmises(0.5,1e-6,50) vonmises(3.0,2e6,50) vonmises(0.0,np.nan) vonmises(np.arange(3.0),1.5) normal(np.nan,1.0) normal(1.0,np.nan)
normal(np.float32(x),2) exponential(np.inf)"""

COUNTS = """poisson(3.0,500) poisson(30.0,2000) poisson(0.0) poisson(1e9,500) poisson() poisson(np.array([1.0,20.0,3.0])) poisson(5,(2,2)) poisson(10.0,500) poisson(1e18,9)
binomial(10,0.3,500) binomial(10,0.8,50) binomial(1000,0.3,2000) binomial(1000,0.7,2000) binomial(100000,0.5,2000) binomial(0,0.5) binomial(5,0.0) binomial(5,1.0) binomial(5,1) binomial(10**9,0.4,500)
binomial(np.array([5,10]),0.5,(3,2)) binomial(40,np.array([0.1,0.9,0.0])) binomial(2**40,1e-12,50) negative_binomial(5,0.3,500) negative_binomial(0.5,0.9,50) negative_binomial(np.array([1,2]),0.5) negative_binomial(3,1.0)
geometric(0.5,500) geometric(0.1,500) geometric(1e-20) geometric(1) geometric(np.array([0.2,0.7])) zipf(2.5,500) zipf(1.001,50) zipf(2000.0,3) zipf(1024.5) zipf(np.array([1.5,3.0])) zipf(np.inf) zipf(50.0,50)
logseries(0.6,500) logseries(0.999,500) logseries(0.0,3) logseries(np.array([0.1,0.9]))"""

ORDER = """permutation(10) permutation(np.arange(7.0)) permutation(np.arange(12).reshape(4,3)) permutation(np.arange(12).reshape(4,3),1) permutation(np.arange(12).reshape(4,3),-1)
permutation(0) permutation([4,5,6,7]) permutation(np.zeros((0,3))) permuted(np.arange(9)) permuted(np.arange(12).reshape(3,4)) permuted(np.arange(12).reshape(3,4),axis=1)
permuted(np.arange(12).reshape(3,4),axis=0) permuted(np.arange(24).reshape(2,3,4),axis=1) permuted(np.arange(12).reshape(3,4).T) permuted(np.arange(12).reshape(3,4).T,axis=0) permuted([3,4,5])
choice(5) choice(5,3) choice(10,4,False) choice(np.arange(5.0),(2,3)) choice(np.arange(3.0)) choice(20000,1000,False) choice(20000,100,False) choice(20000,500,False,shuffle=False)
choice(20000,1500,False,shuffle=False) choice(10,10,False,shuffle=False) choice(4,10,True,np.array([0.1,0.2,0.3,0.4])) choice(6,4,False,np.array([0.1,0.2,0.3,0.2,0.1,0.1])) choice([7,8,9],2)
choice(np.arange(12).reshape(3,4),2) choice(np.arange(12).reshape(3,4),2,axis=1) choice(np.arange(12).reshape(3,4)) choice(3,p=[0.2,0.3,0.5]) choice(5,()) choice(5,0) choice(0,0)
choice(np.arange(6.0),(2,2),replace=False) choice(1000000,3000,False) choice(7,1,False) choice(7,replace=False) choice(4,p=np.array([0.1,0.2,0.3,0.4],np.float32))"""

CALLS = [call for table in (EVENLY, INTEGERS, REALS, COUNTS, ORDER) for call in table.split() if "(" in call]


def functions_of(call):
    space = {"np": np}
    exec(f"def f(rng, x):\n a = rng.{call}\n return a, rng.random(), rng.standard_normal(), rng.integers(0, 100)", space)
    return space["f"], njit(space["f"])


@pytest.mark.skipif(not CORRECTED, reason="NumPy drew other numbers")
@pytest.mark.parametrize("call", CALLS)
def test_numbers_and_state(call):
    function, compiled = functions_of(call)
    for i, kind in enumerate(KINDS):
        for seed in 0, 12345 + i:
            ours, theirs = pair(kind, seed)
            with np.errstate(all="ignore"):
                expected = function(theirs, 0.3)
            got = compiled(ours, 0.3)
            assert equal(expected[0], got[0]), (kind, seed, expected[0], got[0])
            assert expected[1:] == got[1:]
            assert same_state(ours, theirs)


def test_other_numpy():
    """Generators of all bit generators are one type, and one specialisation."""
    @njit
    def f(rng):
        return rng.random()

    for kind in KINDS:
        ours, theirs = pair(kind, 3)
        assert f(ours) == theirs.random()
    assert len(f.signatures) == 1


@pytest.mark.parametrize("method", ["standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_millions(method, dtype):
    """All layers of the ziggurat, their edges and the tails."""
    space = {"np": np}
    exec(f"def f(rng, out):\n for i in range(len(out)):\n  out[i] = rng.{method}(dtype=np.{dtype.__name__})", space)
    compiled = njit(space["f"])
    out = np.empty(1_000_000, dtype)
    ours, theirs = pair(np.random.PCG64, 77)
    for _ in range(4):
        compiled(ours, out)
        expected = getattr(theirs, method)(len(out), dtype=dtype)
        assert np.array_equal(out, expected)
    assert same_state(ours, theirs)


def test_the_tables_are_what_the_script_computes():
    root = pathlib.Path(__file__).parents[2]
    printed = subprocess.run([sys.executable, root / "tests/tools/gen_ziggurat.py"], capture_output=True, text=True, check=True).stdout
    assert printed == (root / "pymodule/quern/library/ziggurat.py").read_text()


def test_the_kept_half_of_a_word():
    """PCG64 keeps the other half of a word of which 32 bits were drawn: where compiled code has drawn it, NumPy goes on with it."""
    @njit
    def f(rng):
        return rng.integers(0, 1000), rng.random(dtype=np.float32)

    ours, theirs = pair(np.random.PCG64, 5)
    assert ours.integers(0, 1000) == theirs.integers(0, 1000)
    assert f(ours) == (theirs.integers(0, 1000), theirs.random(dtype=np.float32))
    assert [ours.integers(0, 1000) for _ in range(5)] == [theirs.integers(0, 1000) for _ in range(5)]


# -- what NumPy refuses -------------------------------------------------------------------------------------------

BAD = """normal(0,x) normal(0,-0.0) normal(0,np.array([1.0,-1.0])) lognormal(0,x) exponential(x) standard_gamma(x) gamma(x,1) gamma(1,x) beta(0,1) beta(1,x) beta(np.zeros(2),1)
chisquare(0) chisquare(x) noncentral_chisquare(0,1) noncentral_chisquare(1,x) f(0,1) f(1,0) noncentral_f(0,1,1) noncentral_f(1,0,1) noncentral_f(1,1,x) standard_t(0) pareto(0) weibull(x) power(0)
rayleigh(x) laplace(0,x) gumbel(0,x) logistic(0,x) wald(0,1) wald(1,0) vonmises(0,x) triangular(3,2,4) triangular(1,5,4) triangular(1,1,1) triangular(np.array([3.0]),2,4)
poisson(x) poisson(np.nan) poisson(1e19) poisson(np.array([x])) poisson(np.array([1e19])) binomial(-1,0.5) binomial(5,1.5) binomial(5,x) binomial(5,np.nan) binomial(5,np.array([0.1,2.0])) binomial(np.array([-1]),0.5)
negative_binomial(0,0.5) negative_binomial(np.nan,0.5) negative_binomial(1,0) negative_binomial(1,1.5) negative_binomial(1e15,1e-9) negative_binomial(1,np.array([0.5,0.0])) geometric(0) geometric(1.5) geometric(np.nan)
geometric(np.array([0.0])) zipf(1) zipf(np.nan) zipf(np.array([1.0])) logseries(1) logseries(x) logseries(np.nan) logseries(np.array([1.0])) integers(0) integers(5,5) integers(5,4) integers(-1,endpoint=True) integers(5,4,endpoint=True)
integers(-1) integers(0,300,dtype=np.uint8) integers(-1,5,dtype=np.uint8) integers(-200,5,dtype=np.int8) integers(0,129,dtype=np.int8) integers(0,3,dtype=np.bool_) integers(0,2**40,dtype=np.int32) integers(-1,5,3,np.uint64)
integers(2**63,2**64-1) integers(0,2**63+1) integers(np.array([1,5]),np.array([3,5])) integers(0,np.array([300]),dtype=np.uint8) integers(np.array([-1]),9,dtype=np.uint16) integers(-2**63,-2**63) uniform(2,1) uniform(np.array([2.0]),1)
choice(0) choice(-3,2) choice(np.zeros(0)) choice(3,4,False) choice(2,p=[0.5,0.6]) choice(2,p=[0.5,0.2,0.3]) choice(2,p=[np.nan,1.0]) choice(2,p=[-0.5,1.5]) choice(3,3,False,[0.5,0.5,0.0])"""


@pytest.mark.parametrize("call", BAD.split())
def test_ERR_what_numpy_refuses(call):
    function, compiled = functions_of(call)
    rng = np.random.default_rng(1)
    state = repr(rng.bit_generator.state)
    with pytest.raises(ValueError) as expected:
        function(rng, -1.0)
    with pytest.raises(ValueError) as got:
        compiled(rng, -1.0)
    assert str(got.value) == str(expected.value)
    assert repr(rng.bit_generator.state) == state  # nothing was drawn


@pytest.mark.parametrize("call", ["uniform(0,np.inf)", "uniform(np.nan,1)", "uniform(np.array([np.inf]),1)"])
def test_ERR_a_range_that_is_not_finite(call):
    function, compiled = functions_of(call)
    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"), pytest.raises(OverflowError) as expected:
        function(rng, 0.0)
    with pytest.raises(OverflowError) as got:
        compiled(rng, 0.0)
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize("call", ["normal(np.arange(3.0),1,4)", "normal(np.arange(3.0),np.arange(2.0))", "random(-1)", "normal(np.zeros((2,2)),1,2)"])
def test_ERR_shapes_that_do_not_fit(call):
    function, compiled = functions_of(call)
    for f in function, compiled:
        with pytest.raises(ValueError):
            f(np.random.default_rng(1), 0.0)


@pytest.mark.parametrize("call, param", [
    ("normal('x', 1.0)", "loc"), ("normal(scale='x')", "scale"), ("normal((0,))", "loc"), ("normal(size='x')", "size"), ("random(('x',))", "size"), ("random((1.5, 2))", "size"),
    ("beta(1.0, text)", "b"), ("shuffle(text)", "x"), ("permutation(text)", "x"), ("shuffle(np.zeros(3), text)", "axis"), ("integers(text)", "low")])
def test_ERR_arguments_of_other_types(call, param):
    space = {"np": np}
    exec(f"def f(rng, text):\n return rng.{call}", space)
    with pytest.raises(QuernError, match=f"Argument {param} is not one of the expected type"):
        njit(space["f"])(np.random.default_rng(1), "text")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_as_arguments(dtype):
    @njit
    def f(rng, size, dtype):
        return rng.random(size, dtype), rng.standard_normal(size=size, dtype=dtype), np.zeros(2, dtype)

    ours, theirs = pair(np.random.PCG64, 3)
    got, expected = f(ours, 3, dtype), f.py_func(theirs, 3, dtype)
    assert all(equal(a, b) for a, b in zip(got, expected))
    assert njit(lambda rng, t: rng.integers(0, 9, 4, t))(ours, np.int8).dtype == np.int8


# -- order --------------------------------------------------------------------------------------------------------


def test_shuffled_in_place(collected):
    @njit
    def f(rng, a, rows, columns, words, strided):
        rng.shuffle(a)
        rng.shuffle(rows)
        rng.shuffle(columns, axis=1)
        rng.shuffle(words)
        rng.shuffle(strided)
        listed = [1.5, 2.5, 3.5, 4.5]
        rng.shuffle(listed)
        return listed

    def make():
        return np.arange(9), np.arange(12).reshape(4, 3).copy(), np.arange(12).reshape(3, 4).copy(), ["a", "bb", "ccc", "d"], np.arange(20)[::3]

    ours, theirs = pair(np.random.PCG64, 9)
    got, expected = make(), make()
    listed = f(ours, *got)
    theirs.shuffle(expected[0])
    theirs.shuffle(expected[1])
    theirs.shuffle(expected[2], axis=1)
    for i in 3, 4:
        theirs.shuffle(expected[i])
    same = [1.5, 2.5, 3.5, 4.5]
    theirs.shuffle(same)
    assert listed == same and same_state(ours, theirs)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected))


def test_ERR_what_cannot_be_shuffled():
    @njit
    def f(rng, a, axis):
        rng.shuffle(a, axis)

    with pytest.raises(ValueError, match="out of bounds"):
        f(np.random.default_rng(), np.zeros(3), 1)
    with pytest.raises(ValueError, match="contiguous"):
        njit(lambda rng, a: rng.permuted(a))(np.random.default_rng(), np.zeros((4, 4))[::2, ::2])
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(QuernError, match="read-only"):
        f(np.random.default_rng(), frozen, 0)


# -- the object ---------------------------------------------------------------------------------------------------


def test_it_is_the_same_object(collected):
    @njit
    def f(rng):
        return rng

    @njit
    def chosen(a, b, first):
        return (a if first else b), (a, 1)

    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    before = sys.getrefcount(rng)
    assert f(rng) is rng
    assert chosen(rng, other, True)[0] is rng and chosen(rng, other, False)[0] is other
    assert chosen(rng, other, False)[1] == (rng, 1)
    assert sys.getrefcount(rng) == before
    assert f(np.random.default_rng(7)).random() == np.random.default_rng(7).random()  # nobody else holds it


def test_in_tuples_lists_and_functions(collected):
    @njit
    def draw(rng, n=2):
        return rng.normal(size=n).sum()

    @njit
    def f(pair):
        a, k = pair
        both = [a, a]
        total = 0.0
        for rng in both:
            total += draw(rng)

        def inner():
            return a.random() * k
        return total + inner(), both

    ours, theirs = pair(np.random.PCG64, 3)
    total, both = f((ours, 2.0))
    expected = theirs.normal(size=2).sum() + theirs.normal(size=2).sum() + theirs.random() * 2.0
    assert total == expected and both[0] is ours and both[1] is ours


@dataclasses.dataclass(frozen=True)
class Walk:
    rng: np.random.Generator
    step: float


def test_in_a_dataclass(collected):
    @njit
    def f(walk):
        return walk.step * walk.rng.normal(), walk

    ours, theirs = pair(np.random.PCG64, 3)
    walk = Walk(ours, 0.5)
    got = f(walk)
    assert got[0] == 0.5 * theirs.normal() and got[1] == walk


def test_a_compiled_generator_draws(collected):
    @njit
    def numbers(rng, n):
        for _ in range(n):
            yield rng.random()

    theirs = np.random.default_rng(4)
    items = numbers(np.random.default_rng(4), 3)  # holds it
    assert list(items) == [theirs.random() for _ in range(3)]


def test_copies_have_states_of_their_own():
    @njit
    def f(rng):
        return rng.random()

    rng = np.random.default_rng(4)
    f(rng)
    copies = copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))
    first = f(rng)
    assert [f(c) for c in copies] == [first, first]
    other = np.random.Generator(rng.bit_generator)  # one state under two objects
    twin = copy.deepcopy(rng)
    assert [f(rng), f(other), f(rng)] == list(twin.random(3))


def test_it_lives_as_long_as_the_call():
    @njit
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total

    assert f(np.random.default_rng(3), 1000) == pytest.approx(np.random.default_rng(3).random(1000).sum())


def test_a_state_that_is_set():
    @njit
    def f(rng):
        return rng.standard_normal()

    rng = np.random.default_rng(3)
    state = rng.bit_generator.state
    first = f(rng)
    rng.bit_generator.state = state
    assert f(rng) == first


class Derived(np.random.Generator):
    def random(self):
        return 7.0


def test_ERR_what_is_refused():
    @njit
    def f(rng):
        return rng.random()

    with pytest.raises(QuernError, match=r"derived from numpy.random.Generator.*np.random.Generator\(rng.bit_generator\)"):
        f(Derived(np.random.PCG64(1)))
    with pytest.raises(QuernError, match="RandomState"):
        f(np.random.RandomState(1))
    for name in "bit_generator", "spawn", "bytes", "nonsense":
        space = {}
        exec(f"def g(rng):\n return rng.{name}", space)
        with pytest.raises(QuernError, match=f"numpy.random.Generator has no attribute '{name}'"):
            njit(space["g"])(np.random.default_rng())

    rng = np.random.default_rng(1)

    @njit
    def of_global():
        return rng.random()

    with pytest.raises(QuernError):
        of_global()
    with pytest.raises(QuernError):
        njit(lambda r: r + 1)(rng)
    with pytest.raises(QuernError):
        njit(lambda xs: xs[0].random())([rng])
    for draw in njit(lambda r: r.random(dtype=np.int32)), njit(lambda r: r.integers(5, dtype=np.float64)):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            draw(rng)
    with pytest.raises(QuernError, match="kernels draw with cuda.random"):
        quern.cuda.jit(lambda r, a: None)[1, 1](rng, np.zeros(1))


# -- threads ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.PCG64])
def test_THR_a_generator_that_threads_share(kind):
    """Each call has it for itself: together they draw what one thread would."""
    @njit(nogil=True)
    def f(rng, out):
        for i in range(len(out)):
            out[i] = rng.integers(0, 2**40)

    ours, theirs = pair(kind, 11)
    outs = [np.empty(20_000, np.int64) for _ in range(4)]
    f(ours, np.empty(0, np.int64))
    threads = [threading.Thread(target=f, args=(ours, out)) for out in outs]
    for t in threads:
        t.start()
    drawn = ours.integers(0, 2**40, 20_000)  # NumPy waits, too
    for t in threads:
        t.join()
    got = sorted(map(tuple, outs + [drawn]))
    assert got == sorted(map(tuple, theirs.integers(0, 2**40, (5, 20_000))))
    assert same_state(ours, theirs)


def test_THR_two_generators_in_two_orders():
    @njit(nogil=True)
    def f(a, b, n):
        total = 0.0
        for _ in range(n):
            total += a.random() - b.random()
        return total

    a, b = np.random.default_rng(1), np.random.default_rng(2)
    f(a, b, 1)
    threads = [threading.Thread(target=lambda x, y: [f(x, y, 2000) for _ in range(50)], args=pair) for pair in ((a, b), (b, a), (a, a))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)


def test_THR_the_lock_is_given_back():
    @njit
    def f(rng, x):
        if x < 0:
            raise KeyError("x")
        return rng.normal(0.0, x)

    rng = np.random.default_rng(1)
    for x in 1.0, -1.0, np.nan:
        try:
            f(rng, x)
        except KeyError:
            pass
        with pytest.raises(Exception):
            f(rng, "text")
        free = []
        lock = rng.bit_generator.lock
        t = threading.Thread(target=lambda: free.append(lock.acquire(False)) or lock.release())
        t.start()
        t.join()
        assert free == [True]


def test_python_draws_inside_of_a_call():
    """The lock is the thread's own: what a call calls may draw, too."""
    ours, theirs = pair(np.random.PCG64, 8)
    drawn = []

    @njit
    def f(rng):
        a = rng.random()
        with objmode():
            drawn.append(ours.random())
        return a, rng.random()

    first, last = f(ours)
    assert [first] + drawn + [last] == list(theirs.random(3))


def test_ERR_objmode_gets_no_generator():
    @njit
    def f(rng):
        with objmode(b="float64"):
            b = rng.random()
        return b

    with pytest.raises(QuernError, match="objmode.*numpy.random.Generator"):
        f(np.random.default_rng(1))


def test_PAR_loops_that_draw_run_on_one_thread(capsys):
    @njit
    def draw(rng):
        return rng.standard_normal()

    def f(rng, out):
        for i in prange(len(out)):
            out[i] = draw(rng)
        return out

    f = njit(parallel=True)(f)
    ours, theirs = pair(np.random.MT19937, 8)
    assert np.array_equal(f(ours, np.empty(100_000)), theirs.standard_normal(100_000))
    f.parallel_diagnostics()
    assert "runs on one thread: it draws from a numpy.random.Generator" in capsys.readouterr().out


# -- the cache ----------------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
from quern import njit
@njit(cache=True)
def f(rng, n):
    return rng.normal(size=n).sum() + rng.integers(0, 10, n).sum()
rng = np.random.default_rng(3)
print(f(rng, 20), rng.random(), sum(f.stats.cache_hits.values()))
"""


def test_CCH_cached(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": "", "QUERN_CACHE_DIR": str(tmp_path / "cache")}
    runs = [subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, env=environment, check=True).stdout.split()
            for _ in range(2)]
    assert runs[0][:2] == runs[1][:2]
    assert (runs[0][2], runs[1][2]) == ("0", "1")
    theirs = np.random.default_rng(3)
    assert float(runs[0][0]) == pytest.approx(theirs.normal(size=20).sum() + theirs.integers(0, 10, 20).sum())
