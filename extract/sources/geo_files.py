"""GeoJSON, GeoPackage, GeoParquet, Shapefile, FlatGeobuf, MF-JSON (OGC 19-045r3), MDS -> traces."""

import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import other_encoding, seems_utf16
from trajanon.common.number_text import number_of
from trajanon.extract.sources.features import times_in, traces_of_features
from trajanon.extract.sources.source_tables import PARQUET
from trajanon.extract.sources.streams import (
    BYTE_ORDER_MARK,
    DAMAGED,
    POINT,
    Reading,
    check_ratio,
    json_of,
    plain_value,
    unpacked,
)
from trajanon.extract.sources.trace_pieces import number
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, geometries_of, opened_parquet
from trajanon.files.arrow import reading as read_errors
from trajanon.files.geoparquet import described

NO_FEATURE = "lines that are no features"
OTHERS = "features that are no moving points"
UNREAD = "features or trips that could not be read"
SINGLE_POINTS = "moving points of fewer than two places"
WITHOUT_ROUTE = "trips without a route"

_SQLITE = b"SQLite format 3\x00"
_SHAPEFILE = b"\x00\x00\x27\x0a"
_FLAT_GEOBUF = b"fgb\x03"
_HEAD = 1 << 20  # bytes, in which the first position of a GeoJSON stands
_NUMBER = rb"\s*(?:-?\d[-+.\deE]*|null)\s*"
_FOURTH_NUMBER = re.compile(
    rb'"coordinates"\s*:\s*(?:\[\s*){2,3}' + rb",".join([_NUMBER] * 4) + rb"\]"
)
_BEFORE_JSON = BYTE_ORDER_MARK + b"\x1e \t\r\n"  # the second is a separator

# As GDAL writes a GPX file: the same recordings as points with times, and as lines without; and
# routes and waypoints, which are no recordings.
_OF_GPX = ("track_points", "tracks", "routes", "route_points", "waypoints")
BESIDE_TRACKS = "layers of a GPX file with the same recordings, or with none"

_WGS_84 = "OGC:CRS84"
_KINDS = ("MovingPoint", "MovingGeomPoint", "MovingGeogPoint")  # the last two are MobilityDB's


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the traces of a file of points or lines; coordinates are those of the geometries."""
    with Reading().open(path) as stream:
        packed = unpacked(stream) is not stream
    if not packed:
        reading.read(path.stat().st_size)
        yield from _of_file(path, reading)
        return
    with tempfile.TemporaryDirectory(prefix="trajanon-") as folder:
        plain = Path(folder, path.stem)
        try:
            with reading.unpacked(path) as stream, plain.open("wb") as file:
                for piece in stream.pieces():
                    file.write(piece)
        except DAMAGED as error:
            raise FileProblem(f"cannot unpack {path}: {error}") from error
        yield from _of_file(plain, reading)


def _of_file(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file that is not packed, by how it begins."""
    with path.open("rb") as file:
        head = file.read(_HEAD)

    names: list[str | None] = [None]
    if head.startswith(PARQUET):
        yield from _of_parquet(path, reading)
        return
    if head.startswith(_SQLITE):
        names = _layers_of(path, reading)
    elif head.startswith(_SHAPEFILE):
        _refuse_part_of_shapefile(path, head, reading.what)
    elif not head.startswith(_FLAT_GEOBUF):
        _refuse_other_text(head, reading.what)
        if _FOURTH_NUMBER.search(head):  # which GDAL ignores
            yield from read_mf_json(path, reading)
            return

    yield from _of_layers(path, names, reading)


def _of_layers(path: Path, names: Sequence[str | None], reading: Reading) -> Iterator[Trace]:
    """Read the layers that hold traces; others are left out with a warning."""
    refused: list[str] = []
    for name in names:
        layer = reading
        if len(names) > 1:
            what = f"{reading.what}, layer {name!r}"
            layer = replace(reading, what=what, label=f"{reading.label}:{name}")
        try:
            yield from _of_layer(path, name, layer)
        except BadInput as error:
            refused.append(str(error))

    if len(refused) == len(names):
        raise BadInput(refused[0] if refused else f"{reading.what} holds no layer")
    for reason in refused:
        reading.warn("layers", f"{reason}; this layer is left out", reason, left_out=True)


