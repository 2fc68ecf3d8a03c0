"""Tables that hold a point a row -> traces."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.extract.sources import columns as meaning
from trajanon.extract.sources import table_files
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent


def traces(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None = None,
    *,
    counts: Counter[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Trace]:
    """Read the traces of tables that hold a point a row.

    Rows of one subject and one id are one trace, wherever they stand in the table. A
    table without ids has one trace a subject. Coordinates that are no numbers become
    NaN, and so do times that cannot be read; times without a zone are taken as UTC.

    Parameters
    ----------
    paths
        Files that end in .csv, .csv.gz, .parquet or .geoparquet.
    columns
        Column names by role (lat, lon, time, id, subject), where the usual ones do
        not say.
    counts
        Told of rows that belong to no trace.
    progress
        Told of the rows read.

    Raises
    ------
    BadInput
        If a column cannot be found.
    FileProblem
        If a file cannot be read.
    """
    counts = Counter() if counts is None else counts
    for path in paths:
        table = table_files.read(path, columns or {}, progress)
        yield from _traces(table, path, len(paths) > 1, counts)


def _filled(subjects: pd.Series, ids: pd.Series) -> pd.Series:
    """Give rows without a subject that of their id, if it has but one."""
    if not subjects.isna().any():
        return subjects
    of_id = subjects.groupby(ids)
    only = of_id.transform("first").where(of_id.transform("nunique") == 1)
    return subjects.fillna(only)


def _traces(
    table: pd.DataFrame, path: Path, several: bool, counts: Counter[str]
) -> Iterator[Trace]:
    """Gather the rows of each trace, in the order of first appearance."""
    keys = [role for role in ("subject", "id") if role in table]
    table = table.assign(**{role: meaning.names(table[role]) for role in keys})
    if keys == ["subject", "id"]:
        table["subject"] = _filled(table["subject"], table["id"])
    nameless = table["id" if "id" in table else "subject"].isna()
    if nameless.any():
        counts["points without an id"] += int(nameless.sum())
        table = table[~nameless]
    if len(table) == 0:
        return
    code = table.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(code, kind="stable")
    lat, lon = (meaning.numbers(table[role])[order] for role in ("lat", "lon"))
    time = (
        meaning.seconds(table["time"])[order]
        if "time" in table
        else np.full_like(lat, np.nan)
    )
    first = np.flatnonzero(np.diff(code[order], prepend=-1))
    ends = np.append(first[1:], len(order))
    heads = table.iloc[order[first]]
    subjects = heads["subject"].tolist() if "subject" in table else [None] * len(first)
    names = heads["id"].tolist() if "id" in table else subjects
    # Without subjects, equal ids in two files are two traces.
    prefix = f"{path}#" if several and "subject" not in table else ""
    for start, end, subject, name in zip(first, ends, subjects, names, strict=True):
        yield Trace(
            name=f"{prefix}{name}",
            subject=None if pd.isna(subject) else subject,
            lat=lat[start:end],
            lon=lon[start:end],
            time=time[start:end],
        )
