"""Geographic files of points and lines: what becomes of every feature."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import shapely
from geo_tables import (
    FILES,
    LINES,
    ROWS,
    in_order,
    is_the_two_traces,
    lines,
    names,
    places,
    points,
    read,
    read_counting,
    same,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import REAL, needs_real_data

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import features, geo_files, tables
from trajanon.extract.sources.features import Layer
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace


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


def test_a_shapefile_with_measures_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.shp", lines(LINES[1:], id=["a"]))
    box = np.array([-3, 40, -3, 41], "<f8").tobytes()
    content = struct.pack("<i", 23) + box + struct.pack("<iii", 1, 2, 0) + box
    content += np.array([1.6e9, 1.6e9 + 1] * 2, "<f8").tobytes()  # range, measures
    record = struct.pack(">ii", 1, len(content) // 2) + content
    head = struct.pack("<ii", 1000, 23) + box + bytes(32)
    for suffix, rest in ((".shp", record), (".shx", struct.pack(">ii", 50, 56))):
        size = struct.pack(">6ii", 9994, 0, 0, 0, 0, 0, (100 + len(rest)) // 2)
        path.with_suffix(suffix).write_bytes(size + head + rest)
    (one,) = read(path)
    assert places([one]) == [[(-3, 40), (-3, 41)]]
    assert np.isnan(one.time).all()


@pytest.mark.parametrize("name", ["x.gpkg", "x.parquet"])
def test_a_multipoint_of_one_point_is_that_point(tmp_path: Path, name: str) -> None:
    many = [shapely.MultiPoint([one]) for one in points().geometry]
    assert is_the_two_traces(read(write(tmp_path / name, points().set_geometry(many))))


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


def test_waypoints_beside_lines_are_counted(tmp_path: Path) -> None:
    mixed = [LINES[0], shapely.Point(1, 2), LINES[1], shapely.Point(2, 3)]
    found, counts = read_counting(write(tmp_path / "x.geojson", lines(mixed)))
    assert [one.name for one in found] == ["f#1", "f#3"]
    assert counts == {"points beside lines": 2}


def test_lines_beside_points_are_counted(tmp_path: Path) -> None:
    mixed = [shapely.Point(1, 2), LINES[1], shapely.Point(2, 3)]
    path = write(tmp_path / "x.parquet", lines(mixed, id=["a"] * 3))
    found, counts = read_counting(path)
    assert places(found) == [[(1, 2), (2, 3)]]
    assert counts == {"lines beside points": 1}


def test_columns_can_be_named(tmp_path: Path) -> None:
    frame = points().rename(columns={"id": "ride", "time": "when"})
    path = write(tmp_path / "x.gpkg", frame.assign(id="z", who="ann"))
    found = read(path, id="ride", time="when", subject="who")
    assert names(found) == [("a", "ann"), ("b", "ann")]
    assert [one.time.tolist() for one in found] == [[10, 30], [20, 40]]


def test_the_geometry_counts_even_beside_columns_of_coordinates(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gpkg", points().assign(lat=1.0, lon=2.0))
    assert is_the_two_traces(read(path, lat="lat", lon="lon"))


@pytest.mark.parametrize(("kind", "role"), [(points, "time"), (points, "id"), (lines, "subject")])
def test_a_column_of_lists_is_refused_where_values_are_needed(
    tmp_path: Path, kind: Any, role: str
) -> None:
    frame = kind(id=["a", "b"]) if kind is lines else kind()
    path = write(tmp_path / "x.parquet", frame.assign(many=[[1]] * len(frame)))
    how = Reading(columns={role: "many"})
    with pytest.raises(BadInput, match=r"the column 'many' of .*x\.parquet holds list"):
        list(geo_files.read(path, "f", how))


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
    expected = list(tables.read(table, "f", Reading()))
    found = read(path)
    assert names(found) == names(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.time, other.time)
        np.testing.assert_allclose(one.lat, other.lat, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.lon, other.lon, rtol=0, atol=1e-12)


@given(rows=recordings, cuts=st.sets(st.integers(0, 12)), as_lines=st.booleans())
def test_traces_do_not_depend_on_the_batches(
    rows: pd.DataFrame, cuts: set[int], as_lines: bool
) -> None:
    frame = points(rows)
    if as_lines:
        frame["geometry"] = [shapely.LineString([p, (0, 0)]) for p in frame.geometry]
        frame["time"] = [[second, second + 1] for second in rows.time]

    def in_batches(*ends: int) -> list[Trace]:
        parts = np.split(np.arange(len(frame)), sorted(ends))
        columns = pd.DataFrame(frame.drop(columns="geometry"))
        batches = [
            (frame.geometry.to_numpy()[part], columns.iloc[part].reset_index(drop=True))
            for part in parts
        ]
        layer = Layer("it", "f", list(columns), "EPSG:4326", lambda names: batches)
        return list(features.traces_of_features(layer, Reading()))

    assert same(in_batches(*cuts), in_batches())


@needs_real_data
def test_the_cabs_are_all_there(tmp_path: Path) -> None:
    rows = pd.read_parquet(REAL / "sf_cabs" / "cabs_dataset_20080608.parquet")
    found = read(write(tmp_path / "x.parquet", points(rows)))
    assert len(found) == 23_830
    assert len({one.subject for one in found}) == 496
    assert sum(map(len, found)) == 240_280
