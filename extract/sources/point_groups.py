"""Rows of points in any order -> traces, in bounded memory."""

import io
import pickle
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import FileProblem
from trajanon.extract.sources.column_use import check_one_recording, warn_of_namesakes
from trajanon.extract.sources.columns import MARKS, Rows, Values, as_given
from trajanon.extract.sources.coordinates import Coordinates
from trajanon.extract.sources.delimited import CUT_OFF
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.timestamps import TimeColumn
from trajanon.extract.trace import Trace
from trajanon.subjects import key_of, spelled

FIRST = 250_000
"""Rows at the beginning of a table by which it is judged, however it is cut."""

HELD = 2_000_000
"""Rows that are gathered in memory; those of a larger table are put into files first."""

NOT_VALID = "rows marked as not valid"

_SAYS = {True: {"true", "t", "yes", "y", "1"}, False: {"false", "f", "no", "n", "0", "v", "void"}}
"""How tables write yes and no; V is for void, in NMEA."""

_BUCKETS = 128
"""Files for the rows of a large table, all open at once; the rows of one are held in memory."""


class _Rows(NamedTuple):
    """Points in the order of a table; arrays of numpy, as frames of pandas take a third longer."""

    owner: NDArray[np.int32]  # places in `owners`
    owners: Sequence[tuple[str, str | None]]  # an id, and a subject as it is written
    values: Floats  # latitude, longitude, and seconds since 1970 UTC or NaN, shape (3, rows)


def traces_of_points(chunks: Iterable[Rows], label: str, how: Reading) -> Iterator[Trace]:
    """Gather the rows of each trace, wherever they stand.

    Rows of one subject and one id are one trace, in the order of the table. Without ids, a subject
    has one trace; without subjects, each id is its own, and its name begins with the label. Without
    both all rows are one trace. Of a table that was cut off, the trace of the last row may go on.
    """
    coming, begun, cut_off, last = iter(chunks), [], how.counts[CUT_OFF], ""
    for chunk in coming:
        begun.append(chunk)
        if sum(len(rows["lat"]) for rows in begun) >= FIRST:
            break
    if not begun:
        return
    first = _first(begun)
    coordinates = Coordinates(first, label, how)
    times = TimeColumn(first, label, how)
    prefix = "" if "subject" in first else f"{label}#"  # equal ids of two files differ
    single = {"id", "subject"}.isdisjoint(first)
    del first
    with Spill() as spill:
        held: list[_Rows] = []
        for chunk in chain(begun, coming):
            values = np.stack([*coordinates.degrees(chunk), times.seconds(chunk, how)])
            held.append(rows := _rows_of(chunk, values, how))
            last = rows.owners[rows.owner[-1]][0] if len(rows.owner) else last
            if sum(len(rows.owner) for rows in held) > HELD:
                spill.put(_joined(held))
        prefix = label if single else prefix
        last = prefix + last if how.counts[CUT_OFF] > cut_off else ""
        for gathered in spill.buckets(held):
            for trace in _traces(_joined(gathered), prefix, how):
                if single and "id" not in how.columns:
                    check_one_recording(trace, label)
                warn_of_namesakes(trace, label, how)
                yield replace(trace, cut_off=True) if last and trace.name == last else trace


def _first(begun: Sequence[Rows]) -> Rows:
    """Put parts of a table one behind the other, up to the rows by which it is judged."""
    if isinstance(begun[0], pd.DataFrame):
        return pd.concat(begun, ignore_index=True)[:FIRST]
    return {
        role: pa.chunked_array([one for rows in begun for one in rows[role].chunks], kind)[:FIRST]
        for role, kind in ((role, column.type) for role, column in begun[0].items())
    }


def _rows_of(chunk: Rows, values: Floats, how: Reading) -> _Rows:
    """Name the owners in a part of a table; rows without an id are left out."""
    subject, subjects = np.full(values.shape[1], -1), list[str | None]()
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"])
    if "id" in chunk:
        whole = _with_part(chunk["id"], chunk["part"]) if "part" in chunk else chunk["id"]
        trace, traces = _coded(whole)
        traces = [name and spelled(name) for name in traces]
    elif "subject" in chunk:
        exact = how.subjects_exact
        trace, traces = subject, [name and key_of(name, exact=exact) for name in subjects]
    else:
        trace, traces = np.zeros_like(subject), [""]
    valid = _valid(chunk, len(trace))
    if not valid.all():
        how.counts[NOT_VALID] += int((~valid).sum())
        trace, subject, values = trace[valid], subject[valid], values[:, valid]
    owned = trace >= 0
    if not owned.all():
        how.counts["points without an id"] += int((~owned).sum())
        trace, subject, values = trace[owned], subject[owned], values[:, owned]
    owner, pairs = pd.factorize(trace * (len(subjects) + 1) + subject + 1)
    trace, subject = np.divmod(pairs, len(subjects) + 1)
    owners = [
        (str(traces[i]), subjects[j - 1] if j else None)
        for i, j in zip(trace.tolist(), subject.tolist(), strict=True)
    ]
    return _Rows(owner.astype(np.int32), owners, values)


