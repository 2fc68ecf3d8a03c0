"""Which columns of a table are microaggregated, kept or left out, and which rows."""

import difflib
import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.loss import HEAVIEST
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
    """A table, and the parts that its columns play, each in the order of the table."""

    table: pd.DataFrame  # all columns; the rows in which no value that is needed is missing
    records: Floats  # the numbers of the chosen columns, (n, p)
    chosen: list[str]  # those to microaggregate
    kept: list[str]  # those to keep as they are
    ids: list[str]  # numbers that were not chosen, because they look like identifiers
    weights: list[str]  # or like survey weights
    dropped: int  # rows in which a value is missing
    warnings: list[str]  # what was not chosen, and which rows were dropped


def read_columns(
    path: Path,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    strata: str | None = None,
    missing: str = "refuse",
) -> Columns:
    """Read a table, tell which part each column plays, and take the rows that are complete."""
    table = numeric_table.read_table(path)
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
    refuse_unknown(path, names, every)
    for one, other in combinations(asked, 2):
        twice = [name for name in asked[one] if name in asked[other]]
        if twice and {one, other} != {"keep", "strata"}:
            raise BadInput(
                f"column {twice[0]!r} is named in both `{one}` and `{other}`; name it once"
            )
    ids, weights = [], []
    if columns is None or takes_all:
        columns = [n for n in names if n not in every and numeric_table.holds_numbers(table[n])]
        if not takes_all:
            ids = [name for name in columns if looks_like_id(table[name])]
            weights = [n for n in columns if n not in ids and looks_like_weight(n)]
    chosen = [n for n in names if n in columns and n not in {*ids, *weights}]
    if not chosen:
        aside = f" ({', '.join(ids + weights)} look like identifiers or weights)"
        raise BadInput(
            f"{path} has no column to microaggregate{aside if ids + weights else ''}; name "
            f"some that hold numbers in `columns`, out of {_listed(names)}"
        )
    kept = [n for n in names if (n not in chosen and n != subject if keeps_all else n in keep)]
    complete, dropped = _complete(path, table, chosen, others, missing)
    records = numeric_table.records(path, complete[chosen])
    warnings = [warning for warning in (_aside(ids, weights), dropped) if warning]
    gone = len(table) - len(complete)
    return Columns(complete, records, chosen, kept, ids, weights, gone, warnings)


def _aside(ids: list[str], weights: list[str]) -> str:
    """Say what was not chosen, and why; empty if everything was."""
    found = [f"{', '.join(ids)} (looks like an identifier)"] * bool(ids)
    found += [f"{', '.join(weights)} (looks like a survey weight)"] * bool(weights)
    way_out = "Name such a column in `columns` to average it, or in `keep` to keep it as it is."
    return f"Warning: not averaged: {'; '.join(found)}. {way_out}" if found else ""


def _complete(
    path: Path, table: pd.DataFrame, chosen: list[str], others: list[str], missing: str
) -> tuple[pd.DataFrame, str]:
    """Take the rows in which no value is missing, and say how many were dropped."""
    if missing not in MISSING:
        raise BadInput(f"`missing` {missing!r} is not known; choose from {', '.join(MISSING)}")
    gaps = {name: numeric_table.missing(table[name]) for name in chosen}
    gaps |= {name: numbered(table[name]).missing for name in others}
    out = np.any(list(gaps.values()), axis=0)
    if not out.any():
        return table, ""
    counts = {name: int(where.sum()) for name, where in gaps.items() if where.any()}
    each = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    told = (
        f"{number_of(sum(counts.values()), 'value is', 'values are')} missing in "
        f"{out.sum():,} of the {number_of(len(table), 'row')} of {path} "
        f"({textwrap.shorten(each, 300, placeholder=' ...')})"
    )
    if missing == "refuse" or out.all():
        drop = "" if out.all() else "leave these rows out with `missing='drop'`, "
        raise BadInput(f"{told}; fill them in, {drop}or choose other `columns`")
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


def weights_of(weights: Mapping[str, float], source: Columns, path: Path) -> dict[str, float]:
    """Give the weight of each microaggregated column; those not named have 1."""
    refuse_unknown(path, list(source.table), list(weights))
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
        raise BadInput(f"all `weights` of {path} are 0; give a column more")
    return given


def refuse_unknown(path: Path, names: Sequence[str], asked: Sequence[str]) -> None:
    """Refuse names that are not those of columns, with the nearest ones."""
    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            guess = f"did you mean {near[0]!r}? Its" if near else "its"
            raise BadInput(f"{path} has no column {name!r}; {guess} columns are {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")
