"""Random moves in a part of a table, and what all parts have in common."""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing import Annealing
from trajanon._kernels.annealing import anneal as make_random_moves
from trajanon.arrays import Floats, Ints
from trajanon.axes import leading_axes, turn
from trajanon.loss import sse, sums_of_products
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.descent import begin, near_records
from trajanon.refine.grouped import lay_out

PASS = 500
"""Moves per record between two looks at what else is to be done."""

DROPPED = 0.01
"""Share of the SSE that the axes left out of the search may hold."""

QUANTILES = -np.log((np.arange(4096) + 0.5) / 4096)
"""Of the exponential distribution."""

NEARNESS = 5.0
"""The farthest neighbours are drawn e^-5 times as often as the nearest, which more of
the good moves lead to. At 0 as many moves lose a tenth of a percent more, and take a
tenth more time; at 8 some tables lose more again."""


@cache
def nearest_most(count: int) -> Ints:
    """List the ranks of so many neighbours, each the more often the nearer it is.

    64 entries a neighbour are enough for the farthest to be among them.
    """
    weights = np.exp(-NEARNESS * np.arange(count) / count).cumsum()
    entries = (np.arange(64 * count) + 0.5) / (64 * count)
    ranks: Ints = np.searchsorted(weights, entries * weights[-1])
    return ranks


class Field(NamedTuple):
    """What random moves in all parts of a table have in common."""

    records: Floats  # in their leading principal axes, shape (n, q)
    neighbours: NDArray[np.integer]  # the nearest records of each one, shape (n, c)
    warmth: Floats  # square root of the temperature that suits each record, shape (n,)


def lay_field(problem: Problem, labels: Ints) -> Field:
    """Find axes, neighbours and temperatures; the SSE of the groups must not be 0."""
    records, large = problem.records, problem.large
    lost = sse(records, labels)
    if large is not None:
        near = large.approximate
        warm = tempered(near.squared.T, large.count, problem.k, lost)
        return Field(large.turned(DROPPED * lost), near.nearest, warm)
    neighbours = near_records(problem)
    return Field(
        records=turn(records, leading_axes(sums_of_products(records), DROPPED * lost)),
        neighbours=neighbours,
        warmth=warmth(records, neighbours, problem.k, lost),
    )


def warmth(records: Floats, neighbours: Ints, k: int, lost: float) -> Floats:
    """Find the square root of the temperature that suits each record."""
    columns = neighbours.T
    away = (((records - records[column]) ** 2).sum(axis=1) for column in columns)
    return tempered(away, len(columns), k, lost)


def tempered(away: Iterable[Floats], count: int, k: int, lost: float) -> Floats:
    """Find that square root from squared distances to the nearest, the second, ..."""
    near, apart, beyond = min(k, count), np.zeros(1), np.zeros(1)
    for rank, distances in enumerate(away):
        beyond = beyond + distances
        if rank < near:
            apart = apart + distances
    # Records with k duplicates have farther ones to go to.
    apart = np.where(apart > 0.0, apart / near, beyond / count)
    return np.sqrt(np.sqrt(apart * lost / len(apart)))


def neighbours_within(neighbours: NDArray[np.integer], rows: Ints) -> Ints:
    """Find the neighbours of a part's records in it, as places in the part."""
    place = np.full(len(neighbours), -1)
    place[rows] = np.arange(len(rows))
    within = place[neighbours[rows]]
    # A neighbour in another part is out of reach: the record itself stands for it.
    return np.where(within < 0, np.arange(len(rows))[:, None], within)


def anneal_part(
    problem: Problem,
    field: Field,
    labels: Ints,
    rows: Ints,
    word: np.uint64,
    moves: int,
    heats: Floats,
    stop: Event,
) -> Ints:
    """Make random moves in a part of a table while the heat falls."""
    neighbours = neighbours_within(field.neighbours, rows)
    groups = lay_out(
        field.records[rows], labels, problem.subjects[rows], len(rows) // problem.k + 1
    )
    annealing = Annealing(
        descent=begin(groups, neighbours),
        warmth=field.warmth[rows],
        quantiles=QUANTILES,
        ranks=nearest_most(neighbours.shape[1]),
        random=np.array([word]),
    )
    for hot, cold in pairwise(heats):
        if stop.is_set():
            raise KeyboardInterrupt
        make_random_moves(annealing, problem.k, moves * len(rows), hot, cold)
    return dense(groups.labels)
