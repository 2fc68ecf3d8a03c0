"""A release as GeoJSON (RFC 7946)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import (
    LINE,
    Lines,
    ReleasedFile,
    as_text,
    texts,
    unknown_attribution,
)


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is a member of the collection."""
    words = json.dumps(attribution, ensure_ascii=False)
    said = "" if attribution is None else f'"attribution": {words}, '
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f'{{"type": "FeatureCollection", {said}"features": [\n')
        for number, line in enumerate(texts(points, _coordinates), start=1):
            comma = "," if number < len(points) else ""
            file.write(
                f'{{"type": "Feature", "properties": {{"id": {number}}}, "geometry": '
                f'{{"type": "LineString", "coordinates": [{line}]}}}}{comma}\n'
            )
        file.write("]}\n")


def _coordinates(line: list[list[float]]) -> str:
    return ", ".join(f"[{as_text(lon)}, {as_text(lat)}]" for lat, lon in line)


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not a GeoJSON feature collection.
    """
    try:
        text = path.read_text(encoding="utf-8")
        # Once for the numbers, and once for how they are written.
        collection = json.loads(text)
        literal = json.loads(text, parse_float=str, parse_int=str)
        lines = _lines(
            [feature["geometry"] for feature in collection["features"]],
            [feature["geometry"] for feature in literal["features"]],
        )
        properties = [dict(f.get("properties") or {}) for f in collection["features"]]
        extras = [*_unneeded(collection), *_told_twice(text)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        msg = f"cannot read {path} as a GeoJSON feature collection"
        raise FileProblem(msg) from error
    except RecursionError as error:
        msg = f"{path} is nested too deeply for GeoJSON"
        raise FileProblem(msg) from error
    attribution = collection.get("attribution")
    if attribution is not None:
        extras += unknown_attribution(str(attribution))
    ids = [some.get("id") for some in properties]
    return ReleasedFile(
        lines, ids if any(i is not None for i in ids) else None, extras, attribution
    )


def _unneeded(collection: dict[str, Any]) -> list[str]:
    """Name every member that a release does not need."""
    members = {
        "member": [(collection, {"type", "features", "attribution"})],
        "feature member": [
            (feature, {"type", "properties", "geometry"})
            for feature in collection["features"]
        ],
        "property": [
            (feature.get("properties") or {}, {"id"})
            for feature in collection["features"]
        ],
        "geometry member": [
            (feature["geometry"] or {}, {"type", "coordinates"})
            for feature in collection["features"]
        ],
    }
    extras = [
        f"{kind} {name!r}"
        for kind, owners in members.items()
        for name in sorted(
            {key for owner, known in owners for key in set(owner) - known}
        )
    ]
    types = {feature["type"] for feature in collection["features"]}
    for found, right in (
        ({collection["type"]}, "FeatureCollection"),
        (types, "Feature"),
    ):
        extras += [f"the type {other!r}" for other in sorted(found - {right})]
    return extras


def _told_twice(text: str) -> list[str]:
    """Name members that stand twice in one object, of which a reader sees the last."""
    twice: set[str] = set()

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = Counter(name for name, _ in pairs)
        twice.update(name for name, count in names.items() if count > 1)

    json.loads(text, object_pairs_hook=look)
    return [f"member {name!r} twice" for name in sorted(twice)]


def _lines(geometries: list[Any], literal: list[Any]) -> Lines:
    kinds = ["nothing" if one is None else str(one["type"]) for one in geometries]
    points, written = [], []
    for kind, geometry, text in zip(kinds, geometries, literal, strict=True):
        line = kind == LINE
        points.append(
            np.array(geometry["coordinates"] if line else [], dtype=np.float64)
        )
        written.append(json.dumps(text["coordinates"] if line else None))
    return Lines.of_texts(points, written, kinds)
