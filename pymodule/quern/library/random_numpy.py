"""Random numbers of NumPy's global generator: in compiled code each thread has one of its own.

np.random.seed() of compiled code seeds it; for one seed the numbers are those of NumPy."""

import numpy as np

from . import distributions
from . import random_draws as draws
from . import random_words as words
from .primitives import convert, load, random_double, random_seed, random_word, reshape, store
from .shapes import as_tuple, broadcast_shapes, broadcast_to, copy, ravel, refuse

OURS = 0  # as codegen/random.h numbers them

# -- how many --------------------------------------------------------------------------------------------------


def has_array(args):
    if len(args) == 0:
        return False
    return isinstance(args[0], np.ndarray) or has_array(args[1:])


def shape_of(args):
    if len(args) == 0:
        return ()
    if isinstance(args[0], np.ndarray):
        return broadcast_shapes(args[0].shape, shape_of(args[1:]))
    return shape_of(args[1:])


def lines_of(args, shape):
    if len(args) == 0:
        return ()
    if isinstance(args[0], np.ndarray):
        return (ravel(broadcast_to(args[0], shape)),) + lines_of(args[1:], shape)
    return (args[0],) + lines_of(args[1:], shape)


def numbers_at(lines, i):
    if len(lines) == 0:
        return ()
    return (load(lines[0], i) if isinstance(lines[0], np.ndarray) else lines[0],) + numbers_at(lines[1:], i)


def fill(result, draw, lines):
    line = reshape(result, (result.size,))
    for i in range(len(line)):
        store(line, i, draw(OURS, *numbers_at(lines, i)))
    return result


def drawn(draw, kind, size, args):
    """One number, or as many as there are in `size` or in the arrays among the arguments."""
    if size is None:
        if has_array(args):
            shape = shape_of(args)
            return fill(np.empty(shape, kind), draw, lines_of(args, shape))
        return draw(OURS, *args)
    shape = as_tuple(size)
    return fill(np.empty(shape, kind), draw, lines_of(args, shape))


def reals(draw, size, *args):
    return drawn(draw, np.float64, size, args)


def ints(draw, size, *args):
    return drawn(draw, np.int64, size, args)


def some(wrong):
    """A condition, or an array of them."""
    return wrong.any() if isinstance(wrong, np.ndarray) else wrong


def check(wrong, text):
    if some(wrong):
        raise ValueError(text)


# -- seeds -----------------------------------------------------------------------------------------------------


def seed_words(seed):
    words = np.empty(len(seed), np.uint32)
    for i in range(len(seed)):
        check(seed[i] < 0 or seed[i] > 4294967295, "Seed values must be between 0 and 2**32 - 1")
        words[i] = convert(seed[i], np.uint32)
    return words


def seed(seed=None):
    if seed is None:
        random_seed(OURS, np.zeros(1, np.uint32), -1)
    elif isinstance(seed, (np.ndarray, list, tuple)):
        words = seed_words(seed)
        check(len(words) == 0, "Seed must be non-empty")
        random_seed(OURS, words, len(words) if len(words) > 1 else 0)
    else:
        check(seed < 0 or seed > 4294967295, "Seed must be between 0 and 2**32 - 1")
        random_seed(OURS, np.full(1, convert(seed, np.uint32)), 0)


# -- evenly ----------------------------------------------------------------------------------------------------


def random_sample(size=None):
    return reals(random_double, size)


def rand(*shape):
    return random_double(OURS) if len(shape) == 0 else reals(random_double, shape)


def uniform(low=0.0, high=1.0, size=None):
    width = high - low
    if some(not_finite(width)):
        raise OverflowError("Range exceeds valid bounds")
    return reals(distributions.uniform, size, low, width)


def not_finite(x):
    return np.logical_not(np.isfinite(x))


def is_short(dtype):
    """NumPy draws several of these from one word."""
    return dtype == np.bool_ or dtype == np.int8 or dtype == np.uint8 or dtype == np.int16 or dtype == np.uint16


