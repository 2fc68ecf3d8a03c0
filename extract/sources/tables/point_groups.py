"""Rows of points in any order -> traces, in bounded memory."""

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pandas as pd

from trajanon.extract.sources.degrees import check_columns
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.rows import NO_NAME, Codes, Rows, joined, rows_of
from trajanon.extract.sources.tables.spill import Spill
from trajanon.extract.sources.tables.timestamps import TimeColumn
from trajanon.extract.trace import Trace
from trajanon.subjects import key_of, spelled

FIRST = 250_000
"""Rows at the beginning of a table by which it is judged, however it is cut."""

HELD = 2_000_000
"""Rows that are gathered in memory; those of a larger table are put into a file first."""


def traces_of_points(
    chunks: Iterable[pd.DataFrame], label: str, how: Reading, *, rows: int | None = None
) -> Iterator[Trace]:
    """Gather the rows of each trace, wherever they stand.

    Rows of one subject and one id are one trace, in the order of the table. Without ids, a subject
    has one trace; without subjects, each id is its own, and its name begins with the label.
    """
    first, chunks = _beginning(chunks)
    if first is None:
        return
    check_columns(first["lat"].to_numpy(), first["lon"].to_numpy(), label)
    times = TimeColumn(first, label)
    prefix = "" if "subject" in first else f"{label}#"  # equal ids of two files differ
    del first
    with Spill(rows) as spill:
        held: list[Rows] = []
        size = 0
        for chunk in chunks:
            held.append(rows_of(chunk, times.seconds(chunk, how), how))
            size += len(held[-1])
            if size > HELD:
                spill.put(held)
        if size <= HELD:
            yield from _traces(held, prefix, how)
            return
        for bucket in spill.buckets():
            yield from _traces(bucket, prefix, how)


def _beginning(
    chunks: Iterable[pd.DataFrame],
) -> tuple[pd.DataFrame | None, Iterable[pd.DataFrame]]:
    """Look at the first rows; then all chunks from the first on."""
    begun: list[pd.DataFrame] = []
    rest = iter(chunks)
    for chunk in rest:
        begun.append(chunk)
        if sum(map(len, begun)) >= FIRST:
            break
    if not begun:
        return None, ()
    first = begun[0] if len(begun) == 1 else pd.concat(begun, ignore_index=True)
    return first.iloc[:FIRST], chain(begun, rest)


def _traces(held: list[Rows], prefix: str, how: Reading) -> Iterator[Trace]:
    """Put the rows of each trace together; empties the list, for the memory."""
    if not any(map(len, held)):
        return
    owner, owners = joined([(rows.owner, rows.owners) for rows in held])
    subject, written = joined([(rows.subject, rows.subjects) for rows in held])
    keys = [key_of(name, exact=how.subjects_exact) for name in written]
    spellings: dict[str, tuple[str, ...]] = {}
    for key, name in zip(keys, written, strict=True):
        spellings[key] = (*spellings.get(key, ()), name)
    subject, subjects = joined([(subject, keys)])
    names = [spellings[key] for key in subjects]
    subject = _filled(subject, owner)
    # A number for each pair, in the order of first appearance.
    pairs = (owner.astype(np.int64) << 32) + (subject.astype(np.int64) - NO_NAME)
    code, found = pd.factorize(pairs)
    del owner, subject, pairs
    # Codes of few bytes are sorted much faster.
    order = np.argsort(code.astype(np.min_scalar_type(len(found))), kind="stable")
    ends = np.cumsum(np.bincount(code)).tolist()
    parts = [[rows.lat for rows in held], [rows.lon for rows in held], [rows.time for rows in held]]
    held.clear()  # then only one column lies twice in memory
    lat, lon, time = (np.concatenate(parts.pop(0))[order] for _ in range(3))
    for pair, start, end in zip(found.tolist(), [0, *ends], ends, strict=False):
        number = (pair & 0xFFFFFFFF) + NO_NAME
        yield Trace(
            name=prefix + owners[pair >> 32],
            subject=None if number == NO_NAME else spelled(names[number][0]),
            lat=lat[start:end],
            lon=lon[start:end],
            time=time[start:end],
            spellings=() if number == NO_NAME else names[number],
        )


def _filled(subject: Codes, owner: Codes) -> Codes:
    """Give rows without a subject that of their id, if it has but one."""
    known = subject != NO_NAME
    if known.all() or not known.any():
        return subject
    least = np.full(owner.max() + 1, np.iinfo(np.int32).max, np.int32)
    most = np.full(owner.max() + 1, NO_NAME, np.int32)
    np.minimum.at(least, owner[known], subject[known])
    np.maximum.at(most, owner[known], subject[known])
    only = np.where(least == most, most, NO_NAME)
    return np.where(known, subject, only[owner])
