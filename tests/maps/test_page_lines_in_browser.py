"""What a browser makes of a map: a real one, that may ask for nothing but tiles.

Pictures are judged by counting pixels, in the browser itself.
"""

from typing import Any

import numpy as np
import pytest
from browsing import (
    DESKTOP,
    LABELS,
    Open,
    drawn,
    many,
    means,
    needs_chromium,
    slid,
    trajectories,
    until,
)

from trajanon.maps import html, public
from trajanon.street_counts.cell_counts import cell_counts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

pytestmark = needs_chromium

NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(done))"


def test_layers_are_toggled_and_lines_are_seen_at_any_zoom(see: Open) -> None:
    seen = see(drawn())
    assert seen.page.locator("input[name=tracks]").count() == 0  # nothing slid
    assert (seen.lines("originals"), seen.lines("released")) == (11, 3)
    both = seen.coloured()
    seen.toggle("released")
    assert (seen.lines("originals"), seen.lines("released")) == (11, 0)
    thin = seen.coloured()
    seen.toggle("originals")
    assert (seen.lines("originals"), seen.lines("released")) == (0, 0)
    assert seen.coloured() == 0
    seen.toggle("released")
    assert 0 < seen.coloured() < both
    seen.toggle("originals")
    assert seen.coloured() == both > thin > 0
    for steps in (-1, 3):
        zoom = (
            f"trajanon.maps[0].setZoom(trajanon.maps[0].getZoom() + {steps}, {{ animate: false }})"
        )
        seen.js(zoom)
        assert seen.coloured() > 500
        assert (seen.lines("originals"), seen.lines("released")) == (11, 3)
    width = """(zoom) => { trajanon.maps[0].setZoom(zoom, { animate: false });
      return trajanon.shown.get("released").getLayers()[0].options.weight; }"""
    far, nearer, near, nearest = (seen.page.evaluate(width, zoom) for zoom in (8, 14, 15, 18))
    assert far < nearer < near == nearest == 3.5  # 2 + 0.75 log2(4)


def test_every_layer_can_be_switched_on(see: Open) -> None:
    seen = see(slid())
    for name in ("tracks", "displacement", "worst"):
        seen.toggle(name)
    found = [seen.lines(name) for name in ("tracks", "displacement", "worst")]
    assert found == [11, 3 * 11, 3]
    boxes = seen.page.locator(".layers input")
    assert [box.get_attribute("name") for box in boxes.all()] == [
        "originals",
        "released",
        "tracks",
        "displacement",
        "worst",
    ]


@pytest.mark.parametrize("view", ["overlay", "side-by-side"])
def test_the_group_under_the_mouse_stands_out_in_every_map(see: Open, view: str) -> None:
    seen = see(drawn(view=view))
    sides = 2 if view == "side-by-side" else 1
    assert seen.lit() == [[]] * sides
    everything, lines = seen.coloured(), means(trajectories().points, LABELS)
    for group, size in enumerate((4, 3, 4)):
        seen.hover(lines[group, 15], side=sides - 1)
        for widths in seen.lit():
            assert len(widths) == size + 1
            assert widths[-1] > 2 * max(widths[:-1])  # originals thin, centroid thick
        said = seen.page.locator(".leaflet-tooltip").inner_text()
        assert said.startswith(f"Group {group} · {size} trajectories · mean displace")
    assert sides == 2 or 500 < seen.coloured() < 0.7 * everything  # all else fades
    seen.hover(trajectories().points[1, 10])  # an original lights its group
    assert [len(widths) for widths in seen.lit()] == [4] * sides
    seen.page.mouse.move(400, 790)
    seen.js(NEXT_FRAME)
    assert seen.lit() == [[]] * sides
    if sides == 1:
        return
    views = """trajanon.maps.map((map) =>
      [map.getZoom(), map.getCenter().lat, map.getCenter().lng])"""
    for act in (
        "trajanon.maps[0].panBy([80, 40], { animate: false })",
        "trajanon.maps[1].setZoom(trajanon.maps[1].getZoom() + 1)",
        "trajanon.maps[1].panBy([-30, 60], { animate: false })",
    ):
        before = seen.js(views)
        seen.js(f"void ({act})")
        one, other = seen.js(views)
        assert one == pytest.approx(other, abs=1e-4)  # two pixels or so
        assert one != before[0]


