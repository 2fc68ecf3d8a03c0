"""What the two maps show, and what the public one must not."""

import json
import re
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trajanon.errors import BadInput
from trajanon.maps import compare, html, public, save
from trajanon.maps.layers import PALETTE, colours, weights
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
    return Trajectories(
        np.round(means, 7)[shuffled], provenance={"attribution": OSM_ATTRIBUTION}
    )


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


def layers(page: str) -> list[list[dict[str, Any]]]:
    """Read the features of each layer out of the page."""
    found = re.findall(r"geo_json_\w+_add\((\{.*\})\);", page)
    return [json.loads(layer)["features"] for layer in found]


def lines(features: list[dict[str, Any]]) -> list[list[list[float]]]:
    return [line for each in features for line in each["geometry"]["coordinates"]]


def visible(page: str) -> str:
    """Take the words of the panel, one blank between them."""
    panel = re.search(r"<aside.*</aside>", page, re.DOTALL)
    assert panel is not None
    return " ".join(re.sub(r"<[^>]*>", " ", panel[0]).split())


def test_the_first_line_of_the_holders_map_says_whom_it_is_for() -> None:
    first, second, *_ = compared().splitlines()
    assert first == f"<!-- {NOTICE} -->"
    assert second == "<!DOCTYPE html>"


def test_the_holders_map_shows_the_notice_at_the_top_of_its_panel() -> None:
    assert visible(compared()).startswith(NOTICE)


def test_a_saved_map_begins_with_the_notice_however_it_is_saved(tmp_path: Path) -> None:
    original = trajectories()
    drawn = compare(original, release(original), report())
    drawn.save(tmp_path / "folium.html")
    save(drawn, tmp_path / "ours.html")
    for page in tmp_path.iterdir():
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"<!-- {NOTICE} -->\n<!DOCTYPE html>")


def test_every_original_and_one_line_a_group_are_drawn() -> None:
    originals, released = layers(compared())
    assert [len(each["geometry"]["coordinates"]) for each in originals] == [4, 3, 4]
    assert [len(each["geometry"]["coordinates"]) for each in released] == [1, 1, 1]


def test_coordinates_are_lon_lat_with_six_decimals() -> None:
    original = trajectories()
    originals, _ = layers(compared())
    expected = original.points[np.argsort(LABELS, kind="stable")][..., ::-1].round(6)
    assert lines(originals) == expected.tolist()


def test_the_tooltip_of_a_group_gives_its_size_and_mean_displacement() -> None:
    original = trajectories()
    for features in layers(compared()):
        for group, feature in enumerate(features):
            members = original.points[group == LABELS]
            mean = np.broadcast_to(members.mean(axis=0), members.shape)
            metres = displacement(members, mean).mean()
            assert feature["properties"]["about"] == (
                f"group {group} · {len(members)} trajectories · "
                f"mean displacement {metres:.0f} m"
            )


def test_a_group_has_one_colour_in_both_layers() -> None:
    originals, released = layers(compared())
    colour = [each["properties"]["color"] for each in originals]
    assert colour == [each["properties"]["color"] for each in released]
    assert len(set(colour)) == 3


def test_the_panel_gives_k_n_groups_sizes_and_losses() -> None:
    words = visible(compared())
    for expected in (
        "k = 3 subjects",
        "Trajectories, n 11",
        "Groups 3",
        "Subjects in each group at least 3",
        "Information loss, IL 12.3 %",
        "Mean displacement 126 m",
        "Median displacement 86 m",
        "3 × 1 4 × 2",
        OSM_ATTRIBUTION,
    ):
        assert expected in words


def test_records_counted_are_called_trajectories() -> None:
    words = visible(compared(counted="records"))
    assert "k = 3 trajectories" in words
    assert "Trajectories in each group at least 3" in words


def test_many_sizes_share_the_last_bar() -> None:
    sizes = np.arange(1, 15)
    points = np.repeat(np.arange(14) / 100, sizes)[:, None, None] + np.zeros((30, 2))
    assert "9 × 1 10 or more × 5" in visible(html(public(Trajectories(points))))


