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

from trajanon.common.arrays import Bools, Floats, Ints, numbers_by_appearance
from trajanon.common.errors import FileProblem
from trajanon.common.glibc_memory import return_free_memory
from trajanon.common.number_text import number_of
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_roles import FILE, MARKS
from trajanon.extract.sources.coordinates import numbers, reader_of_degrees
from trajanon.extract.sources.reader_sentences import columns_unclear
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import reader_of_times
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import DEGREE
from trajanon.trajectories.person_names import key_of, tidied

FIRST_ROWS = 100_000  # of a table: it is judged by them
HELD = 1_000_000  # rows that are held in memory; more are put into a file

NOT_VALID = "rows marked as not valid"
WITHOUT_ID = "points without an id"
SEVERAL = "recordings of points that several people must have made"

_MARKED = np.inf  # latitude of a row that is marked as not valid: its time alone is used

_LAT, _ORDER, _OWNER, _ID = 0, 3, -2, -1  # which column of `_GatheredRows` is which

# Points of several people: so far apart, or so fast from one to the next, as one person never is.
_METRES_APART = 1_000.0
_METRES_A_SECOND = 400.0

# A clock or a receiver errs now and then. It is "again and again" beyond both of these.
_TIMES_BY_ERROR = 2
_SHARE_BY_ERROR = 0.05  # of its chances

# Points in no order.
_FEWEST_POINTS = 8  # different ones; the order of fewer cannot be judged
_SHARE_OF_RANDOM = 0.6  # of the length in a random order: points in their order stay below it
_RANDOM_ORDERS = 3
_MOST_JUDGED = 500  # recordings, of which most decide

_WORDS = {
    True: {
        *("true", "t", "yes", "y", "1", "1.0", "a", "valid", "ok", "good", "fix", "2d", "3d"),
        *("sps", "dgps", "pps", "rtk"),
    },
    False: {
        *("false", "f", "no", "n", "0", "0.0", "v", "void", "invalid", "not valid", "bad"),
        *("no fix", "nofix", "no_fix", "no-fix", "none"),
    },
}
"""How tables write yes and no of a row; V is for void, in NMEA, and SPS for a standard fix."""


class Owner(NamedTuple):
    """Whose a row is: rows with equal owners, once spellings are one, are a trace."""

    id: str
    subject: str | None  # as it is written
    piece: int  # of a line, or 0


def traces_of_points(
    chunks: Iterable[pd.DataFrame], reading: Reading, column_of: Mapping[str, str] | None = None
) -> Iterator[Trace]:
    """Gather the rows of each subject and id, or either, or all; columns are named by roles.

    If the table was cut off, the trace of its last row may be incomplete. The columns of the table,
    by role, are for messages.
    """
    all_chunks = iter(chunks)
    tables_cut_off_before = reading.counts[TABLE_CUT_OFF]
    first = next((rows for rows in all_chunks if len(rows)), None)
    if first is None:
        return

    degrees = reader_of_degrees(first[:FIRST_ROWS], reading)
    seconds = reader_of_times(first[:FIRST_ROWS], reading)
    with _GatheredRows() as gathered:
        for chunk in chain([first], all_chunks):
            values = [*degrees(chunk), seconds(chunk)]
            if "order" in first:
                values.append(numbers(chunk["order"]))
            gathered.add(*_owned_rows(chunk, np.stack(values), reading))

        # Equal ids of two files differ; with subjects, equal ids of one subject are one recording.
        is_one_recording = {"id", "subject"}.isdisjoint(first)
        prefix = "" if "subject" in first else f"{reading.label}#"
        if is_one_recording:
            prefix = reading.label
        last_name = None
        if reading.counts[TABLE_CUT_OFF] > tables_cut_off_before and gathered.last_id is not None:
            last_name = f"{prefix}{gathered.last_id}"

        traces_of = _TracesOfOwners(gathered.take_owners(), reading, prefix)
        parts = (list(traces_of(rows)) for rows in gathered.parts())
        # An order that the user names is trusted; one that was found is judged.
        checked = _checked(
            parts,
            column_of or {},
            reading,
            is_one_recording=is_one_recording,
            is_ordered="piece" in first or "order" in reading.columns,
        )
        for trace in checked:
            yield replace(trace, cut_off=True) if trace.name == last_name else trace


