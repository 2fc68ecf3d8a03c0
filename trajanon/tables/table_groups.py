"""Groups of the rows of a table: within strata, and where values are missing."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.progress import Progress, silent
from trajanon.grouping import loss
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition, measured
from trajanon.tables.averages import Units
from trajanon.tables.missing_values import filled, regrouped
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
