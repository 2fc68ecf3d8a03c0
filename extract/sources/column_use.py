"""What tells the recordings of a table apart, and which of its columns are used."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from pandas.api.types import is_list_like

from trajanon.errors import BadInput, printable
from trajanon.extract.sources.columns import FILE, listed
from trajanon.extract.sources.streams import COLUMNS, Reading
from trajanon.extract.sources.timestamps import holds_times

First = Callable[[Sequence[str]], pd.DataFrame]  # reads the first rows of some columns

ONE_A_FILE = "tables without ids, each taken for one recording"

_MEASURES = re.compile(
    r"(?<![a-z])(acc|accuracy|alt|altitude|azimuth|bearing|battery|cadence|comment|course"
    r"|direction|dist|distance|[hpv]?dop|elev?|elevation|event|fix|[hv]acc|heading|height|hgt|hr"
    r"|heart|heartrate|mode|note|odometer|power|pressure|quality|rate|rssi|sats?|satellites"
    r"|signal|speed|state|status|temp|temperature|vel|velocity)(?![a-z])",
    re.IGNORECASE,
)
"""Words in the names of columns that describe a point, not its owner."""

_FEW = 10  # rows

_LISTED, _LETTERS = 40, 40  # unused columns that are listed, and letters of each name


def check_use(
    names: Sequence[str], column_of: Mapping[str, str], first: First, what: str, how: Reading
) -> None:
    """Count a table of points under the use of its columns; warn of unused columns."""
    count_use(names, column_of, how)
    used = column_of.values()
    unused = [name for name, often in Counter(names).items() if often == 1 and name not in used]
    if unused and "time" not in column_of:
        owner = column_of.get("id") or column_of.get("subject")
        wanted = unused if owner is None else [owner, *unused]
        _warn_of_times(_single_values(first, wanted), owner, what, how)
    may_be = [name for name in unused if name.lower().endswith("id")]
    if may_be and "id" in column_of and "subject" not in (*column_of, *how.columns):
        _warn_of_subjects(_single_values(first, [column_of["id"], *may_be]), what, how)


def with_recordings(
    names: Sequence[str],
    column_of: Mapping[str, str],
    first: First,
    what: str,
    how: Reading,
    begin: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Leave out an id that counts rows; without any id, take the file for one recording."""
    found = dict(column_of)
    said = how.columns.get("id")
    key = found.get("id") if said is None else None
    differ = begin is None or key is None or len(set(begin[key])) == len(begin[key])
    counts_rows = key is not None and differ and _counts_rows(first, key)
    if counts_rows or said == FILE:
        found.pop("id", None)
    if said != FILE and found.keys().isdisjoint(("id", "subject")):
        others = [name for name in names if name not in (*found.values(), key)]
        suspects = _suspects(first, others, found)
        if suspects:
            raise BadInput(
                f"{what} has no column known as id; {listed(names)}: say `columns` "
                f"id={suspects[0]}, or id={FILE} if each file is one recording"
            )
    if found.keys().isdisjoint(("id", "subject")):
        how.counts[ONE_A_FILE] += 1
    if counts_rows:
        one = f"each subject ({found['subject']})" if "subject" in found else "a file"
        msg = (
            f"the column {key!r} of {what} counts rows: {one} is taken for one recording; if "
            "another column tells recordings apart, say `columns` id=..."
        )
        how.warn(f"counts rows {key}", msg)
    return found


def _counts_rows(first: First, column: str) -> bool:
    """Whether each row has an id of its own; False for too few rows to decide."""
    ids = _single_values(first, [column])
    return len(ids) >= _FEW and bool(ids[column].is_unique) and bool(ids[column].notna().all())


def _suspects(first: First, others: Sequence[str], found: Mapping[str, str]) -> list[str]:
    """List columns that may tell the recordings of a file apart; without times, anything may."""
    if "time" not in found:
        return ["..."]
    rows = _single_values(first, [found["time"], *others]) if others else pd.DataFrame()
    return [name for name in others if name in rows and _may_name(rows[name], name)]


def _may_name(values: pd.Series, name: str) -> bool:
    """Say whether a column may name recordings or people: a few texts or whole numbers."""
    values = values.dropna()
    several = 1 < values.nunique() < len(values)
    if not several or _MEASURES.search(name):
        return False
    numbers = pd.to_numeric(values, errors="coerce")
    fractions = numbers.notna().all() and bool((numbers % 1.0 != 0.0).any())
    return not fractions and not holds_times(values, name)


def _single_values(first: First, names: Sequence[str]) -> pd.DataFrame:
    """Read the first rows of columns, except of those that hold lists or are damaged."""
    try:
        rows = first(names)
    except (OSError, ValueError, RuntimeError, StopIteration):
        return pd.DataFrame(columns=list(names))  # no one asked for them: no reason to stop
    lists = [name for name in rows if rows[name].map(is_list_like).any()]
    return rows.iloc[:0] if names[0] in lists else rows.drop(columns=lists)


def count_use(names: Sequence[str], column_of: Mapping[str, str], how: Reading) -> None:
    """Count a table under the use of its columns, in words."""
    used = [f"{role}={printable(name, _LETTERS)}" for role, name in column_of.items()]
    others = [printable(name, _LETTERS) for name in names if name not in column_of.values()]
    more = f" and {len(others) - _LISTED:,} more" if len(others) > _LISTED else ""
    unused = f"{', '.join(others[:_LISTED]) or 'none'}{more}"
    how.counts[f"{COLUMNS}{', '.join(used) or 'none'}; not used: {unused}"] += 1


def _warn_of_times(rows: pd.DataFrame, owner: str | None, what: str, how: Reading) -> None:
    """Warn of a column of times that differ within an owner, as those of points do."""
    owners = pd.Series("", rows.index) if owner is None else rows[owner].map(str)
    for name in rows.columns.drop(owner or []):
        times = rows[name].dropna()
        if holds_times(times, name) and times.map(str).groupby(owners).nunique().max() > 1:
            msg = (
                f"{what}: no column is used as time, but {name!r} holds times, such as "
                f"{str(times.iloc[0])!r}: say `columns` time={name}"
            )
            if how.timed:
                raise BadInput(msg)
            how.warn("times", f"{msg}; without, points are taken in their order", name)
            return


def _warn_of_subjects(rows: pd.DataFrame, what: str, how: Reading) -> None:
    """Warn if a column is the same within each id, and of several ids, too."""
    ids, *others = rows.columns
    for name in others:
        several = 0 < rows[name].nunique() < rows[ids].nunique()
        if several and rows.groupby(ids, observed=True)[name].nunique().max() == 1:
            msg = (
                f"the column {name!r} of {what} may hold the subjects of the traces: if it "
                f"does, name it with `columns` subject={name}"
            )
            how.warn("subject", msg, name)
            return
