"""A tokenizer with a calculator behind it, and the words of a text by length: strings, lists of them, f-strings, exceptions that carry text."""
import show

from quern import njit


def tokens(text):
    """(kind, text) of each: numbers, names, and single characters."""
    out = [("", "")]
    out.clear()
    i = 0
    while i < len(text):
        first = i
        c = text[i]
        if c.isspace():
            i += 1
            continue
        if c.isdecimal():
            while i < len(text) and (text[i].isdecimal() or text[i] == "."):
                i += 1
            out.append(("number", text[first:i]))
        elif c.isidentifier():
            while i < len(text) and (text[i].isidentifier() or text[i].isdecimal()):
                i += 1
            out.append(("name", text[first:i]))
        elif c in "+-*/()":
            i += 1
            out.append(("mark", c))
        else:
            raise ValueError(f"{c!r} at position {i} of {text!r}")
    return out


tokens_compiled = njit(tokens)


@njit
def value(text):
    """Of sums and products without brackets."""
    total, product, sign, divide = 0.0, 1.0, 1.0, False
    for kind, word in tokens_compiled(text + "+"):
        if kind == "number":
            product = product / float(word) if divide else product * float(word)
        elif word == "+" or word == "-":
            total += sign * product
            sign = 1.0 if word == "+" else -1.0
            product, divide = 1.0, False
        elif word == "*" or word == "/":
            divide = word == "/"
        else:
            raise ValueError(f"{word} is no number")
    return total


def longest(text, n):
    """The n longest words, each once, and a report on them."""
    words = text.lower().split()
    for k in range(len(words)):
        words[k] = words[k].strip(".,;:!?")
    words.sort()
    kept = [(0, "")]
    kept.clear()
    for k in range(len(words)):
        if k == 0 or words[k] != words[k - 1]:
            kept.append((-len(words[k]), words[k]))
    kept.sort()
    lines = [""]
    lines.clear()
    for k in range(min(n, len(kept))):
        size, word = kept[k]
        lines.append(f"{word:<16}{-size:>3} letters, {words.count(word):>5,} times")
    return lines


print("1 + 2.5 * 4 - 9 / 3 =", value("1 + 2.5 * 4 - 9 / 3"))
for wrong in ("1 + x", "1 ? 2"):
    try:
        value(wrong)
    except ValueError as e:
        print(f"{wrong}: {e}")

TEXT = """Der Müller mahlt das Korn. The quern is older than the mill: two stones, one turned by hand over the other, and patience.
Whoever has ground flour with a quern for an hour understands why people dammed rivers; rivers are patient, too. """ * 200
compiled = njit(longest)
result = show.report(f"longest words of {len(TEXT):,} characters", lambda: compiled(TEXT, 5), lambda: longest(TEXT, 5), against="Python", repeat=3)
for line in result:
    print("    " + line)

source = "alpha * 3.25 + beta / (gamma - 17) " * 1000
found = show.report("tokens of a formula", lambda: tokens_compiled(source), lambda: tokens(source), against="Python", repeat=3)
print(f"    {len(found):,} tokens")
