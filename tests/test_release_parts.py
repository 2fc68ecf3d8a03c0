"""Releases in parts beside their originals: evaluated, drawn and checked as a file is."""

import json
import re
from pathlib import Path

import pytest
from commands import Run
from parts_of_release import write_in_parts, write_shards

import trajanon
from trajanon.data import sample
from trajanon.extract.extraction import Extraction
from trajanon.releases import Release
from trajanon.trajectories import Trajectories


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's windows in parts."""
    folder = tmp_path_factory.mktemp("extracted") / "trips"
    Extraction(str(sample()), "madrid").write(folder, partition=100)
    return folder


@pytest.fixture(scope="module")
def release(madrid: Trajectories) -> Release:
    """Windows that slid, on grids, with times."""
    return trajanon.anonymize(madrid, 4, method="mdav", refine="none", times="of-day")


@pytest.mark.parametrize("shards", [False, True])
def test_a_folder_is_evaluated_drawn_and_checked_as_a_file(
    run: Run, trips: Path, release: Release, madrid: Trajectories, shards: bool
) -> None:
    """Also where groups stand beside it, and not in the report."""
    folder, file = Path("folder"), Path("file.parquet")
    release.write(file)
    if shards:
        write_shards(folder, madrid, release)
    else:
        write_in_parts(folder, release)
    accounts, maps = [], []
    for each in (folder, file):
        assert run("evaluate", trips, each).code == 0
        accounts.append(json.loads(Path("evaluation.json").read_text("utf-8")))
        assert accounts[-1].pop("file") == each.name
        assert run("map", trips, each, "--offline", "--out", "map.html").code == 0
        page = Path("map.html").read_text("utf-8").replace(f'"{each.stem}"', "name")
        maps.append(re.sub("map_[0-9a-f]+", "map", page))
        assert run("check", each, "-k", "4", "--trajectories", trips, "--against", each).code == 0
        assert run("check", each, "-k", "4", "--against", file).code == 0
    assert accounts[0] == accounts[1]
    assert shards or maps[0] == maps[1]
    assert Path("folder.parts.datasheet.md").exists()
    other = run("check", folder, "-k", "40", "--trajectories", trips)
    assert "fewer than 40 different subjects" in other.out
