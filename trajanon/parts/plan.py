"""The plan of a run: a first reading of all parts, the split of the table, and its memory."""

import logging
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.axes import decomposed, turn
from trajanon.clock import Clock, zone_of
from trajanon.errors import BadInput
from trajanon.executors import Executor
from trajanon.hashing import hashed
from trajanon.loss import sums_of_products
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.parts.reader import PartRows, Parts, PartSlice, records_of
from trajanon.parts.scratch import Scratch
from trajanon.progress import Progress
from trajanon.settings import ReleaseSettings, Settings
from trajanon.subjects import Merged
from trajanon.timing import (
    Timing,
    clock_stands,
    departure_weight,
    one_departure,
    refuse_without_times,
    without_times,
)

_LOG = logging.getLogger(__name__)

SAMPLE = 100_000
"""Records in the sample that decides where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""


PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


class SliceSums(NamedTuple):
    """What is summed up of one slice."""

    sums: Floats  # of the columns about the origin, (p,)
    products: Floats  # summed, of each two columns about the origin, (p, p)
    low: Floats  # least value of each column, (p,)
    high: Floats  # largest value of each column, (p,)
    sample: Floats  # some of the records, (s, p)
    nameless: NDArray[np.uint64]  # traces that name no subject in some of the rows
    nobody: int  # rows of which neither subject nor trace is known
    spellings: NDArray[np.uint64]  # of the subjects' names, as in `ColumnIds`
    untimed: int  # rows without times, where these are wanted
    still: int  # rows of one time from start to end


class Survey(NamedTuple):
    """What is known of the whole table."""

    mean: Floats  # of each column, (p,)
    spread: Floats  # of each column, (p,): its sample standard deviation; 1 where constant; that of
    # the departure over the root of its weight
    axes: Floats  # the leading principal axes of the standardised records, (p, q)
    sst: float  # total sum of squares of the standardised records
    sst_in_space: float  # of their coordinates alone

    def standardised(self, points: NDArray[np.floating], times: Floats | None = None) -> Floats:
        """Standardise trajectories, shape (n, m, 2), as records, (n, 2 m), or (n, 2 m + 1)."""
        records = records_of(points, times) - self.mean
        records /= self.spread
        return records


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
    digits: int | None  # decimals of a degree in the release; None: on the grid of each group
    rows: str  # what has a row each in the release
    counts_subjects: bool  # whether subjects are counted, or records
    settings: Settings  # of the search
    progress: Progress  # of the search: silent where it runs elsewhere
    released: int  # parts of the release
    secret: bytes  # from the operating system: decides where rows go in the release

    def counted(self, subject: Ints) -> Ints:
        """Number what k counts, from 0: subjects, or the records."""
        return dense(subject) if self.counts_subjects else np.arange(len(subject))

    def records(self, rows: NDArray[np.void]) -> Floats:
        """Standardise rows as they lie in files between two tasks."""
        return self.survey.standardised(
            rows["points"], rows["times"] if self.parts.timing is not None else None
        )


def survey_table(executor: Executor, parts: Parts) -> tuple[Survey, Floats, Parts]:
    """Read all parts once; give a sample of turned records, too, and the parts with subjects."""
    records = _records(parts.read(parts.slices[0]))
    origin = records[0] + (records - records[0]).mean(axis=0)
    looks = executor.each("Reading parts", partial(look, parts, origin), parts.slices)
    survey, sample = _summed_up(parts, origin, looks)
    traces = np.unique(np.concatenate([one.nameless for one in looks]))
    parts = with_names(executor, parts, traces)
    names = [set(column.tolist()) for column in np.concatenate([k.spellings for k in looks]).T]
    unnamed = sum(one.nobody for one in looks) + len(traces) - len(parts.named)
    parts = replace(parts, merged=Merged.among(*names), unnamed=unnamed)
    if parts.merged.told():
        _LOG.warning("%s: %s", parts.folder, parts.merged.told())
    return survey, sample, parts


def look(parts: Parts, origin: Floats, part_slice: PartSlice) -> SliceSums:
    """Read a slice and sum it up."""
    rows = parts.read(part_slice)
    records, ids = _records(rows), rows.ids
    # The same rows whatever the seed: it does not decide where a table is split.
    random = np.random.default_rng(part_slice.first)
    sample = records[random.random(len(records)) < min(SAMPLE / parts.n, 1.0)]
    low, high = records.min(axis=0), records.max(axis=0)
    records -= origin
    return SliceSums(
        records.sum(axis=0),
        sums_of_products(records),
        low,
        high,
        sample,
        ids.nameless,
        int(ids.nobody.sum()),
        ids.subject.spellings,
        0 if rows.times is None else int(np.isnan(rows.times[:, 0]).sum()),
        0 if rows.times is None else int((rows.times[:, -1] <= rows.times[:, 0]).sum()),
    )


def _records(rows: PartRows) -> Floats:
    return records_of(rows.points, rows.times).astype(np.float64)


def _summed_up(parts: Parts, origin: Floats, looks: Sequence[SliceSums]) -> tuple[Survey, Floats]:
    n, timing = parts.n, parts.timing
    low = np.min([look.low for look in looks], axis=0)
    high = np.max([look.high for look in looks], axis=0)
    if high[1::2].max() - low[1::2].min() > 180.0:
        msg = (
            "the trajectories span more than 180 degrees of longitude, which cannot be "
            "averaged across the antimeridian: anonymise smaller areas on their own"
        )
        raise BadInput(msg)
    if timing is not None:
        _refuse_odd_times(timing, looks, n, np.array([low[-1], high[-1]]))
    away = np.sum([look.sums for look in looks], axis=0) / n
    products = np.sum([look.products for look in looks], axis=0)
    products -= n * np.outer(away, away)
    spread = np.sqrt(products.diagonal().clip(0.0) / max(n - 1, 1))
    constant = (low == high) | (spread == 0.0)
    spread[constant] = 0.0
    mean = np.where(constant, low, origin + away)
    weights = (~constant).astype(np.float64)
    in_space = (n - 1) * float(weights[: 2 * parts.schema.points].sum())
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
    return Survey(mean, spread, axes, sst, in_space), turn((sample - mean) / spread, axes)


def _refuse_odd_times(
    timing: Timing, looks: Sequence[SliceSums], n: int, departures: Floats
) -> None:
    """Refuse what `timing_of` does; the first and the last of all departures say enough."""
    clock = timing.clock
    asked = f"`times='{clock.times}'`"
    if untimed := sum(look.untimed for look in looks):
        raise BadInput(without_times(asked, untimed, n))
    if still := sum(look.still for look in looks):
        raise BadInput(clock_stands(asked, still, n))
    first, last = clock.rounded(departures).tolist()
    if first == last:
        raise BadInput(one_departure(asked, clock, first))


def timed(executor: Executor, parts: Parts, settings: ReleaseSettings) -> Parts:
    """Tell how times shall be released; the zone is that of the middle of all points."""
    if settings.times is None:
        refuse_without_times(settings)
        return parts
    zone = settings.timezone
    if zone is None:
        sums = executor.each("Looking for the time zone", partial(_sums, parts), parts.slices)
        zone = zone_of(*np.sum(sums, axis=0) / (parts.n * parts.schema.points))
    clock = Clock(settings.times, zone, settings.time_step)
    return replace(parts, timing=Timing(clock, settings.minute_worth))


def _sums(parts: Parts, part_slice: PartSlice) -> Floats:
    sums: Floats = parts.read(part_slice).points.sum(axis=(0, 1), dtype=np.float64)
    return sums


def with_names(executor: Executor, parts: Parts, traces: NDArray[np.uint64]) -> Parts:
    """Find the subjects of traces that name them in some rows only.

    Otherwise one person would count as two: as the subject, and as the trace. If rows of a trace
    name several, the first row counts, as in a single file.
    """
    if not len(traces):
        return parts
    found = executor.each("Looking for names", partial(_named, parts, traces), parts.slices)
    named = pd.concat(found)  # slices come in the order of rows
    return replace(parts, named=named[~named.index.duplicated()])


def _named(parts: Parts, traces: NDArray[np.uint64], part_slice: PartSlice) -> pd.Series:
    found = parts.read_ids(part_slice).named_by(traces)
    return found[~found.index.duplicated()]


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
