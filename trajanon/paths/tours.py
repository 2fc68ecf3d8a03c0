"""A path as a tour through the records and a dummy city, and back."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import permutations
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.tour import Tour, enqueue
from trajanon.arrays import Floats, Ints
from trajanon.neighbours import Neighbours, neighbours_of
from trajanon.problem import Problem
from trajanon.workers import in_parts

NEIGHBOURS = 16
"""Candidates of a move. Ten are filled by the twelve months of one utility (EIA), and
the links between utilities then stay bad; twice as many change little."""

_JOURNAL = 100_000  # reversals that can be taken back

_AT_ONCE = 10_000  # steps that a thread measures

Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record that the path begins with or None to leave that open, to the order of
the records on the path, (n,)."""


class NearLists(NamedTuple):
    """The nearest records of each record, (n, c), the nearest first, and how far they are."""

    nearest: Ints
    away: Floats  # not squared; infinite where there is no such record


FirstPath = Callable[[NearLists], Ints]
"""Near records to the order of all records on a first path, (n,)."""


def from_any_start(search: Callable[[Problem], Ints]) -> Heuristic:
    """Let a search that cannot be told where to begin take a start, or None.

    The start then plays the dummy: it is at distance 0 from the others, which get their shortest
    path, and stands before the nearer end of that.

    Source: Maya-López, Solanas (ApplePies 2019), section II C.
    """

    @wraps(search)
    def begun_at_start(problem: Problem, start: int | None = None) -> Ints:
        if start is None:
            return search(problem)
        records = problem.records
        others = np.delete(np.arange(len(records)), start)
        if len(others) == 0:
            return np.array([start], dtype=np.int64)
        onward = search(
            replace(problem, records=records[others], subjects=problem.subjects[others])
        )
        away = ((records[others[onward[[0, -1]]]] - records[start]) ** 2).sum(axis=1)
        if away[1] < away[0]:
            onward = onward[::-1]
        return np.append(start, others[onward])

    return begun_at_start


def tour_through(
    records: Floats,
    first: FirstPath,
    random: np.random.Generator,
    known: Neighbours | None = None,
    lists: NearLists | None = None,
) -> Tour:
    """Make a first path a tour through the dummy, every city to be looked at."""
    if lists is None:
        nearest = neighbours_of(records, NEIGHBOURS, known)
        away = records[:, None, :] - records[nearest]
        lists = NearLists(nearest, np.sqrt((away**2).sum(axis=2)))
    n = len(records)
    tour = Tour(
        records=records,
        neighbours=lists.nearest,
        near=lists.away,
        order=np.append(first(lists), n),
        position=np.empty(n + 1, dtype=np.int64),
        queue=np.zeros(n + 3, dtype=np.int64),
        queued=np.zeros(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * _JOURNAL + 1, dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    for city in tour.order:
        enqueue(tour, city)
    return tour


def path_along(tour: Tour) -> Ints:
    """Cut a tour at the dummy: the order of the records on the path."""
    dummy = int(tour.position[-1])
    path: Ints = np.roll(tour.order, -dummy)[1:]
    return path


def shortest(records: Floats, start: int | None = None) -> Ints:
    """Try every order of a handful of records; from the start, if there is one."""
    orders = np.array(
        [order for order in permutations(range(len(records))) if start is None or order[0] == start]
    )
    between = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    order: Ints = orders[lengths.argmin()]
    return order


def path_length(records: Floats, path: Ints) -> float:
    """Length of a path through standardised records."""

    def length(places: Ints, stop: Event) -> float:
        steps = np.diff(records[path[places[0] : places[-1] + 2]], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return sum(in_parts(length, np.arange(max(len(path) - 1, 1)), _AT_ONCE))
