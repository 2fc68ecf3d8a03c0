"""Blocks: parts of a large table, each searched by a thread of its own."""

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
    """Count the blocks in which a table of n records is searched."""
    return -(-n // BLOCK)


def draw_blocks(
    records: Floats, labels: Ints, random: np.random.Generator, most: int | None = None
) -> Iterator[Ints]:
    """Part records into blocks of about equal size, each of whole groups that are near one another.

    A block has about ``most`` records, or fewer. The groups are cut in two parts across a random
    direction, and the parts again, until each is one block.
    """
    centroids = group_means(records, labels)
    sizes = np.bincount(labels)

    # The records group by group; those of group g end before place behind[g].
    members = np.argsort(labels, kind="stable")
    behind = np.cumsum(sizes)

    # Parts of the groups, and how many blocks each of them makes.
    waiting = [(np.arange(len(sizes)), -(-len(labels) // (most or BLOCK)))]
    while waiting:
        groups, blocks = waiting.pop()
        if blocks == 1 or len(groups) == 1:
            # Of each record: its place among the members, less its place in the block.
            block_sizes = sizes[groups]
            skipped = np.repeat(behind[groups] - np.cumsum(block_sizes), block_sizes)
            yield np.sort(members[skipped + np.arange(len(skipped))])
            continue

        direction = random.normal(size=records.shape[1])
        along = (centroids[groups] * direction).sum(axis=1)
        groups = groups[np.argsort(along, kind="stable")]

        # Each part gets records in the ratio of its blocks, and one group at least.
        records_up_to = np.cumsum(sizes[groups])
        first_blocks = blocks // 2
        first_records = records_up_to[-1] * first_blocks / blocks
        cut = int(np.searchsorted(records_up_to, first_records)) + 1
        cut = min(cut, len(groups) - 1)
        waiting += [(groups[cut:], blocks - first_blocks), (groups[:cut], first_blocks)]


def put_together(blocks: Iterable[tuple[Ints, Ints]]) -> Ints:
    """Return one labelling of all blocks, each of which is its rows and their groups from 0."""
    blocks = list(blocks)
    # No group is in two blocks, so the numbers of each go on where those of the last one end.
    labels = np.empty(sum(len(rows) for rows, _ in blocks), dtype=np.int64)

    group_count = 0
    for rows, block_labels in blocks:
        labels[rows] = group_count + block_labels
        group_count += int(block_labels.max()) + 1
    return dense(labels)


def random_word(random: np.random.Generator) -> np.uint64:
    """Draw the seed of a block's random moves: 64 bits, not all 0."""
    return random.integers(1, 2**63, dtype=np.uint64)


def block_of(problem: Problem, stop: Event, rows: Ints | None = None) -> Problem:
    """Make the problem of a block, or of all records, for a thread that reports no progress."""

    def stop_if_asked(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    of_thread = replace(problem, log=SearchLog(), progress=stop_if_asked)
    return of_thread if rows is None else of_thread.part(rows)


def neighbours_within(neighbours: NDArray[np.integer], rows: Ints) -> Ints:
    """Return the neighbours of a block's records that are in the block, as places in it."""
    place = np.full(len(neighbours), -1)
    place[rows] = np.arange(len(rows))
    within = place[neighbours[rows]]

    # A neighbour in another block is out of reach: the record itself stands for it.
    return np.where(within < 0, np.arange(len(rows))[:, None], within)