@pytest.mark.parametrize("key", ["notice", "attribution"])
def test_text_from_data_cannot_become_markup_or_template(key: str) -> None:
    evil = "<script>alert(1)</script> --> {{ 7 * 7 }} {% if %}"
    page = compared(**{key: evil})
    assert "<script>alert" not in page
    assert "49" not in visible(page)
    assert escape(evil).replace("{", "&#123;") in page
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
    with pytest.raises(BadInput, match="the report lacks labels"):
        compare(original, release(original), short)


def test_nothing_to_draw_is_refused() -> None:
    empty = Trajectories(np.empty((0, 30, 2)))
    with pytest.raises(BadInput, match="no trajectories to draw"):
        compare(empty, empty, report(n=0, labels=[]))
    with pytest.raises(BadInput, match="no released trajectories"):
        public(empty)


def test_a_single_group_can_be_drawn() -> None:
    points = trajectories().points[:4]
    mean = np.repeat(points.mean(axis=0, keepdims=True).round(7), 4, axis=0)
    single = report(n=4, labels=[0, 0, 0, 0])
    drawn = compare(Trajectories(points), Trajectories(mean), single)
    assert [len(features) for features in layers(html(drawn))] == [1, 1]
    assert len(layers(html(public(Trajectories(mean))))[0]) == 1


def test_groups_with_the_same_mean_are_each_drawn() -> None:
    points = np.repeat(trajectories().points[:1], 6, axis=0)
    same = report(n=6, labels=[0, 1, 0, 1, 0, 1])
    drawn = compare(Trajectories(points), Trajectories(points), same)
    assert [len(features) for features in layers(html(drawn))] == [2, 2]


def test_the_public_map_draws_each_group_once_with_its_size() -> None:
    (features,) = layers(html(public(release(trajectories()))))
    about = [feature["properties"]["about"] for feature in features]
    assert sorted(text.split(" · ")[1] for text in about) == [
        "3 trajectories",
        "4 trajectories",
        "4 trajectories",
    ]


def test_the_public_map_gives_n_groups_and_sizes() -> None:
    words = visible(html(public(release(trajectories()))))
    for expected in (
        "Trajectories, n 11",
        "Groups 3",
        "Smallest group 3",
        "3 × 1 4 × 2",
        OSM_ATTRIBUTION,
    ):
        assert expected in words


def test_the_public_map_holds_no_original_coordinate() -> None:
    original = trajectories()
    page = html(public(release(original)))
    number = r"(-?\d+\.\d+)"
    shown = set(re.findall(rf"\[{number}, {number}\]", page))
    secret = original.points.round(6).reshape(-1, 2)
    assert len(shown) >= 3 * 30
    for lat, lon in secret.tolist():
        assert (str(lon), str(lat)) not in shown
        assert (str(lat), str(lon)) not in shown


def test_the_public_map_speaks_of_no_original() -> None:
    page = html(public(release(trajectories())))
    assert page.startswith("<!DOCTYPE html>")
    for word in ("original", "holder", "displacement", "information loss"):
        assert word not in page.lower()


def test_without_tiles_no_server_is_asked_for_any() -> None:
    original = trajectories()
    assert "tile.openstreetmap.org" in html(public(release(original)))
    for drawn in (
        public(release(original), tiles=None),
        compare(original, release(original), report(), tiles=None),
    ):
        assert "tileLayer" not in html(drawn)


def test_neighbours_have_different_colours() -> None:
    north = np.arange(40) / 1000
    street = np.stack([np.repeat(north[:, None], 30, axis=1)] * 2, axis=2)
    chosen = colours(street)
    assert set(chosen) == set(PALETTE)
    assert all(a != b for a, b in pairwise(chosen))


def test_larger_groups_have_somewhat_wider_lines() -> None:
    small, large = weights(np.array([4, 64]))
    assert small < large < 2 * small
