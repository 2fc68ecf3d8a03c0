"""GPX files, good and bad."""

import gzip
import logging
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from trajanon.errors import FileProblem
from trajanon.extract.sources import gpx, gpx_document

REAL = Path(__file__).parents[2] / "shared" / "realdata"
needs_real_data = pytest.mark.skipif(
    not REAL.is_dir(), reason="../shared/realdata is not here"
)

POINT = '<trkpt lat="41.5" lon="2.25"><time>2020-01-01T00:00:01Z</time></trkpt>'
SEGMENT = f"<trkseg>{POINT}{POINT}</trkseg>"


def document(body: str, attributes: str = 'version="1.1" creator="test"') -> bytes:
    return f"<gpx {attributes}>{body}</gpx>".encode()


def api_page(body: str) -> bytes:
    return document(body, 'version="1.0" creator="OpenStreetMap.org"')


def timed(*times: str) -> bytes:
    points = "".join(
        f'<trkpt lat="1" lon="2"><time>{time}</time></trkpt>' for time in times
    )
    return document(f"<trk><trkseg>{points}</trkseg></trk>")


@pytest.mark.parametrize(
    "namespace",
    ["", "http://www.topografix.com/GPX/1/0", "http://www.topografix.com/GPX/1/1"],
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
        (document(f"<trk>\n{SEGMENT}")[:-20], r"\(line 2\); .*: download it again"),
        (b"<html><body>Sign in</body></html>", "begins with <html>, not with <gpx>"),
        (b"<!DOCTYPE html><html/>", "declares the document type 'html'"),
        (gzip.compress(document(SEGMENT))[:-9], "cannot be read to its end"),
        (b'<?xml version="1.0" encoding="klingon"?><gpx/>', "bad.gpx is"),
    ],
)
def test_what_is_not_gpx_is_refused_in_one_sentence(
    content: bytes, message: str
) -> None:
    with pytest.raises(FileProblem, match=message) as caught:
        gpx_document.read(content, "bad.gpx")
    assert "\n" not in str(caught.value)


def test_an_xml_bomb_is_refused() -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE gpx [<!ENTITY e0 "lol">{entities}]><gpx>&e9;</gpx>'
    with pytest.raises(FileProblem, match="declares the document type 'gpx'"):
        gpx_document.read(bomb.encode(), "bomb.gpx")


def test_a_file_is_one_recording_of_nobody_known(tmp_path: Path) -> None:
    path = tmp_path / "walk.gpx"
    path.write_bytes(document(f"<trk>{SEGMENT}{SEGMENT}</trk><trk>{SEGMENT}</trk>"))
    found = [(trace.name, trace.subject) for trace in gpx.traces([path])]
    assert found == [
        ("walk.gpx", None),
        ("walk.gpx", None),
        ("walk.gpx", None),
    ]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = [tmp_path / "ann" / "1.gpx", tmp_path / "bob" / "1.gpx"]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(document(f"<trk>{SEGMENT}</trk>"))
    names = [trace.name for trace in gpx.traces(paths)]
    assert names == ["ann/1.gpx", "bob/1.gpx"]


def test_points_without_time_are_kept_in_file_order(tmp_path: Path) -> None:
    path = tmp_path / "walk.gpx"
    points = "".join(f'<trkpt lat="{lat}" lon="1"/>' for lat in (3, 1, 2))
    path.write_bytes(document(f"<trk><trkseg>{points}{POINT}</trkseg></trk>"))
    (trace,) = gpx.traces([path])
    assert trace.lat.tolist() == [3, 1, 2, 41.5]
    assert np.isnan(trace.time).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        (["2020-01-01T00:00:00.2Z", "2020-01-01T00:00:00.1Z"], 0),
        (["2020-01-01T00:00:00Z", "2020-01-01T00:00:01Z"], 2),
    ],
)
def test_a_clock_that_stood_still_gives_no_times(
    tmp_path: Path, times: list[str], kept: int
) -> None:
    path = tmp_path / "walk.gpx"
    path.write_bytes(timed(*times))
    (trace,) = gpx.traces([path])
    assert np.isfinite(trace.time).sum() == kept


@pytest.mark.parametrize("name", ["walk.gpx.gz", "walk.gpx"])
def test_a_packed_file_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(document(f"<trk>{SEGMENT}</trk>")))
    assert [len(trace) for trace in gpx.traces([path])] == [2]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<trk/>", "a <trk> without <trkseg>"),
        ("<trk><trkseg/></trk>", "every <trkseg> is empty"),
        ('<wpt lat="1" lon="1"/>', "only routes or waypoints"),
        ("", "it is empty"),
    ],
)
def test_a_file_without_points_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str, reason: str
) -> None:
    path = tmp_path / "walk.gpx"
    path.write_bytes(document(body))
    assert list(gpx.traces([path])) == []
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"{path} holds no track points ({reason}")


@pytest.mark.parametrize("name", ["missing.gpx", ""])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileProblem, match="cannot read") as caught:
        list(gpx.traces([tmp_path / name]))
    assert str(tmp_path / name) in str(caught.value)


