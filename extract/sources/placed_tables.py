"""Tables with a place, or a line, in one field: WKT, WKB, GeoJSON, or two numbers."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import source_tables
from trajanon.extract.sources.columns import check_single, known_as, listed, plain, roles
from trajanon.extract.sources.features import Features, Layer, traces_of_features
from trajanon.extract.sources.geo_files import BATCH_OF_FEATURES, features_of
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading

_KIND = "a table of places"

_SYSTEM = re.compile(r"SRID=(\d+)\s*;\s*", re.IGNORECASE)
_WKT = re.compile(r"\s*(SRID=\d+\s*;)?\s*(MULTI)?(POINT|LINESTRING)\b", re.IGNORECASE)
_HEX = re.compile(r"[0-9A-Fa-f]{42,}")
_NUMBER = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"\s*[(\[]?{_NUMBER}[,;\s]{_NUMBER}[)\]]?\s*")


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a text has a header with a place and no coordinates, or WKT below it."""
    fields = source_tables.fields_below(head)
    known = {role for field in fields[0] for role in known_as(field)} if fields else set()
    if {"lat", "lon"} & known or len(fields) < 2 or not name.endswith(source_tables.NAMES_OF_TEXTS):
        return False
    return "place" in known or any(map(_WKT.match, fields[1]))


def is_in_parquet(path: Path) -> bool:
    """Whether a Parquet file has a column of places and none of coordinates."""
    with suppress(FileProblem, BadInput), reading(path, _KIND):
        known = {role for name in pq.read_schema(path).names for role in known_as(name)}
        return "place" in known and not {"lat", "lon"} & known
    return False


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a table with its places, or lines, in one field."""
    with Reading().open(path) as stream:
        if stream.peek().startswith(source_tables.PARQUET):
            with reading(path, _KIND):
                file = pq.ParquetFile(stream, pre_buffer=False)
                names = file.schema_arrow.names
            layer = _of_parquet(file, names, path, label, how)
        else:
            layout = source_tables.layout_of(path)
            rows = layout.sample(2)
            wkt = [name for name, values in rows.items() if any(map(_WKT.match, values))]
            found = {"place": wkt[0]} if wkt else {}
            place = _place(layout.names, {**found, **how.columns}, path)
            parts = source_tables.frames_of_text(path, layout, how)
            layer = _layer(place, layout.names, parts, path, label, how)
        yield from traces_of_features(layer, how)


def _of_parquet(
    file: pq.ParquetFile, names: Sequence[str], path: Path, label: str, how: Reading
) -> Layer:
    place = _place(names, how.columns, path)
    check_single(names, [place], str(path))
    if not pa.types.is_binary(file.schema_arrow.field(place).type):
        return _layer(place, names, source_tables.frames_of_parquet(file, path), path, label, how)

    def features(columns: Sequence[str]) -> Iterator[Features]:
        size = BATCH_OF_FEATURES["points"]
        with reading(path, _KIND):
            for part in file.iter_batches(size, columns=[*columns, place], use_threads=False):
                yield features_of(part, place, str(path))

    return Layer(str(path), label, [name for name in names if name != place], None, features)


def _place(names: Sequence[str], wanted: Mapping[str, str], path: Path) -> str:
    found = roles(names, wanted, str(path), place=True)
    if "place" not in found:
        raise BadInput(f"{path} has no column of places; {listed(names)}: say `columns` place=...")
    return found["place"]


def _layer(
    place: str,
    names: Sequence[str],
    parts: source_tables.Frames,
    path: Path,
    label: str,
    how: Reading,
) -> Layer:
    """Make a layer of a table; its first place shows the format of all."""
    first = next((values for part in parts([place]) if len(values := part[place].dropna())), None)
    read, system = _reader(first, place, path, how)

    def features(columns: Sequence[str]) -> Iterator[Features]:
        for part in parts([place, *columns]):
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
            how.warn(f"pairs as {said}", msg)
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
    """Find the positions of x, the longitude, and y, and the notice that this needs.

    The name tells, or what no latitude can be; else brackets are as in GeoJSON, x first.
    """
    for latitude, longitude in (("lat", "lon"), ("lat", "lng")):
        if latitude in name and longitude in name:
            return ([1, 0] if name.index(latitude) < name.index(longitude) else [0, 1]), ""
    first, second = (bool((np.abs(numbers) > 90.0).any()) for numbers in pairs.T)
    x_first = first if first != second else text.startswith("[")
    said = "" if first != second else "lon,lat" if x_first else "lat,lon"
    return ([0, 1] if x_first else [1, 0]), said
