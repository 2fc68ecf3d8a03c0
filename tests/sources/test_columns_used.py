"""Columns of tables and layers: which are used, as what, and which should be."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import Run
from geo_tables import lines, points, write
from point_tables import ROWS, csv, names, read

from trajanon.errors import BadInput
from trajanon.extract import Trace, extract, from_frame, traces
from trajanon.extract.sources.columns import parse_columns

MOVEBANK = """event-id,visible,timestamp,location-long,location-lat,sensor-type,\
individual-taxon-canonical-name,tag-local-identifier,individual-local-identifier,\
study-name
7,true,2009-12-29 00:00:00.000,31.7,-24.2,gps,Syncerus caffer,1764,Pepper,Kruger
8,true,2009-12-29 01:00:00.000,31.8,-24.1,gps,Syncerus caffer,1764,Pepper,Kruger
9,true,2009-12-29 00:30:00.000,31.7,-24.2,gps,Syncerus caffer,1827,Queen,Kruger
"""
MDS = """provider_id,device_id,vehicle_id,trip_id,lat,lng,timestamp
p,d1,v1,t1,40.0,-3.0,1212908400000
p,d1,v1,t1,40.1,-3.0,1212908401000
"""
AIS = """MMSI,BaseDateTime,LAT,LON,SOG,VesselName
366940480,2017-02-01T00:00:04,52.48,-174.02,13.7,EARLY DAWN
366940480,2017-02-01T00:00:05,52.49,-174.02,13.7,EARLY DAWN
"""
SHIPS = """mmsi;ais_pos_timestamp;Latitude;Longitude
1;2023-05-01 10:00:00;59.1;5.1
1;2023-05-01 10:00:10;59.2;5.1
"""
DANISH = """# Timestamp,Type of mobile,MMSI,Latitude,Longitude
03/02/2024 00:00:10,Class A,219000001,55.1,12.5
04/02/2024 00:00:00,Class A,219000001,55.2,12.5
"""


def used(path: Path, **options: Any) -> list[str]:
    counts: Counter[str] = Counter()
    list(traces(path, counts=counts, **options))
    return [name for name in counts if name.startswith("columns ")]


@pytest.mark.parametrize(
    ("text", "columns", "subjects"),
    [
        (
            MOVEBANK,
            "lat=location-lat, lon=location-long, time=timestamp, "
            "subject=individual-local-identifier, visible=visible; not used: event-id, "
            "sensor-type, individual-taxon-canonical-name, tag-local-identifier, "
            "study-name",
            ["Pepper", "Queen"],
        ),
        (
            MDS,
            "lat=lat, lon=lng, time=timestamp, id=trip_id, subject=vehicle_id; "
            "not used: provider_id, device_id",
            ["v1"],
        ),
        (
            MDS.replace("vehicle_id", "vehicle"),
            "lat=lat, lon=lng, time=timestamp, id=trip_id, subject=device_id; "
            "not used: provider_id, vehicle",
            ["d1"],
        ),
        (
            AIS,
            "lat=LAT, lon=LON, time=BaseDateTime, subject=MMSI; not used: SOG, VesselName",
            ["366940480"],
        ),
        (
            SHIPS,
            "lat=Latitude, lon=Longitude, time=ais_pos_timestamp, subject=mmsi; not used: none",
            ["1"],
        ),
        (
            DANISH,
            "lat=Latitude, lon=Longitude, time=Timestamp, subject=MMSI; not used: Type of mobile",
            ["219000001"],
        ),
    ],
    ids=["movebank", "mds", "mds-device", "ais", "ships", "danish"],
)
@pytest.mark.parametrize("sign", ["-", "_", "."])
def test_tables_of_common_origin_are_understood(
    tmp_path: Path, text: str, columns: str, subjects: list[str], sign: str
) -> None:
    head, _, rows = text.partition("\n")
    path = csv(tmp_path, f"{head.replace('-', sign)}\n{rows}")
    assert used(path) == [f"columns {columns.replace('-', sign)}"]
    found = list(traces(path))
    assert [one.subject for one in found] == subjects
    assert all(np.isfinite(one.time).all() for one in found)
    parquet = tmp_path / "x.parquet"
    separator = ";" if ";" in head else ","
    table = pd.read_csv(path, sep=separator)
    table.rename(columns={"# Timestamp": "Timestamp"}).to_parquet(parquet)
    assert used(parquet) == [f"columns {columns.replace('-', sign)}"]
    assert [one.subject for one in traces(parquet)] == subjects


def seconds(folder: Path, *times: str) -> list[float]:
    rows = "".join(f"{i},2,a,{time}\n" for i, time in enumerate(times))
    (one,) = read(csv(folder, f"lat,lon,id,time\n{rows}"))
    return [float(time - one.time[0]) for time in one.time]


def test_of_day_and_month_that_could_be_either_the_shorter_span_is_right(tmp_path: Path) -> None:
    assert seconds(tmp_path, "10/01/2024 23:59:59", "11/01/2024 00:00:00") == [0, 1]
    assert seconds(tmp_path, "01/10/2024 23:59:59", "01/11/2024 00:00:00") == [0, 1]
    (one,) = read(csv(tmp_path, "lat,lon,id,time\n1,2,a,01/02/2024 00:00:00\n"))
    assert one.time == [pd.Timestamp("2024-02-01").timestamp()]
    (one,) = read(csv(tmp_path, "lat,lon,id,time\n1,2,a,1/2/2024 3:04:05 PM\n"))
    assert one.time == [pd.Timestamp("2024-01-02 15:04:05").timestamp()]


def test_what_could_be_taken_too_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = csv(tmp_path, MDS)
    list(traces(path))
    assert caplog.messages == [
        f"{path}: 'vehicle_id' is taken for the subject, though 'device_id' could be; "
        "if it is, say `columns` subject=device_id"
    ]
    caplog.clear()
    list(traces(path, columns={"subject": "vehicle_id"}))
    list(traces(csv(tmp_path, "lat,lon,x,y,id\n40,-3,4e5,4e6,a\n")))
    assert not caplog.messages


UNUSED_TIMES = ROWS.drop(columns="time").assign(
    sent=pd.date_range("2023-05-01", periods=4, freq="10s").astype(str)
)


def forms(folder: Path) -> list[Path]:
    """The same points as a table and as layers."""
    UNUSED_TIMES.to_csv(folder / "x.csv", index=False)
    UNUSED_TIMES.to_parquet(folder / "x.parquet")
    rows = points(UNUSED_TIMES)
    return [
        folder / "x.csv",
        folder / "x.parquet",
        write(folder / "x.gpkg", rows),
        write(folder / "geo.parquet", rows),
    ]


def test_times_that_are_not_used_are_a_warning_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for path in forms(tmp_path):
        caplog.clear()
        assert len(list(traces(path))) == 2
        (told,) = caplog.messages
        says = "no column is used as time, but 'sent' holds times, such as '2023-05-01"
        assert says in told
        assert "say `columns` time=sent; without, points are" in told
        with pytest.raises(BadInput, match=f"{path.name}: no column is used as"):
            list(traces(path, untimed="reject"))
        caplog.clear()
        found = list(traces(path, columns={"time": "sent"}, untimed="reject"))
        assert [one.time.tolist()[1] - one.time[0] for one in found] == [20, 20]
        assert not caplog.messages


def test_times_of_a_frame_that_are_not_used_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert len(list(from_frame(points(UNUSED_TIMES)))) == 2
    warned, told = caplog.messages
    assert "the frame: no column is used as time, but 'sent' holds times" in warned
    assert told == "the frame: columns id=id; not used: sent"


@pytest.mark.parametrize(
    "values",
    [
        ["1.2.3", "1.2.4", "1.2.5", "1.2.6"],
        ["192.168.1.1", "192.168.1.2", "192.168.1.3", "192.168.1.4"],
        ["555-1234", "555-1235", "555-1236", "555-1237"],
        ["2012", "2013", "2014", "2015"],
        [1_700_000_000, 1_700_000_001, 1_700_000_002, 1_700_000_003],  # a number
        [12.5, 13.5, 14.5, 15.5],
        ["1990-01-01", "1991-01-01", "1990-01-01", "1991-01-01"],  # one a person
        [None] * 4,
        [True, False, False, True],
    ],
)
def test_what_are_no_times_of_points_is_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, values: list[Any]
) -> None:
    table = ROWS.drop(columns="time").assign(other=values)
    path = csv(tmp_path, table.to_csv(index=False))
    table.to_parquet(tmp_path / "x.parquet")
    for each in (path, tmp_path / "x.parquet"):
        assert len(list(traces(each, untimed="reject"))) == 0
        assert not caplog.messages


def test_numbers_are_times_where_their_column_says_so(tmp_path: Path) -> None:
    table = ROWS.assign(log_time=ROWS["time"] + 1_700_000_000).drop(columns="time")
    path = csv(tmp_path, table.to_csv(index=False))
    with pytest.raises(BadInput, match="'log_time' holds times, such as '1700000010'"):
        list(traces(path, untimed="reject"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_one_column_may_have_two_roles(tmp_path: Path, suffix: str) -> None:
    table = ROWS.rename(columns={"id": "name_id"})
    path = tmp_path / f"x{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    columns = parse_columns("id=name_id,subject=name_id")
    assert names(list(traces(path, columns=columns))) == [("a", "a"), ("b", "b")]
    rows = write(tmp_path / "x.gpkg", points(table))
    assert names(list(traces(rows, columns=columns))) == [("a", "a"), ("b", "b")]


def test_a_role_that_there_is_not_is_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, ROWS.to_csv(index=False))
    with pytest.raises(BadInput, match="no role 'driver': choose from lat"):
        list(traces(path, columns={"driver": "id"}))


def test_the_columns_of_lines_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gpkg", lines(trip_id=["7", "8"], colour=["red", "blue"]))
    assert used(path) == ["columns id=trip_id; not used: colour"]


def test_extract_lists_the_columns_of_each_kind_of_table_once(run: Run, tmp_path: Path) -> None:
    """On the screen and in the provenance; also where processes read.

    And each warning once.
    """
    for number in range(4):
        rows = [f"{40 + number + i / 1000},-3,a{number},{i * 9},7,x" for i in range(50)]
        head = "lat,lon,id,time,timestamp," + ("red" if number == 3 else "bl\x1bue")
        csv(tmp_path, "\n".join([head, *rows]), f"{number}.csv")
    answer = run("extract", tmp_path, "--windows", "--spacing", 100)
    same = "lat=lat, lon=lon, time=time, id=id; not used: timestamp, "
    assert answer.err.count("though 'timestamp' could be") == 1
    assert f"Columns of 3 tables: {same}bl\\x1bue.\n" in answer.out
    assert f"Columns: {same}red.\n" in answer.out
    (tmp_path / "trajectories.parquet").unlink()
    several = run("extract", tmp_path, "--windows", "--spacing", 100, "--jobs", 2, "--json")
    assert several.err.count("though 'timestamp' could be") == 1
    told = json.loads(several.out)["columns"]
    assert told == {f"{same}bl\\x1bue": 3, f"{same}red": 1}
    assert extract(tmp_path, spacing=100).provenance["columns"] == told


def test_a_table_without_times_is_refused_in_words_that_fit_it(run: Run, here: Path) -> None:
    csv(here, ROWS.drop(columns="time").to_csv(index=False))
    told = run("extract", "points.csv", "--windows", "--spacing", 9, "--untimed", "reject").sentence
    assert "no point has a time, and --untimed reject leaves 4 points out" in told
    assert "--columns time=..." in told
    assert "OSM" not in told


def test_damage_of_a_column_that_nobody_uses_is_no_matter(tmp_path: Path) -> None:
    table = ROWS.drop(columns="time").assign(
        raw=[b"\xc0", b"\xff", b"", b"2020-01-01"], many=[[1], [2], [3], [4]]
    )
    table.to_parquet(tmp_path / "x.parquet")
    found: list[Trace] = list(traces(tmp_path / "x.parquet"))
    assert len(found) == 2
