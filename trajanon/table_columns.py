"""Which columns of a table are microaggregated, kept or left out, and which rows."""

import difflib
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.subjects import numbered
from trajanon.words import number_of

ALL = ["all"]
MISSING = ("refuse", "drop")
_ID = re.compile(
    r"(^|[^a-z])(ids?|codes?|zip|zipcode|postcode|plz|uid|uuid|nr|phone|key)([^a-z]|$)"
)
_GLUED_ID = re.compile(r"[a-z]{5}(id|code|key)$")
_WEIGHT = re.compile(r"(^|[^a-z])[pfs]?(weights?|wgts?|wt|w)([^a-z]|$)|(wgt|weight)$")


_FEW = 20  # values: from fewer nobody can tell


class Columns(NamedTuple):
    """The parts that columns play, each in the order of the table."""

    chosen: list[str]  # those to microaggregate
    kept: list[str]  # those to keep as they are
    ids: list[str]  # numbers that were not chosen, because they look like identifiers
    weights: list[str]  # or like survey weights

    @property
    def warning(self) -> str:
        """Say what was not chosen, and why; empty if everything was."""
        found = [f"{', '.join(self.ids)} (looks like an identifier)"] * bool(self.ids)
        found += [f"{', '.join(self.weights)} (looks like a survey weight)"] * bool(self.weights)
        if not found:
            return ""
        return (
            f"Warning: not averaged: {'; '.join(found)}. Name such a column in `columns` to "
            "average it, or in `keep` to keep it as it is."
        )


def choose_columns(
    path: Path,
    table: pd.DataFrame,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    strata: str | None = None,
) -> Columns:
    """Tell which part each column plays."""
    names = list(table)
    keeps_all, takes_all = list(keep) == ALL, list(columns or ()) == ALL
    asked = {
        "columns": () if takes_all else columns or (),
        "keep": () if keeps_all else keep,
        "subject": () if subject is None else (subject,),
        "strata": () if strata is None else (strata,),
    }
    refuse_unknown(path, names, [name for given in asked.values() for name in given])
    _refuse_two_parts(asked)
    ids, weights = [], []
    if columns is None or takes_all:
        others = {name for given in asked.values() for name in given}
        free = [name for name in names if name not in others]
        columns = [name for name in free if numeric_table.holds_numbers(table[name])]
        if not takes_all:
            ids = [name for name in columns if looks_like_id(table[name])]
            weights = [n for n in columns if n not in ids and looks_like_weight(n)]
            columns = [name for name in columns if name not in {*ids, *weights}]
    if not columns:
        aside = f" ({', '.join(ids + weights)} look like identifiers or weights)"
        msg = (
            f"{path} has no column to microaggregate{aside if ids + weights else ''}; name "
            f"some that hold numbers in `columns`, out of {_listed(names)}"
        )
        raise BadInput(msg)
    kept = [n for n in names if n not in columns and n != subject] if keeps_all else keep
    return Columns(
        [n for n in names if n in columns], [n for n in names if n in kept], ids, weights
    )


def complete(
    path: Path,
    table: pd.DataFrame,
    chosen: Sequence[str],
    names: Sequence[str | None],
    missing: str,
) -> tuple[pd.DataFrame, str]:
    """Take the rows in which no value is missing, and say how many were dropped."""
    if missing not in MISSING:
        msg = f"missing {missing!r} is not known; choose from {', '.join(MISSING)}"
        raise BadInput(msg)
    gaps = {name: numeric_table.missing(table[name]) for name in chosen}
    gaps |= {name: numbered(table[name]).missing for name in names if name is not None}
    out = np.any(list(gaps.values()), axis=0)
    if not out.any():
        return table, ""
    counts = {name: int(where.sum()) for name, where in gaps.items()}
    cells = sum(counts.values())
    each = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    told = (
        f"{number_of(cells, 'value is', 'values are')} missing in "
        f"{out.sum():,} of the {len(table):,} rows of {path} "
        f"({textwrap.shorten(each, 300, placeholder=' ...')})"
    )
    if missing == "refuse" or out.all():
        drop = "" if out.all() else "leave these rows out with `missing='drop'`, "
        msg = f"{told}; fill them in, {drop}or choose other `columns`"
        raise BadInput(msg)
    return table[~out], f"Rows with missing values are dropped: {told}."


def looks_like_id(column: pd.Series) -> bool:
    """Whether a column of numbers is named like an identifier, or numbers the rows."""
    name = str(column.name)
    values = numeric_table.as_numbers(column)
    values = values[np.isfinite(values)]
    whole = bool((values == np.floor(values)).all())
    if _ID.search(_words(name)) or (whole and _GLUED_ID.search(name.lower())):
        return True
    if len(values) < _FEW or len(np.unique(values)) < len(values):
        return False
    return whole and bool(np.ptp(values) < 2 * len(values))


def looks_like_weight(name: str) -> bool:
    """Whether a column is named like a survey weight."""
    return _WEIGHT.search(_words(name)) is not None


def _words(name: str) -> str:
    """Part the words of customerId as those of customer_id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def refuse_unknown(path: Path, names: Sequence[str], asked: Sequence[str]) -> None:
    """Refuse names that are not those of columns, with the nearest ones."""
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
            other = part_of.setdefault(name, option)
            if other != option and {other, option} != {"keep", "strata"}:
                msg = (
                    f"column {name!r} is named in both `{other}` and `{option}`; name it "
                    "once: a column is microaggregated, kept, the subject, or the stratum"
                )
                raise BadInput(msg)


def _listed(names: Sequence[str]) -> str:
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")
