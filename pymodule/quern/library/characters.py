"""What Unicode says of characters, as the running Python knows it: tables that are made when compiled code first asks for one.

A table is one array: for each page of 256 code points the number of its row, then the rows. Most pages are alike. Maps have the distance
to another code point in their rows, or MANY with two or three code points of BITS bits, the first one lowest; those have no more."""

import sys
import unicodedata

import numpy as np

from .primitives import load

PAGES = 0x110000 >> 8
BITS = 20
MANY = 1 << 62


def is_in(table, c):
    """The value of a table, which most are asked as a question."""
    return int(load(table, PAGES + 256 * int(load(table, c >> 8)) + (c & 255)))


def decimal_of(c):
    """The value of a decimal digit, 99 of anything else."""
    return is_in(_tables.DECIMAL, c)


# -- how tables are made, in Python ------------------------------------------------------------------

# Everything else is private or not assigned, of which none of the questions is true and no map knows.
_ASKED = [*range(0x40000), *range(0xE0000, 0xE1000)]


def _table(values, dtype, default=0):
    """Of values by code point of _ASKED."""
    whole = np.full(0x110000, default, dtype)
    whole[_ASKED] = values
    seen = {}
    number = [seen.setdefault(row.tobytes(), len(seen)) for row in whole.reshape(PAGES, 256)]
    return np.concatenate([np.array(number, dtype), np.frombuffer(b"".join(seen), dtype)])


def _asked(question):
    return _table(np.fromiter(map(question, map(chr, _ASKED)), np.uint8, len(_ASKED)), np.uint8)


_CASES = range(1, 0x20000)  # letters with case are in the first two planes


def _cases(before, behind, method):
    """What a method makes of each character between two texts; NUL, which has no case, stands between them."""
    return method("\0".join([before + chr(c) + behind for c in _CASES])).split("\0")


def _is_cased(c):
    return c.islower() or c.istitle()  # of one character: a capital is in title case, too


def _ignorable():
    """A capital sigma at the end of a word looks back through these."""
    sigma, end = "\N{GREEK CAPITAL LETTER SIGMA}", "\N{GREEK SMALL LETTER FINAL SIGMA}"
    values = np.zeros(len(_ASKED), np.uint8)
    for c, seen in zip(_CASES, _cases("A", sigma, str.lower)):
        values[c] = seen[-1] == end and not (_is_cased(chr(c)) and (chr(c) + sigma).lower()[-1] == end)
    values[0x40000:] = [("A" + chr(c) + sigma).lower()[-1] == end for c in range(0xE0000, 0xE1000)]
    return _table(values, np.uint8)


def _mapping(method):
    values = np.zeros(len(_ASKED), np.int64)
    for c, mapped in zip(_CASES, _cases("", "", method)):
        if len(mapped) == 1:
            values[c] = ord(mapped) - c
        else:
            values[c] = MANY + sum(ord(one) << BITS * k for k, one in enumerate(mapped))
    return _table(values, np.int64)


_MAKERS = {
    "ALPHA": lambda: _asked(str.isalpha),
    "ALNUM": lambda: _asked(str.isalnum),
    "CASED": lambda: _asked(_is_cased),
    "CONTINUES": lambda: _asked(lambda c: ("a" + c).isidentifier()),
    "DECIMAL": lambda: _table([unicodedata.decimal(chr(c), 99) for c in _ASKED], np.uint8, 99),
    "DECIMALS": lambda: _asked(str.isdecimal),
    "DIGITS": lambda: _asked(str.isdigit),
    "FOLDED": lambda: _mapping(str.casefold),
    "IGNORABLE": _ignorable,
    "LOWER": lambda: _asked(str.islower),
    "LOWERED": lambda: _mapping(str.lower),
    "NUMERIC": lambda: _asked(str.isnumeric),
    "PRINTABLE": lambda: _asked(str.isprintable),
    "STARTS": lambda: _asked(str.isidentifier),
    "TITLE": lambda: _asked(lambda c: c.istitle() and not c.isupper()),
    "TITLED": lambda: _mapping(str.title),
    "UPPER": lambda: _asked(str.isupper),
    "UPPERED": lambda: _mapping(str.upper),
}


_tables = sys.modules[__name__]


def __getattr__(name):
    if name not in _MAKERS:
        raise AttributeError(name)
    table = _MAKERS[name]()
    table.flags.writeable = False
    globals()[name] = table
    return table
