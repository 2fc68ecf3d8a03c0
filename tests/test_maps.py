"""What the two maps show, and what the public one must not."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import mode

from trajanon.errors import BadInput
from trajanon.maps import Background, compare, compare_releases, html, public, save
from trajanon.maps.colours import PALETTE
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories
from trajanon.utility import displacement

NOTICE = "For the holder of the data, not for publication: it shows the originals."
LABELS = np.array([0, 1, 0, 2, 1, 0, 2, 2, 1, 2, 0])  # sizes 4, 3, 4


def trajectories(points: int = 30) -> Trajectories:
    rng = np.random.default_rng(0)
    starts = np.array([40.43, -3.70]) + rng.normal(0, 0.02, (3, 1, 2))
    lines = starts + np.cumsum(rng.normal(0, 0.001, (3, points, 2)), axis=1)
    own = rng.normal(0, 0.001, (len(LABELS), points, 2))
    return Trajectories((lines[LABELS] + own).round(7))


def release(original: Trajectories) -> Trajectories:
    means = [original.points[group == LABELS].mean(axis=0) for group in range(3)]
    shuffled = np.random.default_rng(1).permutation(LABELS)
    return Trajectories(np.round(means, 7)[shuffled], provenance={"attribution": OSM_ATTRIBUTION})


def report(**changes: Any) -> dict[str, Any]:
    return {
        "n": len(LABELS),
        "k": 3,
        "counted": "subjects",
        "groups": 3,
        "sizes": [4, 3, 4],
        "labels": LABELS.tolist(),
        "information_loss": 12.3456,
        "stages": [
            {"name": "path", "information_loss": None, "seconds": 0.1},
            {"name": "MHM", "information_loss": 12.3456, "seconds": 0.1},
        ],
        "stopped": False,
        "displacement": {"mean": 126.4, "median": 86.2, "p95": 300.0, "max": 410.0},
        "notice": NOTICE,
        "attribution": OSM_ATTRIBUTION,
    } | changes


def compared(**changes: Any) -> str:
    original = trajectories()
    return html(compare(original, release(original), report(**changes)))


def held(page: str) -> dict[str, Any]:
    """Read what the page holds for its scripts."""
    found = re.findall(
        r'<script type="application/json" id="trajanon-([\w-]+)">(.*?)</script>', page
    )
    return {name: json.loads(text) for name, text in found}


def about(page: str) -> dict[str, Any]:
    """What is said of the first release."""
    said: dict[str, Any] = held(page)["page"]["releases"][0]
    return said


def layer(page: str, name: str) -> Any:
    """A layer of the first release."""
    return held(page)[about(page)["layers"][name]]


def places(steps: list[int]) -> list[list[int]]:
    """Add the steps of a line up, one by one: lat and lon in millionths."""
    lat = lon = 0
    found = []
    for north, east in batched_pairs(steps):
        lat, lon = lat + north, lon + east
        found.append([lat, lon])
    return found


def batched_pairs(values: list[int]) -> list[tuple[int, int]]:
    return list(zip(values[::2], values[1::2], strict=True))


def test_the_first_line_of_the_holders_map_says_whom_it_is_for() -> None:
    first, second, *_ = compared().splitlines()
    assert first == f"<!-- {NOTICE} -->"
    assert second == "<!DOCTYPE html>"


def test_the_holders_map_gives_its_panel_the_notice() -> None:
    assert held(compared())["page"]["notice"] == NOTICE


def test_a_saved_map_begins_with_the_notice_however_it_is_saved(tmp_path: Path) -> None:
    original = trajectories()
    drawn = compare(original, release(original), report())
    drawn.save(tmp_path / "folium.html")
    save(drawn, tmp_path / "ours.html")
    assert mode(tmp_path / "ours.html") == 0o600
    save(public(original), tmp_path / "public.html")
    (tmp_path / "new.html").touch()
    assert mode(tmp_path / "public.html") == mode(tmp_path / "new.html")
    for name in ("public.html", "new.html"):
        (tmp_path / name).unlink()
    for page in tmp_path.iterdir():
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"<!-- {NOTICE} -->\n<!DOCTYPE html>")


def test_every_original_and_one_line_a_group_are_drawn() -> None:
    page = compared()
    assert len(layer(page, "originals")) == 11
    assert len(layer(page, "released")) == 3
    members = layer(page, "members")
    assert members == [np.flatnonzero(group == LABELS).tolist() for group in range(3)]


def test_lines_are_steps_of_millionths_of_a_degree() -> None:
    original = trajectories()
    page = compared()
    for name, points in (
        ("originals", original.points),
        ("released", [original.points[group == LABELS].mean(axis=0) for group in range(3)]),
    ):
        found = np.array([places(steps) for steps in layer(page, name)])
        assert np.abs(found - np.array(points) * 1e6).max() <= 0.56


def test_a_group_has_its_number_size_and_mean_displacement() -> None:
    original = trajectories()
    groups = about(compared())["groups"]
    assert groups["number"] == [0, 1, 2]
    assert groups["size"] == [4, 3, 4]
    for group in range(3):
        members = original.points[group == LABELS]
        mean = np.broadcast_to(members.mean(axis=0), members.shape)
        metres = displacement(members, mean).mean()
        assert groups["moved"][group] == pytest.approx(metres, abs=0.06)


def test_each_group_has_a_colour_of_its_own() -> None:
    page = compared()
    assert len(set(about(page)["groups"]["colour"])) == 3
    assert tuple(held(page)["page"]["palette"]) == PALETTE


def test_the_panel_gives_k_n_groups_sizes_losses_and_stages() -> None:
    said = about(compared())
    assert said["headline"] == "k = 3 subjects"
    assert said["facts"] == [
        ["Trajectories, n", "11"],
        ["Groups", "3"],
        ["Subjects in each group", "at least 3"],
        ["95 % of points moved at most", "300 m"],
        ["Farthest point moved", "410 m"],
    ]
    assert said["stages"] == [["MHM", "12.3 %"]]
    assert said["counts"]["sizes"] == [["3", 1], ["4", 2]]
    assert held(compared())["page"]["attribution"] == OSM_ATTRIBUTION


def test_the_panel_says_verdict_cost_and_source_first() -> None:
    report = held(compared())["page"]["releases"][0]
    assert report["told"] == [
        "Ready to publish.",
        "Released points lie 126 m from where people went on average (median 86 m); "
        "information loss 12 %.",
        "11 trajectories are in the release.",
    ]


def test_records_counted_are_called_trajectories() -> None:
    said = about(compared(counted="records"))
    assert said["headline"] == "k = 3 trajectories"
    assert ["Trajectories in each group", "at least 3"] in said["facts"]


def test_many_sizes_share_the_last_row() -> None:
    sizes = np.arange(1, 15)
    points = np.repeat(np.arange(14) / 100, sizes)[:, None, None] + np.zeros((30, 2))
    counts = about(html(public(Trajectories(points))))["counts"]
    assert counts["sizes"][-2:] == [["9", 1], ["10 or more", 5]]


@pytest.mark.parametrize("key", ["notice", "attribution"])
def test_text_from_data_cannot_become_markup_or_template(key: str) -> None:
    evil = "</script><script>alert(1)</script> --> {{ 7 * 7 }} {% if %}"
    page = compared(**{key: evil})
    assert "<script>alert" not in page
    assert held(page)["page"][key] == evil
    assert page.splitlines()[0].count("-->") == 1


def test_a_notice_of_several_lines_stays_in_the_first() -> None:
    first, second, *_ = compared(notice="For the holder.\nNobody else.").splitlines()
    assert first == "<!-- For the holder. Nobody else. -->"
    assert second == "<!DOCTYPE html>"


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": [*LABELS[1:].tolist(), 0]},
        {"labels": LABELS[1:].tolist()},
        {"labels": (LABELS + 1).tolist()},
        {"labels": (LABELS - 1).tolist()},
        {"n": 12},
    ],
)
def test_a_report_of_other_data_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="do not belong together"):
        compared(**changes)


def test_a_release_of_other_data_is_refused() -> None:
    original = trajectories()
    moved = Trajectories(release(original).points + 1e-6)
    with pytest.raises(BadInput, match="do not belong together"):
        compare(original, moved, report())


def test_a_release_with_one_copy_too_many_is_refused() -> None:
    original = trajectories()
    released = release(original).points.copy()
    other = np.flatnonzero((released != released[0]).any(axis=(1, 2)))[0]
    released[other] = released[0]
    with pytest.raises(BadInput, match="do not belong together"):
        compare(original, Trajectories(released), report())


def test_a_release_with_fewer_points_is_refused() -> None:
    original = trajectories()
    with pytest.raises(BadInput, match="do not belong together"):
        compare(original, Trajectories(release(original).points[:, 1:]), report())


def test_a_report_that_lacks_something_is_refused_by_its_name() -> None:
    short = report()
    del short["labels"]
    original = trajectories()
    with pytest.raises(BadInput, match="it lacks labels"):
        compare(original, release(original), short)


def test_nothing_to_draw_is_refused() -> None:
    empty = Trajectories(np.empty((0, 30, 2)))
    with pytest.raises(BadInput, match="no trajectories to draw"):
        compare(empty, empty, report(n=0, labels=[]))
    with pytest.raises(BadInput, match="no released trajectories"):
        public(empty)


@pytest.mark.parametrize(("north", "told"), [(85.0, False), (85.06, True)])
def test_what_lies_beyond_the_end_of_the_map_is_said(north: float, told: bool) -> None:
    points = trajectories().points
    points[..., 0] += north - points[..., 0].max()
    original = Trajectories(points.round(7))
    pages = [
        held(html(compare(original, release(original), report(), tiles=None))),
        held(html(public(original, tiles=None))),
    ]
    for page in pages:
        said = page["page"]["releases"][0]["drawn"]
        assert (said is not None and "The map ends at 85.05°" in said) == told


def test_the_page_says_what_language_it_is_in() -> None:
    assert '<html lang="en">' in html(public(trajectories(), tiles=None))


def test_a_single_group_can_be_drawn() -> None:
    points = trajectories().points[:4]
    mean = np.repeat(points.mean(axis=0, keepdims=True).round(7), 4, axis=0)
    single = report(n=4, labels=[0, 0, 0, 0])
    drawn = compare(Trajectories(points), Trajectories(mean), single)
    assert len(layer(html(drawn), "released")) == 1
    assert len(layer(html(public(Trajectories(mean))), "released")) == 1


def test_groups_with_the_same_mean_are_one_line() -> None:
    points = np.repeat(trajectories().points[:1], 6, axis=0)
    same = report(n=6, labels=[0, 1, 0, 1, 0, 1])
    page = html(compare(Trajectories(points), Trajectories(points), same))
    assert len(layer(page, "released")) == 1


def test_an_unknown_view_is_refused() -> None:
    original = trajectories()
    with pytest.raises(BadInput, match="'sideways' is not known; choose from overlay"):
        compare(original, release(original), report(), view="sideways")


def test_no_release_to_compare_is_refused() -> None:
    with pytest.raises(BadInput, match="no release to draw"):
        compare_releases(trajectories(), {})


def test_releases_share_what_they_have_in_common() -> None:
    original = trajectories()
    one, other = (release(original), report()), (release(original), report(k=2))
    page = held(html(compare_releases(original, {"a": one, "b": other})))
    a, b = page["page"]["releases"]
    assert (a["name"], a["headline"]) == ("a", "k = 3 subjects")
    assert (b["name"], b["headline"]) == ("b", "k = 2 subjects")
    assert a["layers"] == b["layers"]
    assert set(page) == {"page", *a["layers"].values()}


def test_the_public_map_draws_each_group_once_with_its_size() -> None:
    page = html(public(release(trajectories())))
    assert len(layer(page, "released")) == 3
    assert sorted(about(page)["groups"]["size"]) == [3, 4, 4]
    assert about(page)["facts"] == [["Rows, n", "11"], ["Groups", "3"], ["Smallest group", "3"]]


def test_the_public_map_holds_nothing_but_the_release() -> None:
    original = trajectories()
    page = html(public(release(original)))
    assert page.startswith("<!DOCTYPE html>")
    (said,) = held(page)["page"]["releases"]
    assert set(said["layers"]) == {"released", "density-released"}
    assert set(said["groups"]) == {"number", "size", "weight", "colour"}
    secret = {tuple(place) for place in np.rint(original.points.reshape(-1, 2) * 1e6)}
    shown = {
        tuple(map(float, place)) for steps in layer(page, "released") for place in places(steps)
    }
    assert len(shown) == 3 * 30
    assert not shown & secret
    told = json.dumps(held(page)).lower()
    for word in ("original", "holder", "displacement", "information loss", "members"):
        assert word not in told


def test_without_tiles_the_page_forbids_every_request() -> None:
    original = trajectories()
    with_tiles = html(public(release(original)))
    assert "tile.openstreetmap.org" in with_tiles
    assert "Content-Security-Policy" not in with_tiles
    for drawn in (
        public(release(original), tiles=None),
        compare(original, release(original), report(), tiles=None),
    ):
        page = html(drawn)
        assert "tile.openstreetmap.org" not in page
        assert "default-src 'none'" in page
        assert page.index("Content-Security-Policy") < page.index("<style")


def test_the_page_loads_no_script_or_style_from_elsewhere() -> None:
    page = html(public(release(trajectories())))
    assert not re.search(r"<(script|link)[^>]* (src|href)=", page)
    assert "sourceMappingURL" not in page


def test_a_background_is_drawn_and_credited() -> None:
    road = np.array([[40.0, -3.0], [40.001, -3.0], [40.002, -3.0], [40.002, -3.1]])
    drawn = public(
        Trajectories(release(trajectories()).points),
        tiles=None,
        background=Background(roads=[road]),
    )
    page = held(html(drawn))
    assert [places(steps) for steps in page["background"]["roads"]] == [
        [[40_000_000, -3_000_000], [40_002_000, -3_000_000], [40_002_000, -3_100_000]]
    ]
    assert page["background"]["water"] == []
    assert page["page"]["attribution"] == OSM_ATTRIBUTION


def test_a_line_across_the_antimeridian_goes_on() -> None:
    points = np.zeros((2, 4, 2))
    points[..., 1] = [179.8, 179.9, -180.0, -179.9]
    same = Trajectories(points)
    for page in (html(public(same)), html(compare(same, same, report(n=2, labels=[0, 0])))):
        (steps,) = layer(page, "released")
        longitude = np.array(places(steps))[:, 1]
        assert np.diff(longitude).tolist() == [100_000] * 3
        (_, west), (_, east) = held(page)["page"]["bounds"]
        assert east - west == pytest.approx(0.3)


def test_a_sample_is_told_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajanon.maps.drawing._POINTS", 5 * 30)
    rng = np.random.default_rng(0)
    points = rng.normal(40, 0.01, (9, 30, 2)).round(7)
    mean = [points[at : at + 3].mean(axis=0) for at in (0, 3, 6)]
    released = np.repeat(np.array(mean), 3, axis=0).round(7)
    given = report(n=9, labels=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    page = html(compare(Trajectories(points), Trajectories(released), given))
    assert about(page)["drawn"] == (
        "Drawn at random: 3 of 9 originals, at most 1 of a group, and all 3 groups. "
        "All numbers count everything."
    )
    assert about(page)["total"] == {"groups": 3, "originals": 9, "outliers": 1}
    monkeypatch.undo()
    assert about(compared())["drawn"] is None
