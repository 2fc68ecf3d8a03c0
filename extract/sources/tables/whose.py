"""Columns that may say whose the traces of a table are, though nobody named them."""

import logging
from collections.abc import Mapping, Sequence

import pyarrow as pa

logger = logging.getLogger(__name__)


def candidates(names: Sequence[str], role_of: Mapping[str, str]) -> list[str]:
    """List the unused columns that may name subjects, and that of the ids before them.

    Parameters
    ----------
    names
        Of all columns.
    role_of
        Role by column.

    Returns
    -------
    list[str]
        Nothing, if there are no ids, if the subjects are known, or nothing is unused.
    """
    if "subject" in role_of.values():
        return []
    ids = [name for name, role in role_of.items() if role == "id"]
    may_be = [
        name
        for name in names
        if name.lower().endswith("id")
        and name not in role_of
        and list(names).count(name) == 1
    ]
    return [*ids, *may_be] if ids and may_be else []


def warn_of_subjects(rows: pa.Table, what: str) -> None:
    """Warn if a column is the same within each id, and of several ids, too.

    Parameters
    ----------
    rows
        The first rows: the ids, then the `candidates`.
    what
        The table, for the warning.
    """
    frame = rows.to_pandas(use_threads=False)
    ids, *others = frame.columns
    for name in others:
        if not 0 < frame[name].nunique() < frame[ids].nunique():
            continue
        within = frame.groupby(ids, observed=True)[name].nunique()
        if within.max() == 1:
            logger.warning(
                "the column %r of %s may say whose the traces are: if it does, name it "
                "with --columns subject=%s",
                name,
                what,
                name,
            )
            return
