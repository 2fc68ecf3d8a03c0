"""The check of a table: how often rows of some columns occur, and what else tells of their risk."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import pandas as pd

from trajanon.common.arrays import DataFrame, Ints, numbers_by_appearance
from trajanon.common.errors import BadInput
from trajanon.grouping.k_promise import check_k
from trajanon.tables.l_diversity_and_suda import (
    Diversity,
    SpecialUniques,
    diversity,
    special_uniques,
)
from trajanon.tables.occurrences import combinations_of, occurrences, texts_as_written
from trajanon.tables.table_columns import ALL, refuse_texts
from trajanon.tables.table_files import Table, read_table
from trajanon.trajectories.person_names import tidied
from trajanon.trajectories.subjects import numbered


@dataclass(frozen=True, slots=True)
class TableFindings:
    """How often the rows of some columns of a table occur, and what else tells of their risk.

    Attributes
    ----------
    k, columns
        The least number asked for, and the columns looked at.
    counted
        What k counts: ``rows``, or ``subjects``.
    others
        Columns not looked at: they may identify.
    rows, groups
        Rows in the table, and different ones among them.
    incomplete
        Rows in which a value is missing. It may be any value: for each value that is there, k
        counts the rows that hold it, and whose other values fit.
    smallest, rare
        How often the rarest row occurs, or how many subjects have it; and how many rows occur, or
        have subjects, less than k times.
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
    counted: str
    others: list[str]
    rows: int
    groups: int
    incomplete: int
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
    path: str | os.PathLike[str] | DataFrame,
    k: int,
    *,
    columns: Sequence[str],
    sensitive: Sequence[str] = (),
    subject: str | None = None,
    subjects_exact: bool = False,
) -> TableFindings:
    """Count how often each combination of some columns occurs in a table, as written.

    Whether k holds does not depend on l-diversity, which is measured beside it: where all rows of
    a combination have one sensitive value, k rows do not hide it.

    Parameters
    ----------
    path, k
        As in `trajanon.microaggregate_table`; k counts rows of each combination.
    columns
        Those to look at, or ``["all"]``, which leaves out sensitive ones and the subject.
    sensitive
        Columns whose values shall stay unknown: the different ones within each combination are
        counted (l-diversity; Machanavajjhala et al., TKDD 2007). Spellings that differ only in case
        or spaces, and 1 and 1.0, are one value. A missing value counts as one.
    subject
        The column that says whose a row is, such as the ``group_column`` of
        `trajanon.microaggregate_table`: k then counts different ones.
    subjects_exact
        Whether subjects are told apart by each letter. Otherwise those that differ in case, spaces
        or punctuation alone are one.

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
    refuse_texts(columns=columns, sensitive=sensitive)
    table = read_table(path)
    not_looked_at = [*sensitive, *([] if subject is None else [subject])]
    chosen = _columns_to_look_at(table, columns, not_looked_at)

    people = None
    if subject is not None:
        people, nameless, _ = numbered(table.columns[subject], exact=subjects_exact)
        if nameless.any():
            raise BadInput(
                f"column {subject!r} of {table.name} is empty in {nameless.sum():,} rows: "
                "`subject` names whose each row is"
            )

    # By what is written, not by what it means: 1 and 1.0 look different to an adversary, too.
    # The separator tells decimal commas, by which cells without a number are known.
    combinations = combinations_of([table.columns[name] for name in chosen], table.separator)
    occurs = occurrences(combinations, people)
    return TableFindings(
        k=k,
        columns=chosen,
        counted="rows" if subject is None else "subjects",
        others=[name for name in table.columns if name not in {*chosen, *sensitive, subject}],
        rows=table.rows,
        groups=len(occurs),
        incomplete=int(combinations.incomplete[combinations.of_row].sum()),
        smallest=int(occurs.min()),
        rare=int((occurs < k)[combinations.of_row].sum()),
        uniques=special_uniques(pd.DataFrame({n: table.columns[n] for n in chosen}).astype(str)),
        diversity={
            name: diversity(combinations.of_row, _sensitive_values(table, name))
            for name in sensitive
        },
    )


def _sensitive_values(table: Table, name: str) -> Ints:
    """Number the values of a column by what they tell: 1 and 1.0 are one, as Flu and flu are."""
    texts = texts_as_written(table.columns[name], table.separator)
    spelled = ["" if text is None else tidied(text).casefold() for text in texts]
    numbers = table.numbers(name).values.tolist()
    values = [
        number if isfinite(number) else text for number, text in zip(numbers, spelled, strict=True)
    ]
    return numbers_by_appearance(values, {})


def _columns_to_look_at(
    table: Table, columns: Sequence[str], not_looked_at: Sequence[str]
) -> list[str]:
    """List the columns to look at; refuse those that play another part."""
    table.refuse_unknown(not_looked_at)
    chosen = list(dict.fromkeys(columns))
    if list(columns) == ALL:
        chosen = [name for name in table.columns if name not in not_looked_at]

    table.refuse_unknown(chosen)
    if not chosen:
        raise BadInput(f"name the columns of {table.name} to look at in `columns`, or all")
    for name in set(not_looked_at) & set(chosen):
        raise BadInput(
            f"column {name!r} of {table.name} is named twice: the values of a sensitive column, "
            "and the subjects, are counted within the combinations of others"
        )
    return chosen
