"""Points read without the parser: the same as the parser reads, and the same refusals."""

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from gpx_written import Pieces
from hypothesis import example, given
from hypothesis import strategies as st
from real_data import REAL, needs_real_data

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx import gpx_document
from trajanon.extract.sources.gpx.gpx_document import GpxStream
from trajanon.extract.sources.gpx.plain_points import WINDOW, run_of_points

ROOT = Path(__file__).parents[1]

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
    return [*found, stream.points, stream.is_gpx, stream.contents, stream.creator]


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
    with patch.object(gpx_document, "WINDOW", window):
        assert account(GpxStream, text, sizes) == account(Parsed, text, sizes)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "latin-1"])
def test_points_are_those_of_the_parser_in_any_encoding(encoding: str) -> None:
    text = f'<gpx creator="é">{(HEADS[0][5:] + 9 * PLAIN + TAIL).decode()}'
    declared = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>{text}'
    for one in (text, declared):
        content = one.encode(encoding)
        assert account(GpxStream, content, [400]) == account(Parsed, content, [400])


def test_letters_of_utf_16_that_look_like_points_are_none() -> None:
    looks = (PLAIN + b" " * (len(PLAIN) % 2)).decode("utf-16-le")
    text = f'<gpx creator="{looks}"><trk><trkseg>{9 * looks}</trkseg></trk></gpx>'.encode("utf-16")
    assert account(GpxStream, text, [10_000])[-4:-2] == [0, True]
    assert account(GpxStream, text, [10_000]) == account(Parsed, text, [10_000])


@pytest.mark.parametrize("one", [PLAIN, GARMIN, UNTIMED])
def test_most_points_never_come_to_the_parser(one: bytes) -> None:
    text = HEADS[0] + 500 * one + TAIL
    stream = GpxStream(io.BytesIO(text).read, "a.gpx")
    assert [len(part.lat) for part in stream] == [500]
    assert stream._fed < len(text) / 10


def test_a_run_ends_where_a_point_is_odd() -> None:
    run = run_of_points(3 * PLAIN + ODD[6] + PLAIN)
    assert run is not None
    assert (run.length, run.lat) == (3 * len(PLAIN), ["41.5"] * 3)
    assert run_of_points(ODD[6] + PLAIN) is None


def test_what_never_ends_is_given_up_in_one_pass() -> None:
    """Each of these would take years if what did not fit were tried in other ways."""
    begun = b'<trkpt lat="1" lon="2">'
    for text in (b"<a>" * 5_000, b"<a></a>" * 2_000, b" " * WINDOW, b"<a> <b> </b> " * 1_000):
        assert run_of_points(begun + text) is None
        assert run_of_points(begun + text + b"<time>1</time>" + text) is None


def files() -> list[Path]:
    return [
        *sorted((ROOT / "data/sample").glob("*.gpx.gz")),
        *(path for path in sorted(REAL.rglob("*.gpx*")) if path.is_file()),
    ]


@needs_real_data
def test_points_of_real_files_are_those_of_the_parser() -> None:
    assert len(files()) > 50
    for path in files():
        text = path.read_bytes()
        text = gzip.decompress(text) if path.suffix == ".gz" else text
        for content in (text, text.replace(b"\n", b"\r\n"), text[: len(text) // 2]):
            assert account(GpxStream, content, [1 << 18]) == account(Parsed, content, [1 << 18])


def test_times_that_are_none_are_those_of_the_parser() -> None:
    times = (b"", b"1", b"2020-01-01", b"2020-13-01T00:00:00Z", b"2020-01-01T02:00:00+02:00")
    points = b"".join(b'<trkpt lat="" lon="-"><time>%s</time></trkpt>' % time for time in times)
    text = HEADS[0] + PLAIN + points + TAIL
    (part,) = GpxStream(io.BytesIO(text).read, "a.gpx")
    np.testing.assert_array_equal(part.time[-1], 1577836800.0)
    assert account(GpxStream, text, [1000]) == account(Parsed, text, [1000])
