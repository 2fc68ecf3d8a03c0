"""Hours of departure, chosen in a real browser."""

import numpy as np
from browsing import (
    DESKTOP,
    LABELS,
    PHONE,
    Open,
    Opened,
    means,
    needs_chromium,
    timed,
    trajectories,
    without_times,
)

from trajanon.maps import compare, compare_releases, public

pytestmark = needs_chromium


def opened(see: Open, times: str = "of-day", view: str = "overlay", **options: object) -> Opened:
    return see(compare(*timed(times), view=view, tiles=None), **options)


def hour(seen: Opened, at: int) -> None:
    seen.page.locator(".day button").nth(at).click()


def shown(seen: Opened) -> tuple[int, int]:
    return seen.lines("originals"), seen.lines("released")


def status(seen: Opened) -> str:
    return seen.page.get_by_role("status").inner_text()


def test_only_lines_of_the_chosen_hours_are_drawn(see: Open) -> None:
    for view in ("overlay", "side-by-side"):
        seen = opened(see, view=view)
        assert shown(seen) == (11, 3)
        assert status(seen) == "All hours: 11 originals, 11 by released times, 3 groups."
        everything = seen.coloured()
        for name in ("worst", "displacement"):
            seen.toggle(name)
        hour(seen, 8)
        assert shown(seen) == (4, 1)
        assert (seen.lines("worst"), seen.lines("displacement")) == (1, 3 * 4)
        assert status(seen) == "Hours chosen: 4 originals, 4 by released times, 1 group."
        legend = seen.page.locator(".layers").inner_text()
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
        assert "Originals (11), thin" in seen.page.locator(".layers").inner_text()
        assert seen.coloured() == everything
        assert seen.page.locator("[aria-pressed=true]").count() == 0


def test_bars_are_buttons_that_say_what_they_count(see: Open) -> None:
    seen = opened(see)
    bar = seen.page.get_by_role("button", name="08:00–09:00: 4 originals, 4 by released times")
    assert bar.get_attribute("aria-pressed") == "false"
    bar.focus()
    seen.page.keyboard.press("Enter")
    assert bar.get_attribute("aria-pressed") == "true"
    assert shown(seen) == (4, 1)
    seen.page.keyboard.press("Space")
    assert bar.get_attribute("aria-pressed") == "false"
    assert shown(seen) == (11, 3)
    assert seen.page.get_by_role("group", name="Departures by hour").count() == 1


def test_bars_are_as_high_as_they_count_and_stay_where_they_are(see: Open) -> None:
    seen = opened(see)

    def height(at: int, kind: str) -> float:
        return float(
            seen.js(
                f"document.querySelectorAll('.day button')[{at}].querySelector('.{kind}')"
                ".getBoundingClientRect().height"
            )
        )

    assert height(8, "originals") == height(8, "released") > 40
    assert height(9, "originals") * 2 == height(8, "originals")
    assert height(3, "originals") == 0
    before = seen.page.locator(".day button").nth(9).bounding_box()
    hour(seen, 8)
    assert seen.page.locator(".day button").nth(9).bounding_box() == before


def test_days_of_a_week_are_chosen_beside_hours(see: Open) -> None:
    seen = opened(see, "of-week")
    seen.page.get_by_role("button", name="Tue").click()
    assert shown(seen) == (4, 1)
    names = seen.page.locator(".day button").nth(8).get_attribute("title")
    assert names == "08:00–09:00: 0 originals, 0 by released times"  # on a Tuesday
    hour(seen, 17)
    assert shown(seen) == (2, 1)
    seen.page.get_by_role("button", name="Tue").click()
    seen.page.get_by_role("button", name="Mon").click()
    assert shown(seen) == (0, 0)
    assert seen.coloured() == 0


def test_a_group_tells_when_it_departs_and_is_whole_at_any_hour(see: Open) -> None:
    seen = opened(see)
    hour(seen, 18)
    seen.page.locator("input[name=group]").fill("0")
    seen.page.locator("input[name=group]").press("Enter")
    assert len(seen.lit()[0]) == 5
    said = seen.page.locator("output").inner_text()
    assert said.startswith("Group 0 · 4 trips · 08:15, 15 min · mean displacement")
    hour(seen, 8)  # other lines: nothing stands out
    assert seen.lit() == [[]]


def test_hours_stay_chosen_from_release_to_release_with_times(see: Open) -> None:
    original, release, report = timed()
    weekly = timed("of-week")
    releases = {
        "day": (release, report),
        "week": weekly[1:],
        "none": without_times(release, report),
    }
    seen = see(compare_releases(original, releases, tiles=None))
    hour(seen, 8)
    seen.page.get_by_label("week").check()
    assert shown(seen) == (4, 1)
    seen.page.get_by_role("button", name="Tue").click()
    assert shown(seen) == (0, 0)
    seen.page.get_by_label("none").check()
    assert seen.page.locator(".hours").count() == 0
    assert shown(seen) == (11, 3)
    seen.page.get_by_label("day").check()
    assert shown(seen) == (4, 1)
    assert "Originals (4 of 11)" in seen.page.locator(".layers").inner_text()


def test_the_public_map_counts_the_release_alone(see: Open) -> None:
    _, release, _ = timed()
    seen = see(public(release, tiles=None))
    hour(seen, 9)
    assert shown(seen) == (0, 1)
    assert status(seen) == "Hours chosen: 3 released rows, 1 group."
    seen.hover(means(trajectories().points, LABELS)[1, 15])
    said = seen.page.locator(".leaflet-tooltip").inner_text()
    assert said == "Group 1 · 3 rows · 09:00, 15 min"
    assert "original" not in seen.page.locator("body").inner_text().lower()


def test_lines_that_are_not_drawn_are_not_under_the_mouse(see: Open) -> None:
    seen = opened(see)
    hour(seen, 9)
    lines = means(trajectories().points, LABELS)
    seen.hover(lines[0, 15])
    assert seen.lit() == [[]]
    seen.hover(lines[1, 15])
    assert len(seen.lit()[0]) == 4


def test_bars_are_wide_enough_for_a_finger(see: Open) -> None:
    seen = opened(see, size=PHONE, touch=True)
    seen.page.locator("#trajanon summary").first.tap()
    boxes = [box.bounding_box() for box in seen.page.locator(".day button").all()]
    assert all(box is not None and min(box["width"], box["height"]) >= 24 for box in boxes)
    seen.page.locator(".day button").nth(8).tap()
    assert shown(seen) == (4, 1)
    assert seen.js("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_release_without_times_has_no_bars(see: Open) -> None:
    original, release, report = timed()
    seen = see(compare(original, *without_times(release, report), tiles=None), DESKTOP)
    assert seen.page.locator(".hours").count() == 0
    assert "Departures" not in seen.page.locator("#trajanon").inner_text()
    assert np.array_equal(shown(seen), (11, 3))
