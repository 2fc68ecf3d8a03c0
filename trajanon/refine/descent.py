"""Descent: moves of few records lower the SSE till none does any more."""

from collections.abc import Callable, Sequence

import numpy as np

from trajanon._kernels.descent import Descent, creation_pass, group_pass, record_pass
from trajanon._kernels.groups import Groups, refresh_centroids
from trajanon.arrays import Ints
from trajanon.neighbours import neighbour_count, neighbours_of
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.grouped import lay_out

_TINY = 1e-12  # of the largest squared distance to the mean: a gain below is rounding
_CHUNK = 3_000  # records times k, looked at between two words about progress


def descent(problem: Problem, labels: Ints) -> Ints:
    """Make moves that lower the SSE until there are none.

    A group is near a record if it holds one of its 16 nearest records, or of its 2k nearest beyond
    k = 8. The moves:
    """
    n = len(labels)
    groups = lay_out(problem.records, labels, problem.subjects, n // problem.k + 1)
    descent = begin(groups, near_records(problem))
    settle(problem, descent, looks_of(descent))
    return groups.labels


Look = Callable[[Descent, int, int, int, int], int]
"""The moves of records or groups, with k, from a number to another; counts moves on."""


def looks_of(descent: Descent) -> list[tuple[Look, int]]:
    """List the moves of descent, and how many records or groups make them."""
    n, places = len(descent.groups.labels), len(descent.groups.sizes)
    return [(record_pass, n), (group_pass, places), (creation_pass, n)]


def settle(problem: Problem, descent: Descent, looks: Sequence[tuple[Look, int]]) -> None:
    """Make moves in groups that are laid out until none gains."""
    chunk = max(_CHUNK // problem.k, 1)
    moves, passes, complete = 0, 0, True
    while True:
        before = moves
        for look, count in looks:
            for start in range(0, count, chunk):
                problem.progress("Moving records", passes, None, problem.log.note)
                stop = min(start + chunk, count)
                moves = look(descent, problem.k, moves, start, stop)
        passes += 1
        problem.log.offer(dense(descent.groups.labels))
        if moves > before:
            complete = False
        elif complete:
            return
        else:
            # A move of three groups may have become possible out of a record's sight.
            descent.looked[:] = -1
            refresh_centroids(descent.groups)
            complete = True


def near_records(problem: Problem) -> Ints:
    """Find the records whose groups a record may move to: 16 nearest, or 2k."""
    return neighbours_of(problem.records, neighbour_count(problem.k), problem.neighbours)


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
