"""Rides of OpenBikeSensor and of SimRa."""

from collections import Counter
from pathlib import Path

import pytest
from device_files import write

from trajanon.common.errors import BadInput
from trajanon.extract import traces
from trajanon.extract.sources import known_datasets
from trajanon.extract.sources.csv_and_parquet import UNREAD
from trajanon.extract.sources.formats_recognised import format_of
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.trace import Trace

START = 1_606_219_200  # 2020-11-24T12:00:00Z
ABOUT = (
    "OBSDataFormat=2&OBSFirmwareVersion=v0.3.999&DataPerMeasurement=3&NumberOfDefinedPrivacyAreas=1"
    "&PrivacyLevelApplied=OverridePrivacy&DistanceSensorsUsed=HC-SR04/JSN-SR04T&DeviceId=ecec"
)
HEADER = (
    "Date;Time;Millis;Comment;Latitude;Longitude;Altitude;Course;Speed;HDOP;Satellites;"
    "BatteryLevel;Left;Right;Confirmed;Marked;Invalid;InsidePrivacyArea;Factor;Measurements;"
    "Tms1;Lus1;Rus1;Tms2;Lus2;Rus2"
)
OLD = "Date;Time;Latitude;Longitude;Course;Speed;Right;Left;Confirmed;insidePrivacyArea"


def row(second: int, lat: str = "", private: int = 0, *more: str) -> str:
    lat = lat or f"48.{2000 + second}"
    clock = f'24.11.2020;12:00:{second:02d};{second}000;a "b;{lat};9.1;200;1;15;1;7;3.9;150;;0;;0'
    return ";".join([f"{clock};{private};58;{len(more)}", *more])


def old(second: int, private: int = 0) -> str:
    return f"24.11.2020;12:00:{second:02d};48.{2000 + second};9.1;1;15;150;;0;{private}"


def ride(tmp_path: Path, *lines: str, name: str = "x.obsdata.csv") -> tuple[Trace, dict[str, int]]:
    path = write(tmp_path / name, "\n".join(lines))
    counts = Counter[str]()
    (found,) = traces(path, counts=counts)
    return found, +counts


def test_the_rows_of_a_sensor_are_a_ride_of_its_user_or_device(tmp_path: Path) -> None:
    rows = [row(n, "", 0, *["1", "2", "3"] * (n % 3)) for n in range(5)]
    found, counts = ride(tmp_path, ABOUT, HEADER, *rows)
    assert found.lat.tolist() == [48.2, 48.2001, 48.2002, 48.2003, 48.2004]
    assert found.lon.tolist() == [9.1] * 5
    assert found.time.tolist() == [START + n for n in range(5)]
    assert (found.name, found.subject, found.cut_off) == ("x.obsdata.csv", "ecec", False)
    assert counts == {}
    found, _ = ride(tmp_path, f"{ABOUT}&OBSUserId=ada", HEADER, *rows)
    assert found.subject == "ada"


def test_rows_of_a_privacy_area_and_without_a_fix_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [row(0, "", 1), row(1, "", 1), row(2), row(3, " "), row(4), "24.11.2020;12:00:05;5000"]
    found, counts = ride(tmp_path, ABOUT, HEADER, *rows)
    assert found.time.tolist() == [START + 2, START + 4]
    assert found.cut_off
    left_out = {known_datasets.PRIVATE: 2, known_datasets.WITHOUT_FIX: 1, UNREAD: 1}
    assert counts == {**left_out, TABLE_CUT_OFF: 1}


def test_times_of_gps_are_18_seconds_ahead(tmp_path: Path) -> None:
    found, _ = ride(tmp_path, f"{ABOUT}&TimeZone=GPS", HEADER, row(30), row(31))
    assert found.time.tolist() == [START + 12, START + 13]


def test_an_older_file_has_no_first_line_of_metadata(tmp_path: Path) -> None:
    found, counts = ride(tmp_path, OLD, old(0, 1), old(1), old(2), name="x.csv")
    assert found.time.tolist() == [START + 1, START + 2]
    assert (found.subject, counts) == (None, {known_datasets.PRIVATE: 1})


def test_a_ride_within_privacy_areas_alone_gives_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "\n".join([ABOUT, HEADER, row(0, "", 1), row(1, "", 1)]))
    counts = Counter[str]()
    assert list(traces(path, counts=counts)) == []
    assert +counts == {known_datasets.PRIVATE: 2, "files without track points": 1}


def test_a_file_of_a_sensor_without_places_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", f"{ABOUT}\nDate;Time;Left\n24.11.2020;12:00:00;5\n")
    with pytest.raises(BadInput, match="has no column latitude and longitude, as files of OpenB"):
        list(traces(path))


INCIDENTS = "key,lat,lon,ts,bike,childCheckBox,trailerCheckBox,pLoc,incident,i1,scary,desc,i10"
PLACES = "lat,lon,X,Y,Z,timeStamp,acc,a,b,c"


def simra(*rows: str, places: str = PLACES) -> str:
    incident = '0,52.5,13.4,1678896120000,3,0,0,0,1,0,1,"close, ""very""",0'
    return "\n".join(["90#1#0", INCIDENTS, incident, "", 25 * "=", "90#1", places, *rows])


def place(step: int) -> str:
    return f"52.5{step},13.3{step},-4.4,1.7,8.4,{1678896118000 + 3000 * step},5.2,0.0,0.0,0.0"


MOVES = ",,-4.4,-1.7,8.4,1678896119581,,0.0,0.0,0.0"


@pytest.mark.parametrize("name", ["VM2_-1010451331", "VM2_19#2", "x.csv"])
def test_a_ride_of_simra_is_a_recording_of_nobody_known(tmp_path: Path, name: str) -> None:
    text = simra(place(0), MOVES, MOVES, place(1), MOVES, place(2), "")
    found, counts = ride(tmp_path, text, name=name)
    assert found.lat.tolist() == [52.50, 52.51, 52.52]
    assert found.time.tolist() == [1678896118.0, 1678896121.0, 1678896124.0]
    assert (found.subject, found.cut_off, counts) == (None, False, {})


def test_a_ride_of_simra_that_is_cut_off_may_go_on(tmp_path: Path) -> None:
    found, counts = ride(tmp_path, simra(place(0), place(1), "52.52,13.3"), name="ride")
    assert (len(found), found.cut_off) == (2, True)
    assert counts[UNREAD] == 1


@pytest.mark.parametrize("text", ["90#1#0\n" + INCIDENTS + "\n", simra(places="X,Y")])
def test_a_file_of_simra_without_places_is_refused(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "ride", text)
    assert format_of(path, Reading()) == "simra"
    with pytest.raises(BadInput, match="has no column lat and lon and timeStamp, as rides of SimR"):
        list(traces(path))
