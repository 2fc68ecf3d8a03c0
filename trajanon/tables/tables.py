"""Tables of numbers: a table in, a microaggregated table and its report out; and its check."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

import numpy as np
import pandas as pd
from msgspec import to_builtins

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.common.method_parameters import (
    METHOD_PARAMETERS,
    MicroaggregateKeywords,
    search_options,
)
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import MissingName, Settings, takes_settings
from trajanon.grouping import loss
from trajanon.grouping.k_promise import check_k
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition, measured
from trajanon.tables.disclosure_risk import Diversity, SpecialUniques, diversity, special_uniques
from trajanon.tables.moments import moments
from trajanon.tables.table_columns import (
    TableColumns,
    named,
    read_table_columns,
    rows_as_written,
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
    written, columns = rows_as_written(draft, result.report["columns"])
    occurs = written[columns].value_counts().min()
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
    **options: Unpack[MicroaggregateKeywords],
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
    k = check_k(k)
    search_options(options)  # checked before the table is read
    _refuse_text({"columns": columns, "keep": keep})
    source = path if isinstance(path, pd.DataFrame) else Path(path)
    read = read_table_columns(source, columns, keep, subject, strata, missing)
    table = read.table.reset_index(drop=True)

    people = None if subject is None else numbered(table[subject], exact=subjects_exact)
    person = np.arange(len(table)) if people is None else people.number
    weighted = None if weights is None else weights_of(weights, read, named(source))
    search: dict[str, Any] = {
        **options,
        "weights": None if weighted is None else np.array(list(weighted.values())),
        "progress": progress,
    }
    if strata is None:
        partition = microaggregate(read.records, k, subjects=person, **search)
    else:
        partition = _in_strata(read.records, k, person, table[strata], search)

    written = [name for name in table if name in read.chosen or name in read.kept]
    report = {
        "n": len(table),
        "k": k,
        "counted": "rows" if subject is None else "subjects",
        "columns": read.chosen,
        "kept": read.kept,
        "dropped": [name for name in table if name not in written],
        "strata": strata,
        "weights": weighted,
        **_account(read.records, partition, read.chosen, person),
        "notices": list(_notices(named(source), read, people)),
    }
    means = dict(zip(read.chosen, partition.aggregated.T, strict=True))
    return MicroaggregatedTable(
        pd.DataFrame({name: means.get(name, table[name]) for name in written}), report
    )


def _refuse_text(lists: Mapping[str, Sequence[str] | None]) -> None:
    """Refuse a text in place of a list of names, by its parameter."""
    for option, names in lists.items():
        if isinstance(names, str):
            raise BadInput(f"{option} must be a list of names (got {names!r})")


def _in_strata(
    X: Floats, k: int, people: Ints, column: pd.Series, options: Mapping[str, Any]
) -> Partition:
    """Microaggregate within each value of a column."""
    since = perf_counter()
    groups = 0
    stopped = False
    stratum = numbered(column, exact=True, missing_differ=True).number
    labels = np.empty(len(X), dtype=np.int64)
    for number in range(stratum.max() + 1):
        rows = np.flatnonzero(stratum == number)
        try:
            part = microaggregate(X[rows], k, subjects=people[rows], **options)
        except (TooFewRecords, TooFewSubjects) as error:
            value = str(column.iloc[rows[0]])[:40]
            raise type(error)(f"where column {column.name!r} is {value!r}, {error}") from error
        labels[rows] = groups + part.labels
        groups += len(part.sizes)
        if part.stopped:  # the strata that are left shall not take long
            stopped = True
            options = {**options, "effort": "fast"}
    partition = measured(X, dense(labels), "all strata", since, options["weights"])
    return replace(partition, stopped=stopped)


def _account(
    X: Floats, partition: Partition, columns: Sequence[str], people: Ints
) -> dict[str, Any]:
    """Measure the groups, the loss and the risk of a result, ready for JSON."""
    labels = partition.labels
    sizes = partition.sizes
    records = loss.standardise(X)
    away = records - loss.group_means(records, labels)[labels]
    total = (records**2).sum(axis=0)
    lost = 100.0 * (away**2).sum(axis=0) / np.where(total > 0.0, total, 1.0)

    # Whoever has several rows of a group is the likelier person behind each of its rows.
    rows = pd.Series(people).groupby([labels, people]).transform("size").to_numpy()
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
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": partition.stopped,
    }


def _notices(what: str, source: TableColumns, people: Numbered | None) -> Iterator[str]:
    """Write what is not promised, a sentence each."""
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
    """How often the rows of some columns of a table occur, and what else tells of their risk.

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
    uniques
        Rows that occur once, and the smallest sets of columns in which they do (SUDA).
    diversity
        The l-diversity of each sensitive column.

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
    uniques: SpecialUniques
    diversity: dict[str, Diversity]

    @property
    def holds(self) -> bool:
        """Return whether every row occurs k times."""
        return self.smallest >= self.k

    def __bool__(self) -> bool:
        """Return whether it holds."""
        return self.holds


def check_table(
    path: str | os.PathLike[str], k: int, *, columns: Sequence[str], sensitive: Sequence[str] = ()
) -> TableFindings:
    """Count how often each combination of some columns occurs in a table, as written.

    Whether k holds does not depend on l-diversity, which is measured beside it: where all rows of
    a combination have one sensitive value, k rows do not hide it.

    Parameters
    ----------
    path, k
        As in `trajanon.microaggregate_table`; k counts rows of each combination.
    columns
        Those to look at, or ``["all"]``, which leaves out sensitive ones.
    sensitive
        Columns whose values shall stay unknown: the different ones within each combination are
        counted (l-diversity; Machanavajjhala et al., TKDD 2007). A missing value counts as one.

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
    >>> people = {"age": [31, 31, 52], "job": ["cook", "nurse", "cook"], "ill": ["no", "yes", "no"]}
    >>> pd.DataFrame(people).to_csv("people.csv", index=False)
    >>> findings = trajanon.check_table("people.csv", 2, columns=["age"], sensitive=["ill"])
    >>> findings.holds, findings.rare, findings.uniques.riskiest  # 52 occurs once
    (False, 1, [RiskyRow(row=3, score=1, columns=[['age']])])
    >>> findings.diversity["ill"].distinct  # and whoever is 52 is not ill
    1
    """
    k = check_k(k)
    if isinstance(sensitive, str):
        raise BadInput(f"sensitive must be a list of names (got {sensitive!r})")
    table, chosen = rows_as_written(Path(path), columns, sensitive)
    rows = table[chosen]
    combination = rows.groupby(chosen, sort=False).ngroup().to_numpy()
    sizes = np.bincount(combination)
    return TableFindings(
        k=k,
        columns=chosen,
        others=[name for name in table if name not in chosen and name not in sensitive],
        rows=len(rows),
        groups=len(sizes),
        smallest=int(sizes.min()),
        rare=int(sizes[sizes < k].sum()),
        uniques=special_uniques(rows),
        diversity={name: diversity(combination, table[name]) for name in sensitive},
    )
