"""A tour in an array, and its reversals.

City n is the dummy, at distance 0 from every record: a tour through it is a path. Every change is a
reversal of a stretch, written down in a journal so that it can be taken back.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare

TINY = 1e-10  # of standard deviations: a gain below it is rounding
AHEAD, BACK = np.int64(1), np.int64(-1)  # steps along a tour


class Tour(NamedTuple):
    """Everything the search reads and writes."""

    records: NDArray[np.float64]  # standardised, (n, p)
    neighbours: NDArray[np.int64]  # the nearest records of each record, nearest first, (n, c)
    near: NDArray[np.float64]  # their distances, (n, c)
    order: NDArray[np.int64]  # city at each place of the tour, (n + 1,)
    position: NDArray[np.int64]  # place of each city, (n + 1,)
    # Cities whose surroundings have changed, as a ring of n + 1 with its head and length in the
    # last two cells; and whether a city is in it.
    queue: NDArray[np.int64]
    queued: NDArray[np.bool_]
    journal: NDArray[np.int64]  # reversals since the last mark, two cells each; then their number
    random: NDArray[np.uint64]  # state of the generator, one cell


@bare
def between(tour, a, b):
    """Distance of two cities of a tour, or of one that grows."""
    dummy = tour.records.shape[0]
    if a == dummy or b == dummy:
        return 0.0
    return np.sqrt(squared_distance(tour.records[a], tour.records[b]))


@bare
def after(tour, city, step):
    """The next city in the direction of ``step`` (1 or -1)."""
    size = tour.order.shape[0]
    place = tour.position[city] + step
    if place == size:
        place = 0
    elif place < 0:
        place = size - 1
    return tour.order[place]


@bare
def ahead(tour, a, b, step):
    """How many steps lead from one city to another in the direction of ``step``."""
    steps = (tour.position[b] - tour.position[a]) * step
    return steps if steps >= 0 else steps + tour.order.shape[0]


@bare
def reverse_places(tour, i, j):
    """Reverse the stretch from place i forward to place j, both included."""
    size = tour.order.shape[0]
    length = j - i + 1 if j >= i else j - i + 1 + size
    for _ in range(length // 2):
        a, b = tour.order[i], tour.order[j]
        tour.order[i], tour.order[j] = b, a
        tour.position[b], tour.position[a] = i, j
        i = i + 1 if i + 1 < size else 0
        j = j - 1 if j > 0 else size - 1


@bare
def reverse_stretch(tour, first, last, step):
    """Turn round the stretch that leads from one city to another along ``step``.

    The shorter side of the tour is turned, which gives the same cycle, perhaps read the other way:
    returns the step that now leads as ``step`` did.
    """
    size = tour.order.shape[0]
    i, j = tour.position[first], tour.position[last]
    if step < 0:
        i, j = j, i
    length = j - i + 1 if j >= i else j - i + 1 + size
    other_side = 2 * length > size
    if other_side:
        i, j = (j + 1) % size, (i - 1 + size) % size
    reverse_places(tour, i, j)
    count = tour.journal[-1]
    if 2 * count + 2 < tour.journal.shape[0]:
        tour.journal[2 * count] = i
        tour.journal[2 * count + 1] = j
    tour.journal[-1] = count + 1
    return -step if other_side else step


@bare
def take_back(tour, kept):
    """Undo the reversals of the journal but for the first ``kept``, the last first."""
    for entry in range(tour.journal[-1] - 1, kept - 1, -1):
        reverse_places(tour, tour.journal[2 * entry], tour.journal[2 * entry + 1])
    tour.journal[-1] = kept


@bare
def enqueue(tour, city):
    size = tour.order.shape[0]
    if not tour.queued[city]:
        tour.queued[city] = True
        tour.queue[(tour.queue[size] + tour.queue[size + 1]) % size] = city
        tour.queue[size + 1] += 1


@bare
def exchange_stretches(tour, first, middle, last, step):
    """Exchange the stretches first..middle and (behind it)..last along ``step``."""
    behind = after(tour, middle, step)
    step = reverse_stretch(tour, first, last, step)
    # Now last..behind middle..first.
    step = reverse_stretch(tour, last, behind, step)
    reverse_stretch(tour, middle, first, step)
