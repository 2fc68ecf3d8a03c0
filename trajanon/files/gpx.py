"""A release as GPX 1.1: a track a trajectory, no times, no names."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import DECIMALS, Line, ReleasedFile, unknown_attribution

_SPACE = "http://www.topografix.com/GPX/1/1"
_CREATOR = "trajanon"
_KNOWN = {
    "gpx": {"version", "creator"},
    "metadata": set(),
    "desc": set(),
    "trk": set(),
    "number": set(),
    "trkseg": set(),
    "trkpt": {"lat", "lon"},
}


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is the description in the metadata."""
    root = ElementTree.Element(
        "gpx", {"version": "1.1", "creator": _CREATOR, "xmlns": _SPACE}
    )
    if attribution is not None:
        metadata = ElementTree.SubElement(root, "metadata")
        ElementTree.SubElement(metadata, "desc").text = attribution
    for number, line in enumerate(points.tolist(), start=1):
        track = ElementTree.SubElement(root, "trk")
        ElementTree.SubElement(track, "number").text = str(number)
        segment = ElementTree.SubElement(track, "trkseg")
        for lat, lon in line:
            ElementTree.SubElement(
                segment,
                "trkpt",
                {"lat": f"{lat:.{DECIMALS}f}", "lon": f"{lon:.{DECIMALS}f}"},
            )
    ElementTree.indent(root, " ")
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not GPX.
    """
    try:
        root = ElementTree.parse(path).getroot()
        tracks = [e for e in root if _name(e) == "trk"]
        lines = [Line(_coordinates(track)) for track in tracks]
    except (OSError, ElementTree.ParseError, ValueError, KeyError) as error:
        msg = f"cannot read {path} as GPX"
        raise FileProblem(msg) from error
    if _name(root) != "gpx":
        msg = f"{path} is not GPX: it begins with <{_name(root)}>"
        raise FileProblem(msg)
    unknown: Counter[str] = Counter()
    for element in root.iter():
        name = _name(element)
        if name not in _KNOWN:
            unknown[f"<{name}>"] += 1
        else:
            unknown.update(
                f"{name} {key}=" for key in set(element.attrib) - _KNOWN[name]
            )
    extras = [f"{count} × {name}" for name, count in sorted(unknown.items())]
    if root.get("creator") != _CREATOR:
        extras.append(f"an unknown creator {root.get('creator')!r}")
    texts = [e.text or "" for e in root.iter() if _name(e) == "desc"]
    extras += [extra for text in texts for extra in unknown_attribution(text)]
    ids = [e.text for track in tracks for e in track if _name(e) == "number"]
    return ReleasedFile(lines, ids or None, extras, texts[0] if texts else None)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _coordinates(track: ElementTree.Element) -> NDArray[np.float64]:
    points = [e for e in track.iter() if _name(e) == "trkpt"]
    pairs = [(float(p.attrib["lon"]), float(p.attrib["lat"])) for p in points]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)