# Rows and their owners.


def _owned_rows(
    chunk: pd.DataFrame, values: Floats, reading: Reading
) -> tuple[Ints, Sequence[Owner], Floats]:
    """Find the owners of rows; rows without an id are left out.

    ``values`` holds numbers of the rows by columns, as `_GatheredRows` takes them. Returned are the
    owner of each row left, as a place in the list that follows, and the values of these rows.
    """
    subject = np.full(len(chunk), -1)
    subjects: list[str | None] = []
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"])
    if "id" in chunk:
        trace, written_ids = _coded(_with_part(chunk) if "part" in chunk else chunk["id"])
        ids = [name and tidied(name) for name in written_ids]
    elif "subject" in chunk:
        trace = subject
        ids = [name and key_of(name, exact=reading.subjects_exact) for name in subjects]
    else:
        trace = np.zeros_like(subject)
        ids = [""]

    is_valid = _valid(chunk, reading)
    has_id = trace >= 0
    reading.count(NOT_VALID, ~is_valid)
    values[_LAT, ~is_valid] = _MARKED

    role = "id" if "id" in chunk else "subject"
    reading.found(WITHOUT_ID, int((is_valid & ~has_id).sum()), role=role)

    # One number for trace, subject and piece, by which equal owners are found fast.
    piece = chunk["piece"].to_numpy() if "piece" in chunk else np.zeros_like(trace)
    subject_numbers = len(subjects) + 1  # one of them for rows without a subject
    pieces = int(piece.max(initial=0)) + 1
    number = (trace * subject_numbers + subject + 1) * pieces + piece
    place, different = pd.factorize(number[has_id])

    names = [None, *subjects]
    owners = []
    for owner_number in different.tolist():
        pair, piece_number = divmod(owner_number, pieces)
        trace_number, name_number = divmod(pair, subject_numbers)
        owners.append(Owner(str(ids[trace_number]), names[name_number], piece_number))
    return place, owners, values[:, has_id]


def _valid(chunk: pd.DataFrame, reading: Reading) -> Bools:
    """Mark the rows that no column says to be wrong, as Movebank and loggers do."""
    is_valid = np.ones(len(chunk), dtype=np.bool_)
    for role, wrong in MARKS.items():
        if role not in chunk:
            continue
        code, words = pd.factorize(chunk[role].astype("string"))
        plain_words = [" ".join(str(word).lower().split()) for word in words]

        # The last place is for rows without a word, whose code is -1.
        says_wrong = np.array([*(word in _WORDS[wrong] for word in plain_words), False], np.bool_)
        is_valid &= ~says_wrong[code]

        known = _WORDS[True] | _WORDS[False] | {""}
        unknown = next((word for word in plain_words if word not in known), None)
        if unknown is not None:
            reading.found("words of validity", role=role, word=unknown)
    return is_valid


def _coded(values: pd.Series) -> tuple[Ints, list[str | None]]:
    """Read each name once: the place of the name of each row, or -1, and all names."""
    code, names = pd.factorize(values)
    texts = as_given(pd.Series(names))
    places = [-1 if name is None else place for place, name in enumerate(texts)]
    return np.array([*places, -1])[code], texts  # the last one is for rows whose code is -1


def _with_part(chunk: pd.DataFrame) -> pd.Series:
    """Join ids and parts to names; a row without its part has no name."""
    ids, parts = (
        pd.array([*(name and tidied(name) for name in names), None], "string").take(code)
        for code, names in (_coded(chunk[role]) for role in ("id", "part"))
    )
    return pd.Series(ids + "/" + parts)


