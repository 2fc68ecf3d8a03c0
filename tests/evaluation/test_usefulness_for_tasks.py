"""Errors of tasks: by hand, with their spread, and none where a task cannot be done."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from osm_xml import OsmFile
from toy import on_earth

from trajanon.evaluation.od_flows import flow_similarity, flows
from trajanon.evaluation.usefulness_for_tasks import TASKS, task_errors
from trajanon.extract import roads_to_follow
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.clock_and_time_zones import HOUR


def drives(seed: int, n: int = 12) -> ReleasedLines:
    """Straight drives of six points in a town of some kilometres, within an hour each."""
    random = np.random.default_rng(seed)
    begin, end = random.uniform(0.0, 6_000.0, (2, n, 1, 2))
    share = np.linspace(0.0, 1.0, 6)[:, None]
    times = random.uniform(0.0, 20 * HOUR, (n, 1)) + HOUR * share[:, 0]
    return ReleasedLines(on_earth(begin + (end - begin) * share), np.ones(n, np.int64), times)


@given(st.integers(0, 99), st.integers(100, 199))
def test_flows_are_wrong_where_they_are_not_alike_and_values_lie_in_their_intervals(
    seed: int, other: int
) -> None:
    before, after = drives(seed), drives(other)
    errors = task_errors(before, after)
    assert tuple(errors) == TASKS
    for task, metres in (("OD 1 km", 1_000.0), ("OD 2 km", 2_000.0)):
        error = errors[task]
        assert error is not None
        alike = flow_similarity(flows(before.points, metres), flows(after.points, metres))
        assert error.value == pytest.approx(1.0 - alike)
    for error in errors.values():
        assert error is not None
        assert error.low <= error.value + 1e-9
        assert error.value <= error.high + 1e-9


def test_the_same_drives_have_no_error_however_they_are_counted() -> None:
    before = drives(3)
    order = np.random.default_rng(0).permutation(12)
    assert before.times is not None
    same = ReleasedLines(before.points[order], before.trips, before.times[order])
    twice = ReleasedLines(before.points, 2 * before.trips, before.times)
    assert {error and error.value for error in task_errors(before, same).values()} == {0.0}

    # Each line stands for two trips: lengths and speeds are right, counts are not.
    doubled = task_errors(before, twice)
    values = {task: None if error is None else error.value for task, error in doubled.items()}
    assert values["lengths"] == values["speeds"] == values["travel times"] == 0.0
    assert values["volumes"] == 1.0
    assert values["OD 1 km"] == values["hours"] == pytest.approx(1.0 / 3.0)


def test_what_needs_times_is_not_measured_without() -> None:
    before = drives(4)
    errors = task_errors(before, replace(before, times=None))
    assert [task for task, error in errors.items() if error is None] == [
        "speeds",
        "travel times",
        "hours",
    ]


def test_slower_drives_have_lower_speeds() -> None:
    before = drives(5)
    assert before.times is not None
    slower = before.times[:, :1] + 2.0 * (before.times - before.times[:, :1])
    errors = task_errors(before, replace(before, times=slower))
    for task, expected in (("speeds", 0.5), ("travel times", 1.0)):
        error = errors[task]
        assert error is not None
        assert error.value == pytest.approx(expected)


def test_a_trip_takes_the_usual_time_where_nobody_was_released() -> None:
    at_once = np.array([[[0.0, 0.0], [1_000.0, 0.0]], [[0.0, 0.0], [0.0, 1_000.0]]])
    both = ReleasedLines(on_earth(at_once), np.ones(2, np.int64), np.array([[0.0, 100.0]] * 2))
    first = both.points[:1] + np.array([1.0, 0.0])
    assert both.times is not None
    elsewhere = ReleasedLines(first, np.ones(1, np.int64), both.times[:1] / 2.0)
    error = task_errors(both, elsewhere)["travel times"]
    assert error is not None
    assert error.value == pytest.approx(0.5, rel=1e-3)


def test_drives_without_times_change_no_speed_and_no_hour() -> None:
    before = drives(3)
    assert before.times is not None
    points = np.concatenate([before.points, before.points])
    times = np.concatenate([before.times, np.full(before.times.shape, np.nan)])
    after = ReleasedLines(points, np.ones(24, np.int64), times)
    errors = task_errors(before, after)
    for task in ("speeds", "travel times", "hours"):
        error = errors[task]
        assert error is not None
        assert error.value == pytest.approx(0.0, abs=1e-12)


def test_nothing_is_measured_of_speeds_where_no_original_moves() -> None:
    """Neither NaN, nor an error of drives beside themselves, nor a share of nothing."""
    moving = drives(6)
    assert moving.times is not None
    at_rest = replace(moving, points=np.repeat(moving.points[:, :1], 6, axis=1))
    in_no_time = replace(moving, times=np.zeros_like(moving.times))
    never = replace(moving, times=np.full_like(moving.times, np.nan))
    speeds = {"speeds", "travel times"}
    for before, not_measured in (
        (at_rest, speeds | {"lengths"}),
        (in_no_time, speeds),
        (never, speeds | {"hours"}),
    ):
        errors = task_errors(before, moving)
        assert {task for task, error in errors.items() if error is None} == not_measured
        assert all(np.isfinite(error.value) for error in errors.values() if error is not None)


def test_a_cell_of_rest_alone_has_no_error_of_speed() -> None:
    """Where nobody moves, there is no speed to divide by."""
    moving = drives(7, 2)
    assert moving.times is not None
    at_rest = np.full((20, 6, 2), [40.5, 2.0])
    at_rest[..., 1] += 0.1 * np.arange(20)[:, None]
    points = np.concatenate([moving.points, at_rest])
    before = ReleasedLines(points, np.ones(22, np.int64), np.tile(moving.times[:1], (22, 1)))
    error = task_errors(before, before)["speeds"]
    assert error is not None
    assert (error.value, error.low, error.high) == (0.0, 0.0, 0.0)


def test_streets_on_which_no_original_went_are_not_compared(tmp_path: Path) -> None:
    osm = OsmFile()
    begin, end = on_earth(np.array([[20_000.0, 0.0], [20_000.0, 500.0]])).tolist()
    osm.way(osm.nodes([begin, end]), {"highway": "residential"})
    roads = roads_to_follow(osm.write(tmp_path / "far.osm"), "any")
    errors = task_errors(drives(1), drives(2), roads)
    assert errors["volumes"] is errors["speeds"] is None
    assert errors["lengths"] is not None
