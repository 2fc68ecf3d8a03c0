"""Geographic files of points and lines, good and bad."""

import gzip
import json
import logging
import lzma
import struct
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo import features, geo_files
from trajanon.extract.sources.geo.layer import Layer
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.tables import table_files
from trajanon.extract.trace import Trace
from trajanon.files.trajectories import write_trajectories
from trajanon.trajectories import Trajectories

REAL = Path(__file__).parents[2] / "shared" / "realdata"
needs_real_data = pytest.mark.skipif(
    not REAL.is_dir(), reason="../shared/realdata is not here"
)

FILES = ("x.geojson", "x.geojsonl", "x.gpkg", "x.parquet", "x.shp", "x.fgb")

ROWS = pd.DataFrame(
    {
        "lat": [40.0, 41.0, 42.0, 43.0],
        "lon": [-3.0, -3.1, -3.2, -3.3],
        "time": [10, 20, 30, 40],
        "id": ["a", "b", "a", "b"],
    }
)
"""Two traces, their rows in turn."""

LINES = [
    shapely.LineString([(2, 41), (3, 42), (2.5, 41.5)]),
    shapely.LineString([(-3, 40), (-3, 41)]),
]


def points(rows: pd.DataFrame = ROWS, crs: Any = "EPSG:4326") -> Any:
    """A frame of points, its reference system changed from WGS 84 to another."""
    places = geopandas.points_from_xy(rows.lon, rows.lat, crs="EPSG:4326")
    frame = geopandas.GeoDataFrame(rows.drop(columns=["lat", "lon"]), geometry=places)
    return frame.to_crs(crs)


def lines(geometry: list[Any] = LINES, crs: Any = "EPSG:4326", **columns: Any) -> Any:
    return geopandas.GeoDataFrame(columns, geometry=geometry, crs=crs)


def write(path: Path, frame: Any, **options: Any) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, **options)
        return path
    with warnings.catch_warnings():  # of GDAL, of what a format cannot hold
        warnings.simplefilter("ignore")
        frame.to_file(path, engine="pyogrio", **options)
    return path


ONE = Trajectories(np.ones((1, 3, 2)), np.array([0]), np.array([0]))


def geojson(path: Path, *found: tuple[Any, dict[str, Any]]) -> Path:
    written = [
        {"type": "Feature", "properties": properties, "geometry": geometry}
        for geometry, properties in found
    ]
    collection = {"type": "FeatureCollection", "features": written}
    path.write_text(json.dumps(collection), encoding="utf-8")
    return path


def line(*places: tuple[float, ...]) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": places}


def read(path: Path, *, strict: bool = False, **columns: str) -> list[Trace]:
    found, counts = read_counting(path, strict=strict, **columns)
    assert not counts
    return found


def read_counting(
    path: Path, *, strict: bool = False, **columns: str
) -> tuple[list[Trace], Counter[str]]:
    how = Reading(columns=columns, strict=strict)
    return list(geo_files.read(path, "f", how)), how.counts


def names(found: list[Trace]) -> list[tuple[str, str | None]]:
    return [(one.name, one.subject) for one in found]


def same(one: list[Trace], other: list[Trace]) -> bool:
    """Whether traces are equal, to the last bit."""
    return names(one) == names(other) and all(
        np.array_equal(getattr(a, field), getattr(b, field), equal_nan=True)
        for a, b in zip(one, other, strict=True)
        for field in ("lat", "lon", "time")
    )


def is_the_two_traces(found: list[Trace]) -> bool:
    return (
        names(found) == [("f#a", None), ("f#b", None)]
        and [one.lat.tolist() for one in found] == [[40, 42], [41, 43]]
        and [one.lon.tolist() for one in found] == [[-3, -3.2], [-3.1, -3.3]]
        and [one.time.tolist() for one in found] == [[10, 30], [20, 40]]
    )


def places(found: list[Trace]) -> list[list[tuple[float, float]]]:
    """The points of traces, x first."""
    return [list(zip(one.lon.tolist(), one.lat.tolist(), strict=True)) for one in found]


# What is read


@pytest.mark.parametrize("name", FILES)
def test_points_of_one_id_are_a_trace(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, points(), **in_order(name))
    assert is_the_two_traces(read(path))


