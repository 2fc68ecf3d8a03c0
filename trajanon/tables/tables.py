"""Tables of numbers: a table in, a microaggregated table and its report out; and its check."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.common.method_parameters import METHOD_PARAMETERS, search_options
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import MissingName, Settings, takes_settings
from trajanon.grouping import loss
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition, check_k, measured
from trajanon.tables.moments import moments
from trajanon.tables.table_columns import (
    TableColumns,
    named,
    occurrences,
    read_table_columns,
    weights_of,
)
from trajanon.trajectories.subjects import Numbered, merged_sentences, numbered

NEAR_VALUE = 0.05  # standard deviations: up to here sdcMicro counts a row as at risk


@dataclass(frozen=True, slots=True, eq=False)
class MicroaggregatedTable:
    """A table with averages of groups in the chosen columns, and how it came about.

    Attributes
    ----------
    table
        The microaggregated columns and those kept, rows and columns in the order of the source.
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
    ([31.0, 31.0, 52.0, 52.0], [41.5, 41.5])
    """

    table: pd.DataFrame
    report: dict[str, Any]


def write_draft(result: MicroaggregatedTable, draft: Path) -> None:
    """Write the table where somebody else moves it into place."""
    if draft.suffix.lower() == ".parquet":
        result.table.to_parquet(draft, index=False)
    else:
        result.table.to_csv(draft, index=False)
    occurs = occurrences(draft, result.report["columns"])[1].min()
    if occurs < result.report["k"]:
        raise TrajanonError(
            f"nothing was written: a row of the microaggregated columns occurs {occurs} times "
            f"as written, and k is {result.report['k']}; please report it"
        )


@takes_settings(Settings, *METHOD_PARAMETERS)
def microaggregate_table(
    path: str | os.PathLike[str] | pd.DataFrame,
    k: int,
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    subjects_exact: bool = False,
    strata: str | None = None,
    weights: Mapping[str, float] | None = None,
    missing: MissingName = "refuse",
    progress: Progress = silent,
    **options: Any,
) -> MicroaggregatedTable:
    """Replace the rows of numeric columns by the means of groups of at least k.

    What is k-anonymous are the microaggregated columns, by themselves. Rows keep their order, as is
    usual for such tables, so that the holder can compare them with the originals: anyone else who
    knows that order can find a person's row, and so the mean of that person's group. Columns kept
    as they are may identify just as well.

    Parameters
    ----------
    path
        A table with a record a row: .csv or .parquet, or a data frame; its named index is a
        column like the others.
    k
        Least number of rows in a group, or of different subjects with ``subject``; at least 2.
    columns
        Those to microaggregate, or ``["all"]`` that hold numbers; None for these but for those that
        are named like identifiers or survey weights.
    keep
        Those to keep as they are, or ``["all"]``; all others are dropped.
    subject
        The column that names the person of a row; people are counted, and the column is dropped.
    strata
        Groups are formed within each value of this column; it is dropped unless it is kept.
        Losses are those of the whole table.
    weights
        How much columns count in the search, by their names; those not named count 1. A weight
        multiplies the squared deviation of its column, so one of 2 counts as if it stood there
        twice. The information loss is that of the weighted columns then; ``loss_by_column`` in the
        report stays that of each column by itself.
    missing
        ``refuse`` a table in which a value is missing where it is needed, or ``drop`` the rows.
    subjects_exact, progress, options
        As in `trajanon.microaggregate`, which also says what is raised.

    Returns
    -------
    MicroaggregatedTable
        Each row of its microaggregated columns occurs at least k times.

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
    [31.0, 31.0, 52.0, 52.0]
    >>> result.report["dropped"]
    ['name']
    >>> trajanon.microaggregate_table(pd.DataFrame(people), k=2, columns=["age"]).table
        age
    0  31.0
    1  31.0
    2  52.0
    3  52.0
    """
    search_options(options)  # checked before the table is read
    given = path if isinstance(path, pd.DataFrame) else Path(path)
    what = named(given)
    for name, names in (("columns", columns), ("keep", keep)):
        if isinstance(names, str):
            raise BadInput(f"{name} must be a list of names (got {names!r})")
    source = read_table_columns(given, columns, keep, subject, strata, missing)
    table, X = source.table.reset_index(drop=True), source.records
    people = None if subject is None else numbered(table[subject], exact=subjects_exact)
    own = np.arange(len(table)) if people is None else people.number
    weighted = None if weights is None else weights_of(weights, source, what)
    counts = None if weighted is None else np.array(list(weighted.values()))
    how: dict[str, Any] = {"weights": counts, "progress": progress}
    if strata is None:
        partition = microaggregate(X, k, subjects=own, **how, **options)
    else:
        partition = _in_strata(X, k, own, table[strata], how | options)
    written = [name for name in table if name in source.chosen or name in source.kept]
    means = dict(zip(source.chosen, partition.aggregated.T, strict=True))
    report = {
        "n": len(table),
        "k": k,
        "counted": "rows" if subject is None else "subjects",
        "columns": source.chosen,
        "kept": source.kept,
        "dropped": [name for name in table if name not in written],
        "strata": strata,
        "weights": weighted,
        **_account(X, partition, source.chosen, own),
        "notices": list(_notices(what, source, people)),
    }
    table = pd.DataFrame({name: means.get(name, table[name]) for name in written})
    return MicroaggregatedTable(table, report)


def _in_strata(
    X: Floats, k: int, own: Ints, column: pd.Series, how: Mapping[str, Any]
) -> Partition:
    since, groups, stopped = perf_counter(), 0, False
    stratum = numbered(column, exact=True, missing_differ=True).number
    labels = np.empty(len(X), dtype=np.int64)
    for one in range(stratum.max() + 1):
        rows = np.flatnonzero(stratum == one)
        try:
            part = microaggregate(X[rows], k, subjects=own[rows], **how)
        except (TooFewRecords, TooFewSubjects) as error:
            value = str(column.iloc[rows[0]])[:40]
            raise type(error)(f"where column {column.name!r} is {value!r}, {error}") from error
        labels[rows] = groups + part.labels
        groups += len(part.sizes)
        if part.stopped:  # the strata that are left shall not take long
            stopped = True
            how = {**how, "effort": "fast"}
    whole = measured(X, dense(labels), "all strata", since, how["weights"])
    return replace(whole, stopped=stopped)


def _account(X: Floats, partition: Partition, columns: Sequence[str], own: Ints) -> dict[str, Any]:
    """Tell the groups, the loss and the risk of a result, ready for JSON."""
    labels, sizes = partition.labels, partition.sizes
    records = loss.standardise(X)
    away = records - loss.group_means(records, labels)[labels]
    total = (records**2).sum(axis=0)
    lost = 100.0 * (away**2).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    rows = pd.Series(own).groupby([labels, own]).transform("size").to_numpy()
    chance = rows / sizes[labels]
    return {
        "groups": len(sizes),
        "sizes": {"min": int(sizes.min()), "max": int(sizes.max())},
        "information_loss": partition.information_loss,
        "loss_by_column": dict(zip(columns, lost.tolist(), strict=True)),
        "moments": moments(X, partition.aggregated, columns),
        "risk": {
            "linkage_highest": float(chance.max()),
            "linkage_mean": float(chance.mean()),
            "near_original": float((np.abs(away) <= NEAR_VALUE).all(axis=1).mean()),
        },
        "stages": [stage.account for stage in partition.stages],
        "stopped": partition.stopped,
    }


def _notices(what: str, source: TableColumns, people: Numbered | None) -> Iterator[str]:
    yield from (notice.sentence() for notice in source.notices)
    if source.kept:
        yield (
            f"Warning: kept as they are: {', '.join(source.kept)}. Such columns can identify; "
            "only the microaggregated ones are k-anonymous."
        )
    yield (
        f"The rows keep the order of {Path(what).name}: anyone who knows that order "
        "can find a person's row, and with it the means of its group."
    )
    if people is None:
        yield (
            "k counts rows: if one person or company can have several, name the column that "
            "says which in `subject`."
        )
    else:
        yield from merged_sentences(people.merged)


@dataclass(frozen=True, slots=True)
class TableFindings:
    """How often the rows of some columns of a table occur.

    Attributes
    ----------
    k, columns
        The least number of rows asked for, and the columns looked at.
    others
        Columns not looked at: they may identify.
    rows, groups
        Rows in the table, and different ones among them.
    smallest, rare
        How often the rarest row occurs, and how many rows occur less than k times.

    Examples
    --------
    >>> import pandas as pd
    >>> import trajanon
    >>> pd.DataFrame({"age": [31, 31, 52, 52, 52]}).to_csv("people.csv", index=False)
    >>> findings = trajanon.check_table("people.csv", k=2, columns=["age"])
    >>> findings.rows, findings.groups, findings.smallest, findings.holds
    (5, 2, 2, True)
    """

    k: int
    columns: list[str]
    others: list[str]
    rows: int
    groups: int
    smallest: int
    rare: int

    @property
    def holds(self) -> bool:
        """Whether every row occurs k times."""
        return self.smallest >= self.k

    def __bool__(self) -> bool:
        """Whether it holds."""
        return self.holds


def check_table(path: str | os.PathLike[str], k: int, *, columns: Sequence[str]) -> TableFindings:
    """Count how often each combination of some columns occurs in a table, as written.

    Parameters
    ----------
    path, k
        As in `trajanon.microaggregate_table`; k counts rows of each combination.
    columns
        Those to look at, or ``["all"]``.

    Raises
    ------
    BadInput
        If the table has not these columns, or k is no promise.
    FileProblem
        If it cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> import trajanon
    >>> people = {"age": [31, 31, 52], "job": ["cook", "nurse", "cook"]}
    >>> pd.DataFrame(people).to_csv("people.csv", index=False)
    >>> findings = trajanon.check_table("people.csv", k=2, columns=["age"])
    >>> findings.holds, findings.rare  # 52 occurs once
    (False, 1)
    """
    check_k(k)
    names, counts = occurrences(Path(path), columns)
    return TableFindings(
        k=k,
        columns=list(counts.index.names),
        others=[name for name in names if name not in counts.index.names],
        rows=int(counts.sum()),
        groups=len(counts),
        smallest=int(counts.min()),
        rare=int(counts[counts < k].sum()),
    )