class _GatheredRows(ExitStack):
    """Rows of a table, in memory, or in files without a name that end with the process.

    They are arrays of columns, (5 or 6, rows): latitude, longitude, seconds since 1970 UTC or NaN,
    perhaps numbers in their order, the number of the owner, and that of the owner's id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_id: str | None = None  # of the last row
        self._owners: dict[Owner, int] = {}  # numbers, in the order of appearance
        self._ids: dict[str, int] = {}
        self._id_count = 0  # once all rows are here
        self._held: list[Floats] = []
        self._files: list[tuple[IO[bytes], tuple[int, ...]]] = []  # sorted by ids, and their shapes

    def add(self, place: Ints, owners: Sequence[Owner], values: Floats) -> None:
        """Add rows, by columns, and their owners as places in a list of these."""
        owner_numbers = numbers_by_appearance(owners, self._owners)
        id_numbers = numbers_by_appearance((owner.id for owner in owners), self._ids)
        self._held.append(np.vstack([values, owner_numbers[place], id_numbers[place]]))
        if len(place):
            self.last_id = owners[place[-1]].id
        if sum(rows.shape[1] for rows in self._held) > HELD:
            self._put_aside()

    def _put_aside(self) -> None:
        """Write the rows that are held to a file, sorted by ids, one column after another."""
        columns = list(zip(*self._held, strict=True))
        by_id = np.argsort(np.concatenate(columns[_ID]), kind="stable")
        if not len(by_id):
            return
        try:
            file = self.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- so it is closed
            for column in columns:
                file.write(np.concatenate(column)[by_id].data)
            file.flush()
        except OSError as error:
            raise FileProblem(
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; make room "
                "there, or set TMPDIR to a folder with room"
            ) from error
        self._held.clear()
        self._files.append((file, (len(columns), len(by_id))))

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

        # Each part has the rows of ids that follow one another, some HELD rows together.
        row_counts = np.zeros(self._id_count, np.int64)
        for rows in self._mapped_files():
            row_counts += np.bincount(rows[_ID].astype(np.int64), minlength=len(row_counts))
        part_of_id = np.cumsum(row_counts) // HELD
        first_ids = np.flatnonzero(np.diff(part_of_id, prepend=-1)).tolist()
        for ids in pairwise([*first_ids, len(row_counts)]):  # the first, and the first not in it
            of_files = [
                rows[:, slice(*np.searchsorted(rows[_ID], ids))] for rows in self._mapped_files()
            ]
            part = np.concatenate(of_files, axis=1)
            del of_files  # what is mapped counts as memory
            yield part

            # What was made of it is free, too, before the next one is made.
            del part
            return_free_memory()

    def _mapped_files(self) -> Iterator[Floats]:
        """Map each file anew, or what was read would stay in memory."""
        for file, shape in self._files:
            yield np.memmap(file, np.float64, "r", shape=shape)


_MADE = Owner("", None, 0)  # in place of an owner whose trace is made


class _TracesOfOwners:
    """Makes traces of the rows of owners, once it is known who all owners are."""

    def __init__(self, owners: Sequence[Owner], reading: Reading, prefix: str) -> None:
        """Find the spellings of each person, and number the traces; names begin with the prefix."""
        subjects = dict.fromkeys(owner.subject for owner in owners)
        key_of_name = {
            name: name and key_of(name, exact=reading.subjects_exact) for name in subjects
        }
        self._prefix = prefix
        spellings: defaultdict[str | None, list[str]] = defaultdict(list)
        for name, key in key_of_name.items():
            if name is not None:
                spellings[key].append(name)
        # The name of each person, and all its spellings; None of rows without one.
        self._people: dict[str | None, tuple[str | None, tuple[str, ...]]] = {None: (None, ())}
        for key, names in spellings.items():
            self._people[key] = tidied(names[0]), tuple(names)

        # Rows without a subject are of the subject of their id, if it has but one.
        only_key: dict[str, str | None] = {}
        for owner in owners if None in key_of_name else ():
            key = key_of_name[owner.subject]
            if key is not None:
                only_key[owner.id] = key if only_key.get(owner.id, key) == key else None

        # Most people have one spelling: their owners stay as they are, and take no more memory.
        keys = (key_of_name[owner.subject] or only_key.get(owner.id) for owner in owners)
        owners_by_key = (
            owner if key == owner.subject else owner._replace(subject=key)
            for owner, key in zip(owners, keys, strict=True)
        )
        trace_numbers: dict[Owner, int] = {}
        self._trace_of_owner = numbers_by_appearance(owners_by_key, trace_numbers)
        self._traces = list(trace_numbers)  # id, key of the person and piece of each

    def __call__(self, rows: Floats) -> Iterator[Trace]:
        """Sort rows, as `_GatheredRows` has them, by traces, and yield these."""
        trace_number = self._trace_of_owner[rows[_OWNER].astype(np.int64)]

        # Numbers of few bytes are sorted much faster.
        code = trace_number - trace_number.min(initial=len(self._traces))
        code = code.astype(np.min_scalar_type(code.max(initial=0)))
        has_order = len(rows) > 5
        order = np.lexsort((rows[_ORDER], code)) if has_order else np.argsort(code, kind="stable")
        values = rows[:_ORDER, order]
        trace_number = trace_number[order]

        any_marked = bool((values[_LAT] == _MARKED).any())
        begins = np.flatnonzero(np.diff(trace_number, prepend=-1)).tolist()
        for start, end in zip(begins, [*begins[1:], len(trace_number)], strict=False):
            number = trace_number[start]
            id_, key, _ = self._traces[number]
            self._traces[number] = _MADE  # each is made once: what names it would take memory
            lat, lon, time = values[:, start:end]

            # Rows that are marked leave their times.
            without_fix: tuple[float, ...] = ()
            if any_marked:
                is_valid = lat != _MARKED
                without_fix = tuple(time[~is_valid].tolist())
                lat = lat[is_valid]
                lon = lon[is_valid]
                time = time[is_valid]
                if not len(lat):
                    continue

            name = self._prefix + id_
            subject, spellings = self._people[key]
            yield Trace(name, subject, lat, lon, time, spellings, without_fix=without_fix)


# What traces must not be.


def _checked(
    parts: Iterable[Sequence[Trace]],
    column_of: Mapping[str, str],
    reading: Reading,
    *,
    is_one_recording: bool,
    is_ordered: bool,
) -> Iterator[Trace]:
    """Leave out recordings of several people; refuse tables of these alone, or in no order."""
    owner_column = column_of.get("id") or column_of.get("subject") or "id"

    def problem(recordings: int) -> str:
        apart = f"{number_of(recordings, 'recording')} of {reading.what}"
        points = "points of the same time repeatedly lie far apart"
        return f"{apart}, by the column {owner_column!r}, must be of several people: {points}"

    left_out = 0
    for traces in parts:
        if is_one_recording and "id" not in reading.columns:
            _check_one_recording(traces, reading)
        if not is_ordered and _are_in_no_order(traces):
            roles = ["time", "order"]
            raise columns_unclear("no order", roles, reading.tables.columns, what=reading.what)

        several = set[str]()
        if reading.columns.get("id") != FILE:  # which says that each file is one recording
            several = {trace.name for trace in _recordings_of_several_people(traces)}
        if 2 * len(several) > len(traces):
            columns = reading.tables.columns
            raise columns_unclear("several people", ["id"], columns, problem=problem(len(several)))
        left_out += len(several)
        yield from (trace for trace in traces if trace.name not in several)
        del traces  # before those of the next part are made

    reading.found(SEVERAL, left_out, problem=problem(left_out))


def _check_one_recording(traces: Sequence[Trace], reading: Reading) -> None:
    """Refuse points that may be several people's: they have no times, or leap to and fro."""
    columns = reading.tables.columns
    for trace in traces:
        leaps = _count_leaps(trace)
        if leaps:
            raise columns_unclear("leaps", ["id"], columns, what=reading.what, leaps=leaps)
        if not trace.is_timed:
            raise columns_unclear("no times of it", ["id"], columns, what=reading.what)


