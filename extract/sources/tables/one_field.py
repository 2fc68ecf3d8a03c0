"""Tables whose places, or lines, stand in one field: WKT, WKB, GeoJSON, or two numbers."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.geo.layer import Features, Layer
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import plain

logger = logging.getLogger(__name__)

Frames = Callable[[Sequence[str]], Iterator[pd.DataFrame]]
"""Reads some columns of a table, part by part."""

_SYSTEM = re.compile(r"SRID=(\d+)\s*;\s*", re.IGNORECASE)
_WKT = re.compile(r"\s*(SRID=\d+\s*;)?\s*(MULTI)?(POINT|LINESTRING)\b", re.IGNORECASE)
_HEX = re.compile(r"[0-9A-Fa-f]{42,}")
_NUMBER = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"\s*[(\[]?{_NUMBER}[,;\s]{_NUMBER}[)\]]?\s*")


def wkt_column(begin: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Find a column of WKT, whatever its name, by the values with which columns begin."""
    found = [name for name, values in begin.items() if any(map(_WKT.match, values))]
    return {"place": found[0]} if found else {}


def layer_of(
    place: str, names: Sequence[str], frames: Frames, path: Path, label: str, how: Reading
) -> Layer:
    """Make a layer of a table; its first place tells how all are written."""
    first = next((values for part in frames([place]) if len(values := part[place].dropna())), None)
    read, system = _reader(first, place, path, how)

    def features(columns: Sequence[str]) -> Iterator[Features]:
        for part in frames([place, *columns]):
            yield read(part[place]), part[list(columns)]

    others = [name for name in names if name != place]
    return Layer(str(path), label, others, system, features)


def _reader(
    first: pd.Series | None, place: str, path: Path, how: Reading
) -> tuple[Callable[[pd.Series], NDArray[Any]], str]:
    """Find how places are written, and in which reference system; unreadable ones become None."""
    value = None if first is None else first.iloc[0]
    text = "" if value is None else str(value).strip()
    if _WKT.match(text):
        system = _SYSTEM.match(text)
        return (
            lambda part: shapely.from_wkt(
                _objects(part.str.replace(_SYSTEM, "", regex=True)), on_invalid="ignore"
            ),
            f"EPSG:{system[1]}" if system else "EPSG:4326",
        )
    if _HEX.fullmatch(text):
        system_number = int(shapely.get_srid(shapely.from_wkb(text, on_invalid="ignore")))
        return (
            lambda part: shapely.from_wkb(_objects(part), on_invalid="ignore"),
            f"EPSG:{system_number}" if system_number > 0 else "EPSG:4326",
        )
    if text.startswith("{"):
        return lambda part: shapely.from_geojson(_objects(part), on_invalid="ignore"), "EPSG:4326"
    if first is not None and _PAIR.fullmatch(text):
        order, said = _order(_pairs(first), plain(place), text)
        if said:
            msg = f"{path} has places such as {text} in {place!r}: read as {said}"
            how.warn(logger, f"pairs as {said}", msg)
        return lambda part: _points(_pairs(part)[:, order]), "EPSG:4326"
    raise BadInput(
        f"{path} has no column known as lat or lon, and its column {place!r} holds no places such "
        f"as POINT (16.37 48.2) or 48.2,16.37 (but {text[:40]!r}): say `columns` lat=...,lon=..., "
        "or place=..."
    )


def _objects(values: pd.Series) -> NDArray[Any]:
    return np.asarray(values.astype(object).where(values.notna(), None), dtype=object)


def _pairs(values: pd.Series) -> Floats:
    """Read two numbers a field, shape (n, 2); NaN where there are none."""
    found = values.astype("string").str.extract(_PAIR)
    return np.asarray(found.astype("float64").to_numpy(), dtype=np.float64)


def _points(xy: Floats) -> NDArray[Any]:
    known = np.isfinite(xy).all(axis=1)
    points = np.full(len(xy), None, dtype=object)
    points[known] = shapely.points(xy[known])
    return points


def _order(pairs: Floats, name: str, text: str) -> tuple[list[int], str]:
    """Find where x, the longitude, and y stand, and what has to be said of it.

    The name tells, or what no latitude can be; else brackets are as in GeoJSON, x first.
    """
    for latitude, longitude in (("lat", "lon"), ("lat", "lng")):
        if latitude in name and longitude in name:
            return ([1, 0] if name.index(latitude) < name.index(longitude) else [0, 1]), ""
    first, second = (bool((np.abs(numbers) > 90.0).any()) for numbers in pairs.T)
    x_first = first if first != second else text.startswith("[")
    said = "" if first != second else "lon,lat" if x_first else "lat,lon"
    return ([0, 1] if x_first else [1, 0]), said
