"""Faults planted in a release are found by the command that should find them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from toy import crossing, toy

import trajanon
from trajanon.cli.report_tables import show_release
from trajanon.common.errors import BadInput
from trajanon.files.release_formats import write_release
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


def released(tmp_path: Path, source: Trajectories) -> tuple[Path, dict[str, Any]]:
    """A release of pairs, not aligned, with its report beside it."""
    path = tmp_path / "anonymized.parquet"
    release = trajanon.anonymize(source, 2, effort="fast")
    release.write(path)
    return path, release.report


def planted(path: Path, points: Any) -> None:
    """Write other lines into the file; the report stays as it was."""
    write_release(path, Trajectories(points[in_order(points)], provenance={"attribution": None}))


def test_a_line_of_k_less_1_is_found_from_the_file_alone(run: Run, tmp_path: Path) -> None:
    path, _ = released(tmp_path, toy())
    assert trajanon.check(path, 2).holds
    planted(path, trajanon.read_release(path).points[1:])
    findings = trajanon.check(path, 2)
    assert not findings.holds
    assert "occur fewer than 2 times (the rarest 1 time)" in findings.problems[-1]
    assert run("check", path, "-k", 2).code == 1


def test_an_original_inside_is_found_from_the_file_alone(run: Run, tmp_path: Path) -> None:
    """It is a line that nobody shares."""
    path, _ = released(tmp_path, toy())
    points = trajanon.read_release(path).points
    own = np.round(toy().points[:1] + 0.0001, 4)
    planted(path, np.concatenate([points, own]))
    assert any("occur fewer than 2 times" in each for each in trajanon.check(path, 2).problems)
    assert run("check", path, "-k", 2).code == 1


def test_an_original_in_the_place_of_a_line_is_found_by_the_holder(
    run: Run, tmp_path: Path
) -> None:
    """As often as its line: rows alone cannot tell, originals and report can."""
    path, report = released(tmp_path, toy())
    points = trajanon.read_release(path).points
    line = (points == points[0]).all(axis=(1, 2))
    points[line] = np.round(toy().points[0] + 0.0003, 4)
    planted(path, points)
    assert trajanon.check(path, 2).holds
    with pytest.raises(BadInput):
        trajanon.check(path, 2, trajectories=toy())
    with pytest.raises(BadInput):
        trajanon.evaluate(toy(), trajanon.read_release(path), report)
    trajanon.write_trajectories(tmp_path / "t.parquet", toy())
    answer = run("check", path, "-k", 2, "--trajectories", tmp_path / "t.parquet")
    assert "do not belong together" in answer.sentence


def test_a_subject_twice_in_a_group_of_k_is_found_by_the_holder(run: Run, tmp_path: Path) -> None:
    path, report = released(tmp_path, toy())
    labels = np.array(report["labels"])
    people = np.arange(len(labels))
    first, second = np.flatnonzero(labels == 0)[:2]
    people[second] = people[first]
    twice = Trajectories(toy().points, subject=people)
    findings = trajanon.check(path, 2, trajectories=twice)
    assert not findings.holds
    assert "hold fewer than 2 different people" in " ".join(findings.problems)
    evaluation = trajanon.evaluate(twice, trajanon.read_release(path), report)
    assert not evaluation.holds
    assert evaluation.violations["subjects"] == 1
    trajanon.write_trajectories(tmp_path / "t.parquet", twice)
    assert run("check", path, "-k", 2, "--trajectories", tmp_path / "t.parquet").code == 1
    assert run("evaluate", tmp_path / "t.parquet", path).code == 1


def test_a_chain_is_found_by_who_releases_and_by_who_evaluates(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each line stands for two; a drive of two windows for one."""
    release = trajanon.anonymize(crossing(), 2, align=False)
    assert release.report["chains"]["drives_below"] == 4
    show_release(checked(release.report))
    said = capfd.readouterr()
    assert "Windows of one drive lie end to end" in " ".join((said.out + said.err).split())
    assert trajanon.evaluate(crossing(), release).verdict.kind == "stop"


@pytest.mark.usefixtures("far_lines")
def test_pairs_of_windows_are_spoken_of_where_k_is_2(capfd: pytest.CaptureFixture[str]) -> None:
    for k, expected in ((2, True), (4, False)):
        release = trajanon.anonymize(toy(), k)
        show_release(checked(release.report))
        said = capfd.readouterr()
        assert ("With k = 2, each step" in said.out) == expected
        findings = trajanon.evaluate(toy(), release).verdict.findings
        assert ("pairs_of_windows" in [finding.kind for finding in findings]) == expected
