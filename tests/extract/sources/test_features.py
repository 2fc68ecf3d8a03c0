"""Points and lines of any layer: features, times and reference systems."""

import json
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import shapely
from geo_tables import (
    FILES,
    LINES,
    ROWS,
    geojson,
    in_order,
    is_the_two_traces,
    line,
    lines,
    names,
    places,
    points,
    read,
    read_counting,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract import from_frame, traces
from trajanon.extract.sources import csv_and_parquet, geopackage_and_shapefile, json_and_geojson
from trajanon.extract.sources.reading import Reading


@pytest.mark.parametrize("name", FILES)
def test_points_of_one_id_are_a_trace(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, points(), **in_order(name))
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("name", FILES)
def test_a_line_is_a_trace_in_the_order_of_its_points(tmp_path: Path, name: str) -> None:
    frame = lines(trip_id=["7", "8"], user=["ann", None])
    found = read(write(tmp_path / name, frame, **in_order(name)))
    assert names(found) == [("7", "ann"), ("8", None)]
    assert places(found) == [list(one.coords) for one in LINES]
    assert all(np.isnan(one.time).all() for one in found)


def test_lines_without_subjects_are_named_after_their_file(tmp_path: Path) -> None:
    named = write(tmp_path / "named.gpkg", lines(trip_id=["7", None]))
    bare = write(tmp_path / "bare.gpkg", lines(colour=["red", "blue"]))
    assert names(read(named)) == [("f#7", None), ("f#2", None)]
    assert names(read(bare)) == [("f#1", None), ("f#2", None)]


@pytest.mark.parametrize("name", FILES)
def test_parts_of_a_line_share_its_name(tmp_path: Path, name: str) -> None:
    both = shapely.MultiLineString([one.coords for one in LINES])
    path = write(tmp_path / name, lines([both, LINES[0]], id=["u", "v"]))
    found, counts = read_counting(path)
    assert not counts
    by_name = sorted(zip((one.name for one in found), places(found), strict=True))
    first, second = ([*one.coords] for one in LINES)
    assert by_name == sorted([("f#u", first), ("f#u", second), ("f#v", first)])


@pytest.mark.parametrize("name", FILES)
def test_heights_of_lines_are_not_looked_at(tmp_path: Path, name: str) -> None:
    high = shapely.LineString([(2, 41, 1.6e9), (3, 42, 1.6e9)])
    (one,) = read(write(tmp_path / name, lines([high], id=["a"])))
    assert places([one]) == [[(2, 41), (3, 42)]]
    assert np.isnan(one.time).all()


@pytest.mark.parametrize("name", FILES[:-1])
def test_features_without_geometry_are_counted(tmp_path: Path, name: str) -> None:
    frame = points()
    frame.loc[[1, 3], "geometry"] = [None, shapely.Point()]
    path = write(tmp_path / name, frame, **in_order(name))
    found, counts = read_counting(path)
    assert names(found) == [("f#a", None)]
    assert counts == {"features without geometry": 2}


def test_features_without_geometry_in_a_flatgeobuf(tmp_path: Path) -> None:
    # GDAL puts what follows such a feature upon what went before.
    frame = points()
    frame.loc[[0, 1], "geometry"] = None
    path = write(tmp_path / "first.fgb", frame, SPATIAL_INDEX="NO")
    found, counts = read_counting(path)
    assert [one.lat.tolist() for one in found] == [[42], [43]]
    assert counts == {"features without geometry": 2}
    write(path, frame.iloc[::-1], SPATIAL_INDEX="NO")
    with pytest.raises(FileProblem, match=r"without geometry, .* save it as GeoPackage"):
        read(path)


def test_lines_and_points_beside_others_are_counted_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mixed = [LINES[0], shapely.Point(1, 2), LINES[1], shapely.Point(2, 3)]
    found, counts = read_counting(write(tmp_path / "x.geojson", lines(mixed)))
    assert [one.name for one in found] == ["f#1", "f#3"]
    assert counts == {"points beside lines": 2}
    assert "its first feature is a line: the points, 2 in all, are left out" in caplog.text
    mixed = [shapely.Point(1, 2), LINES[1], shapely.Point(2, 3)]
    path = write(tmp_path / "x.parquet", lines(mixed, id=["a"] * 3))
    found, counts = read_counting(path)
    assert places(found) == [[(1, 2), (2, 3)]]
    assert counts == {"lines beside points": 1}
    assert "its first feature is a point: the lines, 1 in all, are left out" in caplog.text


@pytest.mark.parametrize(("kind", "role"), [(points, "time"), (points, "id"), (lines, "subject")])
def test_a_column_of_lists_is_refused_where_values_are_needed(
    tmp_path: Path, kind: Any, role: str
) -> None:
    frame = kind(id=["a", "b"]) if kind is lines else kind()
    path = write(tmp_path / "x.parquet", frame.assign(many=[[1]] * len(frame)))
    how = Reading(columns={role: "many"})
    with pytest.raises(BadInput, match=r"the column 'many' of .*x\.parquet holds list"):
        list(geopackage_and_shapefile.read(path, how.of_file(path, "f")))


def test_large_numbers_stay_exact_beside_gaps(tmp_path: Path) -> None:
    ids = [2**60 + 1, None, 2**60 + 1, 2**60 + 2]
    rows = ROWS.assign(id=pd.array(ids, dtype="Int64"))
    for name in ("x.parquet", "x.gpkg"):
        found, counts = read_counting(write(tmp_path / name, points(rows)))
        assert [one.name for one in found] == [f"f#{2**60 + 1}", f"f#{2**60 + 2}"]
        assert counts == {"points without an id": 1}


recordings = st.lists(
    st.tuples(
        st.floats(-90, 90),
        st.floats(-180, 180),
        st.integers(1_000_000_000, 2_000_000_000),
        st.sampled_from(["a", "b", "7"]),
        st.sampled_from(["ann", "bob", None]),
    ),
    min_size=1,
    max_size=12,
).map(lambda rows: pd.DataFrame(rows, columns=["lat", "lon", "time", "id", "user"]))


@pytest.mark.parametrize("name", FILES)
@given(rows=recordings)
@settings(max_examples=8)
def test_points_are_what_a_table_gives(tmp_path: Path, name: str, rows: pd.DataFrame) -> None:
    rows["user"] = rows["user"].astype("string")
    rows.to_parquet(table := tmp_path / "table.parquet")
    options = in_order(name)
    if name.startswith("x.geojson"):
        options = {"COORDINATE_PRECISION": "17", "SIGNIFICANT_FIGURES": "17"}
    (path := tmp_path / name).unlink(missing_ok=True)
    write(path, points(rows), **options)
    expected = list(csv_and_parquet.read(table, Reading().of_file(table, "f")))
    found = read(path)
    assert names(found) == names(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.time, other.time)
        np.testing.assert_allclose(one.lat, other.lat, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.lon, other.lon, rtol=0, atol=1e-12)


def test_zones_may_differ_from_point_to_point(tmp_path: Path) -> None:
    stamps = ("2020-01-01T02:00:10+02:00", "2020-01-01T00:00:20Z", "2020-01-01T00:00:30")
    place = {"type": "Point", "coordinates": [1, 2]}
    features = [(place, {"id": "a", "time": stamp}) for stamp in stamps]
    (one,) = read(geojson(tmp_path / "x.geojson", *features))
    assert (one.time - 1577836800).tolist() == [10, 20, 30]


TIMES = ["2020-01-01T00:00:10Z", "2020-01-01T00:00:20Z"]


@pytest.mark.parametrize(
    "properties",
    [
        {"coordTimes": TIMES},
        {"times": TIMES},
        {"coordinateProperties": {"times": TIMES}},
        {"coordinateProperties": {"times": TIMES}, "time": TIMES[0]},
        {"times": [1577836810, 1577836820]},
        {"times": [1577836810000, 1577836820000]},
    ],
)
def test_lists_as_long_as_the_line_are_its_times(
    tmp_path: Path, properties: dict[str, Any]
) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), properties))
    (one,) = read(path)
    assert (one.time - 1577836800).tolist() == [10, 20]


