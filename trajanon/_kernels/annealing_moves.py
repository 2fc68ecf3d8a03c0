"""Annealing: random moves that may raise the SSE, the less the colder it is.

Kirkpatrick, Gelatt and Vecchi (Science 1983); the moves, and how they are drawn, are our own. The
same loop anneals records, and windows that slide while they change groups (`Slides`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import draw_bits
from trajanon._kernels.compiled import bare, inlined
from trajanon._kernels.descent_moves import Descent, create_group, dissolve_group, send_back
from trajanon._kernels.group_state import (
    exchange,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
)
from trajanon._kernels.sliding_windows import (
    find_meeting,
    slid_exchange_change,
    slide,
    sliding_change,
)

AT_ONE_HEAT = 256  # moves, which are drawn together
_FARTHEST_SLIDE = 4  # steps that a window slides at most where no neighbour leads it
_LOW_32_BITS = np.uint64(0xFFFFFFFF)
_BITS_OF_WORD = np.uint64(32)

# Of the 32 bits of a move: the one by which it joins or exchanges, or dissolves or creates a group;
# and the one by which a window slides to a neighbour or by chance. Records that cannot slide use
# that bit for which of the two moves.
_BIT_OF_KIND = np.uint64(1)
_BIT_OF_AIM = np.uint64(2)
_BIT_OF_MOVER = _BIT_OF_AIM

# Of 2^32 moves, this number is of whole groups: each costs as much time as tens of others, and
# twice as many do not lower the information loss.
RARE = np.uint64(0.01 * 2**32)


class Annealing(NamedTuple):
    """Everything that random moves read and write."""

    descent: Descent  # the records in their groups, and the neighbours of each
    # Of each record, (n,): the temperature of a move between two is the product of both, times the
    # heat.
    warmth: NDArray[np.float64]
    quantiles: NDArray[np.float64]  # of the exponential distribution, as many as a power of two
    # Ranks 0..c-1 of neighbours in the list of a record, 0 for the nearest: the oftener one stands
    # here, the oftener it is drawn.
    ranks: NDArray[np.int64]
    random: NDArray[np.uint64]  # state of the generator, one cell
    moves: NDArray[np.int64]  # room for moves that are drawn together, (AT_ONE_HEAT, 4)


@bare
def number_below(word, limit):
    """Return a whole number of 0..limit-1 from 32 random bits."""
    return np.int64((word * np.uint64(limit)) >> _BITS_OF_WORD)


@bare
def other_bits(bits):
    """Return 32 bits for one more choice of a move by its 32 ``bits``."""
    # `number_below` chooses by the highest ones, and these are not even: the bits are RARE or more,
    # which some 7 of them decide. So 8 are shifted out.
    return (bits << np.uint64(8)) & _LOW_32_BITS


@bare
def other_member(groups, record, word):
    """Draw another member of a record's group by 32 bits; the record itself if it is alone."""
    group = groups.members[record].group
    if groups.heads[group].size == 1:
        return record

    for _ in range(1 + number_below(word, groups.heads[group].size - 1)):
        record = groups.members[record].following
        if record < 0:
            record = groups.heads[group].first
    return record


@bare
def draw_moves(annealing, moves):
    """Fill in moves, (c, 4): a record, the rank of a neighbour, the number of a quantile, 32 bits.

    The bits are for what else is drawn of each move.
    """
    # Those of one heat in one loop, which needs nothing that moves change. Of two words of 64 bits
    # the upper halves draw the record and the neighbour, the lower ones the quantile and the rest.
    for drawn in moves:
        word = draw_bits(annealing.random)
        next_word = draw_bits(annealing.random)
        drawn[0] = number_below(word >> _BITS_OF_WORD, annealing.descent.neighbours.shape[0])
        place = number_below(next_word >> _BITS_OF_WORD, annealing.ranks.shape[0])
        drawn[1] = annealing.ranks[place]
        drawn[2] = word & np.uint64(annealing.quantiles.shape[0] - 1)
        drawn[3] = next_word & _LOW_32_BITS


@inlined
def slide_to(groups, slides, x, start):
    """Slide window x to a start, and its group's centroid with it; nothing, if nothing slides."""
    if slides is not None and start != slides.start[x]:
        slide(groups, x, slides.rows[slides.first[x] + start])
        slides.start[x] = start


