"""Random numbers in compiled code (FEATURES B05, N13): bit by bit those of NumPy's RandomState and of CPython's `random` for one seed."""
import os
import random
import threading

import numpy as np
import pytest

import quern
from quern import njit, prange
from quern.errors import QuernError
from objects import MEM_01_nothing_is_left, collected  # noqa: F401

SEEDS = 0, 1, 12345, 2**32 - 1

# -- numpy.random -----------------------------------------------------------------------------------------------

NUMPY = """random() rand() rand(3) rand(2,3) randn() randn(4) random_sample(5) ranf() sample((2,3)) uniform() uniform(2.0,5.0) uniform(x,1,(2,2))
normal() normal(3.0,2.0,7) standard_normal(3) lognormal(0.5,0.3,50) exponential(2.0) exponential(2.0,100) standard_exponential(5)
gamma(x,2.0,50) gamma(3.5,1.0,50) gamma(1.0) gamma(0.0,1.0,3) standard_gamma(2.0,5) beta(x,0.5,50) beta(2.0,3.0,50) beta(x*0.1,x*0.2,50) chisquare(3.0,10)
noncentral_chisquare(3.0,2.0,20) noncentral_chisquare(0.5,2.0,20) noncentral_chisquare(0.5,0.0,20) f(3.0,4.0,20) noncentral_f(3.0,4.0,1.5,20)
standard_t(4.0,20) standard_cauchy(20) pareto(3.0,50) weibull(1.0+x,50) weibull(0.0) power(3.0,50) rayleigh(2.0,50) laplace(1.0,2.0,50)
gumbel(1.0,2.0,50) logistic(1.0,2.0,50) triangular(1.0,2.0,4.0,50) wald(1.0,2.0,50) vonmises(1.0,2.0,50) vonmises(-3.0,x,50) vonmises(0.0,1e-9,5)
poisson(3.0,50) poisson(30.0,500) poisson(0.0) poisson(1e9,50) binomial(10,0.3,50) binomial(10,0.8,50) binomial(1000,0.3,500)
binomial(1000,0.7,500) binomial(100000,0.5,500) binomial(0,0.5) binomial(5,0.0) binomial(5,1.0) negative_binomial(5,0.3,50) geometric(0.5,50) geometric(0.1,50)
hypergeometric(10,20,8,50) hypergeometric(20,10,8,50) hypergeometric(100,200,50,200) hypergeometric(200,100,250,200) zipf(2.5,50)
logseries(0.6,50) logseries(0.999,50) randint(10) randint(5,10) randint(0,100,20) randint(3,size=4) randint(0,2**32,20) randint(0,2**40,20) randint(-5,5,(3,4))
randint(-2**63,2**63-1,9) randint(7,8) randint(0,100,9,np.int32) randint(5,dtype=np.uint32) randint(0,2**40,9,np.uint64) randint(9,size=3,dtype=np.int64) multinomial(20,np.array([0.2,0.3,0.5])) multinomial(20,[0.2,0.3,0.5],4)
dirichlet(np.array([1.0,2.0,3.0])) dirichlet(np.array([1.0,2.0,3.0]),3) permutation(10) permutation(np.arange(7.0))
permutation(np.arange(12).reshape(4,3)) choice(5) choice(5,3) choice(10,4,False) choice(np.arange(5.0),(2,3)) choice(np.arange(3.0))
choice(4,10,True,np.array([0.1,0.2,0.3,0.4])) choice(6,4,False,np.array([0.1,0.2,0.3,0.2,0.1,0.1])) choice([7,8,9],2)
normal(np.arange(3.0),np.ones(3)) uniform(np.zeros((2,1)),np.arange(1.0,4.0)) poisson(np.array([1.0,20.0,3.0]))
binomial(np.array([5,10]),0.5,(3,2)) exponential(size=4)""".split()


