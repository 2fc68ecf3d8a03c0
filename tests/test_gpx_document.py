"""GPX documents: what stands in them, whatever the chunks they come in."""

import gzip
import io
from datetime import datetime

import numpy as np
import pytest
from gpx_written import SEGMENT, TWO_POINTS, Pieces, Slowly, document, timed
from hypothesis import given
from hypothesis import strategies as st

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx import gpx_document, gpx_files
from trajanon.extract.sources.gpx.gpx_document import GpxStream, Segment
from trajanon.extract.sources.gpx.xml_parser import CHUNK


@pytest.mark.parametrize(
    "namespace", ["", "http://www.topografix.com/GPX/1/0", "http://www.topografix.com/GPX/1/1"]
)
def test_any_namespace_is_read(namespace: str) -> None:
    text = document(f"<trk>{SEGMENT}</trk>", f'xmlns="{namespace}" version="1.1"')
    (segment,) = gpx_document.read(text, "a.gpx").segments
    assert segment.lat.tolist() == [41.5, 41.5]
    assert segment.lon.tolist() == [2.25, 2.25]
    assert segment.time.tolist() == [1577836801.0] * 2


def test_prefixed_names_are_read() -> None:
    text = (
        b'<g:gpx xmlns:g="http://www.topografix.com/GPX/1/1"><g:trk><g:trkseg>'
        b'<g:trkpt lat="1" lon="2"/></g:trkseg></g:trk></g:gpx>'
    )
    assert len(gpx_document.read(text, "a.gpx").segments) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T00:01:00.250Z", 60.25),
        ("1970-01-01T00:01:00.123456789Z", 60.123456),
        ("1970-01-01T02:01:00+02:00", 60.0),
        ("1969-12-31T23:01:00-01:00", 60.0),
        ("1970-01-01T00:01:00", 60.0),
        (" 1970-01-01T00:01:00Z\n", 60.0),
        ("1970-01-01", np.nan),
        ("1970-13-01T00:01:00Z", np.nan),
        ("yesterday evening", np.nan),
        ("", np.nan),
    ],
)
def test_times_are_seconds_or_unknown(text: str, seconds: float) -> None:
    (segment,) = gpx_document.read(timed(text), "a.gpx").segments
    np.testing.assert_array_equal(segment.time, [seconds])


def test_what_is_no_number_is_nan() -> None:
    text = document(
        '<trk><trkseg><trkpt lat="north" lon="2"/><trkpt lon="3"/>'
        '<trkpt lat="1" lon=""/></trkseg></trk>'
    )
    (segment,) = gpx_document.read(text, "a.gpx").segments
    np.testing.assert_array_equal(segment.lat, [np.nan, np.nan, 1])
    np.testing.assert_array_equal(segment.lon, [2, 3, np.nan])
    assert np.isnan(segment.time).all()


def test_routes_waypoints_and_strangers_are_ignored() -> None:
    text = document(
        '<metadata><time>2001-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="1"/>'
        '<rte><rtept lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></rtept></rte>'
        '<trk><trkpt lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></trkpt>'
        '<trkseg><trkpt lat="1" lon="2"><extensions>'
        "<x><time>2001-01-01T00:00:00Z</time></x></extensions></trkpt></trkseg></trk>"
    )
    (segment,) = gpx_document.read(text, "a.gpx").segments
    assert segment.lon.tolist() == [2]
    assert np.isnan(segment.time).all()


def test_tracks_are_numbered_and_empty_segments_left_out() -> None:
    text = document(
        f"<trk>{SEGMENT}<trkseg/>{SEGMENT}</trk><trk/>"
        f"<trk><url>/user/ann/traces/1</url>{SEGMENT}</trk><trk>{SEGMENT}</trk>"
    )
    found = [(s.track, s.url) for s in gpx_document.read(text, "a.gpx").segments]
    assert found == [(1, None), (1, None), (3, "/user/ann/traces/1"), (4, None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"bad.gpx is not well-formed XML \(line 1\); it may be cut off"),
        (b"PK\x03\x04 zip", r"bad.gpx is not well-formed XML \(line 1\)"),
        (b"\nid,lat,lon\n1,40,2\n", r"line 2\); it begins with 'id,lat,.*: give it the suffix"),
        (b"\n\n<gpx>\n<trk></gpx>", r"line 4\); mend the mismatched tag, or save"),
        (document(f"<trk>\n{SEGMENT}")[:-20], r"\(line 2\); .*: download it again"),
        (b"<html><body>Sign in</body></html>", "begins with <html>, not with <gpx>"),
        (b"<!DOCTYPE html><html/>", "declares the document type 'html'"),
        (gzip.compress(document(SEGMENT))[:-9], "cannot be read to its end"),
        (b'<?xml version="1.0" encoding="klingon"?><gpx/>', "bad.gpx is"),
    ],
)
def test_what_is_not_gpx_is_refused_in_one_sentence(content: bytes, message: str) -> None:
    with pytest.raises(FileProblem, match=message) as caught:
        gpx_document.read(content, "bad.gpx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "before", [b"\n", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\n\xef\xbb\xbf"]
)
@pytest.mark.parametrize("size", [1, CHUNK])
def test_blanks_before_the_declaration_are_passed_over(before: bytes, size: int) -> None:
    text = io.BytesIO(before + b'<?xml version="1.0"?>' + TWO_POINTS)
    stream = GpxStream(Slowly(text, size).read, "a.gpx")
    assert [len(segment.lat) for segment in stream] == [2]
    assert gpx_files.looks_like("a.xml", text.getvalue())


