"""A release as text: CSV, GeoJSON (RFC 7946) or GPX 1.1."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files import arrow
from trajanon.files.release_lines import (
    COUNTED,
    Lines,
    ReleaseFormat,
    beside_lines,
    clock_of,
    counted_in,
    once_each,
    sentence_of,
    told_in,
    words_of,
)
from trajanon.times import instants, seconds_in
from trajanon.trajectories import Trajectories

_COUNT = re.compile("(people|records) ([0-9]{1,12})")
_GPX = """\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="trajanon" xmlns="http://www.topografix.com/GPX/1/1">
"""


def _as_whole(times: Floats) -> list[str]:
    return [str(int(second)) for second in times]


def write_rows(
    path: Path,
    release: Trajectories,
    head: str,
    point: str,
    between: str,
    row: Callable[[int, str, str], str],
    tail: str = "",
    told: Callable[[Floats], Sequence[str]] = _as_whole,
) -> None:
    """Write a row for each line, of its number, its points and its times.

    ``point`` is a template for latitude, longitude and time, which ``told`` makes texts of times.
    """
    m, known = release.points.shape[1], dict[bytes, tuple[str, str]]()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        for number, line in enumerate(release.points, start=1):
            times = None if release.times is None else release.times[number - 1]
            key = line.tobytes() + (b"" if times is None else times.tobytes())
            if key not in known:  # the text of equal lines is made once
                texts = [""] * m if times is None else told(times)
                points = (
                    point.format(_as_text(lat), _as_text(lon), text)
                    for (lat, lon), text in zip(line.tolist(), texts, strict=True)
                )
                known[key] = between.join(points), ", ".join(texts)
            file.write(row(number, *known[key]))
        file.write(tail)


def _as_text(degrees: float) -> str:
    """Write a number with the digits it needs, and never as 5e-05."""
    text = repr(degrees)
    return np.format_float_positional(degrees) if "e" in text else text


def _write_csv(path: Path, release: Trajectories) -> None:
    """Write id, lat1, lon1, and with times time1, ...; words are columns, so none can get lost."""
    release, counts = once_each(release)
    axes = ("lat", "lon") if release.times is None else ("lat", "lon", "time")
    names = [f"{axis}{i}" for i in range(1, release.points.shape[1] + 1) for axis in axes]
    more = last = ""
    for name, text in (("attribution", release.attribution), ("times", sentence_of(release))):
        if text is not None:
            doubled = text.replace('"', '""')
            more, last = f"{more},{name}", f'{last},"{doubled}"'
    head = f"id,{'' if counts is None else f'{counted_in(release)},'}{','.join(names)}{more}\n"
    point = ",".join(["{}"] * len(axes))

    def row(number: int, line: str, _: str) -> str:
        count = "" if counts is None else f"{counts[number - 1]},"
        return f"{number},{count}{line}{last}\n"

    write_rows(path, release, head, point, ",", row)


def _read_csv(path: Path) -> Lines:
    with arrow.reading(path, "CSV", ValueError, OverflowError):
        header = set(pd.read_csv(path, nrows=0).columns)
        m = 0
        while {f"lat{m + 1}", f"lon{m + 1}"} <= header:
            m += 1
        names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lon", "lat")]
        moments = [f"time{i}" for i in range(1, m + 1)]
        table = pd.read_csv(
            path,
            usecols=[*names, *header & {"attribution", *COUNTED, "times", *moments}],
            dtype=dict.fromkeys([*names, *moments], np.float64),
        )
    if m == 0:
        raise FileProblem(
            f"{path} is no release: it has no columns lat1, lon1, lat2, lon2, ...; to "
            "check columns of a table, name them with trajanon check --columns"
        )
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise FileProblem(f"{path} has rows with more values than its header has names")
    first = [
        str(said[0]) if len(said) else None
        for said in (table.get(name, ()) for name in ("attribution", "times"))
    ]
    lines = list(table[names].to_numpy().reshape(-1, m, 2))
    timed = not header.isdisjoint(moments)
    times = table.reindex(columns=moments).to_numpy() if timed else None
    counted = {name: table[name].tolist() for name in COUNTED if name in header}
    return Lines.of_points(lines).told(first[0], times, first[1], counted)


def collection_head(release: Trajectories) -> str:
    """How a feature collection begins, with the words on a release as its members."""
    words = (("attribution", release.attribution), ("times", sentence_of(release)))
    said = "".join(
        f'"{name}": {json.dumps(text, ensure_ascii=False)}, '
        for name, text in words
        if text is not None
    )
    return f'{{"type": "FeatureCollection", {said}"features": [\n'


def collection_of(
    path: Path,
    kind: str,
    of: str,
    geometry: str,
    times_of: Callable[[Any], Any],
    seconds: Callable[[list[Any], str | None], list[Any]] = lambda times, _: times,
) -> Lines:
    """Read a feature collection: coordinates of a geometry, times of a feature, and words."""
    try:
        collection = json.loads(path.read_text(encoding="utf-8-sig"))
        features = collection["features"]
        lines = [np.array(one[geometry]["coordinates"], dtype=np.float64) for one in features]
        attribution, sentence = (
            None if text is None else str(text)
            for text in map(collection.get, ("attribution", "times"))
        )
        times = [times_of(one) for one in features]
        told = [one.get("properties") or {} for one in features]
        counts = {name: [one.get(name) for one in told] for name in COUNTED}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise FileProblem(f"cannot read {path} as a {kind} feature collection of {of}") from error
    except RecursionError as error:
        raise FileProblem(f"{path} is nested too deeply for {kind}") from error
    timed = any(some is not None for some in times)
    if timed:  # a height of 0 and a time follow the places
        lines = [line[:, :2] if line.shape[1:] == (4,) else line for line in lines]
    found = seconds(times, sentence) if timed else None
    counted = {
        name: some for name, some in counts.items() if any(value is not None for value in some)
    }
    return Lines.of_points(lines).told(attribution, found, sentence, counted)


def _write_geojson(path: Path, release: Trajectories) -> None:
    """Write a collection of lines; the words on them are members of it.

    With times, a point has a height of 0 and the seconds since 1970 after its place, as kepler.gl
    takes them for a trip.
    """
    release, counts = once_each(release)
    clock, columns = clock_of(release), beside_lines(release, counts)
    if release.times is not None:
        texts = np.datetime_as_string(columns["departure"], unit="s")
        columns["departure"] = np.char.add(texts, "Z")
        columns["times"] = release.times.astype(np.int64)
    values = zip(*(column.tolist() for column in columns.values()), strict=True)

    def told(times: Floats) -> list[str]:
        since_1970 = instants(times, clock).astype("datetime64[ms]").astype(np.int64) / 1000
        return [f"{second:.3f}".rstrip("0").rstrip(".") for second in since_1970.tolist()]

    def feature(number: int, line: str, _: str) -> str:
        comma = "," if number < len(release) else ""
        properties = json.dumps(dict(zip(columns, next(values), strict=True)))
        return (
            f'{{"type": "Feature", "properties": {properties}, "geometry": '
            f'{{"type": "LineString", "coordinates": [{line}]}}}}{comma}\n'
        )

    point = "[{1}, {0}]" if release.times is None else "[{1}, {0}, 0, {2}]"
    write_rows(path, release, collection_head(release), point, ", ", feature, "]}\n", told)


def _read_geojson(path: Path) -> Lines:
    return collection_of(
        path,
        "GeoJSON",
        "lines",
        "geometry",
        lambda feature: (feature.get("properties") or {}).get("times"),
    )


def _write_gpx(path: Path, release: Trajectories) -> None:
    """Write a track for each line, without a name; the metadata describe the whole.

    The format has no place for a count but a comment.
    """
    release, counts = once_each(release)
    counted = counted_in(release)
    clock, said = clock_of(release), ""
    if (words := words_of(release)) is not None:
        said = f" <metadata>\n  <desc>{escape(words)}</desc>\n </metadata>\n"

    def told(times: Floats) -> list[str]:
        texts = np.datetime_as_string(instants(times, clock), unit="ms")
        return [f"{text}Z" for text in texts]

    def track(number: int, line: str, _: str) -> str:
        segment = f"  <trkseg>\n{line}  </trkseg>\n"
        many = "" if counts is None else f"  <cmt>{counted} {counts[number - 1]}</cmt>\n"
        return f" <trk>\n{many}  <number>{number}</number>\n{segment} </trk>\n"

    more = " />" if clock is None else "><time>{}</time></trkpt>"
    point = f'   <trkpt lat="{{}}" lon="{{}}"{more}\n'
    write_rows(path, release, _GPX + said, point, "", track, "</gpx>\n", told)


def _read_gpx(path: Path) -> Lines:
    try:
        root = ElementTree.parse(path).getroot()
        tracks = [
            [(point.attrib["lon"], point.attrib["lat"]) for point in track.iterfind(".//{*}trkpt")]
            for track in root.iterfind("{*}trk")
        ]
        lines = [np.array(track, dtype=np.float64) for track in tracks]
        comments = [track.findtext("{*}cmt") for track in root.iterfind("{*}trk")]
        timed = root.find(".//{*}trkpt/{*}time") is not None
        words = told_in(root.findtext(".//{*}desc"), timed=timed)
        dates = None
        if timed:
            dates = [
                [point.findtext("{*}time") for point in track.iterfind(".//{*}trkpt")]
                for track in root.iterfind("{*}trk")
            ]
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise FileProblem(f"cannot read {path} as GPX") from error
    kind = root.tag.rpartition("}")[2]
    if kind != "gpx":
        raise FileProblem(f"{path} is not GPX: it begins with <{kind}>")
    times = None if dates is None else seconds_in(dates, words[1])
    counted = {}
    if any(comments):
        told = [_COUNT.fullmatch(comment or "") for comment in comments]
        name = next((one[1] for one in told if one), COUNTED[0])
        counted[name] = [None if one is None else int(one[2]) for one in told]
    return Lines.of_points(lines).told(words[0], times, words[1], counted)


CSV = ReleaseFormat(_write_csv, _read_csv)
GEOJSON = ReleaseFormat(_write_geojson, _read_geojson)
GPX = ReleaseFormat(_write_gpx, _read_gpx)
