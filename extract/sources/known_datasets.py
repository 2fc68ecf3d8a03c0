"""Known datasets, each in a format of its own -> traces.

GeoLife, cabspotting, T-Drive, Porto's taxis, OpenBikeSensor and SimRa.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.extract.sources import csv_and_parquet
from trajanon.extract.sources.archives import BYTE_ORDER_MARK, DAMAGED
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_role_names import FILE
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.csv_and_parquet import TableLayout, fields_of, read_columns
from trajanon.extract.sources.reader_sentences import refusal_of
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.rows_to_traces import traces_of_points
from trajanon.extract.sources.trace_pieces import EMPTY
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading as explained_errors
from trajanon.trajectories.person_names import tidied

PRIVATE = "rows inside a privacy area"
WITHOUT_FIX = "rows without a position"

# Tables without a header, whose columns are known.
_GEOLIFE_LAYOUT = TableLayout(
    names=("lat", "lon", "zero", "altitude", "days", "date", "time"), above=6
)
_CABSPOTTING_LAYOUT = TableLayout(names=("lat", "lon", "occupied", "time"), separator=" ")
_TDRIVE_LAYOUT = TableLayout(names=("subject", "time", "lon", "lat"))

_PORTO_COLUMNS = ("TRIP_ID", "TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")
_PORTO_STEP = 15.0  # seconds from point to point
_POLYLINE = msgspec.json.Decoder(list[tuple[float, float]])  # longitudes and latitudes

# The columns that are read of a ride, and what they are used as.
_SIMRA_ROLES = {"lat": "lat", "lon": "lon", "timeStamp": "time"}
_SENSOR_ROLES = {"date": "date", "time": "time", "latitude": "lat", "longitude": "lon"}

_PRIVACY_COLUMN = "insideprivacyarea"
_DAY_FIRST = r"(\d\d)\.(\d\d)\.(\d{4})"
_LEAP_SECONDS = 18.0  # that GPS's clock is ahead of UTC since 2017: no such device is older


def _one_recording(
    points: Iterable[pd.DataFrame], reading: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Read a file that is one recording of a person; count it if it has no points."""
    has_points = False
    for trace in traces_of_points(points, reading.with_columns(id=FILE)):
        has_points = True
        yield replace(trace, subject=subject)

    if not has_points:
        reading.counts[EMPTY] += 1


