"""GPX documents: what stands in them, whatever the chunks they come in."""

import gzip
import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from gpx_written import SEGMENT, TWO_POINTS, Pieces, Slowly, document, timed
from hypothesis import example, given
from hypothesis import strategies as st
from real_data import REAL, needs_real_data

from trajanon.errors import FileProblem
from trajanon.extract.sources import gpx_document
from trajanon.extract.sources.formats import FORMATS
from trajanon.extract.sources.gpx_document import GpxStream, Segment
from trajanon.extract.sources.xml_parser import CHUNK


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
    (segment,) = gpx_document.read_document(timed(text), "a.gpx").segments
    np.testing.assert_array_equal(segment.time, [seconds])


def test_routes_waypoints_and_strangers_are_ignored() -> None:
    text = document(
        '<metadata><time>2001-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="1"/>'
        '<rte><rtept lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></rtept></rte>'
        '<trk><trkpt lat="1" lon="1"><time>2001-01-01T00:00:00Z</time></trkpt>'
        '<trkseg><trkpt lat="1" lon="2"><extensions>'
        "<x><time>2001-01-01T00:00:00Z</time></x></extensions></trkpt></trkseg></trk>"
    )
    (segment,) = gpx_document.read_document(text, "a.gpx").segments
    assert segment.lon.tolist() == [2]
    assert np.isnan(segment.time).all()


def test_tracks_are_numbered_and_empty_segments_left_out() -> None:
    text = document(
        f"<trk>{SEGMENT}<trkseg/>{SEGMENT}</trk><trk/>"
        f"<trk><url>/user/ann/traces/1</url>{SEGMENT}</trk><trk>{SEGMENT}</trk>"
    )
    found = [(s.track, s.url) for s in gpx_document.read_document(text, "a.gpx").segments]
    assert found == [(1, None), (1, None), (3, "/user/ann/traces/1"), (4, None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"bad.gpx is not well-formed XML \(no element found\): it may be cut off"),
        (b"PK\x03\x04 zip", r"bad.gpx is not well-formed XML"),
        (b"\nid,lat,lon\n1,40,2\n", r"syntax error\): .* of another kind"),
        (b"\n\n<gpx>\n<trk></gpx>", r"mismatched tag"),
        (document(f"<trk>\n{SEGMENT}")[:-20], r"unclosed token\): it may be cut off"),
        (b"<html><body>Sign in</body></html>", "begins with <html>, not with <gpx>"),
        (b"<!DOCTYPE html><html/>", "declares the document type 'html'"),
        (gzip.compress(document(SEGMENT))[:-9], "cannot be read to its end"),
        (b'<?xml version="1.0" encoding="klingon"?><gpx/>', "bad.gpx is"),
    ],
)
def test_what_is_not_gpx_is_refused_in_one_sentence(content: bytes, message: str) -> None:
    with pytest.raises(FileProblem, match=message) as caught:
        gpx_document.read_document(content, "bad.gpx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "before", [b"\n", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\n\xef\xbb\xbf"]
)
@pytest.mark.parametrize("size", [1, CHUNK])
def test_blanks_before_the_declaration_are_passed_over(before: bytes, size: int) -> None:
    text = io.BytesIO(before + b'<?xml version="1.0"?>' + TWO_POINTS)
    stream = GpxStream(Slowly(text, size).read, "a.gpx")
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
    found = list(GpxStream(Pieces(text, sizes).read, "a.gpx"))
    assert len(found) == len(segments)
    for segment, whole, points in zip(
        found, gpx_document.read_document(text, "a.gpx").segments, segments, strict=True
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


def nested(inside: str) -> bytes:
    point = f'<trkpt lat="1" lon="1">{inside}</trkpt>'
    return document(f"<trk><trkseg>{point}</trkseg></trk>")


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
        gpx_document.read_document(nested(inside), "odd.gpx")


def _columns(segment: Segment) -> tuple[np.ndarray, ...]:
    return segment.lat, segment.lon, segment.time


ROOT = Path(__file__).parents[2]

PLAIN = b'<trkpt lat="41.5" lon="2.25"><time>2020-01-01T00:00:01Z</time></trkpt>'
GARMIN = (
    b'\r\n <trkpt lat="-1e1" lon="+.5">\n  <ele>7</ele>\r\n  <time>2020-01-01T00:00:02.5Z</time>\n'
    b" <extensions><t:TrackPointExtension>\n<t:hr>88</t:hr></t:TrackPointExtension></extensions>\n"
    b"</trkpt>"
)
UNTIMED = b'\n<trkpt lat="1" lon="2"><ele>7</ele><x><time>2001-01-01T00:00:00Z</time></x></trkpt>'

HEADS = [
    b"<gpx><trk><trkseg>",
    b'<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="me"><trk><trkseg>',
    b'\n<?xml version="1.0" encoding="windows-1252"?><gpx><trk><trkseg>',
    b'<g:gpx xmlns:g="g"><g:trk><g:trkseg>',
    b"<!DOCTYPE gpx><gpx><trk><trkseg>",
    b"<gpx><trk>",
]
ODD = [
    b"</trkseg></trk><trk>\n<trkseg>",
    b"<![CDATA[%s]]>" % (2 * PLAIN),
    b"<!-- %s -->" % (2 * PLAIN),
    b"<?pi %s?>" % (2 * PLAIN),
    b"<x>%s</x>" % (2 * PLAIN),
    b"<trkpt lat='3' lon='4'/>",
    b'<trkpt lat="3" lon="4"/>',
    b'<trkpt lon="4" lat="3"><time>2020-01-01T00:00:03Z</time></trkpt>',
    b'<trkpt lat="3" lon="4" id="5"><ele>6</ele></trkpt>',
    b'<trkpt lat="&#51;" lon="4"><time>2020-01-01T00:00:0&#51;Z</time></trkpt>',
    b'<trkpt lat="3" lon="4"><time></time><time>2020-01-01T00:00:05Z</time></trkpt>',
    b'<trkpt lat="3" lon="4"><time>%s</time></trkpt>' % (b"1" * 200),
    b'<trkpt lat="3" lon="4"><name>\xc3\xa9</name><time>2020-01-01</time></trkpt>',
    b'<trkpt lat="3" lon="4"><a><b><c><d/></c></b></a></trkpt>',
    b'<g:trkpt lat="3" lon="4"></g:trkpt>',
    b'<trkpt lat="3" lon="4"><e><trkpt></trkpt></e></trkpt>',
    b"&amp;",
    b"\r",
    b"text",
]
WRONG = [
    b'<trkpt lat="3" lon="4"><time>2020-01-01T00:00:04Z</time><e><trkpt></trkpt></e></trkpt>',
    b'<trkpt lat="3" lon="4"><name>\xff</name></trkpt>',
    b'<trkpt lat="3" lon="4"><name>\x01</name></trkpt>',
    b'<trkpt lat="3" lon="4"><name>]]></name></trkpt>',
    b'<trkpt lat="3" lon="4"><a></b></trkpt>',
    *(b"</trkseg>", b"<x>", b"</x>", b"<trkpt", b"</trkpt>", b"&e;", b"\x00"),
    *(b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?pi ", b"?>"),
]
TAIL = b"\n</trkseg></trk></gpx>"


class Parsed(GpxStream):
    """Reads every point by the parser."""

    _is_between_points = False


def account(kind: type[GpxStream], text: bytes, sizes: Sequence[int]) -> list[object]:
    """All that a document gives, to the bit, and why it ended."""
    stream = kind(Pieces(text, sizes).read, "a.gpx")
    found: list[object] = []
    try:
        for part in stream:
            columns = (part.lat, part.lon, part.time)
            found.append((part.track, part.url, *(column.tobytes() for column in columns)))
    except FileProblem as problem:
        found.append(str(problem))
    return [*found, stream.points, stream.is_gpx, stream.creator]


plain = st.sampled_from([PLAIN, GARMIN, UNTIMED]).flatmap(
    lambda one: st.integers(1, 6).map(one.__mul__)
)
parts = st.lists(plain | st.sampled_from(ODD), max_size=12)
wrong = st.lists(plain | st.sampled_from(ODD + WRONG), max_size=12)


@given(
    st.sampled_from(HEADS),
    parts | wrong,
    st.sampled_from([TAIL, TAIL, TAIL, b"", b"</trk></gpx>"]),
    st.lists(st.integers(5, 3000), min_size=1, max_size=4),
    st.integers(60, 700),
    st.none() | st.tuples(st.floats(0, 1), st.integers(0, 255)),
)
@example(HEADS[0], [PLAIN * 9, ODD[1], PLAIN * 9], TAIL, [300], 700, None)
def test_points_are_those_of_the_parser(
    head: bytes,
    some: list[bytes],
    tail: bytes,
    sizes: list[int],
    window: int,
    broken: tuple[float, int] | None,
) -> None:
    text = head + b"".join(some) + tail
    if broken is not None:  # a byte, somewhere
        place = int(broken[0] * (len(text) - 1))
        text = text[:place] + bytes([broken[1]]) + text[place + 1 :]
    with patch.object(gpx_document, "_WINDOW", window):
        assert account(GpxStream, text, sizes) == account(Parsed, text, sizes)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "latin-1"])
