"""Text of numbers, and numbers of text: str(), repr(), ascii(), format() with Python's specifications, int() and float()."""

import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from . import characters, octets
from .exceptions import copied_text
from .primitives import (array_text, buffer, dtype_text, field, fields, load, maker_text, move, new, present, refuse_code, store, text_digits, text_number,
                         text_print)
from .strings import _at, _char, _copy, _find_code, _first_kept, _kind_of, _last_kept, _part, _put

# -- ints -----------------------------------------------------------------------------------------


def _magnitude(n):
    m = np.uint64(n)
    return np.uint64(0) - m if n < 0 else m


def _digits(m, base, upper):
    """Of a uint64."""
    data = buffer(np.uint8, 64)
    at = 64
    b = np.uint64(base)
    while True:
        q = m // b
        d = int(m - q * b)
        at -= 1
        store(data, at, d + 48 if d < 10 else d + (55 if upper else 87))
        m = q
        if m == np.uint64(0):
            break
    out = buffer(np.uint8, 64 - at)
    move(out, 0, data, at, 64 - at)
    return new("str", 64 - at, 1, -1, out)


def _int_text(n):
    data = buffer(np.uint8, 24)
    m = _magnitude(n)
    at = 24
    while True:
        q = m // np.uint64(10)
        at -= 1
        store(data, at, int(m - q * np.uint64(10)) + 48)
        m = q
        if m == np.uint64(0):
            break
    if n < 0:
        at -= 1
        store(data, at, 45)
    out = buffer(np.uint8, 24 - at)
    move(out, 0, data, at, 24 - at)
    return new("str", 24 - at, 1, -1, out)


def _based(n, prefix, base):
    if not isinstance(n, int):
        refuse_code("bin(), hex() and oct() are of ints")
    text = prefix + _digits(_magnitude(int(n)), base, False)
    return "-" + text if n < 0 else text


def bin_(number):
    return _based(number, "0b", 2)


def hex_(number):
    return _based(number, "0x", 16)


def oct_(number):
    return _based(number, "0o", 8)


# -- floats ---------------------------------------------------------------------------------------

SHORTEST, SHORTEST_OF_FLOAT32, SIGNIFICANT, BEHIND_POINT = 0, 1, 2, 3


