"""What is told of alignment: in the report, on the screen, and on the map."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import metres, random_labels, slid_at_random, town, tracks_of
from plain import plain_means

import trajanon
from trajanon import loss
from trajanon.align.alignment import MEASURED, account
from trajanon.arrays import Floats
from trajanon.files.report import read_report
from trajanon.files.trajectory_files import write_trajectories
from trajanon.maps.drawing import match, release_and_originals
from trajanon.partition import Partition
from trajanon.released_lines import TrajectoryGroups
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.verdict import cost

pytestmark = pytest.mark.usefixtures("few_moves")
seeds = st.integers(0, 10**6)
FAST = ("--method", "mdav", "--refine", "none")


def grouped(trajectories: Trajectories, seed: int, k: int) -> Partition:
    labels = random_labels(seed, len(trajectories), k)
    records = loss.standardise(trajectories.records)
    return Partition(
        labels=labels,
        centroids=loss.group_means(trajectories.records, labels),
        sse=loss.sse(records, labels),
        sst=float((records**2).sum()),
        path_length=None,
        stages=(),
    )


def released(trajectories: Trajectories, partition: Partition) -> Floats:
    return partition.aggregated.reshape(trajectories.points.shape)


# The account


@given(seed=seeds, n=st.integers(4, 12), m=st.integers(2, 4))
@settings(max_examples=25)
def test_the_account_is_what_can_be_counted(seed: int, n: int, m: int) -> None:
    before = town(seed, n, m, slack=8)
    tracks = tracks_of(before)
    after = before.slid(slid_at_random(tracks, m, seed))
    pair = (before, grouped(before, seed, 2)), (after, grouped(after, seed + 1, 3))
    with plain_means():
        found = account(before, *(TrajectoryGroups(*one, None) for one in pair))
    assert found is not None
    assert json.loads(json.dumps(found)) == found
    assert found["measured"] == MEASURED
    assert set(found) == {"measured", "before", "slid", "starts"}
    slid = before.slid(np.array(found["starts"]))
    assert np.array_equal(slid.points, after.points)

    # Before: of windows as they were cut.
    moved = displacement(before.points, released(*pair[0]))
    lost = pair[0][1].information_loss
    assert found["before"]["information_loss"] == pytest.approx(lost, rel=1e-4)
    told = found["before"]["displacement"]
    assert told["mean"] == pytest.approx(moved.mean(), rel=1e-6, abs=ROUNDING)
    assert told["max"] == pytest.approx(moved.max(), rel=1e-6, abs=ROUNDING)

    # How far they slid: the longest step of a run, for it may bend between two points.
    step, far = [], []
    for run in range(len(tracks.first) - 1):
        on = tracks.points[tracks.first[run] : tracks.first[run + 1]]
        step.append(max(metres(a, b) for a, b in pairwise(on)))
    for x in range(n):
        steps = abs(int(found["starts"][x]) - int(tracks.start[x]))
        far.append(steps * step[tracks.run[x]])
    slides = found["slid"]
    assert slides["share"] == np.mean(np.array(far) > 0)
    far = [way for way in far if way > 0] or [0.0]  # of those that did
    assert slides["mean"] == pytest.approx(np.mean(far), rel=0.01)
    assert slides["median"] == pytest.approx(np.median(far), rel=0.01)
    assert slides["max"] == pytest.approx(max(far), rel=0.01)


ROUNDING = 0.02  # metres: a release has seven decimals of a degree


# The report


@pytest.mark.parametrize("refine", ["none", "descent"])
def test_before_alignment_is_what_a_release_without_it_tells(refine: str) -> None:
    before = town(5, 40, 4, people=12)
    plain, report = [
        trajanon.anonymize(before, 3, align=on, refine=refine, key=bytes(32)).report
        for on in (False, True)
    ]
    told = report["alignment"]["before"]
    assert told["information_loss"] == plain["information_loss"]
    for name, value in plain["displacement"].items():
        assert told["displacement"][name] == pytest.approx(value, abs=ROUNDING)
    stages = [stage["name"] for stage in report["stages"]]
    assert stages == [*(stage["name"] for stage in plain["stages"]), "alignment"]
    assert report["information_loss"] < plain["information_loss"]


@pytest.mark.usefixtures("plain_means")
def test_a_report_has_both_faces_of_sliding() -> None:
    left = town(5, 40, 4, people=12)
    release = trajanon.anonymize(left, 3, effort="fast")
    report = release.report
    labels = np.array(report["labels"])
    slid = left.slid(np.array(report["alignment"]["starts"]))
    lines = loss.group_means(slid.records, labels).round(7)[labels]
    released = lines.reshape(left.points.shape)
    as_cut = report["alignment"]["as_cut"]
    for told, windows in ((report, slid), (as_cut, left)):
        moved = displacement(windows.points, released)
        assert told["displacement"]["mean"] == pytest.approx(moved.mean(), abs=ROUNDING)
    around = left.records.mean(axis=0)
    spread = left.records.std(axis=0)
    lost = (((lines - left.records) / spread) ** 2).sum()
    total = (((left.records - around) / spread) ** 2).sum()
    assert as_cut["information_loss"] == pytest.approx(100 * lost / total, rel=1e-3)
    assert report["from_runs"]["max"] <= report["displacement"]["max"] + ROUNDING
    assert report["displacement"]["mean"] < as_cut["displacement"]["mean"]


def test_alignment_tells_nothing_in_the_release(tmp_path: Path) -> None:
    before = town(5, 40, 4, people=12)
    release = trajanon.anonymize(before, 3)
    assert release.report["alignment"] is not None
    release.write(tmp_path / "out.parquet")
    assert trajanon.check(tmp_path / "out.parquet", 3).holds
    assert read_report(tmp_path / "out.parquet") == release.report
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
    assert alignment["measured"] == MEASURED
    assert cost(report_in(here)) in answer.out.splitlines()
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
    matched, report = match(before, release, report_in(here))
    assert np.array_equal(matched.slid.points, after.points)
    found = release_and_originals("release", matched, report).layers["originals"]
    # Half a millionth is rounded either way.
    assert np.abs(np.array(found)[:, :2] - after.points[:, 0] * 1e6).max() < 0.5 + 1e-6
    assert run("map").code == 0
    assert run("map", "--view", "public").code == 0


def no_starts(report: dict[str, Any]) -> None:
    del report["alignment"]["starts"]


def starts(values: Callable[[list[int]], object]) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        report["alignment"]["starts"] = values(report["alignment"]["starts"])

    return change


def alignment(value: object) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        report["alignment"] = value

    return change


@pytest.mark.parametrize(
    "damage",
    [
        no_starts,
        alignment("slid"),
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
def test_wrong_starts_are_one_sentence(
    run: Run, here: Path, damage: Callable[[dict[str, Any]], None]
) -> None:
    assert run("anonymize", "-k", 3, *FAST).code == 0
    report = report_in(here)
    damage(report)
    (here / "anonymized.report.json").write_text(json.dumps(report))
    sentence = run("map").sentence
    assert "run trajanon anonymize again" in sentence
    assert not (here / "map.html").exists()


def test_a_map_of_trajectories_that_lost_their_tracks_is_refused(run: Run, here: Path) -> None:
    assert run("anonymize", "-k", 3, *FAST).code == 0
    before = trajanon.read_trajectories(here / "trajectories.parquet")
    write_trajectories(here / "trajectories.parquet", replace(before, tracks=None))
    assert "do not belong together" in run("map").sentence
