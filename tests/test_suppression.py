"""Trajectories left out of a release: counted, told, and the promise is kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from commands import Run
from hypothesis import given, reject
from hypothesis import strategies as st
from interrupting import Interrupting
from naive_sliding import town
from problems import problem
from shards import shards_of, write_parts

import trajanon
from trajanon import loss, maps, suppression
from trajanon.arrays import Floats
from trajanon.cli.results import NOT_ALIGNED, STOPPED
from trajanon.errors import BadInput
from trajanon.evaluation.evaluation import evaluate
from trajanon.files.report import read_report
from trajanon.files.trajectories import write_trajectories
from trajanon.methods.remaining import mended
from trajanon.privacy.diversity import too_tight
from trajanon.privacy.outliers import wide_groups
from trajanon.refine import REFINEMENTS
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement


def walks(n: int, seed: int = 0, people: int = 20) -> Trajectories:
    random = np.random.default_rng(seed)
    start = random.normal(0, 0.02, (5, 1, 2))[random.integers(0, 5, n)]
    steps = random.normal(0, 0.001, (n, 4, 2))
    points: Floats = np.array([40.0, -3.7]) + start + np.cumsum(steps, axis=1)
    subject = random.integers(0, people, n)
    subject[: min(n, people)] = range(min(n, people))
    return Trajectories(points=points, subject=subject, trace=np.arange(n))


@given(
    n=st.integers(20, 60),
    k=st.integers(2, 4),
    share=st.sampled_from([0.0, 0.02, 0.1, 0.25]),
    radius=st.sampled_from([0.0, 20.0, 200.0]),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.usefixtures("plain_means")
def test_what_is_left_keeps_the_promise(
    tmp_path: Path, n: int, k: int, share: float, radius: float, seed: int
) -> None:
    trajectories = walks(n, seed)
    try:
        release = trajanon.anonymize(
            trajectories, k, suppress=share, min_radius=radius, effort="fast"
        )
    except BadInput as error:
        if "all groups lie within 200 m" not in str(error):
            raise
        reject()
    out = tmp_path / "anonymized.parquet"
    release.write(out)
    assert trajanon.check(out, k, trajectories=trajectories).holds
    report = release.report
    labels = np.array(report["labels"])
    assert np.bincount(labels).min() >= k
    assert report["n"] == len(labels)
    assert report["rows"]["subjects"] == len(release.trajectories)
    suppressed = report["suppressed"]
    if share == radius == 0.0:
        assert suppressed is None
        return
    assert suppressed["outliers"] <= int(share * n + 1e-9)
    left_out = suppressed["outliers"] + suppressed["in_tight_groups"]
    assert len(suppressed["rows"]) == left_out == n - report["n"]
    assert (suppressed["with_outliers"] is None) == (suppressed["outliers"] == 0)
    if suppressed["outliers"] and not suppressed["in_tight_groups"]:
        with_them = suppressed["with_outliers"]["displacement_of_others"]["mean"]
        assert report["displacement"]["mean"] < with_them
    kept = trajectories.take(np.setdiff1d(np.arange(n), suppressed["rows"]))
    lines = {line.tobytes() for line in release.trajectories.points}
    means = np.array([kept.points[labels == one].mean(axis=0) for one in range(labels.max() + 1)])
    released = np.round(means, 7)
    assert {line.tobytes() for line in released} == lines
    assert not (too_tight(kept.points, labels, released, radius).any() and radius)
    moved = displacement(kept.points, released[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean())


def test_outliers_are_what_costs_most() -> None:
    points = walks(60).points.copy()
    points[[7, 31]] += np.array([[[0.3, 0.0]], [[0.0, 0.4]]])
    trajectories = Trajectories(points=points)
    release = trajanon.anonymize(trajectories, 3, suppress=2 / 60)
    suppressed = release.report["suppressed"]
    assert suppressed["rows"] == [7, 31]
    with_them = trajanon.anonymize(trajectories, 3).report
    before = suppressed["with_outliers"]
    assert before["information_loss"] == with_them["information_loss"]
    assert before["displacement"] == pytest.approx(with_them["displacement"])
    assert release.report["displacement"]["mean"] < before["displacement_of_others"]["mean"]
    mean = suppressed["with_outliers"]["displacement"]["mean"]
    assert release.report["displacement"]["mean"] < mean / 2


def one_far_away() -> Trajectories:
    """Seven windows of one subject on another continent, among walks at home."""
    home = walks(60)
    points = home.points.copy()
    points[10:17] += np.array([-30.0, 60.0]) + 0.01 * np.arange(7)[:, None, None]
    subject = home.subject
    assert subject is not None
    subject[10:17] = 99
    return replace(home, points=points)


@pytest.mark.usefixtures("few_moves")
def test_one_far_away_is_left_out_and_not_those_who_joined_him() -> None:
    trajectories = one_far_away()
    wide = trajanon.anonymize(trajectories, 4).report["wide"]
    assert wide["groups"] >= 1
    assert 6.5e6 < wide["span"] < 7e6
    assert (wide["trajectories"], wide["subjects"], wide["share"]) == (7, 1, 0.12)
    report = trajanon.anonymize(trajectories, 4, suppress=wide["share"]).report
    assert report["suppressed"]["rows"] == list(range(10, 17))
    assert report["wide"] is None
    assert report["displacement"]["mean"] < 5_000


def test_wide_groups_of_too_many_have_no_way_out_by_suppression() -> None:
    points = np.repeat(np.arange(8.0), 2)[:, None, None] + 1e-3 * np.arange(4).reshape(2, 2)
    found = wide_groups(points, np.arange(16) // 4, 4, np.repeat(np.arange(4), 4))
    assert found is not None
    assert found["groups"] == 4
    assert found["share"] is found["trajectories"] is found["subjects"] is None


def test_wide_groups_name_as_many_subjects_as_there_are() -> None:
    """Also where k counts records, which may be of one; none where none is known."""
    line = np.array([40.0, -3.7]) + 0.01 * np.arange(4)[:, None]
    points = line + np.random.default_rng(0).normal(0, 1e-4, (20, 1, 2))
    points[[0, 5]] += np.array([-30.0, 60.0])
    labels, one = np.arange(20) // 5, np.zeros(20, dtype=np.int64)
    found = wide_groups(points, labels, 4, one, counts_subjects=False)
    assert found is not None
    assert (found["trajectories"], found["subjects"]) == (2, 1)
    unknown = wide_groups(points, labels, 4, None)
    assert unknown == found | {"subjects": None}


def test_nobody_is_left_out_if_the_others_gain_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppression, "_gains", lambda *_: False)
    write_trajectories("trajectories.parquet", walks(60))
    answer = run("anonymize", "-k", "3", "--effort", "fast", "--suppress", "5%")
    assert answer.code == 0
    assert "Nothing was left out for its cost: without the 3 that cost" in answer.out
    report = read_report(Path("anonymized.parquet"))
    assert report["n"] == 60
    suppressed: Any = report["suppressed"]
    assert suppressed["declined"] == 3
    assert suppressed["rows"] == []


def test_the_screen_names_the_command_that_mends_wide_groups(run: Run) -> None:
    write_trajectories("trajectories.parquet", one_far_away())
    said = run("anonymize", "-k", "4", "--effort", "fast").out
    assert "farther apart than they are long, by up to 6," in said
    assert "due to 7 trajectories of 1 subject" in said
    command = said.partition("repeat the command with ")[2].split("\n")[0]
    assert command == "--suppress 12%"
    said = run("anonymize", "-k", "4", "--effort", "fast", *command.split()).out
    assert "farther apart" not in said


def test_wide_groups_of_trips_are_of_trips(run: Run) -> None:
    trips = replace(one_far_away(), provenance={"trips": True})
    write_trajectories("trajectories.parquet", trips)
    said = run("anonymize", "-k", "4", "--effort", "fast").out
    assert "trips that are farther apart than they are long" in said
    assert "due to 7 trips of 1 subject" in said
    said = run("check", "-k", "4", "--trajectories", "trajectories.parquet").out
    assert "different trips occurs at least 4 times" in said


@pytest.mark.usefixtures("plain_means")
def test_a_tight_group_is_left_out_with_all_its_members() -> None:
    points = walks(40).points.copy()
    points[3:9] = points[3] + np.random.default_rng(0).normal(0, 1e-6, (6, 4, 2))
    release = trajanon.anonymize(Trajectories(points=points), 3, min_radius=5.0)
    assert set(release.report["suppressed"]["rows"]) <= set(range(3, 9))
    assert release.report["suppressed"]["in_tight_groups"] >= 3
    assert release.report["stages"][-1]["name"] == "suppression"
    loss = release.report["stages"][-1]["information_loss"]
    assert release.report["information_loss"] == pytest.approx(loss, rel=1e-6)


def test_map_and_evaluation_know_who_was_left_out(madrid: Trajectories) -> None:
    release = trajanon.anonymize(madrid, 4, suppress=0.05, min_radius=30.0, effort="fast")
    suppressed = release.report["suppressed"]
    assert suppressed["outliers"] == 20
    assert release.report["alignment"] is not None
    n = release.report["n"]
    assert len(release.report["alignment"]["starts"]) == n
    found = evaluate(madrid, release.trajectories, release.report)
    assert found.trajectories == n
    assert found.holds
    page = maps.compare(madrid, release.trajectories, release.report).get_root()
    assert f'"originals":{n}' in page.render().replace(" ", "")


def test_two_releases_are_compared_by_what_both_hold(tmp_path: Path) -> None:
    trajectories = walks(40)
    for name, share in (("one", 0.0), ("two", 0.1)):
        release = trajanon.anonymize(trajectories, 3, suppress=share, effort="fast")
        release.write(tmp_path / f"{name}.parquet")
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    told = [
        trajanon.check(a, 3, trajectories=trajectories, against=b).problems
        for a, b in ((one, two), (two, one))
    ]
    assert told[0] == told[1]
    assert "of 36 trajectories are in two groups" in told[0][0]


def test_nothing_left_is_refused() -> None:
    trajectories = walks(30)
    with pytest.raises(BadInput, match=r"all groups lie within 1e\+06 m: lower"):
        trajanon.anonymize(trajectories, 3, min_radius=1e6, effort="fast")
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(BadInput, match="`suppress` must be a number from 0 to below 1"):
            trajanon.anonymize(trajectories, 3, suppress=share)
    for radius in (-1.0, float("inf"), float("nan")):
        with pytest.raises(BadInput, match="`min_radius` must be a number from 0 on"):
            trajanon.anonymize(trajectories, 3, min_radius=radius)


def test_the_command_line_leaves_out(run: Run) -> None:
    write_trajectories("trajectories.parquet", walks(60))
    given = ("anonymize", "-k", "3", "--effort", "fast")
    answer = run(*given, "--suppress", "5%", "--min-radius", "40")
    assert answer.code == 0
    assert "Left out as outliers" in answer.out
    assert "Information loss with them" in answer.out
    assert "Left out in groups within 40 m" in answer.out
    for value in ("5", "a lot", "%"):
        says = f"--suppress must be a percentage below 100%, such as 1% (got '{value}')"
        assert says in run(*given, "--suppress", value).sentence
    assert "below 100%" in run(*given, "--suppress", "100%").sentence
    write_parts(Path("trips"), walks(60))
    with shards_of(30):
        answer = run("anonymize", "trips", "-k", "3", "--suppress", "1%")
    assert "--suppress and --min-radius need all trajectories at once" in answer.sentence


@pytest.mark.usefixtures("few_moves")
@pytest.mark.parametrize("task", ["Moving records", "Annealing", "Sliding windows"])
def test_ctrl_c_drops_nothing_that_was_asked_for_privacy(task: str) -> None:
    """The share is left out of the groups so far, and so are groups too tight."""
    trajectories = town(11, 60, 3, people=9)
    how: Any = {"suppress": 0.2, "min_radius": 50.0}
    stop = Interrupting(1, {task})
    release = trajanon.anonymize(trajectories, 3, **how, progress=stop)
    report, labels = release.report, np.array(release.report["labels"])
    assert report["stopped"]
    suppressed = report["suppressed"]
    assert suppressed["outliers"] == 12
    assert suppressed["in_tight_groups"] > 0
    assert report["n"] == len(labels) == 60 - len(suppressed["rows"])
    kept = trajectories.take(np.setdiff1d(np.arange(60), suppressed["rows"]))
    assert naive.holds(labels, kept.subject, 3)
    # In the second search, it is the aligned groups of the first that stay.
    assert report["alignment_skipped"] == (task == "Moving records")
    assert (report["alignment"] is None) == report["alignment_skipped"]
    if report["alignment"] is not None:
        kept = kept.slid(np.array(report["alignment"]["starts"]))
    lines = loss.group_means(kept.records, labels).reshape(-1, 3, 2)
    assert not too_tight(kept.points, labels, lines, 50.0).any()
    assert evaluate(trajectories, release.trajectories, report).holds


def test_members_of_broken_groups_join_the_nearest_group() -> None:
    records = np.array([[0.0], [1.0], [9.0], [10.0], [4.0], [20.0]])
    subjects = np.array([0, 1, 2, 3, 4, 5])
    labels = np.array([0, 0, 1, 1, 2, 3])
    assert mended(problem(records, 2, subjects), labels).tolist() == [0, 0, 1, 1, 0, 1]
    alone = np.arange(6)
    assert mended(problem(records, 2, subjects), alone).tolist() == [0] * 6


def test_the_screen_says_what_ctrl_c_skipped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(REFINEMENTS, "anneal", interrupted)
    write_trajectories("trajectories.parquet", town(11, 60, 3, people=9))
    answer = run("anonymize", "-k", "3", "--suppress", "20%")
    assert answer.code == 0
    assert STOPPED in answer.out
    assert NOT_ALIGNED in answer.out
    assert "Left out as outliers" in answer.out
    checked = run("check", "-k", "3", "--trajectories", "trajectories.parquet")
    assert checked.code == 0
