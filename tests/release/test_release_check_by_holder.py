"""What the holder of the data can check: subjects are counted behind each line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_releases import held
from planted import K

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.trajectory_files import write_trajectories
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


def test_a_group_of_one_subject_is_found_by_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    trajectories = held(tmp_path)
    before = trajanon.check(path, K, trajectories=trajectories)
    assert (before.holds, before.answered) == (True, "people")
    # The members of the first group are one person's, as the holder learns later.
    report = json.loads(path.with_suffix(".report.json").read_text(encoding="utf-8"))
    assert trajectories.subject is not None
    first = np.flatnonzero(np.array(report["labels"]) == 0)
    for people in (1, 3):
        whose = trajectories.subject.copy()
        whose[first] = np.arange(len(first)) % people
        learned = Trajectories(trajectories.points, subject=whose)
        found = trajanon.check(path, K, trajectories=learned).problems
        assert found == [
            "4 records stand behind each line, but not 4 people: 1 of "
            f"{report['groups']} groups hold fewer than 4 different people"
        ]
    alone = trajanon.check(path, K)
    assert (alone.holds, alone.answered) == (True, "rows")


def test_where_nobody_is_named_recordings_are_counted_and_not_people(tmp_path: Path) -> None:
    """Of lines of another program, with a column of recordings: check says what the report says."""
    whole = tmp_path / "trips.parquet"
    trajectories = held(tmp_path)
    write_trajectories(whole, replace(trajectories, subject=None, trace=trajectories.subject))
    unnamed = trajanon.read_trajectories(whole)
    release = trajanon.anonymize(unnamed, K)
    assert not checked(release.report).knows_people
    assert trajanon.check(release, K, trajectories=unnamed).answered == "recordings"


def test_an_earlier_release_without_a_name_is_not_passed_over(tmp_path: Path) -> None:
    trajectories = held(tmp_path)
    with pytest.raises((BadInput, FileProblem)):
        trajanon.check(tmp_path / "r.parquet", K, trajectories=trajectories, against="")
    path: Any = tmp_path / "r.parquet"
    with pytest.raises(BadInput, match="must be what read_trajectories returns, not PosixPath"):
        trajanon.check(path, K, trajectories=path)


def test_earlier_releases_are_compared_beside_their_originals(tmp_path: Path) -> None:
    held(tmp_path)
    with pytest.raises(BadInput, match="`against` needs `trajectories`"):
        trajanon.check(tmp_path / "r.parquet", K, against=tmp_path / "r.parquet")
