"""A release as text: CSV, GeoJSON (RFC 7946) or GPX 1.1."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files import arrow
from trajanon.files.release_lines import Lines, ReleaseFormat

_GPX = """\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="trajanon" xmlns="http://www.topografix.com/GPX/1/1">
"""


def _write(
    path: Path,
    points: Floats,
    head: str,
    point: str,
    between: str,
    row: Callable[[int, str], str],
    tail: str = "",
) -> None:
    """Write a row for each line, (n, m, 2); ``point`` is a template for latitude and longitude."""
    known: dict[bytes, str] = {}
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        for number, line in enumerate(points, start=1):
            key = line.tobytes()
            if key not in known:  # the text of equal lines is made once
                known[key] = between.join(
                    point.format(_as_text(lat), _as_text(lon)) for lat, lon in line.tolist()
                )
            file.write(row(number, known[key]))
        file.write(tail)


def _as_text(degrees: float) -> str:
    """Write a number with the digits it needs, and never as 5e-05."""
    text = repr(degrees)
    return np.format_float_positional(degrees) if "e" in text else text


def _write_csv(path: Path, points: Floats, attribution: str | None) -> None:
    """Write id, lat1, lon1, ..., latm, lonm; the attribution is a column, so it cannot get lost."""
    names = [f"{axis}{i}" for i in range(1, points.shape[1] + 1) for axis in ("lat", "lon")]
    more = last = ""
    if attribution is not None:
        doubled = attribution.replace('"', '""')
        more, last = ",attribution", f',"{doubled}"'
    head = f"id,{','.join(names)}{more}\n"
    _write(path, points, head, "{},{}", ",", lambda number, line: f"{number},{line}{last}\n")


def _read_csv(path: Path) -> Lines:
    with arrow.reading(path, "CSV", ValueError, OverflowError):
        header = set(pd.read_csv(path, nrows=0).columns)
        m = 0
        while {f"lat{m + 1}", f"lon{m + 1}"} <= header:
            m += 1
        names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lon", "lat")]
        table = pd.read_csv(
            path,
            usecols=[*names, *header & {"attribution"}],
            dtype=dict.fromkeys(names, np.float64),
        )
    if m == 0:
        msg = (
            f"{path} is no release: it has no columns lat1, lon1, lat2, lon2, ...; to "
            "check columns of a table, name them with trajanon check --columns"
        )
        raise FileProblem(msg)
    if not isinstance(table.index, pd.RangeIndex):
        msg = f"{path} has rows with more values than its header has names"
        raise FileProblem(msg)
    said = table.get("attribution", ())
    lines = list(table[names].to_numpy().reshape(-1, m, 2))
    return Lines.of_points(lines, str(said[0]) if len(said) else None)


def _write_geojson(path: Path, points: Floats, attribution: str | None) -> None:
    """Write a collection of lines; the attribution is a member of it."""
    words = json.dumps(attribution, ensure_ascii=False)
    said = "" if attribution is None else f'"attribution": {words}, '

    def feature(number: int, line: str) -> str:
        comma = "," if number < len(points) else ""
        return (
            f'{{"type": "Feature", "properties": {{"id": {number}}}, "geometry": '
            f'{{"type": "LineString", "coordinates": [{line}]}}}}{comma}\n'
        )

    head = f'{{"type": "FeatureCollection", {said}"features": [\n'
    _write(path, points, head, "[{1}, {0}]", ", ", feature, "]}\n")


def _read_geojson(path: Path) -> Lines:
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
    return Lines.of_points(lines, said)


def _write_gpx(path: Path, points: Floats, attribution: str | None) -> None:
    """Write a track for each line, without times or names; the metadata describe the whole."""
    said = ""
    if attribution is not None:
        said = f" <metadata>\n  <desc>{escape(attribution)}</desc>\n </metadata>\n"

    def track(number: int, line: str) -> str:
        segment = f"  <trkseg>\n{line}  </trkseg>\n"
        return f" <trk>\n  <number>{number}</number>\n{segment} </trk>\n"

    point = '   <trkpt lat="{}" lon="{}" />\n'
    _write(path, points, _GPX + said, point, "", track, "</gpx>\n")


def _read_gpx(path: Path) -> Lines:
    try:
        root = ElementTree.parse(path).getroot()
        tracks = [
            [(point.attrib["lon"], point.attrib["lat"]) for point in track.iterfind(".//{*}trkpt")]
            for track in root.iterfind("{*}trk")
        ]
        lines = [np.array(track, dtype=np.float64) for track in tracks]
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        msg = f"cannot read {path} as GPX"
        raise FileProblem(msg) from error
    kind = root.tag.rpartition("}")[2]
    if kind != "gpx":
        msg = f"{path} is not GPX: it begins with <{kind}>"
        raise FileProblem(msg)
    return Lines.of_points(lines, root.findtext(".//{*}desc"))


CSV = ReleaseFormat(_write_csv, _read_csv)
GEOJSON = ReleaseFormat(_write_geojson, _read_geojson)
GPX = ReleaseFormat(_write_gpx, _read_gpx)
