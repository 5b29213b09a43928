"""Questions about the characters of strings, and upper and lower case."""

import numpy as np

from . import characters
from .characters import BITS, MANY, is_in
from .primitives import buffer, field, load, new, store
from .strings import _at, _is_space, _kind_of, _put

CODE = (1 << BITS) - 1

# -- questions ------------------------------------------------------------------------------------


def _all_in(self, table):
    n = field(self, "length")
    for i in range(n):
        if not is_in(table, _at(self, i)):
            return False
    return n > 0


def isalpha(self):
    return _all_in(self, characters.ALPHA)


def isalnum(self):
    return _all_in(self, characters.ALNUM)


def isdecimal(self):
    return _all_in(self, characters.DECIMALS)


def isdigit(self):
    return _all_in(self, characters.DIGITS)


def isnumeric(self):
    return _all_in(self, characters.NUMERIC)


def isprintable(self):
    return field(self, "length") == 0 or _all_in(self, characters.PRINTABLE)


def isspace(self):
    n = field(self, "length")
    for i in range(n):
        if not _is_space(_at(self, i)):
            return False
    return n > 0


def isascii(self):
    for i in range(field(self, "length")):
        if _at(self, i) >= 128:
            return False
    return True


def isidentifier(self):
    n = field(self, "length")
    if n == 0 or not is_in(characters.STARTS, _at(self, 0)):
        return False
    for i in range(1, n):
        if not is_in(characters.CONTINUES, _at(self, i)):
            return False
    return True


def _one_case(self, wanted, other):
    """One letter of the case at least, and none of another."""
    found = False
    for i in range(field(self, "length")):
        c = _at(self, i)
        if is_in(other, c) or is_in(characters.TITLE, c):
            return False
        found = found or is_in(wanted, c) != 0
    return found


def islower(self):
    return _one_case(self, characters.LOWER, characters.UPPER)


def isupper(self):
    return _one_case(self, characters.UPPER, characters.LOWER)


def istitle(self):
    found = False
    inside = False  # of a word
    for i in range(field(self, "length")):
        c = _at(self, i)
        if is_in(characters.UPPER, c) or is_in(characters.TITLE, c):
            if inside:
                return False
            inside = True
            found = True
        elif is_in(characters.LOWER, c):
            if not inside:
                return False
        else:
            inside = False
    return found


# -- mapping --------------------------------------------------------------------------------------


def _is_final(self, at):
    """Does a capital sigma stand at the end of a word there?"""
    i = at - 1
    while i >= 0 and is_in(characters.IGNORABLE, _at(self, i)):
        i -= 1
    if i < 0 or not is_in(characters.CASED, _at(self, i)):
        return False
    n = field(self, "length")
    i = at + 1
    while i < n and is_in(characters.IGNORABLE, _at(self, i)):
        i += 1
    return i == n or not is_in(characters.CASED, _at(self, i))


def _lowered(self, i, c):
    if c == 0x3A3 and _is_final(self, i):
        return 0x3C2 - 0x3A3
    return is_in(characters.LOWERED, c)


def _upper_at(self, i, c, inside):
    return is_in(characters.UPPERED, c)


def _lower_at(self, i, c, inside):
    return _lowered(self, i, c)


def _folded_at(self, i, c, inside):
    return is_in(characters.FOLDED, c)


def _swapped_at(self, i, c, inside):
    if is_in(characters.UPPER, c):
        return _lowered(self, i, c)
    return is_in(characters.UPPERED, c) if is_in(characters.LOWER, c) else 0


def _capital_at(self, i, c, inside):
    return is_in(characters.TITLED, c) if i == 0 else _lowered(self, i, c)


def _title_at(self, i, c, inside):
    return _lowered(self, i, c) if inside else is_in(characters.TITLED, c)


def _never(c):
    return False


def _is_cased(c):
    return is_in(characters.CASED, c) != 0


def _size(way):
    """How many code points it is."""
    return 1 if way < MANY else 3 if way >> 2 * BITS & CODE else 2


def _part_of(way, k, c):
    return c + way if way < MANY else way >> k * BITS & CODE


def _mapped(self, find, cased):
    """What `find` says of each character: a distance, or several code points."""
    length = 0
    widest = 0
    inside = False
    for i in range(field(self, "length")):
        c = _at(self, i)
        way = find(self, i, c, inside)
        n = _size(way)
        for k in range(n):
            widest = max(widest, _part_of(way, k, c))
        length += n
        inside = cased(c)
    kind = _kind_of(widest)
    data = buffer(np.uint8, length * kind)
    at = 0
    inside = False
    for i in range(field(self, "length")):
        c = _at(self, i)
        way = find(self, i, c, inside)
        for k in range(_size(way)):
            _put(data, kind, at, _part_of(way, k, c))
            at += 1
        inside = cased(c)
    return new("str", length, kind, -1, data)


def _flipped(self, first):
    """Of ASCII: the letters from `first` on in the other case."""
    n = field(self, "length")
    data = buffer(np.uint8, n)
    source = field(self, "data")
    for i in range(n):
        c = int(load(source, i))
        store(data, i, c ^ 32 if first <= c < first + 26 else c)
    return new("str", n, 1, -1, data)


def _is_narrow_ascii(self):
    return field(self, "kind") == 1 and isascii(self)


def upper(self):
    if _is_narrow_ascii(self):
        return _flipped(self, 97)
    return _mapped(self, _upper_at, _never)


def lower(self):
    if _is_narrow_ascii(self):
        return _flipped(self, 65)
    return _mapped(self, _lower_at, _never)


def casefold(self):
    return _mapped(self, _folded_at, _never)


def swapcase(self):
    return _mapped(self, _swapped_at, _never)


def capitalize(self):
    return _mapped(self, _capital_at, _never)


def title(self):
    return _mapped(self, _title_at, _is_cased)


FUNCTIONS = {
    "str.capitalize": capitalize,
    "str.casefold": casefold,
    "str.isalnum": isalnum,
    "str.isalpha": isalpha,
    "str.isascii": isascii,
    "str.isdecimal": isdecimal,
    "str.isdigit": isdigit,
    "str.isidentifier": isidentifier,
    "str.islower": islower,
    "str.isnumeric": isnumeric,
    "str.isprintable": isprintable,
    "str.isspace": isspace,
    "str.istitle": istitle,
    "str.isupper": isupper,
    "str.lower": lower,
    "str.swapcase": swapcase,
    "str.title": title,
    "str.upper": upper,
}