def in_order(name: str) -> dict[str, str]:
    """Without an index, FlatGeobuf keeps the order of what it is given."""
    return {"SPATIAL_INDEX": "NO"} if name.endswith(".fgb") else {}


@pytest.mark.parametrize("name", FILES)
def test_a_line_is_a_trace_in_the_order_of_its_points(
    tmp_path: Path, name: str
) -> None:
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


@pytest.mark.parametrize("kind", ["M", "ZM"])
def test_measures_that_look_like_times_are_not_taken_for_them(
    tmp_path: Path, kind: str
) -> None:
    more = "5 1600000000" if kind == "ZM" else "1600000000"
    measured = shapely.from_wkt(f"LINESTRING {kind} (2 41 {more}, 3 42 {more})")
    (one,) = read(write(tmp_path / "x.parquet", lines([measured], id=["a"])))
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


@pytest.mark.parametrize("name", ["x.gpkg", "x.parquet", "x.geojson"])
def test_points_with_heights_are_read(tmp_path: Path, name: str) -> None:
    frame = points().set_geometry(shapely.force_3d(points().geometry.values, 7.0))
    assert is_the_two_traces(read(write(tmp_path / name, frame)))


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
    with pytest.raises(
        FileProblem, match=r"without geometry, .* save it as GeoPackage"
    ):
        read(path)


def test_the_number_of_a_line_counts_lines_without_geometry(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gpkg", lines([LINES[0], None, LINES[1]], c=[1, 2, 3]))
    found, counts = read_counting(path)
    assert [one.name for one in found] == ["f#1", "f#3"]
    assert counts == {"features without geometry": 1}


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


def test_the_geometry_counts_even_beside_columns_of_coordinates(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "x.gpkg", points().assign(lat=1.0, lon=2.0))
    assert is_the_two_traces(read(path, lat="lat", lon="lon"))


def test_points_without_an_id_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojson", points().drop(columns="id"))
    with pytest.raises(BadInput, match=r"no column known as id; .* --columns id="):
        read(path)


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fgb", lines(trip=["a", "b"]))
    with pytest.raises(
        BadInput, match=r"no column .ride. for id; its columns are trip$"
    ):
        read(path, id="ride")


@pytest.mark.parametrize(
    ("kind", "role"), [(points, "time"), (points, "id"), (lines, "subject")]
)
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


# Times


def test_zones_may_differ_from_point_to_point(tmp_path: Path) -> None:
    stamps = (
        "2020-01-01T02:00:10+02:00",
        "2020-01-01T00:00:20Z",
        "2020-01-01T00:00:30",
    )
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
def test_times_of_the_parts_of_a_line_follow_each_other(
    tmp_path: Path, times: list[Any]
) -> None:
    parts = [[[1, 2], [1, 3]], [[1, 4], [1, 5]]]
    geometry = {"type": "MultiLineString", "coordinates": parts}
    path = geojson(tmp_path / "x.geojson", (geometry, {"coordTimes": times}))
    assert [(one.time - 1577836800).tolist() for one in read(path)] == [
        [10, 20],
        [20, 10],
    ]


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


@pytest.mark.parametrize(
    "time", [TIMES[0], 1577836810, "[1, 2", "{}", '{"times": 3}', "[" * 9_000]
)
def test_a_single_time_says_nothing_of_the_points(tmp_path: Path, time: Any) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), {"times": time}))
    (one,) = read(path, time="times")
    assert np.isnan(one.time).all()


def test_a_column_of_lists_is_times_of_points(tmp_path: Path) -> None:
    stamps = [np.array([5, 86_400], "datetime64[s]").astype("datetime64[ms]")]
    (one,) = read(write(tmp_path / "x.parquet", lines(LINES[1:], time=stamps)))
    assert one.time.tolist() == [5, 86_400]


# Reference systems


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


def test_degrees_of_another_datum_are_not_those_of_wgs_84(tmp_path: Path) -> None:
    rows = ROWS.assign(lon=ROWS.lon - 100)
    frame = points(rows).set_crs("EPSG:4267", allow_override=True)  # NAD27
    (one, _) = read(write(tmp_path / "x.gpkg", frame))
    moved = np.abs(one.lon - [-103, -103.2])
    assert (moved > 1e-5).all()
    assert (moved < 1e-2).all()


