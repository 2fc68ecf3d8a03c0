"""Collections that researchers know, each in a form of its own: GeoLife, Porto, ... -> traces."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources import source_tables
from trajanon.extract.sources.column_roles import FILE
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.source_tables import TableLayout, fields_of, read_columns
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, TABLE_CUT_OFF, Reading
from trajanon.extract.sources.trace_pieces import EMPTY
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading as read_errors
from trajanon.trajectories.person_names import spelled

PRIVATE = "rows inside a privacy area"
WITHOUT_FIX = "rows without a position"

_GEOLIFE = TableLayout(names=("lat", "lon", "zero", "altitude", "days", "date", "time"), above=6)
_CABSPOTTING = TableLayout(names=("lat", "lon", "occupied", "time"), separator=" ")
_TDRIVE = TableLayout(names=("subject", "time", "lon", "lat"))
_SENSOR = {"date": "date", "time": "time", "latitude": "lat", "longitude": "lon"}  # and their roles
_PRIVATE = "insideprivacyarea"
_DAY_FIRST = r"(\d\d)\.(\d\d)\.(\d{4})"
_LEAP_SECONDS = 18.0  # of GPS before UTC, since 2017 and so for all of these devices
_SIMRA = {"lat": "lat", "lon": "lon", "timeStamp": "time"}  # and their roles
_PORTO = ("TRIP_ID", "TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")

_POLYLINE = msgspec.json.Decoder(list[tuple[float, float]])  # longitudes and latitudes
_STEP = 15.0  # seconds from point to point in Porto


def _of_one(
    points: Iterable[pd.DataFrame], reading: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Read a file that is one recording of a person; count it if it has no points."""
    trace = None
    for trace in traces_of_points(points, reading.with_columns(id=FILE)):
        yield replace(trace, subject=subject)
    reading.counts.update([EMPTY] * (trace is None))


