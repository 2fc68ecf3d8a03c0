"""The plan of a run: a first reading of all parts, two splits of the table, and its memory."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.axes import decomposed, turn
from trajanon.errors import BadInput
from trajanon.executors import Executor
from trajanon.hashing import hashed
from trajanon.loss import sums_of_products
from trajanon.neighbours import WHOLE, neighbour_count
from trajanon.partition import dense
from trajanon.parts.reader import Parts, PartSlice
from trajanon.parts.scratch import Scratch
from trajanon.progress import Progress
from trajanon.released_lines import refuse_crossing
from trajanon.search.blocks import BLOCK
from trajanon.settings import ReleaseSettings, Settings
from trajanon.snapping import RoadsToFollow
from trajanon.subjects import Merged
from trajanon.times import Timing, departure_weight, refuse_one_time, timing_asked_for
from trajanon.trajectories import Trajectories

_LOG = logging.getLogger(__name__)

SAMPLE = 100_000
"""Records in the sample that decides where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""

PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""


class SliceSums(NamedTuple):
    """What is summed up of one slice."""

    sums: Floats  # of the columns about the origin, (p,)
    products: Floats  # summed, of each two columns about the origin, (p, p)
    low: Floats  # least value of each column, (p,)
    high: Floats  # largest value of each column, (p,)
    sample: Floats  # some of the records, (s, p)
    still: int  # rows of one time from start to end


class Survey(NamedTuple):
    """What is known of the whole table."""

    mean: Floats  # of each column, (p,)
    spread: Floats  # of each column, (p,): its sample standard deviation; 1 where constant; that of
    # the departure over the root of its weight
    axes: Floats  # the leading principal axes of the standardised records, (p, q)
    sst: float  # total sum of squares of the standardised records
    sst_in_space: float  # of their coordinates alone
    begins: Floats  # first latitudes of some records, rising, (s,)


class Node(NamedTuple):
    """A plane that splits the records of some shards."""

    axis: int  # the axis that it cuts
    place: float  # where: records before this place are on its first side
    tie: int  # of records at the place, those with a lower hash are there, too
    first: int  # the shards from this one on are split
    middle: int  # those from this one on are on the second side