@pytest.mark.parametrize("name", ["x.parquet", "x.shp", "x.gpkg", "x.fgb"])
def test_without_a_reference_system_degrees_are_wgs_84(
    tmp_path: Path, name: str
) -> None:
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
    seen = r"x from .*,\d{3}.* and y from 4,\d{3},000 .*EPSG:4326"
    with pytest.raises(BadInput, match=rf"no reference system.*{seen}"):
        read(path)


def test_without_a_reference_system_one_strange_point_is_enough(
    tmp_path: Path,
) -> None:
    rows = ROWS.assign(lat=[40.0, 41.0, 42.0, 95.0])
    path = write(
        tmp_path / "x.parquet", points(rows).set_crs(None, allow_override=True)
    )
    with pytest.raises(BadInput, match=r"no reference system.* y from 40 to 95"):
        read(path)


def test_with_one_a_strange_point_is_left_to_the_cleaning(tmp_path: Path) -> None:
    rows = ROWS.assign(lat=[40.0, 41.0, 42.0, 95.0])
    found = read(write(tmp_path / "x.parquet", points(rows)))
    assert [one.lat.tolist() for one in found] == [[40, 42], [41, 95]]


@pytest.mark.parametrize("crs", [None, "EPSG:4326"])
@pytest.mark.parametrize("name", ["x.parquet", "x.gpkg"])
def test_swapped_coordinates_are_refused_with_their_numbers(
    tmp_path: Path, name: str, crs: str | None
) -> None:
    swapped = ROWS.assign(lat=[116.0, 116.5, 117, 117.5], lon=ROWS.lat)
    frame = points(swapped).set_crs(crs, allow_override=True)
    with pytest.raises(BadInput, match=r"swapped.* x from 40 to 43 and y from 116 to"):
        read(write(tmp_path / name, frame))


def test_metres_that_are_said_to_be_degrees_are_refused(tmp_path: Path) -> None:
    metres = points(crs="EPSG:25830").set_crs("EPSG:4326", allow_override=True)
    with pytest.raises(BadInput, match=r"not on Earth .* x from .* to .* y from"):
        read(write(tmp_path / "x.gpkg", metres))


def test_a_system_without_place_on_earth_is_refused(tmp_path: Path) -> None:
    drawing = 'LOCAL_CS["drawing",UNIT["metre",1]]'
    frame = points().set_crs(drawing, allow_override=True)
    with pytest.raises(BadInput, match=r"cannot be turned into WGS 84 .*EPSG:4326"):
        read(write(tmp_path / "x.parquet", frame))


# Layers


def test_all_layers_are_read_and_keep_their_names_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.gpkg"
    write(path, points(), layer="monday")
    write(path, lines(id=["a", "b"]), layer="tuesday")
    assert [one.name for one in read(path)] == [
        "f:monday#a",
        "f:monday#b",
        "f:tuesday#a",
        "f:tuesday#b",
    ]


def test_layers_of_other_things_are_left_out_with_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.gpkg"
    write(path, lines([shapely.box(0, 0, 1, 1)]), layer="districts")
    write(path, points().drop(columns="id"), layer="shops")
    write(path, lines(), layer="tours")
    pyogrio.write_dataframe(pd.DataFrame({"a": [1]}), path, layer="notes")
    write(path, points().iloc[:0], layer="nothing")
    with caplog.at_level(logging.WARNING):
        found = read(path)
    assert [one.name for one in found] == ["f:tours#1", "f:tours#2"]
    for said in (
        "layer 'districts' holds Polygons",
        "layer 'shops' has no column known as id",
        "layer 'notes' has no geometries",
        "layer 'nothing' holds no features",
    ):
        assert any(
            said in text and text.endswith("this layer is left out")
            for text in caplog.messages
        )
    assert len(caplog.messages) == 4


def test_a_table_without_geometries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gpkg"
    pyogrio.write_dataframe(pd.DataFrame({"id": [1]}), path)
    with pytest.raises(BadInput, match="has no geometries; save its table as CSV"):
        read(path)


@pytest.mark.parametrize("name", FILES)
def test_no_features_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "x.geojsonl":
        path.write_text("\n")
        with pytest.raises(FileProblem, match=r"begins like no GeoJSON"):
            read(path)
        return
    write(path, points().iloc[:0])
    with pytest.raises(BadInput, match=r"x\.\w+ holds no (features|points or lines)"):
        read(path)


