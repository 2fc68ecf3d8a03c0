"""Two releases of the same trajectories: what they show together."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from held_releases import held
from plain import unmoved
from planted import UNTIMED, K, written
from reports import UNMOVED

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import TimesName
from trajanon.evaluation.evaluation import evaluate
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.release.originals import matched
from trajanon.release.report import digest_of
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


def test_what_two_releases_tell_together_is_counted(tmp_path: Path) -> None:
    """Counted again below, pair by pair."""
    now, before = tmp_path / "now", tmp_path / "before"
    now.mkdir()
    before.mkdir()
    trajectories = held(now)
    held(before, "mdav")
    labels = [
        json.loads((folder / "r.report.json").read_text(encoding="utf-8"))["labels"]
        for folder in (now, before)
    ]
    assert labels[0] != labels[1]
    pairs = list(zip(*labels, strict=True))
    whose = trajectories.subject
    assert whose is not None
    people = [
        len({w for w, other in zip(whose, pairs, strict=True) if pair == other}) for pair in pairs
    ]
    found = trajanon.check(
        now / "r.parquet", K, trajectories=trajectories, against=before / "r.parquet"
    )
    alone = {w for w, c in zip(whose.tolist(), people, strict=True) if c == 1}
    assert found.problems == [
        f"together with earlier releases, {sum(c < K for c in people)} of 30 "
        "trajectories are in groups that have fewer than 4 different subjects in "
        f"common; {sum(c == 1 for c in people)} of them have no other subject's beside "
        f"them ({len(alone)} subjects)"
    ]
    again = now / "r.parquet"
    same = trajanon.check(again, K, trajectories=trajectories, against=again)
    assert same.holds


@pytest.mark.usefixtures("plain_means")
def test_what_one_of_two_releases_left_out_is_told_by_their_difference(tmp_path: Path) -> None:
    """A mean of five and one of four of them give the fifth, to some centimetres."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (9, 3, 2))
    subject = np.array([0, 1, 2, 3, 4, 0, 1, 2, 3])
    now, before = tmp_path / "now.csv", tmp_path / "before.csv"
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    kept = np.arange(9) != 4
    lines = []
    for path, rows, left_out in ((now, np.arange(9), []), (before, kept, [4])):
        some, of = points[rows], labels[rows]
        means = np.stack([some[of == group].mean(axis=0) for group in (0, 1)])
        lines.append(np.round(means, 7))
        written(path, lines[-1][np.random.default_rng(1).permutation(of)])
        report = told_of(some, lines[-1], of)
        report["suppressed"] = {"rows": left_out}
        path.with_suffix(".report.json").write_text(json.dumps(report))
    told = 5 * lines[0][0] - 4 * lines[1][0]
    np.testing.assert_allclose(told, points[4], rtol=0, atol=1e-6)
    says = [
        "1 trajectory is in a group of one release and left out of others "
        "together with fewer than 4 different subjects: the difference of the releases may tell "
        "where they went"
    ]
    held = Trajectories(points, subject=subject)
    for one, other in ((now, before), (before, now)):
        found = trajanon.check(one, K, trajectories=held, against=other).problems
        assert found == says


def test_the_earlier_release_must_belong_to_the_originals_too(tmp_path: Path) -> None:
    """Groups of other trajectories, equal in number and sizes, would tell nothing."""
    rng = np.random.default_rng(0)
    for name in ("now", "other"):
        points = rng.uniform((40, -4), (41, -3), (8, 3, 2))
        held = Trajectories(points, subject=np.arange(8))
        trajanon.anonymize(held, K).write(tmp_path / f"{name}.csv")
    paths = tmp_path / "other.csv", tmp_path / "now.csv"
    assert trajanon.check(paths[0], K, trajectories=held, against=paths[0]).holds
    with pytest.raises(BadInput, match=r"now\.csv: these .* do not belong together"):
        trajanon.check(paths[0], K, trajectories=held, against=paths[1])


def told_of(points: Floats, lines: Floats, labels: Ints) -> dict[str, Any]:
    """The report of groups, as far as it is read."""
    told = {"n": len(labels), "labels": labels.tolist(), "averaged": digest_of(points, labels)}
    return (
        UNMOVED
        | {"notice": "", "k": 2, "counted": "records"}
        | told
        | {"line_keys": line_keys(lines).tolist()}
    )