def equal(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return not isinstance(b, np.ndarray) and a == b


@pytest.mark.parametrize("call", NUMPY)
def test_numbers_of_numpy(call):
    space = {"np": np}
    exec(f"def f(s, x):\n np.random.seed(s)\n a = np.random.{call}\n return a, np.random.random(), np.random.normal()", space)
    compiled = njit(space["f"])
    for seed in SEEDS:
        expected, got = space["f"](seed, 0.3), compiled(seed, 0.3)
        assert equal(expected[0], got[0]), (seed, expected[0], got[0])
        assert expected[1:] == got[1:]  # as many words were drawn, and what is kept is kept


def test_seeds_of_several_words():
    @njit
    def f(words):
        np.random.seed(words)
        return np.random.random(), np.random.randint(0, 2**60)

    for words in np.array([1, 2, 3]), np.arange(700, dtype=np.uint32), np.array([5], np.int64):
        np.random.seed(words)
        assert f(words) == (np.random.random(), np.random.randint(0, 2**60))


@pytest.mark.parametrize("call, text", [
    ("seed(-1)", "Seed must be between"), ("seed(2**32)", "Seed must be between"), ("seed(int(x))", "Seed must be"), ("normal(0.0, x)", "scale < 0"),
    ("gamma(x)", "shape < 0"), ("beta(1.0, 0.0)", "b <= 0"), ("poisson(x)", "lam < 0"), ("poisson(np.nan)", "lam < 0"),
    ("binomial(5, 1.5)", "p > 1"), ("binomial(-5, 0.5)", "n < 0"), ("randint(5, 5)", "low >= high"), ("randint(0)", "high <= 0"), ("randint(0, 2**40, 3, np.int32)", "high is out of bounds"),
    ("choice(3, 4, False)", "larger sample"), ("choice(np.zeros(0))", "'a' cannot be empty"), ("choice(2, p=np.array([0.5, 0.6]))", "sum to 1"),
    ("choice(2, p=np.array([0.5, 0.2, 0.3]))", "same size"), ("choice(3, 3, False, np.array([0.5, 0.5, 0.0]))", "Fewer non-zero"),
    ("triangular(3.0, 2.0, 4.0)", "left > mode"), ("multinomial(5, [0.8, 0.8, 0.1])", "sum"), ("hypergeometric(1, 1, 3)", "nsample"),
    ("zipf(1.0)", "a <= 1"), ("logseries(1.0)", "p >= 1"), ("geometric(0.0)", "p <= 0"), ("normal(np.zeros(2), np.array([1.0, -1.0]))", "scale < 0")])
def test_ERR_what_numpy_refuses(call, text):
    space = {"np": np}
    exec(f"def f(x):\n a = np.random.{call}\n return 0", space)
    for function in space["f"], njit(space["f"]):
        with pytest.raises(ValueError, match=text):
            function(-1.0)


def test_a_range_that_is_not_finite():
    @njit
    def f(low, high):
        return np.random.uniform(low, high)

    for high in np.inf, np.nan:
        with pytest.raises(OverflowError, match="Range exceeds"):
            f(0.0, high)


def test_shuffled_in_place(collected):
    @njit
    def f(a, rows, words):
        np.random.seed(3)
        np.random.shuffle(a)
        np.random.shuffle(rows)
        np.random.shuffle(words)
        listed = [1.5, 2.5, 3.5, 4.5]
        np.random.shuffle(listed)
        return listed, np.random.random()

    a, rows, words = np.arange(9), np.arange(12).reshape(4, 3).copy(), ["a", "bb", "ccc"]
    got = f(a, rows, words)
    np.random.seed(3)
    for x, expected in (a, np.arange(9)), (rows, np.arange(12).reshape(4, 3).copy()), (words, ["a", "bb", "ccc"]):
        np.random.shuffle(expected)
        assert np.array_equal(x, expected)
    listed = [1.5, 2.5, 3.5, 4.5]
    np.random.shuffle(listed)
    assert got == (listed, np.random.random())


# -- random ------------------------------------------------------------------------------------------------------

PYTHON = """random() uniform(2.0,5.0) uniform(x,1) triangular() triangular(1.0,4.0,2.0) triangular(1,5) triangular(2.0,2.0) normalvariate(1.0,2.0)
gauss(1.0,2.0) lognormvariate(0.0,0.5) expovariate(2.0) vonmisesvariate(1.0,2.0) vonmisesvariate(1.0,1e-7) gammavariate(x,2.0)
gammavariate(1.0,2.0) gammavariate(3.5,2.0) betavariate(2.0,3.0) paretovariate(3.0) weibullvariate(1.0,1.0+x) randrange(10)
randrange(3,100) randrange(3,100,7) randrange(100,3,-7) randrange(2**40) randint(-5,5) getrandbits(5) getrandbits(32) getrandbits(50)
getrandbits(64) getrandbits(0) choice([1,2,3]) choice((4,5,6)) choice(np.arange(5))""".split()


@pytest.mark.parametrize("call", PYTHON)
def test_numbers_of_random(call):
    space = {"np": np, "random": random}
    exec(f"def f(s, x):\n random.seed(s)\n l = [random.{call}]\n for i in range(200):\n  l.append(random.{call})\n"
         " y = [1,2,3,4,5,6]\n random.shuffle(y)\n return l, random.random(), y, random.gauss(0.0, 1.0)", space)
    compiled = njit(space["f"])
    for seed in SEEDS + (-7, 2**40 + 5):
        assert space["f"](seed, 0.3) == compiled(seed, 0.3)


@pytest.mark.parametrize("call, error", [
    ("randint(3, 2)", ValueError), ("randrange(0)", ValueError), ("randrange(1, 5, 0)", ValueError), ("getrandbits(-1)", ValueError),
    ("choice(np.zeros(0))", IndexError), ("gammavariate(-1.0, 1.0)", ValueError)])
def test_ERR_what_random_refuses(call, error):
    space = {"np": np, "random": random}
    exec(f"def f():\n return random.{call}", space)
    for function in space["f"], njit(space["f"]):
        with pytest.raises(error):
            function()


# -- whose generator ---------------------------------------------------------------------------------------------


def test_the_interpreters_generators_are_others():
    @njit
    def f(seed):
        np.random.seed(seed)
        random.seed(seed)
        return np.random.random(), random.random(), np.random.normal(), random.gauss(0.0, 1.0)

    np.random.seed(1)
    random.seed(1)
    expected = np.random.random(), random.random()
    np.random.seed(1)
    random.seed(1)
    f(99)
    assert (np.random.random(), random.random()) == expected


def test_each_thread_has_its_own():
    @njit
    def seed(n):
        np.random.seed(n)

    @njit
    def draw(n):
        return np.random.rand(n)

    seed(5)
    first, others = draw(3), []

    def work():
        others.append(draw(3))
        seed(5)
        others.append(draw(3))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not np.array_equal(others[0], first)  # seeded by the system
    assert np.array_equal(others[1], first)
    seed(5)
    assert np.array_equal(draw(3), first)


def test_parallel_loops_draw_different_numbers():
    @njit(parallel=True)
    def f(n):
        a = np.empty(n)
        for i in prange(n):
            a[i] = np.random.random()
        return a

    a = f(20000)
    assert len(np.unique(a)) == 20000 and 0.48 < a.mean() < 0.52


def test_R_a_child_does_not_repeat_its_parent():
    @njit
    def f():
        return np.random.random(), random.random()

    f()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, repr(f()).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    ours = f()
    theirs = eval(os.read(reader, 1000))
    os.close(reader)
    os.close(writer)
    assert theirs[0] != ours[0] and theirs[1] != ours[1]


def test_without_a_seed_no_two_are_alike():
    @njit
    def f():
        np.random.seed()
        random.seed()
        return np.random.random(), random.random()

    seen = {x for _ in range(20) for x in f()}
    assert len(seen) == 40


def test_generators_of_users_are_refused():
    state, other = np.random.RandomState(3), random.Random(3)
    normal, gauss = state.normal, other.gauss
    for source in (lambda: normal(), lambda: gauss(0.0, 1.0)):
        with pytest.raises(QuernError):
            njit(source)()


def test_distributions_by_moments():
    """That the system's seeds give such numbers too: a thousand times the standard error is not forgiven."""
    @njit
    def f(n):
        np.random.seed()
        a = np.random.normal(2.0, 3.0, n)
        b = np.random.poisson(30.0, n)
        return a.mean(), a.std(), b.mean(), b.var()

    n = 200000
    mean, spread, count, variance = f(n)
    assert abs(mean - 2) < 0.05 and abs(spread - 3) < 0.05 and abs(count - 30) < 0.1 and abs(variance - 30) < 0.8


def test_kernels_have_no_generator(device):
    @quern.cuda.jit
    def k(a):
        a[0] = np.random.random()

    if device == "cpu":
        pytest.skip("the cpu device has the host's library")
    with pytest.raises(QuernError, match="random"):
        k[1, 1](np.zeros(1))


def test_functions_that_name_an_inner_module_are_those_of_the_outer_one(monkeypatch):
    """NumPy before 2.2 says numpy.random.mtrand of np.random.seed."""
    monkeypatch.setattr(np.random.seed, "__module__", "numpy.random.mtrand")

    @njit
    def draw(s):
        np.random.seed(s)
        return np.random.random()

    expected = np.random.RandomState(7).random_sample()
    assert draw(7) == expected
