"""Which kind a file is, by its name and its first bytes."""

import pytest
from gpx_written import document
from hypothesis import given
from hypothesis import strategies as st

from trajanon.extract.sources.formats_recognised import FORMATS


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
