"""The page about a map in a real browser: its panel and hours, on a desk, a phone and paper."""

from html import escape

import pytest
from browsing import (
    DESKTOP,
    LABELS,
    PHONE,
    Open,
    Opened,
    drawn,
    means,
    needs_chromium,
    report,
    timed,
    trajectories,
    until,
)
from toy import toy

import trajanon
from trajanon.maps import compare
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

pytestmark = needs_chromium

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 * 7 }}"


def text(seen: Opened, place: str) -> str:
    return seen.page.locator(place).inner_text()


def box(seen: Opened, place: str) -> dict[str, float]:
    found = seen.page.locator(place).first.bounding_box()
    assert found is not None
    x, y, width, height = (float(found[name]) for name in ("x", "y", "width", "height"))
    return {"x": x, "y": y, "height": height, "right": x + width, "below": y + height}


def shown(seen: Opened) -> tuple[int, int]:
    return seen.lines("originals"), seen.lines("released")


def hour(seen: Opened, at: int) -> None:
    seen.page.locator(".day button").nth(at).click()


def status(seen: Opened) -> str:
    return seen.page.get_by_role("status").inner_text()


# The panel


def test_the_panel_says_what_the_report_says_on_screen_and_on_paper(see: Open) -> None:
    seen = see(drawn())
    words = " ".join(text(seen, "#trajanon").split())
    for expected in (
        "For the holder of the data, not for publication.",
        "k = 3 people",
        "Released points lie 126 m on average",
        "Information loss: 12 %",
        "Trajectories, n 11 Groups 3",
        "in place of the thin trajectories of its group",
    ):
        assert expected in words
    assert OSM_ATTRIBUTION in text(seen, ".leaflet-control-attribution")
    assert seen.page.locator(".leaflet-control-scale").is_visible()
    assert seen.page.locator(".full a").is_visible()
    seen.page.emulate_media(media="print")
    assert not seen.page.locator(".leaflet-control-zoom").is_visible()
    assert not seen.page.locator(".search").is_visible()
    assert seen.page.locator(".notice").is_visible()
    assert seen.page.locator(".leaflet-control-attribution").is_visible()
    assert seen.requests == []
    assert seen.js("fetch('https://example.org').then(() => false, () => true)")
    assert seen.requests == []  # the browser itself refuses
    assert "Content Security Policy" in seen.complaints.pop(0)
    seen.complaints.clear()  # the same said twice, in some versions


def test_a_map_with_tiles_asks_for_tiles_alone(see: Open) -> None:
    seen = see(drawn(view="side-by-side", tiles="OpenStreetMap"))
    seen.page.wait_for_load_state("networkidle")
    assert len(seen.requests) > 4  # the fixture says what else was asked for


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_nothing_lies_on_the_city_and_tips_stay_in_sight(see: Open, size: tuple[int, int]) -> None:
    seen = see(drawn(), size)
    panel, main, buttons = (box(seen, place) for place in ("#trajanon", "main", ".full"))
    for lat, lon in trajectories().points.reshape(-1, 2)[::29].tolist():
        x, y = seen.place((lat, lon))
        assert 0 < x < size[0]
        assert 0 < y < size[1]
        assert x > panel["right"] or y < panel["y"]
    assert seen.js("document.documentElement.scrollWidth") <= size[0]
    assert (
        box(seen, ".leaflet-control-scale")["below"]
        <= box(seen, ".leaflet-control-attribution")["y"]
        or size == DESKTOP
    )
    ends = trajectories().points[:, [0, -1]].reshape(-1, 2)
    for place in ends[[ends[:, 0].argmax(), ends[:, 1].argmin(), ends[:, 1].argmax()]]:
        seen.page.mouse.click(*seen.place(place))
        tip = box(seen, ".leaflet-tooltip")
        assert main["x"] <= tip["x"]
        assert tip["right"] <= main["right"]
        assert main["y"] <= tip["y"]
        assert tip["x"] >= buttons["right"] or tip["y"] >= buttons["below"]


