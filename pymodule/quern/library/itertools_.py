"""The module itertools: generators. What gives tuples of so many items wants that number as a constant."""

from .iteration import sorted_items
from .primitives import known
from .shapes import refuse


def _refuse_type(text):
    raise TypeError(text)


# -- without end ------------------------------------------------------------------------------------------------------


def count(start=0, step=1):
    x = start
    while True:
        yield x
        x += step


def cycle(iterable):
    kept = []
    for x in iterable:
        kept.append(x)
        yield x
    while len(kept) > 0:
        for x in kept:
            yield x


def _repeat_always(object):
    while True:
        yield object


def _repeat_times(object, times):
    for _ in range(times):
        yield object


def repeat(object, times=None):
    if times is None:
        return _repeat_always(object)
    return _repeat_times(object, times)


# -- one iterable -----------------------------------------------------------------------------------------------------


def _accumulated(iterable, func):
    first = True
    for x in iterable:
        if first:
            total = x
            first = False
        else:
            total = total + x if func is None else func(total, x)
        yield total


def _accumulated_from(iterable, func, initial):
    total = initial
    yield total
    for x in iterable:
        total = total + x if func is None else func(total, x)
        yield total


def accumulate(iterable, func=None, *, initial=None):
    if initial is None:
        return _accumulated(iterable, func)
    return _accumulated_from(iterable, func, initial)


def compress(data, selectors):
    for x, wanted in zip(data, selectors):
        if wanted:
            yield x


def dropwhile(predicate, iterable):
    drops = True
    for x in iterable:
        if drops and predicate(x):
            continue
        drops = False
        yield x


def filterfalse(predicate, iterable):
    for x in iterable:
        if predicate is None:
            if not x:
                yield x
        elif not predicate(x):
            yield x


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            break
        yield x


def _waits(items, key, values, keys):
    """Is there a next item? It waits in `values`, and what stands for it in `keys`."""
    if len(values) == 0:
        for x in items:
            k = x if key is None else key(x)
            values.append(x)
            keys.append(k)
            break
    return len(values) > 0


def _belongs(items, key, values, keys, this, of):
    """Is the next item one of the group? Its first is, even where its key is not equal to itself (nan). It is no more the first then."""
    if not _waits(items, key, values, keys):
        return False
    first = this[1] == 1
    this[1] = 0
    return first or keys[0] == of


def _group(items, key, values, keys, this, number, of):
    """As long as no further group has been asked for."""
    while this[0] == number and _belongs(items, key, values, keys, this, of):
        keys.pop()
        yield values.pop()


def _groups(items, key):
    values = []
    keys = []
    this = [0, 0]  # the number of the group, and whether its first item waits
    while _waits(items, key, values, keys):
        of = keys[0]
        this[0] += 1
        this[1] = 1
        number = this[0]
        yield of, _group(items, key, values, keys, this, number, of)
        this[0] += 1
        while _belongs(items, key, values, keys, this, of):
            keys.pop()
            values.pop()


def groupby(iterable, key=None):
    return _groups(iter(iterable), key)


def _slice(iterable, start, stop, step):
    """stop -1: none. What comes before start is consumed even where stop is less."""
    i = 0
    following = start
    if stop != -1 and stop < start:
        stop = start
    if stop != 0:
        for x in iterable:
            if i == following:
                yield x
                following += step
            i += 1
            if i == stop:
                break


def _bound(x, default, name):
    if x is None:
        return default
    if x < 0:
        refuse(name)
    return x


