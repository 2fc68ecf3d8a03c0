"""What a map without network shows of the place where it is."""

from pathlib import Path

from browsing import Open, held, needs_chromium, places
from commands import Run
from roads_of_cities import roads_of_cities


@needs_chromium
def test_a_map_names_its_place_and_draws_the_roads_of_a_file(
    here: Path, tmp_path: Path, run: Run, see: Open
) -> None:
    assert run("map", "--offline").code == 0
    page = held((here / "map.html").read_text("utf-8"))
    assert page["page"]["place"] == "Madrid"
    assert page["roads"] == []
    assert run("map", "--offline", "--roads", roads_of_cities(tmp_path)).code == 0
    text = (here / "map.html").read_text("utf-8")
    page = held(text)
    assert len(page["roads"]) == 2
    assert places(page["roads"][0]) == [[40_400_000, -3_700_000], [40_450_000, -3_690_000]]
    assert "OpenStreetMap" in page["page"]["attribution"]
    opened = see(text)
    assert "Madrid" in opened.page.locator(".compass").inner_text()
    assert opened.js("document.querySelectorAll('.leaflet-roads-pane canvas').length") == 1
    assert run("map", "--roads", "nowhere.pbf").sentence.startswith("trajanon: cannot read")
