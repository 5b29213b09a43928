"""Methods of tuples, whose items may be of different types: item by item, by recursion."""


def _count(items, value):
    return 0 if len(items) == 0 else int(items[0] == value) + _count(items[1:], value)


def _index(items, at, value, start, stop):
    if len(items) == 0:
        raise ValueError("tuple.index(x): x not in tuple")
    if start <= at < stop and items[0] == value:
        return at
    return _index(items[1:], at + 1, value, start, stop)


def count(self, value):
    return _count(tuple(self), value)


def index(self, value, start=0, stop=9223372036854775807):
    n = len(self)
    first = max(start + n, 0) if start < 0 else start
    last = stop + n if stop < 0 else stop
    return _index(tuple(self), 0, value, first, last)


def _are_ints(values):
    return len(values) == 0 or isinstance(values[0], int) and not isinstance(values[0], bool) and _are_ints(values[1:])


def _is_none(value, name):
    raise ValueError(repr(value) + " is not a valid " + name)


def _one_of(members, values, value, name):
    if len(members) == 0:
        _is_none(value, name)
    elif values[0] == value:
        return members[0]
    else:
        return _one_of(members[1:], values[1:], value, name)


def member_of(members, values, value, name):
    if not _are_ints(values):
        return _one_of(members, values, value, name)
    for k in range(len(values)):
        if values[k] == value:
            return members[k]
    raise ValueError(repr(value) + " is not a valid " + name)


FUNCTIONS = {
    "primitive.member_of": member_of,
    "tuple.count": count,
    "tuple.index": index,
}