@pytest.mark.parametrize("times", [[TIMES, TIMES[::-1]], TIMES + TIMES[::-1]])
def test_times_of_the_parts_of_a_line_follow_each_other(tmp_path: Path, times: list[Any]) -> None:
    parts = [[[1, 2], [1, 3]], [[1, 4], [1, 5]]]
    geometry = {"type": "MultiLineString", "coordinates": parts}
    path = geojson(tmp_path / "x.geojson", (geometry, {"coordTimes": times}))
    assert [(one.time - 1577836800).tolist() for one in read(path)] == [[10, 20], [20, 10]]


def test_times_that_do_not_fit_their_line_are_counted(tmp_path: Path) -> None:
    long = line((1, 2), (1, 3), (1, 4))
    path = geojson(
        tmp_path / "x.geojson",
        (long, {"coordTimes": TIMES}),
        (line((1, 2), (1, 3)), {"coordTimes": TIMES}),
        (line((1, 2), (1, 3)), {}),
    )
    found, counts = read_counting(path)
    assert [np.isfinite(one.time).tolist() for one in found] == [
        [False] * 3,
        [True] * 2,
        [False] * 2,
    ]
    assert counts == {"lines with more or fewer times than points": 1}


@pytest.mark.parametrize("time", [TIMES[0], 1577836810, "[1, 2", "{}", '{"times": 3}', "[" * 9_000])
def test_a_single_time_says_nothing_of_the_points(tmp_path: Path, time: Any) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), {"times": time}))
    (one,) = read(path, time="times")
    assert np.isnan(one.time).all()


