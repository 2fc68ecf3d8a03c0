"""A release as GeoJSON (RFC 7946)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import Line, ReleasedFile, unknown_attribution


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is a member of the collection."""
    collection: dict[str, Any] = {"type": "FeatureCollection"}
    if attribution is not None:
        collection["attribution"] = attribution
    collection["features"] = [
        {
            "type": "Feature",
            "properties": {"id": number},
            "geometry": {"type": "LineString", "coordinates": line},
        }
        for number, line in enumerate(points[:, :, ::-1].tolist(), start=1)
    ]
    path.write_text(json.dumps(collection, ensure_ascii=False), encoding="utf-8")


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not a GeoJSON feature collection.
    """
    try:
        collection = json.loads(path.read_text(encoding="utf-8"))
        features = collection["features"]
        lines = [_line(feature["geometry"]) for feature in features]
        properties = [feature.get("properties") or {} for feature in features]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"cannot read {path} as a GeoJSON feature collection"
        raise FileProblem(msg) from error
    extras = [
        f"member {key!r}"
        for key in collection
        if key not in ("type", "features", "attribution")
    ]
    attribution = collection.get("attribution")
    if attribution is not None:
        extras += unknown_attribution(str(attribution))
    members = {key for feature in features for key in feature}
    members -= {"type", "properties", "geometry"}
    names = {name for some in properties for name in some} - {"id"}
    extras += [f"feature member {key!r}" for key in sorted(members)]
    extras += [f"property {name!r}" for name in sorted(names)]
    ids = [some.get("id") for some in properties]
    return ReleasedFile(
        lines, ids if any(i is not None for i in ids) else None, extras, attribution
    )


def _line(geometry: Any) -> Line:
    if geometry is None:
        return Line(np.empty((0, 2)), "nothing")
    if geometry["type"] != "LineString":
        return Line(np.empty((0, 2)), str(geometry["type"]))
    return Line(np.array(geometry["coordinates"], dtype=np.float64))
