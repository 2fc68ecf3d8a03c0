"""Lines of groups become rows: measured, counted, ordered, and refused if they lie too far off."""

from pathlib import Path

import numpy as np
import pyproj
import pytest
from commands import Run
from madrid_walks import walks_in_madrid
from shards import shards_of, write_parts

import trajanon
from trajanon.common.errors import BadInput
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


@pytest.mark.usefixtures("plain_means")
def test_the_displacement_is_that_on_the_ellipsoid() -> None:
    original = walks_in_madrid()
    report = trajanon.anonymize(original, 4).report
    labels = np.array(report["labels"])
    means = np.array([original.points[labels == g].mean(axis=0) for g in labels])
    here, there = original.points.reshape(-1, 2), np.round(means, 7).reshape(-1, 2)
    ellipsoid = pyproj.Geod(ellps="WGS84")
    moved = ellipsoid.inv(here[:, 1], here[:, 0], there[:, 1], there[:, 0])[2]
    expected = {
        "mean": np.mean(moved),
        "median": np.median(moved),
        "p95": np.percentile(moved, 95),
        "max": np.max(moved),
    }
    assert report["displacement"] == pytest.approx(expected, rel=1e-5)


def scattered(n: int) -> Trajectories:
    """Short walks, each in a town of its own."""
    random = np.random.default_rng(0)
    towns = np.stack([random.uniform(-60, 60, n), random.uniform(-150, 150, n)], axis=1)
    points = towns[:, None] + random.normal(0, 0.001, (n, 4, 2))
    return Trajectories(points, np.arange(n) % 20, provenance={"trips": True})


@pytest.mark.parametrize("shards", [1, 2])
def test_points_that_would_move_farther_than_trips_are_long_are_refused(
    run: Run, shards: int
) -> None:
    write_trajectories("trajectories.parquet", scattered(60))
    write_parts(Path("trips"), scattered(60))
    source, out = ("trips", "new") if shards > 1 else ("trajectories.parquet", "new.parquet")
    with shards_of(30):
        answer = run("anonymize", source, "-k", "3", "--effort", "fast", "--out", out)
    assert answer.code == 2
    assert "from where people went on average, and a trip is" in answer.sentence
    assert "lower k (3), add trajectories, or take a smaller area" in answer.sentence
    assert {path.name for path in Path().iterdir()} == {"trajectories.parquet", "trips"}


def test_as_published_refuses_nothing_far() -> None:
    assert trajanon.anonymize(scattered(60), 3, as_published=True).report["groups"] > 0
    with pytest.raises(BadInput, match="smaller area"):
        trajanon.anonymize(scattered(60), 3, effort="fast")
