"""Rows of points in any order -> traces; the rows of a large table wait in a file."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, pairwise
from typing import IO, NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints, numbers_by_appearance
from trajanon.common.errors import FileProblem
from trajanon.common.glibc_memory import return_free_memory
from trajanon.common.number_text import number_of
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_role_names import FILE, MARKS
from trajanon.extract.sources.coordinates import numbers, reader_of_degrees
from trajanon.extract.sources.reader_sentences import columns_unclear
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import reader_of_times
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import METRES_PER_DEGREE
from trajanon.trajectories.person_names import key_of, tidied

FIRST_ROWS = 100_000  # of a table: it is judged by them
HELD = 1_000_000  # rows that are held in memory; more are put into a file

NOT_VALID = "rows marked as not valid"
WITHOUT_ID = "points without an id"
SEVERAL = "recordings of points that several people must have made"

_MARKED = np.inf  # latitude of a row that is marked as not valid: its time alone is used

# Which column of `_GatheredRows` is which.
_LAT, _TIME, _ORDER, _OWNER, _ID = 0, 2, 3, -2, -1
_PLACE_AND_TIME = slice(0, 3)
_COLUMNS_WITH_ORDER = 6  # one fewer without it

# Points of several people: so far apart, or so fast from one to the next, as one person never is.
_METRES_APART = 1_000.0
_METRES_A_SECOND = 400.0

# A clock or a receiver errs now and then. More errors than both of these are "again and again".
_MOST_ERRORS = 2
_MOST_ERRORS_SHARE = 0.05  # of all that could be errors

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


Recording = tuple[str, str | None]
"""The id of a recording, and the name of its person as `key_of` folds it."""


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

        is_cut_off = reading.counts[TABLE_CUT_OFF] > tables_cut_off_before
        cut_off_owner = gathered.last_owner if is_cut_off else None
        prefix = _name_prefix(first, reading)
        traces_of = _TracesOfOwners(gathered.take_owners(), reading, prefix, cut_off_owner)

        def sorted_parts() -> Iterator[_SortedRows]:
            return map(traces_of.sort, gathered.parts())

        # The whole table is judged before its first trace is made; rows in files are read again.
        in_memory = None if gathered.files else list(sorted_parts())
        # An order that the user names is trusted; one that was found is judged.
        left_out = _recordings_of_several_people(
            in_memory or sorted_parts(),
            traces_of.recording,
            column_of or {},
            reading,
            is_one_recording={"id", "subject"}.isdisjoint(first),  # no column tells rows apart
            is_ordered="piece" in first or "order" in reading.columns,
        )
        for part in in_memory or sorted_parts():
            yield from traces_of(part, left_out)


def _name_prefix(first: pd.DataFrame, reading: Reading) -> str:
    """Return what stands before the ids in the names of recordings."""
    if {"id", "subject"}.isdisjoint(first):  # the only recording has no id: "x.csv"
        return reading.label
    # Equal ids of one subject are one recording in all files, "7", unless each file is one.
    if "subject" in first and reading.columns.get("id") != FILE:
        return ""
    return f"{reading.label}#"  # equal ids of two files differ: "x.csv#7"


# Rows and their owners.


def _owned_rows(
    chunk: pd.DataFrame, values: Floats, reading: Reading
) -> tuple[Ints, Sequence[Owner], Floats]:
    """Find the owners of rows; rows without an id are left out.

    ``values`` holds numbers of the rows by columns, as `_GatheredRows` takes them; rows that are
    not valid are marked in it. Returned are the owner of each row left, as an index in the list
    that follows, and the values of these rows.
    """
    subject_code = np.full(len(chunk), -1)
    subjects: list[str | None] = []
    if "subject" in chunk:
        subject_code, subjects = _coded(chunk["subject"])
        keys = [key_of(name or "", exact=reading.subjects_exact) for name in subjects]
        # What stands in place of a name is none. The last one is for rows whose code is -1.
        is_named = np.array([*map(bool, keys), False])[subject_code]
        subject_code = np.where(is_named, subject_code, -1)
    if "id" in chunk:
        id_code, written_ids = _coded(_with_part(chunk) if "part" in chunk else chunk["id"])
        ids = [name and tidied(name) for name in written_ids]
    elif "subject" in chunk:
        id_code = subject_code
        ids = [*keys]
    else:
        id_code = np.zeros_like(subject_code)
        ids = [""]

    is_valid = _valid(chunk, reading)
    has_id = id_code >= 0
    reading.count(NOT_VALID, ~is_valid)
    values[_LAT, ~is_valid] = _MARKED

    # Unlike `count`, this also warns; 0 rows it does not mention.
    role = "id" if "id" in chunk else "subject"
    reading.found(WITHOUT_ID, int((is_valid & ~has_id).sum()), role=role)

    # One code for id, subject and piece, by which equal owners are found fast.
    piece = chunk["piece"].to_numpy() if "piece" in chunk else np.zeros_like(id_code)
    subject_codes = len(subjects) + 1  # one of them for rows without a subject
    pieces = int(piece.max(initial=0)) + 1
    owner_code = (id_code * subject_codes + subject_code + 1) * pieces + piece
    owner_index, distinct_codes = pd.factorize(owner_code[has_id])

    names = [None, *subjects]
    owners = []
    for code in distinct_codes.tolist():
        id_and_subject, piece_number = divmod(code, pieces)
        id_index, name_index = divmod(id_and_subject, subject_codes)
        owners.append(Owner(str(ids[id_index]), names[name_index], piece_number))
    return owner_index, owners, values[:, has_id]


def _valid(chunk: pd.DataFrame, reading: Reading) -> Bools:
    """Mark the rows that no column says to be wrong, as Movebank and loggers do."""
    is_valid = np.ones(len(chunk), dtype=np.bool_)
    # If the answer is True, yes means that a row is wrong, as of `outlier`.
    for role, answer_if_wrong in MARKS.items():
        if role not in chunk:
            continue
        code, words = pd.factorize(chunk[role].astype("string"))
        plain_words = [" ".join(str(word).lower().split()) for word in words]

        # The last one is for rows without a word, whose code is -1.
        wrong_words = _WORDS[answer_if_wrong]
        says_wrong = np.array([*(word in wrong_words for word in plain_words), False], np.bool_)
        is_valid &= ~says_wrong[code]

        known = _WORDS[True] | _WORDS[False] | {""}
        unknown = next((word for word in plain_words if word not in known), None)
        if unknown is not None:
            reading.found("words of validity", role=role, word=unknown)
    return is_valid


def _coded(values: pd.Series) -> tuple[Ints, list[str | None]]:
    """Read each name once: the index of the name of each row, or -1, and all names."""
    code, names = pd.factorize(values)
    texts = as_given(pd.Series(names))
    index_of_code = [-1 if name is None else index for index, name in enumerate(texts)]
    return np.array([*index_of_code, -1])[code], texts  # the last one is for rows whose code is -1


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
    if the table has such a column the number that orders rows, the number of the owner, and that of
    the owner's id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_owner: int | None = None  # number of the owner of the last row
        self._owners: dict[Owner, int] = {}  # numbers, in the order of appearance
        self._ids: dict[str, int] = {}
        self._id_count = 0  # once all rows are here
        self._held: list[Floats] = []
        self.files: list[tuple[IO[bytes], tuple[int, ...]]] = []  # sorted by ids, and their shapes

    def add(self, owner_index: Ints, owners: Sequence[Owner], values: Floats) -> None:
        """Add rows, by columns, and their owners as indices in a list of these."""
        owner_numbers = numbers_by_appearance(owners, self._owners)
        id_numbers = numbers_by_appearance((owner.id for owner in owners), self._ids)
        self._held.append(np.vstack([values, owner_numbers[owner_index], id_numbers[owner_index]]))
        if len(owner_index):
            self.last_owner = int(owner_numbers[owner_index[-1]])
        if sum(rows.shape[1] for rows in self._held) > HELD:
            self._put_aside()

    def _put_aside(self) -> None:
        """Write the rows that are held to a file, sorted by ids, one column after another."""
        pieces_of_columns = list(zip(*self._held, strict=True))  # a piece is of one chunk
        by_id = np.argsort(np.concatenate(pieces_of_columns[_ID]), kind="stable")
        if not len(by_id):
            return
        try:
            file = self.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- so it is closed
            for pieces in pieces_of_columns:
                file.write(np.concatenate(pieces)[by_id].data)
            file.flush()
        except OSError as error:
            raise FileProblem(
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; make room "
                "there, or set TMPDIR to a folder with room"
            ) from error
        self._held.clear()
        self.files.append((file, (len(pieces_of_columns), len(by_id))))

    def take_owners(self) -> list[Owner]:
        """Return all owners in the order of their numbers, and forget them: no more rows come."""
        owners = list(self._owners)
        self._id_count = len(self._ids)
        self._owners.clear()
        self._ids.clear()
        return owners

    def parts(self) -> Iterator[Floats]:
        """Yield all rows, by columns, those of an id together; ids in the order of appearance."""
        if not self.files:
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
        for first_id, end_id in pairwise([*first_ids, len(row_counts)]):
            of_files = []
            for rows in self._mapped_files():
                start, end = np.searchsorted(rows[_ID], [first_id, end_id])
                of_files.append(rows[:, start:end])
            part = np.concatenate(of_files, axis=1)
            del of_files, rows  # what is mapped counts as memory
            yield part

            # What was made of it is free, too, before the next one is made.
            del part
            return_free_memory()

    def _mapped_files(self) -> Iterator[Floats]:
        """Map each file anew, or what was read would stay in memory."""
        for file, shape in self.files:
            yield np.memmap(file, np.float64, "r", shape=shape)


class _SortedRows(NamedTuple):
    """Rows of traces, those of each together."""

    trace_number: Ints  # of each row, ascending
    values: Floats  # (3, rows): latitude, longitude, seconds since 1970 UTC or NaN

    def starts(self) -> Ints:
        """List where each trace begins and, at the end, how many rows there are."""
        is_first = np.diff(self.trace_number, prepend=-1) > 0
        return np.append(np.flatnonzero(is_first), len(is_first))

    def of_trace(self, number: int) -> Floats:
        """Return the values of a trace."""
        start, end = np.searchsorted(self.trace_number, [number, number + 1])
        return self.values[:, start:end]

    def take(self, which: Bools) -> "_SortedRows":
        """Keep the marked rows."""
        if which.all():
            return self
        return _SortedRows(self.trace_number[which], self.values[:, which])


class _TracesOfOwners:
    """Makes traces of the rows of owners, once it is known who all owners are."""

    def __init__(
        self, owners: Sequence[Owner], reading: Reading, prefix: str, cut_off_owner: int | None
    ) -> None:
        """Find the spellings of each person, and number the traces; names begin with the prefix.

        The trace of the owner of this number, if any, is cut off.
        """
        names = dict.fromkeys(owner.subject for owner in owners)
        folded_of_name = {
            name: name and key_of(name, exact=reading.subjects_exact) for name in names
        }
        self._prefix = prefix
        spellings: defaultdict[str | None, list[str]] = defaultdict(list)
        for name, folded_name in folded_of_name.items():
            if name is not None:
                spellings[folded_name].append(name)
        # The name of each person, and all its spellings; None of rows without one.
        self._people: dict[str | None, tuple[str | None, tuple[str, ...]]] = {None: (None, ())}
        for folded_name, written in spellings.items():
            self._people[folded_name] = tidied(written[0]), tuple(written)

        # Rows without a subject are of the person of their id, if it has but one.
        only_person_of_id: dict[str, str | None] = {}
        for owner in owners if None in folded_of_name else ():
            person = folded_of_name[owner.subject]
            if person is not None:
                is_only = only_person_of_id.get(owner.id, person) == person
                only_person_of_id[owner.id] = person if is_only else None

        people = (
            folded_of_name[owner.subject] or only_person_of_id.get(owner.id) for owner in owners
        )
        owners_of_people = (
            owner._replace(subject=person) for owner, person in zip(owners, people, strict=True)
        )
        trace_numbers: dict[Owner, int] = {}
        self._trace_of_owner = numbers_by_appearance(owners_of_people, trace_numbers)
        self._traces = list(trace_numbers)  # id, folded name of the person, and piece of each
        self._cut_off = -1 if cut_off_owner is None else int(self._trace_of_owner[cut_off_owner])

    def recording(self, trace_number: int) -> Recording:
        """Return which recording a trace is, or is a piece of."""
        id_, folded_name, _ = self._traces[trace_number]
        return id_, folded_name

    def sort(self, rows: Floats) -> _SortedRows:
        """Sort rows, as `_GatheredRows` has them, by traces."""
        trace_number = self._trace_of_owner[rows[_OWNER].astype(np.int64)]

        # Numbers of few bytes are sorted much faster.
        code = trace_number - trace_number.min(initial=len(self._traces))
        code = code.astype(np.min_scalar_type(code.max(initial=0)))
        has_order = len(rows) == _COLUMNS_WITH_ORDER
        order = np.lexsort((rows[_ORDER], code)) if has_order else np.argsort(code, kind="stable")
        return _SortedRows(trace_number[order], rows[_PLACE_AND_TIME, order])

    def __call__(self, rows: _SortedRows, left_out: Collection[Recording]) -> Iterator[Trace]:
        """Make the traces of rows, each once, but for recordings that are left out."""
        for start, end in pairwise(rows.starts().tolist()):
            number = int(rows.trace_number[start])
            id_, folded_name = self.recording(number)
            if (id_, folded_name) in left_out:
                continue
            lat, lon, time = rows.values[:, start:end]

            is_valid = lat != _MARKED
            if not is_valid.any():
                continue
            # Rows that are marked leave their times.
            without_fix = tuple(time[~is_valid].tolist())
            name = self._prefix + id_
            subject, spellings = self._people[folded_name]
            cut_off = number == self._cut_off
            trace = Trace(name, subject, lat, lon, time, spellings, cut_off, without_fix)
            yield trace.take(is_valid)


# What traces must not be.


def _recordings_of_several_people(
    parts: Iterable[_SortedRows],
    recording: Callable[[int], Recording],
    column_of: Mapping[str, str],
    reading: Reading,
    *,
    is_one_recording: bool,
    is_ordered: bool,
) -> set[Recording]:
    """Find the recordings of several people in a table; refuse it if most are, or have no order.

    ``recording`` returns which recording a trace is, given its number.
    """
    trace_count = 0
    several = set[Recording]()
    are_in_no_order = list[bool]()
    for part in parts:
        rows = part.take(part.values[_LAT] != _MARKED)
        trace_count += len(rows.starts()) - 1
        if is_one_recording and "id" not in reading.columns and len(rows.trace_number):
            _check_one_recording(rows, reading)
        if not is_ordered:
            are_in_no_order += _are_in_no_order(rows)
        if reading.columns.get("id") != FILE:  # which says that each file is one recording
            several.update(map(recording, _traces_of_several_people(rows)))
        del part, rows  # before the next part is read

    all_columns = reading.tables.columns  # `reading.columns` are those that a user names
    if 2 * sum(are_in_no_order) > len(are_in_no_order):
        raise columns_unclear("no order", ["time", "order"], all_columns, what=reading.what)

    owner_column = column_of.get("id") or column_of.get("subject") or "id"
    problem = (
        f"{number_of(len(several), 'recording')} of {reading.what}, by the column "
        f"{owner_column!r}, must be of several people: points of the same time repeatedly lie far "
        "apart"
    )
    if 2 * len(several) > trace_count:
        raise columns_unclear("several people", ["id"], all_columns, problem=problem)
    reading.found(SEVERAL, len(several), problem=problem)
    return several


def _check_one_recording(rows: _SortedRows, reading: Reading) -> None:
    """Refuse points that may be several people's: they have no times, or leap to and fro."""
    all_columns = reading.tables.columns
    leaps = _count_leaps(rows.values)
    if leaps:
        raise columns_unclear("leaps", ["id"], all_columns, what=reading.what, leaps=leaps)
    if not np.isfinite(rows.values[_TIME]).any():
        raise columns_unclear("no times of it", ["id"], all_columns, what=reading.what)


