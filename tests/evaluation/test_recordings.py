"""Recordings of trajectories: each with its number for a name, its points and its times."""

from dataclasses import replace

import numpy as np
from toy import timed

from trajanon.evaluation.recordings import Recordings
from trajanon.trajectories.clock_and_time_zones import Clock


def test_trajectories_are_recordings_named_by_their_numbers() -> None:
    trips = timed()
    clock = Clock("of-day", "Etc/UTC", 300)
    rows = Recordings.of(trips, clock)
    assert rows.names == ["0", "1", "2", "3"]
    assert rows.clock == clock
    for number, (begin, end) in enumerate(zip(rows.first[:-1], rows.first[1:], strict=True)):
        np.testing.assert_array_equal(rows.vertices[begin:end], trips.points[number])
    assert rows.first[-1] == len(rows.vertices)
    np.testing.assert_array_equal(rows.times, trips.times)


def test_times_are_there_if_one_has_some() -> None:
    trips = timed()
    some = np.array(trips.times)
    some[1:] = np.nan
    assert Recordings.of(replace(trips, times=some), None).times is not None
    some[:] = np.nan
    assert Recordings.of(replace(trips, times=some), None).times is None
    assert Recordings.of(replace(trips, times=None), None).times is None
