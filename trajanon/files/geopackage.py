"""A release as GeoPackage."""

import errno
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.geopackage_below import LAYER, below, untimed
from trajanon.files.released import Lines, ReleasedFile, unknown_attribution


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
        table.to_file(path, driver="GPKG", layer=LAYER, engine="pyogrio", **options)
        untimed(path)
    except (RuntimeError, sqlite3.Error) as error:  # pyogrio's errors are such
        number = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(number, os.strerror(number)) from error  # the words are SQL


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not a GeoPackage.
    """
    import geopandas
    import pyogrio
    import shapely

    try:
        extras = below(path)
        layers = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
        layer = LAYER if LAYER in layers else layers[0]
        info = pyogrio.read_info(path, layer=layer)
        with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
            table = geopandas.read_file(
                path, layer=layer, engine="pyogrio", fid_as_index=True
            )
    except (
        OSError,
        ValueError,
        IndexError,
        TypeError,
        shapely.errors.ShapelyError,
        sqlite3.DatabaseError,
        pyogrio.errors.DataSourceError,
    ) as error:
        msg = f"cannot read {path} as a GeoPackage"
        raise FileProblem(msg) from error
    extras += [f"layer {name!r}" for name in layers if name != layer]
    extras += _extras_of(layer, info)
    if table.index.tolist() != list(range(1, len(table) + 1)):
        extras.append("row numbers of its own")
    attribution = (info.get("layer_metadata") or {}).get("DESCRIPTION") or None
    if attribution is not None:
        extras += unknown_attribution(attribution)
    geometries = table.geometry.to_numpy() if "geometry" in table else np.empty(0, "O")
    with np.errstate(invalid="ignore"):
        keys = shapely.to_wkb(geometries)
    return ReleasedFile(
        Lines.of(geometries, keys),
        table["id"].tolist() if "id" in table else None,
        extras,
        attribution,
    )


def _extras_of(layer: str, info: Mapping[str, Any]) -> list[str]:
    """Name what a layer has and a release does not need, by what pyogrio says of it."""
    extras = [] if layer == LAYER else [f"the layer name {layer!r}"]
    for key, value in (info.get("layer_metadata") or {}).items():
        if key != "DESCRIPTION" and (key, value) != ("IDENTIFIER", layer):
            extras.append(f"layer metadata {key!r}")
    extras += [f"file metadata {key!r}" for key in info.get("dataset_metadata") or {}]
    extras += [f"column {name!r}" for name in info["fields"].tolist() if name != "id"]
    if info.get("fid_column") != "fid":
        extras.append(f"the row numbers' name {info.get('fid_column')!r}")
    return extras
