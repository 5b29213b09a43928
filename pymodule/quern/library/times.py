"""datetime64 and timedelta64 as compiled code computes with them: numbers of one unit, of which the smallest is NaT. Which function
gets what is the table of typeinfer/infer_time.c."""

import numpy as np

NAT = np.int64(-(2**63))


def scale(x, num, den):
    """In another unit, of which `num` are `den` of this; towards the past where it is no whole number."""
    if x == NAT:
        return NAT
    if den == 1:
        return x * num
    return (x * num) // den


def days_of_months(months):
    """From 1970-01-01 to the first day of that month."""
    if months == NAT:
        return NAT
    year = months // 12 + 1970
    month = months % 12
    if month < 2:  # a year that begins with March ends with its leap day
        year -= 1
        month += 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 2) + 2) // 5 - 719469 + 1


def months_of_days(days):
    """The month that day is in."""
    if days == NAT:
        return NAT
    since = days + 719468
    era = since // 146097
    day = since - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    month = (5 * (day - (365 * year + year // 4 - year // 100)) + 2) // 153
    return (era * 400 + year - 1970) * 12 + month + 2


def add(x, y):
    return NAT if x == NAT or y == NAT else x + y


def subtract(x, y):
    return NAT if x == NAT or y == NAT else x - y


def times_int(x, y):
    return NAT if x == NAT or y == NAT else x * y


def _of_float(x):
    return np.int64(x) if np.isfinite(x) else NAT


def times_float(x, y):
    return NAT if x == NAT or y == NAT else _of_float(float(x) * float(y))


def divide_float(x, y):
    return NAT if x == NAT else _of_float(np.divide(float(x), y))


def divide_int(x, y):
    """NumPy's `/` and `//`: towards zero."""
    if x == NAT or y == 0:
        return NAT
    q = x // y
    return q + 1 if q < 0 and q * y != x else q


def ratio(x, y):
    return np.nan if x == NAT or y == NAT else np.divide(float(x), float(y))


def floor_ratio(x, y):
    return np.int64(0) if x == NAT or y == NAT or y == 0 else x // y


def remainder(x, y):
    return NAT if x == NAT or y == NAT or y == 0 else x % y


def negative(x):
    return -x


def absolute(x):
    return x if x >= 0 or x == NAT else -x


def same(x):
    return x


def equal(x, y):
    return x == y and x != NAT


def not_equal(x, y):
    return x != y or x == NAT


def never(x, y):
    """Are a point in time and a span equal?"""
    return False


def always(x, y):
    return True


def less(x, y):
    return x < y and x != NAT


def less_equal(x, y):
    return x <= y and x != NAT


def greater(x, y):
    return less(y, x)


def greater_equal(x, y):
    return less_equal(y, x)


def maximum(x, y):
    return x if x == NAT or (x >= y and y != NAT) else y


def minimum(x, y):
    return x if x <= y else y


def fmax(x, y):
    return x if x >= y else y


def fmin(x, y):
    if x == NAT:
        return y
    return x if y == NAT or x <= y else y


def choose(condition, x, y):
    return x if condition else y


def isnat(x):
    return x == NAT


def isfinite(x):
    return x != NAT


def isinf(x):
    return False


# -- text ---------------------------------------------------------------------------------------------------------------------

YEARS, MONTHS, WEEKS, DAYS, HOURS, MINUTES, SECONDS = 0, 1, 2, 3, 4, 5, 6  # as in frontend/ir/ir_units.def


def _digits(n, width):
    """As C's %04d: a sign is one of them."""
    text = str(abs(n))
    while len(text) < (width - 1 if n < 0 else width):
        text = "0" + text
    return "-" + text if n < 0 else text


def _date(days):
    months = months_of_days(days)
    return _digits(months // 12 + 1970, 4) + "-" + _digits(months % 12 + 1, 2) + "-" + _digits(days - days_of_months(months) + 1, 2)


def _minute(minutes):
    return _date(minutes // 1440) + "T" + _digits(minutes // 60 % 24, 2) + ":" + _digits(minutes % 60, 2)


def _point(x, unit):
    if unit == YEARS:
        return _digits(x + 1970, 4)
    if unit == MONTHS:
        return _digits(x // 12 + 1970, 4) + "-" + _digits(x % 12 + 1, 2)
    if unit == WEEKS:
        return _date(x * 7)
    if unit == DAYS:
        return _date(x)
    if unit == HOURS:
        return _date(x // 24) + "T" + _digits(x % 24, 2)
    if unit == MINUTES:
        return _minute(x)
    second = 1
    for _ in range(SECONDS, unit):
        second *= 1000
    whole = x // second
    text = _minute(whole // 60) + ":" + _digits(whole % 60, 2)
    return text + "." + _digits(x % second, 3 * (unit - SECONDS)) if unit > SECONDS else text


NAMES = ("years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds",
         "picoseconds", "femtoseconds", "attoseconds", "generic time units")


def text(x, unit, span):
    """str(x), of a number of units of that number."""
    if x == NAT:
        return "NaT"
    if span:
        return str(x) + " " + NAMES[unit]
    return _point(x, unit)


FUNCTIONS = {
    "time.absolute": absolute,
    "time.add": add,
    "time.always": always,
    "time.choose": choose,
    "time.days_of_months": days_of_months,
    "time.divide_float": divide_float,
    "time.divide_int": divide_int,
    "time.equal": equal,
    "time.floor_ratio": floor_ratio,
    "time.fmax": fmax,
    "time.fmin": fmin,
    "time.greater": greater,
    "time.greater_equal": greater_equal,
    "time.isfinite": isfinite,
    "time.isinf": isinf,
    "time.isnat": isnat,
    "time.less": less,
    "time.less_equal": less_equal,
    "time.maximum": maximum,
    "time.minimum": minimum,
    "time.months_of_days": months_of_days,
    "time.negative": negative,
    "time.never": never,
    "time.not_equal": not_equal,
    "time.ratio": ratio,
    "time.remainder": remainder,
    "time.same": same,
    "time.scale": scale,
    "time.subtract": subtract,
    "time.text": text,
    "time.times_float": times_float,
    "time.times_int": times_int,
}
