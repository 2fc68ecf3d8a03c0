"""A release as GeoPackage, GeoJSON, Moving Features JSON (OGC 19-045r3), GPX 1.1 or CSV."""

import errno
import hashlib
import json
import os
import re
import sqlite3
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Column
from trajanon.common.errors import FileProblem
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.files import arrow
from trajanon.files.release_contents import COUNTED, Layout, Lines, ReleaseFormat, words_in
from trajanon.files.times_of_points import instants, seconds_in
from trajanon.trajectories.trajectories import TrajectoryRows

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_LAYER_NAME = "anonymized"

_SQLITE_COUNTERS = (24, 92)
"""Bytes at which a file counts SQLite's transactions; set to 1, as GDAL makes one more at times."""

_SQLITE_BEGINNING = b"SQLite format 3\0"
_COUNT_COMMENT = re.compile("(people|records) ([0-9]{1,12})")

GPX_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="trajanon" xmlns="http://www.topografix.com/GPX/1/1">
"""
"""How each GPX file of ours begins; it ends with </gpx>."""


def _write_geopackage(path: Path, release: TrajectoryRows) -> None:
    """Write a release: attribution and clock describe its layer, and times are a JSON column."""
    import geopandas

    layout = Layout.of(release)
    lines = layout.lines
    columns = layout.columns
    if lines.times is not None:
        # All times of a GeoPackage are in UTC.
        columns["departure"] = pd.to_datetime(columns["departure"], utc=True)
        seconds = lines.times.astype(int).tolist()
        columns["times"] = np.array([json.dumps(line_seconds) for line_seconds in seconds])

    shapes = shapely.linestrings(lines.points[:, :, ::-1])
    table = geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326")
    write_layer(path, table, _LAYER_NAME, layout.text)


def write_layer(path: Path, table: "GeoDataFrame", layer: str, description: str | None) -> None:
    """Write a table as a layer with a description: the same bytes on every day."""
    path.unlink(missing_ok=True)  # GDAL takes an empty file for a broken one
    options = {} if description is None else {"DESCRIPTION": description}

    try:
        table.to_file(path, driver="GPKG", layer=layer, engine="pyogrio", **options)
        with closing(sqlite3.connect(path)) as file:
            same_date = "1970-01-01T00:00:00.000Z"  # GeoPackage demands a date
            file.execute("UPDATE gpkg_contents SET last_change = ?", [same_date])
            file.commit()
        with path.open("r+b") as header:
            for position in _SQLITE_COUNTERS:
                header.seek(position)
                header.write(bytes((0, 0, 0, 1)))
    except (RuntimeError, sqlite3.Error) as error:  # pyogrio's errors are RuntimeErrors
        # Their messages speak of SQL: the user reads what the system says of a full disk.
        number = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(number, os.strerror(number)) from error


def _read_geopackage(path: Path) -> Lines:
    """Read the lines of a release, or of the first layer of any GeoPackage."""
    import pyogrio

    try:
        with path.open("rb") as file:
            if file.read(len(_SQLITE_BEGINNING)) != _SQLITE_BEGINNING:
                raise ValueError

        # NaN is for the reader to judge, and so is all that GDAL warns of.
        with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
            layers = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
            layer = _LAYER_NAME if _LAYER_NAME in layers else layers[0]
            info = pyogrio.read_info(path, layer=layer)
            metadata = info.get("layer_metadata") or {}
            column_names = sorted({*info["fields"]} & {*COUNTED, "times"})
            _, _, shapes, values = pyogrio.raw.read(path, layer=layer, columns=column_names)

            columns = dict(zip(column_names, values, strict=True))
            timed = "times" in columns
            description = metadata.get("DESCRIPTION") or None
            attribution, clock_sentence = words_in(description, timed=timed)
            times = [_times_in_json(text) for text in columns["times"]] if timed else None
            lines = Lines.of(shapely.from_wkb(shapes), shapes)
            return lines.with_words(attribution, times, clock_sentence, columns)
    # The base of pyogrio's errors is RuntimeError.
    except (
        *(OSError, ValueError, IndexError, TypeError, AttributeError),
        *(RuntimeError, shapely.errors.ShapelyError),
    ) as error:
        raise FileProblem(f"cannot read {path} as a GeoPackage") from error


def _times_in_json(text: str) -> object:
    """Read a list of times, unchecked; None if it is not JSON."""
    with suppress(ValueError, TypeError, RecursionError):
        return json.loads(text)
    return None


def _contents_of_geopackage(path: Path) -> tuple[str, dict[str, object]]:
    """Return the version of SQLite that wrote a file, and definitions and hashes of its tables."""
    contents: dict[str, object] = {}
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
        file.text_factory = bytes
        query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
        for kind, name_bytes, *definition in file.execute(query).fetchall():
            name = name_bytes.decode("utf-8", "surrogateescape")
            row_hash = hashlib.blake2b()
            if kind == b"table":
                quoted = name.replace('"', '""')
                for row in file.execute(f'SELECT * FROM "{quoted}"'):
                    row_hash.update(repr(row).encode())
            contents[f"{kind.decode()} {name!r}"] = definition, row_hash.digest()

    # The header has 100 bytes, and ends with the version of the library that wrote last.
    with path.open("rb") as header:
        version = int.from_bytes(header.read(100)[-4:], "big")
    return f"SQLite {version}", contents


def _write_collection(
    path: Path,
    words: Mapping[str, str],
    columns: Mapping[str, Column],
    geometry_member: str,
    geometries: Iterable[Json],
) -> None:
    """Write features: columns are their properties, words are members of the collection."""
    head = json.dumps({"type": "FeatureCollection", **words}, ensure_ascii=False)
    rows = pd.DataFrame(columns).to_dict("records")
    features = (
        json.dumps({"type": "Feature", "properties": row, geometry_member: geometry})
        for row, geometry in zip(rows, geometries, strict=True)
    )

    # A line a feature; the last bracket of the head is closed behind the features.
    feature_lines = ",\n".join(features)
    path.write_text(f'{head[:-1]}, "features": [\n{feature_lines}\n]}}\n', "utf-8", newline="")


def _read_collection(path: Path, geometry_member: str) -> Lines:
    """Read features with their times, and the attribution and clock of the collection."""
    try:
        collection = json.loads(path.read_text(encoding="utf-8-sig"))
        features = collection["features"]
        geometries = [feature[geometry_member] for feature in features]
        lines = [np.array(shape["coordinates"], dtype=np.float64) for shape in geometries]

        words = [collection.get(member) for member in ("attribution", "times")]
        attribution, clock_sentence = (None if text is None else str(text) for text in words)

        # GeoJSON has times among the properties, Moving Features in the geometry.
        properties = [feature.get("properties") or {} for feature in features]
        if geometry_member == "geometry":
            times = [row.get("times") for row in properties]
        else:
            times = seconds_in([shape.get("datetimes") for shape in geometries], clock_sentence)
        counts = {column: [row.get(column) for row in properties] for column in COUNTED}
    except (
        *(OSError, ValueError, LookupError, TypeError, AttributeError),
        *(OverflowError, RecursionError),
    ) as error:
        raise FileProblem(f"cannot read {path} as a collection of features") from error

    timed = any(line_times is not None for line_times in times)
    if timed:  # a height of 0 and a time may follow the two coordinates of a point
        lines = [line[:, :2] if line.shape[1:] == (4,) else line for line in lines]
    columns = {
        column: values
        for column, values in counts.items()
        if any(value is not None for value in values)
    }
    return Lines.of_points(lines).with_words(
        attribution, times if timed else None, clock_sentence, columns
    )


def _write_geojson(path: Path, release: TrajectoryRows) -> None:
    """Write lines; with times, 0 and seconds since 1970 follow each place, as kepler.gl asks."""
    layout = Layout.of(release)
    lines = layout.lines
    columns = layout.columns
    places = lines.points[:, :, ::-1]
    if lines.times is not None:
        columns["departure"] = _dates(columns["departure"], "s")
        columns["times"] = lines.times.astype(np.int64).tolist()
        dates = instants(lines.times, layout.clock).astype("datetime64[ms]")
        places = np.dstack([places, np.zeros(dates.shape), dates.astype(np.int64) / 1000])

    geometries = ({"type": "LineString", "coordinates": line} for line in places.tolist())
    _write_collection(path, layout.words, columns, "geometry", geometries)


def _write_mf_json(path: Path, release: TrajectoryRows) -> None:
    """Write a collection of moving points."""
    lines, counts, clock, words = Layout.of(release)
    assert lines.times is not None

    dates = _dates(instants(lines.times, clock)).tolist()
    geometries = (
        {"type": "MovingPoint", "datetimes": line_dates, "coordinates": line}
        for line_dates, line in zip(dates, lines.points[:, :, ::-1].tolist(), strict=True)
    )
    columns = {"id": np.arange(1, len(lines) + 1), **counts}
    _write_collection(path, words, columns, "temporalGeometry", geometries)


def _dates(times: NDArray[np.datetime64], unit: Literal["s", "ms"] = "ms") -> NDArray[np.str_]:
    """Write instants as dates in UTC."""
    return np.char.add(np.datetime_as_string(times, unit=unit), "Z")


def _write_gpx(path: Path, release: TrajectoryRows) -> None:
    """Write a track for each line, without a name; its count is a comment."""
    layout = Layout.of(release)
    lines = layout.lines
    dates: Any = [None] * len(lines)
    if lines.times is not None:
        dates = _dates(instants(lines.times, layout.clock))

    # GPX has no other place for a count.
    comments = [""] * len(lines)
    for name, values in layout.counts.items():
        comments = [f"  <cmt>{name} {count}</cmt>\n" for count in values]

    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(GPX_HEAD)
        if layout.text is not None:
            file.write(f" <metadata>\n  <desc>{escape(layout.text)}</desc>\n </metadata>\n")

        tracks = zip(comments, lines.points.tolist(), dates, strict=True)
        for number, (comment, line, line_dates) in enumerate(tracks, start=1):
            file.write(f" <trk>\n{comment}  <number>{number}</number>\n  <trkseg>\n")
            for i, (lat, lon) in enumerate(line):
                end = " />" if line_dates is None else f"><time>{line_dates[i]}</time></trkpt>"
                file.write(f'   <trkpt lat="{_decimal(lat)}" lon="{_decimal(lon)}"{end}\n')
            file.write("  </trkseg>\n </trk>\n")
        file.write("</gpx>\n")


def _decimal(degrees: float) -> str:
    """Write a number with the digits it needs, and never as 5e-05, which GPX does not allow."""
    text = repr(degrees)
    return np.format_float_positional(degrees) if "e" in text else text


def _read_gpx(path: Path) -> Lines:
    """Read the tracks of a GPX file, each as one line."""
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

    root_name = root.tag.rpartition("}")[2]
    if root_name != "gpx":
        raise FileProblem(f"{path} is not GPX: it begins with <{root_name}>")

    timed = root.find(".//{*}trkpt/{*}time") is not None
    attribution, clock_sentence = words_in(root.findtext(".//{*}desc"), timed=timed)
    times = None
    if timed:
        dates = [[point.findtext("{*}time") for point in track] for track in tracks]
        times = seconds_in(dates, clock_sentence)

    counts = {}
    if any(comments):
        matches = [_COUNT_COMMENT.fullmatch(comment) for comment in comments]
        counted = next((match[1] for match in matches if match), COUNTED[0])
        counts[counted] = [None if match is None else int(match[2]) for match in matches]
    return Lines.of_points(lines).with_words(attribution, times, clock_sentence, counts)


def _write_csv(path: Path, release: TrajectoryRows) -> None:
    """Write id, lat1, lon1, and with times time1, ...; attribution and clock in every row."""
    lines, counts, _, words = Layout.of(release)
    columns: dict[str, Column] = {"id": np.arange(1, len(lines) + 1), **counts}
    for i in range(lines.points.shape[1]):
        columns[f"lat{i + 1}"] = lines.points[:, i, 0]
        columns[f"lon{i + 1}"] = lines.points[:, i, 1]
        if lines.times is not None:
            columns[f"time{i + 1}"] = lines.times[:, i].astype(np.int64)
    pd.DataFrame(columns | words).to_csv(path, index=False, lineterminator="\n")


def _read_csv(path: Path) -> Lines:
    """Read lines from columns lat1, lon1, lat2, and so on."""
    with arrow.reading(path, "CSV", ValueError, OverflowError):
        header = set(pd.read_csv(path, nrows=0).columns)
        m = 0  # points of a line
        while {f"lat{m + 1}", f"lon{m + 1}"} <= header:
            m += 1

        place_columns = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lon", "lat")]
        time_columns = [f"time{i}" for i in range(1, m + 1)]
        other_columns = header & {"attribution", *COUNTED, "times", *time_columns}
        table = pd.read_csv(
            path,
            usecols=[*place_columns, *other_columns],
            dtype=dict.fromkeys([*place_columns, *time_columns], np.float64),
        )
    if m == 0:
        raise FileProblem(
            f"{path} is not a release: it has no columns lat1, lon1, lat2, lon2, ...; to "
            "check columns of a table, name them with trajanon check --columns"
        )
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise FileProblem(f"{path} has rows with more values than its header has names")

    # The words are the same in every row.
    attribution, clock_sentence = (
        str(words[0]) if len(words) else None
        for words in (table.get(name, ()) for name in ("attribution", "times"))
    )
    lines = list(table[place_columns].to_numpy().reshape(-1, m, 2))
    timed = not header.isdisjoint(time_columns)
    times = table.reindex(columns=time_columns).to_numpy() if timed else None
    counts = {name: table[name].tolist() for name in COUNTED if name in header}
    return Lines.of_points(lines).with_words(attribution, times, clock_sentence, counts)


GEOPACKAGE = ReleaseFormat(_write_geopackage, _read_geopackage, _contents_of_geopackage)
GEOJSON = ReleaseFormat(_write_geojson, lambda path: _read_collection(path, "geometry"))
MF_JSON = ReleaseFormat(
    _write_mf_json, lambda path: _read_collection(path, "temporalGeometry"), only_timed=True
)
GPX = ReleaseFormat(_write_gpx, _read_gpx)
CSV = ReleaseFormat(_write_csv, _read_csv)
