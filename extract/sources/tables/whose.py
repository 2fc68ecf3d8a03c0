"""Columns that may say whose the traces of a table are, though nobody named them."""

import logging
from collections.abc import Mapping, Sequence

import pandas as pd

from trajanon.extract.sources.streams import Reading

logger = logging.getLogger(__name__)


def candidates(unused: Sequence[str], column_of: Mapping[str, str]) -> list[str]:
    """List unused columns that may name subjects, and that of the ids before them.

    Nothing, if there are no ids, if the subjects are known, or nothing is unused.
    """
    if "subject" in column_of or "id" not in column_of:
        return []
    may_be = [name for name in unused if name.lower().endswith("id")]
    return [column_of["id"], *may_be] if may_be else []


def warn_of_subjects(rows: pd.DataFrame, what: str, how: Reading) -> None:
    """Warn if a column is the same within each id, and of several ids, too."""
    ids, *others = rows.columns
    for name in others:
        if not 0 < rows[name].nunique() < rows[ids].nunique():
            continue
        within = rows.groupby(ids, observed=True)[name].nunique()
        if within.max() == 1:
            msg = (
                f"the column {name!r} of {what} may say whose the traces are: if it "
                f"does, name it with --columns subject={name}"
            )
            how.warn(logger, f"subject {name}", msg)
            return
