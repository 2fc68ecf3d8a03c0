"""An area is asked for box by box; what was taken is not taken twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
import shapely
from osm_server import OsmServer, serving

from trajanon.errors import BadInput
from trajanon.extract import Box, Region, areas
from trajanon.extract.sources.osm.osm_api import boxes_of, public_url, traces_of_boxes
from trajanon.extract.sources.source import Source
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


def test_a_small_area_is_one_box_and_a_scattered_one_several() -> None:
    near, _ = areas(["1,1,1.1,1.1", "1.2,1,1.3,1.1"])
    assert boxes_of(near) == [Box(1, 1, 1.3, 1.1)]
    far, _ = areas(["1,1,1.1,1.1", "5,1,5.1,1.1"])
    assert sorted(box.west for box in boxes_of(far)) == [1, 5]
    assert boxes_of(Box(1, 1, 1.2, 1.2)) == [Box(1, 1, 1.2, 1.2)]


def test_a_part_that_is_too_large_is_refused_with_the_numbers() -> None:
    for area in (Box(0, 0, 1, 1), Region(shapely.box(0, 0, 1, 1), "a square")):
        with pytest.raises(BadInput, match="has 1 square degrees"):
            traces_of_boxes(
                boxes_of(area), url="http://127.0.0.1", max_pages=1, refresh=False, progress=silent
            )


def test_each_box_is_a_unit_from_which_one_goes_on(server: OsmServer) -> None:
    far, _ = areas(["1,1,1.1,1.1", "5,1,5.1,1.1"])
    given = traces_of_boxes(
        boxes_of(far), url=server.url, max_pages=5, refresh=False, progress=silent
    )
    source = Source(given)
    names, places = [], []
    for trace in source:
        names.append(trace.name)
        places.append(source.position)
    assert names[2::3] == ["box 1: trackable 1", "box 2: trackable 1"]
    assert places == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    for done, place in enumerate(places, start=1):
        rest = Source(given, place, Counter())
        assert [trace.name for trace in rest] == names[done:]


def test_a_password_in_an_address_stays_here() -> None:
    assert public_url("https://me:secret@example.org:8080/x") == ("https://example.org:8080")