def _refuse_other_text(head: bytes, what: str) -> None:
    """Refuse what cannot be GeoJSON."""
    if seems_utf16(head):
        raise FileProblem(f"{what} {other_encoding(head)}")
    if not head.lstrip(_BEFORE_JSON).startswith(b"{"):
        why = "begins like no GeoJSON, GeoPackage, GeoParquet, Shapefile or FlatGeobuf"
        raise FileProblem(f"{what} {why if head else 'is empty'}; give it its suffix")


def _refuse_part_of_shapefile(path: Path, head: bytes, what: str) -> None:
    """Refuse a Shapefile that is cut off, or without the files in which GDAL looks for ids."""
    beside = {file.suffix.lower() for file in path.parent.glob(f"{path.stem}.*")}
    if not {".shx", ".dbf"} <= beside:
        raise FileProblem(f"{what} needs the .shx and .dbf of its Shapefile beside it")
    size, size_in_header = path.stat().st_size, 2 * int.from_bytes(head[24:28], "big")
    if size < size_in_header:
        raise FileProblem(
            f"{what} is damaged or cut off: it has {size:,} of {size_in_header:,} bytes"
        )


def _layers_of(path: Path, reading: Reading) -> list[str | None]:
    """List the layers of a GeoPackage; of one made of GPX those that hold its recordings."""
    import pyogrio

    with _by_gdal(reading.what):
        names = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
    recorded = [name for name in _OF_GPX[:2] if name in names]
    kept = [name for name in names if name in recorded[:1] or name not in _OF_GPX]
    if not recorded:
        return list(names)

    reading.counts.update([BESIDE_TRACKS] * (len(names) - len(kept)))
    return list(kept)


def _of_layer(path: Path, name: str | None, reading: Reading) -> Iterator[Trace]:
    import pyogrio

    with _by_gdal(reading.what):
        info = pyogrio.read_info(path, layer=name)
        if info["geometry_type"] is None:
            raise BadInput(f"{reading.what} has no geometries; save its table as CSV or Parquet")
        # As texts, times keep their zones, even if these differ.
        meta, table = pyogrio.raw.read_arrow(path, layer=name, datetime_as_string=True)

    column = meta["geometry_name"] or "wkb_geometry"
    try:  # after a feature without geometry, GDAL may give geometries that overlap
        table[column].validate(full=True)
    except pa.ArrowInvalid as error:
        why = f"which GDAL reads in no {info['driver']}; leave them out, or save it as GeoPackage"
        raise FileProblem(f"{reading.what} has features without geometry, {why}") from error

    if info["driver"] == "FlatGeobuf" and table.num_rows < info["features"]:
        read_of_all = f"{table.num_rows:,} of {number_of(info['features'], 'feature')}"
        raise FileProblem(f"{reading.what} is damaged or cut off: it has {read_of_all}")

    if info["driver"] == "GeoJSONSeq":
        with path.open("rb") as file:
            separated = file.read(1) == b"\x1e"
            file.seek(0)
            lines = sum(line.count(b"\x1e") if separated else not line.isspace() for line in file)
        if lines > table.num_rows:
            reading.counts[NO_FEATURE] += lines - table.num_rows

    yield from traces_of_features(
        *_features(table, column, reading.what),
        info["crs"],
        reading,
        # Without an index, a FlatGeobuf has its features as they were written.
        sorted_by_place=(
            info["driver"] == "FlatGeobuf" and info["capabilities"]["fast_spatial_filter"]
        ),
    )


@contextmanager
def _by_gdal(what: str) -> Iterator[None]:
    """Report in one sentence what GDAL cannot read; its warnings do not help here."""
    errors = (RuntimeError, ValueError, LookupError, TypeError)
    with read_errors(what, "points or lines", *errors), warnings.catch_warnings(action="ignore"):
        yield


def _features(
    table: pa.Table, geometry: str, what: str, encoding: str = "WKB"
) -> tuple[NDArray[Any], pd.DataFrame]:
    """Read geometries and attributes; geometries that are unreadable become None."""
    column = table[geometry].combine_chunks()
    attributes = frame(table.drop_columns([geometry]), what, integer_object_nulls=True)
    try:
        if encoding == "WKB":
            return geometries_of(column, "ignore"), attributes
        import geopandas

        meant = {"ARROW:extension:name": f"geoarrow.{encoding}"}
        field = pa.field("geometry", column.type, metadata=meant)
        only = pa.record_batch([column], schema=pa.schema([field]))
        return geopandas.GeoDataFrame.from_arrow(only).geometry.to_numpy(), attributes
    except (TypeError, ValueError, LookupError, AttributeError, pa.ArrowException) as error:
        why = f"no geometries in the encoding {encoding!r}, but {column.type}; write them as WKB"
        raise FileProblem(f"{what} has {why}") from error