def _write_exponent(data, at, exponent, letter):
    """At least two digits. Behind it."""
    store(data, at, letter)
    store(data, at + 1, 45 if exponent < 0 else 43)
    e = -exponent if exponent < 0 else exponent
    at += 2
    if e >= 100:
        store(data, at, e // 100 + 48)
        at += 1
    store(data, at, e // 10 % 10 + 48)
    store(data, at + 1, e % 10 + 48)
    return at + 2


def _not_finite(x, upper):
    if x != x:
        return "NAN" if upper else "nan"
    return "INF" if upper else "inf"


def _float_digits(x, type, precision, alternate, dot):
    """The number without its sign, in the way of Python's 'e', 'f', 'g' or 'r'; `dot`: a fraction at least where there is no exponent."""
    upper = type < 97 and type != 82
    kind = type + 32 if upper else type
    if x != x or x - x != 0.0:
        return _not_finite(x, upper)
    x = abs(x)
    mode = SIGNIFICANT
    n = precision
    if kind == 101:  # e
        n = precision + 1
    elif kind == 102:  # f
        mode = BEHIND_POINT
    elif kind == 103:  # g
        n = max(precision, 1)
    else:
        mode = SHORTEST_OF_FLOAT32 if type == 82 else SHORTEST
    digits = buffer(np.uint8, n + 400)
    found = text_digits(float(x), mode, n, digits)
    count = found & 0xFFFFFFFF
    point = (found >> 32) - 100000
    exponent = 0
    scientific = kind == 101
    last = count
    if kind == 102 or kind == 101:
        last = point + precision if kind == 102 else n
    elif kind == 103:
        scientific = point <= -4 or point > n - (1 if dot else 0)
        last = n if alternate else count
    else:
        scientific = point <= -4 or point > 16
    if scientific:
        exponent = point - 1
        point = 1
    first = point - 1 if point <= 0 else 0
    last = max(last, point + 1 if dot and not scientific else point)
    data = buffer(np.uint8, last - first + 8)
    at = 0
    for i in range(first, last):
        if i == point:
            store(data, at, 46)
            at += 1
        store(data, at, load(digits, i) if 0 <= i < count else 48)
        at += 1
    if alternate and last == point:
        store(data, at, 46)
        at += 1
    if scientific:
        at = _write_exponent(data, at, exponent, 69 if upper else 101)
    return new("str", at, 1, -1, data)


def _is_negative(x):
    return x == x and math.copysign(1.0, x) < 0.0


def _float_text(x, dot):
    text = _float_digits(x, 82 if isinstance(x, np.float32) else 114, 0, False, dot)
    return "-" + text if _is_negative(x) else text


def _complex_text(z):
    imaginary = _float_text(z.imag, False) + "j"
    if z.real == 0.0 and not _is_negative(z.real):
        return imaginary
    plus = "" if _is_negative(z.imag) else "+"
    return "(" + _float_text(z.real, False) + plus + imaginary + ")"


# -- str and repr ---------------------------------------------------------------------------------


def _escape_length(c, quote, ascii):
    if c == quote or c == 92 or c == 9 or c == 10 or c == 13:
        return 2
    if c < 32 or c == 127:
        return 4
    if c < 127:
        return 1
    if not ascii and characters.is_in(characters.PRINTABLE, c):
        return 1
    return 4 if c < 256 else 6 if c < 65536 else 10


def _hex(data, kind, at, c, n):
    for k in range(n):
        d = c >> 4 * (n - 1 - k) & 15
        _put(data, kind, at + k, d + 48 if d < 10 else d + 87)


def _put_escape(data, kind, at, c, length):
    if length == 1:
        _put(data, kind, at, c)
        return
    _put(data, kind, at, 92)
    if length == 2:
        _put(data, kind, at + 1, 116 if c == 9 else 110 if c == 10 else 114 if c == 13 else c)
        return
    _put(data, kind, at + 1, 120 if length == 4 else 117 if length == 6 else 85)
    _hex(data, kind, at + 2, c, length - 2)


def _quoted(s, ascii):
    n = field(s, "length")
    quote = 34 if _find_code(s, 39) >= 0 and _find_code(s, 34) < 0 else 39
    length = 2
    kind = 1
    for i in range(n):
        c = _at(s, i)
        more = _escape_length(c, quote, ascii)
        length += more
        if more == 1:
            kind = max(kind, _kind_of(c))
    data = buffer(np.uint8, length * kind)
    _put(data, kind, 0, quote)
    at = 1
    for i in range(n):
        c = _at(s, i)
        more = _escape_length(c, quote, ascii)
        _put_escape(data, kind, at, c, more)
        at += more
    _put(data, kind, at, quote)
    return new("str", length, kind, -1, data)


def _array_text(a, how):
    """NumPy's, whose options the program may have set."""
    shape = buffer(np.int64, a.ndim + 1)
    for axis in range(a.ndim):
        store(shape, axis, a.shape[axis])
    flat = np.ascontiguousarray(a)
    dtype = "".join([dtype_text(a)])  # no constant, but a string object
    return copied_text(array_text(flat, a.nbytes, shape, a.ndim, dtype, how))


def repr_(obj):
    return "None" if obj is None else _repr_present(present(obj))


def _repr_present(obj):
    if isinstance(obj, np.ndarray):
        return _array_text(obj, 1)
    if isinstance(obj, np.dtype):
        if obj.kind == "V":
            return "dtype(" + obj._text + ")"
        return "dtype('" + (obj.str[1:] if obj.kind == "S" else obj.str if obj.kind in "UMm" else obj.name) + "')"
    if isinstance(obj, str):
        return _quoted(obj, False)
    if isinstance(obj, bytes):
        return octets.quoted(obj)
    if isinstance(obj, bytearray):
        return "bytearray(" + octets.quoted(obj) + ")"
    if isinstance(obj, bool):
        return "True" if obj else "False"
    if isinstance(obj, int):
        return _int_text(obj)
    if isinstance(obj, (float, np.float32)):
        return _float_text(obj, True)
    if isinstance(obj, complex):
        return _complex_text(obj)
    if isinstance(obj, list):
        parts = []
        for x in obj:
            parts.append(repr(x))
        return "[" + ", ".join(parts) + "]"
    if isinstance(obj, deque):
        most = obj.maxlen
        return "deque(" + repr(list(obj)) + ("" if most is None else ", maxlen=" + _int_text(most)) + ")"
    if isinstance(obj, (tuple, set, dict)):
        return several_text(obj)
    if len(fields(obj)) > 0:
        return _called_text(obj, fields(obj))
    return field(obj, "text")  # nothing has it: refused


def _pairs_text(items):
    parts = []
    for key, value in items:
        parts.append(repr(key) + ": " + repr(value))
    return "{" + ", ".join(parts) + "}"


def _ordered_text(obj):
    if sys.version_info >= (3, 12):
        return "OrderedDict(" + _pairs_text(obj.items()) + ")"
    return "OrderedDict(" + repr(list(obj.items())) + ")"


def several_text(obj):
    if isinstance(obj, tuple):
        return _tuple_text(obj)
    if isinstance(obj, defaultdict):
        return "defaultdict(" + maker_text(obj) + ", " + _pairs_text(obj.items()) + ")"
    if isinstance(obj, OrderedDict):
        return _ordered_text(obj) if len(obj) > 0 else "OrderedDict()"
    if isinstance(obj, Counter):
        return "Counter(" + _pairs_text(obj.most_common()) + ")" if len(obj) > 0 else "Counter()"
    if isinstance(obj, dict):
        return _pairs_text(obj.items())
    parts = []
    for x in obj:
        parts.append(repr(x))
    if isinstance(obj, frozenset):
        return "frozenset({" + ", ".join(parts) + "})" if len(parts) > 0 else "frozenset()"
    if isinstance(obj, set) and len(parts) == 0:
        return "set()"
    return "{" + ", ".join(parts) + "}"


def _tuple_text(obj):
    if len(obj._fields) > 0:
        return _called_text(obj, tuple(obj))
    if len(obj) == 1:
        return "(" + repr(obj[0]) + ",)"
    return "(" + ", ".join(_item_texts(obj)) + ")"


def _called_text(obj, items):
    return obj._called + "(" + ", ".join(_named_texts(obj._fields, items)) + ")"


def _named_texts(names, items):
    if len(items) == 0:
        return ()
    return (names[0] + "=" + repr(items[0]),) + _named_texts(names[1:], items[1:])


def _item_texts(items):
    if len(items) == 0:
        return ()
    return (repr(items[0]),) + _item_texts(items[1:])


def ascii_(obj):
    if isinstance(obj, str):
        return _quoted(present(obj), True)
    return repr_(obj)


def str_(object=""):
    return "None" if object is None else _str_present(present(object))


def _str_present(object):
    if isinstance(object, str):
        return object
    if isinstance(object, (np.datetime64, np.timedelta64)):
        return str(object)
    if isinstance(object, np.ndarray):
        return _array_text(object, 0)
    if isinstance(object, np.dtype):
        if object.kind == "V":
            return object._text
        return object.str if object.kind in "SU" else object.name
    return repr(object)


# -- specifications ---------------------------------------------------------------------------------

NONE = -1  # a part that is not there


def _is_alignment(c):
    return c == 60 or c == 62 or c == 61 or c == 94


def _number_at(spec, at):
    """An int, -1 where there is none, and where it ends."""
    n = field(spec, "length")
    value = NONE
    while at < n and 48 <= _at(spec, at) <= 57:
        value = max(value, 0) * 10 + _at(spec, at) - 48
        if value > 2147483647:
            raise ValueError("Too many decimal digits in format string")
        at += 1
    return value, at


def _fill(spec):
    """Fill, alignment (NONE: the default of the type), where the rest begins."""
    n = field(spec, "length")
    if n >= 2 and _is_alignment(_at(spec, 1)):
        return _at(spec, 0), _at(spec, 1), 2
    if n >= 1 and _is_alignment(_at(spec, 0)):
        return NONE, _at(spec, 0), 1
    return NONE, NONE, 0


def _flag(spec, at, c):
    return 1 if at < field(spec, "length") and _at(spec, at) == c else 0


def _parse(spec, number):
    """fill, alignment, sign, z, #, width, separator, precision, type"""
    n = field(spec, "length")
    fill, align, at = _fill(spec)
    sign = NONE
    if at < n and (_at(spec, at) == 43 or _at(spec, at) == 45 or _at(spec, at) == 32):
        sign = _at(spec, at)
        at += 1
    z = _flag(spec, at, 122)
    at += z
    alternate = _flag(spec, at, 35)
    at += alternate
    if fill == NONE and _flag(spec, at, 48):
        fill = 48
        if align == NONE and number:
            align = 61
        at += 1
    width, at = _number_at(spec, at)
    separator = NONE
    if _flag(spec, at, 44):
        separator = 44
        at += 1
    if _flag(spec, at, 95):
        if separator != NONE:
            raise ValueError("Cannot specify both ',' and '_'.")
        separator = 95
        at += 1
    if separator == 95 and _flag(spec, at, 44):
        raise ValueError("Cannot specify both ',' and '_'.")
    precision = NONE
    if _flag(spec, at, 46):
        precision, at = _number_at(spec, at + 1)
        if precision == NONE:
            raise ValueError("Format specifier missing precision")
    type = NONE
    if at < n:
        type = _at(spec, at)
        at += 1
    if at < n:
        raise ValueError("Invalid format specifier")
    if align == NONE:
        align = 62 if number else 60
    return 32 if fill == NONE else fill, align, sign, z != 0, alternate != 0, max(width, 0), separator, precision, type


def _grouped(digits, count, separator, group):
    """With zeros in front up to so many digits, and separators between groups."""
    n = field(digits, "length")
    length = count + (count - 1) // group
    data = buffer(np.uint8, length)
    at = length
    for k in range(count):
        if k > 0 and k % group == 0:
            at -= 1
            store(data, at, separator)
        at -= 1
        store(data, at, _at(digits, n - 1 - k) if k < n else 48)
    return new("str", length, 1, -1, data)


def _laid_out(head, digits, rest, fill, align, width, separator, group):
    room = width - field(head, "length") - field(rest, "length")
    if separator != NONE and field(digits, "length") > 0:
        count = field(digits, "length")
        while fill == 48 and align == 61 and count + (count - 1) // group < room:
            count += 1
        digits = _grouped(digits, count, separator, group)
    n = field(digits, "length")
    padding = max(room - n, 0)
    left = padding if align == 62 else padding // 2 if align == 94 else 0
    inside = padding if align == 61 else 0
    return _assembled(head, digits, rest, fill, left, inside, padding - left - inside)


def _fill_places(data, kind, at, n, c):
    for i in range(at, at + n):
        _put(data, kind, i, c)
    return at + n


def _assembled(head, digits, rest, fill, left, inside, right):
    kind = max(field(head, "kind"), field(digits, "kind"), field(rest, "kind"))
    if left + inside + right > 0:
        kind = max(kind, _kind_of(fill))
    a = field(head, "length")
    b = field(digits, "length")
    c = field(rest, "length")
    length = a + b + c + left + inside + right
    data = buffer(np.uint8, length * kind)
    at = _fill_places(data, kind, 0, left, fill)
    _copy(data, kind, at, head, 0, a)
    at = _fill_places(data, kind, at + a, inside, fill)
    _copy(data, kind, at, digits, 0, b)
    _copy(data, kind, at + b, rest, 0, c)
    _fill_places(data, kind, at + b + c, right, fill)
    return new("str", length, kind, -1, data)


def _format_str(s, spec):
    fill, align, sign, z, alternate, width, separator, precision, type = _parse(spec, False)
    if type != NONE and type != 115:
        _unknown(type, "str")
    if sign != NONE:
        if sign == 32:
            raise ValueError("Space not allowed in string format specifier")
        raise ValueError("Sign not allowed in string format specifier")
    if z:
        raise ValueError("Negative zero coercion (z) not allowed in string format specifier")
    if alternate:
        raise ValueError("Alternate form (#) not allowed in string format specifier")
    if align == 61:
        raise ValueError("'=' alignment not allowed in string format specifier")
    if separator != NONE:
        _not_with(separator, 115)
    if precision != NONE and precision < field(s, "length"):
        s = _part(s, 0, precision)
    return _laid_out("", s, "", fill, align, width, NONE, 3)


def _sign_text(negative, sign):
    if negative:
        return "-"
    return "+" if sign == 43 else " " if sign == 32 else ""


def _unknown(type, name):
    raise ValueError("Unknown format code '" + _char(type) + "' for object of type '" + name + "'")


def _not_with(separator, type):
    raise ValueError("Cannot specify '" + _char(separator) + "' with '" + _char(type) + "'.")


def _is_float_type(type):
    return type == 37 or type == 69 or type == 70 or type == 71 or (101 <= type <= 103)


def _base_of(type):
    """0: no type of an int."""
    if type == NONE or type == 100 or type == 110:
        return 10
    if type == 120 or type == 88:
        return 16
    return 8 if type == 111 else 2 if type == 98 else 0


def _format_int(n, spec):
    fill, align, sign, z, alternate, width, separator, precision, type = _parse(spec, True)
    if _is_float_type(type):
        return _format_float(float(n), spec)
    base = _base_of(type)
    if base == 0 and type != 99:
        _unknown(type, "int")
    if separator != NONE and (type == 99 or type == 110 or (separator == 44 and base != 10)):
        _not_with(separator, type)
    if precision != NONE:
        raise ValueError("Precision not allowed in integer format specifier")
    if z:
        raise ValueError("Negative zero coercion (z) not allowed in format specifier with integer")
    if type == 99:
        return _format_character(n, sign, alternate, fill, align, width)
    head = _sign_text(n < 0, sign)
    if alternate and base != 10:
        head = head + "0" + _char(type)
    return _laid_out(head, _digits(_magnitude(n), base, type == 88), "", fill, align, width, separator, 3 if base == 10 else 4)


def _format_character(n, sign, alternate, fill, align, width):
    if sign != NONE:
        raise ValueError("Sign not allowed with integer format specifier 'c'")
    if alternate:
        raise ValueError("Alternate form (#) not allowed with integer format specifier 'c'")
    if n < 0 or n > 0x10FFFF:
        raise OverflowError("%c arg not in range(0x110000)")
    return _laid_out("", _char(n), "", fill, align, width, NONE, 3)


def _is_zero_text(s):
    """No digit but zeros, in front of an exponent."""
    for i in range(field(s, "length")):
        c = _at(s, i)
        if c == 101 or c == 69:
            break
        if c != 48 and c != 46:
            return False
    return True


def _format_float(x, spec):
    fill, align, sign, z, alternate, width, separator, precision, type = _parse(spec, True)
    if type != NONE and type != 110 and not _is_float_type(type):
        _unknown(type, "float")
    if type == 110 and separator != NONE:
        _not_with(separator, type)
    dot = type == NONE
    how = type
    if type == NONE:
        how = 114 if precision == NONE else 103
    elif type == 37:
        how = 102
        x = x * 100
    elif type == 110:
        how = 103
    if precision == NONE:
        precision = 0 if type == NONE else 6
    text = _float_digits(x, how, precision, alternate, dot)
    negative = _is_negative(x) and not (z and _is_zero_text(text))
    n = field(text, "length")
    whole = 0
    while whole < n and 48 <= _at(text, whole) <= 57:
        whole += 1
    rest = _part(text, whole, n - whole)
    if type == 37:
        rest = rest + "%"
    return _laid_out(_sign_text(negative, sign), _part(text, 0, whole), rest, fill, align, width, separator, 3)


def format_(value, format_spec=""):
    if value is None:
        if len(format_spec) > 0:
            raise TypeError("unsupported format string passed to NoneType.__format__")
        return "None"
    return _format_present(present(value), format_spec)


def _format_present(value, format_spec):
    if isinstance(value, str):
        return value if len(format_spec) == 0 else _format_str(value, format_spec)
    if len(format_spec) == 0:
        return str(np.float64(value)) if isinstance(value, np.float32) else str(value)
    if isinstance(value, bool):
        return _format_int(int(value), format_spec)
    if isinstance(value, int):
        return _format_int(value, format_spec)
    if isinstance(value, (float, np.float32)):
        return _format_float(float(value), format_spec)
    return _format_str(str(value), format_spec)


# -- numbers of text --------------------------------------------------------------------------------


def _shown(s):
    return _quoted(s, False) if isinstance(s, str) else octets.quoted(s)


def _bad_int(s, base):
    raise ValueError("invalid literal for int() with base " + _int_text(base) + ": " + _shown(s))


def _digit_value(c):
    if 48 <= c <= 57:
        return c - 48
    if 97 <= c <= 122:
        return c - 87
    if 65 <= c <= 90:
        return c - 55
    if c < 128:
        return 99
    return characters.decimal_of(c)


def _prefix_base(s, at, last):
    """The base that 0x, 0o or 0b stands for, 0 without one."""
    if last - at < 2 or _digit_value(_at(s, at)) != 0:
        return 0
    c = _at(s, at + 1) | 32
    return 16 if c == 120 else 8 if c == 111 else 2 if c == 98 else 0


def _all_zero(s, at, last):
    for i in range(at, last):
        c = _at(s, i)
        if c != 95 and _digit_value(c) != 0:
            return False
    return True


def int_of(s, base=10):
    if base != 0 and (base < 2 or base > 36):
        raise ValueError("int() base must be >= 2 and <= 36, or 0")
    at = _first_kept(s, None)
    last = _last_kept(s, None, at)
    negative = False
    if at < last and (_at(s, at) == 43 or _at(s, at) == 45):
        negative = _at(s, at) == 45
        at += 1
    radix = base
    prefix = _prefix_base(s, at, last)
    after_digit = False
    if prefix != 0 and (base == 0 or base == prefix):
        radix = prefix
        at += 2
        after_digit = True  # 0x_1 is allowed
    elif base == 0:
        radix = 10
        if at < last and _digit_value(_at(s, at)) == 0 and not _all_zero(s, at, last):
            _bad_int(s, base)
    return _int_of_digits(s, at, last, radix, base, negative, after_digit)


def _int_of_digits(s, at, last, radix, base, negative, after_digit):
    value = 0
    found = False
    for i in range(at, last):
        c = _at(s, i)
        if c == 95:
            if not after_digit:
                _bad_int(s, base)
            after_digit = False
            continue
        d = _digit_value(c)
        if d >= radix:
            _bad_int(s, base)
        if value < (-9223372036854775808 + d) // radix + (1 if (-9223372036854775808 + d) % radix else 0):
            raise OverflowError("int too large to convert: ints of compiled code have 64 bits")
        value = value * radix - d  # downwards: there is one more number below 0
        found = True
        after_digit = True
    if not found or not after_digit:
        _bad_int(s, base)
    if not negative and value == -9223372036854775808:
        raise OverflowError("int too large to convert: ints of compiled code have 64 bits")
    return value if negative else -value


def _bad_float(s):
    raise ValueError("could not convert string to float: " + _shown(s))


def _is_word(s, at, last, word):
    """In ASCII letters of any case?"""
    if last - at != len(word):
        return False
    for i in range(len(word)):
        c = _at(s, at + i)
        if c >= 128 or (c | 32) != _at(word, i):
            return False
    return True


def _float_word(s, at, last):
    """1: nan, 2: inf, 0: neither."""
    if _is_word(s, at, last, "nan"):
        return 1
    if _is_word(s, at, last, "inf") or _is_word(s, at, last, "infinity"):
        return 2
    return 0


def _float_digit(s, i, last):
    """-1: it is none."""
    if i < 0 or i >= last:
        return -1
    c = _at(s, i)
    d = c - 48 if c < 128 else characters.decimal_of(c)
    return d if 0 <= d <= 9 else -1


def _plain(s, at, last, data):
    """The digits without point, underscores and sign of the exponent's end; how many bytes, the exponent. -1: it is no number."""
    n = 0
    scale = 0
    behind = False
    found = False
    i = at
    while i < last:
        c = _at(s, i)
        d = _float_digit(s, i, last)
        if d >= 0:
            store(data, n, d + 48)
            n += 1
            found = True
            if behind:
                scale -= 1
        elif c == 46 and not behind:
            behind = True
        elif c == 95:
            if i == at or _float_digit(s, i - 1, last) < 0 or _float_digit(s, i + 1, last) < 0:
                return -1, 0, i
        else:
            break
        i += 1
    return n if found else -1, scale, i


def _exponent(s, at, last):
    """Behind the e: its value, far beyond all floats at most; None of it: 2 ** 40."""
    negative = at < last and _at(s, at) == 45
    if at < last and (_at(s, at) == 43 or negative):
        at += 1
    value = 0
    if at == last:
        return 1 << 40
    for i in range(at, last):
        d = _float_digit(s, i, last)
        if d < 0:
            if _at(s, i) != 95 or _float_digit(s, i - 1, last) < 0 or _float_digit(s, i + 1, last) < 0:
                return 1 << 40
        else:
            value = min(value * 10 + d, 1 << 36)
    return -value if negative else value


def float_of(s):
    at = _first_kept(s, None)
    last = _last_kept(s, None, at)
    negative = False
    if at < last and (_at(s, at) == 43 or _at(s, at) == 45):
        negative = _at(s, at) == 45
        at += 1
    word = _float_word(s, at, last)
    if word == 1:
        return math.nan
    if word == 2:
        return -math.inf if negative else math.inf
    data = buffer(np.uint8, last - at + 40)
    n, scale, end = _plain(s, at, last, data)
    exponent = 0
    if n >= 0 and end < last:
        exponent = _exponent(s, end + 1, last) if _at(s, end) == 101 or _at(s, end) == 69 else 1 << 40
    if n < 0 or exponent == 1 << 40:
        _bad_float(s)
    x = text_number(data, n, scale + exponent)
    return -x if negative else x


def _texts(items):
    if len(items) == 0:
        return ()
    return (str_(items[0]),) + _texts(items[1:])


ERRORS, FLUSH = 1, 2  # how text is printed: quern_text_print of codegen/support.h


def print_(*args, sep=None, end=None, file=None, flush=False):
    how = FLUSH if flush else 0
    if file is sys.stderr:
        how += ERRORS
    elif file is not None and file is not sys.stdout:
        refuse_code("compiled code prints to sys.stdout and sys.stderr, by these names: file= is another file")
    text = (" " if sep is None else sep).join(_texts(args))
    text_print(text + ("\n" if end is None else end), how)


FUNCTIONS = {
    "builtins.ascii": ascii_,
    "builtins.bin": bin_,
    "builtins.format": format_,
    "builtins.hex": hex_,
    "builtins.oct": oct_,
    "builtins.print": print_,
    "builtins.repr": repr_,
    "builtins.str": str_,
    "str.__float__": float_of,
    "str.__int__": int_of,
}
