"""Prints pymodule/quern/library/ziggurat.py: the tables of the ziggurat method for NumPy's Generator.

    python tests/tools/gen_ziggurat.py > pymodule/quern/library/ziggurat.py

Marsaglia and Tsang's layers under f(x) = exp(-x * x / 2) and exp(-x): 255 rectangles and a base strip with the tail, all of one area. x[255] = r is where
the tail begins, x[i] is where f is f(x[i + 1]) + area / x[i + 1], x[0] = area / f(r) stands for the base strip. A draw has an integer m of so many bits and a
layer i: it is m * width[i], at once where m < inner[i], which is x[i - 1] / x[i] of all.

NumPy's tables are what their bits are because of how they once were rounded, and numbers are to be the same: the normal ones were computed in double precision,
the exponential ones exactly; tests/py/test_random_generators.py draws millions. exp() and log() are decimal's here, which are exact on all machines."""
import base64
import struct
import textwrap
from decimal import Decimal, getcontext

getcontext().prec = 45

NORMAL_R = 3.6541528853610088
NORMAL_AREA = 0.004928673233974652  # in double precision: the last digits decide
NORMAL_ODD = 38  # the layer whose height NumPy has one unit in the last place above exp(-x * x / 2)
EXPONENTIAL_R = Decimal("7.697117470131049714044628048015211994445")  # where 255 rectangles and the tail fill the area exactly


def exp(x):
    return float(Decimal(x).exp())


def log(x):
    return float(Decimal(x).ln())


def normal_layers():
    """Places and heights, in double precision."""
    x = [0.0] * 256
    height = [1.0] * 256
    x[255] = NORMAL_R
    height[255] = exp(-0.5 * x[255] * x[255])
    for i in range(254, 0, -1):
        x[i] = float(Decimal(-2.0 * log(NORMAL_AREA / x[i + 1] + height[i + 1])).sqrt())
        height[i] = exp(-0.5 * x[i] * x[i])
        if i == NORMAL_ODD:
            height[i] += 2.0 ** -53
    x[0] = NORMAL_AREA / height[255]
    return x, height


def exponential_layers():
    """The same, exactly."""
    r = EXPONENTIAL_R
    area = (r + 1) * (-r).exp()
    x = [Decimal(0)] * 256
    x[255] = r
    for i in range(254, 0, -1):
        x[i] = -(area / x[i + 1] + (-x[i + 1]).exp()).ln()
    x[0] = area / (-r).exp()
    return x, [Decimal(1)] + [(-x[i]).exp() for i in range(1, 256)]


def ratios(x):
    """What part of each layer lies under the one above."""
    return [x[255] / x[0], 0 * x[0]] + [x[i - 1] / x[i] for i in range(2, 256)]


def nine_digits(x):
    """As NumPy's source has the exponential tables of float32: of some numbers the last bit depends on it."""
    return float(f"{x:.8e}")


def tables():
    """name -> (format of struct, numbers)"""
    x, height = normal_layers()
    e, e_height = exponential_layers()
    inner = [int(2.0 ** 52 * x[255] * height[255] / NORMAL_AREA), 0] + [round(ratio * 2.0 ** 52) for ratio in ratios(x)[2:]]
    return {
        "NORMAL_INNER": ("Q", inner),
        "NORMAL_WIDTH": ("d", [w * 2.0 ** -52 for w in x]),
        "NORMAL_HEIGHT": ("d", height),
        "EXPONENTIAL_INNER": ("Q", [2 * int(ratio * 2 ** 52) for ratio in ratios(e)]),
        "EXPONENTIAL_WIDTH": ("d", [float(w / 2 ** 53) for w in e]),
        "EXPONENTIAL_HEIGHT": ("d", [float(h) for h in e_height]),
        "NORMAL_INNER_32": ("I", [round(ratio * 2 ** 23) for ratio in ratios(x)]),
        "NORMAL_WIDTH_32": ("f", [w * 2.0 ** -23 for w in x]),
        "NORMAL_HEIGHT_32": ("f", height),
        "EXPONENTIAL_INNER_32": ("I", [round(ratio * 2 ** 23) for ratio in ratios(e)]),
        "EXPONENTIAL_WIDTH_32": ("f", [nine_digits(w / 2 ** 23) for w in e]),
        "EXPONENTIAL_HEIGHT_32": ("f", [nine_digits(h) for h in e_height])}


def page():
    lines = ['"""The tables of the ziggurat method for NumPy\'s Generator, as tests/tools/gen_ziggurat.py computes and prints them."""',
             "import base64", "", "import numpy as np", "", "",
             "def _table(dtype, text):", "    return np.frombuffer(base64.b64decode(text), dtype)", ""]
    for name, (code, numbers) in tables().items():
        text = base64.b64encode(struct.pack(f"<256{code}", *numbers)).decode()
        dtype = {"Q": "uint64", "d": "float64", "I": "uint32", "f": "float32"}[code]
        lines += ["", f'{name} = _table(np.{dtype}, """'] + textwrap.wrap(text, 136) + ['""")']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
