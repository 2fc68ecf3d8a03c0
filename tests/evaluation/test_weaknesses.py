"""Weak points of a release: each is found where it is planted, and none where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from audits import N, trips_of_a_town

from trajanon.common.arrays import Floats
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.evaluation.weaknesses import PIECE, weaknesses
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import Trajectories

K = 4


@pytest.fixture(scope="module")
def originals() -> Originals:
    return trips_of_a_town()


def rows_of(points: Floats, times: Floats | None = None) -> Recordings:
    """Rows as a program of strangers would write them, with ids of its own."""
    rows = Recordings.of(Trajectories(points), None)
    return replace(rows, times=times, names=[f"row {name}" for name in rows.names])


@pytest.fixture(scope="module")
def hidden(originals: Originals) -> Recordings:
    """Lines that each stand in K rows, in no order, with coarse times."""
    random = np.random.default_rng(0)
    groups = random.permutation(N).reshape(-1, K)
    lines = originals.trips.points[groups].mean(axis=1)
    times = np.asarray(originals.trips.times)[groups].mean(axis=1)
    times = np.round(times / 300.0) * 300.0 + 17.0
    rows = np.repeat(random.permutation(len(groups)), K)
    return rows_of(lines[rows], times[rows])


def noisy(originals: Originals) -> Floats:
    """The originals, each moved by some 200 m."""
    moved = np.random.default_rng(5).normal(0.0, 0.002, (N, 1, 2))
    return originals.trips.points + moved


def test_a_release_that_hides_has_none(originals: Originals, hidden: Recordings) -> None:
    assert weaknesses(originals, hidden) == []


def test_ids_are_kept_where_rows_of_a_name_belong_together(originals: Originals) -> None:
    order = np.random.default_rng(1).permutation(N)
    rows = rows_of(noisy(originals)[order])
    named = replace(rows, names=[str(number) for number in order])
    assert [weak[:3] for weak in weaknesses(originals, named)] == [("ids_kept", N, 1)]
    assert weaknesses(originals, named, ids_are_given=True) == []
    assert weaknesses(originals, rows) == []  # of other names
    by_chance = replace(rows, names=[str(number) for number in range(N)])
    assert weaknesses(originals, by_chance) == []


def test_rows_in_the_order_of_the_originals_are_found(originals: Originals) -> None:
    points = noisy(originals)
    assert [weak[:2] for weak in weaknesses(originals, rows_of(points))] == [("order_kept", N)]
    without_some = rows_of(points[np.arange(N) % 3 > 0])
    assert [weak.name for weak in weaknesses(originals, without_some)] == ["order_kept"]
    # Sorted by their own coordinates, they tell nothing of another order.
    in_order = points[np.lexsort(points.reshape(N, -1).T[::-1])]
    assert weaknesses(originals, rows_of(in_order)) == []


def test_rows_all_near_one_original_are_in_no_order(originals: Originals) -> None:
    spread = np.random.default_rng(0).normal(0.0, 1e-6, (20, 1, 2))
    found = weaknesses(originals, rows_of(originals.trips.points[:1] + spread))
    assert "order_kept" not in {weak.name for weak in found}


def test_an_original_among_the_rows_is_found(originals: Originals, hidden: Recordings) -> None:
    points = hidden.points.copy()
    points[37] = originals.trips.points[11]
    found = weaknesses(originals, rows_of(points, hidden.times))
    assert [weak[:3] for weak in found] == [("original_rows", 1, 38)]


def test_a_piece_of_an_original_is_some_points_in_a_row(
    originals: Originals, hidden: Recordings
) -> None:
    for length in (PIECE - 1, PIECE):
        points = hidden.points.copy()
        points[37, 3 : 3 + length] = originals.trips.points[11, 4 : 4 + length]
        found = [weak[:3] for weak in weaknesses(originals, rows_of(points, hidden.times))]
        assert (("pieces", 1, 38) in found) == (length == PIECE)


def test_exact_times_are_found_unless_a_clock_explains_them(
    originals: Originals, hidden: Recordings
) -> None:
    times = np.asarray(originals.trips.times)[np.random.default_rng(0).permutation(N)]
    exact = replace(hidden, times=times)
    assert [weak[:2] for weak in weaknesses(originals, exact)] == [("exact_times", N)]
    of_day = replace(exact, clock=Clock("of-day", "Etc/UTC", 300))
    assert weaknesses(originals, of_day) == []

    # Those of three rows may be chance.
    few = np.array(hidden.times)
    few[:3] = times[:3]
    assert weaknesses(originals, replace(hidden, times=few)) == []


def test_a_line_of_fewer_rows_than_all_others_is_found(
    originals: Originals, hidden: Recordings
) -> None:
    kept = np.arange(N) != 5
    small = rows_of(hidden.points[kept], np.asarray(hidden.times)[kept])
    assert [weak[:2] for weak in weaknesses(originals, small)] == [("small_lines", K - 1)]
    # Where many lines are small, no k is promised.
    many = np.arange(N) % K > np.arange(N) // K % 2
    assert weaknesses(originals, rows_of(hidden.points[many])) == []


def test_each_weak_point_has_a_sentence(originals: Originals) -> None:
    (weak,) = weaknesses(originals, rows_of(noisy(originals)))
    assert weak.account == {"name": "order_kept", "rows": N, "first": 1, "sentence": weak.sentence}
    assert weak.sentence.startswith("Rows stand in the order of the originals")
