"""The columns that a search compares, and how much a departure counts among them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from timed_trajectories import SUNDAY, timed, windows_with_times

import trajanon
from trajanon.common.search_and_release_options import ReleaseSettings
from trajanon.grouping.sliding.possible_starts import build_windows, records_at
from trajanon.grouping.standardised_records import standardise
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.release_timing import Timing, timing_of
from trajanon.trajectories.search_columns import departure_weight, search_columns
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

seeds = st.integers(0, 10**6)


def timing(trajectories: Trajectories, **options: Any) -> Timing:
    found = timing_of(trajectories, ReleaseSettings(**{"times": "of-day"} | options))
    assert found is not None
    return found


@given(seed=seeds, worth=st.floats(0.1, 50.0))
def test_a_minute_counts_as_so_many_metres_at_every_point(seed: int, worth: float) -> None:
    trajectories = timed(seed=seed)
    seen, weights = search_columns(trajectories, timing(trajectories, minute_worth=worth))
    assert weights is not None
    standard = (seen - seen.mean(axis=0)) / seen.std(axis=0, ddof=1)
    assert standard == pytest.approx(standardise(seen), abs=1e-6)
    # A record that is moved to the north, and to the east, by so many metres everywhere.
    middle = trajectories.points.mean(axis=0)[None]
    squares = []
    for axis in (0, 1):
        step = np.zeros(2)
        step[axis] = 1e-5
        degree = displacement(middle, middle + step) / 1e-5
        moved = np.zeros_like(middle)
        moved[..., axis] = worth / degree
        squares.append(((moved.ravel() / seen[:, :-1].std(axis=0, ddof=1)) ** 2).sum())
    minute = weights[-1] * (60.0 / seen[:, -1].std(ddof=1)) ** 2
    assert minute == pytest.approx(sum(squares) / 2, rel=1e-6)
    assert (weights[:-1] == 1.0).all()


def test_no_worth_is_no_weight_and_constant_columns_count_nothing() -> None:
    assert departure_weight(np.zeros((2, 2)), np.ones(5), 0.0) == 0.0
    spread = np.array([0.0, 0.0, 1.0, 1.0, 60.0])
    half = departure_weight(np.zeros((2, 2)), spread, 1.0)
    whole = departure_weight(np.zeros((2, 2)), np.append(np.ones(4), 60.0), 1.0)
    assert half == pytest.approx(whole / 2)


def test_tracks_that_are_equal_but_for_rounding_are_released_with_any_worth() -> None:
    walks = timed()
    noise = np.random.default_rng(1).normal(0, 1e-13, walks.points.shape)
    same = replace(walks, points=walks.points[:1] + noise)
    release = trajanon.anonymize(same, 3, times="of-day", minute_worth=1e6)
    assert release.report["n"] == len(same)


def test_equal_tracks_are_grouped_by_their_hours() -> None:
    same = timed(6, people=6)
    assert same.times is not None
    hours = SUNDAY + 3_600.0 * np.array([[0], [12], [0], [12], [0], [12]]) + np.arange(4.0)
    points = np.repeat(same.points[:1], 6, axis=0)
    release = trajanon.anonymize(replace(same, points=points, times=hours), 3, times="of-day")
    assert release.report["labels"] == [0, 1, 0, 1, 0, 1]


@given(seed=seeds, worth=st.sampled_from([0.0, 3.0, 100.0]))
def test_windows_that_slide_are_searched_with_their_departures(seed: int, worth: float) -> None:
    trajectories = windows_with_times(seed)
    tracks = trajectories.tracks
    assert tracks is not None
    told = timing(trajectories, times="date", minute_worth=worth)
    seen, weights = search_columns(trajectories, told)
    assert weights is not None
    windows = build_windows(tracks, 4, told.departures(tracks), weights)
    assert records_at(windows, tracks.start) == pytest.approx(standardise(seen, weights), abs=1e-5)
    starts = np.minimum(tracks.start + 2, windows.most)
    slid, _ = search_columns(_slid(trajectories, starts), told)
    about = (slid - seen.mean(axis=0)) / seen.std(axis=0, ddof=1) * np.sqrt(weights)
    assert records_at(windows, starts) == pytest.approx(about, abs=1e-4)


def _slid(trajectories: Trajectories, start: Any) -> Trajectories:
    """Windows at other starts, though they may share ground."""
    assert trajectories.tracks is not None
    tracks = replace(trajectories.tracks, start=start)
    return Trajectories(tracks.windows(4), times=tracks.times_of_windows(4))