class Split(NamedTuple):
    """How a table is split."""

    nodes: tuple[Node, ...]  # the planes, each before those of its two sides
    shards: int  # how many there are

    def shard_of(self, turned: Floats, numbers: Ints) -> Ints:
        """Find the shard of each record, (n, q); numbers tell equal ones apart."""
        tie = hashed(numbers.astype(np.uint64))
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


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run in several shards, as its tasks know it."""

    parts: Parts  # what is read
    scratch: Scratch  # where rows lie between two tasks
    survey: Survey  # how the table is standardised
    splits: tuple[Split, ...]  # how it is split into shards, in each round with other borders
    timing: Timing | None  # how times are counted
    release: ReleaseSettings  # what is written
    settings: Settings  # of the search
    key: bytes | None  # the holder's secret, by which lines are perturbed; None: plain means
    k: int  # least number of different subjects in a group
    roads: RoadsToFollow | None  # on which released lines lie
    progress: Progress  # of the search: silent where it runs elsewhere

    def counted(self, rows: Trajectories) -> Ints:
        """Number what k counts, from 0: subjects, or the records."""
        subject = rows.subject if self.parts.names_subjects else None
        return np.arange(len(rows)) if subject is None else dense(subject)

    def records(self, trajectories: Trajectories) -> Floats:
        """Standardise trajectories by the whole table."""
        records = records_of(trajectories, self.timing) - self.survey.mean
        records /= self.survey.spread
        return records

    def turned(self, trajectories: Trajectories) -> Floats:
        """Turn trajectories to the axes across which the table is split."""
        return turn(self.records(trajectories), self.survey.axes)


def records_of(trajectories: Trajectories, timing: Timing | None) -> Floats:
    """Make records of trajectories, (n, 2 m); with times, the departure comes last."""
    if timing is None:
        return trajectories.records
    return np.hstack([trajectories.records, timing.seconds(trajectories)[:, :1]])


def with_subjects(executor: Executor, parts: Parts) -> Parts:
    """Read whose all rows are; warn of names that are spellings of one.

    Traces that name no subject in some rows are looked for in all parts. Otherwise one person would
    count as two: as the subject, and as the trace. If rows of a trace name several, the first row
    counts, as in a single file.
    """
    found = executor.each("Reading subjects", partial(_ids, parts), parts.slices)
    traces = np.unique(np.concatenate([traces for traces, _, _ in found]))
    named = parts.named
    if len(traces):
        pieces = executor.each("Looking for names", partial(_named, parts, traces), parts.slices)
        named = pd.concat(pieces)  # slices come in the order of rows
        named = named[~named.index.duplicated()]
    names = [set(column.tolist()) for column in np.concatenate([one for _, one, _ in found]).T]
    unnamed = sum(nobody for _, _, nobody in found) + len(traces) - len(named)
    parts = replace(parts, named=named, merged=Merged.among(*names), unnamed=unnamed)
    if parts.merged.sentence():
        _LOG.warning("%s: %s", parts.folder, parts.merged.sentence())
    return parts


def _ids(parts: Parts, part_slice: PartSlice) -> tuple[NDArray[np.uint64], NDArray[np.uint64], int]:
    ids = parts.read_ids(part_slice)
    return ids.nameless, ids.subject.spellings, int(ids.nobody.sum())


def _named(parts: Parts, traces: NDArray[np.uint64], part_slice: PartSlice) -> pd.Series:
    found = parts.read_ids(part_slice).named_by(traces)
    return found[~found.index.duplicated()]


def timing_of_parts(executor: Executor, parts: Parts, settings: ReleaseSettings) -> Timing | None:
    """Tell how times shall be released; the zone is that of the middle of all points."""

    def middle() -> Floats:
        sums = executor.each("Looking for the time zone", partial(_sums, parts), parts.slices)
        return np.asarray(np.sum(sums, axis=0) / (parts.n * parts.points))

    bare = parts.track_points > 0 and "track_times" not in parts.schema.names
    return timing_asked_for(settings, parts.provenance, bare_tracks=bare, middle=middle)


def _sums(parts: Parts, part_slice: PartSlice) -> Floats:
    return np.asarray(parts.read(part_slice).points.sum(axis=(0, 1)))


def survey_table(executor: Executor, parts: Parts, timing: Timing | None) -> tuple[Survey, Floats]:
    """Read all parts once, and sum them up; give a sample of turned records, too."""
    records = records_of(parts.read(parts.slices[0]), timing)
    origin = records[0] + (records - records[0]).mean(axis=0)
    task = partial(look, parts, timing, origin)
    looks = executor.each("Reading parts", task, parts.slices)
    n = parts.n
    low = np.min([look.low for look in looks], axis=0)
    high = np.max([look.high for look in looks], axis=0)
    if timing is not None:
        still = sum(look.still for look in looks)
        refuse_one_time(timing.clock, still, n, low[-1], high[-1])  # the departure comes last
    away = np.sum([look.sums for look in looks], axis=0) / n
    products = np.sum([look.products for look in looks], axis=0)
    products -= n * np.outer(away, away)
    spread = np.sqrt(products.diagonal().clip(0.0) / max(n - 1, 1))
    constant = (low == high) | (spread == 0.0)
    spread[constant] = 0.0
    mean = np.where(constant, low, origin + away)
    weights = (~constant).astype(np.float64)
    in_space = (n - 1) * float(weights[: 2 * parts.points].sum())
    if timing is not None:
        middle = mean[:-1].reshape(-1, 2)
        weights[-1] = departure_weight(middle, spread, timing.minute_worth)
    sst = (n - 1) * float(weights.sum())
    spread[constant] = weights[constant] = 1.0
    with np.errstate(divide="ignore"):  # a weight of 0
        spread /= np.sqrt(weights)
    products[constant] = products[:, constant] = 0.0
    axes, _ = decomposed(products / np.outer(spread, spread))
    axes = np.ascontiguousarray(axes[:, :AXES])
    sample = np.concatenate([look.sample for look in looks])
    survey = Survey(mean, spread, axes, sst, in_space, np.sort(sample[:, 0]))
    return survey, turn((sample - mean) / spread, axes)


def look(parts: Parts, timing: Timing | None, origin: Floats, part_slice: PartSlice) -> SliceSums:
    """Read a slice and sum it up."""
    rows = parts.read(part_slice)
    refuse_crossing(rows, tracks=False)
    records, times = records_of(rows, timing), rows.times
    away = records - origin
    # The same rows whatever the seed: it does not decide where a table is split.
    random = np.random.default_rng(part_slice.first)
    drawn = random.random(len(records)) < min(SAMPLE / parts.n, 1.0)
    return SliceSums(
        away.sum(axis=0),
        sums_of_products(away),
        records.min(axis=0),
        records.max(axis=0),
        records[drawn],
        0 if times is None else int((times[:, -1] <= times[:, 0]).sum()),
    )


def split_table(sample: Floats, shards: int, number: int = 0) -> Split:
    """Split a table so that the shards get equal shares of a sample.

    In each round, by its number, the first plane lies across another axis and cuts off another
    share, so that all borders differ.
    """
    nodes: list[Node] = []
    tie = hashed(np.arange(len(sample), dtype=np.uint64))

    def split(some: Ints, first: int, end: int, number: int) -> None:
        wanted = end - first
        if wanted == 1:
            return
        widest = np.argsort(-sample[some].var(axis=0), kind="stable")
        axis = int(widest[min(number, len(widest) - 1)])
        before = max(wanted // (2 + number), 1)
        some = some[np.lexsort((tie[some], sample[some, axis]))]
        cut = len(some) * before // wanted
        place, at = float(sample[some[cut], axis]), int(tie[some[cut]])
        nodes.append(Node(axis, place, at, first, first + before))
        # Where the sample is too small to be split, both sides get all of it.
        split(some[:cut] if cut else some, first, first + before, 0)
        split(some[cut:], first + before, end, 0)

    split(np.arange(len(sample)), 0, shards, number)
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


def rounds_for(parts: Parts, shards: int, settings: Settings) -> int:
    """In how many rounds shards are searched, each with other borders.

    Without a refinement nothing mends what borders cut. Where windows slide, the nearer the borders
    of a shard are, the more windows meet only in other rounds.
    """
    if settings.refine == "none":
        return 1
    if not parts.track_points or parts.n >= WHOLE * shards:
        return 2
    return 3 if parts.n >= BLOCK * shards else 6


def shards_for(n: int, capacity: int) -> int:
    """How many shards are needed, with room to spare where there are several: they differ."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(memory: float, columns: int, k: int, track_points: int) -> int:
    """How many records of this number of columns fit into memory while they are searched."""
    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # tracks, and copies of these; what else there is for each record. Measured, and rounded up.
    neighbours = neighbour_count(k)
    each = 8 * 3.25 * columns + 16 * neighbours + 300 + 32 * track_points
    capacity = int((memory - PROGRAM) / each)
    if capacity < 10_000:
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM / 1e9:g}GB, and each million records of {columns} numbers some "
            f"{each / 1e3:.0f}GB; give it 1GB at least"
        )
    return capacity
