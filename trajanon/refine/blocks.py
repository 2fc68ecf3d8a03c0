"""Blocks: parts of a table that can be searched on their own, all at once."""

from collections.abc import Iterator, Sequence

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.partition import dense

BLOCK = 2_500
"""Records of a block: with them in its cache, a core is at its fastest."""


def draw_blocks(
    records: Floats, labels: Ints, random: np.random.Generator, most: int = BLOCK
) -> Iterator[Ints]:
    """Part records into blocks of whole groups that are near each other.

    The groups are cut in two across a random direction, and each part again, until there are as few
    blocks as can be, of much the same size; blocks that are drawn anew have other borders.
    """
    centroids, sizes = group_means(records, labels), np.bincount(labels)
    members, behind = np.argsort(labels, kind="stable"), np.cumsum(sizes)
    waiting = [(np.arange(len(sizes)), -(-len(labels) // most))]
    while waiting:
        part, blocks = waiting.pop()
        if blocks == 1 or len(part) == 1:
            held = sizes[part]
            skipped = np.repeat(behind[part] - np.cumsum(held), held)
            yield np.sort(members[skipped + np.arange(len(skipped))])
            continue
        direction = random.normal(size=records.shape[1])
        along = (centroids[part] * direction).sum(axis=1)
        part = part[np.argsort(along, kind="stable")]
        held = np.cumsum(sizes[part])
        fewer = blocks // 2
        cut = int(np.searchsorted(held, held[-1] * fewer / blocks)) + 1
        cut = min(cut, len(part) - 1)
        waiting += [(part[cut:], blocks - fewer), (part[:cut], fewer)]


def put_together(blocks: Sequence[tuple[Ints, Ints]]) -> Ints:
    """Put the groups of all blocks together."""
    labels = np.empty(sum(len(rows) for rows, _ in blocks), dtype=np.int64)
    groups = 0
    for rows, theirs in blocks:
        labels[rows] = groups + theirs
        groups += int(theirs.max()) + 1
    return dense(labels)
