"""Paging through the OSM API: patience, politeness, and pages kept on disk."""

import gzip
import logging
import re
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from importlib.metadata import version
from pathlib import Path

import platformdirs
import pytest
from osm_server import Fault, OsmServer, serving
from real_data import REAL, needs_real_data

from trajanon.errors import BadInput, ServerProblem
from trajanon.extract.earth.area import Box
from trajanon.extract.sources.osm.osm_api import NumberedPages
from trajanon.extract.sources.osm.trackpoints import joined_traces

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
def pages(server: OsmServer, waits: list[float], tmp_path: Path) -> NumberedPages:
    return NumberedPages(box=BOX, url=server.url, cache=tmp_path, pause=0.0)


def points(pages: NumberedPages) -> int:
    return sum(map(len, joined_traces(pages)))


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.gz"))


def test_pages_are_asked_for_until_nothing_new_comes(
    pages: NumberedPages, server: OsmServer
) -> None:
    assert points(pages) == 4
    assert server.asked_for == [0, 1, 2, 3, 4]
    assert {request.path for request in server.requests} == {"/api/0.6/trackpoints"}
    assert {request.bbox for request in server.requests} == {"2.1,41.3,2.2,41.4"}


def test_no_page_is_asked_for_after_one_with_points_without_time(
    pages: NumberedPages, server: OsmServer
) -> None:
    cloud = '<trk><trkseg><trkpt lat="41.35" lon="2.15"/></trkseg></trk>'
    server.pages = [page(0), page(1, cloud), page(2)]
    assert points(pages) == 2
    assert server.asked_for == [0, 1]


def test_an_empty_answer_gives_no_traces(pages: NumberedPages, server: OsmServer) -> None:
    server.pages = []
    assert points(pages) == 0
    assert server.asked_for == [0]


def test_we_say_who_we_are(pages: NumberedPages, server: OsmServer) -> None:
    points(pages)
    assert {request.headers["User-Agent"] for request in server.requests} == {
        f"trajanon/{version('trajanon')} (+https://github.com/trajanon/trajanon)"
    }


def test_requests_are_a_second_apart(
    pages: NumberedPages, server: OsmServer, waits: list[float]
) -> None:
    points(replace(pages, pause=1.0))
    assert len(waits) == len(server.requests) - 1
    assert all(0 < wait <= 1 for wait in waits)


def test_tiny_degrees_are_written_out(pages: NumberedPages, server: OsmServer) -> None:
    points(replace(pages, box=Box(-0.00001, 0.0, 0.00001, 0.1)))
    assert server.requests[0].bbox == "-0.00001,0,0.00001,0.1"


def test_a_box_too_large_is_refused_before_any_request() -> None:
    with pytest.raises(BadInput, match=r"0\.26 square degrees.*take a smaller box"):
        NumberedPages(box=Box(2.0, 41.0, 2.52, 41.5))


def test_a_box_over_the_antimeridian_is_refused() -> None:
    with pytest.raises(BadInput, match="give two: "):
        NumberedPages(box=Box(179.9, 0.0, -179.9, 0.1))


def test_values_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadInput, match="`max_pages` must be at least 1"):
        NumberedPages(box=BOX, max_pages=0)
    with pytest.raises(BadInput, match="must begin with https://"):
        NumberedPages(box=BOX, url="api.openstreetmap.org")


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_refusal_stops_at_once_with_the_servers_own_words(
    pages: NumberedPages, server: OsmServer, waits: list[float], status: int
) -> None:
    server.faults = [Fault(status, body=b"The maximum bbox size\n is 0.25.\n")]
    words = rf"refused page 0 \({status}: The maximum bbox size is 0.25.\)"
    with pytest.raises(ServerProblem, match=words):
        points(pages)
    assert server.asked_for == [0]
    assert waits == []


def test_a_refusal_in_html_or_without_words_is_one_line(
    pages: NumberedPages, server: OsmServer
) -> None:
    html = b"<html>\n<h1>Forbidden</h1>\n" + b"<p>trace scraper</p>" * 99
    server.faults = [Fault(403, body=html), Fault(404)]
    with pytest.raises(ServerProblem, match="403: Forbidden trace scraper") as caught:
        points(pages)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)
    with pytest.raises(ServerProblem, match="404: Not Found"):
        points(pages)


@pytest.mark.parametrize("status", [429, 503, 509])
def test_a_busy_server_is_waited_for_as_long_as_it_asks(
    pages: NumberedPages,
    server: OsmServer,
    waits: list[float],
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.faults = [Fault(status, {"Retry-After": "17"}, b"Too much data.")]
    assert points(pages) == 4
    assert waits == [17]
    assert server.asked_for == [0, 0, 1, 2, 3, 4]
    assert "(" + str(status) + ": Too much data.); trying again in 17 s" in caplog.text


def test_a_date_to_come_back_at_is_obeyed(
    pages: NumberedPages, server: OsmServer, waits: list[float]
) -> None:
    until = formatdate(time.time() + 1000, usegmt=True)
    server.faults = [Fault(429, {"Retry-After": until})]
    assert points(pages) == 4
    assert len(waits) == 1
    assert 900 < waits[0] <= 1000


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}])
def test_a_busy_server_that_names_no_time_is_asked_five_times(
    pages: NumberedPages, server: OsmServer, waits: list[float], headers: dict[str, str]
) -> None:
    server.faults = [Fault(429, headers)] * 9
    with pytest.raises(ServerProblem, match=r"is busy \(429.*run the same command"):
        points(pages)
    assert waits == [60, 120, 240, 480]
    assert len(server.requests) == 5


