"""Pages of maps: whom they are for, what is refused, and what the public one must not hold."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import LABELS, about, compared, held, layer, places, released, report, trajectories
from commands import mode

from trajanon.common.errors import BadInput
from trajanon.maps import compare, html, public, save
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

NOTICE = "For the holder of the data, not for publication."


def test_the_first_line_of_a_saved_map_says_whom_it_is_for(tmp_path: Path) -> None:
    drawn = compare(trajectories(), released(), report())
    drawn.save(tmp_path / "folium.html")
    save(drawn, tmp_path / "ours.html")
    assert mode(tmp_path / "ours.html") == 0o600
    for page in tmp_path.iterdir():
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"<!-- {NOTICE} -->\n<!DOCTYPE html>")
    assert held(html(drawn))["page"]["notice"] == NOTICE
    save(public(released()), tmp_path / "public.html")
    (tmp_path / "new.html").touch()
    assert mode(tmp_path / "public.html") == mode(tmp_path / "new.html")


@pytest.mark.parametrize("key", ["notice", "attribution"])
def test_text_from_data_cannot_become_markup_or_template(key: str) -> None:
    evil = "</script><script>alert(1)</script> --> {{ 7 * 7 }} {% if %}\nNobody else."
    page = compared(**{key: evil})
    assert "<script>alert" not in page
    assert held(page)["page"][key] == evil
    first, second, *_ = page.splitlines()
    assert first.count("-->") == 1
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
    with pytest.raises(BadInput, match=r"do not belong together|do not match its groups"):
        compared(**changes)


def test_a_release_of_other_data_is_refused() -> None:
    moved, shorter = released().points + 1e-6, released().points[:, 1:]
    one_too_many = released().points.copy()
    one_too_many[np.flatnonzero((moved != moved[0]).any(axis=(1, 2)))[0]] = one_too_many[0]
    for points in (moved, shorter, one_too_many):
        with pytest.raises(BadInput, match="do not belong together"):
            compare(trajectories(), ReleasedTrajectories(points), report())


def test_what_cannot_be_drawn_is_refused() -> None:
    original, empty, short = trajectories(), ReleasedTrajectories(np.empty((0, 30, 2))), report()
    with pytest.raises(BadInput, match="Expected int >= 1"):
        compare(Trajectories(empty.points), empty, report() | {"n": 0, "labels": []})
    with pytest.raises(BadInput, match="no released trajectories"):
        public(empty)
    with pytest.raises(BadInput, match="'sideways' is not known; choose from overlay"):
        compare(original, released(), report(), view="sideways")
    del short["labels"]
    with pytest.raises(BadInput, match="required field labels"):
        compare(original, released(), short)


def test_the_public_map_holds_nothing_but_the_release() -> None:
    page = html(public(released()))
    assert page.startswith("<!DOCTYPE html>")
    assert '<html lang="en">' in page
    said = about(page)
    assert said["facts"] == [["Lines", "3"], ["Rows", "11"], ["Fewest rows of a line", "3"]]
    assert said["reading"].startswith("Each line is an average, and stands for 3 or more rows")
    assert set(said["layers"]) == {"released"}
    assert set(said["groups"]) == {"number", "size", "weight", "colour"}
    assert sorted(said["groups"]["size"]) == [3, 4, 4]
    secret = {tuple(place) for place in np.rint(trajectories().points.reshape(-1, 2) * 1e6)}
    lines = [places(steps) for steps in layer(page, "released")]
    shown = {tuple(map(float, place)) for line in lines for place in line}
    assert (len(lines), len(shown)) == (3, 3 * 30)
    assert not shown & secret
    told = json.dumps(held(page)).lower()
    for word in ("original", "holder", "displacement", "information loss", "members"):
        assert word not in told


def test_without_tiles_the_page_forbids_every_request() -> None:
    with_tiles = html(public(released()))
    assert "tile.openstreetmap.org" in with_tiles
    assert "Content-Security-Policy" not in with_tiles
    assert not re.search(r"<(script|link)[^>]* (src|href)=", with_tiles)
    assert "sourceMappingURL" not in with_tiles
    for drawn in (
        public(released(), tiles=None),
        compare(trajectories(), released(), report(), tiles=None),
    ):
        page = html(drawn)
        assert "tile.openstreetmap.org" not in page
        assert "default-src 'none'" in page
        assert page.index("Content-Security-Policy") < page.index("<style")