def test_progress_is_told_after_each_file(tmp_path: Path) -> None:
    paths = [tmp_path / "1.gpx", tmp_path / "2.gpx"]
    for path in paths:
        path.write_bytes(document(f"<trk>{SEGMENT}</trk>"))
    told: list[tuple[float, float | None]] = []
    list(
        gpx.traces(paths, lambda task, done, total, note="": told.append((done, total)))
    )
    assert told == [(1, 2), (2, 2)]


def test_saved_pages_of_the_server_are_joined(tmp_path: Path) -> None:
    url = "<url>/user/ann/traces/1</url>"
    first = f'<trkseg><trkpt lat="1" lon="1">{_time(1)}</trkpt></trkseg>'
    second = f'<trkseg><trkpt lat="2" lon="1">{_time(2)}</trkpt></trkseg>'
    cloud = '<trk><trkseg><trkpt lat="3" lon="1"/></trkseg></trk>'
    pages = [
        api_page(""),
        api_page(f"<trk>{url}{first}</trk>"),
        api_page(f"<trk>{url}{second}</trk>{cloud}"),
        api_page(f"<trk><trkseg>{POINT}</trkseg></trk>"),
    ]
    paths = [tmp_path / f"page{number}.gpx" for number in range(len(pages))]
    for path, page in zip(paths, pages, strict=True):
        path.write_bytes(page)
    dropped = Counter[str]()
    found = list(gpx.traces(paths, dropped=dropped))
    assert [(trace.name, trace.subject, len(trace)) for trace in found] == [
        ("/user/ann/traces/1", "osm:ann", 2),
        ("page0.gpx: trackable 1", None, 1),
    ]
    assert dropped["points without time"] == 1


def test_trackable_traces_of_different_runs_have_different_names(
    tmp_path: Path,
) -> None:
    track = f"<trk>{SEGMENT}</trk>"
    paths = [tmp_path / name for name in ("a.gpx", "b.gpx", "c.gpx")]
    for path, text in zip(
        paths, (api_page(track), document(track), api_page(track)), strict=True
    ):
        path.write_bytes(text)
    names = [trace.name for trace in gpx.traces(paths)]
    assert names == ["a.gpx: trackable 1", "b.gpx", "c.gpx: trackable 1"]


def test_a_file_from_openstreetmap_is_known_by_its_head(tmp_path: Path) -> None:
    path = tmp_path / "a.gpx"
    for text, answer in (
        (api_page(SEGMENT), True),
        (gzip.compress(api_page(SEGMENT)), True),
        (api_page(SEGMENT)[:-40], True),
        (document(SEGMENT, 'version="1.0" creator="OSM gpx_dump.py"'), True),
        (document(SEGMENT), False),
        (api_page(f"<!-- synthetic: nobody's -->{SEGMENT}"), False),
        (b"OpenStreetMap.org", False),
    ):
        path.write_bytes(text)
        assert gpx.from_osm(path) is answer
    assert not gpx.from_osm(tmp_path / "missing.gpx")


@needs_real_data
def test_san_francisco_has_80_traces_of_one_account() -> None:
    paths = sorted((REAL / "osm_trackpoints_san_francisco").glob("*.gpx.gz"))
    dropped = Counter[str]()
    found = list(gpx.traces(paths, dropped=dropped))
    assert len(paths) == 36
    assert sum(map(len, found)) == 180_000
    assert len(found) == 80
    assert len({trace.subject for trace in found}) == 1
    assert not dropped.total()


@needs_real_data
def test_alicante_has_25_traces_and_a_cloud_that_is_none() -> None:
    paths = sorted((REAL / "osm_trackpoints_alicante").glob("page*.gpx"))
    dropped = Counter[str]()
    found = list(gpx.traces(paths, dropped=dropped))
    assert len(found) == 25
    assert sum(map(len, found)) == 5458
    assert [len(t) for t in found if t.name.endswith("/758548")] == [203 + 135]
    assert all(np.isfinite(trace.time).all() for trace in found)
    assert dropped["points without time"] == 7791


@needs_real_data
@pytest.mark.parametrize(
    ("name", "points", "timed_points"),
    [
        ("osm_trace_3458743", 398, 398),
        ("osmapir_st_geroni", 218, 218),
        ("movingpandas_304_to_UL_20190218", 2144, 2144),
        ("gpxpy_korita-zbevnica", 871, 513),
        ("gpxpy_cerknicko-jezero", 296, 296),
        ("gpxpy_cerknicko-without-times", 296, 5),
        ("gpxpy_Mojstrovka", 184, 0),  # its clock stood still, in 1901
        ("gpxpy_around-visnjan-with-car", 104, 104),
        ("graphhopper_test1", 264, 264),
        ("graphhopper_andorra", 21, 0),
        ("graphhopper_gpxv1_0", 14, 14),
        ("graphhopper_tour4_uturn", 5, 5),
        ("graphhopper_no_trkseg", 0, 0),
    ],
)
def test_files_of_many_makers_are_read(
    name: str, points: int, timed_points: int
) -> None:
    found = list(gpx.traces([REAL / "gpx" / f"{name}.gpx"]))
    assert sum(map(len, found)) == points
    assert sum(int(np.isfinite(trace.time).sum()) for trace in found) == timed_points


def _time(second: int) -> str:
    return f"<time>2020-01-01T00:00:{second:02d}Z</time>"