def footer_of(path: Path) -> dict[bytes, bytes]:
    """Read what the footer of Parquet says of it: `geo` of geometries, `trajanon` of our own."""
    try:
        with path.open("rb") as file:
            if file.read(len(PARQUET)) != PARQUET:
                return {}
        return dict(pq.read_metadata(opened_parquet(path)).metadata or {})
    except (OSError, UnicodeError, pa.ArrowException):
        return {}  # its reader names the fault


def _of_parquet(path: Path, reading: Reading) -> Iterator[Trace]:
    with read_errors(reading.what, "GeoParquet"):
        file = pq.ParquetFile(opened_parquet(path))
        check_ratio(POINT * file.metadata.num_rows, path.stat().st_size)
        table = file.read(use_threads=False)
    if b"trajanon" in (table.schema.metadata or {}):
        raise BadInput(
            f"{reading.what} is what trajanon extract wrote: give it to trajanon anonymize"
        )

    geo = described(table.schema, reading.what)
    column = geo["columns"][geo["primary_column"]]
    features = _features(table, geo["primary_column"], reading.what, column.get("encoding", "WKB"))
    yield from traces_of_features(*features, column.get("crs", _WGS_84), reading)


class _Moving(NamedTuple):
    parts: Sequence[Floats]  # x and y of its places, shape (at least 2, 2), part by part
    columns: Mapping[str, Any]  # what is known of it; the times of all parts are a list
    system: str = _WGS_84  # the reference system of x and y