@pytest.mark.parametrize("name", FILES)
def test_nothing_but_empty_geometries_is_refused(tmp_path: Path, name: str) -> None:
    nothing = lines([None, None], id=["a", "b"])
    path = write(tmp_path / name, nothing, **in_order(name))
    with pytest.raises(BadInput, match=r"x\.\w+ holds no points or lines"):
        read_counting(path)


@pytest.mark.parametrize(
    ("geometry", "said"),
    [
        (shapely.box(0, 0, 1, 1), "Polygon"),
        (shapely.MultiPolygon([shapely.box(0, 0, 1, 1)]), "MultiPolygon"),
        (shapely.GeometryCollection([LINES[0]]), "GeometryCollection"),
        (shapely.MultiPoint([(0, 1), (2, 3)]), "MultiPoint of 2 points"),
    ],
)
@pytest.mark.parametrize("name", ["x.geojson", "x.gpkg", "x.parquet", "x.fgb"])
def test_other_geometries_are_refused(
    tmp_path: Path, name: str, geometry: Any, said: str
) -> None:
    path = write(tmp_path / name, lines([geometry], id=["a"]))
    with pytest.raises(BadInput, match=f"holds (a )?{said}"):
        read(path)


def test_a_polygon_among_lines_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojson", lines([*LINES, shapely.box(0, 0, 1, 1)]))
    with pytest.raises(BadInput, match="holds a Polygon; traces are points or lines"):
        read(path)


def test_points_that_a_spatial_index_has_sorted_need_times(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fgb", points())
    assert {one.name: sorted(one.time) for one in read(path)} == {
        "f#a": [10, 30],
        "f#b": [20, 40],
    }
    untimed = write(tmp_path / "untimed.fgb", points().drop(columns="time"))
    with pytest.raises(BadInput, match=r"sorted by place.*SPATIAL_INDEX=NO"):
        read(untimed)


# Which files


@pytest.mark.parametrize("name", FILES)
def test_files_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    head = write(tmp_path / name, points()).read_bytes()[:4096]
    parquet = name == "x.parquet"  # its end says more than its head
    shapefile = name == "x.shp"  # it is several files, which only names hold together
    assert geo_files.looks_like("noname", head) is not (parquet or shapefile)
    assert geo_files.looks_like(name, b"") is not parquet


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"lat,lon,id\n1,2,a\n",
        b'{"type": "Topology"}',
        b'[{"type": "Feature"}]',
        b"<gpx></gpx>",
        b"SQLite format 3\x00" + bytes(84),
        b'id,note\n1,"type":"Feature"',
    ],
)
def test_other_files_are_not_taken(head: bytes) -> None:
    assert not geo_files.looks_like("x.json", head)


def test_geojson_may_have_any_name_and_white_space(tmp_path: Path) -> None:
    path = geojson(tmp_path / "x.json", (line((1, 2), (1, 3)), {}))
    head = b'\xef\xbb\xbf\n{ "name": "x", "type" : "FeatureCollection"'
    assert geo_files.looks_like("x.json", head)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert places(read(path)) == [[(1, 2), (1, 3)]]


@pytest.mark.parametrize("suffix", [".json", ".geojson"])
def test_a_geometry_may_stand_alone(tmp_path: Path, suffix: str) -> None:
    shape = {"type": "LineString", "coordinates": [[1, 2], [1, 3]]}
    path = tmp_path / f"x{suffix}"
    for content in (shape, {"type": "Feature", "properties": {}, "geometry": shape}):
        path.write_text(json.dumps(content))
        assert geo_files.looks_like(path.name, path.read_bytes())
        assert places(read(path)) == [[(1, 2), (1, 3)]]


