"""Means, spreads and axes of a table that is read part by part."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.axes import decomposed, turn
from trajanon.errors import BadInput
from trajanon.loss import sums_of_products
from trajanon.parts.part_reader import Part, Parts, Unit

SAMPLE = 100_000
"""Records that say where the table is split, about."""

AXES = 8
"""Leading principal axes across which it may be split."""


class Look(NamedTuple):
    """What one unit tells."""

    rows: int  # how many
    sums: Floats  # of the columns about the origin, (p,), and of each two of them, (p, p)
    products: Floats  # of the columns about the origin, (p,), and of each two of them, (p, p)
    low: Floats  # least and largest value of each column, (p,)
    high: Floats  # least and largest value of each column, (p,)
    sample: Floats  # some of the records, (s, p)
    nameless: NDArray[np.uint64]  # of the subjects, as in `trajanon.parts.part_reader.Part`
    nobody: int  # of the subjects, as in `trajanon.parts.part_reader.Part`
    spellings: NDArray[np.uint64]  # of the subjects, as in `trajanon.parts.part_reader.Part`


class Survey(NamedTuple):
    """What is known of the whole table."""

    mean: Floats  # of each column, (p,): its mean and sample standard deviation; 1 where constant
    spread: Floats  # of each column, (p,): its mean and sample standard deviation; 1 where constant
    axes: Floats  # the leading principal axes of the standardised records, (p, q)
    sst: float  # total sum of squares of the standardised records
    sample: Floats  # some of these, turned to the axes, (s, q)

    def standardised(self, points: NDArray[np.floating]) -> Floats:
        """Standardise trajectories, shape (n, m, 2), as records, (n, 2 m)."""
        records = points.reshape(len(points), -1) - self.mean
        records /= self.spread
        return records


def origin_of(part: Part) -> Floats:
    """Find a record that sums are taken about: the mean of some, shape (p,)."""
    records = _records(part)
    mean: Floats = records[0] + (records - records[0]).mean(axis=0)
    return mean


def look(parts: Parts, origin: Floats, unit: Unit) -> Look:
    """Read a unit for what it tells of the table."""
    part = parts.read(unit)
    records = _records(part)
    share = min(SAMPLE / parts.n, 1.0)
    # The same rows whatever the seed: where a table is split is no matter of chance.
    random = np.random.default_rng(unit.first)
    sample = records[random.random(len(records)) < share]
    low, high = records.min(axis=0), records.max(axis=0)
    records -= origin
    return Look(
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


def survey(origin: Floats, looks: list[Look]) -> Survey:
    """Put together what all units tell."""
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


def _records(part: Part) -> Floats:
    return part.points.reshape(len(part.points), -1).astype(np.float64)
