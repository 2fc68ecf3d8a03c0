import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import UNTIMED

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.release_formats import read_lines, read_release, write_release
from trajanon.files.release_inspection import NOTHING_ELSE, compare_with_rewrite
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

every_format = pytest.mark.parametrize("suffix", UNTIMED)


def points_of(n: int = 6, m: int = 3, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.round(rng.uniform((-90, -180), (90, 180), (n, m, 2)), 7)


def release(attribution: str | None = OSM_ATTRIBUTION, n: int = 6) -> Trajectories:
    return Trajectories(points_of(n), provenance={"attribution": attribution})


# Releases


@every_format
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    m=st.integers(2, 40),
    attribution=st.sampled_from([None, OSM_ATTRIBUTION, "<&\"'> ;,\n ñ"]),
)
@settings(max_examples=12)
def test_a_release_is_read_as_it_was_written(
    tmp_path: Path, suffix: str, seed: int, n: int, m: int, attribution: str | None
) -> None:
    points = points_of(n, m, seed)
    points[0, 0] = -0.0000001, 180.0  # small and large numbers alike
    path = tmp_path / f"release{suffix}"
    write_release(path, Trajectories(points, provenance={"attribution": attribution}))
    got = read_release(path)
    assert np.array_equal(got.points, points)
    assert got.attribution == attribution
    assert got.subject is None
    assert got.trace is None
    beside = compare_with_rewrite(path, read_lines(path))
    assert (beside == ([], NOTHING_ELSE)) is (attribution in (None, OSM_ATTRIBUTION))


