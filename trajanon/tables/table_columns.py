"""The columns of a table by their parts, and its complete rows.

Columns of numbers are averaged, unless averages may mean nothing (identifiers, codes, dates,
weights): then the user has to name columns. Columns of text are left out or kept as they are. Rows
with a missing value are refused, dropped or kept.
"""

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from trajanon.common.arrays import Bools, DataFrame, Floats
from trajanon.common.errors import BadInput, LeftOutWarning, TrajanonWarning, printable
from trajanon.common.json_toml_and_regular_files import table_beside, typed
from trajanon.common.number_text import number_of, percent
from trajanon.common.search_and_release_options import MissingName
from trajanon.tables.cell_numbers_and_missing import Cells, Numbers
from trajanon.tables.table_files import Table, listed, read_table
from trajanon.trajectories.subjects import numbered

ALL = ["all"]  # as the name of all columns

Kind = Literal["id", "code", "date", "weight", "missing"]
"""What numbers may be that no average should be taken of."""

_FORMS = typed(
    [(row["kind"], row["form"]) for row in table_beside(__file__, "doubtful_names.csv")],
    list[tuple[Kind, str]],
)
"""Forms of the names of such columns, in lower case; dates and gaps are known by values alone."""

_DATE = re.compile(r"(19|20|21(?=00))\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
"""Days written as YYYYMMDD, of the years 1900 to 2100."""

_MISSING_CODE = re.compile(r"-?9{1,7}|-7{1,4}|-8{1,4}|-1")
"""Numbers that statistical programs write for a missing value."""

_OTHER_VALUES = 3  # different values at least, for codes beside them to be far from all
_SHARE_OF_DATES = 0.9  # of a column's values, above which it holds dates
_VALUES_OF_CODE = 12  # different values that a code may have
_ROWS_OF_VALUE = 10  # on average at least, for values to be codes
_ROWS_TO_JUDGE = 20  # at least, to judge whether numbers are codes or count rows
_LONG_ID = 1e7  # the least number of eight digits


class Doubt(NamedTuple):
    """Why the average of a column may mean nothing."""

    column: str
    kind: Kind  # what it may be instead
    value: str = ""  # an example, as it is written
    rows: int = 0  # of a date or a missing value: rows that hold one
    of: int = 0  # rows with any value
    different: int = 0  # of a code that was found by its values: how many of them there are

    @property
    def reason(self) -> str:
        """Describe what the column looks like."""
        numbers = f"{number_of(self.different, 'whole number')}, as a code has"
        return {
            "id": "like an identifier",
            "weight": "like a survey weight",
            "code": numbers if self.different else "like a code",
            "date": f"dates such as {self.value}",
            "missing": f"{self.value} in {number_of(self.rows, 'row')}, like a code for a missing "
            "value",
        }[self.kind]

    def sentence(self) -> str:
        """Report that dates, or codes of gaps, are averaged all the same, and the way out."""
        holds = f"Column {self.column!r} holds {self.value} in {self.rows:,} of {self.of:,} rows"
        if self.kind == "date":
            return (
                f"{holds} or the like, which may be dates: their means are none; leave the column "
                "out of `columns`, or count days from the first."
            )
        return (
            f"{holds}, which may be a code for a missing value, and is averaged: leave such cells "
            "empty and choose what to do with them by `missing`, or choose other `columns`."
        )


class AveragesUnclear(BadInput):
    """Columns have to be named, because averages of some may mean nothing.

    Attributes
    ----------
    problem
        These columns, and what they look like.
    proposal
        Columns for ``columns``, and for ``keep`` and ``survey_weight`` where some look like it.

    Examples
    --------
    >>> import pandas as pd
    >>> import trajanon
    >>> people = pd.DataFrame({"person": range(6), "income": [3, 5, 8, 9, 12, 20]})
    >>> try:
    ...     trajanon.microaggregate_table(people, 3)
    ... except trajanon.AveragesUnclear as error:
    ...     print(error.proposal)
    {'columns': ['income']}
    """

    def __init__(self, problem: str, proposal: Mapping[str, list[str]]) -> None:
        super().__init__(problem, dict(proposal))
        self.problem = problem
        self.proposal = dict(proposal)

    def __str__(self) -> str:
        """Return the problem, and the proposal as parameters."""
        measures = self.proposal["columns"]
        words = [f"{name}={names!r}" for name, names in self.proposal.items() if names]
        such = f", such as {', '.join(words)}" if measures else ""
        return printable(f"{self.problem}; name the columns to average in `columns`{such}")


def refuse_texts(**options: object) -> None:
    """Refuse a text in place of a list of names: it would be taken for one name a letter."""
    for option, names in options.items():
        if isinstance(names, str):
            raise BadInput(f"{option} must be a list of names (got {names!r})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The columns that the user names for each part."""

    columns: Sequence[str] | None = None  # to average; None for those that seem to measure
    keep: Sequence[str] = ()  # as they are
    subject: str | None = None  # whose each row is
    strata: Sequence[str] = ()  # groups have equal values in these
    survey_weight: str | None = None  # by which means are weighted

    @property
    def beside(self) -> dict[str, Sequence[str]]:
        """Return the columns named for another part than to be averaged, by their part."""
        return {
            "keep": () if self.keep == ALL else self.keep,
            "subject": () if self.subject is None else [self.subject],
            "strata": self.strata,
            "survey_weight": () if self.survey_weight is None else [self.survey_weight],
        }

    def check(self, table: Table) -> None:
        """Refuse columns that are not there, or are named for two parts."""
        columns = () if self.columns is None or self.columns == ALL else self.columns
        names_of_part = {"columns": columns, **self.beside}
        for part, second_part in combinations(names_of_part, 2):
            names = names_of_part[part]
            second_names = names_of_part[second_part]
            table.refuse_unknown([*names, *second_names])
            twice = [name for name in names if name in second_names]
            # A stratum or a weight may be kept as well; a subject may not.
            if twice and (part != "keep" or second_part == "subject"):
                raise BadInput(
                    f"column {twice[0]!r} is named in both `{part}` and `{second_part}`; name it "
                    "once"
                )


def averaged_columns(table: Table, roles: Roles) -> list[str]:
    """Choose the columns to average; ask for their names if averages would spoil some of them."""
    if roles.columns is not None and roles.columns != ALL:
        return [name for name in table.columns if name in roles.columns]

    beside = [name for names in roles.beside.values() for name in names]
    # With a cell that may be several numbers a column counts as one of numbers, so that it is
    # refused later on, and not left out.
    of_numbers = [
        name
        for name in table.columns
        if name not in beside and (table.numbers(name).doubt or table.numbers(name).are_most)
    ]
    if roles.columns == ALL:
        return of_numbers

    # The columns whose averages may mean nothing; all others are measures.
    doubt_of_column = {}
    for name in of_numbers:
        if doubt := doubt_of(name, table.numbers(name)):
            doubt_of_column[name] = doubt
    measures = [name for name in of_numbers if name not in doubt_of_column]
    if not doubt_of_column or roles.keep == ALL:
        return measures

    # Propose to average the measures, to keep codes, and to weight by the one column of weights.
    codes = [name for name, doubt in doubt_of_column.items() if doubt.kind == "code"]
    weights = [name for name, doubt in doubt_of_column.items() if doubt.kind == "weight"]
    proposal = {"columns": measures}
    if kept := [name for name in table.columns if name in codes or name in roles.keep]:
        proposal["keep"] = kept
    if len(weights) == 1 and roles.survey_weight is None:
        proposal["survey_weight"] = weights

    reasons = ", ".join(f"{name} ({doubt.reason})" for name, doubt in doubt_of_column.items())
    raise AveragesUnclear(
        f"{table.name} has columns whose averages may mean nothing: "
        f"{textwrap.shorten(reasons, 350, placeholder=' ...')}",
        proposal,
    )


def doubt_of(name: str, numbers: Numbers) -> Doubt | None:
    """Find out whether averages of a column may mean nothing, by its name and its values."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()  # customerId is customer_id
    for kind, form in _FORMS:
        if re.search(form, words):
            return Doubt(name, kind)

    values = numbers.values[np.isfinite(numbers.values)]
    if doubts := code_doubts(name, values):
        return doubts[0]
    if numbers.decimals != 0 or len(values) < _ROWS_TO_JUDGE:
        return None

    different = np.unique(values)
    if 1 < len(different) <= min(_VALUES_OF_CODE, len(values) // _ROWS_OF_VALUE):
        return Doubt(name, "code", different=len(different))

    # Identifiers count rows, or blocks of up to ten rows; or all differ, and either none is left
    # out or they have many digits, all as many.
    steps = np.diff(values)
    counts_rows = np.isin(steps, (0.0, 1.0)).all() and 10 * len(different) > len(values)
    has_no_gap = different[-1] - different[0] == len(different) - 1
    has_many_digits = different[0] >= _LONG_ID and different[-1] < 10.0 * different[0]
    all_differ = len(different) == len(values)
    is_id = counts_rows or (all_differ and (has_no_gap or has_many_digits))
    return Doubt(name, "id") if is_id else None


def code_doubts(name: str, values: Floats) -> list[Doubt]:
    """Find out whether a column holds dates; else find codes for missing values in it."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) < 2:
        return []

    # Each value as a text if it is whole, and else an empty one, which is neither date nor code.
    texts = [f"{value:.0f}" if value % 1.0 == 0.0 else "" for value in different.tolist()]
    is_date = np.array([_DATE.fullmatch(text) is not None for text in texts])
    dates = int(counts[is_date].sum())
    if dates > _SHARE_OF_DATES * len(values):
        return [Doubt(name, "date", texts[int(is_date.argmax())], dates, len(values))]

    # Codes are far from all other values, first..end - 1: they are all that is below 0, or each is
    # as far above the next one as the others are wide. So a least value of 0 or more never is one.
    is_code = [_MISSING_CODE.fullmatch(text) is not None for text in texts]
    first = int((different < 0.0).sum())
    if not all(is_code[:first]):
        first = 0
    end = len(different)
    while is_code[end - 1] and end - first > _OTHER_VALUES:
        low, high, highest = different[[first, end - 2, end - 1]]
        if highest - high < high - low:
            break
        end -= 1
    if end - first < _OTHER_VALUES:
        return []
    return [
        Doubt(name, "missing", texts[place], int(counts[place]), len(values))
        for place in (*range(first), *range(end, len(different)))
    ]


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """A table, and the parts that its columns play, each in the order of the table."""

    table: Table
    used_rows: Bools  # no value that is needed is missing there, (rows of the table,)
    averaged: list[str]  # names of the columns to average
    kept: list[str]  # names of those to keep as they are
    roles: Roles  # as the user named them
    notices: list[TrajanonWarning]  # what else the user should know

    @property
    def records(self) -> Floats:
        """Return the numbers to average, of the rows that are used, (n, p); NaN where missing."""
        columns = [self.table.numbers(name).values for name in self.averaged]
        return np.column_stack(columns)[self.used_rows]

    def cells(self, name: str) -> Cells:
        """Return the cells of a column, of the rows that are used, (n,)."""
        return self.table.columns[name][self.used_rows]

    @property
    def survey_weights(self) -> Floats | None:
        """Return the survey weights of the rows that are used, (n,), all above 0."""
        name = self.roles.survey_weight
        return None if name is None else self.table.numbers(name).values[self.used_rows]


def read_table_columns(
    source: str | os.PathLike[str] | DataFrame,
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

    if roles.survey_weight is not None:
        weights = table.numbers(roles.survey_weight)
        is_wrong = weights.wrong | (weights.values <= 0.0)
        way_out = "a survey weight is a number above 0"
        _refuse_cells(table, roles.survey_weight, is_wrong, way_out)

    rows, lacking = _complete_rows(table, averaged, roles, missing)
    notices += lacking
    for name in averaged:
        way_out = (
            "what is not a finite number has no mean: correct it, drop the row, or choose other "
            "`columns`"
        )
        _refuse_cells(table, name, rows & table.numbers(name).wrong, way_out)
        values = table.numbers(name).values[rows]
        doubts = code_doubts(name, values[~np.isnan(values)])
        notices += [TrajanonWarning(doubt.sentence(), doubt.kind, name) for doubt in doubts]
    return TableColumns(table, rows, averaged, kept, roles, notices)


def _complete_rows(
    table: Table, averaged: list[str], roles: Roles, missing: MissingName
) -> tuple[Bools, list[TrajanonWarning]]:
    """Find the rows to use, (n,), and what to report of the others, or of cells that stay empty."""
    # By column: marks of the rows in which a value is missing, (n,).
    named = roles.beside
    missing_in_needed = {
        name: numbered(table.columns[name]).missing
        for name in (*named["subject"], *named["strata"])
    }
    missing_in_needed |= {name: table.numbers(name).missing for name in named["survey_weight"]}
    missing_in_averaged = {name: table.numbers(name).missing for name in averaged}

    missing_in = {**missing_in_averaged, **missing_in_needed}
    counts = {name: int(gaps.sum()) for name, gaps in missing_in.items() if gaps.any()}
    if not counts:
        return np.ones(table.rows, np.bool_), []

    # Cells to average may stay empty if so chosen; a person, a stratum or a weight may not.
    keeps = missing == "keep"
    incomplete = np.zeros(table.rows, np.bool_)
    for gaps in (missing_in_needed if keeps else missing_in).values():
        incomplete |= gaps

    columns = listed([f"{name} {number:,}" for name, number in counts.items()])
    of_rows = f"{incomplete.sum():,} of the {number_of(table.rows, 'row')} of {table.name}"
    sentence = f"values are missing in {of_rows} ({columns})"
    if incomplete.all() or (missing != "drop" and incomplete.any()):
        drop = "" if incomplete.all() else "leave these rows out with `missing='drop'`, "
        is_needed = any(name in counts for name in missing_in_needed)
        average = "" if is_needed else "average what there is with `missing='keep'`, "
        raise BadInput(f"{sentence}; fill them in, {drop}{average}or choose other `columns`")
    if keeps:
        for name, gaps in missing_in_averaged.items():
            if gaps.all():
                raise BadInput(
                    f"column {name!r} of {table.name} holds no value: choose other `columns`"
                )
        stay = f"Missing values stay missing: {columns}. Means are those of the values there are."
        return ~incomplete, [TrajanonWarning(stay, "missing values")]

    if roles.survey_weight is not None:
        weights = table.numbers(roles.survey_weight).values
        share = float(np.nansum(weights[incomplete]) / np.nansum(weights))
        sentence += f"; they have {percent(share)} of the survey weights"
    return ~incomplete, [LeftOutWarning(f"Rows are dropped: {sentence}.", "incomplete rows")]


def _refuse_cells(table: Table, name: str, wrong: Bools, way_out: str) -> None:
    """Refuse a column with cells that may be several numbers, or that are wrong, (n,)."""
    doubt = table.numbers(name).doubt
    if doubt:
        holds = f"{doubt!r}, which may be several numbers: write it as 1250 or as 1.25"
    elif wrong.any():
        row = int(np.argmax(wrong))
        holds = f"{str(table.columns[name][row])[:40]!r} in data row {row + 1}"
    else:
        return
    raise BadInput(f"column {name!r} of {table.name} holds {holds}; {way_out}")
