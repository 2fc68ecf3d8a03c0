"""Rows of points in any order -> traces; the rows of a large table wait in a file."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from typing import IO, NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import ColumnsUnclear, FileProblem
from trajanon.common.number_text import number_of
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_roles import FILE, MARKS
from trajanon.extract.sources.coordinates import numbers, reader_of_degrees
from trajanon.extract.sources.several_people_or_no_order import (
    are_in_no_order,
    count_leaps,
    recordings_of_several_people,
)
from trajanon.extract.sources.streams import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import TimeColumn
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import key_of, spelled

FIRST = 100_000  # rows at the beginning of a table by which it is judged
HELD = 1_000_000  # rows that are held in memory; more are put into a file

_MARKED = np.inf  # latitude of a row that is marked as not valid: its time alone is used

NOT_VALID = "rows marked as not valid"
WITHOUT_ID = "points without an id"
SEVERAL = "recordings of points that several people must have made"

# How tables write yes and no of a row; V is for void, in NMEA, and SPS for a standard fix.
_SAYS = {
    True: {
        *("true", "t", "yes", "y", "1", "1.0", "a", "valid", "ok", "good", "fix", "2d", "3d"),
        *("sps", "dgps", "pps", "rtk"),
    },
    False: {
        *("false", "f", "no", "n", "0", "0.0", "v", "void", "invalid", "not valid", "bad"),
        *("no fix", "nofix", "no_fix", "no-fix", "none"),
    },
}


# An id, a subject as it is written or in its one form, and the piece of a line, or 0.
Owner = tuple[str, str | None, int]


class _Run(NamedTuple):
    """Rows in a file, sorted by their ids."""

    ids: Ints  # numbers of ids, rising
    ends: Ints  # where the rows of each end
    offset: int  # where the rows begin in the file, in bytes
    shape: tuple[int, ...]


class _Gathered(ExitStack):
    """Rows of a table, in memory, or in a file without a name that ends with the process.

    Columns are latitude, longitude, seconds since 1970 UTC or NaN, perhaps numbers in their order,
    and the number of the owner.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_id: str | None = None  # of the last row
        self._owners: dict[Owner, int] = {}  # numbers, in the order of appearance
        self._ids: dict[str, int] = {}
        self._id_of_owner: list[int] = []
        self._held: list[Floats] = []
        self._runs: list[_Run] = []
        self._file: IO[bytes] | None = None

    def add(self, owner: Ints, owners: Sequence[Owner], values: Floats) -> None:
        """Add rows, by columns, and their owners as places in a list of these."""
        numbers = [self._owners.setdefault(name, len(self._owners)) for name in owners]
        self._held.append(np.vstack([values, np.array(numbers, np.float64)[owner]]))
        if len(owner):
            self.last_id = owners[owner[-1]][0]

        if sum(rows.shape[1] for rows in self._held) > HELD:
            self._put_aside()

    def _put_aside(self) -> None:
        """Write the rows that are held to the file."""
        for name, _, _ in islice(self._owners, len(self._id_of_owner), None):
            self._id_of_owner.append(self._ids.setdefault(name, len(self._ids)))
        rows = np.concatenate(self._held, axis=1)
        self._held.clear()
        row_id = np.array(self._id_of_owner)[rows[-1].astype(np.int64)]
        ids, size = np.unique(row_id, return_counts=True)

        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- the next line closes it
                self.enter_context(self._file)
            self._runs.append(_Run(ids, np.cumsum(size), self._file.tell(), rows.shape))
            self._file.write(rows.take(np.argsort(row_id, kind="stable"), axis=1).data)
            self._file.flush()
        except OSError as error:
            raise FileProblem(
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; make room "
                "there, or set TMPDIR to a folder with room"
            ) from error

    def end(self) -> list[Owner]:
        """Return all owners, after the last rows; the names are forgotten, for the memory."""
        if self._file is not None and self._held:
            self._put_aside()
        owners = list(self._owners)
        self._owners.clear()
        self._ids.clear()
        return owners

    def parts(self) -> Iterator[Floats]:
        """Yield all rows, by columns, those of an id together; ids in the order of appearance."""
        if self._file is None:
            yield np.concatenate(self._held, axis=1)
            return

        size = np.zeros(max(self._id_of_owner) + 1, np.int64)
        for run in self._runs:
            size[run.ids] += np.diff(run.ends, prepend=0)
        part = np.cumsum(size) // HELD
        first = np.flatnonzero(np.diff(part, prepend=-1)).tolist()

        for ids in zip(first, [*first[1:], len(size)], strict=True):
            rows = []
            for run in self._runs:
                begin, end = np.append(0, run.ends)[np.searchsorted(run.ids, ids)]
                # Mapped anew each time, or what was read would stay in memory.
                file = np.memmap(self._file, np.float64, "r", run.offset, run.shape)
                rows.append(np.array(file[:, begin:end]))
            yield np.concatenate(rows, axis=1)


