"""The columns of a table by their parts, and its complete rows."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.common.declared_options import MissingName
from trajanon.common.errors import BadInput, LeftOutWarning, TrajanonWarning
from trajanon.common.number_text import number_of, percent
from trajanon.tables.averaged_columns import ALL, Roles, averaged_columns, code_doubts
from trajanon.tables.cell_numbers import Cells
from trajanon.tables.table_files import Table, listed, read_table
from trajanon.trajectories.subjects import numbered

if TYPE_CHECKING:
    from trajanon.files.data_frames import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """A table, and the parts that its columns play, each in the order of the table."""

    table: Table
    rows: Bools  # those that are used, in which no value that is needed is missing
    averaged: list[str]
    kept: list[str]  # those to keep as they are
    roles: Roles
    notices: list[TrajanonWarning]  # what else the reader should know

    @property
    def records(self) -> Floats:
        """Return the numbers to average, of the rows that are used, (n, p); NaN where missing."""
        columns = [self.table.numbers(name).values for name in self.averaged]
        return np.column_stack(columns)[self.rows]

    def cells(self, name: str) -> Cells:
        """Return the cells of a column, of the rows that are used, (n,)."""
        return self.table.columns[name][self.rows]

    @property
    def survey_weights(self) -> Floats | None:
        """Return the survey weights of the rows that are used, (n,), all above 0."""
        name = self.roles.survey_weight
        return None if name is None else self.table.numbers(name).values[self.rows]


def read_table_columns(
    source: "str | os.PathLike[str] | DataFrame",
    roles: Roles | None = None,
    missing: MissingName = "refuse",
) -> TableColumns:
    """Read a table, find the part of each column, and which rows are complete."""
    roles = Roles() if roles is None else roles
    if missing not in (known := get_args(MissingName)):
        raise BadInput(f"`missing` {missing!r} is not known; choose from {', '.join(known)}")

    table = read_table(source)
    roles.check(table)
    averaged = averaged_columns(table, roles)
    if not averaged:
        raise BadInput(
            f"{table.name} has no column to microaggregate; name some that hold numbers in "
            f"`columns`, out of {listed(list(table.columns))}"
        )

    kept = [name for name in table.columns if name in roles.keep]
    if roles.keep == ALL:
        kept = [name for name in table.columns if name not in {*averaged, roles.subject}]

    notices: list[TrajanonWarning] = []
    beside = {*averaged, *kept, *(name for names in roles.beside.values() for name in names)}
    left_out = [name for name in table.columns if name not in beside]
    if left_out and (roles.columns is None or roles.columns == ALL):
        sentence = f"Left out, as they hold no numbers: {listed(left_out)}. `keep` keeps columns."
        notices.append(LeftOutWarning(sentence, "columns without numbers"))

    rows, lacking = _complete_rows(table, averaged, roles, missing)
    notices += lacking
    _refuse_other_cells(table, averaged, rows, roles.survey_weight)
    for name in averaged:
        values = table.numbers(name).values[rows]
        doubts = code_doubts(name, values[~np.isnan(values)])
        notices += [TrajanonWarning(doubt.sentence(), doubt.kind, name) for doubt in doubts]
    return TableColumns(table, rows, averaged, kept, roles, notices)


def _complete_rows(
    table: Table, averaged: list[str], roles: Roles, missing: MissingName
) -> tuple[Bools, list[TrajanonWarning]]:
    """Find the rows to use, (n,), and what to report of the others, or of cells that are kept."""
    named = roles.beside
    needed = {
        name: numbered(table.columns[name]).missing
        for name in (*named["subject"], *named["strata"])
    }
    needed |= {name: table.numbers(name).missing for name in named["survey_weight"]}
    gaps = {name: table.numbers(name).missing for name in averaged}
    cells = {name: int(lacks.sum()) for name, lacks in {**gaps, **needed}.items() if lacks.any()}
    if not cells:
        return np.ones(table.rows, np.bool_), []

    keeps = missing == "keep"
    incomplete = np.zeros(table.rows, np.bool_)
    for lacks in (*needed.values(), *(() if keeps else gaps.values())):
        incomplete |= lacks

    columns = listed([f"{name} {number:,}" for name, number in cells.items()])
    of_rows = f"{incomplete.sum():,} of the {number_of(table.rows, 'row')} of {table.name}"
    found = f"values are missing in {of_rows} ({columns})"
    if incomplete.all() or (missing != "drop" and incomplete.any()):
        average = "" if keeps else "average what there is with `missing=keep`, "
        raise BadInput(
            f"{found}; fill them in, leave these rows out with `missing='drop'`, {average}or "
            "choose other `columns`"
        )
    if keeps:
        stay = f"Missing values stay missing: {columns}. Means are those of the values there are."
        return ~incomplete, [TrajanonWarning(stay, "missing values")]

    if roles.survey_weight is not None:
        weights = table.numbers(roles.survey_weight).values
        share = float(np.nansum(weights[incomplete]) / np.nansum(weights))
        found += f"; they have {percent(share)} of the survey weights"
    return ~incomplete, [LeftOutWarning(f"Rows are dropped: {found}.", "incomplete rows")]


def _refuse_other_cells(
    table: Table, averaged: list[str], rows: Bools, survey_weight: str | None
) -> None:
    """Refuse cells that are no finite numbers, or may be several; and weights that are none."""
    for name in averaged:
        numbers = table.numbers(name)
        if numbers.doubt:
            raise BadInput(
                f"column {name!r} of {table.name} holds {numbers.doubt!r}, which may be several "
                "numbers: write it as 1250 or as 1.25, or choose other `columns`"
            )
        if (wrong := rows & numbers.wrong).any():
            raise BadInput(
                f"column {name!r} of {table.name} holds {_first(table, name, wrong)}, which is not "
                f"a finite number; correct it, drop the row, or choose other `columns`"
            )

    if survey_weight is not None:
        numbers = table.numbers(survey_weight)
        wrong = numbers.wrong | (numbers.values <= 0.0)
        if numbers.doubt or wrong.any():
            raise BadInput(
                f"column {survey_weight!r} of `survey_weight` holds "
                f"{_first(table, survey_weight, wrong)}; a survey weight is a number above 0"
            )


def _first(table: Table, name: str, marked: Bools) -> str:
    """Describe the first marked cell of a column, and its row."""
    row = int(np.argmax(marked))
    return f"{str(table.columns[name][row])[:40]!r} in data row {row + 1}"