def with_equal_lines() -> tuple[Trajectories, trajanon.Release]:
    """A release of three groups, of which rounding made two lines."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (3, 1, 3, 2))
    points[1] = points[0].round(5) + 2e-6
    points[0] = points[1] - 4e-6
    spread = np.array([-3e-7, -1e-7, 1e-7, 3e-7])[:, None, None]
    held = Trajectories((points + spread).reshape(12, 3, 2), subject=np.arange(12))
    with unmoved():
        return held, trajanon.anonymize(held, K, refine="none")


@pytest.mark.parametrize("suffix", UNTIMED)
def test_groups_that_rounding_made_equal_are_counted_and_harmless(
    tmp_path: Path, suffix: str
) -> None:
    held, release = with_equal_lines()
    report = release.report
    assert (report["groups"], report["lines"]) == (3, 2)
    path, before = tmp_path / f"r{suffix}", tmp_path / f"b{suffix}"
    release.write(path)
    with_equal_lines()[1].write(before)
    findings = trajanon.check(path, K, trajectories=held, against=before)
    assert findings.holds
    assert (findings.groups, findings.smallest) == (2, 4)
    read = trajanon.read_release(path)
    found = matched(held, read, checked(report))
    assert np.bincount(found.labels).tolist() == [8, 4]
    assert np.abs(found.lines[found.labels] - held.points).max() < 1e-4
    evidence = evaluate(held, read, report)
    assert evidence.holds
    assert evidence.sizes.tolist() == [8, 4]
    assert matched(checked(report).released_of(held), read, checked(report)).lines.shape == (
        2,
        3,
        2,
    )


def test_the_two_may_be_other_groups_than_before(tmp_path: Path) -> None:
    """Eight who went the same way, in two groups that are not those of before."""
    held, release = with_equal_lines()
    release.write(tmp_path / "r.csv")
    was, labels = np.array(release.report["labels"]), np.array([0, 1] * 4 + [2] * 4)
    keys = np.array(release.report["line_keys"])[was[[0, 1, 8]]].tolist()
    other = release.report | {"labels": labels.tolist()}
    other |= {"line_keys": keys, "averaged": digest_of(held.points, labels)}
    trajanon.Release(release.trajectories, other).write(tmp_path / "b.csv")
    paths = tmp_path / "r.csv", tmp_path / "b.csv"
    assert trajanon.check(paths[0], K, trajectories=held, against=paths[1]).holds


@pytest.mark.usefixtures("plain_means")
def test_several_earlier_releases_tell_more_than_each(tmp_path: Path, run: Run) -> None:
    """Each two have k trajectories in common, and all three one alone."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (32, 3, 2))
    paths = []
    for bit in range(3):
        labels = np.arange(32) // 4 >> bit & 1
        means = np.stack([points[labels == group].mean(axis=0) for group in (0, 1)])
        paths.append(tmp_path / f"{bit}.csv")
        written(paths[-1], np.round(means, 7)[np.random.default_rng(1).permutation(labels)])
        report = told_of(points, np.round(means, 7), labels)
        paths[-1].with_suffix(".report.json").write_text(json.dumps(report))
    held = Trajectories(points, subject=np.arange(32))
    for earlier in paths[1:]:
        assert trajanon.check(paths[0], 8, trajectories=held, against=earlier).holds
    assert trajanon.check(paths[0], 4, trajectories=held, against=paths[1:]).holds
    (found,) = trajanon.check(paths[0], 8, trajectories=held, against=paths[1:]).problems
    assert found.startswith(
        "together with earlier releases, 32 of 32 trajectories are in groups that have "
        "fewer than 8 different subjects in common; "
    )
    trajanon.write_trajectories(tmp_path / "t.parquet", held)
    both = ["--trajectories", tmp_path / "t.parquet"]
    both += [word for path in paths[1:] for word in ("--against", path)]
    assert "earlier releases" in run("check", paths[0], "-k", 8, *both).out
    answer = run("check", paths[0], "-k", 4, *both)
    assert f"also beside {paths[1]} and {paths[2]} no fewer than 4" in answer.out


def test_the_same_groups_under_two_keys_must_not_both_be_published(tmp_path: Path) -> None:
    """Their mean is nearer to the members; one key moves a group in one way."""
    held = trajectories_of_twelve()
    paths = [tmp_path / f"{name}.csv" for name in ("one", "again", "other")]
    for path, key in zip(paths, (KEY, KEY, KEY[::-1]), strict=True):
        trajanon.anonymize(held, K, method="mdav", refine="none", key=key).write(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert trajanon.check(paths[1], K, trajectories=held, against=paths[0]).holds
    findings = trajanon.check(paths[2], K, trajectories=held, against=paths[:2])
    assert len(findings.problems) == 2
    assert f"3 groups are also in {paths[0]}, moved differently" in findings.problems[0]
    assert "publish one of the two releases only" in findings.problems[1]


@pytest.mark.parametrize("times", [None, ("of-day", "of-day"), ("of-day", "of-week")])
def test_a_group_whose_members_or_times_count_differently_is_moved_twice(
    tmp_path: Path, times: tuple[TimesName, TimesName] | None
) -> None:
    """By one key and width: each line has a displacement of its own."""
    points = 41.0 + np.arange(5.0)[:, None, None] * 1e-5 + np.linspace(0.0, 0.05, 4)[:, None]
    points = np.broadcast_to(points, (5, 4, 2))
    minutes = 60.0 * (np.arange(4.0) + 500.0 * np.arange(1.0, 6.0)[:, None])
    held = Trajectories(points, subject=np.arange(5), times=minutes)
    two_names = replace(held, subject=np.array([0, 0, 1, 2, 3]))
    given = (held, two_names) if times is None else (held, held)
    paths: list[Path] = []
    for trajectories, when in zip(given, times or (None, None), strict=True):
        paths.append(tmp_path / f"{len(paths)}.parquet")
        release = trajanon.anonymize(trajectories, K, key=KEY, times=when)
        assert release.report["width"] == 10.0
        release.write(paths[-1])
    found = trajanon.check(paths[1], K, trajectories=held, against=paths[0]).problems
    assert any("moved differently" in problem for problem in found) == (
        given[1] is two_names or times != ("of-day", "of-day")
    )


KEY = bytes(range(32))


def trajectories_of_twelve() -> Trajectories:
    """Three groups of four, far from each other."""
    random = np.random.default_rng(4)
    ways = np.repeat(random.uniform((40, -4), (41, -3), (3, 1, 2)), 4, axis=0)
    along = np.linspace(0.0, 0.05, 5)[:, None]
    points = ways + along + random.normal(0.0, 1e-3, (12, 1, 2))
    return Trajectories(points, subject=np.arange(12))
