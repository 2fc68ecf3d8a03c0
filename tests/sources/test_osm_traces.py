"""An area is asked for box by box; what was taken is not taken twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
import shapely
from osm_server import OsmServer, serving

from trajanon.errors import BadInput
from trajanon.extract import Area, Box, Region, areas
from trajanon.extract.sources.osm_api import boxes_of, public_url, traces_of_boxes
from trajanon.extract.trace import Trace
from trajanon.progress import silent


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


def given(area: Area, url: str) -> list[tuple[int, Trace]]:
    boxes = boxes_of(area)
    asked = traces_of_boxes(boxes, Counter(), url=url, max_pages=5, progress=silent)
    return list(asked)


def test_a_small_area_is_one_box_and_a_scattered_one_several() -> None:
    near, _ = areas(["1,1,1.1,1.1", "1.2,1,1.3,1.1"])
    assert boxes_of(near) == [Box(1, 1, 1.3, 1.1)]
    far, _ = areas(["1,1,1.1,1.1", "5,1,5.1,1.1"])
    assert sorted(box.west for box in boxes_of(far)) == [1, 5]
    assert boxes_of(Box(1, 1, 1.2, 1.2)) == [Box(1, 1, 1.2, 1.2)]


def test_a_part_that_is_too_large_is_refused_with_the_numbers() -> None:
    for area in (Box(0, 0, 1, 1), Region(shapely.box(0, 0, 1, 1), "a square")):
        with pytest.raises(BadInput, match="has 1 square degrees"):
            given(area, "http://127.0.0.1")


def test_each_box_is_a_unit(server: OsmServer) -> None:
    far, _ = areas(["1,1,1.1,1.1", "5,1,5.1,1.1"])
    found = [(box, trace.name) for box, trace in given(far, server.url)]
    assert found[2::3] == [(0, "box 1: trackable 1"), (1, "box 2: trackable 1")]
    assert [box for box, _ in found] == [0, 0, 0, 1, 1, 1]


def test_a_password_in_an_address_stays_here() -> None:
    assert public_url("https://me:secret@example.org:8080/x") == ("https://example.org:8080")
