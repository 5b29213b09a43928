"""The modules heapq and bisect. A heap lies in its list as CPython's does."""

from .lists import append, insert, list_, pop, sort
from .primitives import field, load, refuse_code, store


def _down(heap, first, at):
    """What stands at a place goes up as far as it is less than its parents."""
    items = field(heap, "items")
    item = load(items, at)
    while at > first:
        above = (at - 1) >> 1
        parent = load(items, above)
        if not item < parent:
            break
        store(items, at, parent)
        at = above
    store(items, at, item)


def _up(heap, at):
    """The smaller child goes up until there is none; then what stood at the place finds its own."""
    items = field(heap, "items")
    n = field(heap, "length")
    first = at
    item = load(items, at)
    child = 2 * at + 1
    while child < n:
        if child + 1 < n and not load(items, child) < load(items, child + 1):
            child += 1
        store(items, at, load(items, child))
        at = child
        child = 2 * at + 1
    store(items, at, item)
    _down(heap, first, at)


def _list_only(heap):
    if not isinstance(heap, list):
        refuse_code("heap argument must be a list")


def _count_only(n):
    if not isinstance(n, int):
        refuse_code("First argument 'n' must be an integer")


def _check(heap):
    _list_only(heap)
    if field(heap, "length") == 0:
        raise IndexError("index out of range")


def heappush(heap, item):
    _list_only(heap)
    append(heap, item)
    _down(heap, 0, field(heap, "length") - 1)


def heappop(heap):
    _check(heap)
    last = pop(heap)
    if field(heap, "length") == 0:
        return last
    first = load(field(heap, "items"), 0)
    store(field(heap, "items"), 0, last)
    _up(heap, 0)
    return first


def heapreplace(heap, item):
    _check(heap)
    first = load(field(heap, "items"), 0)
    store(field(heap, "items"), 0, item)
    _up(heap, 0)
    return first


def heappushpop(heap, item):
    _list_only(heap)
    if field(heap, "length") > 0 and load(field(heap, "items"), 0) < item:
        return heapreplace(heap, item)
    return item


def heapify(heap):
    _list_only(heap)
    n = field(heap, "length")
    for i in range(n // 2):
        _up(heap, n // 2 - 1 - i)


def nlargest(n, iterable, key=None):
    _count_only(n)
    out = list_(iterable)
    sort(out, key, True)
    return out[:max(n, 0)]


def nsmallest(n, iterable, key=None):
    _count_only(n)
    out = list_(iterable)
    sort(out, key)
    return out[:max(n, 0)]


# -- bisect


def _check_start(lo):
    if lo < 0:
        raise ValueError("lo must be non-negative")


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    _check_start(lo)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            end = middle
    return lo


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    _check_start(lo)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            end = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a, x, lo=0, hi=None, *, key=None):
    insert(a, bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    insert(a, bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def _merge_two(a, b, key, reverse):
    """Equal items of `a` come first."""
    rest, held = iter(b), []
    for y in rest:
        held.append(y)
        break
    for x in a:
        while held and _comes_before(held[0], x, key, reverse):
            yield held.pop()
            for y in rest:
                held.append(y)
                break
        yield x
    for y in held:
        yield y
    for y in rest:
        yield y


def _comes_before(y, x, key, reverse):
    u, v = (y, x) if key is None else (key(y), key(x))
    return v < u if reverse else u < v


def _each(items):
    for x in items:
        yield x


def merge(*iterables, key=None, reverse=False):
    if len(iterables) == 1:
        return _each(iterables[0])
    if len(iterables) == 2:
        return _merge_two(iterables[0], iterables[1], key, reverse)
    return _merge_two(iterables[0], merge(*iterables[1:], key=key, reverse=reverse), key, reverse)


FUNCTIONS = {
    "bisect.bisect_left": bisect_left,
    "bisect.bisect_right": bisect_right,
    "bisect.insort_left": insort_left,
    "bisect.insort_right": insort_right,
    "heapq.heapify": heapify,
    "heapq.heappop": heappop,
    "heapq.heappush": heappush,
    "heapq.heappushpop": heappushpop,
    "heapq.heapreplace": heapreplace,
    "heapq.merge": merge,
    "heapq.nlargest": nlargest,
    "heapq.nsmallest": nsmallest,
}