def test_a_server_that_asks_for_hours_is_not_waited_for(
    pages: NumberedPages, server: OsmServer, waits: list[float]
) -> None:
    server.faults = [Fault(509, {"Retry-After": "7200"})]
    with pytest.raises(ServerProblem, match="is busy"):
        points(pages)
    assert waits == []


@pytest.mark.parametrize("status", [408, 500, 502, 504])
def test_a_failing_server_is_asked_three_times(
    pages: NumberedPages, server: OsmServer, waits: list[float], status: int
) -> None:
    server.faults = [None, None, *[Fault(status, body=b"Oh dear")] * 3]
    words = (
        rf"failed at page 2 \({status}: Oh dear\); the pages downloaded so far \(2\) "
        "are kept, run the same command again to go on"
    )
    with pytest.raises(ServerProblem, match=words):
        points(pages)
    assert server.asked_for == [0, 1, 2, 2, 2]
    assert waits == [5, 10]


@pytest.mark.parametrize("fault", [Fault(500), Fault(body=PAGES[0], cut=True), Fault(hang_up=True)])
def test_what_goes_wrong_twice_may_go_right_then(
    pages: NumberedPages, server: OsmServer, fault: Fault
) -> None:
    server.faults = [fault, fault]
    assert points(pages) == 4
    assert server.asked_for == [0, 0, 0, 1, 2, 3, 4]


def test_an_answer_that_always_breaks_off_is_a_problem(
    pages: NumberedPages, server: OsmServer, tmp_path: Path
) -> None:
    server.faults = [Fault(body=PAGES[0], cut=True)] * 3
    with pytest.raises(ServerProblem, match="broke off; run the same command again"):
        points(pages)
    assert kept(tmp_path) == []


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


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", PAGES[2][:-30], b""])
def test_a_page_that_is_not_gpx_is_not_kept(
    pages: NumberedPages, server: OsmServer, tmp_path: Path, body: bytes
) -> None:
    server.faults = [None, None, Fault(body=body)]
    words = r"something else than GPX as page 2; .* \(2\) are kept, run the same"
    with pytest.raises(ServerProblem, match=words):
        points(pages)
    assert kept(tmp_path) == ["page0000.gpx.gz", "page0001.gpx.gz"]


def test_nobody_at_the_other_end_is_a_problem_of_the_connection(
    waits: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        pages = NumberedPages(box=BOX, url=url, cache=tmp_path, pause=0.0)
        words = f"cannot reach {url}: check the connection; run the same command"
        with pytest.raises(ServerProblem, match=words):
            points(pages)
    assert waits == [5, 10]


def test_ctrl_c_during_a_wait_is_not_caught(
    pages: NumberedPages, server: OsmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    server.faults = [Fault(429)]
    monkeypatch.setattr(time, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        points(pages)


def test_without_a_place_for_the_cache_one_warning_is_all(
    pages: NumberedPages, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert points(replace(pages, cache=tmp_path / "file" / "cache")) == 4
    (record,) = caplog.records
    assert "cannot keep pages in" in record.getMessage()


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
    assert points(replace(pages, max_pages=3)) == 3
    assert server.asked_for == [0, 1, 2]
    assert "stopped after 3 pages" in caplog.text
    assert "`max_pages`" in caplog.text


def test_no_cap_is_told_where_the_end_was_seen(
    pages: NumberedPages, caplog: pytest.LogCaptureFixture
) -> None:
    assert points(replace(pages, max_pages=5)) == 4
    assert caplog.records == []


def test_the_cache_is_the_users_and_a_folder_names_server_and_box(
    server: OsmServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    url = server.url.replace("http://", "http://me:secret@")
    assert points(NumberedPages(box=BOX, url=url + "/", pause=0.0)) == 4
    (folder,) = (tmp_path / "trajanon" / "osm-api").iterdir()
    assert re.fullmatch(r"127\.0\.0\.1_\d+_2\.1_41\.3_2\.2_41\.4", folder.name)


def test_progress_counts_pages(pages: NumberedPages) -> None:
    told: list[float] = []
    points(replace(pages, progress=lambda task, done, total, note="": told.append(done)))
    assert told == [1, 2, 3, 4, 5]


@needs_real_data
def test_alicante_takes_two_requests(pages: NumberedPages, server: OsmServer) -> None:
    folder = REAL / "osm_trackpoints_alicante"
    server.pages = [(folder / f"page{n}.gpx").read_bytes() for n in range(4)]
    found = list(joined_traces(pages))
    assert server.asked_for == [0, 1]
    assert (len(found), sum(map(len, found))) == (25, 5458)


@needs_real_data
def test_san_francisco_is_the_same_from_server_and_cache(
    pages: NumberedPages, server: OsmServer
) -> None:
    files = sorted((REAL / "osm_trackpoints_san_francisco").glob("*.gpx.gz"))
    server.pages = [gzip.decompress(path.read_bytes()) for path in files]
    for requests in (37, 37):
        found = list(joined_traces(pages))
        assert (len(found), sum(map(len, found))) == (80, 180_000)
        assert len(server.requests) == requests
