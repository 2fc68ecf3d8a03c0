"""The sample: its script makes it again, and it holds the faults that real traces have."""

import gzip
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import make_sample
import pytest
from make_sample import EAST, NORTH, SOUTH, WEST

from trajanon.data import sample

GPX = "{http://www.topografix.com/GPX/1/0}"


class Point(NamedTuple):
    lat: float
    lon: float
    time: float | None


class Piece(NamedTuple):
    """A <trkseg> of a page, with its track's <url>."""

    page: int
    url: str | None
    points: list[Point]


def unpacked(folder: Path) -> list[str]:
    pages = sorted(folder.glob("page*.gpx.gz"))
    return [gzip.decompress(page.read_bytes()).decode() for page in pages]


def point(element: ElementTree.Element) -> Point:
    time = element.findtext(f"{GPX}time")
    seconds = None if time is None else datetime.fromisoformat(time).timestamp()
    return Point(float(element.attrib["lat"]), float(element.attrib["lon"]), seconds)


def metres(one: Point, other: Point) -> float:
    north, east = one.lat - other.lat, one.lon - other.lon
    return math.hypot(north * 111_200, east * 111_200 * math.cos(math.radians(40.4)))


def on_the_border(point: Point) -> bool:
    to_side = min(abs(point.lon - WEST), abs(point.lon - EAST)) * 84_600
    return min(to_side, min(point.lat - SOUTH, NORTH - point.lat) * 111_200) < 150


def goes_on(before: Piece, after: Piece) -> bool:
    """Whether the piece that opens a page is the rest of the last one before."""
    if before.page == after.page or before.url != after.url:
        return False
    left, right = before.points[-1].time, after.points[0].time
    if left is None or right is None:
        return left is right
    return after.url is not None or 0 <= right - left <= 300


@pytest.fixture(scope="module")
def pages() -> list[str]:
    return unpacked(sample())


@pytest.fixture(scope="module")
def pieces(pages: list[str]) -> list[Piece]:
    return [
        Piece(number, track.findtext(f"{GPX}url"), [point(p) for p in segment])
        for number, page in enumerate(pages)
        for track in ElementTree.fromstring(page).iter(f"{GPX}trk")
        for segment in track.iter(f"{GPX}trkseg")
    ]


@pytest.fixture(scope="module")
def segments(pieces: list[Piece]) -> list[list[Point]]:
    """The timed segments, whole again where a page border cut them."""
    whole = [list(pieces[0].points)]
    for before, after in pairwise(pieces):
        if goes_on(before, after):
            whole[-1] += after.points
        else:
            whole.append(list(after.points))
    return [points for points in whole if points[0].time is not None]


def test_making_it_again_gives_the_same_text(pages: list[str], tmp_path: Path) -> None:
    assert 400_000 < sum(file.stat().st_size for file in sample().iterdir()) < 1_000_000
    make_sample.write(tmp_path)
    again = unpacked(tmp_path)
    # Named by number: a difference of two whole pages would take minutes to print.
    assert [n for n, page in enumerate(pages) if page != again[n]] == []
    assert len(again) == len(pages) == len(list(sample().iterdir()))


def test_pages_are_as_the_api_writes_them_and_say_that_they_are_synthetic(pages: list[str]) -> None:
    counts = [page.count("<trkpt ") for page in pages]
    assert set(counts[:-1]) == {5000}
    assert 0 < counts[-1] < 5000
    for page in pages:
        assert page.splitlines()[1].startswith("<!-- synthetic: made by data/")
        names = re.findall(r"<(?:name|desc|url)>(.*?)</", page)
        assert all("synthetic" in name.lower() for name in names)
        root = ElementTree.fromstring(page)
        assert root.tag == f"{GPX}gpx"
        assert root.attrib == {"version": "1.0", "creator": "OpenStreetMap.org"}
        numbers = re.findall(r'(?:lat|lon)="(.*?)"', page)
        assert all(re.fullmatch(r"-?\d+\.\d{7}", number) for number in numbers)
        times = re.findall(r"<time>(.*?)</time>", page)
        assert all(re.fullmatch(r"2026-\d\d-\d\dT[\d:]{8}Z", time) for time in times)


def test_there_are_300_traces_of_120_subjects_the_newest_first(
    pages: list[str], pieces: list[Piece]
) -> None:
    text = "".join(pages)
    urls = set(re.findall(r"<url>(.*?)</url>", text))
    assert len({url.split("/")[2] for url in urls}) == 120
    nameless = text.count("<trk>") - text.count("<url>") - 1  # the cloud is no trace
    cut = [after.url for before, after in pairwise(pieces) if goes_on(before, after)]
    assert (len(urls), nameless - cut.count(None)) == (270, 30)
    assert 0 < cut.count(None) < len(cut)  # page borders cut traces with and without a url
    numbers = [int(piece.url.rsplit("/", 1)[1]) for piece in pieces if piece.url]
    assert numbers == sorted(numbers, reverse=True)
    double = [
        track for track in re.findall(r"(?s)<trk>.*?</trk>", text) if track.count("<trkseg>") == 2
    ]
    assert double
    assert not any("<url>" in track for track in double)


def test_departures_are_those_of_a_city(segments: list[list[Point]]) -> None:
    """Two peaks, some drives all day, few at night: hours that the README counts."""
    seconds = [points[0].time for points in segments]
    begun = [datetime.fromtimestamp(second or 0, ZoneInfo("Europe/Madrid")) for second in seconds]
    by_hour = Counter(when.hour for when in begun)
    assert sum(by_hour[hour] for hour in (7, 8)) > 90
    assert sum(by_hour[hour] for hour in (16, 17, 18, 19)) > 90
    assert all(by_hour[hour] >= 2 for hour in range(6, 22))
    assert 3 <= sum(by_hour[hour] for hour in (23, 0, 1, 2, 3, 4, 5)) <= 9


def test_all_points_lie_in_the_box_and_those_without_time_come_last(pieces: list[Piece]) -> None:
    *timed, cloud = pieces
    assert all(
        SOUTH <= p.lat <= NORTH and WEST <= p.lon <= EAST for one in pieces for p in one.points
    )
    assert all(p.time is not None for piece in timed for p in piece.points)
    assert all(p.time is None for p in cloud.points)
    assert 200 < len(cloud.points) < 1000
    assert cloud.url is None
    places = [(p.lat, p.lon) for p in cloud.points]
    assert places == sorted(places)


def test_receivers_and_clocks_have_faults(segments: list[list[Point]]) -> None:
    lengths, pauses, repeats, back, wild, tunnels, jumps, still = [], 0, 0, 0, 0, 0, 0, 0
    for points in segments:
        steps = [(b.time - a.time, metres(a, b)) for a, b in pairwise(points) if a.time and b.time]
        lengths.append(sum(hop for _, hop in steps))
        still += sum(s == 0 for s, _ in steps) > 0.7 * len(steps)
        for (s, hop), (a, b) in zip(steps, pairwise(points), strict=True):
            pauses += s > 300
            repeats += a == b
            back += s < 0
            wild += hop > 60 * s > 0 and hop > 1000
            tunnels += not on_the_border(a) and 20 < s < 300 and 300 < hop < 900
            jumps += hop > 500 and on_the_border(a) and on_the_border(b)
    assert sum(length > 4350 for length in lengths) > 250  # longer than a window
    assert sum(length < 3000 for length in lengths) >= 5
    assert pauses >= 10
    assert repeats >= 20
    assert 3 <= back <= 10
    assert still == 2  # clocks that stand still
    assert wild >= 4
    assert tunnels >= 5
    assert jumps >= 10  # traces leave the box and come back
