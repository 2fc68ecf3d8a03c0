"""Descent: moves of few records lower the SSE until no move does.

The moves are our own selection of those known from clustering; `_kernels/descent_moves.py` makes
them on `Groups`, which `build_groups` lays out. Labels, (n,), number the group of each record.
"""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event

import numpy as np

from trajanon._kernels.descent_moves import CREATED, GROUPS, RECORDS, Descent, descent_pass
from trajanon._kernels.group_state import HEAD, MEMBER, NONE, Groups, refresh_centroids
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.threads_and_dask import in_threads
from trajanon.grouping.different_ends import Ends
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.loss import sse
from trajanon.grouping.neighbours import Neighbours, neighbour_count, neighbours_of
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.blocks import (
    block_of,
    draw_blocks,
    neighbours_within,
    put_together,
)

SETTLED = 0.03
"""A block is left when a round makes fewer moves than this share of its records: all later ones
would lower the SSE by a thousandth."""

TINY_GAIN = 1e-12  # of the largest squared distance to the mean: a gain below is rounding
_RECORDS_PER_REPORT = 3_000  # divided by k: so many are looked at between two reports of progress

Pass = Callable[[Descent, int, int, int, int], int]
"""What makes the moves of the records, or groups, first..end - 1.

It gets (descent, k, moves made so far, first, end), and returns the moves made since the start."""


def descend(problem: Problem, labels: Ints) -> Ints:
    """Make moves that lower the SSE until there are none, or few within blocks.

    A group is near a record if it holds one of its 16 nearest records, or of its 2k nearest beyond
    k = 8. The moves:

    - a record leaves its group, which can spare it, and joins a near one;
    - two records change places, where the group of one is near the other;
    - x takes the place of z in a near group, and z joins a group near z: a chain;
    - x takes the place of z, z that of v, and v that of x, each in a near group: a cycle. Beyond
      k = 16 there are too many of both, and neither is tried;
    - a group is dissolved: its members, in their order, each join the near group where that costs
      least;
    - a group is created of a record and the nearest of these that can be spared;
    - a group of 2k different subjects is cut in two, across the line between two members that are
      far apart.

    A group can spare a record if k different subjects stay. Each move is measured by what it
    changes in its groups, from their centroids: joining a group of b records with centroid B costs
    b/(b+1) |x - B|², leaving one of a saves a/(a-1) |x - A|², and taking the place of z there
    changes the SSE by |x - A|² - |z - A|² - |x - z|²/a.

    A large table is searched in blocks of whole groups, all at once, in two rounds with other
    borders. The first one sees the leading principal axes, the second one all columns.

    Examples
    --------
    MDAV makes pairs. Descent moves records between them, and dissolves one of them:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> partition = trajanon.microaggregate(ages, k=2, method="mdav", refine="descent")
    >>> [(stage.name, round(stage.information_loss, 2)) for stage in partition.stages]
    [('mdav', 8.66), ('descent', 6.69)]
    """
    if (large := problem.neighbours_if_large) is not None:
        labels = descend_in_blocks(problem, labels, large.approximate.points)
        return descend_in_blocks(problem, labels, problem.records)

    near = neighbours_of(problem.records, neighbour_count(problem.k), problem.neighbours)
    descent = build_descent(problem, problem.records, labels, near)
    settle(problem, descent, passes_of(descent))
    return renumbered(descent.groups.labels)


def descend_in_blocks(problem: Problem, labels: Ints, seen: Floats) -> Ints:
    """Descend once in each block of a large table; moves see the records as ``seen``, (n, q)."""
    large = problem.neighbours_if_large
    assert large is not None

    report = partial(problem.progress, "Moving records", 0, None, problem.log.note)
    report()
    blocks = list(draw_blocks(large.approximate.points, labels, problem.random))
    jobs = [partial(_descend_in_block, problem, labels, large, seen, rows) for rows in blocks]
    block_labels, losses = zip(*in_threads(jobs, report), strict=True)

    labels = put_together(zip(blocks, block_labels, strict=True))
    problem.log.offer(labels, sum(losses))
    return labels


def _descend_in_block(
    problem: Problem, labels: Ints, large: Neighbours, seen: Floats, rows: Ints, stop: Event
) -> tuple[Ints, float]:
    """Descend in a block; return the better labels of before and after, and their SSE."""
    block = block_of(problem, stop, rows)
    before = renumbered(labels[rows])
    near = neighbours_within(large.nearest, rows)
    descent = build_descent(block, seen[rows], before, near)
    settle(block, descent, passes_of(descent), enough=SETTLED * len(rows))

    # The SSE may have risen in columns that were not seen.
    after = renumbered(descent.groups.labels)
    lost_before = sse(block.records, before)
    lost_after = sse(block.records, after)
    return (before, lost_before) if lost_after > lost_before else (after, lost_after)


