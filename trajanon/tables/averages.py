"""Group means as they are written: of the values there are, weighted, rounded; and their loss."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.grouping import loss
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.tables.cell_numbers import Numbers, rounded
from trajanon.tables.moments import columns_of


class Units(NamedTuple):
    """What is grouped: rows, or one row of averages for each subject."""

    records: Floats  # (m, p); NaN where a value is missing
    subjects: Ints  # of each unit, (m,)
    of_row: Ints  # the unit of each row of the table, (n,)
    weights: Floats | None  # survey weights, (m,)


class Averages(NamedTuple):
    """What is written in place of the values of a table."""

    written: Floats  # (n, p); NaN where a cell stays empty
    exact: Floats  # the same before rounding
    labels: Ints  # the group of each row, (n,)
    suppressed: int  # cells that hold a value in the source, and are written empty


def units_of(records: Floats, subjects: Ints, weights: Floats | None, per_subject: bool) -> Units:
    """Return rows as they are, or averaged over those of a subject, whose mean weight counts."""
    if not per_subject:
        return Units(records, subjects, np.arange(len(records)), weights)

    units = present_means(records, subjects, weights)
    weight = None if weights is None else loss.group_means(weights[:, None], subjects)[:, 0]
    return Units(units, np.arange(len(units)), subjects, weight)


def present_means(records: Floats, labels: Ints, weights: Floats | None = None) -> Floats:
    """Average the values there are in each group, (g, p); NaN where there is none."""
    means = np.full((int(labels.max(initial=-1)) + 1, records.shape[1]), np.nan)
    complete = ~np.isnan(records).any(axis=0)
    if complete.any():
        shares = None if weights is None else shares_of(labels, weights)
        means[:, complete] = loss.group_means(
            np.ascontiguousarray(records[:, complete]), labels, shares
        )

    for column in np.flatnonzero(~complete):
        present = ~np.isnan(records[:, column])
        groups, group = np.unique(labels[present], return_inverse=True)
        shares = None if weights is None else shares_of(group, weights[present])
        values = np.ascontiguousarray(records[present, column : column + 1])
        means[groups, column] = loss.group_means(values, group, shares)[:, 0]
    return means


def shares_of(labels: Ints, weights: Floats) -> Floats:
    """Return weights that add up to 1 in each group, (n,)."""
    scaled = weights / weights.max()
    return np.asarray(scaled / np.bincount(labels, scaled)[labels])


def averages_of(units: Units, labels: Ints, k: int, numbers: Sequence[Numbers]) -> Averages:
    """Average groups of units, as it is written for each row of the table.

    A column with values of fewer than k different subjects in a group stays empty there.
    """
    means = present_means(units.records, labels, units.weights)
    means[too_few_values(units, labels, k)] = np.nan
    roundings = [
        rounded(column, number.decimals) for column, number in zip(means.T, numbers, strict=True)
    ]

    # What is missing stays so, and each row of a subject is written as its unit.
    group = labels[units.of_row]
    missing = np.isnan(units.records)[units.of_row]
    written = np.where(missing, np.nan, np.column_stack(roundings)[group])
    exact = np.where(missing, np.nan, means[group])
    suppressed = int((np.isnan(written) & ~missing).sum())
    return Averages(written, exact, group, suppressed)


def too_few_values(units: Units, labels: Ints, k: int) -> Bools:
    """Mark the columns of groups, (g, p), in which fewer than k subjects have a value."""
    too_few = np.zeros((int(labels.max(initial=-1)) + 1, units.records.shape[1]), np.bool_)
    for column in np.flatnonzero(np.isnan(units.records).any(axis=0)):
        present = ~np.isnan(units.records[:, column])
        groups, group = np.unique(labels[present], return_inverse=True)
        too_few[groups, column] = subjects_per_group(group, units.subjects[present]) < k
    return too_few


class Losses(NamedTuple):
    """What the columns of a table lose, in squares of their standard deviations."""

    sse: Floats  # of each column, (p,)
    sst: Floats
    away: Floats  # how far each value moved, (n, p); NaN where there is none

    def information_loss(self, importance: Floats | None = None) -> float:
        """Compute IL = 100 SSE / SST, percent, of columns that count as much as these say."""
        counts = np.ones(len(self.sse)) if importance is None else importance
        return loss.information_loss(float(counts @ self.sse), float(counts @ self.sst))

    @property
    def by_column(self) -> Floats:
        """Compute the IL of each column, percent."""
        return np.asarray(100.0 * self.sse / np.where(self.sst > 0.0, self.sst, 1.0))


def losses(values: Floats, written: Floats, weights: Floats | None = None) -> Losses:
    """Measure the loss of a table, (n, p), by survey weights; what is suppressed is all lost."""
    columns = columns_of(values, weights)
    present = ~np.isnan(values)
    filled = np.where(np.isnan(written), columns.mean, written)
    scale = np.where(columns.sd > 0.0, columns.sd, np.inf)
    away = np.where(present, (filled - values) / scale, 0.0)

    weight = np.ones(len(values)) if weights is None else weights / weights.mean()
    sse = weight @ away**2
    sst = weight @ columns.standardised**2
    return Losses(sse, sst, np.where(present, away, np.nan))