def test_features_one_after_another_may_be_separated_by_records(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    pretty = (json.dumps(json.loads(text), indent=1) for text in texts)
    path.write_text("".join(f"\x1e{text}\n" for text in pretty))
    assert geo_files.looks_like("x", path.read_bytes()[:4096])
    assert is_the_two_traces(read(path))


def test_parquet_is_known_by_its_footer(tmp_path: Path) -> None:
    geo = write(tmp_path / "geo.parquet", points())
    ROWS.to_parquet(table := tmp_path / "table.parquet")
    own = tmp_path / "own.parquet"
    write_trajectories(own, ONE)
    (broken := tmp_path / "broken.parquet").write_bytes(geo.read_bytes()[:-9])
    (text := tmp_path / "text.parquet").write_text("lat,lon")
    nothing = tmp_path / "nothing.parquet"
    every = (geo, table, own, broken, text, nothing)
    assert [path for path in every if geo_files.is_geoparquet(path)] == [geo, own]
    assert [path for path in every if geo_files.is_our_own(path)] == [own]


def test_what_extract_wrote_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, ONE)
    with pytest.raises(BadInput, match=r"extract wrote.* give it to trajanon anonym"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", ["x.geojson", "x.gpkg", "x.parquet"])
def test_packed_files_are_unpacked(tmp_path: Path, name: str, pack: Any) -> None:
    path = write(tmp_path / name, points())
    packed = tmp_path / f"{name}.packed"
    packed.write_bytes(pack(path.read_bytes()))
    assert is_the_two_traces(read(packed))


@pytest.mark.parametrize("name", [*FILES, "x.geojson.gz"])
def test_progress_goes_to_the_size_of_the_file(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name.removesuffix(".gz"), points())
    if name.endswith(".gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress((tmp_path / "x.geojson").read_bytes()))
    steps: list[int] = []
    assert len(list(geo_files.read(path, "f", Reading(read=steps.append)))) == 2
    assert sum(steps) == path.stat().st_size
    assert min(steps) >= 0


def test_a_wrong_suffix_does_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gpkg", points())
    assert is_the_two_traces(read(path.rename(tmp_path / "x.geojson")))


# Damage


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", ["", "lat,lon\n1,2\n", "<gpx/>", '{"type": 3}', "{"])
def test_files_that_are_something_else_are_refused(
    tmp_path: Path, name: str, text: str
) -> None:
    (path := tmp_path / name).write_text(text)
    with pytest.raises(
        FileProblem, match=rf"{name} (is empty|begins)|cannot read .*{name}"
    ):
        read(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"cannot read .*x\.gpkg: No such file"):
        read(tmp_path / "x.gpkg")


def many() -> Any:
    ids = np.arange(3_000) % 7
    rows = pd.DataFrame({"lat": ids * 1.0, "lon": ids * 2.0, "id": ids, "time": ids})
    return points(rows)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_never_read_as_whole(
    tmp_path: Path, name: str, share: float
) -> None:
    path = write(tmp_path / name, many())
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content)) - 9])
    with pytest.raises(FileProblem, match=name):
        read_counting(path, strict=True)
    if name == "x.geojsonl":
        _, counts = read_counting(path)
        assert counts == {"lines that are no features": 1}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_packed_file_that_was_cut_off_is_refused(
    tmp_path: Path, share: float
) -> None:
    content = gzip.compress(write(tmp_path / "x.gpkg", many()).read_bytes())
    path = tmp_path / "x.gpkg.gz"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileProblem, match=r"cannot unpack .*x\.gpkg\.gz"):
        read(path)


def test_broken_lines_of_geojson_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    path.write_text("\n".join([*texts[:2], "{broken", "", *texts[2:], "{}"]) + "\n\n")
    found, counts = read_counting(path)
    assert is_the_two_traces(found)
    assert counts == {"lines that are no features": 2}
    with pytest.raises(
        FileProblem, match="lines that are no features, 2 of 6; mend them"
    ):
        read(path, strict=True)


@pytest.mark.parametrize("suffix", [".shx", ".dbf"])
def test_a_shapefile_needs_its_other_files(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / "x.shp", points())
    path.with_suffix(suffix).unlink()
    with pytest.raises(FileProblem, match=rf"no {suffix} beside it"):
        read(path)


@pytest.mark.parametrize("wkb", [b"", b"\x01\x01\x00\x00\x00", b"no geometry at all"])
def test_geometries_that_cannot_be_read_are_counted(tmp_path: Path, wkb: bytes) -> None:
    path = broken_geometry(tmp_path / "x.parquet", wkb)
    found, counts = read_counting(path)
    assert [one.lat.tolist() for one in found] == [[40], [41, 43]]
    assert counts == {"features without geometry": 1}
    with pytest.raises(
        FileProblem, match="geometries that cannot be read, 1 of the next 4; mend"
    ):
        read(path, strict=True)