def read_geolife(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a `.plt` file, one trace; its subject is the folder around the folder Trajectory."""
    folder = path.absolute().parent
    subject = folder.parent.name if folder.name == "Trajectory" else None
    points = read_columns(path, _GEOLIFE, ("lat", "lon", "date", "time"), reading)
    yield from _of_one(points, reading, subject)


def read_cabspotting(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read `new_NAME.txt`, the file of a cab: a trip ends whenever the cab is taken or left."""
    texts = read_columns(path, _CABSPOTTING, _CABSPOTTING.names, reading)
    rows = pd.concat(list(texts), ignore_index=True).apply(numbers)
    placed = rows["time"].notna() & rows["occupied"].notna()  # others belong to no trip
    reading.counts[source_tables.UNREAD] += int((~placed).sum())

    # The file has the newest first: of two points of one second, the later is above.
    rows = rows[placed][::-1].sort_values("time", kind="stable", ignore_index=True)
    rows["id"] = (rows["occupied"].diff().fillna(0.0) != 0.0).cumsum() + 1

    match = re.match(r"(?:new_)?([^.]+)", path.name)
    for trace in traces_of_points([rows], reading):
        yield replace(trace, subject=match[1] if match else None)


def read_tdrive(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read `ID.txt`, the file of a taxi: one trace with all its points."""
    yield from traces_of_points(read_columns(path, _TDRIVE, _TDRIVE.names, reading), reading)


def looks_like_porto(name: str, head: bytes) -> bool:
    """Recognise the trips of Porto by the names of their columns."""
    return any("POLYLINE" in fields for fields in source_tables.fields_below(head)[:1])


def read_porto(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the trips of taxis, a point every 15 s; those with missing points are left out."""
    layout, _ = source_tables.layout_of(path)
    _check_names(path, _PORTO, layout.names, "tables of Porto's taxis")
    for trips in read_columns(path, layout, _PORTO, reading):
        lines = trips["POLYLINE"].fillna("")
        pointless = lines.str.strip("[] \t") == ""
        gaps = ~pointless & (trips["MISSING_DATA"].str.strip().str.lower() == "true")
        reading.counts["rows without points"] += int(pointless.sum())
        reading.counts["trips with missing points"] += int(gaps.sum())
        yield from _trips(trips.assign(POLYLINE=lines)[~pointless & ~gaps], reading)


def read_openbikesensor(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a ride, a row a second; rows inside the privacy areas of its rider are left out.

    The subject is the user that the first line names, or else the device.
    """
    with read_errors(path, source_tables.POINTS, *DAMAGED), reading.unpacked(path) as stream:
        lines = stream.read().removeprefix(BYTE_ORDER_MARK).decode().splitlines()

    about: dict[str, str] = {}
    if lines and "OBSDataFormat" in lines[0]:
        about = {name.casefold(): value for name, value in parse_qsl(lines.pop(0))}
    header, *lines = lines or [""]
    names = [name.strip().casefold() for name in fields_of(header, ";")]
    _check_names(path, _SENSOR, names, "files of OpenBikeSensor")

    ahead = _LEAP_SECONDS if about.get("timezone") == "GPS" else 0.0
    person = about.get("obsuserid") or about.get("deviceid") or ""
    points = _points_of_sensor(lines, names, reading)
    for trace in _of_one(points, reading, spelled(person) or None):
        yield replace(trace, time=trace.time - ahead)


def _points_of_sensor(
    lines: Sequence[str], names: Sequence[str], reading: Reading
) -> Iterator[pd.DataFrame]:
    """Read rows, which have no fixed number of fields, as measurements of distance follow."""
    wanted = {**_SENSOR, _PRIVATE: _PRIVATE} if _PRIVATE in names else _SENSOR
    places = [names.index(name) for name in wanted]
    rows = [fields_of(line, ";") for line in lines if line.strip()]
    is_whole = [len(row) > max(places) for row in rows]
    reading.counts[source_tables.UNREAD] += is_whole.count(False)
    reading.counts[TABLE_CUT_OFF] += not all(is_whole[-1:])

    texts = [[row[place].strip() for place in places] for row in compress(rows, is_whole)]
    table = pd.DataFrame(texts, columns=list(wanted.values()), dtype=str)
    private = ~table.get(_PRIVATE, pd.Series("", table.index)).isin(["", "0", "false"])
    placed = (table["lat"] != "") & (table["lon"] != "")
    reading.counts[PRIVATE] += int(private.sum())
    reading.counts[WITHOUT_FIX] += int((~private & ~placed).sum())

    table["date"] = table["date"].str.replace(_DAY_FIRST, r"\3-\2-\1", regex=True)
    yield table[placed & ~private]


def _check_names(path: Path, wanted: Iterable[str], names: Sequence[str], kind: str) -> None:
    """Refuse a file without the columns of its kind."""
    missing = [name for name in wanted if name not in names]
    if missing:
        has = f"as {kind} have; its columns are {', '.join(names)[:400] or 'none'}"
        raise BadInput(f"{path} has no column {' and '.join(missing)}, {has}")


def read_simra(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a ride, which stands below its incidents; between two places are rows without any.

    No person is named, so it is unknown which rides are of one person.
    """
    above = 0
    header = ""
    with read_errors(path, source_tables.POINTS, *DAMAGED), Reading().unpacked(path) as stream:
        for line in stream:
            above += 1
            if line.startswith(b"====="):
                stream.readline()  # versions
                header = stream.readline().decode(errors="replace").strip()
                break

    layout = TableLayout(names=header.split(","), above=above + 2)
    _check_names(path, _SIMRA, layout.names, "rides of SimRa below their incidents")

    rows = read_columns(path, layout, list(_SIMRA), reading)
    placed = (part.dropna(subset=["lat", "lon"]).rename(columns=_SIMRA) for part in rows)
    yield from _of_one(placed, reading)


def _trips(trips: pd.DataFrame, reading: Reading) -> Iterator[Trace]:
    starts = pd.to_numeric(trips["TIMESTAMP"], errors="coerce").to_numpy(np.float64)
    lines = map(_line, trips["POLYLINE"])
    names, taxis = (
        trips[column].astype(object).where(trips[column].notna(), None) for column in _PORTO[:2]
    )
    for name, taxi, start, line in zip(names, taxis, starts, lines, strict=True):
        if line is None or name is None or np.isnan(start):
            reading.counts[source_tables.UNREAD] += 1
            continue
        time = start + _STEP * np.arange(len(line))
        yield Trace(name, taxi, line[:, 1].copy(), line[:, 0].copy(), time)


def _line(text: str) -> Floats | None:
    try:
        return np.array(_POLYLINE.decode(text), dtype=np.float64).reshape(-1, 2)
    except (msgspec.DecodeError, RecursionError):
        return None
