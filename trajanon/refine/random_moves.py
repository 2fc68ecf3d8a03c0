"""Random moves in a block of a table, and what all blocks have in common."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing import AT_ONE_HEAT, Annealing, make_random_moves
from trajanon.arrays import Floats, Ints
from trajanon.axes import leading_axes, turn
from trajanon.loss import sse, sums_of_products
from trajanon.neighbours import neighbour_count, neighbours_of
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.blocks import neighbours_within
from trajanon.refine.descent import build_descent
from trajanon.workers import in_parts

PASS = 500  # moves per record of a pass at most; then blocks are drawn anew
DROPPED = 0.01  # share of the SSE that the axes left out of the search may hold
_AT_ONCE = 10_000  # records whose temperatures a thread finds
QUANTILES = -np.log((np.arange(4096) + 0.5) / 4096)  # of the exponential distribution

NEARNESS = 5.0
"""The farthest neighbours are drawn e^-5 times as often as the nearest, as more good moves lead
to the nearest. At 0 the same moves lose a tenth of a percent more, and take a tenth more time; at
8 some tables lose more again."""


def cooling(moves: int, most: int, fewest: int, hot: float, cold: float) -> tuple[int, Floats]:
    """Split moves per record into passes: the moves of each, and the heats before and after it."""
    passes = max(moves // most, fewest) if moves else 0
    return -(-moves // max(passes, 1)), np.geomspace(hot, cold, passes + 1)


@cache
def nearest_most(count: int) -> Ints:
    """List the ranks of neighbours; the nearer one is, the more often its rank is listed."""
    # 64 entries a neighbour are enough for the farthest to be among them.
    weights = np.exp(-NEARNESS * np.arange(count) / count).cumsum()
    entries = (np.arange(64 * count) + 0.5) / (64 * count)
    return np.asarray(np.searchsorted(weights, entries * weights[-1]))


class Field(NamedTuple):
    """What random moves in all blocks of a table have in common."""

    problem: Problem  # as they see it: records along the leading axes
    neighbours: NDArray[np.integer]  # the nearest records of each one, shape (n, c)
    warmth: Floats  # square root of the temperature that suits each record, shape (n,)


def build_field(problem: Problem, labels: Ints) -> Field:
    """Find leading axes, neighbours and temperatures; the SSE of the groups must not be 0."""
    records, large, k = problem.records, problem.large, problem.k
    lost = sse(records, labels)
    if large is not None:
        turned, near = large.turned(DROPPED * lost), large.nearest
        warm = tempered(large.approximate.squared.T, large.count, k, lost / len(records))
    else:
        near = neighbours_of(records, neighbour_count(k), problem.neighbours)
        turned = turn(records, leading_axes(sums_of_products(records), DROPPED * lost))
        warm = warmth(records, near, k, lost)
    return Field(replace(problem, records=turned), near, warm)


def warmth(records: Floats, neighbours: NDArray[np.integer], k: int, lost: float) -> Floats:
    """Find the square root of the temperature that suits each record."""

    def of(rows: Ints, stop: Event) -> Floats:
        here, columns = records[rows], neighbours[rows].T
        away = (((here - records[column]) ** 2).sum(axis=1) for column in columns)
        return tempered(away, len(columns), k, lost / len(records))

    return np.concatenate(in_parts(of, np.arange(len(records)), _AT_ONCE))


def tempered(away: Iterable[Floats], count: int, k: int, lost: float) -> Floats:
    """Find that square root from squared distances to the nearest, the second, ...

    And from what each record loses, on average.
    """
    near, apart, beyond = min(k, count), np.zeros(1), np.zeros(1)
    for rank, distances in enumerate(away):
        beyond = beyond + distances
        if rank < near:
            apart = apart + distances
    # Records with k duplicates have farther ones to go to.
    apart = np.where(apart > 0.0, apart / near, beyond / count)
    return np.sqrt(np.sqrt(apart * lost))


def build_annealing(
    field: Field, records: Floats, labels: Ints, rows: Ints, word: np.uint64
) -> Annealing:
    """Lay out the groups of a block for random moves, which begin with a word of random bits."""
    problem, near = field.problem, neighbours_within(field.neighbours, rows)
    return Annealing(
        descent=build_descent(records, labels, problem.subjects[rows], problem.k, near),
        warmth=field.warmth[rows],
        quantiles=QUANTILES,
        ranks=nearest_most(near.shape[1]),
        random=np.array([word]),
        moves=np.empty((AT_ONE_HEAT, 4), dtype=np.int64),
    )


def anneal_block(
    field: Field, moves: int, heats: Floats, labels: Ints, rows: Ints, word: np.uint64, stop: Event
) -> Ints:
    """Make random moves in a block: ``moves`` per record between each two heats."""
    problem = field.problem
    annealing = build_annealing(field, problem.records[rows], labels, rows, word)
    for hot, cold in pairwise(heats):
        if stop.is_set():
            raise KeyboardInterrupt
        make_random_moves(annealing, None, problem.k, moves * len(rows), hot, cold)
    return dense(annealing.descent.groups.labels)
