"""GeoPackage, GeoParquet, Shapefile, FlatGeobuf -> traces; GeoJSON has a reader of its own."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.number_text import number_of
from trajanon.extract.sources.archives import BYTES_OF_POINT, check_ratio, unpacked
from trajanon.extract.sources.csv_and_parquet import PARQUET
from trajanon.extract.sources.features import traces_of_features
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, geometries_of, opened_parquet
from trajanon.files.arrow import reading as explained_errors
from trajanon.files.geoparquet import described

_SQLITE = b"SQLite format 3\x00"
_SHAPEFILE = b"\x00\x00\x27\x0a"
_FLAT_GEOBUF = b"fgb\x03"
_BYTES_JUDGED = 100

# As GDAL writes a GPX file: the same recordings as points with times, and as lines without; and
# routes and waypoints, which are no recordings.
_OF_GPX = ("track_points", "tracks", "routes", "route_points", "waypoints")
BESIDE_TRACKS = "layers of a GPX file with the same recordings, or with none"

_WGS_84 = "OGC:CRS84"


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the traces of a file of points or lines; coordinates are those of the geometries."""
    # Only a look: by a new Reading, so that these bytes do not count as progress.
    with Reading().open(path) as stream:
        head = stream.peek(_BYTES_JUDGED)[:_BYTES_JUDGED]
        if unpacked(stream) is not stream:
            raise FileProblem(f"{path} is packed: unpack it first")
    reading.report_bytes(path.stat().st_size)  # all at once, as GDAL reads it by itself

    if head.startswith(PARQUET):
        yield from _traces_of_parquet(path, reading)
        return
    names: list[str | None] = [None]  # of layers: a file of one has no name for it
    if head.startswith(_SQLITE):
        names = _layers_of(path, reading)
    elif head.startswith(_SHAPEFILE):
        _refuse_part_of_shapefile(path, head, reading)
    elif not head:
        raise FileProblem(f"{reading.what} is empty: export or download it again")
    elif not head.startswith(_FLAT_GEOBUF):
        why = "does not begin like a GeoPackage, GeoParquet, Shapefile or FlatGeobuf"
        raise FileProblem(f"{reading.what} {why}; give it its suffix")

    # Of several layers, those that hold no traces are left out with a warning.
    reasons: list[str] = []  # why layers are left out
    for name in names:
        layer_reading = reading
        if len(names) > 1:
            what = f"{reading.what}, layer {name!r}"
            layer_reading = replace(reading, what=what, label=f"{reading.label}:{name}")
        try:
            yield from _traces_of_layer(path, name, layer_reading)
        except BadInput as error:
            reasons.append(str(error))

    if len(reasons) == len(names):
        raise BadInput(reasons[0] if reasons else f"{reading.what} holds no layer")
    for reason in reasons:
        reading.found("layers", reason=reason)


def _refuse_part_of_shapefile(path: Path, head: bytes, reading: Reading) -> None:
    """Refuse a Shapefile that is cut off, or without the files of its index and its table."""
    files_beside = path.parent.glob(f"{escape(path.stem)}.*")
    suffixes_beside = {file.suffix.lower() for file in files_beside}
    if not {".shx", ".dbf"} <= suffixes_beside:
        raise reading.refusal("part of a Shapefile")

    # Its header counts words of two bytes.
    size = path.stat().st_size
    size_in_header = 2 * int.from_bytes(head[24:28], "big")
    if size < size_in_header:
        raise reading.refusal("Shapefile cut off", size=size, size_in_header=size_in_header)


def _layers_of(path: Path, reading: Reading) -> list[str | None]:
    """List the layers of a GeoPackage, without those in which GDAL repeats recordings of GPX."""
    import pyogrio

    with _by_gdal(reading.what):
        names = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
    with_recordings = [name for name in _OF_GPX[:2] if name in names]  # points before lines
    if not with_recordings:
        return list(names)

    used = [name for name in names if name == with_recordings[0] or name not in _OF_GPX]
    if len(used) < len(names):
        reading.counts[BESIDE_TRACKS] += len(names) - len(used)
    return list(used)


def _traces_of_layer(path: Path, name: str | None, reading: Reading) -> Iterator[Trace]:
    """Read a layer by GDAL; of a file with one layer, the name is None."""
    import pyogrio

    with _by_gdal(reading.what):
        info = pyogrio.read_info(path, layer=name)
        if info["geometry_type"] is None:
            raise reading.refusal("no geometries")
        # As texts, times keep their zones, even if these differ.
        meta, table = pyogrio.raw.read_arrow(path, layer=name, datetime_as_string=True)

    column = meta["geometry_name"] or "wkb_geometry"  # as GDAL calls one that has no name
    try:  # after a feature without geometry, GDAL may give geometries that overlap
        table[column].validate(full=True)
    except pa.ArrowInvalid as error:
        raise reading.refusal("features without geometry", driver=info["driver"]) from error

    is_flat_geobuf = info["driver"] == "FlatGeobuf"
    if is_flat_geobuf and table.num_rows < info["features"]:
        features_in_header = number_of(info["features"], "feature")
        raise reading.refusal("features cut off", rows=table.num_rows, features=features_in_header)

    # Without an index, a FlatGeobuf has its features as they were written.
    is_sorted_by_place = is_flat_geobuf and info["capabilities"]["fast_spatial_filter"]
    geometry, attributes = _features(table, column, reading.what)
    reading = replace(reading, sorted_by_place=bool(is_sorted_by_place))
    yield from traces_of_features(geometry, attributes, info["crs"], reading)


@contextmanager
def _by_gdal(what: str) -> Iterator[None]:
    """Report in one sentence what GDAL cannot read; its warnings do not help here."""
    errors = (RuntimeError, ValueError, LookupError, TypeError)
    with (
        explained_errors(what, "points or lines", *errors),
        warnings.catch_warnings(action="ignore"),
    ):
        yield


def _features(
    table: pa.Table, geometry_name: str, what: str, encoding: str = "WKB"
) -> tuple[NDArray[np.object_], pd.DataFrame]:
    """Read geometries and attributes; geometries that are unreadable become None."""
    column = table[geometry_name].combine_chunks()
    attributes = frame(table.drop_columns([geometry_name]), what, integer_object_nulls=True)
    try:
        if encoding == "WKB":
            return geometries_of(column, "ignore"), attributes
        import geopandas

        extension = {"ARROW:extension:name": f"geoarrow.{encoding}"}
        field = pa.field("geometry", column.type, metadata=extension)
        batch = pa.record_batch([column], schema=pa.schema([field]))
        return geopandas.GeoDataFrame.from_arrow(batch).geometry.to_numpy(), attributes
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


def _traces_of_parquet(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file of GeoParquet whole."""
    with explained_errors(reading.what, "GeoParquet"):
        file = pq.ParquetFile(opened_parquet(path))
        check_ratio(BYTES_OF_POINT * file.metadata.num_rows, path.stat().st_size)
        table = file.read(use_threads=False)
    if b"trajanon" in (table.schema.metadata or {}):
        raise reading.refusal("trajectories")

    geo = described(table.schema, reading.what)
    name = geo["primary_column"]
    column = geo["columns"][name]
    geometry, attributes = _features(table, name, reading.what, column.get("encoding", "WKB"))
    yield from traces_of_features(geometry, attributes, column.get("crs", _WGS_84), reading)
