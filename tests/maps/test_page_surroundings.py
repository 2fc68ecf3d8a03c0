"""What a map without network shows of the place where it is."""

from pathlib import Path

import pytest
from browsing import Open, held, needs_chromium, places
from commands import Run


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A trunk road and a street in Madrid, a motorway in Barcelona, and a way on foot."""
    lines = [
        *("n1 x-3.70 y40.40", "n2 x-3.69 y40.45", "n3 x-3.68 y40.41"),
        *("n4 x2.10 y41.40", "n5 x2.20 y41.41"),
        "w1 Thighway=trunk Nn1,n2",
        "w2 Thighway=residential Nn2,n3",
        "w3 Thighway=motorway Nn4,n5",
        "w4 Thighway=footway Nn1,n3",
    ]
    (tmp_path / "town.opl").write_text("\n".join(lines), "utf-8")
    return tmp_path / "town.opl"


@needs_chromium
def test_a_map_names_its_place_and_draws_the_roads_of_a_file(
    here: Path, town: Path, run: Run, see: Open
) -> None:
    assert run("map", "--offline").code == 0
    page = held((here / "map.html").read_text("utf-8"))
    assert page["page"]["place"] == "Madrid"
    assert page["roads"] == []
    assert run("map", "--offline", "--roads", town).code == 0
    text = (here / "map.html").read_text("utf-8")
    page = held(text)
    assert len(page["roads"]) == 2
    assert places(page["roads"][0]) == [[40_400_000, -3_700_000], [40_450_000, -3_690_000]]
    assert "OpenStreetMap" in page["page"]["attribution"]
    opened = see(text)
    assert "Madrid" in opened.page.locator(".compass").inner_text()
    assert opened.js("document.querySelectorAll('.leaflet-roads-pane canvas').length") == 1
    assert run("map", "--roads", "nowhere.pbf").sentence.startswith("trajanon: cannot read")
