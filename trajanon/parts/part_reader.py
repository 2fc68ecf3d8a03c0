"""What a folder of Parquet parts holds, read a unit of rows at a time."""

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
from trajanon.parts.column_ids import Named, Said, missing, nameless, subjects, what_is_said
from trajanon.parts.folder import Folder
from trajanon.parts.schema import Form, coordinates_of, difference, filled, form_of
from trajanon.subjects import Merged
from trajanon.tracks import on_earth

UNIT = 100_000
"""Rows that are read at once, about; a row group that has more is read whole."""

NUMBERS = 60 * UNIT
"""Coordinates that may be read at once, whatever the memory: some 200 MB with copies of
them."""

_SUFFIXES = (".parquet", ".geoparquet")


class Unit(NamedTuple):
    """Row groups of a part that are read at once."""

    name: str  # of the part
    groups: tuple[int, ...]  # which of its row groups
    sizes: tuple[int, ...]  # rows of each of these
    first: int  # number of the first row among those of all parts

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(self.sizes)

    def parted(self, rows: int) -> "list[Unit]":
        """Units of at most so many rows, or of one row group."""
        units, first = [], self.first
        for which in _together(self.sizes, rows):
            sizes = tuple(self.sizes[number] for number in which)
            groups = tuple(self.groups[number] for number in which)
            units.append(Unit(self.name, groups, sizes, first))
            first += sum(sizes)
        return units


class Part(NamedTuple):
    """Some rows."""

    points: NDArray[np.floating]  # latitude and longitude, (r, m, 2), in the precision of the file
    subject: Ints | None  # a number for whoever made each, (r,), the same in all parts
    nameless: NDArray[np.uint64]  # traces that name no subject in some of the rows
    nobody: int  # rows of which neither subject nor trace is known
    spellings: NDArray[np.uint64]  # of the subjects' names, as in `trajanon.parts.column_ids.Said`


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A folder of parts."""

    folder: Folder  # where they are
    form: Form  # how trajectories stand in them
    units: tuple[Unit, ...]  # in which they are read, in the order of the names
    named: Named = field(default_factory=Named.none)  # who traces are that name nobody in some rows
    subjects_exact: bool = False
    merged: Merged = field(default_factory=Merged)  # names that were another one's spelling
    unnamed: int = 0  # subjects without a name, once all rows were read

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(unit.rows for unit in self.units)

    def parted(self, rows: int) -> "Parts":
        """Read at most so many rows at once, or one row group."""
        rows = min(rows, UNIT)
        units = [some for unit in self.units for some in unit.parted(rows)]
        return replace(self, units=tuple(units))

    @property
    def knows_subjects(self) -> bool:
        """Whether something is known of subjects."""
        return bool(self.form.known)

    def read(self, unit: Unit) -> Part:
        """Read some rows."""
        where = f"{self.folder}/{unit.name}"
        names = [name for name, _ in self.form.known]
        lines = self.form.geometry
        coordinates = [lines] if lines else coordinates_of(self.form.points)
        with _parquet(self.folder, unit.name) as part:
            table = part.read_row_groups(
                list(unit.groups), [*coordinates, *names], use_threads=False
            )
        points: NDArray[np.floating] = (
            _points_of_lines(where, table[lines], self.form.points)
            if lines
            else _points_of_columns(where, table, coordinates, self.form.single)
        )
        if not on_earth(points):
            msg = (
                f"{where} has a point that is not on Earth; latitudes lie in -90..90, "
                "longitudes in -180..180 (are the two swapped?)"
            )
            raise BadInput(msg)
        if not names:
            none = np.empty(0, dtype=np.uint64)
            return Part(points, None, none, 0, none.reshape(0, 3))
        said = self._said(where, table)
        return Part(
            points,
            subjects(said, self.named, unit.first),
            nameless(said),
            int(missing(said).sum()),
            next(iter(said.values())).spellings,
        )

    def read_whose(self, unit: Unit) -> dict[str, Said]:
        """Read what some rows say of whose they are, without points; as `read`."""
        names = [name for name, _ in self.form.known]
        with _parquet(self.folder, unit.name) as part:
            table = part.read_row_groups(list(unit.groups), names, use_threads=False)
        where = f"{self.folder}/{unit.name}"
        return self._said(where, table)

    def _said(self, where: str, table: Any) -> dict[str, Said]:
        known = dict(self.form.known)
        return what_is_said(where, table, known, exact=self.subjects_exact)


def survey_parts(folder: Folder) -> Parts:
    """Look at the parts of a folder, without reading their rows."""
    names = [name for name in folder.names() if is_read(name)]
    form, units, first = None, [], 0
    for name in names:
        with _parquet(folder, name) as part:
            sizes = [
                part.metadata.row_group(number).num_rows
                for number in range(part.metadata.num_row_groups)
            ]
            if not sum(sizes):
                continue
            mine = form_of(f"{folder}/{name}", part)
        if form is not None:
            mine, form = filled(mine, form), filled(form, mine)
            if mine != form:
                msg = (
                    f"{folder}/{name} is not like {units[0].name}: "
                    f"{difference(mine, form)}; keep parts of one extraction in a "
                    "folder"
                )
                raise BadInput(msg)
        form = mine
        whole = Unit(name, tuple(range(len(sizes))), tuple(sizes), first)
        units += whole.parted(UNIT)
        first += whole.rows
    if form is None:
        what = f"the {len(names)} parts in {folder} hold" if names else f"{folder} has"
        msg = (
            f"{what} no trajectories; make parts with: trajanon extract --partition "
            "100000 --out FOLDER"
        )
        raise FileProblem(msg)
    return Parts(folder, form, tuple(units))


def is_read(name: str) -> bool:
    """Whether a file is a part; hidden ones are drafts, maybe of one that is there."""
    return name.lower().endswith(_SUFFIXES) and not name.startswith(".")


def _together(sizes: Sequence[int], rows: int) -> list[tuple[int, ...]]:
    """Put row groups together that follow each other, up to so many rows."""
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
    """Open a part; say which one it was if it cannot be read.

    It is a file of Python's, which Arrow must not read in threads of its own: see
    `trajanon.files.arrow`.
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
