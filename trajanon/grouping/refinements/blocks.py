"""Blocks: parts of a table that are searched on their own, all at once."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.grouping.loss import group_means
from trajanon.grouping.problem import Problem, SearchLog

BLOCK = 2_500  # records of a block: with them in its cache, a core is at its fastest


def block_count(n: int) -> int:
    """Count the blocks that a table of n records is searched in."""
    return -(-n // BLOCK)


def draw_blocks(
    records: Floats, labels: Ints, random: np.random.Generator, most: int | None = None
) -> Iterator[Ints]:
    """Part records into few even blocks of whole near groups, by cuts across random directions."""
    centroids = group_means(records, labels)
    sizes = np.bincount(labels)
    members = np.argsort(labels, kind="stable")
    behind = np.cumsum(sizes)

    # Parts of the groups, and how many blocks each of them makes.
    waiting = [(np.arange(len(sizes)), -(-len(labels) // (most or BLOCK)))]
    while waiting:
        groups, blocks = waiting.pop()
        if blocks == 1 or len(groups) == 1:
            held = sizes[groups]
            skipped = np.repeat(behind[groups] - np.cumsum(held), held)
            yield np.sort(members[skipped + np.arange(len(skipped))])
            continue

        direction = random.normal(size=records.shape[1])
        along = (centroids[groups] * direction).sum(axis=1)
        groups = groups[np.argsort(along, kind="stable")]

        held = np.cumsum(sizes[groups])
        fewer = blocks // 2
        cut = int(np.searchsorted(held, held[-1] * fewer / blocks)) + 1
        cut = min(cut, len(groups) - 1)
        waiting += [(groups[cut:], blocks - fewer), (groups[:cut], fewer)]


def put_together(blocks: Iterable[tuple[Ints, Ints]]) -> Ints:
    """Put the groups of all blocks together: each is its rows, and their groups from 0."""
    blocks = list(blocks)
    labels = np.empty(sum(len(rows) for rows, _ in blocks), dtype=np.int64)

    groups = 0
    for rows, block_labels in blocks:
        labels[rows] = groups + block_labels
        groups += int(block_labels.max()) + 1
    return dense(labels)


def random_word(random: np.random.Generator) -> np.uint64:
    """Draw what the random moves of a block begin with: 64 bits, not all 0."""
    return random.integers(1, 2**63, dtype=np.uint64)


def block_of(problem: Problem, stop: Event, rows: Ints | None = None) -> Problem:
    """Make the problem of a block, or of all records, for a thread that reports no progress."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    alone = replace(problem, log=SearchLog(), progress=look_up)
    if rows is None:
        return alone
    return replace(alone, records=problem.records[rows], subjects=problem.subjects[rows])


def neighbours_within(neighbours: NDArray[np.integer], rows: Ints) -> Ints:
    """Find the neighbours of a block's records in it, as places in the block."""
    place = np.full(len(neighbours), -1)
    place[rows] = np.arange(len(rows))
    within = place[neighbours[rows]]
    # A neighbour in another block is out of reach: the record itself stands for it.
    return np.where(within < 0, np.arange(len(rows))[:, None], within)
