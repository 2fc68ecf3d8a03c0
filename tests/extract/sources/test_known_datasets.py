"""GeoLife, cabspotting, T-Drive, Porto: what is in their files, good and bad."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from real_data import REAL, needs_real_data

from trajanon.common.errors import BadInput
from trajanon.extract.sources.formats_recognised import FORMATS, Format
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

geolife, cabspotting, porto, tdrive = (
    FORMATS[name] for name in ("geolife", "cabspotting", "porto", "tdrive")
)

PLT = (
    "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n"
    "0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    "39.5,116.25,0,492,39744.12,2008-10-23,02:53:04\r\n"
    "400.5,116.5,0,-777,39744.12,2008-10-23,02:53:10\r\n"
)
CAB = (
    "37.75 -122.5 1 1213084687\n37.5 -122.5 1 1213084659\n"
    "37.25 -122.5 0 1213084540\n37.0 -122.5 1 1213084489\n"
)
TAXI = (
    "1131,2008-02-02 15:36:08,116.5,39.75\n1131,2008-02-02 15:46:08,116.25,39.5\n"
    "1131,2008-02-02 15:46:08,116.25,39.5\n"
)
TRIPS = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP",'
    '"DAY_TYPE","MISSING_DATA","POLYLINE"\n'
)


def trip(
    polyline: str,
    name: str = "T1",
    taxi: str = "20000589",
    start: str = "1372636858",
    missing: str = "False",
) -> str:
    return f'"{name}","C","","","{taxi}","{start}","A","{missing}","{polyline}"\n'


@pytest.fixture
def counts() -> Counter[str]:
    return Counter()


Reader = Callable[..., list[Trace]]


def traces_in(reader: Format, path: Path, how: Reading) -> list[Trace]:
    return list(reader.read(path, how.of_file(path, "label")))


@pytest.fixture
def read(tmp_path: Path, counts: Counter[str]) -> Reader:
    """Write a file, and read it by one of the readers."""

    def write_and_read(reader: Format, text: str | bytes, name: str = "file") -> list[Trace]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        how = Reading(counts=counts)
        return traces_in(reader, path, how)

    return write_and_read


# GeoLife


def test_a_plt_file_is_a_trace_of_its_user(read: Reader) -> None:
    (one,) = read(geolife, PLT, "003/Trajectory/20081023025304.plt")
    assert (one.name, one.subject) == ("label", "003")
    assert (one.lat.tolist(), one.lon.tolist()) == ([39.5, 400.5], [116.25, 116.5])
    assert one.time.tolist() == [1224730384, 1224730390]


def test_broken_rows_of_a_plt_file_are_counted(read: Reader, counts: Counter[str]) -> None:
    late = "39.5,116.25,0,492,39744.12,2008-10-23,later\r\n"
    (one,) = read(geolife, PLT + "39.5,116.25\r\n" + late + "\r\n")
    assert np.isnan(one.time).tolist() == [False, False, True]
    assert counts == {"rows that could not be read": 1, "times that could not be read": 1}


@needs_real_data
def test_the_geolife_files_are_read(counts: Counter[str]) -> None:
    files = sorted((REAL / "geolife_plt").rglob("*.plt"))
    how = Reading(counts=counts)
    found = [one for path in files for one in traces_in(geolife, path, how)]
    assert (len(files), len(found), sum(map(len, found))) == (44, 44, 58_019)
    assert {one.subject for one in found} == {"002", "003", "004", "006", "010"}
    assert all(np.isfinite(one.time).all() for one in found)
    assert not +counts


# Cabspotting


def test_a_change_of_occupancy_ends_a_trip(read: Reader, counts: Counter[str]) -> None:
    found = read(cabspotting, CAB + "37.0 -122.5 1\n37.0 -122.5 1 soon\n", "new_abboip.txt")
    assert [(one.name, one.subject) for one in found] == [
        ("label#1", "abboip"),
        ("label#2", "abboip"),
        ("label#3", "abboip"),
    ]
    assert [one.lat.tolist() for one in found] == [[37], [37.25], [37.5, 37.75]]
    assert found[2].time.tolist() == [1213084659, 1213084687]
    assert found[2].lon.tolist() == [-122.5, -122.5]
    assert counts == {"rows that could not be read": 2}  # which belong nowhere in time


# T-Drive


def test_a_taxi_has_one_trace_of_all_its_rows(read: Reader) -> None:
    (one,) = read(tdrive, TAXI)
    assert (one.name, one.subject) == ("1131", "1131")
    assert one.lat.tolist() == [39.75, 39.5, 39.5]
    assert one.lon.tolist() == [116.5, 116.25, 116.25]
    assert one.time.tolist() == [1201966568, 1201967168, 1201967168]


@needs_real_data
@pytest.mark.parametrize(("taxi", "rows"), [(1, 588), (100, 1_323), (1131, 94_939)])
def test_the_taxis_of_beijing_are_read(taxi: int, rows: int, counts: Counter[str]) -> None:
    path = REAL / "tdrive_txt" / f"{taxi}.txt"
    (one,) = traces_in(tdrive, path, Reading(counts=counts))
    assert (one.subject, len(one)) == (str(taxi), rows)
    assert np.isfinite(one.time).all()
    assert not +counts


# Porto


def test_a_trip_has_a_point_every_fifteen_seconds(read: Reader) -> None:
    (one,) = read(porto, TRIPS + trip("[[-8.5,41.25],[-8.25,41.5],[-8.0,41.75]]"))
    assert (one.name, one.subject) == ("T1", "20000589")
    assert one.lat.tolist() == [41.25, 41.5, 41.75]
    assert one.lon.tolist() == [-8.5, -8.25, -8]
    assert one.time.tolist() == [1372636858, 1372636873, 1372636888]


def test_trips_without_points_or_with_missing_ones_are_counted(
    read: Reader, counts: Counter[str]
) -> None:
    rows = [
        trip("[]"),
        trip("", "T2"),
        trip("[[-8,41]]", "T3", missing="True"),
        trip("[ ]", "T4", missing="True"),
        trip("[[-8,41]]", "T5", taxi=""),
    ]
    (one,) = read(porto, TRIPS + "".join(rows))
    assert (one.name, one.subject, len(one)) == ("T5", None, 1)
    assert +counts == {"rows without points": 3, "trips with missing points": 1}


BROKEN_LINES = [
    "[[-8,41],[-8]]",
    "[[-8,41,3],[-8]]",
    "[[-8,41],[,]]",
    "[[-8,41],[-8,4 1]]",
    "[[-8,41],[-8,4-1]]",
    "[-8,41]",
    "[[[-8,41]]]",
    "[[-8,41]",
    "-8,41",
    "[[-8,north]]",
    "[[-8,41]]x",
]


@pytest.mark.parametrize("line", BROKEN_LINES)
def test_a_polyline_that_is_none_spoils_no_other(
    read: Reader, counts: Counter[str], line: str
) -> None:
    good = "[[-8.5,41.25],[-8.25,41.5]]"
    text = TRIPS + trip(good, "a") + trip(line, "b") + trip(good, "c")
    found = read(porto, text)
    assert [(one.name, one.lat.tolist()) for one in found] == [
        ("a", [41.25, 41.5]),
        ("c", [41.25, 41.5]),
    ]
    assert +counts == {"rows that could not be read": 1}


@pytest.mark.parametrize("row", [{"name": ""}, {"start": ""}, {"start": "soon"}, {"start": "inf"}])
def test_a_trip_without_name_or_start_is_counted(
    read: Reader, counts: Counter[str], row: dict[str, str]
) -> None:
    assert read(porto, TRIPS + trip("[[-8,41]]", **row) + trip("[]")) == []
    assert counts["rows that could not be read"] == 1


def test_a_table_without_the_columns_of_porto_is_refused(read: Reader) -> None:
    with pytest.raises(BadInput, match="no column TAXI_ID and TIMESTAMP and MISSING_"):
        read(porto, "TRIP_ID,POLYLINE\n1,[]\n")