def build_groups(
    records: Floats, labels: Ints, subjects: Ints, places: int = 0, ends: Ends | None = None
) -> Groups:
    """Lay out copies of records in groups, with room for so many groups (``places``) at least."""
    n = len(records)
    # Centred, so that rounding is small beside the spread.
    records = records - records.mean(axis=0)
    means = group_means(records, labels)
    count = len(means)
    places = max(places, count)

    centroids = np.zeros((places, records.shape[1]))
    centroids[:count] = means

    # The members of a group are linked in their order, both ways. All fields begin with NONE.
    chained = np.argsort(labels, kind="stable")
    is_first = np.diff(labels[chained], prepend=-1) > 0
    goes_on = ~is_first[1:]
    before = chained[:-1][goes_on]
    behind = chained[1:][goes_on]
    members = np.full(n, NONE).astype(MEMBER)
    members["group"] = labels
    members["subject"] = subjects
    members["following"][before] = behind
    members["preceding"][behind] = before

    heads = np.zeros(places, dtype=HEAD)
    heads["first"] = NONE
    heads["first"][:count] = chained[is_first]
    heads["size"] = np.bincount(labels, minlength=places)
    heads["subject_count"][:count] = subjects_per_group(labels, subjects)

    # Places without a group, as a stack, the lowest on top; the last number is its height.
    spare = np.flatnonzero(heads["size"] == 0)[::-1]
    empty = np.zeros(places + 1, dtype=np.int64)
    empty[: len(spare)] = spare
    empty[-1] = len(spare)

    return Groups(
        records=records,
        members=members,
        heads=heads,
        centroids=centroids,
        repeats=len(np.unique(subjects)) < n,
        empty=empty,
        ends=np.empty((n, 0, 3)) if ends is None else ends.places,
        picked=np.empty(0 if ends is None else ends.distinct, dtype=np.int64),
        reach=0.0 if ends is None else ends.reach,
    )


def build_descent(problem: Problem, seen: Floats, labels: Ints, neighbours: Ints) -> Descent:
    """Lay out groups of the records as ``seen``, (n, q), and what moves read and write.

    ``neighbours`` are places in the same order, (n, c). No record has been looked at.
    """
    n, c = neighbours.shape
    # Room for as many groups as there can be, and one more while a new one is tried.
    groups = build_groups(seen, labels, problem.subjects, n // problem.k + 1, problem.ends)
    return Descent(
        groups=groups,
        neighbours=neighbours.astype(np.int32),
        groups_near_record=np.empty(c, dtype=np.int64),
        groups_near_member=np.empty(c, dtype=np.int64),
        gathered=np.zeros(n, dtype=np.int64),
        origins=np.zeros(n, dtype=np.int64),
        targets=np.zeros(3, dtype=np.int64),
        along=np.zeros(n),
        tiny=TINY_GAIN * float((groups.records**2).sum(axis=1).max()),
    )


def passes_of(descent: Descent) -> list[tuple[Pass, int]]:
    """List the passes of descent, each with the number of records, or groups, that it looks at."""
    n = len(descent.groups.members)
    places = len(descent.groups.heads)
    looked_at: list[tuple[np.int64, int]] = [(RECORDS, n), (GROUPS, places), (CREATED, n)]
    return [(partial(descent_pass, movers), count) for movers, count in looked_at]


def settle(
    problem: Problem,
    descent: Descent,
    passes: Sequence[tuple[Pass, int]],
    task: str = "Moving records",
    enough: float | None = None,
) -> None:
    """Make moves, which change the groups of ``descent``, until a round makes none.

    With ``enough``, as blocks have it, until a round makes no more than so many.
    """
    chunk = max(_RECORDS_PER_REPORT // problem.k, 1)
    moves = 0  # made so far
    rounds = 0
    looks_at_all = True  # whether this round looks at all records, and not only near a change
    while True:
        moves_before = moves
        for make_moves, count in passes:
            for start in range(0, count, chunk):
                problem.progress(task, rounds, None, problem.log.note)
                moves = make_moves(descent, problem.k, moves, start, min(start + chunk, count))
        rounds += 1
        problem.log.offer(renumbered(descent.groups.labels))

        # A block is left while a few moves still gain, so a last look at all is not worth its time.
        if enough is not None:
            if moves - moves_before <= enough:
                return
        elif moves > moves_before:
            looks_at_all = False
        elif looks_at_all:
            return
        else:
            # Only records near a change were looked at, and a move of three groups may have become
            # possible out of a record's sight: one more round looks at all, with exact centroids.
            descent.groups.members["looked"] = NONE
            refresh_centroids(descent.groups)
            looks_at_all = True
