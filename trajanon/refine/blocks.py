"""Blocks: parts of a table that can be searched on their own, all at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trajanon.loss import group_means

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
    waiting = [np.arange(len(sizes))]
    while waiting:
        part = waiting.pop()
        if sizes[part].sum() <= most or len(part) == 1:
            inside = np.zeros(len(sizes), dtype=bool)
            inside[part] = True
            yield np.flatnonzero(inside[labels])
            continue
        direction = random.normal(size=records.shape[1])
        along = (centroids[part] * direction).sum(axis=1)
        part = part[np.argsort(along, kind="stable")]
        held = np.cumsum(sizes[part])
        half = int(np.searchsorted(held, held[-1] / 2)) + 1
        half = min(half, len(part) - 1)
        waiting += [part[half:], part[:half]]
