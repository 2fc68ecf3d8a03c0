"""Points and lines in geographic files: written, read, and told apart."""

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import shapely

from trajanon.extract.sources import geopackage_and_shapefile, json_and_geojson
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

FILES = ("x.geojson", "x.geojsonl", "x.gpkg", "x.parquet", "x.shp", "x.fgb")

ROWS = pd.DataFrame(
    {
        "lat": [40.0, 41.0, 42.0, 43.0],
        "lon": [-3.0, -3.1, -3.2, -3.3],
        "time": [10, 20, 30, 40],
        "id": ["a", "b", "a", "b"],
    }
)
"""Two traces, their rows in turn."""

LINES = [
    shapely.LineString([(2, 41), (3, 42), (2.5, 41.5)]),
    shapely.LineString([(-3, 40), (-3, 41)]),
]


def points(rows: pd.DataFrame = ROWS, crs: Any = "EPSG:4326") -> Any:
    """A frame of points, its reference system changed from WGS 84 to another."""
    places = geopandas.points_from_xy(rows.lon, rows.lat, crs="EPSG:4326")
    frame = geopandas.GeoDataFrame(rows.drop(columns=["lat", "lon"]), geometry=places)
    return frame.to_crs(crs)


def lines(geometry: list[Any] = LINES, crs: Any = "EPSG:4326", **columns: Any) -> Any:
    """A frame of lines."""
    return geopandas.GeoDataFrame(columns, geometry=geometry, crs=crs)


def write(path: Path, frame: Any, **options: Any) -> Path:
    """Write a frame in the format of the suffix."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, **options)
        return path
    with warnings.catch_warnings():  # of GDAL, of what a format cannot hold
        warnings.simplefilter("ignore")
        frame.to_file(path, engine="pyogrio", **options)
    return path


def geojson(path: Path, *found: tuple[Any, dict[str, Any]]) -> Path:
    """Write geometries with their properties as GeoJSON."""
    written = [
        {"type": "Feature", "properties": properties, "geometry": geometry}
        for geometry, properties in found
    ]
    collection = {"type": "FeatureCollection", "features": written}
    path.write_text(json.dumps(collection), encoding="utf-8")
    return path


def line(*places: tuple[float, ...]) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": places}


def read(path: Path, **columns: str) -> list[Trace]:
    """Read the traces of a file in which nothing is amiss."""
    found, counts = read_counting(path, **columns)
    assert not counts
    return found


def read_counting(path: Path, **columns: str) -> tuple[list[Trace], Counter[str]]:
    """Read the traces of a file, and what was left out of it."""
    how = Reading(columns=columns)
    reader = json_and_geojson if "json" in path.name else geopackage_and_shapefile
    found = list(reader.read(path, how.of_file(path, "f")))
    return found, how.counts


def names(found: list[Trace]) -> list[tuple[str, str | None]]:
    """The name and the subject of each trace."""
    return [(one.name, one.subject) for one in found]


def same(one: list[Trace], other: list[Trace]) -> bool:
    """Whether traces are equal, to the last bit."""
    return names(one) == names(other) and all(
        np.array_equal(getattr(a, field), getattr(b, field), equal_nan=True)
        for a, b in zip(one, other, strict=True)
        for field in ("lat", "lon", "time")
    )


def is_the_two_traces(found: list[Trace]) -> bool:
    """Whether traces are those of `ROWS`."""
    return (
        names(found) == [("f#a", None), ("f#b", None)]
        and [one.lat.tolist() for one in found] == [[40, 42], [41, 43]]
        and [one.lon.tolist() for one in found] == [[-3, -3.2], [-3.1, -3.3]]
        and [one.time.tolist() for one in found] == [[10, 30], [20, 40]]
    )


def places(found: list[Trace]) -> list[list[tuple[float, float]]]:
    """The points of traces, x first."""
    return [list(zip(one.lon.tolist(), one.lat.tolist(), strict=True)) for one in found]


def in_order(name: str) -> dict[str, str]:
    """Without an index, FlatGeobuf keeps the order of what it is given."""
    return {"SPATIAL_INDEX": "NO"} if name.endswith(".fgb") else {}


def many() -> Any:
    """A frame of so many points that files have several pieces."""
    ids = np.arange(3_000) % 7
    rows = pd.DataFrame({"lat": ids * 1.0, "lon": ids * 2.0, "id": ids, "time": ids})
    return points(rows)
