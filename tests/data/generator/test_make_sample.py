"""The sample: its script makes it again, and its pages say that they are synthetic."""

import gzip
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import make_sample
import pytest
from make_sample import EAST, NORTH, SOUTH, WEST

from trajanon.data import sample

GPX = "{http://www.topografix.com/GPX/1/0}"


def unpacked(folder: Path) -> list[str]:
    pages = sorted(folder.glob("page*.gpx.gz"))
    return [gzip.decompress(page.read_bytes()).decode() for page in pages]


@pytest.fixture(scope="module")
def pages() -> list[str]:
    return unpacked(sample())


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


def test_all_is_in_the_box_and_of_120_subjects_the_newest_first(pages: list[str]) -> None:
    text = "".join(pages)
    urls = set(re.findall(r"<url>(.*?)</url>", text))
    assert len({url.split("/")[2] for url in urls}) == 120
    assert len(urls) == 270
    numbers = [int(url.rsplit("/", 1)[1]) for url in re.findall(r"<url>(.*?)</url>", text)]
    assert numbers == sorted(numbers, reverse=True)
    lats, lons = (
        [float(one) for one in re.findall(rf'{name}="(.*?)"', text)] for name in ("lat", "lon")
    )
    assert SOUTH <= min(lats) < max(lats) <= NORTH
    assert WEST <= min(lons) < max(lons) <= EAST
