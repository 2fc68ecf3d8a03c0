"""The kd-tree that splits a table into shards: it is halved across axes."""

from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.hashing import hashed


class Node(NamedTuple):
    """A plane that splits some records from others."""

    axis: int  # the axis that it cuts
    place: float  # where: records before this place are on its first side
    tie: int  # of records at the place, those with a lower hash are there, too
    sides: tuple[int, int]  # the nodes of the two sides; or shards, as -1 - shard


class Step(NamedTuple):
    """A node on the way to a shard, and which side of it is taken."""

    node: int
    side: int


class Split(NamedTuple):
    """How a table is split."""

    nodes: tuple[Node, ...]  # the planes
    shards: int  # how many there are

    def shard_of(self, turned: Floats, rows: Ints) -> Ints:
        """Find the shard of each record."""
        tie = hashed(rows.astype(np.uint64))
        shard = np.zeros(len(turned), dtype=np.int64)
        waiting = [(0, np.arange(len(turned)))] if self.nodes else []
        while waiting:
            number, some = waiting.pop()
            node = self.nodes[number]
            along = turned[some, node.axis]
            at = (along == node.place) & (tie[some] < np.uint64(node.tie))
            first = (along < node.place) | at
            for side, theirs in zip(node.sides, (some[first], some[~first]), strict=True):
                if side < 0:
                    shard[theirs] = -1 - side
                else:
                    waiting.append((side, theirs))
        return shard

    def way_to(self, shard: int) -> list[Step]:
        """Find the nodes on the way to a shard, from the first one on."""
        came = {
            side: Step(number, which)
            for number, node in enumerate(self.nodes)
            for which, side in enumerate(node.sides)
        }
        way, place = [], -1 - shard
        while place in came:
            way.append(came[place])
            place = came[place].node
        return way[::-1]

    def beyond(self, step: Step) -> set[int]:
        """The shards on the other side of a node."""
        waiting, shards = [self.nodes[step.node].sides[1 - step.side]], set()
        while waiting:
            place = waiting.pop()
            if place < 0:
                shards.add(-1 - place)
            else:
                waiting += self.nodes[place].sides
        return shards


def split_table(sample: Floats, shards: int) -> Split:
    """Split a table so that the shards get equal shares of a sample."""
    nodes: list[Node] = []
    tie = hashed(np.arange(len(sample), dtype=np.uint64))
    numbers = iter(range(shards))

    def part(some: Ints, wanted: int) -> int:
        if wanted == 1:
            return -1 - next(numbers)
        axis = int(np.argmax(sample[some].var(axis=0)))
        some = some[np.lexsort((tie[some], sample[some, axis]))]
        half = len(some) * (wanted // 2) // wanted
        middle = some[half]
        number = len(nodes)
        nodes.append(Node(axis, float(sample[middle, axis]), int(tie[middle]), (0, 0)))
        # Where the sample is too small to be split, both sides get all of it.
        first = part(some[:half] if half else some, wanted // 2)
        second = part(some[half:], wanted - wanted // 2)
        nodes[number] = nodes[number]._replace(sides=(first, second))
        return number

    part(np.arange(len(sample)), shards)
    return Split(tuple(nodes), shards)


def joined_shards(split: Split, subjects: list[set[int]], k: int) -> list[tuple[int, ...]]:
    """Join shards of fewer than k subjects with their neighbours in the tree."""

    def enough(some: list[int]) -> bool:
        return len(set().union(*(subjects[shard] for shard in some))) >= k

    together: list[list[int]] = []
    waiting: list[int] = []
    for shard in range(split.shards):  # in the order of the tree: neighbours
        waiting.append(shard)
        if enough(waiting):
            together.append(waiting)
            waiting = []
    if waiting:
        together[-1] += waiting
    return [tuple(some) for some in together]
