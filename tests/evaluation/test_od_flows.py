"""Flows from cell to cell: which of them two sets of trips share."""

import numpy as np
import pytest
from toy import AWAY, HOME, WORK

from trajanon.common.arrays import Floats
from trajanon.evaluation.od_flows import (
    cell_for_od,
    flow_counts,
    flow_error,
    flow_similarity,
    flows,
)


def kept(before: Floats, after: Floats) -> float:
    return flow_similarity(flows(before, 500.0), flows(after, 500.0))


def test_trips_that_are_kept() -> None:
    before = np.array([[HOME, WORK], [HOME, WORK], [WORK, HOME], [HOME, AWAY]])
    after = np.array([[HOME, WORK], [HOME, AWAY], [WORK, HOME], [HOME, AWAY]])
    # Of 4 trips, 3 have a partner: home-work, work-home, home-away.
    assert kept(before, after) == 0.75
    assert kept(before, before[::-1]) == 1.0
    assert kept(before, before + 3.0) == 0.0


def test_flows_are_counted_by_both_cells_before_and_after() -> None:
    before = np.array([[7, 3], [3, 7], [7, 3]])
    after = np.array([[3, 3], [7, 3]])
    flow, trips_before, trips_after = flow_counts(before, after)
    assert flow.tolist() == [[3, 3], [3, 7], [7, 3]]
    assert trips_before.tolist() == [0, 1, 2]
    assert trips_after.tolist() == [1, 0, 1]
    # One trip of 5 is in both: twice that of all.
    assert flow_similarity(before, after) == pytest.approx(2 / 5)
    assert flow_similarity(before[:0], after[:0]) == 0.0


def test_the_error_is_what_is_not_alike_and_lies_in_its_interval() -> None:
    random = np.random.default_rng(0)
    before, after = random.integers(0, 6, (2, 40, 2))
    error = flow_error(before, after)
    assert error.value == pytest.approx(1.0 - flow_similarity(before, after))
    assert error.low < error.value < error.high
    assert flow_error(before, before[::-1]).value == 0.0


def test_cells_for_od_are_the_smallest_that_are_right_enough() -> None:
    assert cell_for_od({"0.5 km": 0.74, "1 km": 0.75, "2 km": 0.7}) == "1 km"
    assert cell_for_od({"0.5 km": 0.74, "1 km": 0.749}) is None
