"""A release as GeoPackage."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import Line, ReleasedFile, unknown_attribution

_LAYER = "anonymized"
_TABLES = {
    _LAYER,
    "gpkg_contents",
    "gpkg_extensions",
    "gpkg_geometry_columns",
    "gpkg_ogr_contents",
    "gpkg_spatial_ref_sys",
    "gpkg_tile_matrix",
    "gpkg_tile_matrix_set",
    "sqlite_sequence",
}


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is the description of its layer."""
    import geopandas
    import shapely

    table = geopandas.GeoDataFrame(
        {"id": np.arange(1, len(points) + 1)},
        geometry=shapely.linestrings(points[:, :, ::-1]),
        crs="EPSG:4326",
    )
    path.unlink(missing_ok=True)  # GDAL takes an empty file for a broken one
    options = {} if attribution is None else {"DESCRIPTION": attribution}
    try:
        table.to_file(path, driver="GPKG", layer=_LAYER, engine="pyogrio", **options)
    except RuntimeError as error:  # the base of pyogrio's errors
        raise OSError(" ".join(str(error).split())[:200]) from error


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not a GeoPackage.
    """
    import geopandas
    import pyogrio

    try:
        extras = _unneeded(path)
        layers = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
        layer = _LAYER if _LAYER in layers else layers[0]
        info = pyogrio.read_info(path, layer=layer)
        with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
            table = geopandas.read_file(
                path, layer=layer, engine="pyogrio", fid_as_index=True
            )
    except (
        OSError,
        ValueError,
        IndexError,
        sqlite3.DatabaseError,
        pyogrio.errors.DataSourceError,
    ) as error:
        msg = f"cannot read {path} as a GeoPackage"
        raise FileProblem(msg) from error
    metadata = dict(info.get("layer_metadata") or {})
    attribution = metadata.pop("DESCRIPTION", None) or None
    metadata.pop("IDENTIFIER", None) if metadata.get("IDENTIFIER") == layer else None
    extras += [f"layer {name!r}" for name in layers if name != layer]
    extras += [] if layer == _LAYER else [f"the layer name {layer!r}"]
    extras += [f"layer metadata {key!r}" for key in metadata]
    extras += [f"file metadata {key!r}" for key in info.get("dataset_metadata") or {}]
    extras += [f"column {name!r}" for name in info["fields"].tolist() if name != "id"]
    if info.get("fid_column") != "fid":
        extras.append(f"the row numbers' name {info.get('fid_column')!r}")
    if table.index.tolist() != list(range(1, len(table) + 1)):
        extras.append("row numbers of its own")
    if attribution is not None:
        extras += unknown_attribution(attribution)
    geometries = table.geometry if "geometry" in table else []
    return ReleasedFile(
        [Line.of(geometry) for geometry in geometries],
        table["id"].tolist() if "id" in table else None,
        extras,
        attribution,
    )


def _unneeded(path: Path) -> list[str]:
    """Look below GDAL: tables it does not show, and what was deleted but is there."""
    with closing(
        sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    ) as file:
        names = file.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
        (deleted,) = file.execute("PRAGMA freelist_count").fetchone()
        (page,) = file.execute("PRAGMA page_size").fetchone()
        (pages,) = file.execute("PRAGMA page_count").fetchone()
    extras = [
        f"table {name!r}"
        for (name,) in names
        if name not in _TABLES and not name.startswith(f"rtree_{_LAYER}_geom")
    ]
    if path.stat().st_size != page * pages:
        extras.append("something behind the end of the database")
    if deleted:
        extras.append(f"{deleted} pages of deleted data")
    return extras
