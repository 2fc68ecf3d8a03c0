"""Groups of the rows of a table: within strata, and where values are missing."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.progress import Progress, silent
from trajanon.grouping import loss
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.partition import Partition, measured
from trajanon.tables.averages import Units, columns_of
from trajanon.tables.table_columns import TableColumns


class Search(NamedTuple):
    """How groups are searched."""

    k: int
    importance: Floats | None  # of each column, (p,)
    options: Mapping[str, Any]  # of `microaggregate`
    progress: Progress = silent

    def run(self, units: Units, complete: Floats, importance: Floats | None) -> Partition:
        """Search groups of units, whose gaps are filled in the complete records."""
        partition = microaggregate(
            complete,
            self.k,
            subjects=units.subjects,
            weights=importance,
            progress=self.progress,
            **self.options,
        )
        if not np.isnan(units.records).any():
            return partition
        counts = np.ones(complete.shape[1]) if importance is None else importance
        labels = regrouped(
            units.records, complete, partition.labels, self.k, units.subjects, counts
        )
        return replace(partition, labels=labels)


class Stratum(NamedTuple):
    """Units that are grouped among themselves."""

    name: str  # its values, in messages
    units: Ints


def strata_of(read: TableColumns, units: Units) -> list[Stratum]:
    """Find the combinations of values of the strata, and their units; without strata all units."""
    columns = read.roles.strata
    if not columns:
        return [Stratum("", np.arange(len(units.records)))]

    number: dict[tuple[str, ...], int] = {}
    values = zip(*(map(str, read.cells(name)) for name in columns), strict=True)
    row_strata = np.array([number.setdefault(row, len(number)) for row in values])

    # The rows of a unit have one stratum.
    _, first = np.unique(units.of_row, return_index=True)
    stratum = row_strata[first]
    differs = np.flatnonzero(stratum[units.of_row] != row_strata)
    if len(differs):
        raise BadInput(
            f"`strata` {', '.join(columns)} differ between the rows of a subject, as in data row "
            f"{np.flatnonzero(read.rows)[differs[0]] + 1}: with `per_subject` name columns that "
            "are the same in all of them"
        )

    strata = []
    for values_of, place in number.items():
        words = [f"column {n!r} is {v[:40]!r}" for n, v in zip(columns, values_of, strict=True)]
        strata.append(Stratum(" and ".join(words), np.flatnonzero(stratum == place)))
    return strata


def grouped(units: Units, strata: list[Stratum], search: Search) -> Partition:
    """Group units, within each stratum."""
    since = perf_counter()
    complete = filled(units.records, search.k)
    if len(strata) == 1:
        return search.run(units, complete, search.importance)

    # Each stratum is searched by itself, in the deviations of the whole table, so that losses can
    # be added up.
    groups = 0
    stopped = False
    labels = np.empty(len(complete), dtype=np.int64)
    standard = loss.standardise(complete, search.importance)
    for name, members in strata:
        within, _ = importance_within(standard[members])
        part_units = Units(units.records[members], units.subjects[members], members, None)
        try:
            part = search.run(part_units, complete[members], within)
        except (TooFewRecords, TooFewSubjects) as error:
            raise type(error)(f"where {name}, {error}") from error

        labels[members] = groups + part.labels
        groups += int(part.labels.max()) + 1
        if part.stopped:  # the strata that are left shall not take long
            stopped = True
            search = search._replace(options={**search.options, "effort": "fast"})

    partition = measured(complete, dense(labels), "all strata", since, search.importance)
    return replace(partition, stopped=stopped)


def importance_within(standard: Floats) -> tuple[Floats | None, float]:
    """Weight columns, (p,), for a search in a stratum to count losses of the whole table.

    Its records are given in standard deviations of the table; the search counts in those of the
    stratum. Also returns what one unit of its SSE is in units of the table.
    """
    variance = np.diag(loss.sums_of_products(standard - standard.mean(axis=0)))
    largest = float(variance.max())
    if largest == 0.0:
        return None, 0.0
    return variance / largest, largest / max(len(standard) - 1, 1)


_DISTANCES_PER_BLOCK = 4_000_000
_NEAR = 16  # rows, in whose groups a row or a group may go
_ROUNDS = 4  # of moves; more gain nearly nothing
_LEAST_GAIN = 1e-9  # in squared standard deviations: less is rounding


def filled(records: Floats, k: int) -> Floats:
    """Fill gaps by the mean of the k nearest rows, by the columns that both have (Gower)."""
    present = ~np.isnan(records)
    if present.all():
        return records
    columns = columns_of(records)
    complete = np.where(present, records, columns.mean)
    for column in np.flatnonzero(~present.all(axis=0)):
        holders = np.flatnonzero(present[:, column])
        nearest = min(k, len(holders))
        block = max(_DISTANCES_PER_BLOCK // max(len(holders), 1), 1)
        rows = np.flatnonzero(~present[:, column])
        for begin in range(0, len(rows) if nearest else 0, block):
            lacking = rows[begin : begin + block]
            away = gower(columns.standardised, present, lacking, holders)
            near = holders[np.argpartition(away, nearest - 1, axis=1)[:, :nearest]]
            complete[lacking, column] = records[near, column].mean(axis=1)
    return complete


def gower(standard: Floats, present: Bools, rows: Ints, others: Ints) -> Floats:
    """Square the distances of rows to others, over the columns that both have, per column.

    ``standard`` has 0 where a value is missing. Source: Gower (Biometrics 27, 1971).
    """
    both = np.einsum("ik,jk->ij", present[rows].astype(np.float64), present[others] * 1.0)
    squares = shared_squares(standard, present, rows, others)
    return np.where(both > 0.0, squares / np.maximum(both, 1.0), np.inf)


def shared_squares(standard: Floats, present: Bools, rows: Ints, others: Ints) -> Floats:
    """Sum the squared differences of rows and others over the columns that both have."""
    # (x - y)² as x² - 2xy + y², each over the columns that both have: three products of matrices.
    squares = np.einsum("ik,jk->ij", standard[rows] ** 2, present[others] * 1.0)
    squares += np.einsum("ik,jk->ij", present[rows] * 1.0, standard[others] ** 2)
    squares -= 2.0 * np.einsum("ik,jk->ij", standard[rows], standard[others])
    return np.asarray(np.maximum(squares, 0.0))


def regrouped(
    records: Floats, complete: Floats, labels: Ints, k: int, subjects: Ints, importance: Floats
) -> Ints:
    """Move rows, and merge groups in which too few have a value, while the values there lose less.

    A group loses the squares round the mean of the values in it, or, where they are fewer than k
    and stay unwritten, round that of the column. ``complete`` are the records without gaps.
    """
    scale = np.sqrt(importance)
    near = exact_neighbours(columns_of(complete).standardised * scale, _NEAR)
    groups = _Groups(columns_of(records).standardised * scale, ~np.isnan(records), labels, k)
    # Whole groups are moved first, which merges them: a single row could not make k values.
    for _ in range(_ROUNDS):
        moves = 0
        for group in range(int(labels.max()) + 1):
            if groups.has_unwritten(group):
                moves += groups.move(np.flatnonzero(groups.labels == group), near)

        for row in range(len(records)):
            members = np.flatnonzero(groups.labels == groups.labels[row])
            if len(np.unique(subjects[members[members != row]])) >= k:
                moves += groups.move(np.array([row]), near)
        if not moves:
            break
    return dense(groups.labels)


class _Groups:
    """Groups of records with gaps, and what they lose."""

    def __init__(self, standard: Floats, present: Bools, labels: Ints, k: int) -> None:
        self.labels = labels.copy()
        self._k = k
        # Of each record and group, by column: how many values, their sum, and that of squares.
        self._parts = np.stack([present * 1.0, standard, standard**2])
        self._totals = np.zeros((3, int(labels.max()) + 1, standard.shape[1]))
        for total, part in zip(self._totals, self._parts, strict=True):
            np.add.at(total, labels, part)

    def has_unwritten(self, group: int) -> bool:
        """Return whether a group has values that are not written, as too few are there."""
        count = self._totals[0, group]
        return bool(((count > 0) & (count < self._k)).any())

    def move(self, rows: Ints, near: Ints) -> bool:
        """Move rows of a group to that of a near row where least is lost, if that is less."""
        group = self.labels[rows[0]]
        others = np.unique(self.labels[near[rows]])
        others = others[others != group]
        if not len(others):
            return False

        moved = self._parts[:, rows].sum(axis=1)
        totals = self._totals[:, others]
        added = self._lost(totals + moved[:, None]) - self._lost(totals)
        saved = self._lost(self._totals[:, group]) - self._lost(self._totals[:, group] - moved)
        best = int(added.argmin())
        if added[best] > saved - _LEAST_GAIN:
            return False

        self._totals[:, group] -= moved
        self._totals[:, others[best]] += moved
        self.labels[rows] = others[best]
        return True

    def _lost(self, totals: Floats) -> Floats:
        """Sum the squares that groups lose, of their totals, (3, ..., p)."""
        count, total, squares = totals
        gained = np.where(count >= self._k, total**2 / np.maximum(count, 1.0), 0.0)
        return np.asarray((squares - gained).sum(axis=-1))
