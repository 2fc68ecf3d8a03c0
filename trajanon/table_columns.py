"""Which columns of a table are microaggregated, kept or left out, and which rows."""

import difflib
import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.loss import HEAVIEST
from trajanon.number_text import number_of
from trajanon.settings import MissingName
from trajanon.subjects import numbered

ALL = ["all"]
WAY_OUT = "`columns`, with all names, averages such a column too; `keep` keeps it as it is."
_NO_NUMBERS, _NOT_NAMED = "not numbers", "not named in `columns`"
_LIKE_ID, _LIKE_CODE = "like an identifier", "like a code: few whole numbers"
_LIKE_WEIGHT = "like a survey weight: not used, each row counts once"
LIKE = (_LIKE_ID, _LIKE_CODE, _LIKE_WEIGHT)
"""Why numbers are not averaged."""


_ID = re.compile(
    r"(^|[^a-z])((ids?|codes?|zip|zipcode|postcode|plz|uid|uuid|nr|phone|key)([^a-z]|$)"
    r"|(ssn|acct|account|owner|iban|passport)$)"
)
_GLUED_ID = re.compile(r"[a-z]{5}(id|code|key)$")
_WEIGHT = re.compile(
    r"(^|[^a-z])[pfs]?(weights?|wgts?|wt|w)([^a-z]|$)|(wgt|weight|gewicht|gewichte|gewichtung)$"
)
_QUANTITY = re.compile(
    r"(^|[^a-z])(ages?|alter|years?|jahr|born|wages?|lohn|pay|price|preis|costs?|kosten|value|wert|"
    r"worth|sales|debt|tax|steuer|rent|miete|loan|kids|kinder|people|rooms?|count|anzahl|hours|"
    r"stunden|area|km|height|length|size)([^a-z]|$)|"
    r"income|einkommen|salar|gehalt|earning|amount|betrag|revenue|umsatz|turnover|profit|gewinn|"
    r"assets|balance|budget|spend|expen[ds]|children|persons|population|number.of|consumption|"
    r"employees|surface"
)
"""Words of what is counted or measured, whatever its values look like."""

_FEW = 20  # values: fewer do not show whether they number the rows
_DIFFERENT = 0.95  # of the values of an identifier
_CODES, _EACH = 5, 5  # different values of a code at most, and rows for each of them at least
_SIX_DIGITS, _NARROW = 1e5, 0.25  # no quantity of six digits varies by so small a share of itself


class TableColumns(NamedTuple):
    """A table, and the parts that its columns play, each in the order of the table."""

    table: pd.DataFrame  # all columns; the rows in which no value that is needed is missing
    records: Floats  # the numbers of the chosen columns, (n, p)
    chosen: list[str]  # those to microaggregate
    kept: list[str]  # those to keep as they are
    aside: dict[str, str]  # why others were not chosen
    dropped: int  # rows in which a value is missing
    said: list[str]  # what else was averaged, and which rows were dropped

    @property
    def warnings(self) -> list[str]:
        """What holds numbers and was not chosen, and all that is said of the others."""
        found = [name for name, why in self.aside.items() if why in LIKE]
        way_out = "`columns`, with all names, takes such a column too."
        return [f"Not averaged: {self.reasons(found)}. {way_out}"] * bool(found) + self.said

    def reasons(self, names: Sequence[str]) -> str:
        """List names by the reasons why they were not chosen."""
        of: dict[str, list[str]] = {}
        for name in names:
            of.setdefault(self.aside.get(name, ""), []).append(name)
        return "; ".join(
            f"{listed(some)} ({why})" if why else listed(some) for why, some in of.items()
        )


def read_table_columns(
    source: Path | pd.DataFrame,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    strata: str | None = None,
    missing: MissingName = "refuse",
) -> TableColumns:
    """Read a table, find the role of each column, and take the complete rows."""
    table, doubts = numeric_table.read_numbers(source)
    what = numeric_table.named(source)
    names = list(table)
    takes_all, keeps_all = list(columns or ()) == ALL, list(keep) == ALL
    others = [name for name in (subject, strata) if name is not None]
    asked = {
        "columns": [] if takes_all else columns or [],
        "keep": [] if keeps_all else keep,
        "subject": [name for name in others if name == subject],
        "strata": [name for name in others if name == strata],
    }
    every = [name for given in asked.values() for name in given]
    refuse_unknown(what, names, every)
    for one, other in combinations(asked, 2):
        twice = [name for name in asked[one] if name in asked[other]]
        if twice and {one, other} != {"keep", "strata"}:
            raise BadInput(
                f"column {twice[0]!r} is named in both `{one}` and `{other}`; name it once"
            )
    said: list[str] = []
    if columns is None or takes_all:
        columns = [n for n in names if n not in every and _holds_numbers(table[n], doubts)]
        aside = {name: _NO_NUMBERS for name in names if name not in columns}
        certain = [name for name in columns if name not in doubts]
        like = {name: why for name in certain if (why := _measures_nothing(table[name]))}
        if not takes_all:
            aside |= like
        elif like:
            said = [
                f"Warning: averaged although like identifiers, codes or weights: {listed([*like])}."
            ]
    else:
        aside = {name: _NOT_NAMED for name in names if name not in columns}
    aside |= dict.fromkeys(asked["strata"], "the strata")
    aside |= dict.fromkeys(asked["subject"], "the subject")
    chosen = [n for n in names if n in columns and n not in aside]
    if not chosen:
        nominal = listed([name for name in columns if name in aside])
        which = f" ({nominal} look like identifiers, codes or weights)" * bool(nominal)
        raise BadInput(
            f"{what} has no column to microaggregate{which}; name some that hold numbers in "
            f"`columns`, out of {listed(names)}"
        )
    kept = [n for n in names if (n not in chosen and n != subject if keeps_all else n in keep)]
    for name in filter(doubts.get, chosen):
        raise BadInput(
            f"column {name!r} of {what} holds {doubts[name].strip()[:40]!r}, which may be several "
            "numbers: write all alike, such as 1234.5, or choose other `columns`"
        )
    complete, dropped = _complete(what, table, chosen, others, missing)
    records = numeric_table.records(what, complete[chosen])
    said += [dropped] * bool(dropped)
    gone = len(table) - len(complete)
    return TableColumns(complete, records, chosen, kept, aside, gone, said)


