"""Text with places for values: "%d of %s" % (n, name) and "{} of {:>5}".format(n, name).

A template is read while the program runs; what can be done with a value, its type decides before."""

import numpy as np

from . import formatting, strings
from .primitives import field
from .strings import _at, _char, _part

NONE = -1  # a part that is not there

# -- "..." % values -----------------------------------------------------------------------------------


def _literal(s, at):
    """The text up to the next conversion, and where that begins behind its %; -1: there is none."""
    n = field(s, "length")
    text = ""
    while True:
        first = at
        while at < n and _at(s, at) != 37:
            at += 1
        text = text + _part(s, first, at - first)
        if at == n:
            return text, -1
        at += 1
        if at == n:
            raise ValueError("incomplete format")
        if _at(s, at) != 37:
            return text, at
        text = text + "%"
        at += 1


def _number(s, at):
    """An int, NONE where there is none, and where it ends."""
    if at < field(s, "length") and _at(s, at) == 42:
        raise ValueError("in compiled code widths and precisions of a format are not *")
    return formatting._number_at(s, at)


def _conversion(s, at):
    """left, sign, zeros, #, width, precision, letter, where it ends"""
    n = field(s, "length")
    left = False
    sign = NONE
    zeros = False
    alternate = False
    if _at(s, at) == 40:
        raise TypeError("format requires a mapping")
    while at < n:
        c = _at(s, at)
        if c == 45:
            left = True
        elif c == 43:
            sign = 43
        elif c == 32:
            sign = 32 if sign == NONE else sign
        elif c == 48:
            zeros = True
        elif c == 35:
            alternate = True
        else:
            break
        at += 1
    width, at = _number(s, at)
    precision = NONE
    if at < n and _at(s, at) == 46:
        precision, at = _number(s, at + 1)
        precision = max(precision, 0)
    if at < n and (_at(s, at) == 104 or _at(s, at) == 108 or _at(s, at) == 76):  # one h, l or L means nothing
        at += 1
    if at == n:
        raise ValueError("incomplete format")
    return left, sign, zeros, alternate, max(width, 0), precision, _at(s, at), at + 1


def _laid_out(head, body, left, zeros, width):
    room = max(width - field(head, "length") - field(body, "length"), 0)
    if left:
        return formatting._assembled(head, body, "", 32, 0, 0, room)
    if zeros:
        return formatting._assembled(head, body, "", 48, 0, room, 0)
    return formatting._assembled(head, body, "", 32, room, 0, 0)


def _is_int_letter(c):
    return c == 100 or c == 105 or c == 117 or c == 111 or c == 120 or c == 88


def _is_float_letter(c):
    return (101 <= c <= 103) or (69 <= c <= 71)


def _int_text(n, letter, left, sign, zeros, alternate, width, precision):
    base = 8 if letter == 111 else 16 if letter == 120 or letter == 88 else 10
    digits = formatting._digits(formatting._magnitude(n), base, letter == 88)
    if field(digits, "length") < precision:
        digits = strings.zfill(digits, precision)
    head = formatting._sign_text(n < 0, sign)
    if alternate and base != 10:
        head = head + "0" + _char(letter)
    return _laid_out(head, digits, left, zeros, width)


def _float_text(x, letter, left, sign, zeros, alternate, width, precision):
    digits = formatting._float_digits(x, letter, 6 if precision == NONE else precision, alternate, False)
    return _laid_out(formatting._sign_text(formatting._is_negative(x), sign), digits, left, zeros, width)


def _name(value):
    if isinstance(value, str):
        return "str"
    if isinstance(value, complex):
        return "complex"
    if value is None:
        return "NoneType"
    if isinstance(value, list):
        return "list"
    return "float"


def _as_number(value, letter, left, sign, zeros, alternate, width, precision):
    if isinstance(value, int):
        if _is_float_letter(letter):
            return _float_text(float(value), letter, left, sign, zeros, alternate, width, precision)
        return _int_text(int(value), letter, left, sign, zeros, alternate, width, precision)
    if isinstance(value, (float, np.float32)):
        x = float(value)
        if _is_float_letter(letter):
            return _float_text(x, letter, left, sign, zeros, alternate, width, precision)
        if letter == 100 or letter == 105 or letter == 117:
            if x != x:
                raise ValueError("cannot convert float NaN to integer")
            if not -9.3e18 < x < 9.3e18:
                raise OverflowError("cannot convert float infinity to integer" if x - x != 0.0 else "int too large to convert")
            return _int_text(int(x), letter, left, sign, zeros, alternate, width, precision)
    _no_number(letter, _name(value))
    return ""


def _no_number(letter, name):
    if _is_float_letter(letter):
        raise TypeError("must be real number, not " + name)
    if letter == 100 or letter == 105 or letter == 117:
        raise TypeError("%" + _char(letter) + " format: a real number is required, not " + name)
    raise TypeError("%" + _char(letter) + " format: an integer is required, not " + name)


def _no_character():
    raise TypeError("%c requires int or char")


def _as_character(value):
    if isinstance(value, str):
        if field(value, "length") == 1:
            return value
    elif isinstance(value, int):
        if value < 0 or value > 0x10FFFF:
            raise OverflowError("%c arg not in range(0x110000)")
        return _char(value)
    _no_character()
    return ""


