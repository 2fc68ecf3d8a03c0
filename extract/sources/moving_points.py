"""JSON of moving points -> traces: OGC Moving Features (MF-JSON, OGC 19-045r3), and trips of MDS.

MDS is the Mobility Data Specification; the answers of its /trips are read.
"""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import shapely

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.coordinates import to_degrees
from trajanon.extract.sources.features import Features, Layer, traces_of_features
from trajanon.extract.sources.json_members import json_members, plain_value
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

OTHERS = "features that are no moving points"
UNREAD = "features that could not be read"
SHORT = "moving points of fewer than two places"
UNREAD_TRIPS = "trips that could not be read"
WITHOUT_ROUTE = "trips without a route"

_WGS_84 = "OGC:CRS84"
_POINTS = 65_536  # of the features that are read at a time

_KINDS = ("MovingPoint", "MovingGeomPoint", "MovingGeogPoint")  # the last two are MobilityDB's


class _Moving(NamedTuple):
    """A point that moves."""

    parts: Sequence[Floats]  # x and y of its places, shape (at least 2, 2), part by part
    columns: Mapping[str, Any]  # what is known of it; the times of all parts are a list
    system: str = _WGS_84  # the reference system of x and y


def _traces_of_moving(
    found: Iterable[_Moving | str], what: str, label: str, how: Reading
) -> Iterator[Trace]:
    """Read moving points as lines with lists of times; a word is what one is counted as."""
    batches = _batches(found, how)
    first = next(batches, None)
    if first is None:
        return
    system = first[0].system

    def features(columns: Sequence[str]) -> Iterator[Features]:
        for batch in chain([first], batches):
            other = next((one.system for one in batch if one.system != system), None)
            if other is not None:
                raise BadInput(
                    f"{what} names several reference systems, such as {system} and {other}; "
                    "transform it to EPSG:4326 first"
                )
            yield _features(batch, columns)

    names = list(dict.fromkeys(name for one in first for name in one.columns))
    yield from traces_of_features(Layer(what, label, names, system, features), how)


def _batches(found: Iterable[_Moving | str], how: Reading) -> Iterator[list[_Moving]]:
    batch: list[_Moving] = []
    points = 0
    for one in found:
        if isinstance(one, str):
            how.counts[one] += 1
        else:
            batch.append(one)
            points += sum(map(len, one.parts))
        if points >= _POINTS:
            yield batch
            batch, points = [], 0
    if batch:
        yield batch


def _features(batch: Sequence[_Moving], columns: Sequence[str]) -> Features:
    parts = [part for one in batch for part in one.parts]
    of_part = np.repeat(np.arange(len(batch)), [len(one.parts) for one in batch])
    of_point = np.repeat(np.arange(len(parts)), list(map(len, parts)))
    lines = shapely.linestrings(np.concatenate(parts), indices=of_point)
    values = {name: [plain_value(one.columns.get(name)) for one in batch] for name in columns}
    return shapely.multilinestrings(lines, indices=of_part), pd.DataFrame(values, dtype=object)


def _places(coordinates: Any) -> Floats | None:
    """Read x and y of a list of positions, which may have heights; None if it is no such list."""
    try:
        xy = np.array([position[:2] for position in coordinates], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    return xy if xy.ndim == 2 and xy.shape[1] == 2 else None


def read_mf_json(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file: each part of a moving point is a trace; heights are left out."""
    with how.unpacked(path) as stream:
        found = (_moving(feature, crs) for feature, crs in _collected(stream, str(path)))
        yield from _traces_of_moving(found, str(path), label, how)


def _collected(stream: io.BufferedReader, what: str) -> Iterator[tuple[Any, Any]]:
    """Give the features, each with its reference system; one may stand by itself."""
    others: dict[str, Any] = {}
    collected = False
    for name, value in json_members(stream, {"features"}, what):
        if name == "features":
            collected = True
            yield value, others.get("crs")
        elif collected and name == "crs" and not _is_wgs_84(_system(value), what):
            raise BadInput(
                f"{what} names its reference system after its features; name it before them"
            )
        else:
            others[name] = value
    if not collected:
        yield others, None


def _is_wgs_84(system: str, what: str) -> bool:
    lat, lon = to_degrees(system, what)(np.array([[1.0, 2.0]]))
    return (lat.item(), lon.item()) == (2.0, 1.0)


def _moving(feature: Any, crs: Any) -> _Moving | str:
    """Read a feature; its reference system may stand in it, or in its temporal geometry."""
    if not isinstance(feature, Mapping):
        return UNREAD
    properties, moving = feature.get("properties"), feature.get("temporalGeometry")
    columns = dict(properties) if isinstance(properties, Mapping) else {}
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
        return SHORT
    if "id" in feature:
        columns = {"id": feature["id"], **columns}
    times = [piece.get("datetimes") for piece in compress(pieces, long)]
    whole = all(isinstance(some, list) for some in times)
    columns["datetimes"] = list(chain.from_iterable(times)) if whole else None
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
    if isinstance(line, Mapping) and line.get("type") == "LineString" and "datetimes" in columns:
        return [{**line, "datetimes": columns["datetimes"]}]
    return None


def _system(crs: Any) -> str:
    """Name a reference system; without one it is WGS 84, longitude first."""
    said = crs.get("properties") if isinstance(crs, Mapping) else crs
    if isinstance(said, Mapping):
        said = said.get("name") or said.get("href") or said.get("link")
    return _WGS_84 if crs is None else str(said)


def read_mds(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file: a trip with a route is a trace of its vehicle; MDS 2.0 has none."""
    wanted = replace(how, columns={"subject": "device_id", **how.columns})
    with how.unpacked(path) as stream:
        trips = _trips(stream, str(path), how)
        yield from _traces_of_moving(trips, str(path), label, wanted)


def _trips(stream: io.BufferedReader, what: str, how: Reading) -> Iterator[_Moving | str]:
    for name, trip in json_members(stream, {"data", "trips"}, what):
        if name != "trips":
            continue  # the version, and links to other pages
        found = _trip(trip)
        if found == WITHOUT_ROUTE:
            msg = (
                f"{what} has trips without a route, which are left out: MDS 2.0 gives their points "
                "in /telemetry; write those as a table with the columns trip_id, device_id, "
                "timestamp, lat and lng"
            )
            how.warn(WITHOUT_ROUTE, msg)
        yield found


def _trip(trip: Any) -> _Moving | str:
    """Read a trip: the fixes of its route, and the other members as columns."""
    if not isinstance(trip, Mapping):
        return UNREAD_TRIPS
    if trip.get("route") is None:
        return WITHOUT_ROUTE
    try:
        fixes = trip["route"]["features"]
        xy = _places([fix["geometry"]["coordinates"] for fix in fixes])
        times = np.array([fix["properties"]["timestamp"] for fix in fixes], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return UNREAD_TRIPS
    if len(times) < 2:
        return WITHOUT_ROUTE
    if xy is None or times.ndim > 1:
        return UNREAD_TRIPS
    columns = {name: value for name, value in trip.items() if name != "route"}
    vehicle = trip.get("device_id") or trip.get("vehicle_id")
    return _Moving([xy], {**columns, "device_id": vehicle, "timestamp": times.tolist()})
