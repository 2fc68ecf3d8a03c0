"""Descent: moves of few records lower the SSE till none does any more."""

from collections.abc import Callable, Sequence

import numpy as np

from trajanon._kernels.descent import Descent, creation_pass, group_pass, record_pass
from trajanon._kernels.groups import Groups, refresh_centroids
from trajanon.arrays import Ints
from trajanon.partition import dense
from trajanon.refine.grouped import Grouped, lay_out
from trajanon.vicinity import nearest

NEIGHBOURS = 16
"""A record moves only to a group that holds one of so many nearest records; or of 2k
nearest, if these are more, for a group is created of them."""

_TINY = 1e-12  # of the largest squared distance to the mean: a gain below is rounding
_CHUNK = 3_000  # records times k, looked at between two words about progress


def descent(grouped: Grouped) -> Ints:
    """Make moves that lower the SSE until there are none.

    A group is near a record if it holds one of its 16 nearest records, or of its 2k
    nearest beyond k = 8. The moves:

    - a record leaves its group, which can spare it, and joins a near one;
    - two records change places, where the group of one is near the other;
    - x takes the place of z in a near group, and z joins a group near z: a chain;
    - x takes the place of z, z that of v, and v that of x, each in a near group: a
      cycle. Beyond k = 16 there are too many of both, and neither is tried;
    - a group is dissolved: its members, in their order, each join the near group where
      that costs least;
    - a group is created of a record and the nearest of these that can be spared;
    - a group of 2k different subjects is cut in two, across the line between two
      members that are far apart.

    A group can spare a record if k different subjects stay; and who takes another's
    place leaves k different ones, too. Each move is measured by what it changes in the
    groups concerned, from their centroids: joining a group of b records round B costs
    b/(b+1) |x - B|², leaving one of a saves a/(a-1) |x - A|², and taking the place of z
    there changes the SSE by |x - A|² - |z - A|² - |x - z|²/a.

    Parameters
    ----------
    grouped
        Records in groups of at least k different subjects.

    Returns
    -------
    Ints
        Labels, shape (n,), of a partition where no such move lowers the SSE.
    """
    n = len(grouped.labels)
    groups = lay_out(grouped.records, grouped.labels, grouped.subjects, n // grouped.k + 1)
    descent = begin(groups, near_records(grouped))
    settle(grouped, descent, looks_of(descent))
    return groups.labels


Look = Callable[[Descent, int, int, int, int], int]
"""The moves of records or groups, with k, from a number to another; counts moves on."""


def looks_of(descent: Descent) -> list[tuple[Look, int]]:
    """List the moves of descent, and how many records or groups make them."""
    n, places = len(descent.groups.labels), len(descent.groups.sizes)
    return [(record_pass, n), (group_pass, places), (creation_pass, n)]


def settle(grouped: Grouped, descent: Descent, looks: Sequence[tuple[Look, int]]) -> None:
    """Make moves in groups that are laid out until none gains.

    Parameters
    ----------
    grouped
        Of it, k, the course and the progress.
    descent
        The groups.
    looks
        Kinds of moves, and how many records or groups make them.
    """
    chunk = max(_CHUNK // grouped.k, 1)
    moves, passes, complete = 0, 0, True
    while True:
        before = moves
        for look, count in looks:
            for start in range(0, count, chunk):
                grouped.progress("Moving records", passes, None, grouped.course.note)
                stop = min(start + chunk, count)
                moves = look(descent, grouped.k, moves, start, stop)
        passes += 1
        grouped.course.offer(dense(descent.groups.labels))
        if moves > before:
            complete = False
        elif complete:
            return
        else:
            # A move of three groups may have become possible out of a record's sight.
            descent.looked[:] = -1
            refresh_centroids(descent.groups)
            complete = True


def near_count(k: int) -> int:
    """How many nearest records matter to a record's moves: 16, or 2k."""
    return max(NEIGHBOURS, 2 * k)


def near_records(grouped: Grouped) -> Ints:
    """Find the records whose groups a record may move to: 16 nearest, or 2k."""
    return nearest(grouped.records, near_count(grouped.k), grouped.vicinity)


def begin(groups: Groups, neighbours: Ints) -> Descent:
    """Lay out what moves of groups need; no record has been looked at."""
    n, places = len(groups.labels), len(groups.sizes)
    return Descent(
        groups=groups,
        neighbours=neighbours,
        changed=np.zeros(places, dtype=np.int64),
        looked=np.full(n, -1, dtype=np.int64),
        gathered=np.zeros(n, dtype=np.int64),
        origins=np.zeros(n, dtype=np.int64),
        along=np.zeros(n),
        tiny=_TINY * float((groups.records**2).sum(axis=1).max()),
    )
