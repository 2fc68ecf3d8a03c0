"""Lines on grids of their groups' widths: what is promised of them, and that they are found."""

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive_sliding import town
from shards import groups_told, walks, write_folder

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.evaluation.curve import options_in
from trajanon.files.release_lines import as_written
from trajanon.files.report import checked
from trajanon.loss import group_means, loss_to
from trajanon.parts.workflow import anonymize_parts
from trajanon.privacy.originals import matched
from trajanon.rounding import grid_steps
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

pytestmark = pytest.mark.usefixtures("few_moves")
UNIT = 1e-4
MOST = (32, 64)
ELLIPSOID = pyproj.Geod(ellps="WGS84")


def means_of(points: Floats, labels: Ints) -> Floats:
    return group_means(points.reshape(len(points), -1), labels).reshape(-1, *points.shape[1:])


def naive_metres(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    return float(ELLIPSOID.inv(lon, lat, other_lon, other_lat)[2])


@given(
    seed=st.integers(0, 10**6),
    spread=st.floats(-8, 0).map(lambda power: 10.0**power),
    latitude=st.floats(-80, 80),
)
def test_a_step_is_the_largest_that_is_no_longer_than_the_group_is_wide(
    seed: int, spread: float, latitude: float
) -> None:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [2, 3, 4])
    points = np.array([latitude, 20.0]) + spread * random.normal(size=(9, 3, 2))
    lines = means_of(points, labels)
    for group, steps in enumerate(grid_steps(points, lines, labels)):
        line = lines[group]
        away = [
            naive_metres(*point, *line[place])
            for one in points[labels == group]
            for place, point in enumerate(one)
        ]
        width, (lat, lon) = np.mean(away), line.mean(axis=0)
        sides = (
            naive_metres(lat - UNIT / 2, lon, lat + UNIT / 2, lon),
            naive_metres(lat, lon - UNIT / 2, lat, lon + UNIT / 2),
        )
        for step, metres, most in zip(steps, sides, MOST, strict=True):
            assert step in {2**power for power in range(7)}
            assert step <= most
            # Far apart, a plane is not the ellipsoid.
            assert step == 1 or step * metres < 1.01 * width
            assert step == most or 2 * step * metres > 0.99 * width


def test_groups_at_the_ends_of_the_earth_and_without_width_have_grids() -> None:
    equal, labels = np.full((4, 3, 2), 45.0), np.zeros(4, dtype=np.int64)
    assert grid_steps(equal, means_of(equal, labels), labels).tolist() == [[1, 1]]
    pole = np.full((4, 3, 2), 90.0)
    pole[:2, :, 0] = 89.0
    steps = grid_steps(pole, means_of(pole, labels), labels)
    assert steps.tolist() == [[32, 64]]
    ends = np.array([[[90.0, 180.0], [-90.0, -180.0]]])
    assert np.array_equal(as_written(ends, None, steps), ends)


@given(
    means=arrays(float, (2, 3, 2), elements=st.floats(-90, 90)),
    powers=st.tuples(st.integers(0, 5), st.integers(0, 6)),
)
def test_a_line_is_written_at_the_nearest_place_of_its_grid(
    means: Floats, powers: tuple[int, int]
) -> None:
    steps = 2 ** np.array([powers, powers[::-1]]).clip(0, 5)
    lines = as_written(means, None, steps)
    assert np.array_equal(lines, np.round(lines, 4))
    assert not np.signbit(lines[lines == 0.0]).any()
    units = np.round(lines / UNIT).astype(np.int64)
    assert not (units % steps[:, None, :]).any()
    assert (np.abs(lines - means) < (steps[:, None, :] / 2 + 1e-3) * UNIT).all()
    assert (np.abs(lines) <= 90.0).all()
    # Rounding once more, as a file is rewritten, changes nothing.
    assert np.array_equal(as_written(lines, None, steps), lines)
    assert np.array_equal(as_written(lines, 4), lines)


def test_a_mean_half_way_is_rounded_alike_however_it_was_computed() -> None:
    steps = np.array([[4, 8]])
    half = np.array([[[40.0002, -3.7012], [40.0006, -3.7004]]])
    ways = [as_written(half + noise, None, steps) for noise in (-1e-13, 0.0, 1e-13)]
    assert all(np.array_equal(ways[0], way) for way in ways)


