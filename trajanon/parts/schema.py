"""The schema of a folder of parts: how trajectories are written in them."""

from dataclasses import dataclass, replace
from typing import Any, NotRequired, TypedDict

from trajanon.errors import BadInput
from trajanon.files.geoparquet import described, expecting_geometries, refuse_other_system
from trajanon.files.json_types import parsed
from trajanon.files.wkb import read_lines
from trajanon.parts.column_ids import ID_COLUMNS, NO_VALUES


class _Provenance(TypedDict):
    """What is read of the provenance in a part."""

    attribution: NotRequired[str | None]
    counts: NotRequired[dict[str, int]]


@dataclass(frozen=True, slots=True)
class PartSchema:
    """How trajectories are written in a part: the same in all parts of a folder."""

    geometry: str  # the column of lines; empty if each coordinate is a column: lat1, lon1, ...
    points: int  # of each trajectory
    single: bool  # whether coordinates have single precision
    known: tuple[tuple[str, str], ...]  # of ``subject`` and ``trace``, those there are, and kinds
    attribution: str | None  # the line that must be shown with the data
    unknown: tuple[int, int]  # recordings that name no subject, and recordings read


def schema_of(where: str, part: Any) -> PartSchema:
    """Read the schema of a part that has rows."""
    import pyarrow as pa

    schema = part.schema_arrow
    metadata = schema.metadata or {}
    if len(set(schema.names)) < len(schema.names):
        msg = f"{where} has several columns of the same name; leave out all but one"
        raise BadInput(msg)
    known = tuple(
        (name, _kind(where, schema.field(name))) for name in ID_COLUMNS if name in schema.names
    )
    try:
        told = parsed(metadata.get(b"trajanon", b"{}"), _Provenance)
    except BadInput as error:
        msg = f"{where} has metadata that cannot be read, {error}; extract it again"
        raise BadInput(msg) from error
    counts = told.get("counts", {})
    unknown = (counts.get("recordings of unknown subjects", 0), counts.get("recordings read", 0))
    if b"geo" in metadata:
        geo = described(schema, where)
        refuse_other_system(where, geo)
        geometry = geo["primary_column"]
        points, single = _points_of_first(where, part, geometry), False
        if points < 2:
            msg = f"{where} begins with a geometry that is no line of two points or more"
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
        types = {schema.field(name).type for name in coordinates_of(points)}
        single = types == {pa.float32()}
        if not single and not all(pa.types.is_floating(kind) for kind in types):
            msg = f"{where} has coordinates that are no floating-point numbers"
            raise BadInput(msg)
    return PartSchema(geometry, points, single, known, told.get("attribution"), unknown)


def filled(schema: PartSchema, other: PartSchema) -> PartSchema:
    """Give columns without any value the kind that they have in another part."""
    theirs = dict(other.known)
    return replace(
        schema,
        known=tuple(
            (name, theirs.get(name, kind) if kind == NO_VALUES else kind)
            for name, kind in schema.known
        ),
    )


def _kind(where: str, field: Any) -> str:
    """Tell numbers from names: two parts must not write one subject in two ways."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_null(kind):
        return NO_VALUES
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
    for batch in part.iter_batches(1, columns=[geometry], use_threads=False):
        if len(batch):
            with expecting_geometries(where):
                return int(read_lines(batch.column(0)).size[0])
    raise AssertionError(where)  # asked only of parts that have rows


def difference(one: PartSchema, other: PartSchema) -> str:
    """Say how a part is not like another one."""
    if one.points != other.points:
        return f"its trajectories have {one.points} points, and not {other.points}"
    if one.known != other.known:
        mine, theirs = (
            ", ".join(f"{name} ({kind})" for name, kind in schema.known) or "nothing"
            for schema in (one, other)
        )
        return f"of subjects and traces it has {mine}, and not {theirs}"
    if one.attribution != other.attribution:
        return f"it carries {one.attribution!r}, and not {other.attribution!r}"
    if (one.geometry, one.single) != (other.geometry, other.single):
        return "its coordinates are written in another way"
    return "it is of another extraction"


def coordinates_of(points: int) -> list[str]:
    """Names of the columns of trajectories of this number of points."""
    return [f"{name}{number}" for number in range(1, points + 1) for name in ("lat", "lon")]
