"""Blocks: parts of a large table, of whole groups that are near one another.

Each block is searched by a thread of its own: its records are rows of the table, rising, and its
groups are numbered from 0. This is our own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints, indices_of_spans, renumbered
from trajanon.grouping.group_means import group_means
from trajanon.grouping.problem import Problem, SearchLog

BLOCK = 2_500  # records of a block: with them in its cache, a core is at its fastest


def block_count(n: int) -> int:
    """Count the blocks in which a table of n records is searched."""
    return -(-n // BLOCK)


def draw_blocks(
    records: Floats, labels: Ints, random: np.random.Generator, most: int | None = None
) -> Iterator[Ints]:
    """Yield the rows of blocks of about equal size, ``most`` records or fewer.

    The groups are cut in two parts across a random direction, and the parts again, until each is
    one block.
    """
    centroids = group_means(records, labels)
    sizes = np.bincount(labels)

    # Rows group by group; those of group g begin at place begin[g].
    order = np.argsort(labels, kind="stable")
    begin = np.cumsum(sizes) - sizes

    # Parts of the groups, and how many blocks each of them makes.
    all_blocks = -(-len(labels) // (most or BLOCK))
    waiting = [(np.arange(len(sizes)), all_blocks)]
    while waiting:
        groups, blocks = waiting.pop()
        if blocks == 1 or len(groups) == 1:
            yield np.sort(order[indices_of_spans(begin[groups], sizes[groups])])
            continue

        direction = random.normal(size=records.shape[1])
        along = (centroids[groups] * direction).sum(axis=1)
        groups = groups[np.argsort(along, kind="stable")]

        # Each part gets records in the ratio of its blocks, and one group at least. The group with
        # which the first part has enough is still in it.
        records_up_to = np.cumsum(sizes[groups])
        first_blocks = blocks // 2
        first_records = records_up_to[-1] * first_blocks / blocks
        cut = int(np.searchsorted(records_up_to, first_records)) + 1
        cut = min(cut, len(groups) - 1)
        waiting += [(groups[cut:], blocks - first_blocks), (groups[:cut], first_blocks)]


def put_together(blocks: Iterable[tuple[Ints, Ints]]) -> Ints:
    """Return the labels of all records, (n,), from the rows and labels of each block."""
    blocks = list(blocks)
    # No group is in two blocks, so the numbers of each go on where those of the last one end.
    labels = np.empty(sum(len(rows) for rows, _ in blocks), dtype=np.int64)

    group_count = 0
    for rows, block_labels in blocks:
        labels[rows] = group_count + block_labels
        group_count += int(block_labels.max()) + 1
    return renumbered(labels)


def random_word(random: np.random.Generator) -> np.uint64:
    """Draw the seed of a block's random moves: 64 bits, not all 0."""
    return random.integers(1, 2**63, dtype=np.uint64)


def block_of(problem: Problem, stop: Event, rows: Ints | None = None) -> Problem:
    """Make the problem of a block, or of all records, for a thread that reports no progress."""

    def stop_if_asked(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    quiet = replace(problem, log=SearchLog(), progress=stop_if_asked)
    return quiet if rows is None else quiet.part(rows)


def neighbours_within(neighbours: NDArray[np.integer], rows: Ints) -> Ints:
    """Return the neighbours of a block's rows by their places in the block, (rows, c).

    ``neighbours`` are those of all records by row, (n, c).
    """
    # Zeros are not written before they are read, as -1 would be: with many blocks that takes long.
    own_places = np.arange(len(rows))
    place_of_row = np.zeros(len(neighbours), np.int32)
    place_of_row[rows] = own_places

    near_rows = neighbours[rows]
    places = place_of_row[near_rows]
    is_within = rows[places] == near_rows
    # A neighbour in another block is out of reach: the record itself stands for it.
    return np.where(is_within, places, own_places[:, None])