def traces_of_points(
    chunks: Iterable[pd.DataFrame], reading: Reading, column_of: Mapping[str, str] | None = None
) -> Iterator[Trace]:
    """Gather the rows of each subject and id, or either, or all; columns are named by roles.

    If the table was cut off, the trace of its last row may be incomplete. The columns of the table,
    by role, are for messages.
    """
    coming = iter(chunks)
    already_cut_off = reading.counts[TABLE_CUT_OFF]
    first = next((rows for rows in coming if len(rows)), None)
    if first is None:
        return

    degrees = reader_of_degrees(first[:FIRST], reading)
    times = TimeColumn(first[:FIRST], reading)
    with _Gathered() as rows:
        for chunk in chain([first], coming):
            values = [*degrees(chunk), times.seconds(chunk)]
            if "order" in first:
                values.append(numbers(chunk["order"]))
            rows.add(*_rows_of(chunk, np.stack(values), reading))

        # Equal ids of two files differ.
        single = {"id", "subject"}.isdisjoint(first)
        prefix = reading.label if single else "" if "subject" in first else f"{reading.label}#"
        cut_off = reading.counts[TABLE_CUT_OFF] > already_cut_off and rows.last_id is not None
        last = f"{prefix}{rows.last_id}" if cut_off else None

        owners = _persons(rows.end(), reading)
        parts = (list(_traces(part, owners, prefix)) for part in rows.parts())
        ordered = "piece" in first or "order" in reading.columns
        checked = _checked(parts, column_of or {}, reading, single=single, ordered=ordered)
        for trace in checked:
            yield replace(trace, cut_off=True) if trace.name == last else trace


def _rows_of(
    chunk: pd.DataFrame, values: Floats, reading: Reading
) -> tuple[Ints, Sequence[Owner], Floats]:
    """Find the owners of rows, and list them all; rows without an id are left out."""
    subject = np.full(len(chunk), -1)
    subjects: list[str | None] = []
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"])
    if "id" in chunk:
        trace, traces = _coded(_with_part(chunk) if "part" in chunk else chunk["id"])
        traces = [name and spelled(name) for name in traces]
    elif "subject" in chunk:
        exact = reading.subjects_exact
        trace, traces = subject, [name and key_of(name, exact=exact) for name in subjects]
    else:
        trace = np.zeros_like(subject)
        traces = [""]

    valid = _valid(chunk, reading)
    owned = trace >= 0
    if not valid.all():
        reading.counts[NOT_VALID] += int((~valid).sum())
        values[0, ~valid] = _MARKED

    if not owned[valid].all():
        reading.counts[WITHOUT_ID] += int((valid & ~owned).sum())
        role = "id" if "id" in chunk else "subject"
        has = f"has rows without {role}: they are left out and counted"
        reading.warn_of_file(WITHOUT_ID, f"{has}; name another column with `columns` id=...")
    if not owned.all():
        trace = trace[owned]
        subject = subject[owned]
        values = values[:, owned]

    owner = pd.factorize(trace * (len(subjects) + 1) + subject + 1)[0]
    piece = np.zeros_like(owner)
    if "piece" in chunk:
        piece = chunk["piece"].to_numpy()[owned]
        owner = pd.factorize(owner * (piece.max(initial=0) + 1) + piece)[0]

    first = np.zeros(owner.max(initial=-1) + 1, np.int64)  # row of each owner
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    owners = [
        (str(traces[i]), subjects[j] if j >= 0 else None, number_of_piece)
        for i, j, number_of_piece in zip(
            trace[first].tolist(), subject[first].tolist(), piece[first].tolist(), strict=True
        )
    ]
    return owner, owners, values


def _valid(chunk: pd.DataFrame, reading: Reading) -> Bools:
    """Mark the rows that no column says to be wrong, as Movebank and loggers do."""
    valid = np.ones(len(chunk), dtype=np.bool_)
    for role, wrong in MARKS.items():
        if role not in chunk:
            continue
        code, words = pd.factorize(chunk[role].astype("string"))
        plain_words = [" ".join(str(word).lower().split()) for word in words]
        says_wrong = np.array([*(word in _SAYS[wrong] for word in plain_words), False], np.bool_)
        valid &= ~says_wrong[code]
        unknown = [
            word for word in plain_words if word and not any(map({word}.issubset, _SAYS.values()))
        ]
        for word in unknown[:1]:
            why = "which is not a known word: they are used; remove them if they are wrong"
            reading.warn_of_file("words of validity", f"has rows with {role} {word!r}, {why}")
    return valid


def _coded(values: pd.Series) -> tuple[Ints, list[str | None]]:
    """Read each name once: the place of the name of each row, or -1, and all names."""
    code, names = pd.factorize(values)
    texts = as_given(pd.Series(names))
    place = [-1 if name is None else i for i, name in enumerate(texts)]
    return np.array([*place, -1])[code], texts


