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
from trajanon.parts.executors import Executor
from trajanon.parts.reader import Parts, PartSlice
from trajanon.parts.row_ids import TraceSubjects
from trajanon.subjects import Merged

_LOG = logging.getLogger(__name__)

SAMPLE = 100_000
"""Records in the sample that decides where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""


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


class Survey(NamedTuple):
    """What is known of the whole table."""

    mean: Floats  # of each column, (p,)
    spread: Floats  # of each column, (p,): its sample standard deviation; 1 where constant
    axes: Floats  # the leading principal axes of the standardised records, (p, q)
    sst: float  # total sum of squares of the standardised records

    def standardised(self, points: NDArray[np.floating]) -> Floats:
        """Standardise trajectories, shape (n, m, 2), as records, (n, 2 m)."""
        records = points.reshape(len(points), -1) - self.mean
        records /= self.spread
        return records


def survey_table(executor: Executor, parts: Parts) -> tuple[Survey, Floats, Parts]:
    """Read all parts once; give a sample of turned records, too, and the parts with subjects."""
    records = _records(parts.read(parts.slices[0])[0])
    origin = records[0] + (records - records[0]).mean(axis=0)
    looks = executor.each("Reading parts", partial(look, parts, origin), parts.slices)
    survey, sample = _summed_up(origin, looks, parts.n)
    traces = np.unique(np.concatenate([one.nameless for one in looks]))
    parts = with_names(executor, parts, traces)
    names = [set(column.tolist()) for column in np.concatenate([k.spellings for k in looks]).T]
    unnamed = sum(one.nobody for one in looks) + len(traces) - len(parts.named.trace)
    parts = replace(parts, merged=Merged.among(*names), unnamed=unnamed)
    if parts.merged.told():
        _LOG.warning("%s: %s", parts.folder, parts.merged.told())
    return survey, sample, parts


def look(parts: Parts, origin: Floats, part_slice: PartSlice) -> SliceSums:
    """Read a slice and sum it up."""
    points, ids = parts.read(part_slice)
    records = _records(points)
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
    )


def _records(points: NDArray[np.floating]) -> Floats:
    return points.reshape(len(points), -1).astype(np.float64)


def _summed_up(origin: Floats, looks: Sequence[SliceSums], n: int) -> tuple[Survey, Floats]:
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
    axes = np.ascontiguousarray(axes[:, :AXES])
    sample = np.concatenate([look.sample for look in looks])
    sst = float((n - 1) * np.count_nonzero(~constant))
    return Survey(mean, spread, axes, sst), turn((sample - mean) / spread, axes)


def with_names(executor: Executor, parts: Parts, traces: NDArray[np.uint64]) -> Parts:
    """Find the subjects of traces that name them in some rows only.

    Otherwise one person would count as two: as the subject, and as the trace. If rows of a trace
    name several, the first row counts, as in a single file.
    """
    if not len(traces):
        return parts
    found = executor.each("Looking for names", partial(_named, parts, traces), parts.slices)
    trace, subject = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    trace, first = np.unique(trace, return_index=True)  # slices come in the order of rows
    return replace(parts, named=TraceSubjects(trace, subject[first]))


def _named(parts: Parts, traces: NDArray[np.uint64], part_slice: PartSlice) -> TraceSubjects:
    return parts.read_ids(part_slice).named_by(traces)
