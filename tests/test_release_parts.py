"""Releases in parts beside their originals: evaluated, drawn and checked as a file is."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from parts_of_release import write_in_parts, write_shards

import trajanon
from trajanon.evaluation import areas
from trajanon.evaluation.areas import COUNTED_OF_ALL, interval
from trajanon.files.report import read_report
from trajanon.files.trajectory_files import write_partition
from trajanon.maps import drawing
from trajanon.maps.drawing import match, release_and_originals, sample_and_counts
from trajanon.privacy.originals import in_parts
from trajanon.release import Release, json_report, on_disk
from trajanon.trajectories import Trajectories

METRES = {"mean": 1.0, "median": 1.0, "p95": 1.0, "max": 1.0}
REPORT: dict[str, Any] = {
    "notice": "",
    "n": 6,
    "k": 2,
    "information_loss": 1.0,
    "stages": [],
    "labels": [0] * 6,
    "displacement": METRES,
}


@pytest.fixture(scope="module")
def windows(madrid: Trajectories) -> Trajectories:
    return madrid.take(np.arange(150))


@pytest.fixture(scope="module")
def release(windows: Trajectories) -> Release:
    """Windows that slid, on grids, with times."""
    release = trajanon.anonymize(windows, 4, method="mdav", refine="none", times="of-day")
    release.report["chains"] = None  # for which it must not be published
    return release


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
    (tmp_path / "trips").mkdir()
    write_partition(tmp_path / "trips", [windows], windows.provenance, 40)
    release.write(tmp_path / "file.parquet")
    return write_shards(tmp_path / "folder", release, rows=60)


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
    write_in_parts(folders.with_name("one"), release, rows=60)
    assert evaluated(run, "one") == of_file
    assert drawn(run, "one") == drawn(run, "file.parquet")
    assert Path("one.parts.datasheet.md").exists()
    certified = ("--certificate", "one.parts.certificate.json")
    assert run("check", "one", "-k", "4", *certified).code == 0
    assert run("check", "one", "-k", "4", "--trajectories", "trips").code == 0


def test_so_is_one_of_several_shards_that_is_small(
    run: Run, folders: Path, of_file: dict[str, Any]
) -> None:
    assert evaluated(run, "folder") == of_file
    assert run("map", "trips", "folder", "--offline").code == 0
    for against in ("file.parquet", "folder"):
        assert run("check", "folder", "-k", "4", "--against", against).code == 0
    told = run("check", "folder", "-k", "30", "--trajectories", "trips", "--against", "folder").out
    assert "fewer than 30 different subjects" in told


def test_of_a_large_one_a_sample_is_evaluated_and_all_are_counted(
    run: Run, folders: Path, of_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajanon.privacy.originals._AT_ONCE", 35)
    beside = ("check", "folder", "--trajectories", "trips", "-k")
    checked_whole = [run(*beside, k) for k in ("4", "30")]
    monkeypatch.setattr("trajanon.privacy.originals.LARGEST", 100)
    assert [run(*beside, k) for k in ("4", "30")] == checked_whole
    monkeypatch.setattr(areas, "OF_AREA", 50)
    monkeypatch.setattr(areas, "AREAS", 2)
    sampled, whole = evaluated(run, "folder"), of_file
    for name in {*COUNTED_OF_ALL} & {*whole}:
        assert sampled[name] == whole[name], name
    for name, what in (("chains", "drives"), ("persons", "people")):
        for counted in (what, f"{what}_below", f"{what}_alone"):
            assert sampled[name][counted] == whole[name][counted]
    told = sampled["sample"]
    assert (told["areas"], told["of_areas"]) == (2, 4)
    assert 60 < told["trajectories"] < 90
    for attack in sampled["attacks"]:
        low, high = attack["interval"]
        assert 0.0 <= low <= attack["expected"] <= high <= 1.0
    assert any("All else is from a sample" in said for said in sampled["facts"])
    page = Path("evaluation.html").read_text("utf-8")
    assert "<h2>Figures from a sample</h2>" in page
    assert ", of a sample of" in Path("folder.parts.datasheet.md").read_text("utf-8")


def test_of_a_large_one_some_groups_are_drawn_and_all_are_counted(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut, report = trajanon.read_trajectories("trips"), read_report(folders)
    released = match(cut, trajanon.read_release(folders), report)
    whole = release_and_originals(*released)
    monkeypatch.setattr("trajanon.privacy.originals._AT_ONCE", 35)
    monkeypatch.setattr(drawing, "_POINTS", 60 * 30)
    some = sample_and_counts(in_parts(Path("trips"), folders, report))
    assert 10 < len(some.about["groups"]["number"]) < len(whole.about["groups"]["number"])
    assert "Drawn at random: " in some.about["drawn"]
    for name in ("facts", "total"):
        assert some.about[name] == whole.about[name], name
    for name in ("originals", "groups", "released"):
        assert some.about["departures"][name] == whole.about["departures"][name], name
    moved = [
        [each.about["groups"]["moved"][at] for at in each.about["worst"]] for each in (some, whole)
    ]
    assert moved[0] == moved[1]
    for name in ("density-originals", "density-released"):
        cells, all_cells = (
            sum(cell[2] for cell in each.layers[name]["cells"]) for each in (some, whole)
        )
        assert cells == all_cells == cut.points.size / 2
    monkeypatch.setattr("trajanon.privacy.originals.LARGEST", 100)
    assert "Drawn at random: " in drawn(run, "folder")


def test_intervals_hold_what_all_areas_tell() -> None:
    """Of 400 samples of ten areas some 95 % must."""
    random = np.random.default_rng(0)
    level = random.normal(0.3, 0.1, 200).clip(0, 1)
    values = (random.uniform(size=(200, 50)) < level[:, None]).astype(float)
    area, held = np.repeat(np.arange(10), 50), 0
    for _ in range(400):
        some = values[random.choice(200, 10, replace=False)]
        low, high = interval(some.ravel(), area)
        held += low <= values.mean() <= high
    assert 0.92 < held / 400 < 0.98