def _count_leaps(points: Floats) -> int:
    """Count the hops that are too far and too fast; 0 if they may be errors of one receiver."""
    lat, lon, time = points[:, np.argsort(points[_TIME], kind="stable")]
    hops = _hop_lengths(lat, lon)

    leaps = int(((hops > _METRES_APART) & (hops > _METRES_A_SECOND * np.diff(time))).sum())
    return leaps if _again_and_again(leaps, len(hops)) else 0


def _traces_of_several_people(rows: _SortedRows) -> list[int]:
    """List the traces with points of one time far apart, again and again."""
    # Most traces have no time twice, which is seen in all of them at once.
    timed = rows.take(np.isfinite(rows.values[_TIME]))
    is_later = np.diff(timed.values[_TIME]) > 0.0
    if (is_later | (np.diff(timed.trace_number) > 0)).all():
        return []
    times = pd.DataFrame({"trace": timed.trace_number, "time": timed.values[_TIME]})
    with_equal_times = np.unique(times["trace"][times.duplicated()]).tolist()
    return [number for number in with_equal_times if _is_of_several_people(rows.of_trace(number))]


def _is_of_several_people(points: Floats) -> bool:
    """Return whether points of the same time repeatedly lie far apart."""
    moments = pd.DataFrame(points.T, columns=["lat", "lon", "time"]).dropna().groupby("time")
    point_counts = moments.size().to_numpy()
    lat, lon = moments.mean().to_numpy().T
    degrees_north, degrees_east = (moments.max() - moments.min()).to_numpy().T
    spread = METRES_PER_DEGREE * np.hypot(degrees_north, degrees_east * np.cos(np.radians(lat)))

    # What one person drives while the clock stands still is not much longer than the hop to the
    # next moment, or from the last one.
    hops = _hop_lengths(lat, lon)
    longer_hop = np.maximum(np.append(hops, 0.0), np.append(0.0, hops))

    is_apart = (point_counts > 1) & (spread > _METRES_APART) & (spread > 2.0 * longer_hop)
    return len(point_counts) > 1 and _again_and_again(int(is_apart.sum()), len(point_counts))


