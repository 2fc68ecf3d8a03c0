"""Paging through the OSM API: patience, politeness, and pages kept on disk."""

import gzip
import logging
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import platformdirs
import pytest
from osm_server import LINK, Fault, OsmServer, serving
from real_data import REAL, needs_real_data

from trajanon.common.errors import BadInput, ServerProblem
from trajanon.extract.earth.area import Box
from trajanon.extract.options_and_defaults import SourceOptions
from trajanon.extract.sources import osm_api_download
from trajanon.extract.sources.osm_api_download import NumberedPages, joined_traces
from trajanon.extract.sources.reading import Reading

BOX = Box(2.1, 41.3, 2.2, 41.4)


def page(number: int, extra: str = "") -> bytes:
    """One identifiable point, new on every page."""
    point = f'<trkpt lat="41.35" lon="2.15"><time>2020-01-01T00:00:{number:02d}Z</time></trkpt>'
    return (
        '<gpx version="1.0" creator="OpenStreetMap.org"><trk>'
        f"<url>/user/ann/traces/1</url><trkseg>{point}</trkseg></trk>{extra}</gpx>"
    ).encode()


PAGES = [page(number) for number in range(4)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OsmServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(OsmServer(PAGES)) as server:
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been slept."""
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    return waits


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    monkeypatch.setattr(osm_api_download, "PAUSE", 0.0)
    return tmp_path / "trajanon" / "osm-api"


@pytest.fixture
def pages(server: OsmServer, waits: list[float], cache: Path) -> NumberedPages:
    return NumberedPages(box=BOX, options=SourceOptions(api_url=server.url))


def up_to(pages: NumberedPages, max_pages: int) -> NumberedPages:
    return replace(pages, options=replace(pages.options, max_pages=max_pages))


def points(pages: NumberedPages) -> int:
    return sum(map(len, joined_traces(pages, Reading())))


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.gz"))


def test_pages_are_asked_for_until_nothing_new_comes(
    pages: NumberedPages, server: OsmServer
) -> None:
    assert points(pages) == 4
    assert server.asked_for == [0, 1, 2, 3, 4]
    assert {request.path for request in server.requests} == {"/api/0.6/trackpoints"}
    assert {request.bbox for request in server.requests} == {"2.1,41.3,2.2,41.4"}
    assert {request.headers["User-Agent"] for request in server.requests} == {
        f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
    }


def test_requests_are_a_second_apart(
    pages: NumberedPages, server: OsmServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(osm_api_download, "PAUSE", 1.0)
    points(pages)
    assert len(waits) == len(server.requests) - 1
    assert all(0 < wait <= 1 for wait in waits)


def test_values_that_make_no_sense_are_refused() -> None:
    for url in ("api.openstreetmap.org", "https://x:port"):
        with pytest.raises(BadInput, match="must begin with https://"):
            NumberedPages(box=BOX, options=SourceOptions(api_url=url))


WAY_ON = "run the same command again"
NOT_GPX = r"something else than GPX as page 2; .* \(2\) are kept, run the same"
HTML = b"<html>\n<h1>Forbidden</h1>\n" + b"<p>trace scraper</p>" * 99


@pytest.mark.parametrize(
    ("faults", "words", "asked", "waited"),
    [
        # a refusal, in the server's own words
        *(
            ([Fault(status, body=b"The box\n is 0.25.")], rf"page 0 \({status}: The box is 0.25.\)",
             [0], [])
            for status in (400, 403, 404)
        ),
        ([Fault(403, body=HTML)], "403: Forbidden trace scraper", [0], []),
        # a busy server is asked five times, unless it asks for hours
        ([Fault(429)] * 9, rf"refuses page 0 \(429.*{WAY_ON}", [0] * 5, [60, 120, 240, 480]),
        ([Fault(509, {"Retry-After": "7200"})], "refuses page 0", [0], []),
        # a failing one three times
        *(
            ([None, None, *[Fault(status, body=b"Oh dear")] * 3],
             rf"refuses page 2 \({status}: Oh dear\); the pages downloaded so far \(2\) are kept",
             [0, 1, 2, 2, 2], [5, 10])
            for status in (408, 500, 502, 504)
        ),
        ([Fault(body=PAGES[0], cut=True)] * 3, rf"page 0 broke off .*{WAY_ON}", [0] * 3, [5, 10]),
        # what is not GPX is not kept
        *(
            ([None, None, Fault(body=body)], NOT_GPX, [0, 1, 2], [])
            for body in (b"<html>Sign in</html>", PAGES[2][:-30], b"")
        ),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence(
    pages: NumberedPages,
    server: OsmServer,
    waits: list[float],
    cache: Path,
    faults: list[Fault | None],
    words: str,
    asked: list[int],
    waited: list[float],
) -> None:
    server.faults = faults
    with pytest.raises(ServerProblem, match=words) as caught:
        points(pages)
    assert (server.asked_for, waits) == (asked, waited)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert len(kept(cache)) == len(set(asked)) - 1


@pytest.mark.parametrize(
    ("faults", "waited"),
    [
        *(
            ([Fault(status, {"Retry-After": "17"}, b"Too much.")], [17])
            for status in (429, 503, 509)
        ),
        *(
            ([fault, fault], [5, 10])
            for fault in (Fault(500), Fault(body=PAGES[0], cut=True), Fault(hang_up=True))
        ),
    ],
)
def test_what_goes_wrong_may_go_right_then(
    pages: NumberedPages,
    server: OsmServer,
    waits: list[float],
    caplog: pytest.LogCaptureFixture,
    faults: list[Fault],
    waited: list[float],
) -> None:
    server.faults = [*faults]
    assert points(pages) == 4
    assert server.asked_for == [0] * len(faults) + [0, 1, 2, 3, 4]
    assert waits == waited
    assert f"trying again in {waited[-1]} s" in caplog.text


def test_a_download_goes_on_where_it_failed(pages: NumberedPages, server: OsmServer) -> None:
    server.faults = [None, None, Fault(403)]
    with pytest.raises(ServerProblem):
        points(pages)
    server.requests.clear()
    assert points(pages) == 4
    assert server.asked_for == [2, 3, 4]


def test_nothing_is_asked_for_twice(
    pages: NumberedPages, server: OsmServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert points(pages) == 4
    server.requests.clear()
    assert points(pages) == 4
    assert server.requests == []
    said = r"5 pages from the cache of \d{4}-\d\d-\d\d; to ask for new ones, remove (.*)\n"
    found = re.search(said, caplog.text)
    assert found
    shutil.rmtree(found[1])
    assert points(pages) == 4
    assert server.asked_for == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("damage", [b"", gzip.compress(PAGES[1])[:-9], b"\x1f\x8bx"])
def test_a_damaged_page_in_the_cache_is_asked_for_again(
    pages: NumberedPages, server: OsmServer, tmp_path: Path, damage: bytes
) -> None:
    points(pages)
    server.requests.clear()
    next(tmp_path.rglob("page0001*")).write_bytes(damage)
    assert points(pages) == 4
    assert server.asked_for == [1]


def test_a_cache_that_cannot_be_written_is_one_warning(
    pages: NumberedPages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert points(pages) == 4
    (record,) = caplog.records
    assert "cannot keep pages in" in record.getMessage()


def test_the_cap_on_pages_is_told(
    pages: NumberedPages, server: OsmServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert points(up_to(pages, 3)) == 3
    assert server.asked_for == [0, 1, 2]
    assert "stopped after 3 pages" in caplog.text
    assert "`max_pages`" in caplog.text


def test_the_cache_is_the_users_and_a_folder_names_server_and_box(
    server: OsmServer, cache: Path
) -> None:
    url = server.url.replace("http://", "http://me:secret@")
    assert points(NumberedPages(box=BOX, options=SourceOptions(api_url=url + "/"))) == 4
    (folder,) = cache.iterdir()
    assert re.fullmatch(r"127\.0\.0\.1_\d+_2\.1_41\.3_2\.2_41\.4", folder.name)


@needs_real_data
def test_alicante_takes_two_requests(pages: NumberedPages, server: OsmServer) -> None:
    folder = REAL / "osm_trackpoints_alicante"
    server.pages = [(folder / f"page{n}.gpx").read_bytes() for n in range(4)]
    found = list(joined_traces(pages, Reading()))
    assert server.asked_for == [0, 1]
    assert (len(found), sum(map(len, found))) == (25, 5458)


def test_the_pages_that_a_newer_server_names_are_followed_to_the_last(
    pages: NumberedPages, server: OsmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.link = LINK
    found = list(joined_traces(pages, Reading()))
    assert [(len(trace), trace.cut_off) for trace in found] == [(4, False)]
    assert server.asked_for == [0, 1, 2, 3]  # the last page names none: no request more
    assert [sorted(request.query) for request in server.requests] == [
        ["bbox"],
        *[["bbox", "cursor"]] * 3,
    ]
    assert {request.bbox for request in server.requests} == {"2.1,41.3,2.2,41.4"}
    assert "max_pages" not in caplog.text

    server.requests.clear()
    assert points(pages) == 4
    assert server.requests == []


def test_a_relative_address_of_the_next_page_is_followed(
    pages: NumberedPages, server: OsmServer
) -> None:
    server.link = "?bbox={bbox}&cursor={cursor}"
    assert points(pages) == 4
    assert server.asked_for == [0, 1, 2, 3]


def test_a_download_by_cursors_goes_on_where_it_failed(
    pages: NumberedPages, server: OsmServer, tmp_path: Path
) -> None:
    server.link = LINK
    server.faults = [None, None, Fault(403)]
    with pytest.raises(ServerProblem):
        points(pages)
    server.requests.clear()
    assert points(pages) == 4
    assert server.asked_for == [2, 3]
    assert "cursor" in server.requests[0].query

    next(tmp_path.rglob("page0001*")).write_bytes(b"\x1f\x8bx")
    server.requests.clear()
    assert points(pages) == 4
    assert server.asked_for == [1]


def test_the_cap_holds_for_cursors_and_for_a_server_that_goes_in_circles(
    pages: NumberedPages, server: OsmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.link = LINK
    traces = list(joined_traces(up_to(pages, 3), Reading()))
    assert [(len(trace), trace.cut_off) for trace in traces] == [(3, True)]
    assert server.asked_for == [0, 1, 2]
    assert "stopped after 3 pages" in caplog.text

    server.requests.clear()
    server.link = "?cursor=--0"
    assert points(replace(pages, box=Box(3, 41, 3.1, 41.1))) == 1
    assert server.asked_for == [0, 0]


@pytest.mark.parametrize(
    "link",
    [
        "http://elsewhere.example/api/0.6/trackpoints?cursor={cursor}",
        "//127.0.0.1:1/api/0.6/trackpoints?cursor={cursor}",
        "http://127.0.0.1:port/api/0.6/trackpoints?cursor={cursor}",
    ],
)
def test_an_address_elsewhere_is_not_asked_for(
    pages: NumberedPages, server: OsmServer, link: str
) -> None:
    """Only what the link asks for is taken, and asked of the server that was named."""
    server.link = link
    assert points(pages) == 4
    assert {request.path for request in server.requests} == {"/api/0.6/trackpoints"}


def test_pages_kept_by_number_go_on_by_number(pages: NumberedPages, server: OsmServer) -> None:
    assert points(up_to(pages, 2)) == 2
    server.link = LINK
    server.requests.clear()
    assert points(pages) == 4
    assert [request.query.get("page") for request in server.requests] == ["2", "3", "4"]


def test_a_cache_without_its_first_page_is_filled_in(pages: NumberedPages, tmp_path: Path) -> None:
    assert points(pages) == 4
    next(tmp_path.rglob("page0000*")).unlink()
    assert points(pages) == 4


def test_pages_of_both_kinds_are_never_one_row(
    pages: NumberedPages, server: OsmServer, tmp_path: Path
) -> None:
    """The first page is damaged, and the server has become newer, or older, meanwhile."""
    for link, way in ((LINK, "cursor"), ("", "page")):
        assert points(pages) == 4
        next(tmp_path.rglob("page0000*")).write_bytes(b"")
        server.requests.clear()
        server.link = link
        assert points(pages) == 4
        asked = ["".join(request.query.keys() - {"bbox"}) for request in server.requests]
        assert asked == ["", way, way, way]