def test_points_are_those_of_the_parser_in_any_encoding(encoding: str) -> None:
    text = f'<gpx creator="é">{(HEADS[0][5:] + 9 * PLAIN + TAIL).decode()}'
    declared = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>{text}'
    for one in (text, declared):
        content = one.encode(encoding)
        assert account(GpxStream, content, [400]) == account(Parsed, content, [400])


@pytest.mark.parametrize("one", [PLAIN, GARMIN, UNTIMED])
def test_most_points_never_come_to_the_parser(one: bytes) -> None:
    text = HEADS[0] + 500 * one + TAIL
    stream = GpxStream(io.BytesIO(text).read, "a.gpx")
    assert [len(part.lat) for part in stream] == [500]
    assert stream._fed < len(text) / 10


def taken(text: bytes) -> int:
    """How many bytes of points a text begins with."""
    return GpxStream(io.BytesIO().read, "a.gpx")._take(text)


def test_what_never_ends_is_given_up_in_one_pass() -> None:
    """Each of these would take years if what did not fit were tried in other ways."""
    begun = b'<trkpt lat="1" lon="2">'
    for text in (b"<a>" * 5_000, b"<a></a>" * 2_000, b" " * 16_000, b"<a> <b> </b> " * 1_000):
        assert taken(begun + text) == 0
        assert taken(begun + text + b"<time>1</time>" + text) == 0


def files() -> list[Path]:
    return [
        *sorted((ROOT / "data/sample").glob("*.gpx.gz")),
        *(path for path in sorted(REAL.rglob("*.gpx*")) if path.is_file()),
    ]


@needs_real_data
def test_points_of_real_files_are_those_of_the_parser() -> None:
    assert len(files()) > 50
    for path in files()[::4]:
        text = path.read_bytes()
        text = gzip.decompress(text) if path.suffix == ".gz" else text
        for content in (text, text.replace(b"\n", b"\r\n"), text[: len(text) // 2]):
            assert account(GpxStream, content, [1 << 18]) == account(Parsed, content, [1 << 18])