def _holds_numbers(column: pd.Series, doubts: Mapping[str, str]) -> bool:
    return column.name in doubts or numeric_table.holds_numbers(column)


def _measures_nothing(column: pd.Series) -> str:
    """Say why the numbers of a column should not be averaged; empty if they may be."""
    if looks_like_id(column):
        return _LIKE_ID
    if looks_like_weight(str(column.name)):
        return _LIKE_WEIGHT
    return _LIKE_CODE if looks_like_code(column) else ""


def _complete(
    what: object, table: pd.DataFrame, chosen: list[str], others: list[str], missing: MissingName
) -> tuple[pd.DataFrame, str]:
    """Take the rows in which no value is missing, and say how many were dropped."""
    if missing not in (known := get_args(MissingName)):
        raise BadInput(f"`missing` {missing!r} is not known; choose from {', '.join(known)}")
    gaps = {name: numeric_table.missing(table[name]) for name in chosen}
    gaps |= {name: numbered(table[name]).missing for name in others}
    out = np.any(list(gaps.values()), axis=0)
    if not out.any():
        return table, ""
    counts = {name: int(where.sum()) for name, where in gaps.items() if where.any()}
    each = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    gaps_said = (
        f"{number_of(sum(counts.values()), 'value is', 'values are')} missing in "
        f"{out.sum():,} of the {number_of(len(table), 'row')} of {what} "
        f"({textwrap.shorten(each, 300, placeholder=' ...')})"
    )
    if missing == "refuse" or out.all():
        drop = "" if out.all() else "leave these rows out with `missing='drop'`, "
        raise BadInput(f"{gaps_said}; fill them in, {drop}or choose other `columns`")
    return table[~out], f"Rows with missing values are dropped: {gaps_said}."


def weights_of(
    weights: Mapping[str, float], source: TableColumns, what: object
) -> dict[str, float]:
    """Give the weight of each microaggregated column; those not named have 1."""
    refuse_unknown(what, list(source.table), list(weights))
    for name, weight in weights.items():
        if name not in source.chosen:
            raise BadInput(
                f"column {name!r} has a weight but is not averaged; name it in `columns`, too"
            )
        if not isinstance(weight, Real) or not 0.0 <= weight <= HEAVIEST:
            raise BadInput(
                f"the weight of {name!r} in `weights` must be a number from 0 to {HEAVIEST:g} "
                f"(got {weight!r})"
            )
    given = {name: float(weights.get(name, 1.0)) for name in source.chosen}
    if not any(given.values()):
        raise BadInput(f"all `weights` of {what} are 0; give a column more")
    return given


def refuse_unknown(what: object, names: Sequence[str], asked: Sequence[str]) -> None:
    """Refuse names that are not those of columns, with the nearest ones."""
    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            guess = f"did you mean {near[0]!r}? Its" if near else "its"
            raise BadInput(f"{what} has no column {name!r}; {guess} columns are {listed(names)}")


def listed(names: Sequence[str]) -> str:
    """List names, not all of them if they are many."""
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")


def looks_like_id(column: pd.Series) -> bool:
    """Whether a column of numbers is named like an identifier, or has the values of one.

    These number the rows, begin with 0, or are large and close together.
    """
    name = _words(str(column.name))
    values = _values(column)
    whole = _are_whole(values)
    if _ID.search(name) or (whole and _GLUED_ID.search(str(column.name).lower())):
        return True
    texts = pd.api.types.is_string_dtype(column)
    if texts and column.str.match(r"\s*0\d").any():
        return whole
    if not whole or _QUANTITY.search(name):
        return False
    different = np.unique(values)
    counts = len(values) == len(different) >= _FEW and np.ptp(values) < 2 * len(values)
    few = len(different) < _CODES
    narrow = different[0] >= _SIX_DIGITS and np.ptp(different) <= _NARROW * different[-1]
    return bool(counts or (narrow and not few))


def identifies(column: pd.Series) -> bool:
    """Whether a column is like an identifier, or nearly all of its values differ.

    Numbers with decimals are none, nor are whole numbers that are quantities by their name.
    """
    if numeric_table.holds_numbers(column):
        if looks_like_id(column):
            return True
        if not _are_whole(_values(column)) or _QUANTITY.search(_words(str(column.name))):
            return False
    return bool(column.astype(str).nunique() >= _DIFFERENT * len(column))


def looks_like_code(column: pd.Series) -> bool:
    """Whether a column of numbers holds few small whole ones, as codes of a sex or an answer do."""
    values = _values(column)
    if not _are_whole(values) or _QUANTITY.search(_words(str(column.name))):
        return False
    different = np.unique(values)
    few = 2 <= len(different) <= _CODES and _EACH * len(different) <= len(values)
    return bool(few and different[0] in (0, 1) and different[-1] <= 9)


def looks_like_weight(name: str) -> bool:
    """Whether a column is named like a survey weight."""
    return _WEIGHT.search(_words(name)) is not None


def _values(column: pd.Series) -> Floats:
    values = numeric_table.as_numbers(column)
    return values[np.isfinite(values)]


def _are_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _words(name: str) -> str:
    """Part the words of customerId as those of customer_id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
