"""OGC Moving Features JSON (MF-JSON, OGC 19-045r3): moving points -> traces."""

import io
import re
from collections.abc import Iterator, Mapping
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.errors import BadInput
from trajanon.extract.sources.degrees import to_degrees
from trajanon.extract.sources.geo.moving_points import WGS_84, Moving, places, traces_of_moving
from trajanon.extract.sources.json_members import members
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

OTHERS = "features that are no moving points"
UNREAD = "features that could not be read"
SHORT = "moving points of fewer than two places"

_MOVING = re.compile(rb'"(temporalGeometry|datetimes)"\s*:|"type"\s*:\s*"Moving')
_KINDS = ("MovingPoint", "MovingGeomPoint", "MovingGeogPoint")  # the last two are MobilityDB's


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is MF-JSON, by its name or by what plain GeoJSON does not have."""
    is_json = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return name.endswith(".mfjson") or (is_json and _MOVING.search(head) is not None)


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file: each part of a moving point is a trace; heights are left out."""
    with how.unpacked(path) as stream:
        found = (_moving(feature, crs) for feature, crs in _features(stream, str(path)))
        yield from traces_of_moving(found, str(path), label, how)


def _features(stream: io.BufferedReader, what: str) -> Iterator[tuple[Any, Any]]:
    """Give the features, each with its reference system; one may stand by itself."""
    others: dict[str, Any] = {}
    collected = False
    for name, value in members(stream, {"features"}, what):
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


def _moving(feature: Any, crs: Any) -> Moving | str:
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
    parts = [places(piece.get("coordinates")) for piece in pieces if isinstance(piece, Mapping)]
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
    return Moving(list(compress(known, long)), columns, _system(crs))


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
    return WGS_84 if crs is None else str(said)