def test_the_tip_hides_neither_its_line_nor_the_layers_switched_on(see: Open) -> None:
    """Streets to the north, which a tip above the mouse would lie upon."""
    points = trajectories().points - (40.40, -3.70)
    northward = points[..., ::-1] + (40.40, -3.70)
    seen = see(drawn(Trajectories(northward.round(7))))
    seen.toggle("displacement")
    tip = seen.page.locator(".leaflet-tooltip")

    def hides(line: np.ndarray[Any, Any]) -> bool:
        box = tip.bounding_box()
        assert box is not None
        return any(
            0 <= x - box["x"] <= box["width"] and 0 <= y - box["y"] <= box["height"]
            for x, y in map(seen.place, line)
        )

    lines = means(northward, LABELS)
    for line in lines:
        seen.hover(line[15])
        assert not hides(line)
    assert "Escape" not in tip.inner_text()
    seen.page.mouse.click(*seen.place(lines[1, 15]))
    assert "Escape" in tip.inner_text()
    assert "Group 1 · 3 trajectories" in seen.page.locator("output").inner_text()
    assert not hides(lines[1])
    shown = "getComputedStyle(trajanon.maps[0].getPane('{}')).opacity"
    until(seen.page, f"{shown.format('released')} < 0.3")
    assert float(seen.js(shown.format("displacement"))) == 1.0
    seen.page.keyboard.press("Escape")
    assert seen.lit() == [[]]
    assert seen.page.locator("output").inner_text() == ""
    tip.wait_for(state="detached")  # it fades


def test_a_group_is_kept_by_a_click_and_found_by_its_number(see: Open) -> None:
    seen = see(drawn())
    seen.page.mouse.click(*seen.place(means(trajectories().points, LABELS)[1][15]))
    seen.page.mouse.move(400, 790)
    assert len(seen.lit()[0]) == 4
    seen.page.mouse.click(400, 790)
    assert seen.lit() == [[]]
    box, answer = seen.page.locator("input[name=group]"), seen.page.locator("output")
    seen.js("void trajanon.maps[0].setView([40.42, -3.66], 17, { animate: false })")
    box.fill("1")
    box.press("Enter")
    assert len(seen.lit()[0]) == 4
    assert answer.inner_text().startswith("Group 1 · 3 trajectories · mean displ")
    until(seen.page, "trajanon.maps[0].getZoom() < 17")
    for place in trajectories().points[LABELS == 1].reshape(-1, 2)[::29]:
        x, y = seen.place(place)
        assert 300 < x < DESKTOP[0]
        assert 0 < y < DESKTOP[1]
    box.fill("3")
    box.press("Enter")
    assert answer.inner_text() == "There is no group 3: the last is 2."


def test_the_public_map_shows_the_release_alone(see: Open) -> None:
    lines = means(trajectories().points, LABELS)
    seen = see(public(ReleasedTrajectories(lines[LABELS]), tiles=None))
    assert seen.requests == []
    assert (seen.lines("originals"), seen.lines("released")) == (0, 3)
    seen.hover(lines[2, 15])
    assert len(seen.lit()[0]) == 1
    said = seen.page.locator("body").inner_text().lower()
    for word in ("original", "holder", "displacement", "information loss"):
        assert word not in said


def test_ten_thousand_trajectories_are_all_drawn_in_a_file_of_some_megabytes(see: Open) -> None:
    page = html(many(10_000))
    assert len(page.encode()) < 15_000_000
    seen = see(page)
    assert (seen.lines("originals"), seen.lines("released")) == (10_000, 2_500)
    assert seen.page.locator(".drawn").count() == 0
    assert seen.coloured() > 10_000


def test_the_cell_under_the_mouse_tells_its_trips(see: Open) -> None:
    line = np.stack([np.linspace(40.40, 40.42, 30), np.full(30, -3.7)], axis=-1)
    cells = cell_counts(ReleasedLines(line[None], np.array([12]), k=4), 400.0)
    seen = see(public(cells, tiles=None))
    assert seen.page.locator(".ramp").inner_text().startswith("Trips, at least:")
    assert seen.coloured() > 1_000
    middle = cells.geometry.iloc[2].centroid
    seen.hover((middle.y, middle.x))
    until(seen.page, "document.querySelector('.leaflet-tooltip') !== null")
    assert "12 trips" in seen.page.locator(".leaflet-tooltip").inner_text()