@pytest.mark.parametrize("align", [False, True])
def test_what_is_reported_is_of_the_lines_as_written(tmp_path: Path, align: bool) -> None:
    original = town(5, 40, 4, people=12)
    release = trajanon.anonymize(original, 3, align=align, effort="fast")
    report, labels = release.report, np.array(release.report["labels"])
    slid = original
    if align:
        slid = original.slid(np.array(report["alignment"]["starts"]))
    means = means_of(slid.points, labels)
    steps = np.array(report["steps"])
    assert np.array_equal(steps, grid_steps(slid.points, means, labels))
    assert steps.max() > 1
    lines = as_written(means, None, steps)
    told = {line.tobytes() for line in release.trajectories.points}
    assert {line.tobytes() for line in lines} == told
    moved = displacement(slid.points, lines[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean())
    lost = loss_to(slid.records, lines.reshape(len(lines), -1)[labels])
    assert report["information_loss"] == pytest.approx(lost)
    assert report["information_loss"] > report["stages"][-1]["information_loss"]
    release.write(tmp_path / "r.parquet")
    assert trajanon.check(tmp_path / "r.parquet", 3, trajectories=original).holds
    assert trajanon.rewrite(tmp_path / "r.parquet", tmp_path / "c.parquet", 3, digits=7).holds
    again = trajanon.read_release(tmp_path / "c.parquet")
    assert {line.tobytes() for line in again.points} == told


@pytest.mark.parametrize("steps", [[], [[1, 1]], [[1]], [[3, 1]], [[0, 1]], [[128, 1]], [[-1, 1]]])
def test_grids_that_no_release_has_are_refused(steps: list[list[int]]) -> None:
    original = town(5, 20, 4, people=12)
    release = trajanon.anonymize(original, 3, align=False, effort="fast")
    groups = release.report["groups"]
    assert groups > 1
    told: Any = release.report | {"steps": steps if steps == [[1, 1]] else steps * groups}
    with pytest.raises(BadInput, match="do not belong together"):
        matched(original, release.trajectories, checked(told))


def test_a_report_of_before_the_grids_has_plain_decimals() -> None:
    original = town(5, 20, 4, people=12)
    release = trajanon.anonymize(original, 3, align=False, effort="fast", digits=4)
    del release.report["steps"]
    found = matched(original, release.trajectories, checked(release.report))
    assert np.array_equal(found.lines, np.round(found.lines, 4))


@pytest.mark.parametrize("digits", [None, 4, 6])
def test_a_release_is_made_again_as_it_was(digits: int | None) -> None:
    release = trajanon.anonymize(town(5, 20, 4), 3, digits=digits, effort="fast")
    assert options_in(checked(release.report))["digits"] == digits


def test_parts_are_written_as_files_are(tmp_path: Path) -> None:
    points = walks(120)
    source = write_folder(tmp_path / "trips", points)
    with groups_told() as groups:
        report = anonymize_parts(str(source), str(tmp_path / "out"), 3, effort="fast")
    labels = np.unique(groups.labels, return_inverse=True)[1]
    means = means_of(points, labels)
    steps = grid_steps(points, means, labels)
    kinds, counts = np.unique(steps, axis=0, return_counts=True)
    assert report["digits"] == 4
    assert report["groups_of_steps"] == {
        f"{north} x {east}": count
        for (north, east), count in zip(kinds.tolist(), counts.tolist(), strict=True)
    }
    lines = as_written(means, None, steps)
    told = {
        line.tobytes()
        for part in sorted((tmp_path / "out").iterdir())
        for line in trajanon.read_release(part).points
    }
    assert {line.tobytes() for line in lines} == told
    records = Trajectories(points).records
    lost = loss_to(records, lines.reshape(len(lines), -1)[labels])
    assert report["information_loss"] == pytest.approx(lost)
    plain = anonymize_parts(str(source), str(tmp_path / "plain"), 3, effort="fast", digits=4)
    assert plain["groups_of_steps"] == {}
