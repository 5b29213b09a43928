"""L-systems: text that grows by rules from a dict, and a turtle, a generator with a stack, that draws what it says (saves a picture)."""
import math

import numpy as np
import show

from quern import njit


def grown(axiom, rules, rounds):
    text = axiom
    for _ in range(rounds):
        text = "".join([rules.get(letter, letter) for letter in text])
    return text


def strokes(text, angle):
    """Where each line begins and ends. `[` remembers a place, `]` goes back there."""
    x, y, heading = 0.0, 0.0, math.pi / 2
    places = []
    deepest = 0
    for letter in text:
        if letter == "F":
            to = x + math.cos(heading), y + math.sin(heading)
            yield x, y, to[0], to[1]
            x, y = to
        elif letter == "+":
            heading += angle
        elif letter == "-":
            heading -= angle
        elif letter == "[":
            places.append((x, y, heading))
            deepest = max(deepest, len(places))
        elif letter == "]":
            x, y, heading = places.pop()
    return deepest


def drawn(text, angle, size):
    """A picture of all lines, and how deep the branches are."""
    low, high = [0.0, 0.0], [0.0, 0.0]
    for x, y, _, _ in strokes(text, angle):
        low = [min(low[0], x), min(low[1], y)]
        high = [max(high[0], x), max(high[1], y)]
    scale = (size - 3) / max(high[0] - low[0], high[1] - low[1], 1.0)
    image = np.zeros((size, size))
    for x, y, x1, y1 in strokes(text, angle):
        for k in range(8):
            column = (x + (x1 - x) * k / 8 - low[0]) * scale
            row = (y + (y1 - y) * k / 8 - low[1]) * scale
            image[size - 2 - int(row), 1 + int(column)] = 1.0
    return image


RULES = {"X": "F+[[X]-X]-F[-FX]+X", "F": "FF"}
ANGLE = math.radians(25)
grow, draw, turtle = njit(grown), njit(drawn), njit(strokes)
text = grow("X", RULES, 6)
assert text == grown("X", RULES, 6)
print(f"    {len(text):,} letters have grown of one")
image = show.report(f"{text.count('F'):,} strokes are drawn", lambda: draw(text, ANGLE, 400), lambda: drawn(text, ANGLE, 400), against="Python", repeat=3)
show.picture("18_plants.png", image)
lines, count = turtle(text, ANGLE), 0             # the same generator, from Python
while True:
    try:
        next(lines)
    except StopIteration as end:
        print(f"    {count:,} lines, branches {end.value} deep")
        break
    count += 1
