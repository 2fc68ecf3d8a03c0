"""Tables of numbers: a table in, a microaggregated table and its report out."""

import difflib
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd

from trajanon.errors import BadInput, TrajanonError
from trajanon.files import numeric_table
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition
from trajanon.pipeline import Options
from trajanon.subjects import Numbered, numbered


@dataclass(frozen=True, slots=True, eq=False)
class MicroaggregatedTable:
    """A table whose chosen columns are averages of groups, and how it came about.

    Attributes
    ----------
    table
        The microaggregated columns and those kept, rows and columns in the order of
        the source.
    report
        Ready for JSON; ``notices`` says, in sentences, what is not promised.
    """

    table: pd.DataFrame
    report: dict[str, Any]

    def write_draft(self, draft: Path) -> None:
        """Write the table where somebody else moves it into place.

        Raises
        ------
        TrajanonError
            If a row of the microaggregated columns, as written, occurs less than k
            times.
        """
        numeric_table.write(draft, self.table)
        occurs = numeric_table.rarest(draft, self.report["columns"])
        if occurs < self.report["k"]:
            msg = (
                f"a row of the microaggregated columns occurs {occurs} times as "
                f"written, and k is {self.report['k']}, so that nothing was written; "
                "please report it"
            )
            raise TrajanonError(msg)


def microaggregate_table(
    path: str | os.PathLike[str],
    k: int,
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    subjects_exact: bool = False,
    **options: Unpack[Options],
) -> MicroaggregatedTable:
    """Replace the rows of numeric columns by the means of groups of at least k.

    What is k-anonymous are the microaggregated columns, by themselves. Rows keep their
    order, as is usual for such tables, so that the holder can compare them with the
    originals: whoever else knows that order knows whose row each is, and so the mean
    of that person's group. Columns kept as they are may identify just as well.

    Parameters
    ----------
    path
        A table with a record a row, .csv or .parquet.
    k
        Least number of rows in a group, at least 2; with ``subject``, least number of
        different subjects.
    columns
        Those to microaggregate; None for all that hold numbers.
    keep
        Those to keep as they are, or ``["all"]``; all others are dropped.
    subject
        The column that says whose a row is; it is counted, and dropped.
    subjects_exact
        Whether names there that differ only in upper and lower case are different
        subjects.
    options
        As in `trajanon.microaggregate`, from ``method`` to ``progress``.

    Returns
    -------
    MicroaggregatedTable
        Each row of its microaggregated columns occurs at least k times.

    Raises
    ------
    BadInput
        If the table, the columns or an option cannot be used.
    TooFewRecords
        If there are fewer than k rows.
    TooFewSubjects
        If there are fewer than k different subjects.
    FileProblem
        If the table cannot be read.
    """
    path = Path(path)
    for name, given in (("columns", columns), ("keep", keep)):
        if isinstance(given, str):
            msg = f"{name} must be a list of names (got {given!r})"
            raise BadInput(msg)
    table = numeric_table.read(path)
    chosen, kept = choose_columns(path, table, columns, keep, subject)
    whose = None
    if subject is not None:
        whose = _subjects(path, table[subject], exact=subjects_exact)
    partition = microaggregate(
        numeric_table.records(path, table[chosen]),
        k,
        subjects=None if whose is None else whose.number,
        **options,
    )
    means = dict(zip(chosen, partition.aggregated.T, strict=True))
    written = [name for name in table if name in {*chosen, *kept}]
    return MicroaggregatedTable(
        pd.DataFrame({name: means.get(name, table[name]) for name in written}),
        {
            "n": len(table),
            "k": k,
            "counted": "rows" if subject is None else "subjects",
            "columns": chosen,
            "kept": kept,
            "dropped": [name for name in table if name not in written],
            **_account(partition),
            "notices": _notices(path, kept, whose),
        },
    )


def choose_columns(
    path: Path,
    table: pd.DataFrame,
    columns: Sequence[str] | None,
    keep: Sequence[str],
    subject: str | None,
) -> tuple[list[str], list[str]]:
    """Tell which columns to microaggregate and which to keep, in the table's order."""
    names = list(table)
    keeps_all = list(keep) == ["all"]
    asked = {
        "--columns": columns or (),
        "--keep": () if keeps_all else keep,
        "--subject": () if subject is None else (subject,),
    }
    _refuse_unknown(path, names, [name for given in asked.values() for name in given])
    _refuse_two_parts(asked)
    if columns is None:
        others = {*asked["--keep"], *asked["--subject"]}
        columns = [
            name
            for name in names
            if name not in others and numeric_table.holds_numbers(table[name])
        ]
    if not columns:
        msg = (
            f"no column of {path} is there to microaggregate; name some that hold "
            f"numbers with --columns, out of {_listed(names)}"
        )
        raise BadInput(msg)
    kept = (
        [n for n in names if n not in columns and n != subject] if keeps_all else keep
    )
    return [n for n in names if n in columns], [n for n in names if n in kept]


def _refuse_unknown(path: Path, names: Sequence[str], asked: Sequence[str]) -> None:
    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            guess = f"did you mean {near[0]!r}? Its" if near else "its"
            msg = f"{path} has no column {name!r}; {guess} columns are {_listed(names)}"
            raise BadInput(msg)


def _refuse_two_parts(asked: dict[str, Sequence[str]]) -> None:
    part_of: dict[str, str] = {}
    for option, names in asked.items():
        for name in names:
            if part_of.setdefault(name, option) != option:
                msg = (
                    f"column {name!r} is named by both {part_of[name]} and {option}; "
                    "name it once: microaggregated, kept, or whose a row is"
                )
                raise BadInput(msg)


def _listed(names: Sequence[str]) -> str:
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")


def _subjects(path: Path, column: pd.Series, *, exact: bool) -> Numbered:
    found = numbered(column, exact=exact)
    nameless = np.flatnonzero(found.missing)
    if len(nameless):
        msg = (
            f"column {column.name!r} of {path}, which says whose a row is, is empty in "
            f"data row {nameless[0] + 1}; fill it in, or drop the row"
        )
        raise BadInput(msg)
    return found


def _account(partition: Partition) -> dict[str, Any]:
    sizes = partition.sizes
    return {
        "groups": len(sizes),
        "sizes": {"min": int(sizes.min()), "max": int(sizes.max())},
        "information_loss": partition.information_loss,
        "stages": [stage.account for stage in partition.stages],
        "stopped": partition.stopped,
    }


def _notices(path: Path, kept: Sequence[str], whose: Numbered | None) -> list[str]:
    notices = []
    if kept:
        notices.append(
            f"Warning: kept as they are: {', '.join(kept)}. Such columns can identify; "
            "only the microaggregated ones are k-anonymous."
        )
    notices.append(
        f"The rows keep the order of {path.name}: whoever knows that order knows whose "
        "row each is, and with it the means of its group."
    )
    if whose is not None and whose.merged.sentence:
        notices.append(whose.merged.sentence)
    if whose is None:
        notices.append(
            "k counts rows: if several can be of one person or company, name the "
            "column that says whose they are with --subject."
        )
    return notices
