"""What kernels share: distances and products of records, random numbers, short sorted lists."""

import numpy as np

from trajanon._kernels.compiled import bare


@bare
def squared_distance(a, b):
    """Sum the squared differences of two records, (p,)."""
    # The sum is in single precision if the records are.
    total = a.dtype.type(0)
    for column in range(a.shape[0]):
        difference = a[column] - b[column]
        total += difference * difference
    return total


@bare
def scalar_product(a, b):
    """Sum the products of the numbers of two records, (p,)."""
    total = 0.0
    for column in range(a.shape[0]):
        total += a[column] * b[column]
    return total


@bare
def draw_bits(random):
    """Draw the next 64 bits of a generator with one cell of state (xorshift64*)."""
    # numba's own generator has a state for each thread, and a block is searched by any: a seed
    # would not repeat a result.
    state = random[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    random[0] = state
    return state * np.uint64(2685821657736338717)


@bare
def draw_below(random, limit):
    """Draw a whole number of 0..limit-1."""
    # The low bits of this generator are its worst, so only the upper 31 are used.
    return np.int64(draw_bits(random) >> np.uint64(33)) % limit


@bare
def insert_rising(values, items, place, value, item):
    """Insert a value, and its item, in lists of which the first ``place`` values rise.

    Those that are larger move up by one; what stands at ``place`` is lost.
    """
    # Lists are short, and a sorting function inside a kernel takes seconds to compile.
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        items[place] = items[place - 1]
        place -= 1
    values[place] = value
    items[place] = item


@bare
def keep_nearest(nearest, distances, item, distance):
    """Insert an item in a list of the ``nearest``, (c,), by their ``distances``, (c,), rising.

    No item is listed twice; a free place holds -1, infinitely far.
    """
    # An item that is listed already keeps the smaller of its distances; another one takes the place
    # of the farthest.
    place = distances.shape[0] - 1
    for rank in range(place):
        if nearest[rank] == item:
            place = rank
            break

    if distance < distances[place]:
        insert_rising(distances, nearest, place, distance, item)
