"""Which columns of a table are averaged, and why others are not."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput, printable
from trajanon.common.number_text import number_of
from trajanon.tables.cell_numbers import Numbers
from trajanon.tables.table_files import Table

ALL = ["all"]

Kind = Literal["id", "code", "date", "weight", "missing"]
"""What numbers may be that no average should be taken of."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_IDS = (
    r"(^|[^a-z])((ids?|zip|zipcode|postcode|plz|uid|uuid|nr|phone|key)([^a-z]|$)"
    r"|(ssn|acct|account|owner|iban|passport)$)|[a-z]{5}(id|key)$"
    r"|^(household|hh|person|pers|family|member|respondent)$"
)
_CODES = (
    r"(^|[^a-z])(codes?|sex|gender|region|isco|isced|nace|nuts|naics|sic|icd|fips|soc)([^a-z]|$)"
    r"|[a-z]{5}code$|(isco|isced|nace|nuts)\d*$"
)
_WEIGHTS = (
    r"(^|[^a-z])[pfs]?(weights?|wgts?|wt|w)([^a-z]|$)|(wgt|weight|gewicht|gewichte|gewichtung)$"
)
_NAMES: Mapping[Kind, str] = {"weight": _WEIGHTS, "id": _IDS, "code": _CODES}
"""Forms of the names of such columns, in lower case."""

_MISSING_CODES = {
    *(sign * float("9" * digits) for sign in (1, -1) for digits in range(1, 8)),
    *(-float(digit * digits) for digit in "78" for digits in range(1, 5)),
    -1.0,
}
"""Numbers that statistical programs write for a missing value."""

_SEVERAL = 3  # other values, beside which one can be far
_MOST = 0.9  # share of dates
_FEW_VALUES = 12  # that a code may have
_ROWS_OF_A_VALUE = 10  # on average, for it to be a code
_ROWS_TO_JUDGE = 20  # whether numbers count rows
_DIGITS_OF_AN_ID = 8


class Doubt(NamedTuple):
    """Why the average of a column may mean nothing."""

    column: str
    kind: Kind
    value: str = ""  # an example, as it is written
    rows: int = 0  # that hold such a value; of a code, how many values there are
    of: int = 0

    @property
    def reason(self) -> str:
        """Describe what the column looks like."""
        if self.kind == "missing":
            rows = number_of(self.rows, "row")
            return f"{self.value} in {rows}, like a code for a missing value"
        if self.kind == "date":
            return f"dates such as {self.value}"
        if self.kind == "code":
            numbers = number_of(self.rows, "whole number")
            return f"{numbers}, as a code has" if self.rows else "like a code"
        return {"id": "like an identifier", "weight": "like a survey weight"}[self.kind]

    def sentence(self) -> str:
        """Report that it is averaged all the same, and the way out."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The columns that are named for each part."""

    columns: Sequence[str] | None = None  # None for those that seem to measure something
    keep: Sequence[str] = ()
    subject: str | None = None
    strata: Sequence[str] = ()
    survey_weight: str | None = None

    @property
    def by_part(self) -> dict[str, Sequence[str]]:
        """Return the names alone, without the word for all columns."""
        return {
            "columns": [] if self.columns is None or self.columns == ALL else self.columns,
            "keep": [] if self.keep == ALL else self.keep,
            "subject": [] if self.subject is None else [self.subject],
            "strata": self.strata,
            "survey_weight": [] if self.survey_weight is None else [self.survey_weight],
        }

    @property
    def beside(self) -> list[str]:
        """Return the columns named for another part than to be averaged."""
        return [name for part, names in self.by_part.items() if part != "columns" for name in names]

    def check(self, table: Table) -> None:
        """Refuse columns that are not there, or are named for two parts."""
        parts = self.by_part
        table.refuse_unknown([name for names in parts.values() for name in names])
        for part, second_part in combinations(parts, 2):
            twice = [name for name in parts[part] if name in parts[second_part]]
            if twice and {part, second_part} not in _NAMED_TWICE:
                raise BadInput(
                    f"column {twice[0]!r} is named in both `{part}` and `{second_part}`; name it "
                    "once"
                )

    def kept(self, table: Table, averaged: Sequence[str]) -> list[str]:
        """List the columns to keep, in the order of the table."""
        if self.keep != ALL:
            return [name for name in table.columns if name in self.keep]
        return [name for name in table.columns if name not in {*averaged, self.subject}]


_NAMED_TWICE = ({"keep", "strata"}, {"keep", "survey_weight"})