def _are_in_no_order(rows: _SortedRows) -> list[bool]:
    """Return of untimed traces whether they are about as long as in a random order."""
    random = np.random.default_rng(0)
    is_in_no_order = list[bool]()
    starts = rows.starts()
    is_timed = np.logical_or.reduceat(np.isfinite(rows.values[_TIME]), starts[:-1])
    untimed = np.flatnonzero(~is_timed & (np.diff(starts) >= _FEWEST_POINTS))
    every = -(-len(untimed) // _MOST_JUDGED) or 1  # rounded up
    for trace in untimed[::every].tolist():
        lat, lon, _ = rows.values[:, starts[trace] : starts[trace + 1]]
        is_known = np.isfinite(lat + lon)
        lat = lat[is_known]
        lon = lon[is_known]
        if len(np.unique(lat + 1j * lon)) < _FEWEST_POINTS:
            continue

        orders: list[Ints] = [random.permutation(len(lat)) for _ in range(_RANDOM_ORDERS)]
        random_length = np.mean([_hop_lengths(lat[order], lon[order]).sum() for order in orders])
        length = _hop_lengths(lat, lon).sum()
        is_in_no_order.append(bool(length > _SHARE_OF_RANDOM * random_length))
    return is_in_no_order


def _again_and_again(count: int, chances: int) -> bool:
    """Return whether something happens more often than errors do, of so many chances."""
    return count > max(_MOST_ERRORS, _MOST_ERRORS_SHARE * chances)


def _hop_lengths(lat: Floats, lon: Floats) -> Floats:
    """Measure the hops from point to point in metres, as on a plane."""
    return METRES_PER_DEGREE * np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1])))