def of_dtype(numbers, last, dtype):
    if is_short(dtype):
        refuse("compiled code draws ints of 32 and 64 bits: convert them")
    check(convert(convert(last, dtype), np.int64) != last, "high is out of bounds for the dtype")
    return convert(numbers, dtype)


def randint(low, high=None, size=None, dtype=np.int64):
    if high is None:
        check(low <= 0, "high <= 0")
        return randint(0, low, size, dtype)
    check(low >= high, "low >= high")
    numbers = ints(words.between, size, low, high)
    return numbers if dtype == np.int64 else of_dtype(numbers, high - 1, dtype)


def random_integers(low, high=None, size=None):
    return randint(1, low + 1, size) if high is None else randint(low, high + 1, size)


# -- real numbers ----------------------------------------------------------------------------------------------


def normal(loc=0.0, scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(distributions.normal, size, loc, scale)


def standard_normal(size=None):
    return reals(distributions.gauss, size)


def randn(*shape):
    return distributions.gauss(OURS) if len(shape) == 0 else reals(distributions.gauss, shape)


def lognormal(mean=0.0, sigma=1.0, size=None):
    check(sigma < 0, "sigma < 0")
    return reals(draws.lognormal, size, mean, sigma)


def exponential(scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(distributions.exponential, size, scale)


def standard_exponential(size=None):
    return reals(distributions.unit_exponential, size)


def gamma(shape, scale=1.0, size=None):
    check(shape < 0, "shape < 0")
    check(scale < 0, "scale < 0")
    return reals(distributions.gamma, size, shape, scale)


def standard_gamma(shape, size=None):
    check(shape < 0, "shape < 0")
    return reals(distributions.unit_gamma, size, shape)


def beta(a, b, size=None):
    check(a <= 0, "a <= 0")
    check(b <= 0, "b <= 0")
    return reals(draws.beta, size, a, b)


def chisquare(df, size=None):
    check(df <= 0, "df <= 0")
    return reals(distributions.chisquare, size, df)


def noncentral_chisquare(df, nonc, size=None):
    check(df <= 0, "df <= 0")
    check(nonc < 0, "nonc < 0")
    return reals(draws.noncentral_chisquare, size, df, nonc)


def f(dfnum, dfden, size=None):
    check(dfnum <= 0, "dfnum <= 0")
    check(dfden <= 0, "dfden <= 0")
    return reals(draws.f, size, dfnum, dfden)


def noncentral_f(dfnum, dfden, nonc, size=None):
    check(dfnum <= 0, "dfnum <= 0")
    check(dfden <= 0, "dfden <= 0")
    check(nonc < 0, "nonc < 0")
    return reals(draws.noncentral_f, size, dfnum, dfden, nonc)


def standard_t(df, size=None):
    check(df <= 0, "df <= 0")
    return reals(draws.standard_t, size, df)


def standard_cauchy(size=None):
    return reals(draws.cauchy, size)


def pareto(a, size=None):
    check(a <= 0, "a <= 0")
    return reals(draws.pareto, size, a)


def weibull(a, size=None):
    check(a < 0, "a < 0")
    return reals(distributions.weibull, size, a)


def power(a, size=None):
    check(a <= 0, "a <= 0")
    return reals(draws.power, size, a)


def rayleigh(scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(draws.rayleigh, size, scale)


def laplace(loc=0.0, scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(distributions.laplace, size, loc, scale)


def gumbel(loc=0.0, scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(distributions.gumbel, size, loc, scale)


def logistic(loc=0.0, scale=1.0, size=None):
    check(scale < 0, "scale < 0")
    return reals(distributions.logistic, size, loc, scale)


def triangular(left, mode, right, size=None):
    check(left > mode, "left > mode")
    check(mode > right, "mode > right")
    check(left == right, "left == right")
    return reals(draws.triangular, size, left, mode, right)


def wald(mean, scale, size=None):
    check(mean <= 0, "mean <= 0")
    check(scale <= 0, "scale <= 0")
    return reals(draws.wald, size, mean, scale)


def vonmises(mu, kappa, size=None):
    check(kappa < 0, "kappa < 0")
    return reals(draws.vonmises, size, mu, kappa)


# -- counts ----------------------------------------------------------------------------------------------------


def check_part(p):
    check(p < 0, "p < 0")
    check(p > 1, "p > 1")
    check(p != p, "p contains NaNs")


def poisson(lam=1.0, size=None):
    check(lam < 0, "lam < 0 or lam contains NaNs")
    check(lam != lam, "lam < 0 or lam contains NaNs")
    check(lam > 9.223372006484771e18, "lam value too large")
    return ints(distributions.poisson, size, lam)


def binomial(n, p, size=None):
    check(n < 0, "n < 0")
    check_part(p)
    return ints(draws.binomial, size, n, p)


def negative_binomial(n, p, size=None):
    check(n <= 0, "n <= 0")
    check_part(p)
    check(p == 0, "p <= 0")
    return ints(distributions.negative_binomial, size, n, p)


def geometric(p, size=None):
    check(p <= 0, "p <= 0")
    check(p > 1, "p > 1")
    check(p != p, "p contains NaNs")
    return ints(draws.geometric, size, p)


def hypergeometric(ngood, nbad, nsample, size=None):
    check(ngood < 0, "ngood < 0")
    check(nbad < 0, "nbad < 0")
    check(nsample < 1, "nsample < 1")
    check(ngood + nbad < nsample, "ngood + nbad < nsample")
    return ints(draws.hypergeometric, size, ngood, nbad, nsample)


def zipf(a, size=None):
    check(a <= 1, "a <= 1 or a is NaN")
    check(a != a, "a <= 1 or a is NaN")
    return ints(draws.zipf, size, a)


def logseries(p, size=None):
    check(p <= 0, "p <= 0.0")
    check(p >= 1, "p >= 1.0")
    check(p != p, "p contains NaNs")
    return ints(draws.logseries, size, p)


# -- several at once -------------------------------------------------------------------------------------------


def rows_of(size, n, kind):
    """An array of lines of n numbers, and the same as a matrix."""
    return np.empty(as_tuple(size) + (n,) if size is not None else (n,), kind)


def share(line, n, pvals):
    left = n
    rest = 1.0
    line[...] = 0
    for j in range(len(pvals) - 1):
        line[j] = draws.binomial(OURS, left, pvals[j] / rest)
        left -= line[j]
        if left <= 0:
            break
        rest -= pvals[j]
    if left > 0:
        line[len(pvals) - 1] = left


def multinomial(n, pvals, size=None):
    parts = np.asarray(pvals)
    check(n < 0, "n < 0")
    check(np.any(parts < 0) or np.any(parts > 1), "pvals < 0, pvals > 1 or pvals contains NaNs")
    check(parts[:-1].sum() > 1.0 + 1e-12, "sum(pvals[:-1]) > 1.0")
    result = rows_of(size, len(parts), np.int64)
    rows = reshape(result, (result.size // max(len(parts), 1), len(parts)))
    for i in range(len(rows)):
        share(rows[i], n, parts)
    return result


def dirichlet(alpha, size=None):
    alphas = np.asarray(alpha)
    check(np.any(alphas <= 0), "alpha <= 0")
    result = rows_of(size, len(alphas), np.float64)
    rows = reshape(result, (result.size // max(len(alphas), 1), len(alphas)))
    for i in range(len(rows)):
        total = 0.0
        for j in range(len(alphas)):
            rows[i, j] = distributions.unit_gamma(OURS, alphas[j])
            total += rows[i, j]
        inverse = 1 / total
        for j in range(len(alphas)):
            rows[i, j] *= inverse
    return result


# -- order -----------------------------------------------------------------------------------------------------


def place_below(n):
    return convert(words.up_to(OURS, convert(n, np.uint64)), np.int64)


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = place_below(i)
        if isinstance(x, np.ndarray) and x.ndim > 1:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row
        else:
            item = x[i]
            x[i] = x[j]
            x[j] = item


def permutation(x):
    if isinstance(x, (int, np.integer)):
        result = np.arange(x)
        shuffle(result)
        return result
    rows = np.asarray(x)
    if rows.ndim == 1:
        result = copy(rows)
        shuffle(result)
        return result
    order = np.arange(len(rows))
    shuffle(order)
    return rows[order]


def check_parts(p, n):
    check(len(p) != n, "'a' and 'p' must have same size")
    check(np.any(np.isnan(p)), "Probabilities contain NaN")
    check(np.any(p < 0), "Probabilities are not non-negative")
    check(abs(p.sum() - 1.0) > 1.4901161193847656e-08, "Probabilities do not sum to 1. See Notes section of docstring for more information.")


def sums_of(p):
    sums = np.cumsum(p)
    sums /= sums[-1]
    return sums


def distinct_places(p, count):
    """Drawn by their probabilities, those that were found get none, until there are enough."""
    check(np.count_nonzero(p > 0) < count, "Fewer non-zero entries in p than size")
    left = copy(p)
    found = np.zeros(count, np.int64)
    filled = 0
    while filled < count:
        x = random_sample(count - filled)
        if filled > 0:
            left[found[:filled]] = 0
        new = np.searchsorted(sums_of(left), x, side="right")
        first = np.sort(np.unique(new, return_index=True)[1])
        found[filled:filled + len(first)] = new[first]
        filled += len(first)
    return found


def places(n, size, replace, p):
    if size is None:
        if p is None:
            return between_0_and(n)
        return np.searchsorted(sums_of(p), random_double(OURS), side="right")
    shape = as_tuple(size)
    count = counted(shape)
    if replace:
        if p is None:
            return ints(words.between, shape, 0, n)
        return np.searchsorted(sums_of(p), random_sample(shape), side="right")
    check(count > n, "Cannot take a larger sample than population when 'replace=False'")
    if p is None:
        return reshape(permutation(n)[:count].copy(), shape)
    return reshape(distinct_places(p, count), shape)


def counted(shape):
    return 1 if len(shape) == 0 else shape[0] * counted(shape[1:])


def between_0_and(n):
    return words.between(OURS, 0, n)


def choice(a, size=None, replace=True, p=None):
    if isinstance(a, (int, np.integer)):
        check(a <= 0 and (size is None or counted(as_tuple(0 if size is None else size)) > 0), "a must be greater than 0 unless no samples are taken")
        if p is not None:
            check_parts(np.asarray(p), a)
        return places(a, size, replace, None if p is None else np.asarray(p))
    pool = np.asarray(a)
    check(len(pool) == 0, "'a' cannot be empty unless no samples are taken")
    if p is not None:
        check_parts(np.asarray(p), len(pool))
    return pool[places(len(pool), size, replace, None if p is None else np.asarray(p))]


FUNCTIONS = {f"numpy.random.{function.__name__}": function for function in (
    beta, binomial, chisquare, choice, dirichlet, exponential, f, gamma, geometric, gumbel, hypergeometric, laplace, logistic, lognormal,
    logseries, multinomial, negative_binomial, noncentral_chisquare, noncentral_f, normal, pareto, permutation, poisson, power, rand,
    randint, randn, random_integers, random_sample, rayleigh, seed, shuffle, standard_cauchy, standard_exponential, standard_gamma,
    standard_normal, standard_t, triangular, uniform, vonmises, wald, weibull, zipf)}
FUNCTIONS.update({f"numpy.random.{name}": random_sample for name in ("random", "ranf", "sample")})