def read_geolife(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a `.plt` file, one trace; its subject is the folder around the folder Trajectory."""
    folder = path.absolute().parent
    subject = folder.parent.name if folder.name == "Trajectory" else None

    points = read_columns(path, _GEOLIFE_LAYOUT, ("lat", "lon", "date", "time"), reading)
    yield from _one_recording(points, reading, subject)


def read_cabspotting(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read `new_NAME.txt`, the file of a cab: a trip ends whenever a customer gets in or out."""
    texts = read_columns(path, _CABSPOTTING_LAYOUT, _CABSPOTTING_LAYOUT.names, reading)
    rows = pd.concat(list(texts), ignore_index=True).apply(numbers)

    # Without a time, or whether the cab is occupied, it is unknown to which trip a row belongs.
    has_trip = rows["time"].notna() & rows["occupied"].notna()
    reading.count(csv_and_parquet.UNREAD, ~has_trip)

    # The file has the newest first: of two points of one second, the later is above.
    rows = rows[has_trip][::-1].sort_values("time", kind="stable", ignore_index=True)
    rows["id"] = (rows["occupied"].diff().fillna(0.0) != 0.0).cumsum() + 1

    match = re.match(r"(?:new_)?([^.]+)", path.name)
    subject = match[1] if match else None
    for trace in traces_of_points([rows], reading):
        yield replace(trace, subject=subject)


def read_tdrive(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read `ID.txt`, the file of a taxi: one trace with all its points."""
    yield from traces_of_points(
        read_columns(path, _TDRIVE_LAYOUT, _TDRIVE_LAYOUT.names, reading), reading
    )


def read_porto(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the trips of taxis, a point every 15 s; those with missing points are left out."""
    layout, _ = csv_and_parquet.layout_of(path)
    _check_names(path, _PORTO_COLUMNS, layout.names, "tables of Porto's taxis")

    for trips in read_columns(path, layout, _PORTO_COLUMNS, reading):
        polylines = trips["POLYLINE"].fillna("")
        is_empty = polylines.str.strip("[] \t") == ""
        has_gaps = ~is_empty & (trips["MISSING_DATA"].str.strip().str.lower() == "true")
        reading.count("rows without points", is_empty)
        reading.count("trips with missing points", has_gaps)

        yield from _porto_traces(trips.assign(POLYLINE=polylines)[~is_empty & ~has_gaps], reading)


def _porto_traces(trips: pd.DataFrame, reading: Reading) -> Iterator[Trace]:
    """Read a trace of each row; count those without a name, a start or readable points."""
    names = as_given(trips["TRIP_ID"])
    taxis = as_given(trips["TAXI_ID"])
    starts = numbers(trips["TIMESTAMP"])
    lines = map(_porto_line, trips["POLYLINE"])

    for name, taxi, start, line in zip(names, taxis, starts, lines, strict=True):
        if line is None or name is None or not np.isfinite(start):
            reading.counts[csv_and_parquet.UNREAD] += 1
            continue
        lon, lat = line.T.copy()
        time = start + _PORTO_STEP * np.arange(len(line))
        yield Trace(name, taxi, lat, lon, time)


def _porto_line(text: str) -> Floats | None:
    """Read longitudes and latitudes, shape (n, 2); None if they cannot be read."""
    try:
        return np.array(_POLYLINE.decode(text), dtype=np.float64).reshape(-1, 2)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_openbikesensor(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a ride with a row each second; those inside the rider's privacy areas are left out.

    The subject is the user that the first line names, or else the device.
    """
    with (
        explained_errors(path, csv_and_parquet.FILE_TYPE, *DAMAGED),
        reading.unpacked(path) as stream,
    ):
        lines = stream.read().removeprefix(BYTE_ORDER_MARK).decode().splitlines()

    # The first line describes the device, as a query of a web address does: a=1&b=2.
    metadata: dict[str, str] = {}
    if lines and "OBSDataFormat" in lines[0]:
        metadata = {name.casefold(): value for name, value in parse_qsl(lines.pop(0))}

    header, *lines = lines or [""]
    names = [name.strip().casefold() for name in fields_of(header, ";")]
    _check_names(path, _SENSOR_ROLES, names, "files of OpenBikeSensor")

    ahead = _LEAP_SECONDS if metadata.get("timezone") == "GPS" else 0.0
    person = metadata.get("obsuserid") or metadata.get("deviceid") or ""

    points = _points_of_sensor(lines, names, reading)
    for trace in _one_recording(points, reading, tidied(person) or None):
        yield replace(trace, time=trace.time - ahead)


def _points_of_sensor(
    lines: Sequence[str], names: Sequence[str], reading: Reading
) -> Iterator[pd.DataFrame]:
    """Read rows that may differ in length: behind the columns follow measured distances."""
    rows = [fields_of(line, ";") for line in lines if line.strip()]
    fields = [dict(zip(names, map(str.strip, row), strict=False)) for row in rows]
    wanted = [name for name in (*_SENSOR_ROLES, _PRIVACY_COLUMN) if name in names]
    table = pd.DataFrame(fields, columns=wanted, dtype=str).rename(columns=_SENSOR_ROLES)

    # Where the last row is not whole, the file is cut off.
    is_whole = table.notna().all(axis=1)
    reading.count(csv_and_parquet.UNREAD, ~is_whole)
    reading.count(TABLE_CUT_OFF, ~is_whole[-1:])
    table = table[is_whole]

    is_private = ~table.get(_PRIVACY_COLUMN, pd.Series("", table.index)).isin(["", "0", "false"])
    has_place = (table["lat"] != "") & (table["lon"] != "")
    reading.count(PRIVATE, is_private)
    reading.count(WITHOUT_FIX, ~is_private & ~has_place)

    table["date"] = table["date"].str.replace(_DAY_FIRST, r"\3-\2-\1", regex=True)
    yield table[has_place & ~is_private]


def _check_names(path: Path, required: Iterable[str], names: Sequence[str], kind: str) -> None:
    """Refuse a file without the columns of its kind."""
    missing = [name for name in required if name not in names]
    if missing:
        listed = ", ".join(names)[:400] or "none"
        lacks = " and ".join(missing)
        raise refusal_of("missing columns", path=path, missing=lacks, files=kind, listed=listed)


def read_simra(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a ride, the second table of its file; the first one has the ride's incidents.

    Most rows of the ride have no place, only what other sensors measure between two places. No
    person is named, so it is unknown which rides are of one person.
    """
    lines_above = 0
    header = ""
    # Not through `reading`, which counts the bytes for the progress: the table is read once more.
    with (
        explained_errors(path, csv_and_parquet.FILE_TYPE, *DAMAGED),
        Reading().unpacked(path) as stream,
    ):
        for line in stream:
            lines_above += 1
            if line.startswith(b"====="):
                stream.readline()  # versions
                header = stream.readline().decode(errors="replace").strip()
                lines_above += 2
                break

    layout = TableLayout(names=header.split(","), above=lines_above)
    _check_names(path, _SIMRA_ROLES, layout.names, "rides of SimRa below their incidents")

    chunks = read_columns(path, layout, list(_SIMRA_ROLES), reading)
    points = (rows.dropna(subset=["lat", "lon"]).rename(columns=_SIMRA_ROLES) for rows in chunks)
    yield from _one_recording(points, reading)
