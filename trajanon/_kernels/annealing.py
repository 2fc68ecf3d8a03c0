"""Annealing: random moves that may raise the SSE, the less the colder it is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.chance import draw
from trajanon._kernels.compiled import kernel
from trajanon._kernels.descent import Descent, create, dissolve
from trajanon._kernels.groups import (
    exchange,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
)

_STEPS = 256  # moves tried at one heat
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_RARE = np.uint64(0.02 * 2**32)  # of 2^32 moves, so many are of whole groups


class Annealing(NamedTuple):
    """Everything that random moves read and write.

    Attributes
    ----------
    descent
        The records in their groups, and who is near.
    warmth
        Of each record, (n,): the temperature of a move between two is the product of
        theirs, times the heat.
    quantiles
        Of the exponential distribution, 4,096.
    random
        State of the generator, one cell.
    """

    descent: Descent
    warmth: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    random: NDArray[np.uint64]


@kernel
def some(word, limit):
    """A whole number of 0..limit-1 from 32 random bits."""
    return np.int64((word * np.uint64(limit)) >> _WORD)


@kernel
def other_member(groups, record, word):
    """Another member of a record's group; the record itself if it is alone."""
    group = groups.labels[record]
    if groups.sizes[group] == 1:
        return record
    for _ in range(1 + some(word, groups.sizes[group] - 1)):
        record = groups.following[record]
        if record < 0:
            record = groups.first[group]
    return record


@kernel
def anneal(annealing, k, count, hot, cold):
    """Try random moves, so many, while the heat falls from hot to cold."""
    descent = annealing.descent
    groups, neighbours = descent.groups, descent.neighbours
    near = np.empty(neighbours.shape[1], dtype=np.int64)
    n = groups.labels.shape[0]
    cooling = (cold / hot) ** (_STEPS / count)
    heat = hot
    for step in range(count):
        if step % _STEPS == _STEPS - 1:
            heat *= cooling
        one, two = draw(annealing.random), draw(annealing.random)
        x = some(one >> _WORD, n)
        y = neighbours[x, some(two >> _WORD, neighbours.shape[1])]
        # A rise of the SSE is taken with the probability exp(-rise / temperature).
        limit = heat * annealing.warmth[x] * annealing.warmth[y]
        limit *= annealing.quantiles[one & np.uint64(4095)]
        left = two & _LOW
        if left < _RARE:
            if left & np.uint64(1):
                dissolve(descent, groups.labels[x], limit, near)
            else:
                create(descent, x, k, limit)
            continue
        target = groups.labels[y]
        own = groups.labels[x]
        if target == own:
            continue
        if (
            left & np.uint64(1)
            and groups.different[target] < 2 * k - 1
            and may_leave(groups, x, k)
        ):
            change = leaving_change(groups, x) + joining_change(groups, x, target)
            if change < limit:
                move(groups, x, target)
        else:
            z = other_member(groups, y, (left << np.uint64(8)) & _LOW)
            if (
                exchange_change(groups, x, z) < limit
                and may_replace(groups, x, z, k)
                and may_replace(groups, z, x, k)
            ):
                exchange(groups, x, z)
