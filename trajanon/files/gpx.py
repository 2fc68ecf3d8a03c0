"""A release as GPX 1.1: a track a trajectory, no times, no names."""

from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files.release_lines import Lines, ReleasedFile, as_text, texts

_SPACE = "http://www.topografix.com/GPX/1/1"
_CREATOR = "trajanon"
_HEAD = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="{_CREATOR}" xmlns="{_SPACE}">
"""


def write_gpx(path: Path, points: Floats, attribution: str | None) -> None:
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


def read_gpx(path: Path) -> ReleasedFile:
    """Read the lines of a release."""
    try:
        root = ElementTree.parse(path).getroot()
        lines = [
            np.array(
                [
                    (point.attrib["lon"], point.attrib["lat"])
                    for point in track.iter()
                    if _name(point) == "trkpt"
                ],
                dtype=np.float64,
            )
            for track in root
            if _name(track) == "trk"
        ]
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        msg = f"cannot read {path} as GPX"
        raise FileProblem(msg) from error
    if _name(root) != "gpx":
        msg = f"{path} is not GPX: it begins with <{_name(root)}>"
        raise FileProblem(msg)
    said = [e.text or "" for e in root.iter() if _name(e) == "desc"]
    return ReleasedFile(Lines.of_points(lines), said[0] if said else None)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
