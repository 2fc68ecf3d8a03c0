"""The kd-tree that splits a table into shards: it is halved across axes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.hashing import hashed


class Node(NamedTuple):
    """A plane that splits the records of some shards."""

    axis: int  # the axis that it cuts
    place: float  # where: records before this place are on its first side
    tie: int  # of records at the place, those with a lower hash are there, too
    first: int  # the shards from this one on are split
    middle: int  # those from this one on are on the second side
    end: int  # the shard after the last one


class Split(NamedTuple):
    """How a table is split."""

    nodes: tuple[Node, ...]  # the planes, each before those of its two sides
    shards: int  # how many there are

    def shard_of(self, turned: Floats, rows: Ints) -> Ints:
        """Find the shard of each record."""
        tie = hashed(rows.astype(np.uint64))
        held = {0: np.arange(len(turned))}  # by the first of the shards that they may be in
        for node in self.nodes:
            some = held[node.first]
            along = turned[some, node.axis]
            at = (along == node.place) & (tie[some] < np.uint64(node.tie))
            before = (along < node.place) | at
            held |= {node.first: some[before], node.middle: some[~before]}
        shard = np.empty(len(turned), dtype=np.int64)
        for number, some in held.items():
            shard[some] = number
        return shard

    def borders_of(self, shard: int, together: Sequence[int]) -> Iterator[int]:
        """Find the nodes that split a shard from shards which are not searched together with it."""
        for number, node in enumerate(self.nodes):
            if node.first <= shard < node.end:
                first = range(node.first, node.middle)
                beyond = range(node.middle, node.end) if shard in first else first
                if not set(beyond) <= set(together):
                    yield number


def split_table(sample: Floats, shards: int) -> Split:
    """Split a table so that the shards get equal shares of a sample."""
    nodes: list[Node] = []
    tie = hashed(np.arange(len(sample), dtype=np.uint64))

    def split(some: Ints, first: int, end: int) -> None:
        wanted = end - first
        if wanted == 1:
            return
        axis = int(np.argmax(sample[some].var(axis=0)))
        some = some[np.lexsort((tie[some], sample[some, axis]))]
        half = len(some) * (wanted // 2) // wanted
        place, at = float(sample[some[half], axis]), int(tie[some[half]])
        middle = first + wanted // 2
        nodes.append(Node(axis, place, at, first, middle, end))
        # Where the sample is too small to be split, both sides get all of it.
        split(some[:half] if half else some, first, middle)
        split(some[half:], middle, end)

    split(np.arange(len(sample)), 0, shards)
    return Split(tuple(nodes), shards)


def joined_shards(subjects: Sequence[set[int]], k: int) -> list[tuple[int, ...]]:
    """Join shards of fewer than k subjects with the next ones, which are neighbours in the tree."""
    together: list[tuple[int, ...]] = []
    waiting: tuple[int, ...] = ()
    held: set[int] = set()
    for shard, more in enumerate(subjects):
        waiting, held = (*waiting, shard), held | more
        if len(held) >= k:
            together.append(waiting)
            waiting, held = (), set()
    together[-1] += waiting
    return together
