"""Group means as they are written: of the values there are, weighted, rounded; and their loss.

A table of numbers is (n, p); a missing value is NaN. A "unit" is what is grouped: a row, or the
averages of a subject's rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.tables.cell_numbers_and_missing import rounded


class Columns(NamedTuple):
    """Columns with their means and standard deviations, over the values there are."""

    mean: Floats  # (p,)
    sd: Floats  # of a sample, (p,); 0 of a constant column
    standardised: Floats  # (n, p): values less their mean, over their sd; 0 where one is missing


def columns_of(X: Floats, weights: Floats | None = None) -> Columns:
    """Compute weighted means and standard deviations of columns, (n, p); NaN is a missing value."""
    # What each value counts of its column: together 1, or 0 in a column without values.
    present = ~np.isnan(X)
    weight = present if weights is None else present * weights[:, None]
    share = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)

    # Subtract the first value that is there: numbers far from zero lose digits.
    origin = X[present.argmax(axis=0), np.arange(X.shape[1])]
    centred = np.where(present, X - origin, 0.0)
    constant = (centred == 0.0).all(axis=0)
    shift = (share * centred).sum(axis=0)
    centred = np.where(present & ~constant, centred - shift, 0.0)

    # Divide by the largest deviation, so that squares neither over- nor underflow.
    unit = np.abs(centred).max(axis=0, initial=0.0)
    centred /= np.where(unit > 0.0, unit, 1.0)

    # Bessel's correction: the deviation is that of a sample. A single value has none.
    count = present.sum(axis=0)
    correction = count / np.maximum(count - 1, 1)
    spread = np.sqrt((share * centred**2).sum(axis=0) * correction)
    centred /= np.where(spread > 0.0, spread, 1.0)
    return Columns(origin + shift, unit * spread, centred)


class Units(NamedTuple):
    """What is grouped: m rows, or m rows of averages, one for each subject."""

    records: Floats  # (m, p); NaN where a value is missing
    subjects: Ints  # number of the subject of each unit, (m,)
    of_row: Ints  # the unit of each row of the table, (n,)
    weights: Floats | None  # survey weights, (m,)


class Averages(NamedTuple):
    """What is written in place of the values of a table."""

    written: Floats  # (n, p); NaN where a cell stays empty
    exact: Floats  # the same before rounding
    labels: Ints  # the group of each row, (n,)
    suppressed: int  # cells whose unit has a value, and that are written empty


def units_of(records: Floats, subjects: Ints, weights: Floats | None, per_subject: bool) -> Units:
    """Return the rows as units, or their averages per subject, with the mean of their weights."""
    if not per_subject:
        return Units(records, subjects, np.arange(len(records)), weights)

    units = present_means(records, subjects, weights)
    weight = None if weights is None else group_means(weights[:, None], subjects)[:, 0]
    return Units(units, np.arange(len(units)), subjects, weight)


def present_means(
    records: Floats,
    labels: Ints,
    weights: Floats | None = None,
    subjects: Ints | None = None,
    k: int = 0,
) -> Floats:
    """Average the values there are in each group, (g, p); NaN where there are none.

    ``labels``, (n,), number the group of each record. With ``subjects``, (n,), a mean is also NaN
    where fewer than k of them have a value; without, k does not matter.
    """
    means = np.full((int(labels.max(initial=-1)) + 1, records.shape[1]), np.nan)
    # Columns with gaps in the same rows are averaged together: most tables have one or two such
    # patterns of gaps.
    patterns, pattern_of_column = np.unique(np.isnan(records), axis=1, return_inverse=True)
    for pattern, is_missing in enumerate(patterns.T):
        # Versions of numpy differ in the shape of this inverse, so it is flattened.
        columns = np.flatnonzero(pattern_of_column.reshape(-1) == pattern)
        rows = np.flatnonzero(~is_missing)
        # The groups with a value, and the place of each row's group among them.
        groups, group = np.unique(labels[rows], return_inverse=True)

        shares = None if weights is None else shares_of(group, weights[rows])
        values = np.ascontiguousarray(records[np.ix_(rows, columns)])
        averages = group_means(values, group, shares)
        if subjects is not None:
            averages[subjects_per_group(group, subjects[rows]) < k] = np.nan
        means[np.ix_(groups, columns)] = averages
    return means


def shares_of(labels: Ints, weights: Floats) -> Floats:
    """Scale weights, (n,), so that they add up to 1 in each group."""
    scaled = weights / weights.max(initial=0.0)  # their sum cannot overflow
    return np.asarray(scaled / np.bincount(labels, scaled)[labels])


def averages_of(units: Units, labels: Ints, k: int, decimals: Sequence[int | None]) -> Averages:
    """Average groups of units, and write the means to each row of the table, rounded by column.

    A column with values of fewer than k different subjects in a group stays empty there.
    """
    means = present_means(units.records, labels, units.weights, units.subjects, k)
    rounded_columns = [
        rounded(column, places) for column, places in zip(means.T, decimals, strict=True)
    ]

    # What a unit lacks stays empty; all rows of a subject are written alike, also where one of them
    # has no value.
    group = labels[units.of_row]
    missing = np.isnan(units.records)[units.of_row]
    written = np.where(missing, np.nan, np.column_stack(rounded_columns)[group])
    exact = np.where(missing, np.nan, means[group])
    suppressed = int((np.isnan(written) & ~missing).sum())
    return Averages(written, exact, group, suppressed)


class Losses(NamedTuple):
    """What the columns of a table lose, in squares of their standard deviations."""

    sse: Floats  # of each column, (p,)
    sst: Floats  # of each column, (p,)
    away: Floats  # how far each value moved, in deviations, (n, p); NaN where there is none
    weight: Floats  # of each row, (n,), 1 on average

    def information_loss(self, importance: Floats | None = None) -> float:
        """Compute IL = 100 SSE / SST, percent; ``importance``, (p,), is how much columns count."""
        counts = np.ones(len(self.sse)) if importance is None else importance
        return loss.information_loss(float(counts @ self.sse), float(counts @ self.sst))

    @property
    def by_column(self) -> Floats:
        """Compute the IL of each column, (p,), percent; a constant one loses nothing."""
        return np.asarray(100.0 * self.sse / np.where(self.sst > 0.0, self.sst, 1.0))


def losses(values: Floats, written: Floats, weights: Floats | None = None) -> Losses:
    """Measure what a table, (n, p), loses by what is written; rows may have weights, (n,)."""
    # A cell that is left empty says no more than the mean of its column: all of it is lost.
    columns = columns_of(values, weights)
    filled = np.where(np.isnan(written), columns.mean, written)
    # In a constant column a value has not moved, by whatever it differs: it has no deviation.
    away = (filled - values) / np.where(columns.sd > 0.0, columns.sd, np.inf)

    weight = np.ones(len(values)) if weights is None else weights / weights.mean()
    # By einsum, in a fixed order, which a library of matrices does not keep.
    sse = np.einsum("i,ij->j", weight, np.nan_to_num(away) ** 2)
    sst = np.einsum("i,ij->j", weight, columns.standardised**2)
    return Losses(sse, sst, away, weight)
