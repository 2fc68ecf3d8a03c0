"""The pages of the OSM API become traces again, box by box."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs
import pytest
import shapely
from osm_server import OsmServer, serving

from trajanon.common.errors import BadInput
from trajanon.common.progress import silent
from trajanon.extract import Box, Region
from trajanon.extract.earth.area import Area, area_of
from trajanon.extract.options_and_defaults import SourceOptions
from trajanon.extract.sources.osm_api_download import (
    FULL_PAGE,
    REPEATED,
    WITHOUT_TIME,
    boxes_of,
    joined_traces,
    traces_of_boxes,
)
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

ANN = "/user/ann/traces/7"
BOB = "/user/bob/traces/6"

Written = Sequence[tuple[int, str | None, Sequence[float | None]]]
"""Of each segment: the track, its address, and the times of its points."""


def segment(track: int, url: str | None, times: Sequence[float | None]) -> Trace:
    """Points on a meridian, one a second; None is a point without time."""
    time = np.array([np.nan if t is None else t for t in times], dtype=np.float64)
    lat = np.where(np.isnan(time), 50.0, 40 + time / 1e4)
    return Trace(f"track {track}", url, lat, np.full(len(time), 2.0), time)


class Asked:
    """Pages that remember how many of them were taken."""

    def __init__(self, pages: Sequence[Written]) -> None:
        self.pages = [[segment(*one) for one in page] for page in pages]
        self.taken = 0

    def __iter__(self) -> Iterator[list[Trace]]:
        for one in self.pages:
            self.taken += 1
            yield one


ONE, TWO = "trackable 1", "trackable 2"


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ([], []),
        # An identifiable trace goes on over pages; two accounts stay apart.
        ([[(1, ANN, [1, 2])], [(1, ANN, [3, 4, 5])]], [(ANN, [1, 2, 3, 4, 5])]),
        ([[(1, ANN, [n])] for n in range(3)], [(ANN, [0, 1, 2])]),
        ([[(1, ANN, [1, 2])], [(1, BOB, [3, 4])]], [(ANN, [1, 2]), (BOB, [3, 4])]),
        # A trackable one goes on when its time does, and ends at a step back. A long pause parts
        # the track but not the recording: taken for two, it would count as two people.
        ([[(1, None, [0, 10])], [(1, None, [310, 320])]], [(ONE, [0, 10, 310, 320])]),
        ([[(1, None, [9, 10])], [(1, None, [8, 9.5])]], [(ONE, [9, 10]), (TWO, [8, 9.5])]),
        ([[(1, None, [0, 10])], [(1, None, [311, 320])]], [(ONE, [0, 10]), (ONE, [311, 320])]),
        ([[(1, ANN, [1, 2])], [(1, None, [3, 4])]], [(ANN, [1, 2]), (ONE, [3, 4])]),
        # Within a page, segments stay apart, and points may repeat themselves.
        ([[(1, ANN, [1, 2]), (1, ANN, [3, 4])]], [(ANN, [1, 2]), (ANN, [3, 4])]),
        ([[(1, ANN, [1, 1, 1])]], [(ANN, [1, 1, 1])]),
        (
            [
                [(1, None, [1, 2]), (2, None, [11]), (2, None, [900])],
                [(1, None, [901]), (1, None, [5000]), (2, None, [1])],
            ],
            [(ONE, [1, 2]), (TWO, [11]), (TWO, [900, 901]), (TWO, [5000])],
        ),
        ([[(1, "/x", [1])]], [("/x", [1])]),
    ],
)
def test_pieces_of_pages_become_traces(
    pages: Sequence[Written], expected: list[tuple[str, list[float]]]
) -> None:
    found = list(joined_traces(Asked(pages), Reading()))
    assert [(one.name, one.time.tolist()) for one in found][: len(expected)] == expected
    owner = {ANN: "osm:ann", BOB: "osm:bob", "/x": "osm:/x"}
    assert [one.subject for one in found] == [owner.get(one.name) for one in found]


@pytest.mark.parametrize(
    ("pages", "sizes", "taken", "left_out"),
    [
        # No page is asked for after one with a segment without time, an empty one, or one that
        # brings nothing new; a point without time among others is no reason to stop.
        (
            [[(1, ANN, [1, 2])], [(1, ANN, [3]), (2, None, [None, None])], [(1, None, [None])]],
            [3],
            2,
            {WITHOUT_TIME: 2},
        ),
        ([[(1, ANN, [1, None, 2])], [(1, ANN, [3])]], [3], 2, {WITHOUT_TIME: 1}),
        ([[(1, ANN, [1])], [], [(1, BOB, [2])]], [1], 2, {}),
        ([[(1, ANN, [1, 2])], [(1, ANN, [1, 2])], [(1, BOB, [9])]], [2], 2, {REPEATED: 2}),
        # An upload during the paging shifts the pages.
        (
            [
                [(1, BOB, [100, 101]), (2, ANN, [1, 2, 3])],
                [(1, BOB, [101]), (2, ANN, [1, 2, 3, 4, 5])],
            ],
            [2, 5],
            2,
            {REPEATED: 4},
        ),
    ],
)
def test_what_is_not_new_is_left_out_and_may_end_the_paging(
    pages: Sequence[Written], sizes: list[int], taken: int, left_out: dict[str, int]
) -> None:
    asked, dropped = Asked(pages), Counter[str]()
    assert [len(trace) for trace in joined_traces(asked, Reading(counts=dropped))] == sizes
    assert asked.taken == taken
    assert +dropped == left_out


def test_the_last_trace_of_the_last_page_asked_for_may_go_on() -> None:
    pages: list[Written] = [[(1, ANN, [1, 2]), (2, BOB, [3, 4])], [(1, BOB, [5])]]
    for given, saved, expected in (
        (pages, False, [False, True]),
        (pages, True, [False, False]),
        ([*pages, [(1, None, [None])]], False, [False, False]),
        ([*pages, []], False, [False, False]),
    ):
        assert [
            one.cut_off for one in joined_traces(Asked(given), Reading(), saved=saved)
        ] == expected


def test_where_the_server_repeats_a_page_the_last_trace_may_go_on() -> None:
    """Uploads since an interrupted download may have moved its pages by a whole one."""
    page = [(1, ANN, [1, 2]), (2, BOB, [3, 4])]
    assert [one.cut_off for one in joined_traces(Asked([page, page]), Reading())] == [False, True]


def test_the_last_trace_of_a_full_page_that_was_saved_may_go_on() -> None:
    """The page after it may be another box's."""
    other = [(1, BOB, [-2, -1])]
    for times, is_full in ((range(FULL_PAGE), True), (range(FULL_PAGE - 1), False)):
        page = [(1, ANN, list(times))]
        for pages in ([page], [page, other]):
            trace, *_ = joined_traces(Asked(pages), Reading(), saved=True)
            assert trace.cut_off == is_full