def islice(iterable, *args):
    """Takes from it what CPython's takes: all up to stop."""
    if len(args) == 0:
        _refuse_type("islice expected at least 2 arguments, got 1")
        return _slice(iterable, 0, 0, 1)
    if len(args) > 3:
        _refuse_type("islice expected at most 4 arguments")
        return _slice(iterable, 0, 0, 1)
    if len(args) == 1:
        return _slice(iterable, 0, _bound(args[0], -1, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."), 1)
    text = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize."
    if len(args) == 2:
        return _slice(iterable, _bound(args[0], 0, text), _bound(args[1], -1, text), 1)
    step = 1 if args[2] is None else args[2]
    if step < 1:
        refuse("Step for islice() must be a positive integer or None.")
    return _slice(iterable, _bound(args[0], 0, text), _bound(args[1], -1, text), step)


def pairwise(iterable):
    first = True
    for x in iterable:
        if first:
            first = False
        else:
            yield before, x
        before = x


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


# -- several ----------------------------------------------------------------------------------------------------------


def _each(iterable):
    for x in iterable:
        yield x


def _two(a, b):
    for x in a:
        yield x
    for x in b:
        yield x


def chain(*iterables):
    if len(iterables) == 0:
        return _each(())
    if len(iterables) == 1:
        return _each(iterables[0])
    if len(iterables) == 2:
        return _two(iterables[0], iterables[1])
    return _two(iterables[0], chain(*iterables[1:]))


def chain_from_iterable(iterable):
    for items in iterable:
        for x in items:
            yield x


def lists_of(iterables):
    if len(iterables) == 0:
        return ()
    return (list(iterables[0]),) + lists_of(iterables[1:])


def _longest(lists):
    if len(lists) == 1:
        return len(lists[0])
    return max(len(lists[0]), _longest(lists[1:]))


def _items_or(lists, i, fill):
    x = lists[0][i] if i < len(lists[0]) else fill
    if len(lists) == 1:
        return (x,)
    return (x,) + _items_or(lists[1:], i, fill)


def _zipped(lists, fill):
    for i in range(_longest(lists)):
        yield _items_or(lists, i, fill)


def zip_longest(*iterables, fillvalue=None):
    if len(iterables) == 0:
        return _each(())
    return _zipped(lists_of(iterables), fillvalue)


def _times(lists, n):
    if n == 0:
        return ()
    return lists + _times(lists, n - 1)


def _combinations_of(lists):
    if len(lists) == 0:
        return 1
    return len(lists[0]) * _combinations_of(lists[1:])


def _at(lists, k):
    """Number k of all, the last list runs first."""
    if len(lists) == 0:
        return ()
    n = len(lists[-1])
    return _at(lists[:-1], k // n) + (lists[-1][k % n],)


def _products(lists):
    for k in range(_combinations_of(lists)):
        yield _at(lists, k)


def product(*iterables, repeat=1):
    if not known(repeat):
        _refuse_type("itertools.product: repeat must be a constant")
    if repeat < 0:
        refuse("repeat argument cannot be negative")
        return _products(())
    return _products(_times(lists_of(iterables), repeat))


def _combinations(pool, r):
    n = len(pool)
    if r <= n:
        indices = list(range(r))
        yield sorted_items(pool, indices, r)
        while True:
            i = r - 1
            while i >= 0 and indices[i] == i + n - r:
                i -= 1
            if i < 0:
                break
            indices[i] += 1
            for j in range(i + 1, r):
                indices[j] = indices[j - 1] + 1
            yield sorted_items(pool, indices, r)


def _combinations_again(pool, r):
    n = len(pool)
    if n > 0 or r == 0:
        indices = [0] * r
        yield sorted_items(pool, indices, r)
        while True:
            i = r - 1
            while i >= 0 and indices[i] == n - 1:
                i -= 1
            if i < 0:
                break
            x = indices[i] + 1
            for j in range(i, r):
                indices[j] = x
            yield sorted_items(pool, indices, r)


def _permutations(pool, r):
    n = len(pool)
    if r <= n:
        indices = list(range(n))
        cycles = list(range(n, n - r, -1))
        yield sorted_items(pool, indices, r)
        while n > 0:
            i = r - 1
            while i >= 0:
                cycles[i] -= 1
                if cycles[i] > 0:
                    break
                x = indices[i]
                for j in range(i, n - 1):
                    indices[j] = indices[j + 1]
                indices[n - 1] = x
                cycles[i] = n - i
                i -= 1
            if i < 0:
                break
            j = n - cycles[i]
            indices[i], indices[j] = indices[j], indices[i]
            yield sorted_items(pool, indices, r)


def _tested(r):
    if not known(r):
        _refuse_type("itertools: the length of the tuples must be a constant")
    if r < 0:
        refuse("r must be non-negative")
    return r


def combinations(iterable, r):
    return _combinations(list(iterable), _tested(r))


def combinations_with_replacement(iterable, r):
    return _combinations_again(list(iterable), _tested(r))


def permutations(iterable, r=None):
    if r is None:
        if not isinstance(iterable, tuple):
            _refuse_type("itertools.permutations: give the length of the tuples as a constant, permutations(xs, 3)")
            return _permutations(list(iterable), 0)
        return _permutations(list(iterable), len(iterable))
    return _permutations(list(iterable), _tested(r))


def itemgetter(item):
    return lambda x: x[item]


FUNCTIONS = {
    "itertools.accumulate": accumulate,
    "itertools.chain": chain,
    "itertools.chain.from_iterable": chain_from_iterable,
    "itertools.combinations": combinations,
    "itertools.combinations_with_replacement": combinations_with_replacement,
    "itertools.compress": compress,
    "itertools.count": count,
    "itertools.cycle": cycle,
    "itertools.dropwhile": dropwhile,
    "itertools.filterfalse": filterfalse,
    "itertools.groupby": groupby,
    "itertools.islice": islice,
    "itertools.pairwise": pairwise,
    "itertools.permutations": permutations,
    "itertools.product": product,
    "itertools.repeat": repeat,
    "itertools.starmap": starmap,
    "itertools.takewhile": takewhile,
    "itertools.zip_longest": zip_longest,
    "operator.itemgetter": itemgetter,
}