@bare
def meeting_start(slides, x, y, rank):
    """Return the start at which window x is nearest to its neighbour y, by their ``rank``."""
    if slides.meeting[x, rank] < 0:
        slides.meeting[x, rank] = find_meeting(slides, x, y)

    # It was found for where y was at the beginning: as far as y slid since, x slides, too.
    start = slides.meeting[x, rank] + slides.start[y] - slides.began[y]
    return min(max(start, 0), slides.starts[x] - 1)


@bare
def draw_start(slides, x, y, rank, together, bits):
    """Draw a start for window x, by bits: where it meets a neighbour y, or its own.

    If both are ``together`` in a group, the second choice is a start near its own.
    """
    # Half of the slides are aimed at the neighbour; the others find what lies between.
    if bits & _BIT_OF_AIM:
        return meeting_start(slides, x, y, rank)

    start = slides.start[x]
    if together:
        steps = number_below(other_bits(bits), 2 * _FARTHEST_SLIDE + 1)
        start += steps - _FARTHEST_SLIDE
    return min(max(start, 0), slides.starts[x] - 1)


@bare
def move_group(annealing, x, k, bits, limit):
    """Dissolve the group of x, or create one round it, if the SSE rises by less than a limit."""
    descent = annealing.descent
    if bits & _BIT_OF_KIND:
        moved, staying = dissolve_group(descent, descent.groups.members[x].group, limit)
    else:
        moved, staying = create_group(descent, x, k, limit)
    send_back(descent, moved, staying)


@inlined
def rise_by_joining(groups, slides, x, start, target):
    """Compute the change of the SSE if x, a window at a start, joins a group."""
    if slides is None:
        return leaving_change(groups, x) + joining_change(groups, groups.records[x], target)
    window = slides.rows[slides.first[x] + start]
    return leaving_change(groups, x) + joining_change(groups, window, target)


@inlined
def rise_by_exchange(groups, slides, x, start, z):
    """Compute the change of the SSE if x, a window at a start, and z change places."""
    if slides is None:
        return exchange_change(groups, x, z)
    return slid_exchange_change(groups, x, slides.rows[slides.first[x] + start], z)


@bare
def make_random_moves(annealing, slides, k, count, hot, cold):
    """Try ``count`` random moves while the heat falls from ``hot`` towards ``cold``.

    The groups of ``annealing`` change, and where windows are; records that cannot slide have None
    as ``slides``. Of a drawn record x and a neighbour y: if both are in one group, a window x
    slides. Else x joins the group of y, if that has room; or x and a member z of that group change
    places. A window may slide at the same time.
    """
    groups = annealing.descent.groups
    cooling = (cold / hot) ** (AT_ONE_HEAT / count)
    heat = hot
    for step in range(count):
        place = step % AT_ONE_HEAT
        if place == 0:
            heat *= 1.0 if step == 0 else cooling
            draw_moves(annealing, annealing.moves[: count - step])

        x = annealing.moves[place, 0]
        rank = annealing.moves[place, 1]
        bits = np.uint64(annealing.moves[place, 3])
        y = np.int64(annealing.descent.neighbours[x, rank])

        # The rise of the SSE has to be less than a limit. As that is the temperature times a random
        # quantile of the exponential distribution, the probability is exp(-rise / temperature).
        temperature = heat * annealing.warmth[x] * annealing.warmth[y]
        limit = temperature * annealing.quantiles[annealing.moves[place, 2]]
        if bits < RARE:
            move_group(annealing, x, k, bits, limit)
            continue

        if slides is None:
            if bits & _BIT_OF_MOVER:
                # Either may move: no record of a dense place has one of the outskirts among its
                # nearest, so that would never be drawn to go there.
                x, y = y, x
            start = np.int64(0)
        else:
            together = groups.members[x].group == groups.members[y].group
            start = draw_start(slides, x, y, rank, together, bits)

        target = groups.members[y].group
        if target == groups.members[x].group:
            if slides is not None:
                change = sliding_change(groups, x, slides.rows[slides.first[x] + start])
                if change < limit:
                    slide_to(groups, slides, x, start)
        elif (
            # A group has room for 2k - 1 subjects: one of 2k could be two.
            bits & _BIT_OF_KIND
            and groups.heads[target].subject_count < 2 * k - 1
            and may_leave(groups, x, k)
        ):
            change = rise_by_joining(groups, slides, x, start, target)
            if change < limit:
                slide_to(groups, slides, x, start)
                move(groups, x, target)
        else:
            z = other_member(groups, y, other_bits(bits))
            change = rise_by_exchange(groups, slides, x, start, z)
            if change < limit and may_replace(groups, x, z, k) and may_replace(groups, z, x, k):
                slide_to(groups, slides, x, start)
                exchange(groups, x, z)
