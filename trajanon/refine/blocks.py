"""Blocks: parts of a table that can be searched on their own, all at once."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trajanon.loss import group_means
from trajanon.partition import dense

BLOCK = 2_500
"""Records of a block at most: with them in its cache, a core is at its fastest."""


def draw_blocks(
    records: NDArray[np.float64],
    labels: NDArray[np.int64],
    random: np.random.Generator,
    most: int = BLOCK,
) -> Iterator[NDArray[np.int64]]:
    """Part records into blocks of whole groups that are near each other.

    The groups are halved across a random direction until each part is small enough;
    blocks that are drawn anew have other borders.

    Parameters
    ----------
    records
        Shape (n, p).
    labels
        Group of each record, shape (n,), numbered 0..g-1.
    random
        Source of the directions.
    most
        Records of a block.

    Yields
    ------
    NDArray[np.int64]
        The records of a block, rising: no more than may be, or one larger group.
    """
    centroids, sizes = group_means(records, labels), np.bincount(labels)
    members, behind = np.argsort(labels, kind="stable"), np.cumsum(sizes)
    waiting = [np.arange(len(sizes))]
    while waiting:
        part = waiting.pop()
        if sizes[part].sum() <= most or len(part) == 1:
            held = sizes[part]
            skipped = np.repeat(behind[part] - np.cumsum(held), held)
            yield np.sort(members[skipped + np.arange(len(skipped))])
            continue
        direction = random.normal(size=records.shape[1])
        along = (centroids[part] * direction).sum(axis=1)
        part = part[np.argsort(along, kind="stable")]
        held = np.cumsum(sizes[part])
        half = int(np.searchsorted(held, held[-1] / 2)) + 1
        half = min(half, len(part) - 1)
        waiting += [part[half:], part[:half]]


def put_together(
    blocks: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> NDArray[np.int64]:
    """Put the groups of all blocks together.

    Parameters
    ----------
    blocks
        The records of each block, and their groups, numbered from 0; every record is
        in one block.

    Returns
    -------
    NDArray[np.int64]
        Labels of all records, shape (n,), numbered in the order of appearance.
    """
    labels = np.empty(sum(len(rows) for rows, _ in blocks), dtype=np.int64)
    groups = 0
    for rows, theirs in blocks:
        labels[rows] = groups + theirs
        groups += int(theirs.max()) + 1
    return dense(labels)