def test_parquet_holds_ids_lines_and_two_words_of_metadata(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    write_release(path, release())
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    assert schema.names == ["id", "geometry"]
    assert schema.types[:2] == [pa.int64(), pa.binary()]
    assert set(schema.metadata) == {b"geo", b"attribution"}
    assert set(file.metadata.metadata) == {b"geo", b"attribution", b"ARROW:schema"}
    assert all(not field.metadata for field in schema)
    geo = json.loads(schema.metadata[b"geo"])
    assert set(geo) == {"version", "primary_column", "columns"}
    about = geo["columns"].pop("geometry")
    assert about == {"encoding": "WKB", "geometry_types": ["LineString"]}
    assert not geo["columns"]
    write_release(path, release(None))
    assert set(pq.read_schema(path).metadata) == {b"geo"}


def test_geopackage_holds_one_table_of_ids_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "release.gpkg"
    write_release(path, release())
    with closing(sqlite3.connect(path)) as database:
        tables = {
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master")
            if not name.startswith(("gpkg_", "rtree_", "sqlite_", "trigger_"))
        }
        assert tables == {"anonymized"}
        columns = [row[1] for row in database.execute("PRAGMA table_info(anonymized)")]
        assert columns == ["fid", "geom", "id"]
        rows = database.execute("SELECT fid, id FROM anonymized ORDER BY rowid")
        assert rows.fetchall() == [(i, i) for i in range(1, 7)]
        contents = database.execute("SELECT table_name, identifier, description FROM gpkg_contents")
        assert contents.fetchall() == [("anonymized", "anonymized", OSM_ATTRIBUTION)]
    table = geopandas.read_file(path)
    assert table.crs == pyproj.CRS("EPSG:4326")
    assert set(table.geom_type) == {"LineString"}


@pytest.mark.parametrize("attribution", [None, OSM_ATTRIBUTION])
def test_geojson_holds_lines_and_ids(tmp_path: Path, attribution: str | None) -> None:
    path = tmp_path / "release.geojson"
    write_release(path, release(attribution))
    collection = json.loads(path.read_text(encoding="utf-8"))
    assert collection.pop("attribution", None) == attribution
    assert set(collection) == {"type", "features"}
    for number, feature in enumerate(collection["features"], start=1):
        assert set(feature) == {"type", "properties", "geometry"}
        assert feature["properties"] == {"id": number}
        assert set(feature["geometry"]) == {"type", "coordinates"}
    first = collection["features"][0]["geometry"]["coordinates"][0]
    assert first == release().points[0, 0, ::-1].tolist(), "longitude comes first"
    assert geopandas.read_file(path).crs == pyproj.CRS("EPSG:4326")


@pytest.mark.parametrize("attribution", [None, OSM_ATTRIBUTION])
def test_csv_holds_ids_and_coordinates(tmp_path: Path, attribution: str | None) -> None:
    path = tmp_path / "release.csv"
    write_release(path, release(attribution))
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    names = ["id", "lat1", "lon1", "lat2", "lon2", "lat3", "lon3"]
    assert rows[0] == names + ["attribution"] * (attribution is not None)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 7
    numbers = release(attribution).points[0].reshape(-1).tolist()
    assert rows[1][1:7] == [repr(number) for number in numbers]


@pytest.mark.parametrize("attribution", [None, OSM_ATTRIBUTION])
def test_gpx_holds_tracks_of_points(tmp_path: Path, attribution: str | None) -> None:
    path = tmp_path / "release.gpx"
    write_release(path, release(attribution))
    root = ElementTree.parse(path).getroot()
    space = "{http://www.topografix.com/GPX/1/1}"
    tags = {element.tag.removeprefix(space) for element in root.iter()}
    about = {"metadata", "desc"} if attribution else set()
    assert tags == {"gpx", "trk", "number", "trkseg", "trkpt"} | about
    assert root.attrib == {"version": "1.1", "creator": "trajanon"}
    assert {frozenset(p.attrib) for p in root.iter(f"{space}trkpt")} == {frozenset({"lat", "lon"})}
    order = [element.tag.removeprefix(space) for element in root]
    assert order == ["metadata"] * bool(attribution) + ["trk"] * 6


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def replaced_by_noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 4)


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@every_format
@pytest.mark.parametrize("damage", [truncated, replaced_by_noise, replaced_by_a_folder])
def test_a_damaged_release_is_a_problem_that_names_the_file(
    tmp_path: Path, suffix: str, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / f"release{suffix}"
    write_release(path, release(n=40))
    damage(path)
    if suffix == ".csv" and damage is truncated:
        with pytest.raises((FileProblem, BadInput)):  # a cut line has missing numbers
            read_release(path)
        return
    with pytest.raises(FileProblem, match=re.escape(str(path))):
        read_release(path)


OTHERS = {
    "number.geojson": "1",
    "geometry.geojson": '{"features": [{"geometry": []}]}',
    "ragged.geojson": '{"features": [{"geometry": {"type": "LineString", '
    '"coordinates": [[1, 2], [3]]}}]}',
    "properties.geojson": '{"features": [{"geometry": null, "properties": [1]}]}',
    "deep.geojson": "[" * 100_000,
    "words.csv": "id,lat1,lon1\n1,a,b\n",
    "none.csv": "a,b\n1,2\n",
    "html.gpx": "<html></html>",
    "words.gpx": '<gpx><trk><trkseg><trkpt lat="a" lon="2"/></trkseg></trk></gpx>',
    "encoding.gpx": '<?xml version="1.0" encoding="nothing"?><gpx></gpx>',
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_with_something_else_is_a_problem(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(OTHERS[name], encoding="utf-8")
    with pytest.raises(FileProblem, match=re.escape(str(path))):
        read_lines(path)


@pytest.mark.parametrize("name", ["release.txt", "release", "release.geoparquet"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="choose one of"):
        write_release(tmp_path / name, release())
    with pytest.raises(BadInput, match="choose one of"):
        read_release(tmp_path / name)


# Trajectories


def trajectories(n: int = 6) -> Trajectories:
    return Trajectories(
        points_of(n),
        subject=np.arange(n) // 2,
        trace=np.arange(n)[::-1].copy(),
        provenance={
            "attribution": OSM_ATTRIBUTION,
            "box": [-3.8, 40.3, -3.6, 40.5],
            "source": ["ñ.gpx"],
            "counts": {"points read": 3},
        },
    )


def same(one: Ints | None, other: Ints | None) -> bool:
    """Whether two numberings tell the same apart."""
    if one is None or other is None:
        return one is other
    a, b = one.tolist(), other.tolist()
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def test_trajectories_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, trajectories())
    got = read_trajectories(path)
    assert np.array_equal(got.points, trajectories().points)
    assert same(got.subject, trajectories().subject)
    assert same(got.trace, trajectories().trace)
    assert dict(got.provenance) == dict(trajectories().provenance)
    assert got.points.flags.c_contiguous


@pytest.mark.parametrize(
    "subject",
    [
        ["ann", "ann", "bob", "bob", "cid", "cid"],
        [b"ann", b"ann", b"bob", b"bob", b"cid", b"cid"],
        [1.5, 1.5, 2.5, 2.5, 3.5, 3.5],
        [2**62, 2**62, 2**62 + 1, 2**62 + 1, -5, -5],
        [True, True, False, False, None, None],
        ["ann", "ann", None, None, "cid", "cid"],
    ],
)
def test_subjects_of_any_type_are_read(tmp_path: Path, subject: list[object]) -> None:
    """As written by another program; all without a name are one."""
    path = tmp_path / "other.parquet"
    lines = shapely.linestrings(points_of()[:, :, ::-1])
    geopandas.GeoDataFrame({"subject": subject}, geometry=lines, crs="EPSG:4326").to_parquet(path)
    got = read_trajectories(path).subject
    assert got is not None
    assert got.dtype == np.int64
    for i, one in enumerate(subject):
        for j, other in enumerate(subject):
            assert (got[i] == got[j]) == (one == other)


@pytest.mark.parametrize("name", ["trips.csv.parquet", "walk.gpx.geoparquet"])
def test_parquet_may_be_named_after_what_it_was_made_of(tmp_path: Path, name: str) -> None:
    points = np.array([[[40.0, 2.0], [40.0, 3.0]]])
    write_trajectories(tmp_path / name, Trajectories(points))
    assert (read_trajectories(tmp_path / name).points == points).all()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.list_(pa.float64(), 2), ""),  # as polars writes arrays
        (pa.list_(pa.float32()), ""),
        (pa.list_(pa.timestamp("us")), "its column times holds list<.*leave out the column times"),
    ],
)
def test_times_in_lists_of_any_kind_are_read_or_refused(
    tmp_path: Path, kind: pa.DataType, message: str
) -> None:
    """They were passed over, as if there were none."""
    points = np.array([[[40.0, 2.0], [40.0, 3.0]]] * 2)
    times = np.array([[1.0, 2.0], [3.0, 4.0]])
    write_trajectories(tmp_path / "a.parquet", Trajectories(points, times=times))
    table = pq.read_table(tmp_path / "a.parquet")
    lists = pa.array(times.astype(int).tolist(), kind)
    place = table.column_names.index("times")
    pq.write_table(table.set_column(place, "times", lists), tmp_path / "b.parquet")
    if message:
        with pytest.raises(BadInput, match=message):
            read_trajectories(tmp_path / "b.parquet")
    else:
        np.testing.assert_array_equal(read_trajectories(tmp_path / "b.parquet").times, times)


