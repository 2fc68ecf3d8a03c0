"""The report on a microaggregated table: its groups, loss and risk, and what is not promised.

The figures go to JSON, under the names that users know; what is not promised is written in
sentences.
"""

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.number_text import number_of, percent
from trajanon.grouping.principal_axes import sums_of_products
from trajanon.tables.averages import Averages, Units, columns_of, losses, shares_of
from trajanon.tables.table_columns import TableColumns

_CORRELATIONS_LISTED = 10
NEAR_VALUE = 0.05  # standard deviations: up to here sdcMicro counts a row as at risk
_DOMINANT = 0.8  # share of the weight of a group, from which its mean is nearly one value


class MicroaggregatedColumns(NamedTuple):
    """A microaggregated table, as its report needs it."""

    read: TableColumns  # the table, and what its columns are used as
    person: Ints  # number of the person behind each row, (n,)
    units: Units  # what was grouped: rows, or the means of each subject's rows
    averages: Averages
    per_subject: bool  # whether subjects were grouped, and all rows of one get the same mean

    def figures(self, k: int, importance: Floats | None) -> dict[str, object]:
        """Measure the groups, the loss and the risk, ready for JSON.

        ``importance``, (p,), is how much each averaged column counts in the loss; None if all count
        alike.
        """
        read = self.read
        values = read.records
        written = self.averages.written
        survey = read.survey_weights

        lost = losses(values, written)
        information_loss = lost.information_loss(importance)
        before_rounding = losses(values, self.averages.exact).information_loss(importance)
        weighted = None
        if survey is not None:
            weighted = losses(values, written, survey).information_loss(importance)

        def by_name(numbers: Floats) -> dict[str, float]:
            return dict(zip(read.averaged, numbers.tolist(), strict=True))

        sizes = np.bincount(self.averages.labels)
        in_result = {*read.averaged, *read.kept}
        return {
            "n": len(values),
            "k": k,
            "counted": "rows" if read.roles.subject is None else "subjects",
            "columns": read.averaged,
            "kept": read.kept,
            "dropped": [name for name in read.table.columns if name not in in_result],
            "strata": list(read.roles.strata),
            "importance": None if importance is None else by_name(importance),
            "survey_weight": read.roles.survey_weight,
            "per_subject": self.per_subject,
            "groups": len(sizes),
            "sizes": {"min": int(sizes.min()), "max": int(sizes.max())},
            "information_loss": information_loss,
            "rounding_loss": information_loss - before_rounding,
            "weighted_information_loss": weighted,
            "loss_by_column": by_name(lost.by_column),
            "suppressed": self.averages.suppressed,
            "moments": moments(values, written, read.averaged, survey),
            "risk": self._risk(lost.away),
        }

    def _risk(self, away: Floats) -> dict[str, float]:
        """Measure how likely a row is linked to its person, and how many rows hardly moved.

        ``away``, (n, p), is how far each value moved, in standard deviations.
        """
        labels = self.averages.labels

        # Whoever has several rows of a group is the likelier person behind each of its rows. Each
        # pair of group and person is one number.
        pair = labels * (int(self.person.max()) + 1) + self.person
        _, place, counts = np.unique(pair, return_inverse=True, return_counts=True)
        rows_of_person = counts[place]
        chance = rows_of_person / np.bincount(labels)[labels]

        # Where no value was (NaN), none has moved. Suppressed values moved to their column's mean.
        is_near = (np.abs(away) <= NEAR_VALUE) | np.isnan(away)
        return {
            "linkage_highest": float(chance.max()),
            "linkage_mean": float(chance.mean()),
            "near_original": float(is_near.all(axis=1).mean()),
        }

    def notices(self) -> Iterator[str]:
        """Write what is not promised, a sentence each."""
        table = self.read.table
        yield from map(str, self.read.notices)
        if self.averages.suppressed:
            values = number_of(self.averages.suppressed, "value")
            yield f"Left out: {values} of columns with too few values in their group."
        if dominated := self._dominated():
            yield (
                f"Warning: in {number_of(dominated, 'group')} one row or subject has more than "
                f"{percent(_DOMINANT)} of the weight: the mean is nearly its value."
            )
        if self.read.kept:
            yield (
                f"Warning: kept as they are: {', '.join(self.read.kept)}. Such columns can "
                "identify; only the microaggregated ones are k-anonymous."
            )
        if table.has_own_index:
            yield "Warning: the index of the data frame is kept. It can identify people."
        yield (
            f"The rows keep the order of {Path(table.name).name}: anyone who knows that order can "
            "find a person's row, and with it the means of its group."
        )
        if self.read.roles.subject is None:
            yield (
                "k counts rows: if one person or company can have several rows, name its column in "
                "`subject`."
            )
        elif not self.per_subject and (subjects := self._subjects_in_several_groups()):
            with_several_rows = int((np.bincount(self.person) > 1).sum())
            yield (
                f"{subjects:,} of {number_of(with_several_rows, 'subject')} with several rows get "
                "different means in them: `per_subject` writes one to all."
            )

    def _dominated(self) -> int:
        """Count the groups in which one subject, or else one row, has most of the weight."""
        subjects = self.units.subjects
        weights = np.ones(len(subjects)) if self.units.weights is None else self.units.weights
        # The group of each unit is that of its first row.
        _, first_row = np.unique(self.units.of_row, return_index=True)
        labels = self.averages.labels[first_row]
        # The rows of a subject in a group count together: each pair of both is one number.
        pair = labels * (int(subjects.max()) + 1) + subjects
        dominated: set[int] = set()
        # Of each column, only those count whose values are in the means.
        for column in self.averages.written[first_row].T:
            counted = np.flatnonzero(~np.isnan(column))
            share = shares_of(labels[counted], weights[counted])
            _, place = np.unique(pair[counted], return_inverse=True)
            is_most = np.bincount(place, share)[place] > _DOMINANT
            dominated.update(labels[counted[is_most]].tolist())
        return len(dominated)

    def _subjects_in_several_groups(self) -> int:
        """Count the subjects whose rows are in different groups."""
        labels = self.averages.labels
        _, first_row = np.unique(self.person, return_index=True)
        first_label = labels[first_row][self.person]
        return len(np.unique(self.person[first_label != labels]))


