"""Reading a folder of Parquet parts, a slice of rows at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.files.geoparquet import expecting_geometries
from trajanon.files.wkb import read_lines
from trajanon.parts import column_ids
from trajanon.parts.column_ids import ColumnIds, TraceSubjects
from trajanon.parts.folder import Folder
from trajanon.parts.schema import PartSchema, coordinates_of, difference, filled, schema_of
from trajanon.subjects import Merged
from trajanon.tracks import refuse_off_earth

SLICE_ROWS = 100_000
"""Rows read at once, about; a larger row group is read whole."""

NUMBERS = 60 * SLICE_ROWS
"""Coordinates that may be read at once, whatever the memory: some 200 MB with copies of
them."""

_SUFFIXES = (".parquet", ".geoparquet")


class PartSlice(NamedTuple):
    """Row groups of a part that are read at once."""

    name: str  # of the part
    groups: tuple[int, ...]  # which of its row groups
    sizes: tuple[int, ...]  # rows of each of these
    first: int  # number of the first row among those of all parts

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(self.sizes)

    def parted(self, rows: int) -> "list[PartSlice]":
        """Slices of at most this number of rows, or of one row group."""
        slices, first = [], self.first
        for which in _together(self.sizes, rows):
            sizes = tuple(self.sizes[number] for number in which)
            groups = tuple(self.groups[number] for number in which)
            slices.append(PartSlice(self.name, groups, sizes, first))
            first += sum(sizes)
        return slices


class PartRows(NamedTuple):
    """Some rows."""

    points: NDArray[np.floating]  # latitude and longitude, (r, m, 2), in the precision of the file
    subject: Ints | None  # a number for whoever made each, (r,), the same in all parts
    nameless: NDArray[np.uint64]  # traces that name no subject in some of the rows
    nobody: int  # rows of which neither subject nor trace is known
    spellings: NDArray[np.uint64]  # of the subjects' names, as in `ColumnIds`


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A folder of parts."""

    folder: Folder  # where they are
    schema: PartSchema  # how trajectories stand in them
    slices: tuple[PartSlice, ...]  # in which they are read, in the order of the names
    named: TraceSubjects = field(default_factory=TraceSubjects)  # of traces named in some rows
    subjects_exact: bool = False
    merged: Merged = field(default_factory=Merged)  # names that were another one's spelling
    unnamed: int = 0  # subjects without a name, once all rows were read

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(part_slice.rows for part_slice in self.slices)

    def parted(self, rows: int) -> "Parts":
        """Read at most this number of rows at once, or one row group."""
        rows = min(rows, SLICE_ROWS)
        slices = [some for part_slice in self.slices for some in part_slice.parted(rows)]
        return replace(self, slices=tuple(slices))

    @property
    def knows_subjects(self) -> bool:
        """Whether something is known of subjects."""
        return bool(self.schema.known)

    def read(self, part_slice: PartSlice) -> PartRows:
        """Read some rows."""
        where = f"{self.folder}/{part_slice.name}"
        names = [name for name, _ in self.schema.known]
        lines = self.schema.geometry
        coordinates = [lines] if lines else coordinates_of(self.schema.points)
        with _parquet(self.folder, part_slice.name) as part:
            table = part.read_row_groups(
                list(part_slice.groups), [*coordinates, *names], use_threads=False
            )
        points: NDArray[np.floating] = (
            _points_of_lines(where, table[lines], self.schema.points)
            if lines
            else _points_of_columns(where, table, coordinates, self.schema.single)
        )
        file = where.replace("{", "{{").replace("}", "}}")  # it is formatted
        refuse_off_earth(points, f"{file} has a point that")
        if not names:
            none = np.empty(0, dtype=np.uint64)
            return PartRows(points, None, none, 0, none.reshape(0, 3))
        ids = self._ids(where, table)
        return PartRows(
            points,
            column_ids.subjects(ids, self.named, part_slice.first),
            column_ids.nameless_traces(ids),
            int(column_ids.unknown_rows(ids).sum()),
            next(iter(ids.values())).spellings,
        )

    def read_ids(self, part_slice: PartSlice) -> dict[str, ColumnIds]:
        """Read the subjects and traces of some rows, without points."""
        names = [name for name, _ in self.schema.known]
        with _parquet(self.folder, part_slice.name) as part:
            table = part.read_row_groups(list(part_slice.groups), names, use_threads=False)
        return self._ids(f"{self.folder}/{part_slice.name}", table)

    def _ids(self, where: str, table: Any) -> dict[str, ColumnIds]:
        known = dict(self.schema.known)
        return column_ids.column_ids(where, table, known, exact=self.subjects_exact)