def test_what_other_programs_write_as_provenance_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, trajectories())
    table = pq.read_table(path)
    for text in ("", "{", "[1]", "3"):
        metadata = {**table.schema.metadata, b"trajanon": text.encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)
        assert dict(read_trajectories(path).provenance) == {}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [shapely.LineString([(0, 0), (1, 1)]), shapely.LineString([(0, 0), (1, 1), (2, 2)])],
        [shapely.LineString([(0, 0, 5), (1, 1, 5)])],
        [shapely.Point(0, 0)],
        [shapely.Polygon([(0, 0), (1, 1), (0, 1)])],
        [None],
        [shapely.MultiLineString([[(0, 0), (1, 1)], [(5, 5), (6, 6)]])],
    ],
    ids=["none", "lengths", "heights", "points", "areas", "missing", "several"],
)
def test_other_geometries_are_no_trajectories(
    tmp_path: Path, lines: list[shapely.Geometry | None]
) -> None:
    path = tmp_path / "other.parquet"
    geopandas.GeoDataFrame(geometry=lines, crs="EPSG:4326").to_parquet(path)
    with pytest.raises(BadInput, match="does not hold trajectories"):
        read_trajectories(path)


def test_a_geopackage_does_not_tell_how_often_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GDAL makes one transaction more now and then: the same release is the same bytes."""
    one, two = tmp_path / "one.gpkg", tmp_path / "two.gpkg"
    released = Trajectories(points_of(4, 5, 0))
    write_release(one, released)
    to_file = geopandas.GeoDataFrame.to_file

    def with_one_more(table: geopandas.GeoDataFrame, path: Path, **how: Any) -> None:
        to_file(table, path, **how)
        with closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE gpkg_contents SET last_change = '2026-01-01T00:00:00.000Z'")
            file.commit()

    monkeypatch.setattr(geopandas.GeoDataFrame, "to_file", with_one_more)
    write_release(two, released)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("name", ["areas.gpkg", "areas.parquet"])
def test_areas_are_no_lines_of_a_release(tmp_path: Path, name: str) -> None:
    areas = geopandas.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)] * 2, crs="EPSG:4326")
    path = tmp_path / name
    areas.to_parquet(path) if name.endswith("parquet") else areas.to_file(path)
    with pytest.raises(BadInput, match="does not hold lines of equally many points"):
        read_release(path)
