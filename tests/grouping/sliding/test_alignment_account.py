"""What is told of alignment: in the report, on the screen, and on the map."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from hypothesis import strategies as st
from naive_sliding import town, tracks_of

import trajanon
from trajanon.files.trajectory_files import write_trajectories
from trajanon.grouping.group_means import group_means
from trajanon.maps.drawing import release_and_originals
from trajanon.release.originals import matched as matched_groups
from trajanon.release.release_words import cost
from trajanon.release.report_files import checked, json_ready, read_report
from trajanon.trajectories.distances import displacement

pytestmark = pytest.mark.usefixtures("few_moves")
seeds = st.integers(0, 10**6)
FAST = ("--method", "mdav", "--refine", "none")


@pytest.mark.usefixtures("plain_means")
def test_the_report_says_where_windows_slid() -> None:
    before = town(5, 40, 4, people=12)
    report = trajanon.anonymize(before, 3, effort="fast").report
    alignment, labels = report["alignment"], np.array(report["labels"])
    starts = np.array(alignment["starts"])
    assert alignment["slid"] == (starts != tracks_of(before).start).mean()
    slid = before.slid(starts)
    lines = group_means(slid.records, labels).round(7).reshape(-1, 4, 2)
    moved = displacement(slid.points, lines[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean(), abs=0.02)


def test_alignment_tells_nothing_in_the_release(tmp_path: Path) -> None:
    before = town(5, 40, 4, people=12)
    release = trajanon.anonymize(before, 3)
    assert release.report["alignment"] is not None
    release.write(tmp_path / "out.parquet")
    assert trajanon.check(tmp_path / "out.parquet", 3).holds
    assert json_ready(read_report(tmp_path / "out.parquet")) == release.report
    assert dict(release.trajectories.provenance) == {"attribution": None, "counted": "subjects"}


# The commands


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    """A folder with trajectories that have room to slide."""
    write_trajectories(tmp_path / "trajectories.parquet", town(5, 40, 4, people=12))
    return tmp_path


def report_in(folder: Path) -> Any:
    return json.loads((folder / "anonymized.report.json").read_text())


def test_windows_slide_unless_it_is_declined(run: Run, here: Path) -> None:
    answer = run("anonymize", "-k", 3, *FAST)
    assert answer.code == 0, answer.err
    alignment = report_in(here)["alignment"]
    assert len(alignment["starts"]) == 40
    assert cost(checked(report_in(here))) in answer.out.splitlines()
    for word in ("as cut", "as slid", "without sliding"):
        assert word not in answer.out.lower()
    declined = run("anonymize", "-k", 3, "--as-published")
    assert declined.code == 0
    assert report_in(here)["alignment"] is None
    assert "lignment" not in declined.out
    assert "slid" not in declined.out


def test_json_has_no_list_of_starts(run: Run, here: Path) -> None:
    answer = run("anonymize", "-k", 3, *FAST, "--json")
    assert answer.code == 0
    alignment = json.loads(answer.out)["alignment"]
    kept = report_in(here)["alignment"]
    assert "starts" not in alignment
    assert alignment == {name: kept[name] for name in kept if name != "starts"}
    declined = run("anonymize", "-k", 3, "--as-published", "--json")
    assert json.loads(declined.out)["alignment"] is None


# The map


def test_the_map_shows_windows_as_slid(run: Run, here: Path) -> None:
    assert run("anonymize", "-k", 3, *FAST).code == 0
    before = trajanon.read_trajectories(here / "trajectories.parquet")
    after = before.slid(np.array(report_in(here)["alignment"]["starts"]))
    release = trajanon.read_release(here / "anonymized.parquet")
    report = checked(report_in(here))
    matched = matched_groups(report.released_of(before), release, report)
    assert np.array_equal(matched.slid.points, after.points)
    found = release_and_originals(matched, report).layers["originals"]
    # Half a millionth is rounded either way.
    assert np.abs(np.array(found)[:, :2] - after.points[:, 0] * 1e6).max() < 0.5 + 1e-6
    assert run("map").code == 0
    # Whoever follows a drive from line to line is left with few: it must not be published.
    assert "must not be published" in run("map", "--view", "public").sentence


Damage = Callable[[dict[str, Any]], object]


def starts(values: Callable[[list[int]], object]) -> Damage:
    return lambda alignment: alignment | {"starts": values(alignment["starts"])}


@pytest.mark.parametrize(
    "damage",
    [
        lambda alignment: {"slid": alignment["slid"]},
        lambda _: "slid",
        starts(lambda s: s[:-1]),
        starts(lambda s: [-1, *s[1:]]),
        starts(lambda s: [10**6, *s[1:]]),
        starts(lambda s: [2**70, *s[1:]]),
        starts(lambda s: [0.5, *s[1:]]),
        starts(lambda s: [None, *s[1:]]),
        starts(lambda s: [[v] for v in s]),
        starts(lambda s: [True] * len(s)),
        starts(lambda s: s[::-1]),
        starts(lambda _: None),
    ],
)
def test_wrong_starts_are_one_sentence(run: Run, here: Path, damage: Damage) -> None:
    assert run("anonymize", "-k", 3, *FAST).code == 0
    report = report_in(here)
    report["alignment"] = damage(report["alignment"])
    (here / "anonymized.report.json").write_text(json.dumps(report))
    sentence = run("map").sentence
    assert "trajanon anonymize" in sentence
    assert not (here / "map.html").exists()


def test_a_map_of_trajectories_that_lost_their_tracks_is_refused(run: Run, here: Path) -> None:
    assert run("anonymize", "-k", 3, *FAST).code == 0
    before = trajanon.read_trajectories(here / "trajectories.parquet")
    write_trajectories(here / "trajectories.parquet", replace(before, tracks=None))
    assert "do not belong together" in run("map").sentence
