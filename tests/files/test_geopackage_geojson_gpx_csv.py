"""GeoPackage, GeoJSON, GPX and CSV: what files of a release hold, and others that are none."""

import csv
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import geopandas
import pyproj
import pytest
from plain_releases import points_of, release
from releases_with_times import CLOCK, released, written

from trajanon.common.errors import FileProblem
from trajanon.files.release_formats import read_lines, write_release
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


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


def test_a_layer_has_a_list_of_times_and_two_lines_of_words(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    found = geopandas.read_file(path)
    of = released().times
    assert of is not None
    assert [json.loads(text) for text in found["times"]] == of.tolist()
    assert read_lines(path).clock == CLOCK.sentence
    assert b"copyright\n" + CLOCK.sentence.encode() in path.read_bytes()