def test_an_xml_bomb_is_refused() -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE gpx [<!ENTITY e0 "lol">{entities}]><gpx>&e9;</gpx>'
    with pytest.raises(FileProblem, match="declares the document type 'gpx'"):
        gpx_document.read(bomb.encode(), "bomb.gpx")


numbers = st.floats(-90, 90).map(str) | st.sampled_from(["", "north", "-0", " 7 "])


moments = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)).map(
    lambda time: time.isoformat() + "Z"
) | st.sampled_from(["", "1970-01-01", "1970-01-01T02:00:00+02:00", "1970-01-01T00:00:00", "soon"])


strangers = st.sampled_from(
    ["", "\n ", "<ele>7</ele>", "<!-- é -->", "<x><time>2001-01-01T00:00:00Z</time></x>"]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, list[list[tuple[str, str, str]]]]:
    """A document, and what stands in its segments."""
    point = st.tuples(numbers, numbers, moments)
    segments = draw(st.lists(st.lists(point, max_size=5), max_size=4))
    body = ""
    for segment in segments:
        body += "<trk><trkseg>"
        for lat, lon, time in segment:
            before, after = draw(strangers), draw(strangers)
            body += f'<trkpt lat="{lat}" lon="{lon}">{before}<time>{time}</time>{after}'
            body += "</trkpt>" + draw(strangers)
        body += "</trkseg></trk>"
    return document(body), [segment for segment in segments if segment]


@given(documents(), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_segments_do_not_depend_on_the_chunks(
    made: tuple[bytes, list[list[tuple[str, str, str]]]], sizes: list[int]
) -> None:
    text, segments = made
    found = list(GpxStream(Pieces(text, sizes).read, "a.gpx"))
    assert len(found) == len(segments)
    for segment, whole, points in zip(
        found, gpx_document.read(text, "a.gpx").segments, segments, strict=True
    ):
        for one, other in zip(_columns(segment), _columns(whole), strict=True):
            np.testing.assert_array_equal(one, other)
        singly = [
            [gpx_document.degrees([lat])[0] for lat, _, _ in points],
            [gpx_document.degrees([lon])[0] for _, lon, _ in points],
            [gpx_document.seconds([time])[0] for _, _, time in points],
        ]
        for one, alone in zip(_columns(segment), singly, strict=True):
            np.testing.assert_array_equal(one, alone)


@given(st.lists(moments, min_size=1, max_size=5))
def test_a_time_is_read_the_same_way_among_odd_ones(texts: list[str]) -> None:
    alone = [gpx_document.seconds([text])[0] for text in texts]
    np.testing.assert_array_equal(gpx_document.seconds([*texts, "odd"])[:-1], alone)


@given(st.lists(st.floats(-180, 180).map(repr), min_size=1))
def test_degrees_are_the_numbers_that_python_reads(texts: list[str]) -> None:
    assert gpx_document.degrees(texts).tolist() == [float(text) for text in texts]


def nested(inside: str) -> bytes:
    point = f'<trkpt lat="1" lon="1">{inside}</trkpt>'
    return document(f"<trk><trkseg>{point}</trkseg></trk>")


@pytest.mark.parametrize("inside", ["<e><trkpt/></e>", "<time>t</time><trkseg/><trk/><gpx/>"])
def test_what_stands_in_a_point_is_no_point(inside: str) -> None:
    (segment,) = gpx_document.read(nested(inside), "odd.gpx").segments
    assert segment.lat.tolist() == [1]


@pytest.mark.parametrize(
    "inside",
    [
        "<time>t</time><e><trkpt/></e>",
        "<time>t</time><e><trkpt/><trkseg/></e>",
        "<time>t</time><trkseg><trkpt/></trkseg><x/>",
        "<time>t</time><trk><trkseg><trkpt/></trkseg></trk>",
        "<time>t</time><gpx><trk><trkseg><trkpt/></trkseg></trk></gpx>",
    ],
)
def test_points_in_points_are_refused(inside: str) -> None:
    with pytest.raises(FileProblem, match="its track points stand in each other"):
        gpx_document.read(nested(inside), "odd.gpx")


def _columns(segment: Segment) -> tuple[np.ndarray, ...]:
    return segment.lat, segment.lon, segment.time