def _with_part(chunk: pd.DataFrame) -> pd.Series:
    """Join ids and parts to names; a row without its part has no name."""
    trace, part = (
        pd.array([*(name and spelled(name) for name in names), None], "string").take(code)
        for code, names in (_coded(chunk[role]) for role in ("id", "part"))
    )
    return pd.Series(trace + "/" + part)


class _Owners(NamedTuple):
    """Whose traces the rows of a table are."""

    spellings: Mapping[str | None, Sequence[str]]  # of each person
    number: Ints  # of the trace of each owner
    names: Sequence[Owner]  # of each trace


def _persons(written: Sequence[Owner], reading: Reading) -> _Owners:
    """Find the spellings of each person, and number the traces."""
    subjects = dict.fromkeys(subject for _, subject, _ in written)
    keys = {name: name and key_of(name, exact=reading.subjects_exact) for name in subjects}
    spellings: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, key in keys.items():
        if name is not None:
            spellings[key].append(name)

    # Rows without a subject are of the subject of their id, if it has but one.
    only: dict[str, str | None] = {}
    for name, subject, _ in written if None in keys else ():
        if (key := keys[subject]) is not None:
            only[name] = key if only.get(name, key) == key else None

    number: dict[Owner, int] = {}
    numbers = [
        number.setdefault((name, keys[subject] or only.get(name), piece), len(number))
        for name, subject, piece in written
    ]
    return _Owners(spellings, np.array(numbers, np.int64), list(number))


def _traces(rows: Floats, owners: _Owners, prefix: str) -> Iterator[Trace]:
    """Sort rows by their traces, and yield these; rows that are marked leave their times."""
    number = owners.number[rows[-1].astype(np.int64)]

    # Numbers of few bytes are sorted much faster.
    code = number - number.min(initial=len(owners.names))
    code = code.astype(np.min_scalar_type(code.max(initial=0)))
    has_order = len(rows) > 4
    order = np.lexsort((rows[3], code)) if has_order else np.argsort(code, kind="stable")
    values = rows[:3, order]
    number = number[order]

    any_marked = bool((values[0] == _MARKED).any())
    begins = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
    for start, end in zip(begins, [*begins[1:], len(number)], strict=False):
        name, key, _ = owners.names[number[start]]
        lat, lon, time = values[:, start:end]
        without_fix: tuple[float, ...] = ()
        if any_marked:
            valid = lat != _MARKED
            without_fix = tuple(time[~valid].tolist())
            lat, lon, time = lat[valid], lon[valid], time[valid]
        if len(lat):
            spelled_as = tuple(owners.spellings[key])
            subject = spelled(spelled_as[0]) if spelled_as else None
            yield Trace(prefix + name, subject, lat, lon, time, spelled_as, without_fix=without_fix)


def _check_one_recording(traces: Sequence[Trace], reading: Reading) -> None:
    """Refuse points without an order, or that leap to and fro, as those of several people do."""
    for trace in traces:
        problem = "" if trace.is_timed else "no times"
        if leaps := count_leaps(trace):
            problem = f"its points leap {leaps:,} times, as if several people were in it"
        if problem:
            way_out = f"set `columns` id=..., or id={FILE} if it is one recording, in its order"
            problem = f"{reading.what} has no column recognised as id, and {problem}"
            raise ColumnsUnclear(problem, way_out, ["id"], reading.tables.columns)


def _checked(
    parts: Iterable[Sequence[Trace]],
    column_of: Mapping[str, str],
    reading: Reading,
    *,
    single: bool,
    ordered: bool,
) -> Iterator[Trace]:
    """Leave out recordings of several people; refuse tables of these alone, or in no order."""
    owner = column_of.get("id") or column_of.get("subject") or "id"

    def problem(recordings: int) -> str:
        apart = f"{number_of(recordings, 'recording')} of {reading.what}"
        points = "points of the same time repeatedly lie far apart"
        return f"{apart}, by the column {owner!r}, must be of several people: {points}"

    left_out = 0
    for traces in parts:
        if single and "id" not in reading.columns:
            _check_one_recording(traces, reading)
        if not ordered and are_in_no_order(traces):
            way_out = "set `columns` time=..., or order=... if a column numbers them"
            disorder = f"the points of {reading.what} lie in no order"
            raise ColumnsUnclear(disorder, way_out, ["time", "order"], reading.tables.columns)

        said_one = reading.columns.get("id") == FILE
        several = set[str]()
        if not said_one:
            several = {trace.name for trace in recordings_of_several_people(traces)}
        if 2 * len(several) > len(traces):
            way_out = "name the column that tells recordings apart, `columns` id=..."
            raise ColumnsUnclear(problem(len(several)), way_out, ["id"], reading.tables.columns)
        left_out += len(several)
        yield from (trace for trace in traces if trace.name not in several)

    if left_out:
        reading.counts[SEVERAL] += left_out
        reading.warn(SEVERAL, f"{problem(left_out)}; they are left out", reading.what)