def _count_leaps(trace: Trace) -> int:
    """Count the hops that are too far and too fast; 0 if they may be errors of one receiver."""
    in_time = np.argsort(trace.time, kind="stable")
    seconds = np.diff(trace.time[in_time])
    hops = _hop_lengths(trace.lat[in_time], trace.lon[in_time])

    leaps = int(((hops > _METRES_APART) & (hops > _METRES_A_SECOND * seconds)).sum())
    return leaps if _again_and_again(leaps, len(hops)) else 0


def _recordings_of_several_people(traces: Sequence[Trace]) -> list[Trace]:
    """List the recordings with points of one time far apart, again and again."""
    if not traces:
        return []

    # Most recordings have no time twice, which is seen in all of them at once.
    number = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    time = np.concatenate([trace.time for trace in traces])
    timed = pd.DataFrame({"trace": number, "time": time})[np.isfinite(time)]
    if ((np.diff(timed["time"]) > 0.0) | (np.diff(timed["trace"]) > 0)).all():
        return []
    with_equal_times = np.unique(timed["trace"][timed.duplicated()]).tolist()
    return [traces[i] for i in with_equal_times if _is_of_several_people(traces[i])]


def _is_of_several_people(trace: Trace) -> bool:
    """Return whether points of the same time repeatedly lie far apart."""
    points = pd.DataFrame({"lat": trace.lat, "lon": trace.lon, "time": trace.time}).dropna()
    moments = points.groupby("time")
    point_counts = moments.size().to_numpy()
    lat, lon = moments.mean().to_numpy().T
    north, east = (moments.max() - moments.min()).to_numpy().T
    spread = DEGREE * np.hypot(north, east * np.cos(np.radians(lat)))

    # What one person drives while the clock stands still is not much longer than the hop to the
    # next moment, or from the last one.
    hops = _hop_lengths(lat, lon)
    longer_hop = np.maximum(np.append(hops, 0.0), np.append(0.0, hops))

    is_apart = (point_counts > 1) & (spread > _METRES_APART) & (spread > 2.0 * longer_hop)
    return len(point_counts) > 1 and _again_and_again(int(is_apart.sum()), len(point_counts))


