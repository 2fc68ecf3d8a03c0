"""A release as text: CSV, GeoJSON (RFC 7946), GPX 1.1, Moving Features JSON (OGC 19-045r3)."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files import arrow
from trajanon.files.release_lines import COUNTED, Layout, Lines, ReleaseFormat, words_in
from trajanon.times import instants, seconds_in
from trajanon.trajectories import Trajectories

_COUNT = re.compile("(people|records) ([0-9]{1,12})")
_GPX = """\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="trajanon" xmlns="http://www.topografix.com/GPX/1/1">
"""


def _write(path: Path, head: str, rows: Iterable[str], tail: str = "") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        file.writelines(rows)
        file.write(tail)


def _texts(
    lines: Trajectories, point: str, between: str, texts_of: Callable[[Floats], Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Write the points of each line, and its times.

    ``point`` is a template for latitude, longitude and time, which ``texts_of`` makes of times.
    """
    known: dict[bytes, tuple[str, str]] = {}
    untimed = [""] * lines.points.shape[1]
    for number, line in enumerate(lines.points):
        times = None if lines.times is None else lines.times[number]
        key = line.tobytes() + (b"" if times is None else times.tobytes())
        if key not in known:  # the text of equal lines is made once
            texts = untimed if times is None else texts_of(times)
            points = (
                point.format(_as_text(lat), _as_text(lon), text)
                for (lat, lon), text in zip(line.tolist(), texts, strict=True)
            )
            known[key] = between.join(points), ", ".join(texts)
        yield known[key]


def _as_text(degrees: float) -> str:
    """Write a number with the digits it needs, and never as 5e-05."""
    text = repr(degrees)
    return np.format_float_positional(degrees) if "e" in text else text


def _whole(times: Floats) -> list[str]:
    return [str(int(second)) for second in times]


