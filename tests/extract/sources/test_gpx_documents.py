"""GPX documents: what stands in them, whatever the chunks they come in."""

import gzip
import io
from datetime import datetime

import numpy as np
import pytest
from gpx_written import SEGMENT, TWO_POINTS, Pieces, Slowly, document, timed
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import gpx, timestamps
from trajanon.extract.sources.formats_recognised import FORMATS
from trajanon.extract.sources.gpx import GpxDocument
from trajanon.extract.trace import Trace


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
    (segment,) = gpx.read_document(timed(text), "a.gpx")
    np.testing.assert_array_equal(segment.time, [seconds])


def test_routes_waypoints_and_strangers_are_ignored() -> None:
    text = document(
        '<metadata><time>2001-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="1"/>'
        '<rte><rtept lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></rtept></rte>'
        '<trk><trkpt lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></trkpt>'
        '<trkseg><trkpt lat="1" lon="2"><extensions>'
        "<x><time>2001-01-01T00:00:00Z</time></x></extensions></trkpt></trkseg></trk>"
    )
    (segment,) = gpx.read_document(text, "a.gpx")
    assert segment.lon.tolist() == [2]
    assert np.isnan(segment.time).all()


def test_tracks_are_numbered_and_empty_segments_left_out() -> None:
    text = document(
        f"<trk>{SEGMENT}<trkseg/>{SEGMENT}</trk><trk/>"
        f"<trk><name>morning</name>{SEGMENT}</trk><trk>{SEGMENT}</trk>"
    )
    found = [(s.name, s.subject) for s in gpx.read_document(text, "a.gpx")]
    numbered = [("track 1", None), ("track 1", None), ("track 3", "morning"), ("track 4", None)]
    assert found == numbered


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"bad.gpx is not well-formed XML \(no element found\): it may be cut off"),
        (b"PK\x03\x04 zip", r"bad.gpx is not well-formed XML"),
        (b"\nid,lat,lon\n1,40,2\n", r"syntax error\): .* of another kind"),
        (b"\n\n<gpx>\n<trk></gpx>", r"mismatched tag"),
        (document(f"<trk>\n{SEGMENT}")[:-20], r"unclosed token\): it may be cut off"),
        (b"<html><body>Sign in</body></html>", "is not GPX: it begins with <html>"),
        (gzip.compress(document(SEGMENT))[:-9], "cannot be read to its end"),
        (b'<?xml version="1.0" encoding="klingon"?><gpx/>', "bad.gpx has"),
    ],
)
def test_what_is_not_gpx_is_refused_in_one_sentence(content: bytes, message: str) -> None:
    with pytest.raises(FileProblem, match=message) as caught:
        gpx.read_document(content, "bad.gpx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "before", [b"\n", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\n\xef\xbb\xbf"]
)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_blanks_before_the_declaration_are_passed_over(before: bytes, size: int) -> None:
    text = io.BytesIO(before + b'<?xml version="1.0"?>' + TWO_POINTS)
    stream = GpxDocument(Slowly(text, size).read, "a.gpx")
    assert [len(segment.lat) for segment in stream] == [2]
    assert FORMATS["gpx"].looks_like("a.xml", text.getvalue())


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
    found = list(GpxDocument(Pieces(text, sizes).read, "a.gpx"))
    assert len(found) == len(segments)
    for segment, whole, points in zip(
        found, gpx.read_document(text, "a.gpx"), segments, strict=True
    ):
        for one, other in zip(_columns(segment), _columns(whole), strict=True):
            np.testing.assert_array_equal(one, other)
        singly = [
            [gpx.degrees([lat])[0] for lat, _, _ in points],
            [gpx.degrees([lon])[0] for _, lon, _ in points],
            [timestamps.seconds_of_iso_texts([time])[0] for _, _, time in points],
        ]
        for one, alone in zip(_columns(segment), singly, strict=True):
            np.testing.assert_array_equal(one, alone)


def _columns(segment: Trace) -> tuple[np.ndarray, ...]:
    return segment.lat, segment.lon, segment.time
