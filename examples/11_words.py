"""The words of a text and how often they stand beside each other: dicts with text and tuples of text as keys."""
import show

from quern import njit


def counted(text):
    """The counts of words, and of pairs of neighbours."""
    words = {}
    pairs = {}
    before = ""
    for raw in text.lower().split():
        word = raw.strip(".,;:!?")
        words[word] = words.get(word, 0) + 1
        if before:
            pairs[before, word] = pairs.get((before, word), 0) + 1
        before = word
    return words, pairs


def most_frequent(counts, n):
    order = sorted([(-k, word) for word, k in counts.items()])
    return [(word, -k) for k, word in order[:n]]


TEXT = """The quern is older than the mill: two stones, one turned by hand over the other, and patience. Whoever has ground flour
with a quern for an hour understands why people dammed rivers; rivers are patient, too. The mill took the hand away, and the hour. """ * 100
compiled, ordered = njit(counted), njit(most_frequent)
words, pairs = compiled(TEXT)
assert (words, pairs) == counted(TEXT)
show.report(f"words of {len(TEXT):,} characters", lambda: [len(d) for d in compiled(TEXT)], lambda: [len(d) for d in counted(TEXT)], against="Python", repeat=3)
for word, k in ordered(words, 3):
    print(f"    {word:<10}{k:>6,}")
for (first, second), k in sorted(pairs.items(), key=lambda item: -item[1])[:2]:
    print(f"    {first} {second}: {k:,}")
