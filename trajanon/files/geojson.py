"""A release as GeoJSON (RFC 7946)."""

import json
from pathlib import Path

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files.release_lines import Lines, ReleasedFile, as_text, texts


def write_geojson(path: Path, points: Floats, attribution: str | None) -> None:
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


def read_geojson(path: Path) -> ReleasedFile:
    """Read the lines of a release."""
    try:
        collection = json.loads(path.read_text(encoding="utf-8-sig"))
        lines = [
            np.array(feature["geometry"]["coordinates"], dtype=np.float64)
            for feature in collection["features"]
        ]
        attribution = collection.get("attribution")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        msg = f"cannot read {path} as a GeoJSON feature collection of lines"
        raise FileProblem(msg) from error
    except RecursionError as error:
        msg = f"{path} is nested too deeply for GeoJSON"
        raise FileProblem(msg) from error
    said = None if attribution is None else str(attribution)
    return ReleasedFile(Lines.of_points(lines), said)
