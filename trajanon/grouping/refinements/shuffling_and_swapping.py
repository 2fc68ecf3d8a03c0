"""Refinements of the papers: Random Cluster Shuffling (RCS), and two-swapping.

Both get labels, (n,), the group of each record, and return new ones of no larger SSE. Their moves
are in ``_kernels/shuffling_and_swapping_moves.py``.
"""

import numpy as np

from trajanon._kernels.shuffling_and_swapping_moves import (
    Swaps,
    find_partners,
    make_exchanges,
    shuffling_pass,
)
from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.loss import sse
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.descent import TINY_GAIN, build_groups

STANDSTILL = 1e-4  # squared standard deviations: a pass that changes the SSE by less is the last
_RECORDS_PER_REPORT = 1000  # looked at between two reports of progress
_PAIRS_PER_REPORT = 10_000_000  # compared at most between two reports of progress
_EXCHANGES_PER_REPORT = 100


def rcs(problem: Problem, labels: Ints) -> Ints:
    """Send records to nearer groups, and shuffle two groups at random now and then.

    Each pass looks at the records one after another. One that its group can spare (k different
    subjects stay) moves to the group with the nearest centroid, its own left out, if that lowers
    the SSE. Else the whole group is dissolved, each member to the nearest centroid of the others,
    unless that raises the SSE. A group may grow beyond 2k - 1 records.

    After each record, with a ``shuffle_probability`` and up to ``max_events`` times, a random group
    and the one with the nearest centroid are merged, ordered by distance to the merged centroid,
    and cut into runs of nearly equal length: as many as k goes into the number of their different
    subjects. This may raise the SSE. It is left undone, and is no event, where that would be fewer
    than two runs, or one of them would hold fewer than k different subjects.

    The passes end when one changes the SSE, up or down, by less than 0.0001 squared standard
    deviations. The thesis does not say whether its 0.0001 is absolute; as a part of the SSE it
    would change the IL of Census by less than 0.3 %. Returned is the best partition that a pass
    began or ended with, so the SSE never rises.

    References
    ----------
    Maya-López, thesis (URV 2023), chapter 6, Algorithm 4.

    Examples
    --------
    MDAV makes pairs. Records then go to nearer groups:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> partition = trajanon.microaggregate(ages, k=2, method="mdav", refine="rcs")
    >>> [(stage.name, round(stage.information_loss, 2)) for stage in partition.stages]
    [('mdav', 8.66), ('rcs', 6.69)]
    """
    n = len(labels)
    k = problem.k
    groups = build_groups(problem.records, labels, problem.subjects, places=n // k)
    random = problem.random.integers(1, 2**63, size=1, dtype=np.uint64)  # state of a generator
    settings = problem.settings
    probability = settings.shuffle_probability
    events_left = settings.max_events

    best = renumbered(labels)
    lost = sse(groups.records, best)
    least = lost
    passes = 0
    change = np.inf
    while change >= STANDSTILL:
        # A pass changes the groups, record by record.
        for start in range(0, n, _RECORDS_PER_REPORT):
            problem.progress("Shuffling groups", passes + start / n, None)
            stop = min(start + _RECORDS_PER_REPORT, n)
            events_left = shuffling_pass(groups, random, k, probability, events_left, start, stop)
        passes += 1

        labels = renumbered(groups.labels)
        lost_before = lost
        lost = sse(groups.records, labels)
        change = abs(lost_before - lost)
        if lost < least:
            best = labels
            least = lost
            problem.log.offer(best)
    return best


def swap(problem: Problem, labels: Ints) -> Ints:
    """Exchange the two records that lower the SSE most, until no exchange does.

    Groups keep their sizes, and k different subjects. To exchange x of a group of a records round A
    for y of one of b records round B changes the SSE by 2 (y - x)·(B - A) - (1/a + 1/b) |y - x|².
    Of equally good pairs (i, j), i < j, the first is exchanged.

    The result is that of comparing all pairs before each exchange. But each record keeps its best
    later partner, and an exchange touches only the pairs of its two groups.

    References
    ----------
    Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An optimization-based decomposition
    heuristic for the microaggregation problem", section 3 and Fig. 1.

    Examples
    --------
    MDAV makes pairs. No exchange of two records gains:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> partition = trajanon.microaggregate(ages, k=2, method="mdav", refine="swap")
    >>> [(stage.name, round(stage.information_loss, 2)) for stage in partition.stages]
    [('mdav', 8.66), ('swap', 8.66)]
    """
    n = len(labels)
    groups = build_groups(problem.records, labels, problem.subjects)
    # The partner of each record, -1 for none yet, and what their exchange would change.
    swaps = Swaps(groups, partner=np.full(n, -1), change=np.zeros(n))
    records_per_report = max(_PAIRS_PER_REPORT // n, 1)
    for start in range(0, n, records_per_report):
        problem.progress("Comparing pairs of records", start, n)
        find_partners(swaps, problem.k, start, min(start + records_per_report, n))

    tiny = TINY_GAIN * float((groups.records**2).sum(axis=1).max())
    exchanges = 0
    last_exchanges = _EXCHANGES_PER_REPORT
    # Fewer than were allowed: no exchange is left that gains.
    while last_exchanges == _EXCHANGES_PER_REPORT:
        problem.progress("Exchanging pairs of records", exchanges, None)
        last_exchanges = make_exchanges(swaps, problem.k, tiny, _EXCHANGES_PER_REPORT)
        exchanges += last_exchanges
        problem.log.offer(groups.labels)
    return groups.labels
