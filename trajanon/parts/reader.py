"""Reading a folder of Parquet parts, a slice of rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from trajanon.align.windows import without_ends
from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.files.parquet_parts import ParquetParts, RowGroups, parquet_of, part_opened
from trajanon.files.row_ids import ID_COLUMNS, ColumnIds, RowIds, row_ids
from trajanon.files.trajectory_files import look_at_schema, provenance_of, read_rows
from trajanon.remote_folder import Folder
from trajanon.subjects import Identities
from trajanon.tracks import refuse_off_earth
from trajanon.trajectories import Trajectories, refuse_odd_times

SLICE_ROWS = 100_000
"""Rows read at once, about; a larger row group is read whole."""

COORDINATES = 60 * SLICE_ROWS
"""Coordinates that may be read at once, whatever the memory: some 200 MB with copies of them."""

_POINT = 16  # bytes of a point in a line


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

    @property
    def numbers(self) -> slice:
        """The rows among those of all parts."""
        return slice(self.first, self.first + self.rows)

    def parted(self, rows: int) -> "list[PartSlice]":
        """Slices of at most this number of rows, or of one row group."""
        slices: list[PartSlice] = []
        first = self.first
        for group, size in zip(self.groups, self.sizes, strict=True):
            if not slices or slices[-1].rows + size > rows:
                slices.append(PartSlice(self.name, first))
            groups, sizes = slices[-1].groups, slices[-1].sizes
            slices[-1] = slices[-1]._replace(groups=(*groups, group), sizes=(*sizes, size))
            first += size
        return slices


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A folder of parts that are read slice by slice."""

    folder: Folder  # where they are
    schema: Any  # of Arrow, of all parts
    slices: tuple[PartSlice, ...]  # in the order of the names
    points: int  # of each trajectory
    track_points: int  # of a row, about; 0 where windows do not slide
    timed: bool  # whether times are wanted
    subjects_exact: bool
    ids: RowIds | None = None  # of all rows, once they were read

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(part_slice.rows for part_slice in self.slices)

    @property
    def columns(self) -> int:
        """Numbers of a row: coordinates, and with times these and the departure."""
        return 2 * self.points + (self.points + 1 if self.timed else 0)

    @property
    def names_subjects(self) -> bool:
        """Whether anything is known of subjects."""
        return not {*ID_COLUMNS}.isdisjoint(self.schema.names)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """As in a file of all rows."""
        provenance = provenance_of(self.schema)
        if self.ids is None or not self.names_subjects:
            return provenance
        return Identities(None, None, self.ids.unnamed, self.ids.merged).counted_in(provenance)

    def slice_of(self, rows: Ints) -> Ints:
        """Find the number of the slice that each row is in."""
        first = [part_slice.first for part_slice in self.slices]
        return np.searchsorted(first, rows, side="right") - 1

    def fitting(self, capacity: int) -> "Parts":
        """Read no more at once than fits, where lines have many points."""
        most = max(capacity, min(SLICE_ROWS, COORDINATES // self.columns))
        slices = [one for some in self.slices for one in some.parted(min(most, SLICE_ROWS))]
        largest = max(slices, key=lambda one: one.rows)
        if largest.rows > most:
            raise BadInput(
                f"{self.folder}/{largest.name} has a row group of {largest.rows:,} "
                f"trajectories, and only {most:,} fit into the memory at once: write "
                "it with smaller row groups, or raise `memory`"
            )
        return replace(self, slices=tuple(slices))

    def read(self, part_slice: PartSlice, *, tracks: bool = False) -> Trajectories:
        """Read rows; a trace is the number of its row among those of all parts.

        With times, if they are wanted; with tracks, if windows may slide.
        """
        where, file = self._opened(part_slice)
        points, runs, times = read_rows(
            where, file, tracks=tracks and self.track_points > 0, times=self.timed
        )
        if points.shape[1] != self.points:
            raise BadInput(
                f"{where} has trajectories of {points.shape[1]} points, and not {self.points}"
            )
        named = where.replace("{", "{{").replace("}", "}}")  # it is formatted
        refuse_off_earth(points, f"{named}, row {{}} has a point that")
        if times is not None:
            refuse_odd_times(times, f"{named}, row {{}}")
        if runs is not None and runs.recording is None:  # or no other row has anything of them
            runs = without_ends(runs, self.points)
        subject = None
        if self.names_subjects and self.ids is not None:
            subject = self.ids.subject[part_slice.numbers]
        trace = part_slice.first + np.arange(part_slice.rows)
        return Trajectories(points, subject, trace, self.provenance, runs, times)

    def read_ids(self, part_slice: PartSlice) -> tuple[ColumnIds, ColumnIds]:
        """Read the subjects and traces of some rows, without points."""
        where, file = self._opened(part_slice)
        return row_ids(where, file, exact=self.subjects_exact)

    def _opened(self, part_slice: PartSlice) -> tuple[str, ParquetParts]:
        opened = partial(_rows_opened, self.folder, part_slice.name, part_slice.groups)
        file = ParquetParts([opened], self.schema, sum(part_slice.sizes))
        return f"{self.folder}/{part_slice.name}", file


@contextmanager
def _rows_opened(folder: Folder, name: str, groups: Sequence[int]) -> Iterator[RowGroups]:
    with part_opened(folder, name) as file:
        yield RowGroups(file, groups)


def survey_parts(folder: Folder, *, align: bool, timed: bool, exact: bool) -> Parts:
    """Look at the parts of a folder, without reading their rows; parts that differ are refused."""
    slices: list[PartSlice] = []
    first = 0
    with parquet_of(folder, look_at_schema) as file:
        for name, rows in file.groups.items():
            filled = tuple(group for group, size in enumerate(rows) if size)
            whole = PartSlice(name, first, filled, tuple(rows[group] for group in filled))
            slices += whole.parted(SLICE_ROWS)
            first += whole.rows
        schema, size = file.schema_arrow, 0
        if align and "track" in schema.names:
            with file.opened[0]() as part:
                about, place = part.metadata, schema.get_field_index("track")
                held = [about.row_group(number) for number in range(about.num_row_groups)]
                stored = sum(group.column(place).total_uncompressed_size for group in held)
                size = max(stored // (_POINT * about.num_rows), 1)
    parts = Parts(folder, schema, tuple(slices), 0, size, timed, exact)
    some, _, _ = read_rows(*parts._opened(slices[0]), tracks=False, times=False)
    return replace(parts, points=some.shape[1])
