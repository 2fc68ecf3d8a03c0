"""The page about a map in a real browser: its panel, on a desk, a phone and paper."""

from html import escape

from browsing import (
    DESKTOP,
    LABELS,
    PHONE,
    Open,
    drawn,
    means,
    needs_chromium,
    report,
    trajectories,
    until,
)
from toy import toy

import trajanon
from trajanon.maps import compare_releases, public
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

pytestmark = needs_chromium


def test_the_panel_says_what_the_report_says(see: Open) -> None:
    seen = see(drawn())
    panel = seen.page.locator("#trajanon").inner_text()
    words = " ".join(panel.split())
    for expected in (
        "For the holder of the data, not for publication.",
        "k = 3 subjects",
        "Released points lie 126 m from where people went on average",
        "information loss 12 %",
        "Trajectories, n 11 Groups 3",
        "Groups by mean displacement",
        "Each group has one colour",
    ):
        assert expected in words
    folded = " ".join((seen.page.locator("#trajanon").text_content() or "").split())
    assert "Information loss afterMHM15.3 %descent12.3 %" in folded
    meanings = " ".join(seen.page.locator("#trajanon dl").all_text_contents())
    assert "the optimal cut of that path" in meanings
    assert "averaged away" in meanings
    credits = seen.page.locator(".leaflet-control-attribution").inner_text()
    assert OSM_ATTRIBUTION in credits
    assert seen.page.locator(".leaflet-control-scale").is_visible()
    assert seen.page.locator(".full a").is_visible()


def test_a_map_without_tiles_asks_for_nothing(see: Open) -> None:
    for each in (drawn(), public(trajectories(), tiles=None)):
        assert see(each).requests == []


def test_a_browser_itself_refuses_requests_of_a_map_without_tiles(see: Open) -> None:
    seen = see(drawn())
    refused = seen.js("fetch('https://example.org').then(() => false, () => true)")
    assert refused
    assert seen.requests == []
    assert "Content Security Policy" in seen.complaints.pop(0)
    seen.complaints.clear()  # the same said twice, in some versions


def test_a_map_with_tiles_asks_for_tiles_alone(see: Open) -> None:
    seen = see(drawn(view="side-by-side", tiles="OpenStreetMap"))
    seen.page.wait_for_load_state("networkidle")
    assert len(seen.requests) > 4  # the fixture tells what else was asked for


def test_nothing_lies_on_the_city(see: Open) -> None:
    """All data are in sight, beside the panel: of a desk and of a phone."""
    for size in (DESKTOP, PHONE):
        seen = see(drawn(), size)
        box = seen.page.locator("#trajanon").bounding_box()
        assert box is not None
        for lat, lon in trajectories().points.reshape(-1, 2)[::29].tolist():
            x, y = seen.place((lat, lon))
            assert 0 < x < size[0]
            assert 0 < y < size[1]
            beside = x > box["x"] + box["width"] or y < box["y"]
            assert beside
        assert seen.js("document.documentElement.scrollWidth") <= size[0]


def test_a_phone_shows_the_map_first_and_the_panel_when_asked(see: Open) -> None:
    seen = see(drawn(), PHONE, touch=True)
    facts = seen.page.get_by_text("from where people went")
    main = seen.page.locator("main")
    box = main.bounding_box()
    assert box is not None
    assert box["height"] > 0.8 * PHONE[1]
    assert not facts.is_visible()
    seen.page.touchscreen.tap(*seen.place(means(trajectories().points, LABELS)[0, 15]))
    until(seen.page, "trajanon.lit[0].layer.getLayers().length > 0")
    assert len(seen.lit()[0]) == 5
    seen.page.locator("#trajanon summary").first.tap()
    assert facts.is_visible()
    box = main.bounding_box()
    assert box is not None
    assert box["height"] > 0.35 * PHONE[1]


def test_what_is_told_of_a_group_stays_in_sight(see: Open) -> None:
    for size in (DESKTOP, PHONE):
        seen = see(drawn(), size)
        ends = trajectories().points[:, [0, -1]].reshape(-1, 2)
        for place in (*ends[[ends[:, 0].argmax(), ends[:, 1].argmin(), ends[:, 1].argmax()]],):
            seen.page.mouse.click(*seen.place(place))
            tip = seen.page.locator(".leaflet-tooltip").bounding_box()
            main = seen.page.locator("main").bounding_box()
            assert tip is not None
            assert main is not None
            assert main["x"] <= tip["x"]
            assert tip["x"] + tip["width"] <= main["x"] + main["width"]
            assert main["y"] <= tip["y"]
            buttons = seen.page.locator(".full").bounding_box()
            assert buttons is not None
            assert (
                tip["x"] >= buttons["x"] + buttons["width"]
                or tip["y"] >= buttons["y"] + buttons["height"]
            )