def _rows(columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Take columns apart to what stands beside each line."""
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in values)


def _write_csv(path: Path, release: Trajectories) -> None:
    """Write id, lat1, lon1, and with times time1, ...; words are columns, so none can get lost."""
    lines, counts, _, words = Layout.of(release)
    axes = ("lat", "lon") if lines.times is None else ("lat", "lon", "time")
    places = [f"{axis}{i}" for i in range(1, lines.points.shape[1] + 1) for axis in axes]
    last = "".join(',"{}"'.format(text.replace('"', '""')) for text in words.values())
    rows = (
        f"{','.join(map(str, beside.values()))},{line}{last}\n"
        for beside, (line, _) in zip(
            _rows({"id": np.arange(1, len(lines) + 1), **counts}),
            _texts(lines, ",".join(["{}"] * len(axes)), ",", _whole),
            strict=True,
        )
    )
    _write(path, ",".join(["id", *counts, *places, *words]) + "\n", rows)


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
    attribution, sentence = (
        str(words[0]) if len(words) else None
        for words in (table.get(name, ()) for name in ("attribution", "times"))
    )
    lines = list(table[names].to_numpy().reshape(-1, m, 2))
    timed = not header.isdisjoint(moments)
    times = table.reindex(columns=moments).to_numpy() if timed else None
    counts = {name: table[name].tolist() for name in COUNTED if name in header}
    return Lines.of_points(lines).with_words(attribution, times, sentence, counts)


def _write_collection(
    path: Path, words: dict[str, str], features: Iterable[tuple[dict[str, Any], str]]
) -> None:
    """Write a feature collection, of properties and the text of a geometry; words are members."""
    said = "".join(
        f'"{name}": {json.dumps(text, ensure_ascii=False)}, ' for name, text in words.items()
    )
    written = (
        f'{comma}{{"type": "Feature", "properties": {json.dumps(properties)}, {geometry}}}'
        for comma, (properties, geometry) in zip(chain([""], repeat(",\n")), features, strict=False)
    )
    _write(path, f'{{"type": "FeatureCollection", {said}"features": [\n', written, "\n]}\n")


def _read_collection(
    path: Path,
    kind: str,
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
        beside = [one.get("properties") or {} for one in features]
        counts = {
            name: [one.get(name) for one in beside]
            for name in COUNTED
            if any(one.get(name) is not None for one in beside)
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise FileProblem(f"cannot read {path} as a {kind} feature collection") from error
    except RecursionError as error:
        raise FileProblem(f"{path} is nested too deeply for {kind}") from error
    found = None
    if any(some is not None for some in times):  # a height of 0 and a time follow the places
        lines = [line[:, :2] if line.shape[1:] == (4,) else line for line in lines]
        found = seconds(times, sentence)
    return Lines.of_points(lines).with_words(attribution, found, sentence, counts)


def _write_geojson(path: Path, release: Trajectories) -> None:
    """Write a collection of lines.

    With times, a point has a height of 0 and the seconds since 1970 after its place, as kepler.gl
    takes them for a trip.
    """
    layout = Layout.of(release)
    lines, columns = layout.lines, layout.columns
    if lines.times is not None:
        texts = np.datetime_as_string(columns["departure"], unit="s")
        columns["departure"] = np.char.add(texts, "Z")
        columns["times"] = lines.times.astype(np.int64)

    def since_1970(times: Floats) -> list[str]:
        seconds = instants(times, layout.clock).astype("datetime64[ms]").astype(np.int64) / 1000
        return [f"{second:.3f}".rstrip("0").rstrip(".") for second in seconds.tolist()]

    point = "[{1}, {0}]" if lines.times is None else "[{1}, {0}, 0, {2}]"
    geometries = (
        f'"geometry": {{"type": "LineString", "coordinates": [{line}]}}'
        for line, _ in _texts(lines, point, ", ", since_1970)
    )
    _write_collection(path, layout.words, zip(_rows(columns), geometries, strict=True))


def _read_geojson(path: Path) -> Lines:
    return _read_collection(
        path, "GeoJSON", "geometry", lambda feature: (feature.get("properties") or {}).get("times")
    )


def _write_mf_json(path: Path, release: Trajectories) -> None:
    """Write a collection of moving points."""
    lines, counts, clock, words = Layout.of(release)

    def dates(times: Floats) -> list[str]:
        return [f'"{text}Z"' for text in np.datetime_as_string(instants(times, clock), unit="ms")]

    geometries = (
        f'"temporalGeometry": {{"type": "MovingPoint", "datetimes": [{times}], '
        f'"coordinates": [{line}]}}'
        for line, times in _texts(lines, "[{1}, {0}]", ", ", dates)
    )
    beside = _rows({"id": np.arange(1, len(lines) + 1), **counts})
    _write_collection(path, words, zip(beside, geometries, strict=True))


def _read_mf_json(path: Path) -> Lines:
    return _read_collection(
        path,
        "Moving Features JSON",
        "temporalGeometry",
        lambda feature: feature["temporalGeometry"].get("datetimes"),
        seconds_in,
    )


def _write_gpx(path: Path, release: Trajectories) -> None:
    """Write a track for each line, without a name; the metadata describe the whole.

    The format has no place for a count but a comment.
    """
    layout = Layout.of(release)
    lines, counts, clock, _ = layout
    head = _GPX
    if layout.text is not None:
        head += f" <metadata>\n  <desc>{escape(layout.text)}</desc>\n </metadata>\n"

    def dates(times: Floats) -> list[str]:
        return [f"{text}Z" for text in np.datetime_as_string(instants(times, clock), unit="ms")]

    more = " />" if clock is None else "><time>{}</time></trkpt>"
    point = f'   <trkpt lat="{{}}" lon="{{}}"{more}\n'
    comments = [
        f"  <cmt>{name} {count}</cmt>\n"
        for name, values in counts.items()
        for count in values.tolist()
    ] or [""] * len(lines)
    tracks = (
        f" <trk>\n{comment}  <number>{number}</number>\n  <trkseg>\n{line}  </trkseg>\n </trk>\n"
        for number, (comment, (line, _)) in enumerate(
            zip(comments, _texts(lines, point, "", dates), strict=True), start=1
        )
    )
    _write(path, head, tracks, "</gpx>\n")


def _read_gpx(path: Path) -> Lines:
    try:
        root = ElementTree.parse(path).getroot()
        tracks = [list(track.iterfind(".//{*}trkpt")) for track in root.iterfind("{*}trk")]
        lines = [
            np.array([(point.attrib["lon"], point.attrib["lat"]) for point in track], np.float64)
            for track in tracks
        ]
        comments = [track.findtext("{*}cmt") or "" for track in root.iterfind("{*}trk")]
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise FileProblem(f"cannot read {path} as GPX") from error
    kind = root.tag.rpartition("}")[2]
    if kind != "gpx":
        raise FileProblem(f"{path} is not GPX: it begins with <{kind}>")
    timed = root.find(".//{*}trkpt/{*}time") is not None
    attribution, sentence = words_in(root.findtext(".//{*}desc"), timed=timed)
    times = None
    if timed:
        dates = [[point.findtext("{*}time") for point in track] for track in tracks]
        times = seconds_in(dates, sentence)
    counts = {}
    if any(comments):
        found = [_COUNT.fullmatch(comment) for comment in comments]
        name = next((one[1] for one in found if one), COUNTED[0])
        counts[name] = [None if one is None else int(one[2]) for one in found]
    return Lines.of_points(lines).with_words(attribution, times, sentence, counts)


CSV = ReleaseFormat(_write_csv, _read_csv)
GEOJSON = ReleaseFormat(_write_geojson, _read_geojson)
GPX = ReleaseFormat(_write_gpx, _read_gpx)
MF_JSON = ReleaseFormat(_write_mf_json, _read_mf_json, only_timed=True)
