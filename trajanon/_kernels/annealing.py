"""Annealing: random moves that may raise the SSE, the less the colder it is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.chance import draw_bits
from trajanon._kernels.compiled import kernel
from trajanon._kernels.descent import Descent
from trajanon._kernels.group_moves import create_group, dissolve_group
from trajanon._kernels.groups import (
    exchange,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
)

AT_ONE_HEAT = 256  # moves
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
RARE = np.uint64(0.01 * 2**32)  # of 2^32 moves, so many are of whole groups: each costs
# as much time as tens of others, and with twice as many a search loses the same


class Annealing(NamedTuple):
    """Everything that random moves read and write.

    Attributes
    ----------
    descent
        The records in their groups, and who is near.
    warmth
        Of each record, (n,): the temperature of a move between two is the product of theirs, times
        the heat.
    quantiles
        Of the exponential distribution, 4,096.
    ranks
        Of neighbours: the more often it is there, the oftener such a one is drawn.
    random
        State of the generator, one cell.
    """

    descent: Descent
    warmth: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    ranks: NDArray[np.int64]
    random: NDArray[np.uint64]


@kernel
def some(word, limit):
    """A whole number of 0..limit-1 from 32 random bits."""
    return np.int64((word * np.uint64(limit)) >> _WORD)


@kernel
def other_bits(bits):
    """Of 32 bits, those that a choice by the low ones leaves, as a word of 32."""
    return (bits << np.uint64(8)) & _LOW


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
def draw_move(annealing, heat):
    """Draw a record, which of its neighbours, the rise allowed, and 32 bits more.

    A rise of the SSE is taken with the probability exp(-rise / temperature).
    """
    neighbours, warmth = annealing.descent.neighbours, annealing.warmth
    one, two = draw_bits(annealing.random), draw_bits(annealing.random)
    x = some(one >> _WORD, neighbours.shape[0])
    rank = annealing.ranks[some(two >> _WORD, annealing.ranks.shape[0])]
    limit = heat * warmth[x] * warmth[neighbours[x, rank]]
    limit *= annealing.quantiles[one & np.uint64(4095)]
    return x, rank, limit, two & _LOW


@kernel
def dissolve_or_create(annealing, x, k, limit, bits, near):
    """Dissolve a record's group, or create one round it, as the bits say."""
    if bits & np.uint64(1):
        dissolve_group(annealing.descent, annealing.descent.groups.labels[x], limit, near)
    else:
        create_group(annealing.descent, x, k, limit)


@kernel
def make_random_moves(annealing, k, count, hot, cold):
    """Try random moves, so many, while the heat falls from hot to cold."""
    groups, neighbours = annealing.descent.groups, annealing.descent.neighbours
    near = np.empty(neighbours.shape[1], dtype=np.int64)
    cooling = (cold / hot) ** (AT_ONE_HEAT / count)
    heat = hot
    for step in range(count):
        if step % AT_ONE_HEAT == AT_ONE_HEAT - 1:
            heat *= cooling
        x, rank, limit, bits = draw_move(annealing, heat)
        if bits < RARE:
            dissolve_or_create(annealing, x, k, limit, bits, near)
            continue
        y = neighbours[x, rank]
        if bits & np.uint64(2):
            # No record of a dense place has one of the outskirts among its nearest.
            x, y = y, x
        target = groups.labels[y]
        own = groups.labels[x]
        if target == own:
            continue
        if bits & np.uint64(1) and groups.different[target] < 2 * k - 1 and may_leave(groups, x, k):
            change = leaving_change(groups, x) + joining_change(groups, x, target)
            if change < limit:
                move(groups, x, target)
        else:
            z = other_member(groups, y, other_bits(bits))
            if (
                exchange_change(groups, x, z) < limit
                and may_replace(groups, x, z, k)
                and may_replace(groups, z, x, k)
            ):
                exchange(groups, x, z)