def read_mf_json(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read moving points, and lines of GeoJSON whose places have times as their fourth number.

    Each part of a moving point is a trace; heights are left out.
    """
    with reading.unpacked(path) as stream:
        document = json_of(stream, reading.what, lines=True)
    crs = document.get("crs") if isinstance(document, Mapping) else None
    features = document.get("features", [document]) if isinstance(document, Mapping) else document
    if isinstance(features, list):
        yield from _traces_of_moving([_moving(feature, crs) for feature in features], reading)


def _traces_of_moving(found: Sequence[_Moving | str], reading: Reading) -> Iterator[Trace]:
    """Read moving points as lines with lists of times; a word is what one is counted as."""
    reading.counts.update(moving_point for moving_point in found if isinstance(moving_point, str))
    moving = [moving_point for moving_point in found if isinstance(moving_point, _Moving)]
    if not moving:
        return

    systems = list(dict.fromkeys(moving_point.system for moving_point in moving))
    if len(systems) > 1:
        named = f"several reference systems, such as {systems[0]} and {systems[1]}"
        raise BadInput(f"{reading.what} names {named}; transform it to EPSG:4326 first")

    with np.errstate(invalid="ignore"):  # NaN is for the cleaning
        parts = (
            [shapely.linestrings(part) for part in moving_point.parts] for moving_point in moving
        )
        lines = np.array([shapely.multilinestrings(parts_of_point) for parts_of_point in parts])

    names = dict.fromkeys(name for moving_point in moving for name in moving_point.columns)
    columns = {
        name: [plain_value(moving_point.columns.get(name)) for moving_point in moving]
        for name in names
    }
    frame = pd.DataFrame(columns, dtype=object)
    yield from traces_of_features(lines, frame, systems[0], reading)


def _places(coordinates: Any) -> Floats | None:
    """Read x and y of a list of positions, which may have heights; None if it is no such list."""
    try:
        xy = np.array([position[:2] for position in coordinates], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    return xy if xy.ndim == 2 and xy.shape[1] == 2 else None


def _moving(feature: Any, crs: Any) -> _Moving | str:
    """Read a feature; its reference system may stand in it, or in its temporal geometry."""
    if not isinstance(feature, Mapping):
        return UNREAD

    properties = feature.get("properties")
    columns = dict(properties) if isinstance(properties, Mapping) else {}
    moving = feature.get("temporalGeometry")
    if not isinstance(moving, Mapping):
        moving = feature  # as MobilityDB writes it, or a line with its times
    pieces = _pieces(moving, columns)
    if pieces is None:
        return OTHERS

    parts = [_places(piece.get("coordinates")) for piece in pieces if isinstance(piece, Mapping)]
    known = [part for part in parts if part is not None]
    if len(known) < len(pieces):
        return UNREAD
    long = [len(part) > 1 for part in known]
    if not any(long):
        return SINGLE_POINTS

    if "id" in feature:
        columns = {"id": feature["id"], **columns}
    times = [piece.get("datetimes") for piece in compress(pieces, long)]
    are_lists = all(isinstance(part_times, list) for part_times in times)
    columns["datetimes"] = list(chain.from_iterable(times)) if are_lists else None
    crs = feature.get("crs") or moving.get("crs") or crs
    return _Moving(list(compress(known, long)), columns, _system(crs))


def _pieces(moving: Mapping[str, Any], columns: Mapping[str, Any]) -> list[Any] | None:
    """Find the parts of a moving point, each with coordinates and datetimes; None if it is none."""
    if moving.get("type") == "MovingGeometryCollection":
        pieces = moving.get("prisms")
        return pieces if isinstance(pieces, list) else None
    if moving.get("type") in _KINDS:
        pieces = moving.get("sequences")
        return pieces if isinstance(pieces, list) else [moving]

    line = moving.get("geometry")
    if not isinstance(line, Mapping) or line.get("type") not in ("LineString", "MultiLineString"):
        return None

    is_line = line["type"] == "LineString"
    if is_line and "datetimes" in columns:
        return [{**line, "datetimes": columns["datetimes"]}]
    parts = [line.get("coordinates")] if is_line else line.get("coordinates")
    pieces = [_timed_line(part) for part in parts] if isinstance(parts, list) else []
    return pieces if any("datetimes" in piece for piece in pieces) else None


def _timed_line(coordinates: Any) -> dict[str, Any]:
    """Read a line; if its places have a fourth number, that may be the time."""
    positions = coordinates if isinstance(coordinates, list) else []
    fourth = [place[3] if isinstance(place, list) and place[3:] else None for place in positions]
    if not any(value is not None for value in fourth):
        return {"coordinates": coordinates}

    seconds = times_in(np.array([number(value) for value in fourth]))
    times = None if seconds is None else [None if np.isnan(t) else t for t in seconds.tolist()]
    return {"coordinates": coordinates, "datetimes": times}


def _system(crs: Any) -> str:
    """Name a reference system; without one it is WGS 84, longitude first."""
    name = crs.get("properties") if isinstance(crs, Mapping) else crs
    if isinstance(name, Mapping):
        name = name.get("name") or name.get("href") or name.get("link")
    return _WGS_84 if crs is None else str(name)


def read_mds(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file: a trip with a route is a trace of its vehicle; MDS 2.0 has none."""
    with reading.unpacked(path) as stream:
        document = json_of(stream, reading.what, dict[str, Any])
    data = document.get("data", document)
    trips = data.get("trips") if isinstance(data, Mapping) else None
    trips_read = [_trip(trip) for trip in trips] if isinstance(trips, list) else []
    if WITHOUT_ROUTE in trips_read:
        why = "MDS 2.0 has points in /telemetry, read as a table"
        msg = f"{reading.what} leaves out trips without a route: {why}"
        reading.warn(WITHOUT_ROUTE, msg, left_out=True)
    yield from _traces_of_moving(trips_read, reading.with_columns(subject="device_id"))


def _trip(trip: Any) -> _Moving | str:
    """Read a trip: the fixes of its route, and the other members as columns."""
    if isinstance(trip, Mapping) and trip.get("route") is None:
        return WITHOUT_ROUTE
    try:
        fixes = trip["route"]["features"]
        xy = _places([fix["geometry"]["coordinates"] for fix in fixes])
        times = np.array([fix["properties"]["timestamp"] for fix in fixes], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return UNREAD
    if len(times) < 2:
        return WITHOUT_ROUTE
    if xy is None or times.ndim > 1:
        return UNREAD

    columns = {name: value for name, value in trip.items() if name != "route"}
    vehicle = trip.get("device_id") or trip.get("vehicle_id")
    return _Moving([xy], {**columns, "device_id": vehicle, "timestamp": times.tolist()})
