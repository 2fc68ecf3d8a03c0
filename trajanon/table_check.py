"""What a table shows by itself: whether each row of some columns occurs k times."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.partition import check_k
from trajanon.table_columns import ALL, refuse_unknown


@dataclass(frozen=True, slots=True)
class TableFindings:
    """How often the rows of some columns of a table occur.

    Attributes
    ----------
    k
        The least number of rows asked for.
    columns
        Those looked at.
    others
        Those not looked at: they may identify.
    rows
        In the table.
    groups
        Different rows among them.
    smallest
        How often the rarest occurs.
    rare
        Rows that occur less than k times.
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


def check_table(path: str | os.PathLike[str], k: int, *, columns: Sequence[str]) -> TableFindings:
    """Count how often each combination of some columns occurs in a table, as written.

    Parameters
    ----------
    path
        A table with a record a row, .csv or .parquet.
    k
        Least number of rows of each combination, at least 2.
    columns
        Those to look at, or ``["all"]``.

    Raises
    ------
    BadInput
        If the table has not these columns, or k is no promise.
    FileProblem
        If it cannot be read.
    """
    path = Path(path)
    check_k(k)
    names = list(numeric_table.read(path))
    chosen = names if list(columns) == ALL else list(dict.fromkeys(columns))
    refuse_unknown(path, names, chosen)
    if not chosen:
        msg = f"name the columns of {path} to look at with --columns, or all"
        raise BadInput(msg)
    counts = numeric_table.occurrences(path, chosen)
    return TableFindings(
        k=k,
        columns=chosen,
        others=[name for name in names if name not in chosen],
        rows=int(counts.sum()),
        groups=len(counts),
        smallest=int(counts.min()),
        rare=int(counts[counts < k].sum()),
    )