def test_a_phone_shows_the_map_first_and_the_panel_when_asked(see: Open) -> None:
    seen = see(compare(*timed(), tiles=None), PHONE, touch=True)
    facts = seen.page.get_by_text("from where people were")
    assert box(seen, "main")["height"] > 0.8 * PHONE[1]
    assert not facts.is_visible()
    seen.page.touchscreen.tap(*seen.place(means(trajectories().points, LABELS)[0, 15]))
    until(seen.page, "trajanon.lit[0].layer.getLayers().length > 0")
    assert len(seen.lit()[0]) == 5
    seen.page.locator("#trajanon summary").first.tap()
    assert facts.is_visible()
    assert box(seen, "main")["height"] > 0.35 * PHONE[1]
    boxes = [bar.bounding_box() for bar in seen.page.locator(".day button").all()]
    assert all(bar is not None and min(bar["width"], bar["height"]) >= 24 for bar in boxes)
    seen.page.locator(".day button").nth(8).tap()
    assert shown(seen) == (4, 1)
    assert seen.js("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_screen_reader_finds_its_way(see: Open) -> None:
    seen = see(drawn(view="side-by-side"))
    page = seen.page
    assert page.get_by_role("region", name="Map of").count() == 2
    assert page.get_by_role("main", name="Map").count() == 1
    assert page.get_by_role("complementary", name="About").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    assert "trajanon" in page.title()
    assert page.locator("h1").all_inner_texts() == ["trajanon · k = 3 people"]
    assert page.locator("#trajanon h2").first.inner_text() == "Layers"
    unnamed = "[...document.querySelectorAll('caption, summary')].filter"
    assert seen.js(f"{unnamed}((one) => !one.querySelector('h1, h2')).length") == 0
    assert page.locator("th:not([scope])").count() == 0
    zoom = page.locator("meta[name=viewport]").get_attribute("content")
    assert zoom is not None
    assert "scalable" not in zoom


def test_the_evaluation_fits_a_phone(see: Open) -> None:
    """Tables scroll by themselves, if at all, and their first column stays."""
    release = trajanon.anonymize(toy(), 2, effort="fast")
    found = trajanon.evaluate(toy(), release.trajectories, release.report)
    seen = see(found.html, PHONE)
    assert seen.js("document.documentElement.scrollWidth") <= PHONE[0]
    seen.page.locator("summary").first.click()
    table = seen.page.get_by_role("region", name="Attacks").first
    table.evaluate("(one) => { one.scrollLeft = 60; }")
    cell = table.locator("th[scope=row]").first.bounding_box()
    assert cell is not None
    assert 0 <= cell["x"] < 30


def test_text_of_a_report_stays_text(see: Open) -> None:
    seen = see(drawn(report=report(attribution=EVIL, notice=EVIL)))
    assert seen.page.locator("img").count() == 0
    assert text(seen, ".notice") == EVIL
    assert EVIL in text(seen, ".leaflet-control-attribution")


def test_a_map_shows_itself_in_a_notebook(see: Open) -> None:
    cell = drawn()._repr_html_()
    seen = see(f"<!DOCTYPE html><title>{escape('notebook')}</title>{cell}")
    frame = seen.page.frames[1]
    until(frame, "window.trajanon !== undefined")
    assert frame.evaluate('trajanon.shown.get("released").getLayers().length') == 3


# Hours of departure


def test_only_lines_of_the_chosen_hours_are_drawn(see: Open) -> None:
    seen = see(compare(*timed(), view="side-by-side", tiles=None))
    assert shown(seen) == (11, 3)
    assert status(seen) == "All hours: 11 trips as recorded, 11 as released, 3 groups."
    assert text(seen, ".unit") == "Highest bar: 4 trips in an hour"
    everything = seen.coloured()
    for name in ("worst", "displacement"):
        seen.toggle(name)
    before = seen.page.locator(".day button").nth(9).bounding_box()
    hour(seen, 8)
    assert seen.page.locator(".day button").nth(9).bounding_box() == before
    assert shown(seen) == (4, 1)
    assert (seen.lines("worst"), seen.lines("displacement")) == (1, 3 * 4)
    assert status(seen) == "Hours chosen: 4 trips as recorded, 4 as released, 1 group."
    legend = text(seen, ".layers")
    assert "Originals (4 of 11), thin" in legend
    assert "Released (1 of 3 groups), thick" in legend
    assert "Worst groups (1 of 3)" in legend
    for name in ("worst", "displacement"):
        seen.toggle(name)
    assert 0 < seen.coloured() < 0.6 * everything
    hour(seen, 18)  # originals only: their group departs on average before
    assert shown(seen) == (6, 1)
    hour(seen, 8)
    assert shown(seen) == (2, 0)
    seen.page.get_by_role("button", name="All hours").click()
    assert shown(seen) == (11, 3)
    assert "Originals (11), thin" in text(seen, ".layers")
    assert seen.coloured() == everything
    assert seen.page.locator("[aria-pressed=true]").count() == 0
    hour(seen, 18)
    seen.page.locator("input[name=group]").fill("0")
    seen.page.locator("input[name=group]").press("Enter")
    assert len(seen.lit()[0]) == 5  # whole at any hour
    said = "Group 0 · 4 trips · 08:15, 15 min · mean displacement"
    assert text(seen, "output").startswith(said)
    hour(seen, 8)
    assert seen.lit()[0] == []  # other lines: nothing stands out


def test_bars_are_buttons(see: Open) -> None:
    seen = see(compare(*timed(), tiles=None))
    bar = seen.page.get_by_role("button", name="08:00–09:00: 4 trips as recorded, 4 as released")
    assert bar.get_attribute("aria-pressed") == "false"
    bar.focus()
    seen.page.keyboard.press("Enter")
    assert bar.get_attribute("aria-pressed") == "true"
    assert shown(seen) == (4, 1)
    seen.page.keyboard.press("Space")
    assert bar.get_attribute("aria-pressed") == "false"
    assert shown(seen) == (11, 3)
    assert seen.page.get_by_role("group", name="Departures by hour").count() == 1
    hour(seen, 9)
    lines = means(trajectories().points, LABELS)
    seen.hover(lines[0, 15])  # what is not drawn is not under the mouse
    assert seen.lit() == [[]]
    seen.hover(lines[1, 15])
    assert len(seen.lit()[0]) == 4


def test_days_are_chosen_beside_hours(see: Open) -> None:
    seen = see(compare(*timed("of-week"), tiles=None))
    hour(seen, 8)
    assert shown(seen) == (4, 1)
    seen.page.get_by_role("button", name="Tue").click()
    assert shown(seen) == (0, 0)
    assert seen.coloured() == 0
    names = seen.page.locator(".day button").nth(8).get_attribute("title")
    assert names == "08:00–09:00: 0 trips as recorded, 0 as released"  # on a Tuesday
    hour(seen, 17)
    assert shown(seen) == (2, 1)