@pytest.mark.parametrize("url", [ANN, None])
def test_a_trace_does_not_go_on_over_the_damage_of_a_saved_page(url: str | None) -> None:
    damaged = replace(segment(1, url, [1, 2]), cut_off=True)
    pages = [[damaged], [segment(1, url, [5, 6])]]
    first, second = joined_traces(pages, Reading(), saved=True)
    assert (len(first), first.cut_off) == (2, True)
    assert (len(second), second.cut_off) == (2, False)
    assert first.name == second.name


def test_every_page_is_read_where_pages_cost_nothing() -> None:
    pages: list[Written] = [[], [(1, None, [None])], [(1, ANN, [1])], [(1, None, [9])]]
    found = list(joined_traces(Asked(pages), Reading(label="here: "), saved=True))
    assert [trace.name for trace in found] == [ANN, "here: trackable 1"]


def page(*names: str | None) -> bytes:
    """Traces of accounts, or of nobody who is named, each of two points."""
    tracks = ""
    for number, name in enumerate(names):
        points = "".join(
            f'<trkpt lat="{lat}" lon="{number}"><time>2020-01-0{lat}T00:00:0{number}Z'
            "</time></trkpt>"
            for lat in (1, 2)
        )
        url = f"<url>/user/{name}/traces/1</url>" if name else ""
        tracks += f"<trk>{url}<trkseg>{points}</trkseg></trk>"
    head = '<gpx version="1.0" creator="OpenStreetMap.org">'
    return f"{head}{tracks}</gpx>".encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[OsmServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr("time.sleep", lambda _: None)
    with serving(OsmServer([page("ann", "bob", None)])) as server:
        yield server


def area(*texts: str) -> Area:
    found, _ = area_of(texts)
    assert found is not None
    return found


def given(area: Area, url: str) -> list[tuple[int, Trace]]:
    boxes = boxes_of(area)
    options = SourceOptions(api_url=url, max_pages=5)
    return list(traces_of_boxes(boxes, Reading(), options, silent))


def test_a_small_area_is_one_box_and_a_scattered_one_several() -> None:
    near = area("1,1,1.1,1.1", "1.2,1,1.3,1.1")
    assert boxes_of(near) == [Box(1, 1, 1.3, 1.1)]
    far = area("1,1,1.1,1.1", "5,1,5.1,1.1")
    assert sorted(box.west for box in boxes_of(far)) == [1, 5]
    assert boxes_of(Box(1, 1, 1.2, 1.2)) == [Box(1, 1, 1.2, 1.2)]


def test_a_part_that_is_too_large_is_refused_with_the_numbers() -> None:
    for square in (Box(0, 0, 1, 1), Region(shapely.box(0, 0, 1, 1), "a square")):
        with pytest.raises(BadInput, match="has 1 square degrees"):
            given(square, "http://127.0.0.1")


def test_each_box_is_a_unit(server: OsmServer) -> None:
    far = area("1,1,1.1,1.1", "5,1,5.1,1.1")
    found = [(box, trace.name) for box, trace in given(far, server.url)]
    assert found[2::3] == [(0, "box 1: trackable 1"), (1, "box 2: trackable 1")]
    assert [box for box, _ in found] == [0, 0, 0, 1, 1, 1]
