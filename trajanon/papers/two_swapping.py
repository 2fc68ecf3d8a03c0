"""Two-swapping: pairs of records change places while that lowers the SSE."""

import numpy as np

from trajanon._kernels.swap import Swaps, exchanges, find_partners
from trajanon.arrays import Ints
from trajanon.problem import Problem
from trajanon.search.descent import TINY_GAIN, build_groups

_PAIRS = 10_000_000  # at most compared between two words about progress
_CHUNK = 100  # exchanges between two words about progress


def swap(problem: Problem, labels: Ints) -> Ints:
    """Exchange the two records that lower the SSE most, until no exchange does.

    Groups keep their sizes, and k different subjects. To exchange x of a group of a records round A
    for y of one of b records round B changes the SSE by 2 (y - x)·(B - A) - (1/a + 1/b) |y - x|².
    Of equally good pairs (i, j), i < j, the first is exchanged.

    The result is that of comparing all pairs before each exchange. But each record keeps its best
    later partner, an exchange touches only the pairs of its two groups, and groups whose centroids
    are farther apart than their radii together hold no pair that gains.

    References
    ----------
    Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An optimization-based decomposition
    heuristic for the microaggregation problem", section 3 and Fig. 1.

    Examples
    --------
    MDAV makes pairs. No exchange of two records gains; descent has other moves:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> partition = trajanon.microaggregate(ages, k=2, method="mdav", refine="swap+descent")
    >>> [(stage.name, round(stage.information_loss, 2)) for stage in partition.stages]
    [('mdav', 8.66), ('swap', 8.66), ('descent', 6.69)]
    """
    swaps = build_swaps(problem, labels)
    n = len(labels)
    rows = max(_PAIRS // n, 1)
    for start in range(0, n, rows):
        problem.progress("Comparing pairs of records", start, n)
        find_partners(swaps, start, min(start + rows, n), problem.k)
    tiny = TINY_GAIN * float((swaps.groups.records**2).sum(axis=1).max())
    made, last = 0, _CHUNK
    while last == _CHUNK:
        problem.progress("Exchanging pairs of records", made, None)
        last = exchanges(swaps, problem.k, tiny, _CHUNK)
        made += last
        problem.log.offer(swaps.groups.labels)
    return swaps.groups.labels


def build_swaps(problem: Problem, labels: Ints) -> Swaps:
    """Lay out the groups; no record has a partner yet."""
    groups = build_groups(problem.records, labels, problem.subjects)
    away = np.sqrt(((groups.records - groups.centroids[labels]) ** 2).sum(axis=1))
    radius = np.zeros(len(groups.sizes))
    np.maximum.at(radius, labels, away)
    return Swaps(groups, away, radius, np.full(len(labels), -1), np.zeros(len(labels)))
