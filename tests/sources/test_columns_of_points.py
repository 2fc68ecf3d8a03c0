"""Columns of tables of points: names that are known, and names that are given."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from point_tables import ROWS, csv, names, read

from trajanon.errors import BadInput
from trajanon.extract.sources.columns import parse_columns


def test_the_names_of_cabspotting_tables_are_known(tmp_path: Path) -> None:
    text = (
        "lat,lon,timestamp,trajectory_id,user_id\n"
        "40,-3,2008/06/08 07:00:59,t1,cab1\n40.1,-3,2008/06/08 07:00:00,t1,cab1\n"
        "40,-3,2008/06/08 07:00:00,t2,cab1\n"
    )
    found = read(csv(tmp_path, text))
    assert names(found) == [("t1", "cab1"), ("t2", "cab1")]
    assert found[0].time.tolist() == [1212908459, 1212908400]


def test_the_names_of_scikit_mobility_are_known(tmp_path: Path) -> None:
    text = "lat,lng,datetime,uid,tid\n40,-3,2008-06-08 07:00:00,1,7\n"
    assert names(read(csv(tmp_path, text))) == [("7", "1")]


def test_the_names_of_movingpandas_are_known(tmp_path: Path) -> None:
    text = "t,x,y,traj_id\n2008-06-08 07:00:00,-3,40,7\n"
    (one,) = read(csv(tmp_path, text))
    assert (one.lat.tolist(), one.lon.tolist()) == ([40], [-3])
    assert (one.name, one.time.tolist()) == ("points#7", [1212908400])


def test_the_pieces_of_gdal_tracks_are_traces(tmp_path: Path) -> None:
    text = "x,y,track_fid,track_seg_id\n1,2,0,0\n1,2,0,1\n1,2,1,0\n1,2,0,1\n1,2,,1\n"
    counts: Counter[str] = Counter()
    found = read(csv(tmp_path, text), counts=counts)
    assert [(one.name, len(one)) for one in found] == [
        ("points#0/0", 1),
        ("points#0/1", 2),
        ("points#1/0", 1),
    ]
    assert counts == {"points without an id": 1}


def test_pieces_of_something_else_than_the_id_do_not_matter(tmp_path: Path) -> None:
    text = "x,y,trip_id,track_fid,track_seg_id\n1,2,a,0,0\n1,2,a,0,1\n"
    (one,) = read(csv(tmp_path, text))
    assert (one.name, len(one)) == ("points#a", 2)


@pytest.mark.parametrize("name", ["mmsi", "IMEI", "icao24", "vehicle", "Driver"])
def test_what_moves_is_a_subject(tmp_path: Path, name: str) -> None:
    assert names(read(csv(tmp_path, f"lat,lon,{name}\n40,-3,x\n"))) == [("x", "x")]


def test_names_are_known_in_any_case_and_the_best_comes_first(tmp_path: Path) -> None:
    text = "ID,Trip_ID,Latitude,LONGITUDE\n1,9,40,-3\n2,9,41,-3\n"
    assert names(read(csv(tmp_path, text))) == [("points#9", None)]


def test_any_names_can_be_given(tmp_path: Path) -> None:
    text = "taxi,when,x_wgs,y_wgs\n1131,2008-02-02 15:36:08,116.5,39.9\n"
    path = csv(tmp_path, text)
    (one,) = read(path, id="taxi", time="when", lon="x_wgs", lat="y_wgs")
    assert (one.name, one.lat.tolist(), one.lon.tolist()) == ("points#1131", [39.9], [116.5])
    assert one.time.tolist() == [1201966568]


def test_a_name_given_wins_over_a_known_one(tmp_path: Path) -> None:
    text = "lat,lon,id,driver,user\n40,-3,a,ann,x\n"
    assert names(read(csv(tmp_path, text), subject="driver")) == [("a", "ann")]


@pytest.mark.parametrize("name", ["driver_id", "Person", "rider_id", "bike_id", "owner"])
def test_trips_of_one_person_have_one_subject(tmp_path: Path, name: str) -> None:
    text = f"{name},trajectory,lat,lon\n7,a,40,-3\n7,b,41,-3\n"
    assert names(read(csv(tmp_path, text))) == [("a", "7"), ("b", "7")]


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
def test_a_column_that_may_name_subjects_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str
) -> None:
    path = whose(tmp_path, suffix, {"zone_id": ["x", "x", "x", "y"]})
    assert [one.subject for one in read(path)] == [None] * 3
    (record,) = caplog.records
    assert record.getMessage() == (
        f"the column 'badge_id' of {path} may hold the subjects of the traces: if it does, "
        "name it with `columns` subject=badge_id"
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("others", "columns"),
    [
        ({"badge_id": ["x", "y", "x", "y"]}, {}),  # two of one trace
        ({"badge_id": ["x", "x", "y", "z"]}, {}),  # as many as traces
        ({"badge_id": [None] * 4}, {}),
        ({"user": ["1", "1", "1", "2"]}, {}),
        ({}, {"subject": "badge_id"}),
    ],
)
def test_nothing_is_said_of_columns_that_cannot_be_subjects(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    suffix: str,
    others: Mapping[str, object],
    columns: Mapping[str, Any],
) -> None:
    path = whose(tmp_path, suffix, others)
    assert len(read(path, **columns)) == 3
    assert not caplog.records


def test_swapped_columns_can_be_set_right(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n-3,40,a\n")
    (one,) = read(path, lat="lon", lon="lat")
    assert (one.lat.tolist(), one.lon.tolist()) == ([40], [-3])


def test_columns_that_are_missing_are_listed_with_those_there_are(tmp_path: Path) -> None:
    path = csv(tmp_path, "northing,easting,when\n1,2,3\n")
    with pytest.raises(BadInput) as caught:
        read(path)
    said = str(caught.value)
    assert "no column known as lat or lon or id" in said
    assert "its columns are northing, easting, when" in said
    assert "`columns` lat=...,lon=...,id=..." in said


def test_a_column_given_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n1,2,3\n")
    with pytest.raises(BadInput, match="no column 'breite' for lat; its columns are"):
        read(path, lat="breite")


@pytest.mark.parametrize("text", ["latitude=y", "lat", "lat=", "=y", "", "lat=y,,lon=x"])
def test_columns_that_are_not_understood_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"is not understood.*id=\.\.\.,lat=\.\.\."):
        parse_columns(text)


@pytest.mark.parametrize("text", ["lat=a,lon=a,id=b", "lat=y,lat=x"])
def test_no_column_is_two_coordinates_and_no_role_is_played_twice(text: str) -> None:
    with pytest.raises(BadInput, match="`columns`"):
        parse_columns(text)