@pytest.mark.parametrize("columns", [{}, {"time": "timestamp"}])
def test_a_time_of_a_line_is_not_said_to_be_that_of_its_points(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, columns: dict[str, str]
) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), {"timestamp": TIMES[0]}))
    how = Reading(columns=columns)
    (one,) = json_and_geojson.read(path, how.of_file(path))
    assert np.isnan(one.time).all()
    (((roles, unused), _),) = how.tables.uses.items()
    assert (roles, unused) == ((), ("timestamp",))
    assert "the column 'timestamp' of" in caplog.text
    assert "holds no lists with a time for each point of a line" in caplog.text


def test_times_that_a_user_names_go_before_measures(tmp_path: Path) -> None:
    places = shapely.from_wkt(["LINESTRING M (2 41 1577836800, 2 42 1577836810)"])
    frame = geopandas.GeoDataFrame({"moments": [[20.0, 40.0]]}, geometry=places, crs=4326)
    (one,) = from_frame(frame, columns={"time": "moments"})
    assert one.time.tolist() == [20.0, 40.0]
    (one,) = from_frame(frame)
    assert one.time.tolist() == [1577836800.0, 1577836810.0]


def test_a_time_of_a_line_leaves_those_of_its_points_to_measures(
    caplog: pytest.LogCaptureFixture,
) -> None:
    places = shapely.from_wkt(["LINESTRING M (2 41 1577836800, 2 42 1577836810)"])
    day = {"date": ["2020-01-01"]}
    (one,) = from_frame(geopandas.GeoDataFrame(day, geometry=places, crs=4326))
    assert one.time.tolist() == [1577836800.0, 1577836810.0]
    assert "the column 'date' of the frame holds no lists" in caplog.text

    by_day = pd.to_datetime(["2020-01-01"])
    (one,) = from_frame(geopandas.GeoDataFrame({}, by_day, geometry=places, crs=4326))
    assert one.time.tolist() == [1577836800.0, 1577836810.0]

    lists = {"time": [[20.0, 40.0]]}
    (one,) = from_frame(geopandas.GeoDataFrame(lists, geometry=places, crs=4326))
    assert one.time.tolist() == [20.0, 40.0]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([None, "1"], ["f#line 1", "f#1"]),  # or both would be one recording
        ([None, "2", "1"], ["f#line 1", "f#2", "f#1"]),
        ([None, "a", None], ["f#1", "f#a", "f#3"]),
        ([None, None], ["f#1", "f#2"]),
    ],
)
def test_the_number_of_a_line_without_an_id_is_no_id_of_another(
    tmp_path: Path, ids: list[str | None], expected: list[str]
) -> None:
    places = ((line((lon, 41), (lon, 42)), {"id": name}) for lon, name in enumerate(ids))
    found = read(geojson(tmp_path / "x.geojson", *places))
    assert names(found) == [(name, None) for name in expected]


