"""How well a release keeps the volumes and speeds of streets."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from main_road import east, town

from trajanon.extract import roads_to_follow
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.street_usefulness import compared_streets, street_usefulness
from trajanon.trajectories.trajectories import Trajectories


@pytest.fixture
def roads(tmp_path: Path) -> RoadsToFollow:
    return roads_to_follow(town(tmp_path), "car")


def test_streets_of_the_originals_are_compared(roads: RoadsToFollow) -> None:
    points = np.repeat(np.stack([east(50, 1_950), east(50, 900)]), [30, 10], axis=0)
    times = np.arange(10) * 60.0 + np.zeros((40, 1))
    same = compared_streets(
        Trajectories(points, times=times), ReleasedLines(points[::10], np.full(4, 10)), roads
    )
    assert same.streets == 2
    assert (same.busiest_error, same.on_right_street) == (0.0, 1.0)
    assert same.error == {"20 to 49": 0.0}
    assert same.speed_error is None


def test_measures_of_volumes_are_those_of_their_definitions() -> None:
    speed = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    columns = {"trips": [100, 50, 10, 4, 0], "trips_released": [80, 60, 10, 2, 4], "metres": 100.0}
    found = street_usefulness(
        pd.DataFrame({**columns, "speed": speed, "speed_released": speed * 1.1})
    )
    assert (found.streets, found.order) == (4, 1.0)
    assert found.busiest_error == pytest.approx(np.median([0.2, 0.2, 0.0, 0.5]))
    assert found.error["100 to 199"] == pytest.approx(0.2)
    assert found.on_right_street == pytest.approx(142 / 164)
    assert found.speed_error == pytest.approx(0.1)


def test_streets_that_all_have_one_volume_have_no_order() -> None:
    columns = {"trips": 10, "trips_released": [10, 12], "metres": 100.0}
    found = street_usefulness(pd.DataFrame({**columns, "speed": np.nan, "speed_released": np.nan}))
    assert found.order is None
    assert found.speed_error is None
    assert found.on_right_street == 1.0
    assert found.error == {"4 to 19": pytest.approx(0.1)}


def test_where_no_street_is_taken_nothing_is_wrong() -> None:
    none = pd.DataFrame(
        {"trips": [0], "trips_released": [3], "metres": 9.0, "speed": 1.0, "speed_released": 1.0}
    )
    found = street_usefulness(none)
    assert (found.streets, found.order, found.busiest_error) == (0, None, 0.0)
    assert found.on_right_street == 0.0