def moments(
    before: Floats, after: Floats, names: Sequence[str], weights: Floats | None = None
) -> dict[str, Any]:
    """Compute means and standard deviations of columns, (n, p), before and after, by their names.

    Of their correlations, those that changed most are listed. ``weights`` are survey weights, (n,).
    """
    columns_before = columns_of(before, weights)
    columns_after = columns_of(after, weights)
    # A column that is constant before or after has no correlation with any other.
    varying = np.flatnonzero((columns_before.sd > 0.0) & (columns_after.sd > 0.0))
    left, right = varying[np.array(np.triu_indices(len(varying), 1))]

    pairs_before = _correlations(before, columns_before.standardised, weights)[left, right]
    pairs_after = _correlations(after, columns_after.standardised, weights)[left, right]
    most_changed = np.argsort(-np.abs(pairs_after - pairs_before), kind="stable")
    return {
        "mean": _before_and_after(names, columns_before.mean, columns_after.mean),
        "sd": _before_and_after(names, columns_before.sd, columns_after.sd),
        "correlations": [
            {
                "columns": [names[left[pair]], names[right[pair]]],
                "correlation": [float(pairs_before[pair]), float(pairs_after[pair])],
            }
            for pair in most_changed[:_CORRELATIONS_LISTED]
        ],
    }


def _correlations(values: Floats, standardised: Floats, weights: Floats | None) -> Floats:
    """Correlate columns with each other, (p, p), over the rows in which both have a value."""
    z = standardised  # 0 where a value is missing
    if weights is not None:
        # Only their ratios count: they are divided by the largest, so that nothing overflows.
        z = z * np.sqrt(weights / weights.max())[:, None]
    present = (~np.isnan(values)).astype(np.float64)
    squares = np.einsum("ij,ik->jk", z**2, present)  # of each column where the other one has values
    norm = np.sqrt(squares * squares.T)
    return np.asarray(sums_of_products(z) / np.where(norm > 0.0, norm, 1.0))


def _before_and_after(
    names: Sequence[str], before: Floats, after: Floats
) -> dict[str, list[float | None]]:
    """Pair a moment of columns, (p,), before and after by their names; None of no values."""
    pairs = np.column_stack([before, after]).tolist()
    known = [[None if isnan(number) else number for number in pair] for pair in pairs]
    return dict(zip(names, known, strict=True))