@pytest.mark.parametrize("name", ["x.gpkg", "x.parquet", "x.shp", "x.fgb", "x.geojson"])
@pytest.mark.parametrize("crs", ["EPSG:25830", "EPSG:3857", "EPSG:4979", "OGC:CRS84"])
def test_other_reference_systems_are_brought_to_degrees(
    tmp_path: Path, name: str, crs: str
) -> None:
    frame = points(crs=crs)
    if name == "x.geojson":
        (path := tmp_path / name).write_text(frame.to_json(to_wgs84=False))
        old = json.loads(path.read_text())
        old["crs"] = {"type": "name", "properties": {"name": crs}}
        path.write_text(json.dumps(old))
    else:
        path = write(tmp_path / name, frame, **in_order(name))
    found = read(path)
    assert names(found) == [("f#a", None), ("f#b", None)]
    np.testing.assert_allclose(found[0].lat, [40, 42], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1].lon, [-3.1, -3.3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["x.parquet", "x.shp", "x.gpkg", "x.fgb"])
def test_without_a_reference_system_degrees_are_wgs_84(tmp_path: Path, name: str) -> None:
    frame = points().set_crs(None, allow_override=True)
    path = write(tmp_path / name, frame, **in_order(name))
    assert is_the_two_traces(read(path))


def test_geoparquet_that_does_not_speak_of_it_is_wgs_84(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", points())
    table = pq.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    del geo["columns"]["geometry"]["crs"]
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("name", ["x.parquet", "x.shp", "x.gpkg"])
@pytest.mark.parametrize("kind", [points, lines])
def test_without_a_reference_system_metres_are_refused_with_their_numbers(
    tmp_path: Path, name: str, kind: Any
) -> None:
    metres = kind().to_crs("EPSG:25830").set_crs(None, allow_override=True)
    path = write(tmp_path / name, metres)
    seen = r"lat from 4,\d{3},\d{3} .* and lon from .*,\d{3}.*EPSG:4326"
    with pytest.raises(BadInput, match=rf"no reference system.*{seen}"):
        read(path)


@pytest.mark.parametrize("crs", [None, "EPSG:4326"])
@pytest.mark.parametrize("name", ["x.parquet", "x.gpkg"])
def test_swapped_coordinates_are_refused_with_their_numbers(
    tmp_path: Path, name: str, crs: str | None
) -> None:
    swapped = ROWS.assign(lat=[116.0, 116.5, 117, 117.5], lon=ROWS.lat)
    frame = points(swapped).set_crs(crs, allow_override=True)
    with pytest.raises(BadInput, match=r"swapped.* lat from 116 to .* and lon from 40 to 43"):
        read(write(tmp_path / name, frame))


@pytest.mark.parametrize("name", ["collection", "Collection"])
def test_the_collection_of_a_picture_is_proposed_as_its_recording(
    tmp_path: Path, name: str
) -> None:
    """As Panoramax gives pictures: the id is that of each, and who made it comes before."""
    rows = pd.DataFrame({"lat": 48.9 + np.arange(24) / 1e4, "lon": 2.1})
    rows["time"] = 1_715_587_200 + np.arange(24)
    rows["id"] = [f"picture {number}" for number in range(24)]
    rows["producer"] = np.repeat(["ada", "bob"], 12)
    rows[name] = np.repeat(["one", "two", "three"], 8)
    path = tmp_path / "items.geojson"
    write(path, points(rows))
    with pytest.raises(BadInput, match=f"set `columns` id={name}, or id=file"):
        list(traces(path))
    assert len(list(traces(path, columns={"id": name}))) == 3