def test_credits_of_two_lines_do_not_hide_the_scale_of_a_phone(see: Open) -> None:
    seen = see(drawn(), PHONE)
    credits = seen.page.locator(".leaflet-control-attribution").bounding_box()
    scale = seen.page.locator(".leaflet-control-scale").bounding_box()
    assert credits is not None
    assert scale is not None
    assert scale["y"] + scale["height"] <= credits["y"]


def test_a_screen_reader_finds_its_way(see: Open) -> None:
    seen = see(drawn(view="side-by-side"))
    regions = seen.page.get_by_role("region", name="Map of")
    assert regions.count() == 2
    assert seen.page.get_by_role("main", name="Map").count() == 1
    assert seen.page.get_by_role("complementary", name="About").count() == 1
    assert seen.page.locator("html").get_attribute("lang") == "en"
    assert "trajanon" in seen.page.title()
    assert seen.page.locator("h1").all_inner_texts() == ["trajanon · k = 3 subjects"]
    assert seen.page.locator("#trajanon h2").first.inner_text() == "Layers"
    unnamed = "[...document.querySelectorAll('caption, summary')].filter"
    assert seen.js(f"{unnamed}((one) => !one.querySelector('h1, h2')).length") == 0
    assert seen.page.locator("th:not([scope])").count() == 0
    zoom = seen.page.locator("meta[name=viewport]").get_attribute("content")
    assert zoom is not None
    assert "scalable" not in zoom


def test_the_evaluation_fits_a_phone(see: Open) -> None:
    """Wide tables scroll by themselves, their first column stays, and not the page."""
    release = trajanon.anonymize(toy(), 2, effort="fast")
    found = trajanon.evaluate(toy(), release.trajectories, release.report)
    seen = see(found.html, PHONE)
    assert seen.js("document.documentElement.scrollWidth") <= PHONE[0]
    table = seen.page.get_by_role("region", name="Attacks")
    assert table.evaluate("(one) => one.scrollWidth > one.clientWidth")
    table.evaluate("(one) => { one.scrollLeft = 60; }")
    box = table.locator("th[scope=row]").first.bounding_box()
    assert box is not None
    assert 0 <= box["x"] < 30


def test_on_paper_bars_keep_their_colour_and_buttons_are_gone(see: Open) -> None:
    seen = see(drawn())
    adjusted = "getComputedStyle(document.querySelector('.bars i')).printColorAdjust"
    seen.page.emulate_media(media="print")
    assert seen.js(adjusted) == "exact"
    assert not seen.page.locator(".leaflet-control-zoom").is_visible()
    assert not seen.page.locator(".search").is_visible()
    assert seen.page.locator(".notice").is_visible()
    assert seen.page.locator(".leaflet-control-attribution").is_visible()


def test_a_long_name_takes_three_lines(see: Open) -> None:
    original = trajectories()
    release = Trajectories(means(original.points, LABELS)[LABELS])
    name = "w" * 200
    both = {name: (release, report()), "other": (release, report())}
    seen = see(compare_releases(original, both, tiles=None))
    long, short = (
        box["height"]
        for label in seen.page.locator(".releases label").all()
        if (box := label.bounding_box()) is not None
    )
    assert short < long < 3.5 * short
    assert seen.page.locator(".releases label").first.get_attribute("title") == name


def test_no_group_is_no_bar(see: Open) -> None:
    """Displacements of two sizes, and nothing between."""
    original = trajectories()
    points = original.points.copy()
    points[LABELS == 0] = points[LABELS == 0].mean(axis=0).round(7)
    seen = see(drawn(Trajectories(points)))
    rows = seen.page.locator(".bars").first.locator("tr").all()
    counts = [int(row.locator("td").last.inner_text()) for row in rows]
    assert 0 in counts
    assert [row.locator("i").is_visible() for row in rows] == [count > 0 for count in counts]


EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 * 7 }}"


def test_a_release_called_like_a_script_stays_text(see: Open) -> None:
    original = trajectories()
    release = Trajectories(means(original.points, LABELS)[LABELS])
    given = report(attribution=EVIL, notice=EVIL)
    both = {EVIL: (release, given), "other": (release, given)}
    seen = see(compare_releases(original, both, tiles=None))
    assert seen.page.locator("img").count() == 0
    names = seen.page.locator(".releases label").all_inner_texts()
    assert names == [EVIL, "other"]
    assert seen.page.locator(".notice").inner_text() == EVIL
    assert EVIL in seen.page.locator(".leaflet-control-attribution").inner_text()


def test_a_map_shows_itself_in_a_notebook(see: Open) -> None:
    cell = drawn()._repr_html_()
    seen = see(f"<!DOCTYPE html><title>{escape('notebook')}</title>{cell}")
    frame = seen.page.frames[1]
    until(frame, "window.trajanon !== undefined")
    assert frame.evaluate('trajanon.shown.get("released").getLayers().length') == 3
