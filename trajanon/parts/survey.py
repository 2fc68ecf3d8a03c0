"""A first reading of all parts: means, spreads, axes, and the subjects of traces."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.axes import decomposed, turn
from trajanon.errors import BadInput
from trajanon.loss import sums_of_products
from trajanon.parts.column_ids import TraceSubjects
from trajanon.parts.executors import Executor
from trajanon.parts.part_reader import PartRows, Parts, PartSlice
from trajanon.progress import Progress
from trajanon.subjects import Merged

_LOG = logging.getLogger(__name__)

SAMPLE = 100_000
"""Records in the sample that decides where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""


class SliceSums(NamedTuple):
    """What is summed up of one slice."""

    rows: int  # how many
    sums: Floats  # of the columns about the origin, (p,)
    products: Floats  # summed, of each two columns about the origin, (p, p)
    low: Floats  # least value of each column, (p,)
    high: Floats  # largest value of each column, (p,)
    sample: Floats  # some of the records, (s, p)
    nameless: NDArray[np.uint64]  # this and the following: as in `PartRows`
    nobody: int
    spellings: NDArray[np.uint64]


class Survey(NamedTuple):
    """What is known of the whole table."""

    mean: Floats  # of each column, (p,)
    spread: Floats  # of each column, (p,): its sample standard deviation; 1 where constant
    axes: Floats  # the leading principal axes of the standardised records, (p, q)
    sst: float  # total sum of squares of the standardised records
    sample: Floats  # some of these, turned to the axes, (s, q)

    def standardised(self, points: NDArray[np.floating]) -> Floats:
        """Standardise trajectories, shape (n, m, 2), as records, (n, 2 m)."""
        records = points.reshape(len(points), -1) - self.mean
        records /= self.spread
        return records


def origin_of(part: PartRows) -> Floats:
    """Find a record that sums are taken about: the mean of some, shape (p,)."""
    records = _records(part)
    mean: Floats = records[0] + (records - records[0]).mean(axis=0)
    return mean


def look(parts: Parts, origin: Floats, part_slice: PartSlice) -> SliceSums:
    """Read a slice and sum it up."""
    part = parts.read(part_slice)
    records = _records(part)
    share = min(SAMPLE / parts.n, 1.0)
    # The same rows whatever the seed: it does not decide where a table is split.
    random = np.random.default_rng(part_slice.first)
    sample = records[random.random(len(records)) < share]
    low, high = records.min(axis=0), records.max(axis=0)
    records -= origin
    return SliceSums(
        len(records),
        records.sum(axis=0),
        sums_of_products(records),
        low,
        high,
        sample,
        part.nameless,
        part.nobody,
        part.spellings,
    )


def survey(origin: Floats, looks: list[SliceSums]) -> Survey:
    """Sum up all slices."""
    n = sum(look.rows for look in looks)
    low = np.min([look.low for look in looks], axis=0)
    high = np.max([look.high for look in looks], axis=0)
    if high[1::2].max() - low[1::2].min() > 180.0:
        msg = (
            "the trajectories span more than 180 degrees of longitude, which cannot be "
            "averaged across the antimeridian: anonymise smaller areas on their own"
        )
        raise BadInput(msg)
    away = np.sum([look.sums for look in looks], axis=0) / n
    products = np.sum([look.products for look in looks], axis=0)
    products -= n * np.outer(away, away)
    spread = np.sqrt(products.diagonal().clip(0.0) / max(n - 1, 1))
    constant = (low == high) | (spread == 0.0)
    spread[constant] = 1.0
    mean = np.where(constant, low, origin + away)
    products[constant] = products[:, constant] = 0.0
    axes, _ = decomposed(products / np.outer(spread, spread))
    leading = np.ascontiguousarray(axes[:, :AXES])
    sample = np.concatenate([look.sample for look in looks])
    return Survey(
        mean=mean,
        spread=spread,
        axes=leading,
        sst=float((n - 1) * np.count_nonzero(~constant)),
        sample=turn((sample - mean) / spread, leading),
    )


def _records(part: PartRows) -> Floats:
    return part.points.reshape(len(part.points), -1).astype(np.float64)


def with_names(
    executor: Executor, parts: Parts, nameless: Sequence[NDArray[np.uint64]], progress: Progress
) -> Parts:
    """Find the subjects of traces that name them in some rows only.

    Otherwise one person would count as two: as the subject, and as the trace. If rows of a trace
    name several, the first row counts, as in a single file.
    """
    traces = np.unique(np.concatenate(nameless))
    if not len(traces):
        return parts
    found = executor.each(
        "Looking for names", partial(_names, parts, traces), parts.slices, progress
    )
    trace, subject = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    trace, first = np.unique(trace, return_index=True)  # slices come in the order of rows
    return replace(parts, named=TraceSubjects(trace, subject[first]))


def _names(parts: Parts, traces: NDArray[np.uint64], part_slice: PartSlice) -> TraceSubjects:
    """Take the first row in a slice of each of some traces that names a subject."""
    ids = parts.read_ids(part_slice)
    subject, trace = ids["subject"], ids["trace"]
    names = ~subject.missing & ~trace.missing & np.isin(trace.number, traces)
    named, first = np.unique(trace.number[names], return_index=True)
    return TraceSubjects(named, subject.number[names][first])


def survey_table(executor: Executor, parts: Parts, progress: Progress) -> tuple[Survey, Parts]:
    """Read all parts once; also find subjects that have several spellings."""
    origin = origin_of(parts.read(parts.slices[0]))
    looks = executor.each("Reading parts", partial(look, parts, origin), parts.slices, progress)
    whole = survey(origin, looks)
    traces = [look.nameless for look in looks]
    parts = with_names(executor, parts, traces, progress)
    names = [set(n.tolist()) for n in np.concatenate([k.spellings for k in looks]).T]
    nobody = sum(look.nobody for look in looks)
    parts = replace(
        parts,
        merged=Merged.among(*names),
        unnamed=nobody + len(np.unique(np.concatenate(traces))) - len(parts.named.trace),
    )
    if parts.merged.told():
        _LOG.warning("%s: %s", parts.folder, parts.merged.told())
    return whole, parts
