"""Collections that researchers know, each in a form of its own: GeoLife, Porto, ... -> traces."""

import re
from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources import source_tables
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.source_tables import TableLayout, fields_of, read_columns
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import UNREAD_TIMES, TimeColumn
from trajanon.extract.sources.trace_pieces import EMPTY
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading as read_errors
from trajanon.trajectories.person_names import spelled

PRIVATE = "rows inside a privacy area"
WITHOUT_FIX = "rows without a position"

_GEOLIFE = TableLayout(names=("lat", "lon", "zero", "altitude", "days", "date", "time"), above=6)
_CABSPOTTING = TableLayout(names=("lat", "lon", "occupied", "time"), separator=" ")
_TDRIVE = TableLayout(names=("subject", "time", "lon", "lat"))
_SENSOR = ("date", "time", "latitude", "longitude")
_PRIVATE = "insideprivacyarea"
_LEAP_SECONDS = 18.0  # of GPS before UTC, since 2017 and so for all of these devices
_SIMRA = ("lat", "lon", "timeStamp")
_PORTO = ("TRIP_ID", "TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")

_POLYLINE = msgspec.json.Decoder(list[tuple[float, float]])  # longitudes and latitudes
_STEP = 15.0  # seconds from point to point in Porto


def _whole(
    path: Path, layout: TableLayout, names: Sequence[str], reading: Reading
) -> tuple[pd.DataFrame, bool]:
    """Read columns of a text, as texts, and whether its last row is cut off."""
    already_cut_off = reading.counts[TABLE_CUT_OFF]
    none = pd.DataFrame(columns=list(names))
    rows = pd.concat([none, *read_columns(path, layout, names, reading)], ignore_index=True)
    return rows, reading.counts[TABLE_CUT_OFF] > already_cut_off


def read_geolife(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a `.plt` file, one trace; its subject is the folder around the folder Trajectory."""
    points, cut_off = _whole(path, _GEOLIFE, ("lat", "lon", "date", "time"), reading)
    if len(points) == 0:
        return

    folder = path.absolute().parent
    subject = folder.parent.name if folder.name == "Trajectory" else None

    points = points.fillna({"date": "", "time": ""})  # each point has a time
    time = TimeColumn(points, reading).seconds(points)
    lat, lon = (numbers(points[name]) for name in ("lat", "lon"))
    yield Trace(reading.label, subject, lat, lon, time, cut_off=cut_off)


def read_cabspotting(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read `new_NAME.txt`, the file of a cab: a trip ends whenever the cab is taken or left."""
    texts, _ = _whole(path, _CABSPOTTING, _CABSPOTTING.names, reading)
    rows = texts.apply(numbers)
    placed = rows["time"].notna() & rows["occupied"].notna()  # others belong to no trip
    reading.counts[source_tables.UNREAD] += int((~placed).sum())

    # The file has the newest first: of two points of one second, the later is above.
    rows = rows[placed][::-1].sort_values("time", kind="stable")
    if len(rows) == 0:
        return

    match = re.match(r"(?:new_)?([^.]+)", path.name)
    cab = match[1] if match else None
    changes = np.flatnonzero(np.diff(rows["occupied"].to_numpy())) + 1
    lat, lon, time = (rows[name].to_numpy() for name in ("lat", "lon", "time"))
    for trip, bounds in enumerate(pairwise([0, *changes.tolist(), len(rows)]), start=1):
        points = slice(*bounds)
        yield Trace(f"{reading.label}#{trip}", cab, lat[points], lon[points], time[points])


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
    about, table, cut_off = _ride_of_sensor(path, reading)
    private = ~table[_PRIVATE].isin(["", "0", "false"])
    placed = (table["latitude"] != "") & (table["longitude"] != "")
    reading.counts[PRIVATE] += int(private.sum())
    reading.counts[WITHOUT_FIX] += int((~private & ~placed).sum())
    table = table[placed & ~private]
    if not len(table):
        reading.counts[EMPTY] += 1
        return

    texts = table["date"] + " " + table["time"]
    times = pd.to_datetime(texts, format="%d.%m.%Y %H:%M:%S", utc=True, errors="coerce")
    time = (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(np.float64)
    reading.counts[UNREAD_TIMES] += int(np.isnan(time).sum())
    if about.get("timezone") == "GPS":
        time = time - _LEAP_SECONDS

    person = about.get("obsuserid") or about.get("deviceid") or ""
    lat, lon = numbers(table["latitude"]), numbers(table["longitude"])
    yield Trace(reading.label, spelled(person) or None, lat, lon, time, cut_off=cut_off)


def _ride_of_sensor(path: Path, reading: Reading) -> tuple[dict[str, str], pd.DataFrame, bool]:
    """Read what the first line says, the columns as texts, and whether the last row is cut off.

    Rows have no fixed number of fields, as measurements of distance follow.
    """
    with read_errors(path, source_tables.POINTS, *DAMAGED), reading.unpacked(path) as stream:
        lines = stream.read().removeprefix(BYTE_ORDER_MARK).decode().splitlines()

    about: dict[str, str] = {}
    if lines and "OBSDataFormat" in lines[0]:
        about = {name.casefold(): value for name, value in parse_qsl(lines.pop(0))}

    header, *lines = lines or [""]
    names = [name.strip().casefold() for name in fields_of(header, ";")]
    _check_names(path, _SENSOR, names, "files of OpenBikeSensor")

    wanted = [*_SENSOR, *([_PRIVATE] if _PRIVATE in names else [])]
    places = [names.index(name) for name in wanted]
    rows = [fields_of(line, ";") for line in lines if line.strip()]
    is_whole = [len(row) > max(places) for row in rows]
    reading.counts[source_tables.UNREAD] += is_whole.count(False)
    texts = [[row[place].strip() for place in places] for row in compress(rows, is_whole)]
    table = pd.DataFrame(texts, columns=wanted, dtype=str)
    if _PRIVATE not in table:
        table[_PRIVATE] = "0"
    return about, table, not all(is_whole[-1:])


def _check_names(path: Path, wanted: Sequence[str], names: Sequence[str], kind: str) -> None:
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

    rows, cut_off = _whole(path, layout, _SIMRA, reading)
    rows = rows[rows["lat"].notna() & rows["lon"].notna()]
    if not len(rows):
        reading.counts[EMPTY] += 1
        return

    lat, lon, time = (numbers(rows[name]) for name in _SIMRA)
    yield Trace(reading.label, None, lat, lon, time / 1e3, cut_off=cut_off)


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