def averaged_columns(table: Table, numbers: Mapping[str, Numbers], roles: Roles) -> list[str]:
    """Choose the columns to average; ask for their names if averages would spoil some of them."""
    if roles.columns is not None and roles.columns != ALL:
        return [name for name in table.columns if name in roles.columns]

    candidates = [
        name
        for name, column in numbers.items()
        if (column.doubt or column.hold) and name not in roles.beside
    ]
    if roles.columns == ALL:
        return candidates
    doubts = [doubt for name in candidates if (doubt := doubt_of(name, numbers[name]))]
    doubtful = [doubt.column for doubt in doubts]
    measures = [name for name in candidates if name not in doubtful]
    if doubts and roles.keep != ALL:
        raise _unclear(table, roles, measures, doubts)
    return measures


def _unclear(
    table: Table, roles: Roles, measures: Sequence[str], doubts: Sequence[Doubt]
) -> AveragesUnclear:
    """Ask for the columns to average, with a proposal."""
    of_kind = {kind: [doubt.column for doubt in doubts if doubt.kind == kind] for kind in KINDS}
    proposal: dict[str, list[str]] = {"columns": list(measures)}
    kept = [*(name for name in table.columns if name in {*of_kind["code"], *roles.keep})]
    if kept:
        proposal["keep"] = kept
    if len(of_kind["weight"]) == 1 and roles.survey_weight is None:
        proposal["survey_weight"] = of_kind["weight"]

    reasons = textwrap.shorten(
        ", ".join(f"{doubt.column} ({doubt.reason})" for doubt in doubts), 350, placeholder=" ..."
    )
    return AveragesUnclear(
        f"{table.name} has columns whose averages may mean nothing: {reasons}", proposal
    )


def doubt_of(name: str, numbers: Numbers) -> Doubt | None:
    """Find out whether averages of a column may mean nothing, by its name and its values."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()  # customerId is customer_id
    kind = next((kind for kind, form in _NAMES.items() if re.search(form, words)), None)
    if kind is not None:
        return Doubt(name, kind)

    values = numbers.present
    if doubts := code_doubts(name, values):
        return doubts[0]
    if numbers.decimals != 0 or len(values) < _ROWS_TO_JUDGE:
        return None

    different = np.unique(values)
    if 1 < len(different) <= min(_FEW_VALUES, len(values) // _ROWS_OF_A_VALUE):
        return Doubt(name, "code", rows=len(different))
    return Doubt(name, "id") if _number_rows(values, different) else None


def _number_rows(values: Floats, different: Floats) -> bool:
    """Return whether whole numbers count rows, or blocks of rows, or are all of many digits."""
    steps = np.diff(values)
    if len(different) > len(values) / 10 and np.isin(steps, (0.0, 1.0)).all():
        return True
    if len(different) < len(values):
        return False
    has_no_gap = different[-1] - different[0] == len(different) - 1
    digits = 10.0 ** (_DIGITS_OF_AN_ID - 1)
    return bool(has_no_gap or (different[0] >= digits and different[-1] < 10.0 * different[0]))


def code_doubts(name: str, values: Floats) -> list[Doubt]:
    """Find values that stand apart as codes for a missing value do, and numbers like dates."""
    different, counts = np.unique(values, return_counts=True)
    are_dates = _are_dates(different)
    dates = int(counts[are_dates].sum())
    if len(different) > 1 and dates > _MOST * len(values):
        example = f"{different[are_dates][0]:.0f}"
        return [Doubt(name, "date", example, dates, len(values))]

    codes: list[Doubt] = []
    for place, values_between in ((0, different[1:]), (-1, different[:-1])):
        if len(values_between) >= _SEVERAL and _is_code(float(different[place]), values_between):
            value = f"{different[place]:.0f}"
            codes.append(Doubt(name, "missing", value, int(counts[place]), len(values)))
    return codes


def _is_code(value: float, rest: Floats) -> bool:
    """Return whether programs write a value for none, and it is far from the others, in order."""
    low = float(rest[0])
    high = float(rest[-1])
    if value < 0.0:
        return value in _MISSING_CODES and low >= 0.0
    return value in _MISSING_CODES and value - high >= high - low


def _are_dates(values: Floats) -> Bools:
    """Mark days written as YYYYMMDD, of the years 1900 to 2100."""
    values = np.where(np.isfinite(values), values, 0.0)
    year = values // 10_000
    month = values // 100 % 100
    day = values % 100
    has_no_fraction = values % 1.0 == 0.0
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return np.asarray(has_no_fraction & valid & (year >= 1900) & (year <= 2100))
