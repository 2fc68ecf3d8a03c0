"""Reading a folder of Parquet parts, a slice of rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count, takewhile
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.clock import Clock
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.files.geoparquet import described, expecting_geometries, refuse_other_system, text_of
from trajanon.files.json_types import parsed
from trajanon.files.wkb import read_lines
from trajanon.folder import Folder
from trajanon.parts.row_ids import ID_COLUMNS, NO_VALUES, RowIds, kind_of, row_ids
from trajanon.subjects import Merged
from trajanon.timing import Timing, of_a_release, without_times
from trajanon.tracks import refuse_off_earth
from trajanon.trajectories import refuse_odd_times

SLICE_ROWS = 100_000
"""Rows read at once, about; a larger row group is read whole."""

COORDINATES = 60 * SLICE_ROWS
"""Coordinates that may be read at once, whatever the memory: some 200 MB with copies of them."""


class _Provenance(TypedDict):
    """What is read of the provenance in a part."""

    attribution: NotRequired[str | None]
    trips: NotRequired[Any]
    counts: NotRequired[dict[str, int]]


class PartSchema(NamedTuple):
    """How trajectories are written in a part: the same in all parts of a folder."""

    points: int  # of each trajectory
    kinds: dict[str, str]  # of ``subject`` and ``trace``, those there are
    attribution: str | None  # the line that must be shown with the data
    coordinates: list[str]  # the column of lines, or one for each coordinate: lat1, lon1, ...
    single: bool  # whether coordinates have single precision
    unknown: tuple[int, int]  # recordings that name no subject, and recordings read
    trips: bool = False  # whether they are trips
    times: tuple[str, ...] = ()  # the column of lists, or one for each point: time1, ...

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
        return self._replace(kinds=kinds, times=self.times or other.times)

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
        if (self.coordinates, self.single) != (other.coordinates, other.single):
            return "its coordinates are written in another way"
        if self.trips != other.trips:
            mine, theirs = ("trips" if one.trips else "windows" for one in (self, other))
            return f"it holds {mine}, and not {theirs}"
        return "it is of another extraction"


def records_of(points: NDArray[np.floating], times: Floats | None) -> NDArray[np.floating]:
    """Make records of trajectories, (n, 2 m); with times, (n, m), the departure comes last."""
    records = points.reshape(len(points), 2 * points.shape[1])
    return records if times is None else np.column_stack([records, times[:, 0]])


class PartRows(NamedTuple):
    """Some rows of a part."""

    points: NDArray[np.floating]  # (r, m, 2), in the precision of the file
    ids: RowIds  # whose they are
    times: Floats | None  # seconds of the clock, (r, m), NaN where unknown; None if not wanted


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
    merged: Merged = field(default_factory=Merged)  # names that were another one's spelling
    unnamed: int = 0  # subjects without a name, once all rows were read
    timing: Timing | None = None  # how times are counted; None where none are wanted

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(part_slice.rows for part_slice in self.slices)

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

    def read(self, part_slice: PartSlice) -> PartRows:
        """Read some rows, with times if they are wanted."""
        columns = [*self.schema.coordinates]
        if self.timing is not None:
            columns += self.schema.times
        where, table = self._table(part_slice, columns)
        read_points = _points_of_columns if len(self.schema.coordinates) > 1 else _points_of_lines
        points = read_points(where, table, self.schema)
        file = where.replace("{", "{{").replace("}", "}}")  # it is formatted
        refuse_off_earth(points, f"{file} has a point that")
        times = None
        if self.timing is not None:
            times = _times(where, table, self.schema)
            refuse_odd_times(times, f"{file}, row {{}}")
            known = ~np.isnan(times[:, 0])
            times[known] = self.timing.clock.of(times[known])
        return PartRows(points, row_ids(where, table, exact=self.subjects_exact), times)

    def read_ids(self, part_slice: PartSlice) -> RowIds:
        """Read whose some rows are, without points."""
        return row_ids(*self._table(part_slice, []), exact=self.subjects_exact)

    def _table(self, part_slice: PartSlice, columns: Sequence[str]) -> tuple[str, Any]:
        with _parquet(self.folder, part_slice.name) as (where, part):
            names = [*columns, *self.schema.kinds]
            table = part.read_row_groups([*part_slice.groups], names, use_threads=False)
        return where, table


def survey_parts(folder: Folder, times: str | None = None) -> Parts:
    """Look at the parts of a folder, without reading their rows; refuse some without times."""
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
                mine = mine._replace(times=_columns_of_times(part.schema_arrow, mine))
                untimed += sum(rows) * (not mine.times)
        if schema is not None:
            mine, schema = mine.filled(schema), schema.filled(mine)
            if mine != schema:
                msg = (
                    f"{where} is not like {slices[0].name}: {mine.difference(schema)}; "
                    "keep parts of one extraction in a folder"
                )
                raise BadInput(msg)
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
    single = False
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
        types = {fields.field(name).type for name in coordinates}
        single = types == {pa.float32()}
        if not all(map(pa.types.is_floating, types)):
            msg = f"{where} has coordinates that are no floating-point numbers"
            raise BadInput(msg)
    counts = told.get("counts", {})
    unknown = (counts.get("recordings of unknown subjects", 0), counts.get("recordings read", 0))
    trips = told.get("trips") is True
    return PartSchema(points, kinds, told.get("attribution"), coordinates, single, unknown, trips)


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


def _points_of_lines(where: str, table: Any, schema: PartSchema) -> Floats:
    read, row = [], 0
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
        read.append(lines.points.reshape(-1, schema.points, 2))
        row += len(batch)
    return np.concatenate(read)


def _points_of_columns(where: str, table: Any, schema: PartSchema) -> NDArray[np.floating]:
    kind = np.float32 if schema.single else np.float64
    points = np.empty((len(table), 2 * schema.points), dtype=kind)
    for number, name in enumerate(schema.coordinates):
        if table[name].null_count:
            msg = f"{where} has no value in column {name} of a row: leave such rows out"
            raise BadInput(msg)
        points[:, number] = table[name].to_numpy()
    return points.reshape(len(points), -1, 2)


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
