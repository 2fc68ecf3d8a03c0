"""Tables of numbers: a table in, a microaggregated table and its report out."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from msgspec import to_builtins

from trajanon.common.arrays import DataFrame, Floats, Ints, renumbered
from trajanon.common.csv_separators import SEPARATORS
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import (
    HEAVIEST,
    MissingName,
    settings_from,
    takes_settings,
)
from trajanon.grouping.k_promise import check_k
from trajanon.tables.averages import averages_of, units_of
from trajanon.tables.cell_numbers_and_missing import number_texts, plain_numbers, whole_or_float
from trajanon.tables.occurrences import combinations_of, occurrences
from trajanon.tables.table_columns import Roles, TableColumns, read_table_columns, refuse_texts
from trajanon.tables.table_files import listed, read_table
from trajanon.tables.table_groups import Search, grouped, strata_of
from trajanon.tables.table_report import MicroaggregatedColumns
from trajanon.trajectories.subjects import merged_sentences, numbered

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MicroaggregatedTable:
    """A table with averages of groups in the chosen columns, and how it came about.

    Attributes
    ----------
    table
        The microaggregated columns and those kept, rows and columns in the order of the source,
        with its types: a data frame of the library that the source is of, else of pandas. An index
        of pandas is kept, but for what it names.
    report
        Ready for JSON; ``notices`` says, in sentences, what is not promised. ``moments`` has the
        mean and standard deviation of each column as pairs of before and after, and the ten
        correlations that changed most.

    Examples
    --------
    >>> import pandas as pd
    >>> import trajanon
    >>> result = trajanon.microaggregate_table(pd.DataFrame({"age": [30, 32, 50, 54]}), k=2)
    >>> result.table["age"].tolist(), result.report["moments"]["mean"]["age"]
    ([31, 31, 52, 52], [41.5, 41.5])
    """

    report: dict[str, Any]
    _source: TableColumns
    _means: Mapping[str, Floats]  # what is written, by column; NaN where a cell stays empty
    _given: object  # the path, or the frame of whose library the result is
    # The name of that column, and in it a number for the subject of each row; empty without one.
    _group_column: Mapping[str, Ints]

    @cached_property
    def table(self) -> pd.DataFrame:
        """Return what is written as a data frame."""
        import pandas as pd

        source = self._source.table
        columns: dict[str, object] = {}
        for name in self._written:
            if name in self._means:
                columns[name] = self._means_as_in_source(name)
            elif source.frame is not None:
                columns[name] = source.frame.loc[self._source.used_rows, name].array
            else:
                # Cells of CSV are texts: they become numbers where they are written as such.
                numbers = source.numbers(name)
                values = numbers.values[self._source.used_rows]
                columns[name] = plain_numbers(self._source.cells(name), values, numbers)

        index = None if source.frame is None else source.frame.index[self._source.used_rows]
        frame = pd.DataFrame({**columns, **self._group_column}, index)
        if source.frame is None or isinstance(self._given, str | os.PathLike):
            return frame
        from trajanon.files.data_frames import like

        return like(self._given, frame)

    @property
    def _written(self) -> list[str]:
        """Return the names of the columns of the source that are written, in their order."""
        kept = self._source.kept
        return [name for name in self._source.table.columns if name in self._means or name in kept]

    def _means_as_in_source(self, name: str) -> object:
        """Return the means of a column, (n,), in its type: an array of numpy or pandas."""
        import pandas as pd

        frame = self._source.table.frame
        numbers = self._source.table.numbers(name)
        means = self._means[name]
        if frame is None:
            return whole_or_float(means, numbers)

        # Decimals, and whole numbers with gaps, are objects.
        dtype = frame[name].dtype
        kinds = {*map(type, self._source.cells(name))} - {type(None)}
        kind = Decimal if Decimal in kinds else int
        if kind is Decimal or (dtype.kind == "O" and kinds == {int}):
            texts = number_texts(means, numbers)
            return np.array([kind(text) if text else None for text in texts], dtype=object)

        # A column of objects may hold other numbers as well; their means are floats.
        if not pd.api.types.is_numeric_dtype(dtype):
            return means
        if dtype.kind in "iu":
            # As a float, the largest number of 64 bits is one too large.
            beyond_all = 2.0**63 if dtype.kind == "i" else 2.0**64
            means = np.minimum(means, np.nextafter(beyond_all, 0.0))
        return pd.Series(means).astype(dtype).array


def write_draft(result: MicroaggregatedTable, draft: Path) -> None:
    """Write the table as a draft, which the caller moves into place, and check k in it."""
    source = result._source
    separator = source.table.separator
    names = [*result._written, *result._group_column]
    kept = (str(cell) for name in source.kept for cell in source.cells(name))
    # Python quotes no lone carriage return before 3.13, and whoever reads it takes the row as over.
    # What separates the cells of other tables must not seem to do so in the header of this one.
    has_returns = any("\r" in text for text in chain(names, kept))
    others = {*SEPARATORS} - {separator or ","}
    has_separators = any(others & {*name} for name in names)
    quoting: Literal[0, 1] = csv.QUOTE_ALL if has_returns or has_separators else csv.QUOTE_MINIMAL
    if draft.suffix.lower() == ".parquet":
        result.table.to_parquet(draft, index=False)
    elif separator is None:
        result.table.to_csv(draft, index=False, quoting=quoting)
    else:
        # The cells of each column as texts: kept ones as they were read, means in their form.
        texts = {name: source.cells(name).tolist() for name in result._written}
        for name, means in result._means.items():
            texts[name] = number_texts(means, source.table.numbers(name))
        texts |= {name: numbers.tolist() for name, numbers in result._group_column.items()}
        with draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n", quoting=quoting)
            writer.writerow(texts)
            writer.writerows(zip(*texts.values(), strict=True))

    # The file is read back, as a format may write equal values in different ways: what breaks the
    # promise shall reach nobody.
    written = read_table(draft, names)
    columns = [written.columns[name] for name in result.report["columns"]]
    rarest = occurrences(combinations_of(columns, written.separator)).min()
    if rarest < result.report["k"]:
        raise TrajanonError(
            f"nothing was written: a row of the microaggregated columns occurs {rarest} times "
            f"as written, and k is {result.report['k']}; please report it"
        )


@takes_settings(MicroaggregateSettings)
def microaggregate_table(
    path: str | os.PathLike[str] | DataFrame,
    k: int,
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    subjects_exact: bool = False,
    per_subject: bool = False,
    group_column: str | None = None,
    strata: str | Sequence[str] | None = None,
    survey_weight: str | None = None,
    importance: Mapping[str, float] | None = None,
    missing: MissingName = "refuse",
    progress: Progress = silent,
    **options: Unpack[MicroaggregateKeywords],
) -> MicroaggregatedTable:
    """Replace the rows of numeric columns by the means of groups of at least k.

    What is k-anonymous are the microaggregated columns, by themselves. Rows keep their order, as is
    usual for such tables, so that the holder can compare them with the originals: anyone else who
    knows that order can find a person's row, and so the mean of that person's group. Columns kept
    as they are may identify just as well.

    Means are rounded to the decimals of their column, so whole numbers stay whole. The information
    loss is that of what is written; ``rounding_loss`` in the report is the part of rounding.

    Parameters
    ----------
    path
        A table with a record a row: .csv or .parquet, by its path or a URL that fsspec opens, or a
        data frame; its named index is a column like the others.
    k
        Least number of rows in a group, or of different subjects with ``subject``; at least 2.
    columns
        Those to microaggregate, or ``["all"]`` that hold numbers; None for these, if none of them
        looks like an identifier, a code, a date or a survey weight: else it asks for names.
    keep
        Those to keep as they are, or ``["all"]``; all others are dropped.
    subject
        The column that names the person or household of a row; these are counted, and the column
        is dropped.
    per_subject
        Average the rows of each person first, and write the same mean to all of them.
    group_column
        Name of a new column with a number for each subject, drawn anew: `check_table` counts
        subjects by it.
    strata
        Groups are formed within each combination of values of these columns; they are dropped
        unless they are kept. Losses are those of the whole table.
    survey_weight
        The column with the weight of each row: means are weighted, and the report has the weighted
        loss, too. Groups are formed without it. It is dropped unless it is kept.
    importance
        How much columns count in the search, by their names; those not named count 1. The
        importance multiplies the squared deviation of its column, so one of 2 counts as if it stood
        there twice. The information loss is that of these columns then; ``loss_by_column`` in
        the report stays that of each column by itself.
    missing
        ``refuse`` a table in which a value is missing where it is needed, ``drop`` the rows, or
        ``keep`` them: a missing value stays missing, and a mean is that of at least k values. Fewer
        than k in a group are left out. The search fills gaps with the mean of the k nearest rows,
        by the columns that both have (Gower).
    subjects_exact, progress, options
        As in `trajanon.microaggregate`, which also says what is raised.

    Returns
    -------
    MicroaggregatedTable
        Each row of its microaggregated columns occurs at least k times; where values are missing,
        each value that is there.

    Raises
    ------
    FileProblem
        If the table cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> import trajanon
    >>> people = {"name": ["Ada", "Bob", "Cem", "Eva"], "age": [30, 32, 50, 54]}
    >>> pd.DataFrame(people).to_csv("people.csv", index=False)
    >>> result = trajanon.microaggregate_table("people.csv", k=2, columns=["age"])
    >>> result.table["age"].tolist()
    [31, 31, 52, 52]
    >>> result.report["dropped"]
    ['name']
    >>> trajanon.microaggregate_table(pd.DataFrame(people), k=2, columns=["age"]).table
       age
    0   31
    1   31
    2   52
    3   52
    """
    # What is wrong is refused before the table is read, which may take long.
    k = check_k(k)
    settings_from(options, MicroaggregateSettings)
    refuse_texts(columns=columns, keep=keep)
    if subject is None and (per_subject or group_column is not None):
        raise BadInput(
            "`per_subject` and `group_column` need `subject`: name the column with the person of "
            "each row"
        )

    roles = Roles(
        columns=None if columns is None else list(columns),
        keep=list(keep),
        subject=subject,
        strata=[strata] if isinstance(strata, str) else list(strata or []),
        survey_weight=survey_weight,
    )
    read = read_table_columns(path, roles, missing)

    # Who is behind each row; without subjects each row is a person's.
    people = None if subject is None else numbered(read.cells(subject), exact=subjects_exact)
    person = np.arange(int(read.used_rows.sum())) if people is None else renumbered(people.number)
    units = units_of(read.records, person, read.survey_weights, per_subject)

    column_importance = None if importance is None else _importance_of(importance, read)
    search = Search(k, column_importance, options, progress)
    partition = grouped(units, strata_of(read, units), search)
    decimals = [read.table.numbers(name).decimals for name in read.averaged]
    averages = averages_of(units, partition.labels, k, decimals)

    result = MicroaggregatedColumns(read, person, units, averages, per_subject)
    merged_names = [] if people is None else merged_sentences(people.merged)
    report = {
        **result.figures(k, column_importance),
        "group_column": group_column,
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": partition.stopped,
        "notices": [*result.notices(), *merged_names],
    }
    means = dict(zip(read.averaged, averages.written.T, strict=True))
    group_numbers = _group_column(group_column, read, person)
    return MicroaggregatedTable(report, read, means, path, group_numbers)


def _group_column(name: str | None, read: TableColumns, person: Ints) -> dict[str, Ints]:
    """Number the subjects of rows, (n,), in an order that nobody can know, for a new column."""
    if name is None:
        return {}
    if name in read.table.columns:
        raise BadInput(
            f"{read.table.name} has a column {name!r} already; choose another name for "
            "`group_column`"
        )
    # Without a seed: anyone who knew it could tell in which order the subjects stood.
    return {name: np.random.default_rng().permutation(int(person.max()) + 1)[person] + 1}


def _importance_of(importance: Mapping[str, float], read: TableColumns) -> Floats:
    """Return how much each averaged column counts, (p,); those not named count 1."""
    for name, weight in importance.items():
        if name not in read.averaged:
            raise BadInput(
                f"column {name!r} of `importance` is not averaged; {read.table.name} has "
                f"{listed(read.averaged)}"
            )

        if not isinstance(weight, Real) or not 0.0 <= weight <= HEAVIEST:
            raise BadInput(
                f"the importance of {name!r} must be a number from 0 to {HEAVIEST:g} (got "
                f"{weight!r})"
            )
    weights = [float(importance.get(name, 1.0)) for name in read.averaged]
    if not any(weights):
        raise BadInput("`importance` must be above 0 for one column at least")
    return np.array(weights)