def survey_parts(folder: Folder) -> Parts:
    """SliceSums at the parts of a folder, without reading their rows."""
    names = [name for name in folder.names() if is_read(name)]
    schema, slices, first = None, [], 0
    for name in names:
        with _parquet(folder, name) as part:
            sizes = [
                part.metadata.row_group(number).num_rows
                for number in range(part.metadata.num_row_groups)
            ]
            if not sum(sizes):
                continue
            mine = schema_of(f"{folder}/{name}", part)
        if schema is not None:
            mine, schema = filled(mine, schema), filled(schema, mine)
            if mine != schema:
                msg = (
                    f"{folder}/{name} is not like {slices[0].name}: "
                    f"{difference(mine, schema)}; keep parts of one extraction in a "
                    "folder"
                )
                raise BadInput(msg)
        schema = mine
        whole = PartSlice(name, tuple(range(len(sizes))), tuple(sizes), first)
        slices += whole.parted(SLICE_ROWS)
        first += whole.rows
    if schema is None:
        what = f"the {len(names)} parts in {folder} hold" if names else f"{folder} has"
        msg = (
            f"{what} no trajectories; make parts with: trajanon extract --partition "
            "100000 --out FOLDER"
        )
        raise FileProblem(msg)
    return Parts(folder, schema, tuple(slices))


def is_read(name: str) -> bool:
    """Whether a file is a part; hidden ones are drafts, maybe of an existing one."""
    return name.lower().endswith(_SUFFIXES) and not name.startswith(".")


def _together(sizes: Sequence[int], rows: int) -> list[tuple[int, ...]]:
    """Put row groups together that follow each other, up to this number of rows."""
    together: list[tuple[int, ...]] = []
    held = rows
    for number, size in enumerate(sizes):
        if not size:
            continue
        if held + size > rows:
            together.append(())
            held = 0
        together[-1] += (number,)
        held += size
    return together


@contextmanager
def _parquet(folder: Folder, name: str) -> Iterator[Any]:
    """Open a part; an error names it.

    Arrow must not read this file of Python's in threads of its own: see `arrow.opened`.
    """
    import pyarrow.parquet as pq

    with arrow.reading(f"{folder}/{name}"), folder.open(name) as file:
        yield pq.ParquetFile(file)


def _points_of_lines(where: str, column: Any, points: int) -> Floats:
    read, row = [], 0
    for batch in column.chunks:
        with expecting_geometries(where):
            lines = read_lines(batch)
        right = lines.flat & (lines.size == points)
        if not right.all():
            msg = (
                f"{where}, row {row + np.argmin(right)}: every trajectory is a "
                f"LineString of {points} points without heights, as the first one"
            )
            raise BadInput(msg)
        read.append(lines.points.reshape(-1, points, 2))
        row += len(batch)
    return np.concatenate(read)


def _points_of_columns(
    where: str, table: Any, names: Sequence[str], single: bool
) -> NDArray[np.floating]:
    kind = np.float32 if single else np.float64
    records = np.empty((len(table), len(names)), dtype=kind)
    for number, name in enumerate(names):
        if table[name].null_count:
            msg = f"{where} has no value in column {name} of a row: leave such rows out"
            raise BadInput(msg)
        records[:, number] = table[name].to_numpy()
    return records.reshape(len(records), -1, 2)


class ChangeGuard:
    """Refuses to go on if parts were changed while they were read.

    Rows are read twice. If they were others the second time, a group could have too few subjects,
    or rows could be missing.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._before = self._now()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read in this block."""
        try:
            yield
        except Exception as error:
            self._refuse_changes(error)
            raise
        self._refuse_changes(None)

    def _now(self) -> dict[str, str]:
        states = self._folder.states()
        return {name: state for name, state in states.items() if is_read(name)}

    def _refuse_changes(self, cause: Exception | None) -> None:
        now = self._now()
        for name in sorted(self._before.keys() | now.keys()):
            if now.get(name) != self._before.get(name):
                msg = (
                    f"{self._folder}/{name} was written or removed while it was read: "
                    "begin again once nobody writes there"
                )
                raise FileProblem(msg) from cause
