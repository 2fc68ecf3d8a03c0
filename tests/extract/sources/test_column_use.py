"""Columns of tables and layers: which are used, as what, and which should be."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from geo_tables import points, write
from gpx_written import timed
from point_tables import ROWS, csv, names, read, uses

from trajanon.common.errors import BadInput
from trajanon.extract import extract, traces
from trajanon.extract.sources import csv_and_parquet
from trajanon.extract.sources.column_role_names import parse_columns
from trajanon.extract.sources.reading import Reading
from trajanon.extract.why_left_out import CUT_OFF

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
DANISH = """# Timestamp,Type of mobile,MMSI,Latitude,Longitude
03/02/2024 00:00:10,Class A,219000001,55.1,12.5
04/02/2024 00:00:00,Class A,219000001,55.2,12.5
"""


def used(path: Path) -> list[str]:
    how = Reading()
    list(csv_and_parquet.read(path, how.of_file(path)))
    return uses(how)


@pytest.mark.parametrize(
    ("text", "columns", "subjects"),
    [
        (
            MOVEBANK,
            "lat=location-lat, lon=location-long, subject=individual-local-identifier, "
            "time=timestamp, visible=visible; not used: event-id, "
            "sensor-type, individual-taxon-canonical-name, tag-local-identifier, "
            "study-name",
            ["Pepper", "Queen"],
        ),
        (
            MDS,
            "lat=lat, lon=lng, id=trip_id, subject=vehicle_id, time=timestamp; "
            "not used: provider_id, device_id",
            ["v1"],
        ),
        (
            AIS,
            "lat=LAT, lon=LON, subject=MMSI, time=BaseDateTime; not used: SOG, VesselName",
            ["366940480"],
        ),
        (
            DANISH,
            "lat=Latitude, lon=Longitude, subject=MMSI, time=Timestamp; not used: Type of mobile",
            ["219000001"],
        ),
    ],
    ids=["movebank", "mds", "ais", "danish"],
)
@pytest.mark.parametrize("sign", ["-", "_", "."])
def test_tables_of_common_origin_are_understood(
    tmp_path: Path, text: str, columns: str, subjects: list[str], sign: str
) -> None:
    head, _, rows = text.partition("\n")
    path = csv(tmp_path, f"{head.replace('-', sign)}\n{rows}")
    assert used(path) == [f"Columns: {columns.replace('-', sign)}."]
    found = list(traces(path))
    assert [one.subject for one in found] == subjects
    assert all(np.isfinite(one.time).all() for one in found)
    parquet = tmp_path / "x.parquet"
    table = pd.read_csv(path)
    table.rename(columns={"# Timestamp": "Timestamp"}).to_parquet(parquet)
    assert used(parquet) == [f"Columns: {columns.replace('-', sign)}."]
    assert [one.subject for one in traces(parquet)] == subjects


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
        says = "no column is used as time, but 'sent' holds times: set `columns` time=sent; without"
        assert says in told
        with pytest.raises(BadInput, match=f"{path.name}: no column is used as"):
            list(traces(path, untimed="reject"))
        caplog.clear()
        found = list(traces(path, columns={"time": "sent"}, untimed="reject"))
        assert [one.time.tolist()[1] - one.time[0] for one in found] == [20, 20]
        assert not caplog.messages


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_one_column_may_have_two_roles(tmp_path: Path, suffix: str) -> None:
    table = ROWS.rename(columns={"id": "name_id"})
    path = tmp_path / f"x{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    columns = parse_columns("id=name_id,subject=name_id")
    assert names(list(traces(path, columns=columns))) == [("a", "a"), ("b", "b")]
    rows = write(tmp_path / "x.gpkg", points(table))
    assert names(list(traces(rows, columns=columns))) == [("a", "a"), ("b", "b")]


def test_extract_lists_the_columns_of_each_kind_of_table_once(run: Run, tmp_path: Path) -> None:
    """On the screen and in the provenance; also where processes read.

    And each warning once.
    """
    for number in range(4):
        rows = [f"{40 + number + i / 1000},-3,a{number},{i * 9},7,x" for i in range(50)]
        head = "lat,lon,id,time,timestamp," + ("red" if number == 3 else "bl\x1bue")
        csv(tmp_path, "\n".join([head, *rows]), f"{number}.csv")
    answer = run("extract", tmp_path, "--windows", "--spacing", 100)
    same = "lat=lat, lon=lon, id=id, time=time; not used: timestamp, "
    assert answer.err.count("read as seconds from an unknown beginning") == 1
    assert f"Columns of 3 tables: {same}bl\\x1bue.\n" in answer.out
    assert f"Columns: {same}red.\n" in answer.out
    (tmp_path / "trajectories.parquet").unlink()
    several = run("extract", tmp_path, "--windows", "--spacing", 100, "--jobs", 2, "--json")
    assert several.err.count("read as seconds from an unknown beginning") == 1
    told = json.loads(several.out)
    roles = {"lat": "lat", "lon": "lon", "id": "id", "time": "time"}
    assert told["columns"] == [
        {"roles": roles, "unused": ["timestamp", "bl\x1bue"], "tables": 3},
        {"roles": roles, "unused": ["timestamp", "red"], "tables": 1},
    ]
    assert extract(tmp_path, spacing=100).provenance["columns"] == told["columns"]


WHOSE: Mapping[str, object] = {"badge_id": ["x", "x", "x", "y"], "id": ["a", "a", "b", "c"]}


def whose(folder: Path, suffix: str, others: Mapping[str, object]) -> Path:
    path = folder / f"points{suffix}"
    table = ROWS.assign(**{**WHOSE, **others}, time=ROWS["time"] + 1_700_000_000)
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_that_may_name_subjects_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str
) -> None:
    path = whose(tmp_path, suffix, {"plate": ["x", "x", "x", "y"], "fare": [1, 2, 3, 4]})
    assert [one.subject for one in traces(path)] == [None] * 3
    (record,) = caplog.records
    assert record.getMessage() == (
        "No column is known to name people, but 'badge_id' (2), 'plate' (2) may each do so, "
        "because recordings share values (their number is in brackets): set `columns` "
        "subject=NAME, or subject=none"
    )
    caplog.clear()
    for said in ("none", "plate"):
        assert len(list(traces(path, columns={"subject": said}))) == 3
    assert not caplog.records


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"lat": "breite"}, "no column 'breite' for lat; its columns are id, lat, lon, folder"),
        ({"subject": "folder"}, "has a column 'folder', and subject=folder means no column"),
        ({"place": "where"}, "no column 'where' for place"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(
    tmp_path: Path, columns: dict[str, str], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        list(traces(csv(tmp_path, "id,lat,lon,folder\na,48.2,16.3,x\n"), columns=columns))


def test_words_may_stand_in_place_of_columns(tmp_path: Path) -> None:
    said = parse_columns("subject=none,nameless=different")
    path = csv(tmp_path, "id,user,lat,lon\na,u,48.2,16.3\n")
    assert [one.subject for one in traces(path, columns=said)] == [None]


def drive(rows: int = 30, *, east: float = 0.0, extra: str = "") -> str:
    """Rows of time, place and perhaps more; {i} stands for the number of the row."""
    return "".join(
        f"2023-05-13T08:{i // 3:02}:{20 * (i % 3):02}Z,48.2,{16.37 + east + 0.0008 * i:.4f}"
        f"{extra.format(i=i, few=i // 12)}\n"
        for i in range(rows)
    )


@pytest.mark.parametrize(
    ("columns", "extra"),
    [
        ("", ""),
        (",ele,speed,sats", ",{i}.5,7,{few}"),
        (",device", ",logger"),
        (",id", ",{i}"),
        (",local", ",2023-05-13 10:0{few}"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_a_file_without_ids_is_one_recording_and_that_is_counted(
    tmp_path: Path, columns: str, extra: str, suffix: str
) -> None:
    path = csv(tmp_path, f"time,lat,lon{columns}\n{drive(extra=extra)}", "p0.csv")
    if suffix == ".geojson":
        path = write(tmp_path / "p0.geojson", points(pd.read_csv(path)))
    counts: Counter[str] = Counter()
    (one,) = traces(path, counts=counts)
    assert (one.name, one.subject, len(one)) == (path.name, None, 30)
    assert counts["tables without ids, each taken for one recording"] == 1


@pytest.mark.parametrize(
    ("columns", "extra", "asked"),
    [(",medallion", ",m{few}", "medallion"), (",shift", ",{few}", "shift")],
)
def test_a_column_that_may_name_recordings_has_to_be_named(
    tmp_path: Path, columns: str, extra: str, asked: str
) -> None:
    path = csv(tmp_path, f"time,lat,lon{columns}\n{drive(extra=extra)}")
    with pytest.raises(BadInput, match=f"set `columns` id={asked}, or id=file if each file is one"):
        read(path)
    assert len(read(path, id="file")) == 1
    assert len(read(path, id=asked)) == 3


def test_several_people_or_points_without_an_order_are_no_recording(tmp_path: Path) -> None:
    one, other = drive().splitlines(), drive(east=1.0).splitlines()
    mixed = "\n".join(row for pair in zip(one, other, strict=True) for row in pair)
    days = "".join(f"2023-05-{1 + i:02},48.2,{16.37 + i / 1000}\n" for i in range(20))
    for rows, words in (
        (mixed, "and its points leap 59 times, as if"),
        (days, "and no times: set"),
    ):
        path = csv(tmp_path, f"time,lat,lon\n{rows}\n")
        with pytest.raises(BadInput, match=words):
            read(path)
        assert len(read(path, id="file")) == 1
    with pytest.raises(
        BadInput, match=r"no column recognised as id; its columns are lat, lon: set"
    ):
        read(csv(tmp_path, "lat,lon\n48.2,16.37\n48.3,16.38\n"))


def test_ids_that_count_rows_are_no_recordings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = csv(tmp_path, f"time,lat,lon,id,user_id\n{drive(extra=',{i},u{few}')}")
    assert names(read(path)) == [("u0", "u0"), ("u1", "u1"), ("u2", "u2")]
    assert "the column 'id' of" in caplog.text
    assert "counts rows: each subject (user_id) is taken for one recording" in caplog.text
    assert len(read(path, id="id")) == 30


@pytest.mark.parametrize("name", ["a.gpx", "a.csv"])
def test_a_folder_may_be_the_person(tmp_path: Path, name: str) -> None:
    """The outermost folder: those within it may be years."""
    for folder in ("ann/2023", "ann/2024", "bob", "."):
        (tmp_path / "tracks" / folder).mkdir(parents=True, exist_ok=True)
        text = f"time,lat,lon\n{drive(2)}" if name == "a.csv" else timed("2023-05-13T08:00:00Z")
        csv(tmp_path / "tracks" / folder, text, name)
    by_folder = {"subject": "folder"}
    whole = [one.subject for one in traces(tmp_path / "tracks", columns=by_folder)]
    assert sorted(map(str, whole)) == ["ann", "ann", "bob", "tracks"]
    several = [tmp_path / "tracks" / "ann", tmp_path / "tracks" / "bob" / name]
    assert [one.subject for one in traces(several, columns=by_folder)] == ["ann", "ann", "bob"]


def test_columns_said_of_files_without_any_are_not_ignored_silently(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = csv(tmp_path, timed("2023-05-13T08:00:00Z"), "a.gpx")
    list(traces(path, columns={"subject": "name"}))
    assert caplog.messages == [
        f"{path} has no columns (gpx): `columns` subject=name is not used for it; subject=folder "
        "takes each folder for a person"
    ]


@pytest.mark.parametrize("names", [("a.csv", "b.gpx"), ("b.csv", "a.gpx")])
@pytest.mark.parametrize("jobs", [1, 2])
def test_columns_are_said_to_be_unused_in_any_order_of_files_and_with_any_jobs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, names: tuple[str, str], jobs: int
) -> None:
    table, track = names
    csv(tmp_path, "ride,lat,lon,time\na,41,2,2020-09-13T12:26:40Z\n", table)
    csv(tmp_path, timed("2023-05-13T08:00:00Z"), track)
    list(traces(tmp_path, columns={"id": "ride"}, jobs=jobs))
    (message,) = caplog.messages
    assert f"{track} has no columns (gpx): `columns` id=ride is not used for it" in message


@pytest.mark.parametrize(("cut", "trips"), [(0, 3), (1, 3), (9, 2), (30, 2)])
def test_a_table_that_was_cut_off_gives_no_whole_trip_of_its_last_recording(
    tmp_path: Path, cut: int, trips: int
) -> None:
    """A line without its end is no sign of that, if all its fields are there."""
    rows = [
        f"p{who},2023-05-13T08:{i // 3:02}:{20 * (i % 3):02}Z,48.2{who},{16.37 + 0.0008 * i:.4f}\n"
        for who in range(3)
        for i in range(30)
    ]
    text = "id,time,lat,lon\n" + "".join(rows)
    path = csv(tmp_path, text[: len(text) - cut])
    counts = extract(path).provenance["counts"]
    assert counts["trajectories"] == trips
    assert counts.get(CUT_OFF, 0) == 3 - trips
    assert counts.get("tables cut off in their last line", 0) == 3 - trips
