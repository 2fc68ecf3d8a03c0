"""The columns of a table by their parts, and its complete rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of, percent
from trajanon.common.settings import MissingName
from trajanon.tables.averaged_columns import Doubt, Roles, averaged_columns, code_doubts
from trajanon.tables.cell_numbers import Cells, Numbers, read_numbers
from trajanon.tables.table_files import Table, listed, read_table
from trajanon.trajectories.subjects import numbered

if TYPE_CHECKING:
    import pandas as pd


class LeftOut(NamedTuple):
    """Columns that hold no numbers, and are not kept."""

    columns: list[str]

    def sentence(self) -> str:
        """Name them, and the way out."""
        return f"Left out, as they hold no numbers: {listed(self.columns)}. `keep` keeps columns."


class Incomplete(NamedTuple):
    """Rows in which a value is missing where it is needed."""

    table_name: str
    rows: int  # of the table
    missing: int  # how many are incomplete
    lacking: Mapping[str, int]  # of each column, in how many
    weight_share: float | None = None  # of the survey weights that they have, if these are known

    def __str__(self) -> str:
        columns = [f"{name} {rows:,}" for name, rows in self.lacking.items()]
        of = f"of the {number_of(self.rows, 'row')} of {self.table_name} ({listed(columns)})"
        return f"values are missing in {self.missing:,} {of}"

    def sentence(self) -> str:
        """Report that they are dropped."""
        share = self.weight_share
        weight = f"; they have {percent(share)} of the survey weights" if share is not None else ""
        return f"Rows are dropped: {self}{weight}."


class Gaps(NamedTuple):
    """Cells without a value, which stay so."""

    cells: Mapping[str, int]  # of each column that has some

    def sentence(self) -> str:
        """Report what is averaged."""
        columns = listed([f"{name} {number:,}" for name, number in self.cells.items()])
        return f"Missing values stay missing: {columns}. Means are those of the values there are."


Notice = LeftOut | Incomplete | Gaps | Doubt


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """A table, and the parts that its columns play, each in the order of the table."""

    table: Table
    rows: Bools  # those that are used, in which no value that is needed is missing
    numbers: Mapping[str, Numbers]  # of the columns to average
    kept: list[str]  # those to keep as they are
    notices: list[Notice]  # what else the reader should know

    @property
    def averaged(self) -> list[str]:
        """Return the names of the columns to average."""
        return list(self.numbers)

    @property
    def records(self) -> Floats:
        """Return the numbers to average, of the rows that are used, (n, p); NaN where missing."""
        return np.column_stack([column.values[self.rows] for column in self.numbers.values()])

    def cells(self, name: str) -> Cells:
        """Return the cells of a column, of the rows that are used, (n,)."""
        return self.table.columns[name][self.rows]

    def survey_weights(self, name: str | None) -> Floats | None:
        """Return the survey weights of the rows that are used, (n,), all above 0."""
        if name is None:
            return None
        return _weights(self.table, name)[self.rows]


def read_table_columns(
    source: "Path | pd.DataFrame", roles: Roles | None = None, missing: MissingName = "refuse"
) -> TableColumns:
    """Read a table, find the part of each column, and which rows are complete."""
    roles = Roles() if roles is None else roles
    known = get_args(MissingName)
    if missing not in known:
        raise BadInput(f"`missing` {missing!r} is not known; choose from {', '.join(known)}")

    table = read_table(source)
    roles.check(table)
    named = roles.by_part["columns"] or table.columns
    numbers = {name: read_numbers(table.columns[name], table.separator) for name in named}
    averaged = averaged_columns(table, numbers, roles)
    numbers = {name: numbers[name] for name in averaged}
    _refuse_doubtful(table, numbers)

    kept = roles.kept(table, averaged)
    notices: list[Notice] = []
    if not roles.by_part["columns"]:
        left_out = [name for name in table.columns if name not in (*averaged, *kept, *roles.beside)]
        if left_out:
            notices.append(LeftOut(left_out))

    rows, gaps = _complete_rows(table, numbers, roles, missing)
    notices += gaps
    _refuse_other_cells(table, numbers, rows)
    for name, column in numbers.items():
        values = column.values[rows]
        notices += code_doubts(name, values[~np.isnan(values)])
    return TableColumns(table, rows, numbers, kept, notices)


def _refuse_doubtful(table: Table, numbers: Mapping[str, Numbers]) -> None:
    """Refuse a table with no column to average, or one that cannot be read for certain."""
    if not numbers:
        raise BadInput(
            f"{table.name} has no column to microaggregate; name some that hold numbers in "
            f"`columns`, out of {listed(list(table.columns))}"
        )
    for name, column in numbers.items():
        if column.doubt:
            raise BadInput(
                f"column {name!r} of {table.name} holds {column.doubt!r}, which may be several "
                "numbers: write it as 1250 or as 1.25, or choose other `columns`"
            )


def _complete_rows(
    table: Table, numbers: Mapping[str, Numbers], roles: Roles, missing: MissingName
) -> tuple[Bools, list[Notice]]:
    """Find the rows to use, (n,), and what to report of the others, or of cells that are kept."""
    in_numbers = {name: column.missing for name, column in numbers.items()}
    parts = roles.by_part
    beside = {
        name: numbered(table.columns[name]).missing
        for name in (*parts["subject"], *parts["strata"])
    }
    for name in parts["survey_weight"]:
        beside[name] = np.isnan(_weights(table, name))
    lacking = {
        name: int(gaps.sum()) for name, gaps in {**in_numbers, **beside}.items() if gaps.any()
    }
    if not lacking:
        return np.ones(table.rows, np.bool_), []

    averaged_too = missing != "keep"
    needed = [*beside.values(), *(in_numbers.values() if averaged_too else ())]
    incomplete = np.any(needed, axis=0) if needed else np.zeros(table.rows, np.bool_)
    found = Incomplete(table.name, table.rows, int(incomplete.sum()), lacking)
    if incomplete.all() or (missing != "drop" and incomplete.any()):
        raise BadInput(
            f"{found}; fill them in, leave these rows out with `missing='drop'`, "
            f"{'average what there is with `missing=keep`, ' * averaged_too}or choose other "
            "`columns`"
        )
    if missing == "keep":
        return ~incomplete, [Gaps(lacking)]

    if roles.survey_weight is not None:
        weights = _weights(table, roles.survey_weight)
        lost = np.nansum(weights[incomplete]) / np.nansum(weights)
        found = found._replace(weight_share=float(lost))
    return ~incomplete, [found]


def _refuse_other_cells(table: Table, numbers: Mapping[str, Numbers], rows: Bools) -> None:
    """Refuse cells that hold something else than finite numbers."""
    for name, column in numbers.items():
        wrong = rows & ~column.missing & ~np.isfinite(column.values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise BadInput(
                f"column {name!r} of {table.name} holds {str(table.columns[name][row])[:40]!r} in "
                f"data row {row + 1}, which is no finite number; mend it, drop the row, or choose "
                "other `columns`"
            )


def _weights(table: Table, name: str) -> Floats:
    """Read survey weights, (n,); NaN where one is missing."""
    column = read_numbers(table.columns[name], table.separator)
    with np.errstate(invalid="ignore"):
        wrong = ~column.missing & ~((column.values > 0.0) & (column.values < np.inf))
    if column.doubt or wrong.any():
        row = int(np.argmax(wrong))
        raise BadInput(
            f"column {name!r} of `survey_weight` holds {str(table.columns[name][row])[:40]!r} in "
            f"data row {row + 1}; a survey weight is a number above 0"
        )
    return column.values
