"""What is left of trajectories, against numbers worked out by hand."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import HOME, WORK, on_earth

from trajanon.common.arrays import Floats
from trajanon.evaluation.od_flows import cell_for_od
from trajanon.evaluation.usefulness_of_lines import usefulness
from trajanon.trajectories.clock_and_time_zones import HOUR
from trajanon.trajectories.distances import Summary, lengths
from trajanon.trajectories.geodesy import METRES_PER_DEGREE
from trajanon.trajectories.release_timing import time_errors


def test_ends_are_counted_by_cells_of_several_sizes() -> None:
    """Eight trips end in one place; as released, three of them 600 m farther, two 1.9 km."""
    east = np.array([18_001, 18_601, 18_601, 18_601, 19_901, 19_901, 18_001, 18_001])
    before = np.tile([[6_001.0, 6_001.0], [6_001.0, 18_001.0]], (8, 1, 1)) / METRES_PER_DEGREE
    after = before.copy()
    after[:, 1, 1] = east / METRES_PER_DEGREE
    found = usefulness(before, after).flow_similarity
    assert found == {"0.5 km": 0.375, "1 km": 0.75, "2 km": 1.0, "3 km": 1.0}
    assert cell_for_od(found) == "1 km"
    assert cell_for_od({"0.5 km": 0.74, "1 km": 0.749}) is None


@given(st.integers(0, 99), st.lists(st.booleans(), min_size=12, max_size=12))
def test_flows_are_those_of_trips_with_both_true_ends(seed: int, true: list[bool]) -> None:
    random = np.random.default_rng(seed)
    both = on_earth(random.normal(0, 900, (12, 4, 2)))
    original, released = both[:6], both[6:]
    ends = np.array(true).reshape(6, 2)
    found = usefulness(original, released, true_ends=ends)
    whole = ends.all(axis=1)
    alone = usefulness(original[whole], released[whole]) if whole.any() else None
    expected = dict.fromkeys(found.flow_similarity, 0.0) if alone is None else alone.flow_similarity
    assert found.flow_similarity == expected
    assert found.displacement == usefulness(original, released).displacement


def test_what_is_published_as_it_is_keeps_everything() -> None:
    points = on_earth(np.random.default_rng(0).normal(0, 500, (20, 5, 2)))
    whole = usefulness(points, points)
    nothing = {"mean": 0.0, "median": 0.0, "p95": 0.0, "max": 0.0}
    assert asdict(whole) == {
        "displacement": nothing,
        "to_line": pytest.approx(nothing, abs=1e-9),
        "to_way": pytest.approx(nothing, abs=1e-9),
        "length": float(lengths(points).mean()),
        "length_change": 0.0,
        "flow_similarity": dict.fromkeys(("0.5 km", "1 km", "2 km", "3 km"), 1.0),
        "flows_of": len(points),
        "times": None,
    }


def seconds(*hours_and_minutes: tuple[float, float]) -> Floats:
    """Two points of each trip: an hour of departure, and the minutes it takes."""
    given = np.array(hours_and_minutes, dtype=np.float64)
    when: Floats = given[:, :1] * HOUR + given[:, 1:] * 60.0 * np.array([0.0, 1.0])
    return when


def test_errors_are_those_of_departure_and_duration() -> None:
    before, after = seconds((8, 10), (8, 20), (26, 5)), seconds((8.5, 15), (7, 20), (3, 5))
    departed, took = time_errors(before, after)
    # 02:00 of the night is 26:00 of its day: 23 hours from 03:00.
    assert departed.tolist() == [0.5 * HOUR, HOUR, 23 * HOUR]
    assert took.tolist() == [300.0, 0.0, 0.0]
    lines = np.array([[HOME, WORK]] * 3)
    found = usefulness(lines, lines, seconds=before, released_seconds=after).times
    assert found is not None
    assert found.departure_error.median == HOUR
    assert found.duration_error == Summary(100.0, 0.0, 270.0, 300.0)


def test_times_change_nothing_of_places() -> None:
    points, moved = on_earth(np.random.default_rng(0).normal(0, 900, (2, 20, 3, 2)))
    when = np.tile([30_000.0, 30_300.0, 31_000.0], (20, 1))
    timed = usefulness(points, moved, seconds=when, released_seconds=when)
    assert replace(timed, times=None) == usefulness(points, moved)