def broken_geometry(path: Path, wkb: bytes) -> Path:
    """The two traces, the geometry of the third row broken."""
    table = pq.read_table(write(path, points()))
    content = table["geometry"].to_pylist()
    content[2] = wkb
    place = table.schema.get_field_index("geometry")
    column = pa.array(content, pa.binary())
    pq.write_table(table.set_column(place, table.schema.field(place), column), path)
    return path


@pytest.mark.parametrize("geometry", [points, lines])
def test_geoarrow_encodings_are_read(tmp_path: Path, geometry: Any) -> None:
    plain = write(tmp_path / "x.parquet", geometry())
    path = write(tmp_path / "y.parquet", geometry(), geometry_encoding="geoarrow")
    encoding = json.loads(pq.read_metadata(path).metadata[b"geo"])
    assert encoding["columns"]["geometry"]["encoding"] != "WKB"
    assert same(read(path), read(plain))


@pytest.mark.parametrize(
    ("geo", "error", "said"),
    [
        (b"no json", FileProblem, "does not describe its geometries"),
        (b"[]", FileProblem, "does not describe its geometries"),
        (b'{"primary_column": "g", "columns": {}}', FileProblem, "does not describe"),
        (
            b'{"primary_column": "g", "columns": {"g": {}}}',
            FileProblem,
            "has no column 'g'",
        ),
        (
            b'{"primary_column": "id", "columns": {"id": {"encoding": "TWKB"}}}',
            FileProblem,
            "in the encoding 'TWKB'",
        ),
    ],
)
def test_footers_that_make_no_sense_are_refused(
    tmp_path: Path, geo: bytes, error: type[Exception], said: str
) -> None:
    table = pa.table(ROWS).replace_schema_metadata({b"geo": geo})
    pq.write_table(table, path := tmp_path / "x.parquet")
    with pytest.raises(error, match=said):
        read(path)


def test_parquet_without_geometries_is_a_table(tmp_path: Path) -> None:
    ROWS.to_parquet(path := tmp_path / "x.parquet")
    with pytest.raises(BadInput, match="without geometries; read it with --format"):
        read(path)


# Properties

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
def test_points_are_what_a_table_gives(
    tmp_path: Path, name: str, rows: pd.DataFrame
) -> None:
    rows["user"] = rows["user"].astype("string")
    rows.to_parquet(table := tmp_path / "table.parquet")
    options = in_order(name)
    if name.startswith("x.geojson"):
        options = {"COORDINATE_PRECISION": "17", "SIGNIFICANT_FIGURES": "17"}
    (path := tmp_path / name).unlink(missing_ok=True)
    write(path, points(rows), **options)
    expected = list(table_files.read(table, "f", Reading()))
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
        layer = Layer("it", "f", list(columns), "EPSG:4326", batches)
        return list(features.traces(layer, Reading()))

    assert same(in_batches(*cuts), in_batches())


@given(
    rows=recordings.filter(lambda rows: rows.lat.abs().max() < 80),
    crs=st.sampled_from(["EPSG:3857", "EPSG:3395", "EPSG:4087", "EPSG:4258"]),
)
def test_a_reference_system_moves_no_point_by_a_millimetre(
    tmp_path: Path, rows: pd.DataFrame, crs: str
) -> None:
    rows["lon"] *= 0.99  # at the antimeridian, -180 may come back as 180
    path = tmp_path / "x.parquet"
    plain = read(write(path, points(rows)))
    moved = read(write(path, points(rows, crs)))
    assert names(moved) == names(plain)
    for one, other in zip(moved, plain, strict=True):
        np.testing.assert_allclose(one.lat, other.lat, rtol=0, atol=9e-9)
        np.testing.assert_allclose(one.lon, other.lon, rtol=0, atol=9e-9)


# Real recordings


@needs_real_data
@pytest.mark.parametrize("name", ["x.parquet", "x.gpkg"])
def test_the_cabs_are_all_there(tmp_path: Path, name: str) -> None:
    rows = pd.read_parquet(REAL / "sf_cabs" / "cabs_dataset_20080608.parquet")
    found = read(write(tmp_path / name, points(rows)))
    assert len(found) == 23_830
    assert len({one.subject for one in found}) == 496
    assert sum(map(len, found)) == 240_280
