"""Chance: the same numbers from the same seed, everywhere."""

import numpy as np

from trajanon._kernels.compiled import kernel


@kernel
def draw_bits(random):
    """The next 64 bits of a generator whose state is one cell (xorshift64*)."""
    state = random[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    random[0] = state
    return state * np.uint64(2685821657736338717)


@kernel
def below(random, limit):
    """A whole number of 0..limit-1."""
    return np.int64(draw_bits(random) >> np.uint64(33)) % limit
