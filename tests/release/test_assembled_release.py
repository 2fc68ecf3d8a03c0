"""Lines of groups become rows: measured, counted, ordered, and refused if they lie too far off."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from commands import Run
from madrid_walks import walks_in_madrid
from shards import shards_of, write_parts

import trajanon
from trajanon.common.errors import BadInput
from trajanon.files.trajectory_files import write_trajectories
from trajanon.release.assembled_release import released_words
from trajanon.release.plan import Plan
from trajanon.trajectories.trajectories import Trajectories, attribution_as_published

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


@pytest.mark.parametrize(
    ("options", "counts_people", "words"),
    [
        ({}, True, {"attribution": "the town", "counted": "subjects"}),
        ({}, False, {"attribution": "the town"}),
        ({"rows": "lines"}, False, {"attribution": "the town", "rows": "lines"}),
        ({"as_published": True}, False, {"attribution": attribution_as_published("the town")}),
    ],
)
def test_a_file_says_whom_it_counts_and_nothing_else(
    options: Any, counts_people: bool, words: dict[str, str]
) -> None:
    assert released_words(Plan.of(options), "the town", counts_people=counts_people) == words


def test_a_line_of_fewer_than_k_who_have_a_name_is_counted() -> None:
    """The two recordings without a name count as one person, but may be of the others."""
    points = 40.0 + np.repeat([0.0, 0.01, 0.5], [4, 4, 4])[:, None, None] + np.zeros((12, 3, 2))
    points[..., 1] += np.linspace(0.0, 0.1, 3)
    names: Any = [*"abcd", *"efg", None, *"hij", None]
    trips = Trajectories(points, names, trace=np.arange(12), provenance={"trips": True})
    report = trajanon.anonymize(trips, 4, effort="fast", distinct_ends=1).report
    assert report["lines"] == 3
    assert report["lines_of_few_named"] == 2

    everybody = replace(trips, subject=np.arange(12), provenance={"trips": True})
    report = trajanon.anonymize(everybody, 4, effort="fast", distinct_ends=1).report
    assert "lines_of_few_named" not in report


def test_groups_with_equal_lines_share_one_and_each_person_has_one_row_on_it() -> None:
    points = np.tile(np.array([[40.0, 2.0], [40.05, 2.0]]), (8, 1, 1))
    people = np.array([0, 1, 2, 3, 0, 1, 2, 4])
    report = trajanon.anonymize(Trajectories(points, people), 2, as_published=True).report
    assert (report["groups"], report["lines"]) == (4, 1)
    assert len(set(report["line_keys"])) == 1
    release = trajanon.anonymize(Trajectories(points, people), 2, effort="fast")
    rows = np.unique(release.trajectories.records, axis=0, return_counts=True)[1]
    assert rows.sum() == len(release.trajectories) == release.report["rows"]["subjects"]