def _are_in_no_order(traces: Sequence[Trace]) -> bool:
    """Return whether most untimed recordings are about as long as in a random order."""
    random = np.random.default_rng(0)
    is_in_no_order = list[bool]()
    untimed = [trace for trace in traces if len(trace) >= _FEWEST_POINTS and not trace.is_timed]
    every = -(-len(untimed) // _MOST_JUDGED) or 1  # rounded up
    for trace in untimed[::every]:
        is_known = np.isfinite(trace.lat + trace.lon)
        lat = trace.lat[is_known]
        lon = trace.lon[is_known]
        if len(np.unique(lat + 1j * lon)) < _FEWEST_POINTS:
            continue

        orders: list[Ints] = [random.permutation(len(lat)) for _ in range(_RANDOM_ORDERS)]
        random_length = np.mean([_hop_lengths(lat[order], lon[order]).sum() for order in orders])
        length = _hop_lengths(lat, lon).sum()
        is_in_no_order.append(bool(length > _SHARE_OF_RANDOM * random_length))
    return 2 * sum(is_in_no_order) > len(is_in_no_order)


def _again_and_again(times: int, chances: int) -> bool:
    """Return whether something happens more often than errors do, of so many chances."""
    return times > max(_TIMES_BY_ERROR, _SHARE_BY_ERROR * chances)


def _hop_lengths(lat: Floats, lon: Floats) -> Floats:
    """Measure the hops from point to point in metres, as on a plane."""
    return DEGREE * np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1])))
