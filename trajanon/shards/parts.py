"""What a folder of Parquet parts holds, read a unit of rows at a time."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem, TrajanonError
from trajanon.files.geoparquet import refuse_other_system
from trajanon.files.lines import from_wkb
from trajanon.shards.folder import Folder
from trajanon.shards.whose import WHOSE, subjects
from trajanon.tracks import on_earth

UNIT = 100_000
"""Rows that are read at once, about; a row group that has more is read whole."""

_SUFFIXES = (".parquet", ".geoparquet")


class Unit(NamedTuple):
    """Row groups of a part that are read at once.

    Attributes
    ----------
    name
        Of the part.
    groups
        Which of its row groups.
    first, rows
        Number of the first row among those of all parts, and how many rows.
    """

    name: str
    groups: tuple[int, ...]
    first: int
    rows: int


@dataclass(frozen=True, slots=True)
class Form:
    """How trajectories stand in a part: the same in all parts of a folder.

    Attributes
    ----------
    geometry
        The column of lines; empty if each coordinate is a column, lat1, lon1, ...
    points
        Of each trajectory.
    single
        Whether coordinates have single precision.
    known
        Which of the columns ``subject`` and ``trace`` there are, and of what kind.
    attribution
        The line that must be shown with the data.
    unknown
        Recordings that name no subject, and those read, where the source tells.
    """

    geometry: str
    points: int
    single: bool
    known: tuple[tuple[str, str], ...]
    attribution: str | None
    unknown: tuple[int, int]


class Part(NamedTuple):
    """Some rows.

    Attributes
    ----------
    points
        Latitude and longitude, (r, m, 2), in the precision of the file.
    subject
        A number for whoever made each, (r,), the same in all parts; None if nothing is
        known of subjects.
    """

    points: NDArray[np.floating]
    subject: NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class Parts:
    """A folder of parts.

    Attributes
    ----------
    folder
        Where they are.
    form
        How trajectories stand in them.
    units
        In which they are read, in the order of the names.
    """

    folder: Folder
    form: Form
    units: tuple[Unit, ...]

    @property
    def n(self) -> int:
        """Trajectories in all parts."""
        return sum(unit.rows for unit in self.units)

    @property
    def knows_subjects(self) -> bool:
        """Whether something is known of subjects."""
        return bool(self.form.known)

    def read(self, unit: Unit) -> Part:
        """Read some rows.

        Raises
        ------
        BadInput
            If they are not trajectories, or not of as many points as the others.
        FileProblem
            If they cannot be read.
        """
        where = f"{self.folder}/{unit.name}"
        names = [name for name, _ in self.form.known]
        lines = self.form.geometry
        coordinates = [lines] if lines else _coordinates(self.form.points)
        with _parquet(self.folder, unit.name) as part:
            table = part.read_row_groups(list(unit.groups), [*coordinates, *names])
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
            return Part(points, None)
        return Part(points, subjects(where, table, dict(self.form.known), unit.first))


def survey_parts(folder: Folder) -> Parts:
    """Look at the parts of a folder, without reading their rows.

    Raises
    ------
    FileProblem
        If there is no part, or one cannot be read.
    BadInput
        If one does not hold trajectories, or other ones than the first.
    """
    names = [name for name in folder.names() if _is_read(name)]
    form, units, first = None, [], 0
    for name in names:
        with _parquet(folder, name) as part:
            sizes = [
                part.metadata.row_group(number).num_rows
                for number in range(part.metadata.num_row_groups)
            ]
            if not sum(sizes):
                continue
            mine = _form(f"{folder}/{name}", part)
        if form is not None and mine != form:
            msg = (
                f"{folder}/{name} is not like {units[0].name}: "
                f"{_difference(mine, form)}; keep parts of one extraction in a folder"
            )
            raise BadInput(msg)
        form = mine
        for groups in _together(sizes):
            rows = sum(sizes[number] for number in groups)
            units.append(Unit(name, groups, first, rows))
            first += rows
    if form is None:
        what = f"the {len(names)} parts in {folder} hold" if names else f"{folder} has"
        msg = (
            f"{what} no trajectories; make parts with: trajanon extract --partition "
            "100000 --out FOLDER"
        )
        raise FileProblem(msg)
    return Parts(folder, form, tuple(units))


def _is_read(name: str) -> bool:
    """Whether a file is a part; hidden ones are drafts, maybe of one that is there."""
    return name.lower().endswith(_SUFFIXES) and not name.startswith(".")


def _together(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Put row groups together that follow each other, up to `UNIT` rows."""
    together: list[tuple[int, ...]] = []
    held = UNIT
    for number, size in enumerate(sizes):
        if not size:
            continue
        if held + size > UNIT:
            together.append(())
            held = 0
        together[-1] += (number,)
        held += size
    return together


