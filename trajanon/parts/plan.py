"""The plan of a run: how its table is split, and how much fits into memory."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.hashing import hashed
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.parts.reader import Parts
from trajanon.parts.scratch import Scratch
from trajanon.parts.survey import Survey
from trajanon.progress import Progress
from trajanon.settings import Settings

PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


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


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run, as its tasks know it."""

    parts: Parts  # what is read
    scratch: Scratch  # where rows lie between two tasks
    survey: Survey  # how the table is standardised
    split: Split  # how it is split into shards
    k: int  # least number of different subjects in a group
    digits: int  # decimals of a degree in the release
    counts_subjects: bool  # whether subjects are counted, or records
    settings: Settings  # of the search
    progress: Progress  # of the search: silent where it runs elsewhere
    released: int  # parts of the release
    secret: bytes  # from the operating system: decides where rows go in the release

    def counted(self, subject: Ints) -> Ints:
        """Number what k counts, from 0: subjects, or the records."""
        return dense(subject) if self.counts_subjects else np.arange(len(subject))


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


def bytes_of(memory: str | float) -> float:
    """Read an amount of memory, such as ``4GB`` or ``500 MB``."""
    number = r"(\d+\.?\d*(?:e\+?\d+)?|\.\d+)"
    found = re.fullmatch(rf"\s*{number}\s*([kmgt]?)i?b?\s*", str(memory).lower())
    amount = float(found[1]) * _UNITS[found[2]] if found else math.inf
    if math.isinf(amount):
        msg = f"`memory` must be an amount such as 4GB or 500MB (got {memory!r})"
        raise BadInput(msg)
    return amount


def shards_for(n: int, capacity: int) -> int:
    """How many shards are needed, with room to spare: they differ in size."""
    return -(-n * 11 // (capacity * 10))


def capacity_of(memory: float, columns: int, k: int) -> int:
    """How many records of this number of columns fit into memory while they are searched."""
    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # and what else there is for each record. Measured, and rounded up.
    neighbours = neighbour_count(k)
    capacity = int((memory - PROGRAM) / (8 * 3.25 * columns + 16 * neighbours + 300))
    if capacity < 10_000:
        msg = (
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM / 1e9:g}GB, and each million records of {columns} numbers some "
            "2GB; give it 1GB at least"
        )
        raise BadInput(msg)
    return capacity
