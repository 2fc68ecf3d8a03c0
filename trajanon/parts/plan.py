"""The plan of a run: a first reading of all parts, the split of the table, and its memory."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.errors import BadInput
from trajanon.executors import Executor
from trajanon.files.parquet_parts import RowIds
from trajanon.neighbours import neighbour_count
from trajanon.parts.reader import Parts, PartSlice
from trajanon.parts.scratch import Scratch
from trajanon.progress import Progress
from trajanon.settings import ReleaseSettings, Settings
from trajanon.snapping import RoadsToFollow
from trajanon.times import Timing, refuse_one_time, timing_asked_for, without_times
from trajanon.trajectories import Trajectories

_LOG = logging.getLogger(__name__)

SAMPLE = 100_000
"""Records in the sample that decides where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""

PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""


class Node(NamedTuple):
    """A plane that splits the records of some shards."""

    axis: int  # the axis that it cuts
    place: float  # where: records before this place are on its first side
    first: int  # the shards from this one on are split
    middle: int  # those from this one on are on the second side


class Split(NamedTuple):
    """How a table is split into shards, by a sample of its records."""

    mean: Floats  # of each column, (2 m,)
    spread: Floats  # of each column, (2 m,): its sample standard deviation; 1 where constant
    axes: Floats  # the leading principal axes of the standardised records, (2 m, q)
    nodes: list[Node]  # the planes, each before those of its two sides
    shards: int  # how many there are
    begins: Floats  # first latitudes of the sample, rising, (s,)

    @classmethod
    def of(cls, sample: Floats, shards: int) -> "Split":
        """Split a table so that the shards get equal shares of a sample, (s, 2 m)."""
        mean, spread = sample.mean(axis=0), (sample - sample[:1]).std(axis=0)
        spread[spread == 0.0] = 1.0
        records = (sample - mean) / spread
        axes = np.ascontiguousarray(principal_axes(records)[:, :AXES])
        turned, nodes = turn(records, axes), list[Node]()

        def split(some: Ints, first: int, end: int) -> None:
            if end - first == 1:
                return
            axis = int(np.argmax(turned[some].var(axis=0)))
            some = some[np.argsort(turned[some, axis], kind="stable")]
            before = (end - first) // 2
            cut = len(some) * before // (end - first)
            nodes.append(Node(axis, float(turned[some[cut], axis]), first, first + before))
            # Where the sample is too small to be split, both sides get all of it.
            split(some[:cut] if cut else some, first, first + before)
            split(some[cut:], first + before, end)

        split(np.arange(len(sample)), 0, shards)
        return cls(mean, spread, axes, nodes, shards, np.sort(sample[:, 0]))

    def shard_of(self, rows: Trajectories) -> Ints:
        """Find the shard of each trajectory, (n,)."""
        turned = turn((rows.records - self.mean) / self.spread, self.axes)
        shard = np.zeros(len(rows), dtype=np.int64)
        for node in self.nodes:
            behind = (shard == node.first) & (turned[:, node.axis] >= node.place)
            shard[behind] = node.middle
        return shard


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run in several shards, as its tasks know it."""

    parts: Parts  # what is read
    scratch: Scratch  # where rows lie between two tasks
    split: Split  # how the table is split into shards
    timing: Timing | None  # how times are counted
    release: ReleaseSettings  # what is written
    settings: Settings  # of the search
    k: int  # least number of different subjects in a group
    key: bytes | None  # the holder's secret, by which lines are perturbed; None: plain means
    roads: RoadsToFollow | None  # on which released lines lie
    progress: Progress  # of the search: silent where it runs elsewhere


def with_subjects(executor: Executor, parts: Parts) -> Parts:
    """Read the subjects of all rows; warn of names that are spellings of one."""
    if parts.ids is None:
        read = executor.each("Reading subjects", parts.read_ids, parts.slices)
        parts = replace(parts, ids=(ids := RowIds.of(read)))
        if ids.merged.sentence():
            _LOG.warning("%s: %s", parts.folder, ids.merged.sentence())
    return parts


def survey_table(
    executor: Executor, parts: Parts, shards: int, settings: ReleaseSettings
) -> tuple[Split, Timing | None]:
    """Read all parts once; the local time zone is that of the first rows."""
    bare = parts.track_points > 0 and "track_times" not in parts.schema.names
    timing = timing_asked_for(
        settings,
        parts.provenance,
        bare_tracks=bare,
        middle=lambda: parts.read(parts.slices[0]).points.mean(axis=(0, 1)),
    )
    looks = executor.each("Reading parts", partial(_look, parts, timing), parts.slices)
    samples, still, first, last = zip(*looks, strict=True)
    if timing is not None:
        refuse_one_time(timing.clock, sum(still), parts.n, min(first), max(last))
    return Split.of(np.concatenate(samples), shards), timing


def _look(
    parts: Parts, timing: Timing | None, part_slice: PartSlice
) -> tuple[Floats, int, float, float]:
    """Draw a sample of a slice; count times that stand still, and find the outermost departures."""
    rows = parts.read(part_slice)
    # The same rows whatever the seed: it does not decide where a table is split.
    random = np.random.default_rng(part_slice.first)
    drawn = rows.records[random.random(len(rows)) < SAMPLE / parts.n]
    if timing is None:
        return drawn, 0, 0.0, 0.0
    bare = len(rows) if rows.times is None else int(np.isnan(rows.times[:, 0]).sum())
    if bare or rows.times is None:
        where = f"{parts.folder}/{part_slice.name}"
        raise BadInput(f"{where}: {without_times('`times`', bare, len(rows))}")
    still = int((rows.times[:, -1] <= rows.times[:, 0]).sum())
    departures = timing.clock.of(rows.times)[:, 0]
    return drawn, still, float(departures.min()), float(departures.max())


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


def shards_for(n: int, capacity: int) -> int:
    """How many shards are needed, with room to spare where there are several: they differ."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(memory: float, columns: int, k: int, track_points: int) -> int:
    """How many records of this number of columns fit into memory while they are searched."""
    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # tracks, and copies of these; what else there is for each record. Measured, and rounded up.
    each = 8 * 3.25 * columns + 16 * neighbour_count(k) + 300 + 32 * track_points
    capacity = int((memory - PROGRAM) / each)
    if capacity < 10_000:
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM / 1e9:g}GB, and each million records of {columns} numbers some "
            f"{each / 1e3:.0f}GB; give it 1GB at least"
        )
    return capacity
