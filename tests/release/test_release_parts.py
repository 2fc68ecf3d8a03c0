"""Releases in parts beside their originals: evaluated, drawn and checked as a file is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from commands import Run
from parts_of_release import write_in_parts, write_shards
from shards import write_parts

import trajanon
from trajanon.release.release import Release, on_disk
from trajanon.release.report_files import json_report
from trajanon.trajectories.trajectories import Trajectories


@pytest.fixture(scope="module")
def windows(madrid: Trajectories) -> Trajectories:
    return madrid.take(np.arange(100))


@pytest.fixture(scope="module")
def release(windows: Trajectories) -> Release:
    """Windows that slid, on grids, with times."""
    release = trajanon.anonymize(windows, 4, method="mdav", refine="none", times="of-day")
    release.report["chains"] = None  # for which it must not be published
    return release


@pytest.fixture(scope="module", autouse=True)
def _few_tried() -> Iterator[None]:
    """Patient attacks try five groups: 200 take seconds."""
    with patch("trajanon.evaluation.attacks.shared_by_attacks_with_tracks.TARGETS_TRIED", 5):
        yield


@pytest.fixture(scope="module")
def of_file(windows: Trajectories, release: Release) -> dict[str, Any]:
    """What evaluate says of the release as a file."""
    with on_disk(release) as path:
        findings = trajanon.check(path, 4)
    evaluation = trajanon.evaluate(windows, release, findings=findings, curve=(2, 4, 10))
    account: dict[str, Any] = json.loads(json_report(evaluation.account))
    del account["file"]
    return account


@pytest.fixture
def folders(run: Run, tmp_path: Path, windows: Trajectories, release: Release) -> Path:
    """Trips, their release as a file, and as the parts of several shards."""
    write_parts(tmp_path / "trips", windows, 40)
    release.write(tmp_path / "file.parquet")
    return write_shards(tmp_path / "folder", release, rows=40)


def evaluated(run: Run, released: str) -> dict[str, Any]:
    answer = run("evaluate", "trips", released, "--json")
    assert answer.code == 0
    account: dict[str, Any] = json.loads(answer.out)
    assert account.pop("file") == released
    return account


def drawn(run: Run, released: str) -> str:
    assert run("map", "trips", released, "--offline", "--out", "map.html").code == 0
    page = Path("map.html").read_text("utf-8").replace(f'"{Path(released).stem}"', "name")
    return re.sub("map_[0-9a-f]+", "map", page)


def test_a_release_of_one_shard_is_evaluated_and_drawn_as_a_file(
    run: Run, folders: Path, release: Release, of_file: dict[str, Any]
) -> None:
    write_in_parts(folders.with_name("one"), release, rows=40)
    assert evaluated(run, "one") == of_file
    assert drawn(run, "one") == drawn(run, "file.parquet")
    assert Path("one.parts.datasheet.md").exists()
    certified = ("--certificate", "one.parts.certificate.json")
    assert run("check", "one", "-k", "4", *certified).code == 0
    assert run("check", "one", "-k", "4", "--trajectories", "trips").code == 0


def test_so_is_one_of_several_shards(run: Run, folders: Path, of_file: dict[str, Any]) -> None:
    assert evaluated(run, "folder") == of_file
    assert run("map", "trips", "folder", "--offline").code == 0
    for against in ("file.parquet", "folder"):
        beside = ("--trajectories", "trips", "--against", against)
        assert run("check", "folder", "-k", "4", *beside).code == 0
    told = run("check", "folder", "-k", "30", "--trajectories", "trips", "--against", "folder").out
    assert "fewer than 30 different subjects" in told
