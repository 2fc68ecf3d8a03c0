"""Groups of the rows of a table, or of its subjects, within strata.

What is grouped is a "unit": a row, or the averages of a subject's rows. Labels, (m,), number the
group of each of m units.
"""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, numbers_by_appearance
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.parameters_of_single_methods import MicroaggregateKeywords
from trajanon.common.progress import Progress, silent
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition, measured
from trajanon.grouping.principal_axes import sums_of_products
from trajanon.grouping.refinements.blocks import put_together
from trajanon.grouping.standardised_records import standardise
from trajanon.tables.averages import Units
from trajanon.tables.missing_values import filled, regroup_for_missing_values
from trajanon.tables.table_columns import TableColumns


class Search(NamedTuple):
    """How groups are searched."""

    k: int
    importance: Floats | None  # of each column, (p,); None if all count alike
    options: MicroaggregateKeywords
    progress: Progress = silent

    def run(self, units: Units, complete: Floats, importance: Floats | None) -> Partition:
        """Group units; ``complete``, (m, p), are their records without gaps."""
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

        column_weights = np.ones(complete.shape[1]) if importance is None else importance
        labels = regroup_for_missing_values(
            units.records, complete, partition.labels, self.k, units.subjects, column_weights
        )
        return replace(partition, labels=labels)


class Stratum(NamedTuple):
    """Units that are grouped among themselves."""

    name: str  # its values, in messages; empty if there is only one
    units: Ints  # their numbers


def strata_of(read: TableColumns, units: Units) -> list[Stratum]:
    """Find the combinations of values in the columns of the strata, and the units of each.

    Without such columns all units are one stratum.
    """
    columns = read.roles.strata
    if not columns:
        return [Stratum("", np.arange(len(units.records)))]

    number_of_values: dict[tuple[str, ...], int] = {}
    values_of_rows = zip(*(map(str, read.cells(name)) for name in columns), strict=True)
    stratum_of_row = numbers_by_appearance(values_of_rows, number_of_values)

    # All rows of a unit have to be of the stratum of its first one. Units are numbered from 0, so
    # the first rows are in their order.
    _, first_row = np.unique(units.of_row, return_index=True)
    stratum_of_unit = stratum_of_row[first_row]
    differs = np.flatnonzero(stratum_of_unit[units.of_row] != stratum_of_row)
    if len(differs):
        raise BadInput(
            f"`strata` {', '.join(columns)} differ between the rows of a subject, as in data row "
            f"{np.flatnonzero(read.used_rows)[differs[0]] + 1}: with `per_subject` name columns "
            "that are the same in all of them"
        )

    strata = []
    for values, number in number_of_values.items():
        parts = [f"column {n!r} is {v[:40]!r}" for n, v in zip(columns, values, strict=True)]
        strata.append(Stratum(" and ".join(parts), np.flatnonzero(stratum_of_unit == number)))
    return strata


def grouped(units: Units, strata: list[Stratum], search: Search) -> Partition:
    """Group units, within each stratum."""
    since = perf_counter()  # for the time that the report has
    complete = filled(units.records, search.k)
    if len(strata) == 1:
        return search.run(units, complete, search.importance)

    # Each stratum is searched by itself, in the deviations of the whole table, so that losses can
    # be added up.
    stopped = False
    labels_of_strata = []
    standard = standardise(complete, search.importance)
    for name, members in strata:
        within, _ = importance_within(standard[members])
        # A search looks neither at the rows of units nor at their weights.
        part_units = Units(
            units.records[members], units.subjects[members], of_row=members, weights=None
        )
        try:
            part = search.run(part_units, complete[members], within)
        except (TooFewRecords, TooFewSubjects) as error:
            raise type(error)(f"where {name}, {error}") from error

        labels_of_strata.append((members, part.labels))
        if part.stopped:  # the strata that are left shall not take long
            stopped = True
            search = search._replace(options={**search.options, "effort": "fast"})

    labels = put_together(labels_of_strata)
    partition = measured(complete, labels, "all strata", since, search.importance)
    return replace(partition, stopped=stopped)


def importance_within(standard: Floats) -> tuple[Floats | None, float]:
    """Compute weights of columns, (p,), by which a search in a stratum counts losses of the table.

    ``standard``, (m, p), are the stratum's records in deviations of the whole table; the search
    counts in those of the stratum. Weights are scaled so that the largest is 1. Also returned is
    what one unit of the search's SSE is in units of the table: the variance of that column. Where
    all records are equal, no weights are needed, and nothing is lost.
    """
    squares = np.diag(sums_of_products(standard - standard.mean(axis=0)))
    largest = float(squares.max())
    if largest == 0.0:
        return None, 0.0
    return squares / largest, largest / (len(standard) - 1)
