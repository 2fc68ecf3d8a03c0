"""What a GeoPackage holds below the layer that GDAL shows."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LAYER = "anonymized"

_TABLES = {
    LAYER,
    "gpkg_contents",
    "gpkg_extensions",
    "gpkg_geometry_columns",
    "gpkg_ogr_contents",
    "gpkg_spatial_ref_sys",
    "gpkg_tile_matrix",
    "gpkg_tile_matrix_set",
    "sqlite_sequence",
}
_INDEX = f"rtree_{LAYER}_geom"
_TRIGGERS = (
    f"{_INDEX}_",
    f"trigger_insert_feature_count_{LAYER}",
    f"trigger_delete_feature_count_{LAYER}",
    "gpkg_tile_matrix",
)
_ENVELOPES = {0: 0, 1: 4, 2: 6, 3: 6, 4: 8}  # numbers before the geometry, by code
_HEADER = 8  # bytes of a geometry before its envelope
_WGS84 = 4326
_NO_TIME = "1970-01-01T00:00:00.000Z"
"""For the time of the last change, which the format wants."""

_SINGLE = 1e-4  # degrees by which an index of single precision may be wider


def untimed(path: Path) -> None:
    """Take the time at which it was written out of a GeoPackage."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE gpkg_contents SET last_change = ?", [_NO_TIME])
        file.commit()


def below(path: Path) -> list[str]:
    """Name tables, deleted pages, times, counts and boxes that lines do not need.

    A box (of the layer, of a geometry, in the index) that is not that of the lines may
    be the one of the source.

    Parameters
    ----------
    path
        A file that GDAL reads as a GeoPackage.

    Raises
    ------
    sqlite3.DatabaseError
        If SQLite cannot read it.
    """
    with closing(
        sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    ) as file:
        extras = [*_objects(file), *_rows_of_the_standard(file)]
        extras += [*_times(file), *_counts(file)]
        (deleted,) = file.execute("PRAGMA freelist_count").fetchone()
        (page,) = file.execute("PRAGMA page_size").fetchone()
        (pages,) = file.execute("PRAGMA page_count").fetchone()
        extras += _boxes(file) if _has(file, LAYER) else []
    if path.stat().st_size != page * pages:
        extras.append("something behind the end of the database")
    if deleted:
        extras.append(f"{deleted} pages of deleted data")
    return extras


def _has(file: sqlite3.Connection, name: str) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE name = ?"
    return bool(file.execute(query, [name]).fetchone()[0])


def _objects(file: sqlite3.Connection) -> list[str]:
    objects = file.execute("SELECT type, name FROM sqlite_master").fetchall()
    return [
        f"{kind} {name!r}"
        for kind, name in objects
        if (
            kind in ("table", "view")
            and name not in _TABLES
            and not name.startswith(_INDEX)
        )
        or (kind == "trigger" and not name.startswith(_TRIGGERS))
        or (kind == "index" and not name.startswith("sqlite_autoindex_"))
    ]


def _rows_of_the_standard(file: sqlite3.Connection) -> list[str]:
    """Rows about other things than the layer, in the tables every GeoPackage has."""
    extras = []
    for table, column, allowed in (
        ("gpkg_contents", "table_name", {LAYER}),
        ("gpkg_geometry_columns", "table_name", {LAYER}),
        ("gpkg_geometry_columns", "column_name", {"geom"}),
        ("gpkg_ogr_contents", "table_name", {LAYER}),
        ("gpkg_extensions", "table_name", {LAYER, None}),
        ("gpkg_spatial_ref_sys", "srs_id", {-1, 0, _WGS84}),
    ):
        if _has(file, table):
            rows = file.execute(f"SELECT {column} FROM {table}").fetchall()
            extras += [
                f"a row of {table} about {name!r}"
                for (name,) in rows
                if name not in allowed
            ]
    return extras


def _times(file: sqlite3.Connection) -> list[str]:
    changed = file.execute("SELECT DISTINCT last_change FROM gpkg_contents").fetchall()
    return [f"a time, {t!r}" for (t,) in changed if t != _NO_TIME]


def _counts(file: sqlite3.Connection) -> list[str]:
    """Compare what is told of the number of rows, and of the highest, with the rows."""
    if not _has(file, LAYER):
        return []
    (rows,) = file.execute(f"SELECT count(*) FROM {LAYER}").fetchone()
    return [
        f"a count in {table} of other rows"
        for table, column, name in (
            ("gpkg_ogr_contents", "feature_count", "table_name"),
            ("sqlite_sequence", "seq", "name"),
        )
        if _has(file, table)
        for (told,) in file.execute(
            f"SELECT {column} FROM {table} WHERE {name} = ?", [LAYER]
        ).fetchall()
        if told not in (rows, None)
    ]


def _boxes(file: sqlite3.Connection) -> list[str]:
    """Compare every box told with that of the lines."""
    column = "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?"
    found = file.execute(column, [LAYER]).fetchone()
    if found is None:
        return []
    query = (
        f'SELECT "{found[0]}" FROM {LAYER} WHERE "{found[0]}" IS NOT NULL '
        "ORDER BY rowid"
    )
    extras, boxes = _of_geometries([blob for (blob,) in file.execute(query)])
    if not len(boxes):
        return extras
    whole = np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
    told = file.execute(
        "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = ?",
        [LAYER],
    ).fetchone()
    if told is not None and None not in told and not np.allclose(told, whole, 0, 1e-9):
        extras.append("a bounding box of the layer that is not that of its lines")
    if _has(file, _INDEX):
        query = f"SELECT minx, miny, maxx, maxy FROM {_INDEX} ORDER BY id"
        indexed = np.array(file.execute(query).fetchall()).reshape(-1, 4)
        if indexed.shape != boxes.shape or not np.allclose(indexed, boxes, 0, _SINGLE):
            extras.append("a spatial index of other lines")
    return extras


def _of_geometries(
    blobs: Sequence[bytes],
) -> tuple[list[str], NDArray[np.float64]]:
    """Take geometries apart: what is odd, and the box of each that is not empty."""
    import shapely

    written, envelopes = [], []
    for blob in blobs:
        order = "<" if blob[3] & 1 else ">"
        numbers = _ENVELOPES.get(blob[3] >> 1 & 7, 0)
        box = np.frombuffer(blob, f"{order}f8", numbers, _HEADER)
        envelopes.append(box[[0, 2, 1, 3]] if numbers else np.full(4, np.nan))
        written.append(blob[_HEADER + 8 * numbers :])
    extras = []
    with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
        geometries = shapely.from_wkb(written)
        bare = shapely.to_wkb(geometries, byte_order=1)
        boxes = shapely.bounds(geometries).reshape(-1, 4)
    if [*bare] != written or {blob[4:8] for blob in blobs} - {
        _WGS84.to_bytes(4, order) for order in ("little", "big")
    }:
        extras.append("geometries with more than coordinates")
    there = ~np.isnan(boxes).any(axis=1)
    told = np.array(envelopes).reshape(-1, 4)[there]
    boxes = boxes[there]
    if ((told != boxes) & ~np.isnan(told)).any():
        extras.append("bounding boxes of geometries that are not theirs")
    return extras, boxes
