"""Which random kernel a seed is: most are small, so that many are compared in little time."""
import random

import nests
from blocks import Block
from words import Words

ROUND = 24


def program(seed):
    """One of 24 is a whole nest, two of 24 compute with words, a quarter have work-items that meet, the others are small nests."""
    rng = random.Random(seed)
    if seed % ROUND == 0:
        return nests.program(seed, kernels=True)
    if seed % ROUND in (11, 23):
        return Words(rng).make()
    if seed % 4 == 1:
        return Block(rng).make()
    return nests.Small(rng, careful=seed % 3 != 0).make()