@contextmanager
def _parquet(folder: Folder, name: str) -> Iterator[Any]:
    """Open a part; say which one it was if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with folder.open(name) as file:
            yield pq.ParquetFile(file)
    except TrajanonError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        msg = (
            f"cannot read {folder}/{name} as Parquet: {reason}; write it again, or "
            "take it out of the folder"
        )
        raise FileProblem(msg) from error


def _form(where: str, part: Any) -> Form:
    """See how trajectories stand in a part that has rows."""
    import pyarrow as pa

    schema = part.schema_arrow
    metadata = schema.metadata or {}
    if len(set(schema.names)) < len(schema.names):
        msg = f"{where} has several columns of the same name; leave out all but one"
        raise BadInput(msg)
    known = tuple(
        (name, _kind(where, schema.field(name)))
        for name in WHOSE
        if name in schema.names
    )
    try:
        geo = json.loads(metadata.get(b"geo", b"{}"))
        geometry = str(geo.get("primary_column", ""))
        provenance = json.loads(metadata.get(b"trajanon", b"{}"))
        attribution = provenance.get("attribution")
        if not isinstance(attribution, str | None):
            raise TypeError
        counts = provenance.get("counts", {})
        unknown = (
            int(counts.get("recordings of unknown subjects", 0)),
            int(counts.get("recordings read", 0)),
        )
    except (ValueError, AttributeError, TypeError) as error:
        msg = f"{where} has metadata that cannot be read; extract it again"
        raise BadInput(msg) from error
    if geometry in schema.names:
        refuse_other_system(where, geo, geometry)
        points, single = _points_of_first(where, part, geometry), False
        if points < 2:
            msg = (
                f"{where} begins with a geometry that is no line of two points or more"
            )
            raise BadInput(msg)
    else:
        geometry = ""
        points = 0
        while {f"lat{points + 1}", f"lon{points + 1}"} <= set(schema.names):
            points += 1
        if points < 2:
            msg = (
                f"{where} holds no trajectories: neither lines (GeoParquet) nor "
                "columns lat1, lon1, lat2, lon2, ..."
            )
            raise BadInput(msg)
        types = {schema.field(name).type for name in _coordinates(points)}
        single = types == {pa.float32()}
        if not single and not all(pa.types.is_floating(kind) for kind in types):
            msg = f"{where} has coordinates that are no floating-point numbers"
            raise BadInput(msg)
    return Form(geometry, points, single, known, attribution, unknown)


def _kind(where: str, field: Any) -> str:
    """Tell numbers from names: two parts must not write one subject in two ways."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "numbers"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "names"
    msg = f"{where} has a column {field.name!r} that holds neither numbers nor names"
    raise BadInput(msg)


def _points_of_first(where: str, part: Any, geometry: str) -> int:
    """How many points the first line has."""
    import shapely

    for batch in part.iter_batches(1, columns=[geometry]):
        if len(batch):
            try:
                line = shapely.from_wkb(batch.column(0).to_numpy(zero_copy_only=False))
            except (shapely.errors.ShapelyError, TypeError) as error:
                msg = f"{where} has a geometry column that cannot be read"
                raise BadInput(msg) from error
            return int(shapely.get_num_coordinates(line[0]))
    raise AssertionError(where)  # asked only of parts that have rows


def _difference(one: Form, other: Form) -> str:
    if one.points != other.points:
        return f"its trajectories have {one.points} points, and not {other.points}"
    if one.known != other.known:
        mine, theirs = (
            ", ".join(f"{name} ({kind})" for name, kind in form.known) or "nothing"
            for form in (one, other)
        )
        return f"of subjects and traces it has {mine}, and not {theirs}"
    if one.attribution != other.attribution:
        return f"it carries {one.attribution!r}, and not {other.attribution!r}"
    if (one.geometry, one.single) != (other.geometry, other.single):
        return "its coordinates are written in another way"
    return "it is of another extraction"


def _coordinates(points: int) -> list[str]:
    return [
        f"{name}{number}" for number in range(1, points + 1) for name in ("lat", "lon")
    ]


def _points_of_lines(where: str, column: Any, points: int) -> NDArray[np.float64]:
    import shapely

    read, row = [], 0
    for batch in column.chunks:
        try:
            lines = from_wkb(batch)
        except (shapely.errors.ShapelyError, TypeError) as error:
            msg = f"{where} has a geometry column that cannot be read"
            raise BadInput(msg) from error
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