def _valid(chunk: Rows, size: int) -> Bools:
    """Mark the rows that no column says to be wrong, as Movebank and loggers do."""
    valid = np.ones(size, dtype=np.bool_)
    for role, wrong in MARKS.items():
        if role in chunk:
            code, given = _coded(chunk[role])
            said = [(name or "").strip().lower() in _SAYS[wrong] for name in given]
            valid &= ~np.array([*said, False])[code]
    return valid


def _coded(values: Values) -> tuple[Ints, list[str | None]]:
    """Read each name once: the place of the name of each row, or -1, and all names."""
    if isinstance(values, pa.ChunkedArray):
        coded = values.combine_chunks().dictionary_encode()
        code = coded.indices.fill_null(-1).to_numpy()
        given = [name if spelled(name) else None for name in coded.dictionary.to_pylist()]
    else:
        code, found = pd.factorize(values)
        if isinstance(found, pd.CategoricalIndex):  # which is slow to make texts of
            found = found.categories.take(found.codes)
        given = as_given(pd.Series(found))
    place = [-1 if name is None else i for i, name in enumerate(given)]
    return np.array([*place, -1])[code], given


def _with_part(ids: Values, parts: Values) -> pd.Series:
    """Join ids and parts to names; a row without its part has no name."""
    owner, part = (
        pd.array([*(name and spelled(name) for name in given), None], "string").take(code)
        for code, given in map(_coded, (ids, parts))
    )
    return pd.Series(owner + "/" + part)


def _joined(held: list[_Rows]) -> _Rows:
    """Put rows one behind the other; empties the list, for the memory."""
    first = np.cumsum([0, *(len(rows.owners) for rows in held)]).tolist()
    owner = [rows.owner + start for rows, start in zip(held, first, strict=False)]
    owners = [pair for rows in held for pair in rows.owners]
    values = np.concatenate([rows.values for rows in held], axis=1)
    held.clear()
    return _Rows(np.concatenate(owner), owners, values)


def _traces(rows: _Rows, prefix: str, how: Reading) -> Iterator[Trace]:
    written = dict.fromkeys(subject for _, subject in rows.owners)
    keys = {name: name and key_of(name, exact=how.subjects_exact) for name in written}
    spellings: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, key in keys.items():
        if name is not None:
            spellings[key].append(name)
    only: dict[str, str | None] = {}  # subject of an id, if it has but one
    for name, subject in rows.owners if None in keys else ():
        if (key := keys[subject]) is not None:
            only[name] = key if only.get(name, key) == key else None
    number: dict[tuple[str, str | None], int] = {}  # of each trace, by id and subject
    numbers = [
        number.setdefault((name, keys[subject] or only.get(name)), len(number))
        for name, subject in rows.owners
    ]
    # Codes of few bytes are sorted much faster.
    code = np.array(numbers, np.min_scalar_type(len(number)))[rows.owner]
    values = rows.values.take(np.argsort(code, kind="stable"), axis=1)
    del rows  # then the points lie once in memory
    ends = np.cumsum(np.bincount(code)).tolist()
    for (name, key), start, end in zip(number, [0, *ends], ends, strict=False):
        subject = None if key is None else spelled(spellings[key][0])
        lat, lon, time = values[:, start:end]
        yield Trace(prefix + name, subject, lat, lon, time, tuple(spellings[key]))


class Spill(ExitStack):
    """Rows in buckets by their ids: temporary files without names, which end with the process."""

    def __init__(self) -> None:
        super().__init__()
        self._files: list[io.FileIO] = []

    def put(self, rows: _Rows) -> None:
        """Put rows behind those that are here."""
        # By the id itself: its number depends on where the table is cut.
        of_owner = [zlib.crc32(name.encode()) % _BUCKETS for name, _ in rows.owners]
        bucket = np.array(of_owner, np.uint8)[rows.owner]
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
        try:
            while len(self._files) < _BUCKETS:
                file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- the next line closes it
                self._files.append(self.enter_context(file))
            for file, which in zip(self._files, np.split(order, ends[:-1]), strict=True):
                if len(which) == 0:
                    continue
                needed, owner = np.unique(rows.owner[which], return_inverse=True)
                owners = [rows.owners[place] for place in needed.tolist()]
                part = _Rows(owner.astype(np.int32), owners, rows.values[:, which])
                left = memoryview(pickle.dumps(part))
                while left:
                    left = left[file.write(left) :]
        except OSError as error:
            raise FileProblem(
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; "
                "make room there, or set TMPDIR to a folder with room"
            ) from error

    def buckets(self, held: list[_Rows]) -> Iterator[list[_Rows]]:
        """Give back the rows, and those held, bucket by bucket; those of one id are in one."""
        if self._files and held:
            self.put(_joined(held))
        if held:
            yield held
        for file in self._files:
            file.seek(0)
            with io.BufferedReader(file) as stream:
                parts = []
                while stream.peek(1):
                    parts.append(pickle.load(stream))
            if parts:
                yield parts
