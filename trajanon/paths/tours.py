"""What a heuristic of paths is, and what several of them need."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import permutations
from threading import Event

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.problem import Problem
from trajanon.workers import in_parts

_AT_ONCE = 10_000  # steps that a thread measures

Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record that the path begins with or None to leave that open, to the order of
the records on the path, (n,)."""


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


def shortest(records: Floats, start: int | None = None) -> Ints:
    """Try every order of a handful of records; from the start, if there is one."""
    orders = np.array(list(permutations(range(len(records)))))
    if start is not None:
        orders = orders[orders[:, 0] == start]
    between = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return np.asarray(orders[lengths.argmin()])


def path_length(records: Floats, path: Ints) -> float:
    """Length of a path through standardised records."""

    def length(places: Ints, stop: Event) -> float:
        steps = np.diff(records[path[places[0] : places[-1] + 2]], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return sum(in_parts(length, np.arange(max(len(path) - 1, 1)), _AT_ONCE))
