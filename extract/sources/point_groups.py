"""Rows of points in any order -> traces; the rows of a large table wait in a file."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, pairwise
from typing import IO, NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import ColumnsUnclear, FileProblem
from trajanon.common.number_text import number_of
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_roles import FILE, MARKS
from trajanon.extract.sources.coordinates import numbers, reader_of_degrees
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import reader_of_times
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import DEGREE
from trajanon.trajectories.person_names import key_of, spelled

FIRST = 100_000  # rows at the beginning of a table by which it is judged
HELD = 1_000_000  # rows that are held in memory; more are put into a file

_MARKED = np.inf  # latitude of a row that is marked as not valid: its time alone is used

_FAR_APART = 1_000.0  # metres
_TOO_FAST = 400.0  # metres a second

# A clock or a receiver errs now and then. It is "again and again" beyond both of these.
_TIMES_BY_ERROR = 2
_SHARE_BY_ERROR = 0.05

_FEWEST_POINTS = 8  # different ones; the order of fewer cannot be judged
_SHARE_OF_RANDOM = 0.6  # of the length in a random order: points in their order stay below it
_RANDOM_ORDERS = 3
_MOST_JUDGED = 500  # recordings, of which most decide


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


class _Gathered(ExitStack):
    """Rows of a table, in memory, or in files without a name that end with the process.

    Columns are latitude, longitude, seconds since 1970 UTC or NaN, perhaps numbers in their order,
    the number of the owner, and that of the owner's id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_id: str | None = None  # of the last row
        self._owners: dict[Owner, int] = {}  # numbers, in the order of appearance
        self._ids: dict[str, int] = {}
        self._id_count = 0  # once all rows are here
        self._held: list[Floats] = []
        self._files: list[tuple[IO[bytes], tuple[int, ...]]] = []  # sorted by ids, and their shapes

    def add(self, owner: Ints, owners: Sequence[Owner], values: Floats) -> None:
        """Add rows, by columns, and their owners as places in a list of these."""
        numbers = [
            (
                self._owners.setdefault(name, len(self._owners)),
                self._ids.setdefault(name[0], len(self._ids)),
            )
            for name in owners
        ]
        self._held.append(
            np.vstack([values, np.array(numbers, np.float64).reshape(-1, 2)[owner].T])
        )
        if len(owner):
            self.last_id = owners[owner[-1]][0]
        if sum(rows.shape[1] for rows in self._held) > HELD:
            self._put_aside()

    def _put_aside(self) -> None:
        """Write the rows that are held to a file."""
        rows = np.concatenate(self._held, axis=1)
        self._held.clear()
        if not rows.size:
            return
        try:
            file = self.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- so it is closed
            file.write(rows.take(np.argsort(rows[-1], kind="stable"), axis=1).data)
            file.flush()
        except OSError as error:
            raise FileProblem(
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; make room "
                "there, or set TMPDIR to a folder with room"
            ) from error
        self._files.append((file, rows.shape))

    def take_owners(self) -> list[Owner]:
        """Return all owners in the order of their numbers, and forget them: no more rows come."""
        owners = list(self._owners)
        self._id_count = len(self._ids)
        self._owners.clear()
        self._ids.clear()
        return owners

    def parts(self) -> Iterator[Floats]:
        """Yield all rows, by columns, those of an id together; ids in the order of appearance."""
        if not self._files:
            yield np.concatenate(self._held, axis=1)
            return
        if self._held:
            self._put_aside()

        size = np.zeros(self._id_count, np.int64)
        for rows in self._runs():
            size += np.bincount(rows[-1].astype(np.int64), minlength=len(size))
        first = np.flatnonzero(np.diff(np.cumsum(size) // HELD, prepend=-1)).tolist()
        for ids in pairwise([*first, len(size)]):
            of_ids = [rows[:, slice(*np.searchsorted(rows[-1], ids))] for rows in self._runs()]
            yield np.concatenate(of_ids, axis=1)

    def _runs(self) -> Iterator[Floats]:
        """Map each file anew, or what was read would stay in memory."""
        for file, shape in self._files:
            yield np.memmap(file, np.float64, "r", shape=shape)


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
    seconds = reader_of_times(first[:FIRST], reading)
    with _Gathered() as rows:
        for chunk in chain([first], coming):
            values = [*degrees(chunk), seconds(chunk)]
            if "order" in first:
                values.append(numbers(chunk["order"]))
            rows.add(*_rows_of(chunk, np.stack(values), reading))

        # Equal ids of two files differ.
        single = {"id", "subject"}.isdisjoint(first)
        prefix = reading.label if single else "" if "subject" in first else f"{reading.label}#"
        cut_off = reading.counts[TABLE_CUT_OFF] > already_cut_off and rows.last_id is not None
        last = f"{prefix}{rows.last_id}" if cut_off else None

        owners = _persons(rows.take_owners(), reading)
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
    reading.count(NOT_VALID, ~valid)
    values[0, ~valid] = _MARKED

    role = "id" if "id" in chunk else "subject"
    reading.found(WITHOUT_ID, int((valid & ~owned).sum()), role=role)

    # One number for trace, subject and piece, by which equal owners are found fast.
    piece = chunk["piece"].to_numpy() if "piece" in chunk else np.zeros_like(trace)
    persons, pieces = len(subjects) + 1, int(piece.max(initial=0)) + 1
    owner, keys = pd.factorize(((trace * persons + subject + 1) * pieces + piece)[owned])
    names = [None, *subjects]
    owners = [
        (str(traces[key // pieces // persons]), names[key // pieces % persons], key % pieces)
        for key in keys.tolist()
    ]
    return owner, owners, values[:, owned]


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
            reading.found("words of validity", role=role, word=word)
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
    number = owners.number[rows[-2].astype(np.int64)]

    # Numbers of few bytes are sorted much faster.
    code = number - number.min(initial=len(owners.names))
    code = code.astype(np.min_scalar_type(code.max(initial=0)))
    has_order = len(rows) > 5
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
        if leaps := _count_leaps(trace):
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
        if not ordered and _are_in_no_order(traces):
            way_out = "set `columns` time=..., or order=... if a column numbers them"
            disorder = f"the points of {reading.what} lie in no order"
            raise ColumnsUnclear(disorder, way_out, ["time", "order"], reading.tables.columns)

        said_one = reading.columns.get("id") == FILE
        several = set[str]()
        if not said_one:
            several = {trace.name for trace in _recordings_of_several_people(traces)}
        if 2 * len(several) > len(traces):
            way_out = "name the column that tells recordings apart, `columns` id=..."
            raise ColumnsUnclear(problem(len(several)), way_out, ["id"], reading.tables.columns)
        left_out += len(several)
        yield from (trace for trace in traces if trace.name not in several)

    reading.found(SEVERAL, left_out, problem=problem(left_out))


def _count_leaps(trace: Trace) -> int:
    """Count the hops that are too far and too fast; 0 if they may be errors of one receiver."""
    in_time = np.argsort(trace.time, kind="stable")
    time = trace.time[in_time]
    hops = _hop_lengths(trace.lat[in_time], trace.lon[in_time])

    leaps = int(((hops > _FAR_APART) & (hops > _TOO_FAST * np.diff(time))).sum())
    return leaps if _again_and_again(leaps, len(hops)) else 0


def _recordings_of_several_people(traces: Sequence[Trace]) -> list[Trace]:
    """List the recordings with points of one time far apart, again and again."""
    if not traces:
        return []

    # Most recordings have no time twice, which is seen in all of them at once.
    number = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    time = np.concatenate([trace.time for trace in traces])
    if ((np.diff(time) > 0.0) | (np.diff(number) > 0)).all():
        return []
    is_twice = pd.DataFrame({"trace": number, "time": time}).duplicated().to_numpy()
    with_equal_times = np.unique(number[is_twice & np.isfinite(time)]).tolist()
    return [traces[i] for i in with_equal_times if _is_of_several_people(traces[i])]


def _is_of_several_people(trace: Trace) -> bool:
    """Return whether points of the same time repeatedly lie far apart."""
    points = pd.DataFrame({"lat": trace.lat, "lon": trace.lon, "time": trace.time}).dropna()
    moments = points.groupby("time")
    size = moments.size().to_numpy()
    lat, lon = moments.mean().to_numpy().T
    north, east = (moments.max() - moments.min()).to_numpy().T
    spread = DEGREE * np.hypot(north, east * np.cos(np.radians(lat)))

    # What one person drives while the clock stands still is not much longer than the hop to the
    # next moment, or from the last one.
    hops = _hop_lengths(lat, lon)
    longer_hop = np.maximum(np.append(hops, 0.0), np.append(0.0, hops))

    is_apart = (size > 1) & (spread > _FAR_APART) & (spread > 2.0 * longer_hop)
    return len(size) > 1 and _again_and_again(int(is_apart.sum()), len(size))


def _are_in_no_order(traces: Sequence[Trace]) -> bool:
    """Return whether most untimed recordings are about as long as in a random order."""
    random = np.random.default_rng(0)
    is_in_no_order = list[bool]()
    untimed = [trace for trace in traces if len(trace) >= _FEWEST_POINTS and not trace.is_timed]
    for trace in untimed[:: -(-len(untimed) // _MOST_JUDGED) or 1]:
        known = np.isfinite(trace.lat + trace.lon)
        lat = trace.lat[known]
        lon = trace.lon[known]
        if len(np.unique(lat + 1j * lon)) < _FEWEST_POINTS:
            continue

        orders: list[Ints] = [random.permutation(len(lat)) for _ in range(_RANDOM_ORDERS)]
        random_length = np.mean([_hop_lengths(lat[order], lon[order]).sum() for order in orders])
        length = _hop_lengths(lat, lon).sum()
        is_in_no_order.append(bool(length > _SHARE_OF_RANDOM * random_length))
    return 2 * sum(is_in_no_order) > len(is_in_no_order)


def _again_and_again(times: int, chances: int) -> bool:
    return times > max(_TIMES_BY_ERROR, _SHARE_BY_ERROR * chances)


def _hop_lengths(lat: Floats, lon: Floats) -> Floats:
    """Measure the hops from point to point in metres, as on a plane."""
    return DEGREE * np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1])))
