"""trajanon map: its views, with and without tiles."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run

from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories import Trajectories

FAST = ("--method", "mdav", "--refine", "none")


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    """A folder with trajectories and a release of them."""
    rng = np.random.default_rng(0)
    start = np.array([40.4, -3.7]) + rng.normal(0, 0.01, (20, 1, 2))
    points = start + np.cumsum(rng.normal(0, 0.001, (20, 30, 2)), axis=1)
    write_trajectories(tmp_path / "trajectories.parquet", Trajectories(points.round(7)))
    assert run("anonymize", "-k", 2, *FAST).code == 0
    return tmp_path


def page(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="trajanon-page">(.*?)</script>', text)
    assert found is not None
    said: dict[str, Any] = json.loads(found[1])
    return said


@pytest.mark.parametrize("view", ["overlay", "side-by-side"])
def test_a_view_is_that_of_the_page(run: Run, here: Path, view: str) -> None:
    assert run("map", "--view", view).code == 0
    assert page(here / "map.html")["view"] == view


def test_an_offline_map_is_one_without_tiles(run: Run, here: Path) -> None:
    assert run("map").code == 0
    assert "tile.openstreetmap.org" in (here / "map.html").read_text("utf-8")
    for arguments in (["--offline"], ["--tiles", "none"], ["--offline", "--tiles", "None"]):
        assert run("map", *arguments).code == 0
        text = (here / "map.html").read_text("utf-8")
        assert "tile.openstreetmap.org" not in text
        assert "default-src 'none'" in text
