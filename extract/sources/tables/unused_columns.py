"""Which columns of a table are used, and as what; and which of the others matter."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from pandas.api.types import is_list_like

from trajanon.errors import BadInput, printable
from trajanon.extract.sources.streams import COLUMNS, Reading
from trajanon.extract.sources.tables.columns import known_as, plain
from trajanon.extract.sources.tables.timestamps import holds_times

logger = logging.getLogger(__name__)

First = Callable[[Sequence[str]], pd.DataFrame]
"""Reads the first rows of some columns."""

_LISTED, _LETTERS = 40, 40
"""Unused columns that are listed, and letters of each name."""


def check_use(
    names: Sequence[str], column_of: Mapping[str, str], first: First, what: str, how: Reading
) -> None:
    """Count a table of points under the use of its columns; warn of what is not used."""
    count_use(names, column_of, how)
    unused = [
        n for n, often in Counter(names).items() if often == 1 and n not in column_of.values()
    ]
    _warn_of_others(unused, column_of, what, how)
    if unused and "time" not in column_of:
        owner = column_of.get("id") or column_of.get("subject")
        wanted = unused if owner is None else [owner, *unused]
        _warn_of_times(single_values(first, wanted), owner, what, how)
    may_be = [name for name in unused if name.lower().endswith("id")]
    if may_be and "id" in column_of and "subject" not in (*column_of, *how.columns):
        _warn_of_subjects(single_values(first, [column_of["id"], *may_be]), what, how)


def count_use(names: Sequence[str], column_of: Mapping[str, str], how: Reading) -> None:
    """Count a table under the use of its columns, in words."""
    used = [f"{role}={printable(name, _LETTERS)}" for role, name in column_of.items()]
    others = [printable(name, _LETTERS) for name in names if name not in column_of.values()]
    more = f" and {len(others) - _LISTED:,} more" if len(others) > _LISTED else ""
    unused = f"{', '.join(others[:_LISTED]) or 'none'}{more}"
    how.counts[f"{COLUMNS}{', '.join(used) or 'none'}; not used: {unused}"] += 1


def _warn_of_others(
    unused: Sequence[str], column_of: Mapping[str, str], what: str, how: Reading
) -> None:
    """Warn of columns that could play a role for which another was found."""
    for name in unused:
        # A date may be of no use; x and y are often projected.
        roles = set(known_as(name)) & column_of.keys() - how.columns.keys() - {"date"}
        for role in roles if len(plain(name)) > 1 else ():
            msg = (
                f"{what}: {column_of[role]!r} is taken for the {role}, though {name!r} "
                f"could be; if it is, say `columns` {role}={name}"
            )
            how.warn(logger, "roles", msg, f"{column_of[role]} or {name}")


def single_values(first: First, names: Sequence[str]) -> pd.DataFrame:
    """Read the first rows of columns, except of those that hold lists or are damaged."""
    try:
        rows = first(names)
    except (OSError, ValueError, RuntimeError, StopIteration):
        return pd.DataFrame(columns=list(names))  # no one asked for them: no reason to stop
    lists = [name for name in rows if rows[name].map(is_list_like).any()]
    return rows.iloc[:0] if names[0] in lists else rows.drop(columns=lists)


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
            msg += "; without, points are taken in their order"
            how.warn(logger, "times", msg, name)
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
            how.warn(logger, "subject", msg, name)
            return
