"""Which kind a file is, by its name and its first bytes."""

import gzip
import json
from pathlib import Path

import geopandas
import pytest
import shapely
from gpx_written import SEGMENT, document
from hypothesis import given
from hypothesis import strategies as st

from trajanon.extract.sources.formats_recognised import FORMATS, SourceFile, format_of, read_file
from trajanon.extract.sources.reading import Reading


def kind_of(name: str, head: bytes) -> str | None:
    return next((kind for kind, one in FORMATS.items() if one.looks_like(name, head)), None)


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("walk.gpx", b"", "gpx"),
        ("walk.gpx", b"not XML", "gpx"),  # the reader says what is wrong
        ("walk.xml", document("<trk>")[:-3], "gpx"),
        ("walk", b'<?xml version="1.0"?><g:gpx xmlns:g="g">', "gpx"),
        ("walks.zip", b"", "gpx-archive"),
        ("walks.tgz", b"", "gpx-archive"),
        ("123.gpx", b"PK\x03\x04", "gpx-archive"),
        ("123.gpx", bytes(257) + b"ustar", "gpx-archive"),
        ("walk.kmz", b"PK\x03\x04", "kml"),
        ("walk", b"<kml>", "kml"),
        ("20081023025304.plt", b"Geolife trajectory\r\nWGS 84\r\n", "geolife"),
        ("new_abboip.txt", b"37.75 -122.5 1 1213084687\n", "cabspotting"),
        ("1131.csv", b"1131,2008-02-02 15:36:08,116.5,39.75", "tdrive"),
        ("train.csv", b'\xef\xbb\xbf"TRIP_ID","POLYLINE"\n', "porto"),
        ("x.json", b'\xef\xbb\xbf\n{ "name": "x", "type" : "FeatureCollection"', "json"),
        ("x", b"fgb\x03", "geo"),
        ("x", b"SQLite format 3\x00" + bytes(52) + b"GP", "geo"),
        ("x.json", b'{"type": "Topology"}', None),
        ("x.json", b'[{"type": "Feature"}]', "json"),
        ("x", b"SQLite format 3\x00" + bytes(84), None),
        ("a.csv", b"what,ever\n1,2\n", "table"),
        ("points.csv", b"40.5,-3.25,a\n", "table"),
        ("a.tsv", b"what\tever\n", "table"),
        ("a.txt", b"\n\nLatitude;Longitude;name\n1;2;a\n", "table"),
        ("a.txt", b"lng|lat\n", "table"),
        ("a", b"PAR1\x15\x04", "table"),
        ("a.parquet", b"", "table"),
        ("labels.txt", b"Start Time\tEnd Time\tTransportation Mode\n", None),
        ("_cabs.txt", b'<cab id="abboip" updates="22003"/>\n', None),
        ("a.txt", b"lat lon\n1 2\n", None),
        ("empty.txt", b"", None),
        ("readme.md", b"This holds lat, lon and more", None),
        ("a.pbf", bytes(range(256)), None),
    ],
)
def test_a_file_is_of_the_first_kind_that_it_looks_like(
    name: str, head: bytes, kind: str | None
) -> None:
    assert kind_of(name, head) == kind


@given(st.binary(max_size=60))
def test_noise_looks_like_nothing(noise: bytes) -> None:
    assert kind_of("noise.bin", b"\x00" + noise) is None


ROWS = "id,lat,lon\na,41.0,2.0\na,41.1,2.1\n"


def test_a_file_is_recognised_though_it_is_packed_or_damaged(tmp_path: Path) -> None:
    for name, content in (
        ("a.gpx.gz", gzip.compress(document("<trk>"))),
        ("b.gpx.gz", gzip.compress(document("<trk>"))[:5]),  # its reader says what is wrong
        ("c.gz", gzip.compress(ROWS.encode())),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        kind = format_of(path, Reading())
        assert kind == ("table" if name == "c.gz" else "gpx"), name


def test_points_that_begin_far_into_a_file_of_json_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    about = [{"name": "x" * 100}] * 200
    points = [{"lat": 41.0, "lon": 2.0, "time": 1_700_000_000 + step} for step in range(5)]
    path.write_text(json.dumps({"about": about, "points": points}))
    assert format_of(path, Reading()) == "json"


def test_parquet_of_geometries_is_a_table_if_its_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = geopandas.GeoDataFrame({"id": ["a"]}, geometry=[shapely.Point(2, 41)], crs=4326)
    frame.to_parquet(path)
    assert format_of(path, Reading()) == "geo"
    assert format_of(path, Reading(columns={"id": "id"})) == "geo"
    assert format_of(path, Reading(columns={"lat": "y", "lon": "x"})) == "table"


def source(path: Path, content: str) -> SourceFile:
    path.write_text(content)
    kind = format_of(path, Reading())
    assert kind is not None
    return SourceFile(path, path.name, kind, len(content), folder="ann")


def test_the_folder_is_the_person_if_that_is_said(tmp_path: Path) -> None:
    rows = "user,id,lat,lon\na,1,41.0,2.0\na,1,41.1,2.1\n"
    file = source(tmp_path / "a.csv", rows)
    for columns, person in (({"subject": "folder"}, "ann"), ({}, "a")):
        (found,) = read_file(file, Reading(columns=columns))
        assert found.subject == person


def test_a_page_of_the_api_is_of_many_whatever_its_folder(tmp_path: Path) -> None:
    page = document(f"<trk>{SEGMENT}</trk>", 'version="1.0" creator="OpenStreetMap.org"')
    file = source(tmp_path / "a.gpx", page.decode())
    (found,) = read_file(file, Reading(columns={"subject": "folder"}))
    assert found.page
    assert found.subject is None


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"subject": "track"}, "a.csv has no tracks with names (table)"),
        ({"lat": "y"}, "walk.gpx has no columns (gpx): `columns` lat=y is not used for it"),
        ({"subject": "track", "lat": "y"}, "walk.gpx has no columns (gpx)"),
    ],
)
def test_what_a_format_does_not_have_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, columns: dict[str, str], says: str
) -> None:
    name = "a.csv" if says.startswith("a.csv") else "walk.gpx"
    content = ROWS if name == "a.csv" else document(f"<trk>{SEGMENT}</trk>").decode()
    list(read_file(source(tmp_path / name, content), Reading(columns=columns)))
    (message,) = caplog.messages
    assert says in message