def _converted(s, at, value):
    """The text of one value, and where the conversion ends."""
    left, sign, zeros, alternate, width, precision, letter, end = _conversion(s, at)
    if _is_int_letter(letter) or _is_float_letter(letter):
        return _as_number(value, letter, left, sign, zeros, alternate, width, precision), end
    if letter == 99:
        return _laid_out("", _as_character(value), left, False, width), end
    if letter != 115 and letter != 114 and letter != 97:
        raise ValueError("unsupported format character '" + _char(letter) + "' (0x" + formatting._digits(formatting._magnitude(letter), 16, False)
                         + ") at index " + formatting._int_text(end - 1))
    text = formatting.str_(value) if letter == 115 else formatting.repr_(value) if letter == 114 else formatting.ascii_(value)
    if precision != NONE and precision < field(text, "length"):
        text = _part(text, 0, precision)
    return _laid_out("", text, left, False, width), end


def _filled(s, at, values):
    text, here = _literal(s, at)
    if len(values) == 0:
        if here >= 0:
            _conversion(s, here)
            raise TypeError("not enough arguments for format string")
        return text
    if here < 0:
        raise TypeError("not all arguments converted during string formatting")
    one, end = _converted(s, here, values[0])
    return text + one + _filled(s, end, values[1:])


def mod(self, values):
    if isinstance(values, tuple):
        return _filled(self, 0, values)
    return _filled(self, 0, (values,))


# -- "...".format(values) -------------------------------------------------------------------------------


def _plain(s, at):
    """The text up to the next place for a value, and where that begins behind its brace; -1: there is none."""
    n = field(s, "length")
    text = ""
    while True:
        first = at
        while at < n and _at(s, at) != 123 and _at(s, at) != 125:
            at += 1
        text = text + _part(s, first, at - first)
        if at == n:
            return text, -1
        c = _at(s, at)
        at += 1
        if at < n and _at(s, at) == c:
            text = text + _char(c)
            at += 1
        elif c == 125:
            raise ValueError("Single '}' encountered in format string")
        elif at == n:
            raise ValueError("Single '{' encountered in format string")
        else:
            return text, at


def _end_of(s, at):
    """Of a place: the brace that closes it."""
    n = field(s, "length")
    while at < n and _at(s, at) != 125:
        if _at(s, at) == 123:
            raise ValueError("in compiled code the places of a format are not nested")
        at += 1
    if at == n:
        raise ValueError("expected '}' before end of string")
    return at


def _no_name(name):
    raise KeyError(name)


def _number_of_name(name, names, number):
    """Of the value with that name, the first of which has this number."""
    if len(names) == 0:
        _no_name(name)
        return 0
    if names[0] == name:
        return number
    return _number_of_name(name, names[1:], number + 1)


def _number_of(s, at, end, automatic, unnamed, names):
    """Of the value of a place, -1 without one; where it ends; is it one with a name?"""
    number, behind = formatting._number_at(s, at)
    if behind < end and _at(s, behind) != 33 and _at(s, behind) != 58:
        while behind < end and _at(s, behind) != 33 and _at(s, behind) != 58:
            behind += 1
        name = _part(s, at, behind - at)
        if number == NONE and "." not in name and "[" not in name:
            return _number_of_name(name, names, unnamed), behind, True
        raise ValueError("in compiled code the places of a format name no parts of values")
    if number == NONE and automatic < 0:
        raise ValueError("cannot switch from manual field specification to automatic field numbering")
    if number != NONE and automatic > 0:
        raise ValueError("cannot switch from automatic field numbering to manual field specification")
    return number, behind, False


def _letter_of(s, at, end):
    """r, s or a behind !, NONE without one; where it ends."""
    if at == end or _at(s, at) != 33:
        return NONE, at
    if at + 1 == end:
        raise ValueError("unmatched '{' in format spec")
    letter = _at(s, at + 1)
    if at + 2 < end and _at(s, at + 2) != 58:
        raise ValueError("expected ':' after conversion specifier")
    if letter != 114 and letter != 115 and letter != 97:
        raise ValueError("Unknown conversion specifier " + _char(letter))
    return letter, at + 2


def _shown(value, letter, spec):
    if letter == 114:
        return formatting.format_(formatting.repr_(value), spec)
    if letter == 97:
        return formatting.format_(formatting.ascii_(value), spec)
    if letter == 115:
        return formatting.format_(formatting.str_(value), spec)
    return formatting.format_(value, spec)


def _no_value(number):
    raise IndexError("Replacement index " + formatting._int_text(number) + " out of range for positional args tuple")


def _of_number(values, number, whole, letter, spec):
    """The text of value number `number` of those that are left; `whole`: which was asked for."""
    if len(values) == 0:
        _no_value(whole)
        return ""
    if number == 0:
        return _shown(values[0], letter, spec)
    return _of_number(values[1:], number - 1, whole, letter, spec)


def format_(self, *args):
    return format_named(self, len(args), (), *args)


def format_named(self, unnamed, names, *args):
    """The last of the values have these names."""
    parts = [self]
    parts.clear()
    at = 0
    automatic = 0  # how many places had no number; -1: one had
    while True:
        text, at = _plain(self, at)
        parts.append(text)
        if at < 0:
            return "".join(parts)
        end = _end_of(self, at)
        number, behind, named = _number_of(self, at, end, automatic, unnamed, names)
        letter, behind = _letter_of(self, behind, end)
        spec = _part(self, behind + 1, end - behind - 1) if behind < end else ""
        if not named:
            if number == NONE:
                number = automatic
                automatic += 1
            else:
                automatic = -1
            if number >= unnamed:
                _no_value(number)
        parts.append(_of_number(args, number, number, letter, spec))
        at = end + 1


FUNCTIONS = {"str.__mod__": mod, "str.format": format_, "str.format_named": format_named}
