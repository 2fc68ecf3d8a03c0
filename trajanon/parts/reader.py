"""Reading a folder of Parquet parts, a slice of rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, takewhile
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
import pandas as pd

from trajanon.arrays import Floats, Ints
from trajanon.clock import Clock
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.files.geoparquet import described, expecting_geometries, refuse_other_system, text_of
from trajanon.files.json_types import parsed
from trajanon.files.track_rows import read_tracks
from trajanon.files.wkb import read_lines
from trajanon.folder import Folder
from trajanon.parts.row_ids import ID_COLUMNS, NO_VALUES, RowIds, kind_of, row_ids
from trajanon.subjects import Identities, Merged
from trajanon.timing import of_a_release, tracks_without_times, without_times
from trajanon.tracks import Tracks, refuse_off_earth
from trajanon.trajectories import Trajectories, refuse_odd_times

SLICE_ROWS = 100_000
"""Rows read at once, about; a larger row group is read whole."""

COORDINATES = 60 * SLICE_ROWS
"""Coordinates that may be read at once, whatever the memory: some 200 MB with copies of them."""

_AT_ONCE = 10_000  # rows of tracks: some tens of megabytes
_POINT = 16  # bytes of a point in a line


class _Provenance(TypedDict):
    """What is read of the provenance in a part."""

    attribution: NotRequired[str | None]
    trips: NotRequired[Any]
    counts: NotRequired[dict[str, int]]


@dataclass(frozen=True)
class PartSchema:
    """How trajectories are written in a part: the same in all parts of a folder."""

    points: int  # of each trajectory
    kinds: dict[str, str]  # of ``subject`` and ``trace``, those there are
    attribution: str | None  # the line that must be shown with the data
    coordinates: list[str]  # the column of lines, or one for each coordinate: lat1, lon1, ...
    trips: bool  # whether they are trips
    provenance: Mapping[str, Any] = field(compare=False)  # of a part
    times: tuple[str, ...] = ()  # the column of lists, or one for each point: time1, ...
    tracks: tuple[str, ...] = ()  # the columns of what windows may slide on
    track_points: int = field(default=0, compare=False)  # of a row, on average

    @property
    def columns(self) -> int:
        """Numbers of a row: coordinates, and with times these and the departure that is seen."""
        return 2 * self.points + (self.points + 1 if self.times else 0)

    def filled(self, other: "PartSchema") -> "PartSchema":
        """Give columns without any value the kind, and times the names, of another part."""
        kinds = {
            name: other.kinds.get(name, kind) if kind == NO_VALUES else kind
            for name, kind in self.kinds.items()
        }
        return replace(self, kinds=kinds, times=self.times or other.times)

    def difference(self, other: "PartSchema") -> str:
        """Say how it is not like another one."""
        mine, theirs = (
            ", ".join(f"{name} ({kind})" for name, kind in one.kinds.items()) or "nothing"
            for one in (self, other)
        )
        if self.points != other.points:
            return f"its trajectories have {self.points} points, and not {other.points}"
        if mine != theirs:
            return f"of subjects and traces it has {mine}, and not {theirs}"
        if self.attribution != other.attribution:
            return f"it carries {self.attribution!r}, and not {other.attribution!r}"
        if self.coordinates != other.coordinates:
            return "its coordinates are written in another way"
        if self.trips != other.trips:
            mine, theirs = ("trips" if one.trips else "windows" for one in (self, other))
            return f"it holds {mine}, and not {theirs}"
        if self.tracks != other.tracks:
            return f"its windows have {'' if self.tracks else 'no '}tracks, and others differ"
        return "it is of another extraction"


class PartSlice(NamedTuple):
    """Row groups of a part that are read at once."""

    name: str  # of the part
    first: int  # number of the first row among those of all parts
    groups: tuple[int, ...] = ()  # which of its row groups
    sizes: tuple[int, ...] = ()  # rows of each of these

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(self.sizes)

    def parted(self, rows: int) -> "list[PartSlice]":
        """Slices of at most this number of rows, or of one row group."""
        slices: list[PartSlice] = []
        first = self.first
        for group, size in zip(self.groups, self.sizes, strict=True):
            if not slices or slices[-1].rows + size > rows:
                slices.append(PartSlice(self.name, first))
            _, _, groups, sizes = slices[-1]
            slices[-1] = slices[-1]._replace(groups=(*groups, group), sizes=(*sizes, size))
            first += size
        return slices


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A folder of parts."""

    folder: Folder  # where they are
    schema: PartSchema  # how trajectories stand in them
    slices: tuple[PartSlice, ...]  # in which they are read, in the order of the names
    named: pd.Series  # subjects, by trace, of those traces that name them in some rows only
    subjects_exact: bool = False
    merged: Merged = Merged()  # names that were another one's spelling
    unnamed: int = 0  # subjects without a name, once all rows were read

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(part_slice.rows for part_slice in self.slices)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """As in a file of all rows."""
        found = Identities(None, None, self.unnamed, self.merged)
        return found.counted_in(self.schema.provenance)

    def slice_of(self, rows: Ints) -> Ints:
        """Find the number of the slice that each row is in."""
        first = [part_slice.first for part_slice in self.slices]
        return np.searchsorted(first, rows, side="right") - 1

    def fitting(self, capacity: int) -> "Parts":
        """Read no more at once than fits, where lines have many points."""
        most = max(capacity, min(SLICE_ROWS, COORDINATES // self.schema.columns))
        slices = [one for some in self.slices for one in some.parted(min(most, SLICE_ROWS))]
        largest = max(slices, key=lambda one: one.rows)
        if largest.rows > most:
            msg = (
                f"{self.folder}/{largest.name} has a row group of {largest.rows:,} "
                f"trajectories, and only {most:,} fit into the memory at once: write "
                "it with smaller row groups, or raise `memory`"
            )
            raise BadInput(msg)
        return replace(self, slices=tuple(slices))

    def read(self, slices: Sequence[PartSlice], *, tracks: bool = False) -> Trajectories:
        """Read rows, as of one file; a trace is the number of its row among those of all parts.

        With tracks, if there are any; with times, if they are wanted.
        """
        schema, row = self.schema, 0
        n, m = sum(one.rows for one in slices), schema.points
        points, subject = np.empty((n, m, 2)), np.empty(n, dtype=np.int64)
        times = np.empty((n, m)) if schema.times else None
        numbers: list[Any] = []
        along = schema.tracks if tracks else ()
        for one in slices:
            names = [*schema.coordinates, *schema.times, *schema.kinds, *along[:2]]
            where, table = self._table(one, names)
            here = slice(row, row + one.rows)
            _read_points(where, table, schema, points[here])
            if times is not None:
                times[here] = _times(where, table, schema)
                refuse_odd_times(times[here], f"{_formatted(where)}, row {{}}")
            ids = row_ids(where, table, exact=self.subjects_exact)
            subject[here] = ids.subjects(self.named, one.first)
            numbers += [[table[name].to_numpy() for name in along[:2]]] if along else []
            row += one.rows
        trace = np.concatenate([np.arange(one.first, one.first + one.rows) for one in slices])
        found = self._tracks(slices, numbers, points) if along else None
        return Trajectories(points, subject, trace, self.provenance, found, times)

    def _tracks(
        self, slices: Sequence[PartSlice], numbers: Sequence[Any], points: Floats
    ) -> Tracks:
        """Read what windows slide on, as of one file."""

        def column(name: str) -> Iterator[Any]:
            for one in slices:
                with _parquet(self.folder, one.name) as (_, part):
                    for batch in part.iter_batches(
                        _AT_ONCE, [*one.groups], [name], use_threads=False
                    ):
                        yield batch.column(0)

        run, start = (np.concatenate(each) for each in zip(*numbers, strict=True))
        _, _, track, *timed = self.schema.tracks
        try:
            times = column(timed[0]) if timed else None
            return read_tracks(run, start, partial(column, track), points, times)
        except BadInput as error:
            names = f"{slices[0].name}{f' to {slices[-1].name}' * (len(slices) > 1)}"
            msg = f"{self.folder}/{names}: {error}; extract again, or use `align=False`"
            raise BadInput(msg) from None

    def read_ids(self, part_slice: PartSlice) -> RowIds:
        """Read whose some rows are, without points."""
        where, table = self._table(part_slice, [*self.schema.kinds])
        return row_ids(where, table, exact=self.subjects_exact)

    def _table(self, part_slice: PartSlice, names: list[str]) -> tuple[str, Any]:
        with _parquet(self.folder, part_slice.name) as (where, part):
            table = part.read_row_groups([*part_slice.groups], names, use_threads=False)
        return where, table


def survey_parts(folder: Folder, times: str | None = None, *, align: bool = False) -> Parts:
    """Look at the parts of a folder, without reading their rows.

    Times and tracks are left out where nobody wants them; parts without times that are wanted, and
    parts that differ, are refused.
    """
    names = sorted(part_states(folder))
    schema, slices, first, untimed = None, [], 0, 0
    for name in names:
        with _parquet(folder, name) as (where, part):
            groups = range(part.metadata.num_row_groups)
            rows = [part.metadata.row_group(group).num_rows for group in groups]
            if not sum(rows):
                continue
            mine = _schema_of(where, part)
            if times is not None:
                if Clock.told(text_of(part, "times")) is not None:
                    raise BadInput(of_a_release(f"`times='{times}'`"))
                mine = replace(mine, times=_columns_of_times(part.schema_arrow, mine))
                untimed += sum(rows) * (not mine.times)
            tracks, size = _columns_of_tracks(where, part, mine) if align else ((), 0)
            mine = replace(mine, tracks=tracks, track_points=size)
        if schema is not None:
            mine, schema = mine.filled(schema), schema.filled(mine)
            if mine != schema:
                msg = (
                    f"{where} is not like {slices[0].name}: {mine.difference(schema)}; "
                    "keep parts of one extraction in a folder"
                )
                raise BadInput(msg)
        if schema is not None and schema.track_points > mine.track_points:
            mine = replace(mine, track_points=schema.track_points)
        schema = mine
        filled = tuple(group for group in groups if rows[group])
        whole = PartSlice(name, first, filled, tuple(rows[group] for group in filled))
        slices += whole.parted(SLICE_ROWS)
        first += whole.rows
    if schema is None:
        what = f"the {len(names)} parts in {folder} hold" if names else f"{folder} has"
        msg = (
            f"{what} no trajectories; make parts with: trajanon extract --partition "
            "100000 --out FOLDER"
        )
        raise FileProblem(msg)
    if untimed:
        raise BadInput(without_times(f"`times='{times}'`", untimed, first))
    return Parts(folder, schema, tuple(slices), pd.Series(dtype=np.uint64))


@contextmanager
def _parquet(folder: Folder, name: str) -> Iterator[tuple[str, Any]]:
    """Open a part, and give its whole name; an error says it.

    Arrow must not read this file of Python's in threads of its own: see `arrow.opened`.
    """
    import pyarrow.parquet as pq

    where = f"{folder}/{name}"
    with arrow.reading(where), folder.open(name) as file:
        yield where, pq.ParquetFile(file)


def _schema_of(where: str, part: Any) -> PartSchema:
    """Read the schema of a part that has rows."""
    import pyarrow as pa

    fields = part.schema_arrow
    metadata = fields.metadata or {}
    if len(set(fields.names)) < len(fields.names):
        msg = f"{where} has several columns of the same name; leave out all but one"
        raise BadInput(msg)
    kinds = {
        name: kind_of(where, fields.field(name)) for name in ID_COLUMNS if name in fields.names
    }
    try:
        told = parsed(metadata.get(b"trajanon", b"{}"), _Provenance)
    except BadInput as error:
        msg = f"{where} has metadata that cannot be read, {error}; extract it again"
        raise BadInput(msg) from error
    if b"geo" in metadata:
        geo = described(fields, where)
        refuse_other_system(where, geo)
        coordinates = [geo["primary_column"]]
        rows = part.iter_batches(1, columns=coordinates, use_threads=False)
        with expecting_geometries(where):
            points = next(int(read_lines(row[0]).size[0]) for row in rows if len(row))
        if points < 2:
            msg = f"{where} begins with a geometry that is no line of two points or more"
            raise BadInput(msg)
    else:
        pairs = ([f"lat{number}", f"lon{number}"] for number in count(1))
        coordinates = [*chain(*takewhile({*fields.names}.issuperset, pairs))]
        points = len(coordinates) // 2
        if points < 2:
            msg = (
                f"{where} holds no trajectories: neither lines (GeoParquet) nor "
                "columns lat1, lon1, lat2, lon2, ..."
            )
            raise BadInput(msg)
        if not all(pa.types.is_floating(fields.field(name).type) for name in coordinates):
            msg = f"{where} has coordinates that are no floating-point numbers"
            raise BadInput(msg)
    trips = told.get("trips") is True
    return PartSchema(points, kinds, told.get("attribution"), coordinates, trips, {**told})


def _columns_of_times(fields: Any, schema: PartSchema) -> tuple[str, ...]:
    """Find the times of a part: lists beside lines, or a column beside the two of each point."""
    import pyarrow as pa

    def holds(kind: Any) -> bool:
        if lines:
            return arrow.holds_lists(kind)
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    lines = len(schema.coordinates) == 1
    names = ("times",) if lines else tuple(f"time{place + 1}" for place in range(schema.points))
    there = all(name in fields.names and holds(fields.field(name).type) for name in names)
    return names if there else ()


def _times(where: str, table: Any, schema: PartSchema) -> Floats:
    """Read seconds since 1970 UTC, (r, m); NaN in rows that have none."""
    if len(schema.coordinates) > 1:
        return np.column_stack([table[name].to_numpy().astype(float) for name in schema.times])
    (name,) = schema.times
    try:
        return arrow.lists_of(table[name], name).of_size(schema.points)
    except BadInput as error:
        msg = f"{where}: {error}; extract it again, or release without times"
        raise BadInput(msg) from None


def _columns_of_tracks(where: str, part: Any, schema: PartSchema) -> tuple[tuple[str, ...], int]:
    """Find the columns of tracks, and about how many points of tracks a row has."""
    names = part.schema_arrow.names
    if "track" not in names or len(schema.coordinates) > 1:
        return (), 0
    missing = [name for name in ("run", "start") if name not in names]
    if missing:
        msg = f"{where} has a column track, and no column {missing[0]}; extract it again"
        raise BadInput(msg)
    along = ("run", "start", "track")
    if schema.times:
        if "track_times" not in names:
            raise BadInput(tracks_without_times(f"{where}: a release with times"))
        along = (*along, "track_times")
    about, place = part.metadata, part.schema_arrow.get_field_index("track")
    groups = [about.row_group(number).column(place) for number in range(about.num_row_groups)]
    size = sum(group.total_uncompressed_size for group in groups)
    return along, size // (_POINT * about.num_rows)


def _read_points(where: str, table: Any, schema: PartSchema, points: Floats) -> None:
    """Read the points of a slice into an array, (r, m, 2)."""
    if len(schema.coordinates) > 1:
        flat = points.reshape(len(table), -1)
        for number, name in enumerate(schema.coordinates):
            if table[name].null_count:
                msg = f"{where} has no value in column {name} of a row: leave such rows out"
                raise BadInput(msg)
            flat[:, number] = table[name].to_numpy()
    else:
        row = 0
        for batch in table[schema.coordinates[0]].chunks:
            with expecting_geometries(where):
                lines = read_lines(batch)
            right = lines.flat & (lines.size == schema.points)
            if not right.all():
                msg = (
                    f"{where}, row {row + np.argmin(right)}: every trajectory is a "
                    f"LineString of {schema.points} points without heights, as the first one"
                )
                raise BadInput(msg)
            points[row : row + len(batch)] = lines.points.reshape(-1, schema.points, 2)
            row += len(batch)
    refuse_off_earth(points, f"{_formatted(where)} has a point that")


def _formatted(where: str) -> str:
    """Write a name so that it comes out of a text with places for numbers as it is."""
    return where.replace("{", "{{").replace("}", "}}")


def part_states(folder: Folder) -> dict[str, str]:
    """The state of each part; see `unchanged`. Hidden files are drafts, maybe of a part."""
    states = folder.states()
    parts = (name for name in states if name.lower().endswith((".parquet", ".geoparquet")))
    return {name: states[name] for name in parts if not name.startswith(".")}


@contextmanager
def unchanged(folder: Folder, before: Mapping[str, str]) -> Iterator[None]:
    """Refuse to go on if parts were changed while they were read in this block.

    Rows are read twice. If they were others the second time, a group could have too few subjects,
    or rows could be missing.
    """
    cause = None
    try:
        yield
    except Exception as error:
        cause = error
    for name, _ in sorted(before.items() ^ part_states(folder).items()):
        msg = (
            f"{folder}/{name} was written or removed while it was read: "
            "begin again once nobody writes there"
        )
        raise FileProblem(msg) from cause
    if cause is not None:
        raise cause
