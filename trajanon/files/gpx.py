"""A release as GPX 1.1: a track a trajectory, no times, no names."""

import codecs
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

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

_SPACE = "http://www.topografix.com/GPX/1/1"
_CREATOR = "trajanon"
_HEAD = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="{_CREATOR}" xmlns="{_SPACE}">
"""
_KNOWN = {
    "gpx": {"metadata", "trk"},
    "metadata": {"desc"},
    "desc": set(),
    "trk": {"number", "trkseg"},
    "number": set(),
    "trkseg": {"trkpt"},
    "trkpt": set(),
}
"""Elements of a release, and what may stand in each."""

_ATTRIBUTES = {"gpx": {"version", "creator"}, "trkpt": {"lat", "lon"}}


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is the description in the metadata."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_HEAD)
        if attribution is not None:
            desc = escape(attribution)
            file.write(f" <metadata>\n  <desc>{desc}</desc>\n </metadata>\n")
        for number, segment in enumerate(texts(points, _segment), start=1):
            file.write(f" <trk>\n  <number>{number}</number>\n{segment} </trk>\n")
        file.write("</gpx>\n")


def _segment(line: list[list[float]]) -> str:
    trackpoints = "".join(
        f'   <trkpt lat="{as_text(lat)}" lon="{as_text(lon)}" />\n' for lat, lon in line
    )
    return f"  <trkseg>\n{trackpoints}  </trkseg>\n"


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it is not GPX.
    """
    try:
        text = path.read_bytes()
        root = ElementTree.fromstring(text)
        tracks = [e for e in root if _name(e) == "trk"]
        lines = _lines(tracks)
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        msg = f"cannot read {path} as GPX"
        raise FileProblem(msg) from error
    if _name(root) != "gpx":
        msg = f"{path} is not GPX: it begins with <{_name(root)}>"
        raise FileProblem(msg)
    extras = _unneeded(root)
    if b"\0" in text:  # UTF-16, in which the next would not be seen
        extras.append("an encoding other than UTF-8")
    declared = text.removeprefix(codecs.BOM_UTF8).startswith(b"<?xml")
    if b"<!" in text or text.count(b"<?") > declared:
        extras.append("comments, instructions or a document type")
    if text.count(b"xmlns") > 1 or root.tag not in ("gpx", f"{{{_SPACE}}}gpx"):
        extras.append("names of other formats (xmlns)")
    if (root.get("version"), root.get("creator")) != ("1.1", _CREATOR):
        extras.append(
            f"version {root.get('version')!r} or an unknown creator "
            f"{root.get('creator')!r}"
        )
    said = [e.text or "" for e in root.iter() if _name(e) == "desc"]
    extras += [extra for words in said for extra in unknown_attribution(words)]
    ids = [
        " ".join(e.text or "" for e in track if _name(e) == "number")
        for track in tracks
    ]
    return ReleasedFile(
        lines, ids if any(ids) else None, extras, said[0] if said else None
    )


def _unneeded(root: ElementTree.Element) -> list[str]:
    """Count elements, attributes and words that a release does not need."""
    unneeded: Counter[str] = Counter()
    for element in root.iter():
        name = _name(element)
        for child in element:
            if _name(child) not in _KNOWN.get(name, ()):
                unneeded[f"<{_name(child)}> in <{name}>"] += 1
            if (child.tail or "").strip():
                unneeded[f"text in <{name}>"] += 1
        if name not in ("desc", "number") and (element.text or "").strip():
            unneeded[f"text in <{name}>"] += 1
        for attribute in set(element.attrib) - _ATTRIBUTES.get(name, set()):
            unneeded[f"{name} {attribute}="] += 1
    return [f"{count} × {what}" for what, count in sorted(unneeded.items())]


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _lines(tracks: list[ElementTree.Element]) -> Lines:
    texts = [
        [
            (point.attrib["lon"], point.attrib["lat"])
            for point in track.iter()
            if _name(point) == "trkpt"
        ]
        for track in tracks
    ]
    # Where a track is broken it may differ from others with the same points.
    pieces = [sum(_name(e) == "trkseg" for e in track) for track in tracks]
    return Lines.of_texts(
        [np.array(line, dtype=np.float64).reshape(-1, 2) for line in texts],
        [str(line) for line in texts],
        [LINE if n == 1 else f"tracks of {n} segments" for n in pieces],
    )
