"""Releases with times: the departure in the search, mean times of groups, and what is refused."""

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_sliding import street

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import ReleaseSettings, TimesName
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.sliding.possible_starts import build_windows, records_at
from trajanon.grouping.standardised_records import standardise
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.release_timing import Timing, timing_of
from trajanon.trajectories.search_columns import departure_weight, search_columns
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")
seeds = st.integers(0, 10**6)
SUNDAY = 1_212_900_000.0  # 2008-06-08 04:40 UTC


def timed(n: int = 30, m: int = 4, *, people: int = 10, seed: int = 0) -> Trajectories:
    """Walks in San Francisco over two days."""
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(0, 0.001, (n, m, 2)), axis=1)
    points += 37.77, -122.42
    points[..., 0] += 0.005 * np.arange(m)  # all go north, longer than any is moved
    times = SUNDAY + rng.uniform(0, 172_800, (n, 1)) + np.cumsum(rng.uniform(1, 300, (n, m)), 1)
    subject = np.arange(n) % people
    return Trajectories(points, subject=subject, trace=np.arange(n), times=times)


def windows_with_times(seed: int, n: int = 12, m: int = 4) -> Trajectories:
    """Windows of three runs, which may slide."""
    rng = np.random.default_rng(seed)
    size = STEPS * (m - 1) + 1
    each = -(-n // 3)
    runs = [street(rng, each * (size + 6)) * 1e-4 + (40.4, -3.7) for _ in range(3)]
    points = np.concatenate(runs)
    times = SUNDAY + np.cumsum(rng.uniform(0.5, 20.0, len(points)))
    tracks = Tracks(
        TrackPoints.of(points),
        np.cumsum([0, *map(len, runs)]),
        np.repeat(np.arange(3), each),
        np.tile((size + 6) * np.arange(each) + 3, 3),
        times,
    )
    count = 3 * each
    return Trajectories(
        tracks.windows(m),
        subject=np.arange(count) % 7,
        trace=np.arange(count),
        tracks=tracks,
        times=tracks.times_of_windows(m),
    )


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


@given(
    seed=seeds,
    k=st.integers(2, 5),
    times=st.sampled_from(["of-day", "of-week", "date"]),
    step=st.sampled_from([60, 300, 3_600]),
    worth=st.sampled_from([0.0, 3.0, 40.0]),
)
@pytest.mark.usefixtures("plain_means")
def test_all_of_a_group_bear_its_mean_times(
    seed: int, k: int, times: TimesName, step: int, worth: float
) -> None:
    trajectories = timed(seed=seed)
    release = trajanon.anonymize(
        trajectories, k, times=times, time_step=step, minute_worth=worth, seed=seed
    )
    report, lines = release.report, release.trajectories
    clock = Clock(times, "America/Los_Angeles", step)
    assert lines.provenance["times"] == clock.sentence
    assert lines.times is not None
    assert trajectories.times is not None
    assert trajectories.subject is not None
    assert (lines.times % step == 0.0).all()
    labels, mine = np.array(report["labels"]), clock.seconds(trajectories.times)
    rows: dict[bytes, int] = defaultdict(int)
    for line, when in zip(lines.points, lines.times, strict=True):
        rows[line.tobytes() + when.tobytes()] += 1
    off = []
    for group in range(labels.max() + 1):
        members = labels == group
        people = len(set(trajectories.subject[members]))
        assert people >= k
        mean = np.round(mine[members].mean(axis=0) / step) * step
        line = np.round(trajectories.points[members].mean(axis=0), 4) + 0.0
        near = (np.abs(lines.points - line) < 1.01e-4).all(axis=(1, 2))
        assert (near & (np.abs(lines.times - mean) <= step).all(axis=1)).sum() >= people
        off += np.abs(mine[members, 0] - mean[0]).tolist()
    assert min(rows.values()) >= k
    told = report["times"]
    assert told["departure_error"]["mean"] == pytest.approx(np.mean(off), abs=1e-3 + step / 30)
    assert (told["times"], told["timezone"], told["step"]) == (times, clock.timezone, step)


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


@pytest.mark.usefixtures("plain_means")
def test_a_window_that_slides_takes_its_times_along() -> None:
    trajectories = windows_with_times(3, n=30)
    release = trajanon.anonymize(trajectories, 3, times="of-day", time_step=60)
    starts = np.array(release.report["alignment"]["starts"])
    assert trajectories.tracks is not None
    assert (starts != trajectories.tracks.start).any()
    slid = trajectories.slid(starts)
    assert slid.times is not None
    assert trajectories.tracks.times is not None
    place = trajectories.tracks.first[trajectories.tracks.run] + starts
    assert (slid.times[:, 0] == trajectories.tracks.times[place]).all()
    labels = np.array(release.report["labels"])
    mine = Clock("of-day", "Europe/Madrid", 60).seconds(slid.times)
    means = 60.0 * np.round(group_means(mine, labels) / 60.0)[labels]
    assert release.trajectories.times is not None
    assert np.sort(means, axis=0) == pytest.approx(np.sort(release.trajectories.times, axis=0))


@pytest.mark.usefixtures("plain_means")
def test_loss_is_of_places_alone_and_each_step_of_all_that_was_seen() -> None:
    trajectories = timed(60)
    asked: dict[str, Any] = {"times": "of-day", "minute_worth": 50.0}
    report = trajanon.anonymize(trajectories, 3, **asked).report
    labels = np.array(report["labels"])
    records = standardise(trajectories.records)
    lost = loss.information_loss(loss.sse(records, labels), float((records**2).sum()))
    assert report["information_loss"] == pytest.approx(lost, rel=1e-4)
    seen = standardise(*search_columns(trajectories, timing(trajectories, minute_worth=50.0)))
    lost = loss.information_loss(loss.sse(seen, labels), float((seen**2).sum()))
    assert report["stages"][-1]["information_loss"] == pytest.approx(lost)


def without(which: slice) -> Trajectories:
    trajectories = timed()
    assert trajectories.times is not None
    times = trajectories.times.copy()
    times[which] = np.nan
    return replace(trajectories, times=times)


def standing() -> Trajectories:
    trajectories = timed()
    assert trajectories.times is not None
    return replace(trajectories, times=np.repeat(trajectories.times[:, :1], 4, axis=1))


def at_once() -> Trajectories:
    trajectories = timed()
    return replace(trajectories, times=np.full((30, 4), SUNDAY) + np.arange(4.0))


@pytest.mark.parametrize(
    ("trajectories", "options", "said"),
    [
        (replace(timed(), times=None), {}, "needs times, and 30 of 30 have none"),
        (without(slice(3, 5)), {}, "needs times, and 2 of 30 have none"),
        (standing(), {}, "30 of 30 bear one time from start to end"),
        (at_once(), {}, "all depart at 21:40, within 300 s"),
        (timed(), {"timezone": "Mars/Base"}, "`timezone` 'Mars/Base' is not known"),
        (timed(), {"timezone": ""}, "`timezone` '' is not known"),
        (timed(), {"minute_worth": np.nan}, "`minute_worth` must be a number from 0"),
        (timed(), {"times": None, "timezone": "Europe/Madrid"}, "is for releases with times"),
        (timed(), {"times": None, "minute_worth": 9.0}, "is for releases with times"),
    ],
)
def test_what_times_cannot_be_of(
    trajectories: Trajectories, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        trajanon.anonymize(trajectories, 3, **{"times": "of-day"} | options)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.zeros((30, 3)), "times must have shape (30, 4)"),
        (np.tile([0.0, 1.0, np.nan, 2.0], (30, 1)), "has times at some points only"),
        (np.tile([0.0, 2.0, 1.0, 3.0], (30, 1)), "has times that run back"),
        (np.full((30, 4), 1e300), "has a time beyond the years 1 to 9999"),
        (np.full((30, 4), np.inf), "has a time beyond the years 1 to 9999"),
    ],
)
def test_odd_times_are_refused(times: Floats, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        replace(timed(), times=times)


@pytest.mark.parametrize(
    ("some", "said"),
    [
        ([np.nan] * 3, "run 1 of the tracks has times at some points only"),
        ([9e18] * 3, "run 1 of the tracks has a time beyond the years 1 to 9999"),
        ([0.0] * 3, "run 1 of the tracks has times that run back"),
    ],
)
def test_odd_times_are_refused_where_windows_may_slide(some: list[float], said: str) -> None:
    tracks = windows_with_times(0).tracks
    assert tracks is not None
    assert tracks.times is not None
    times, end = tracks.times.copy(), tracks.first[2]
    times[end - 3 : end] = some
    with pytest.raises(BadInput, match=re.escape(said)):
        replace(tracks, times=times)


def test_tracks_without_times_cannot_slide_with_them() -> None:
    trajectories = windows_with_times(0)
    assert trajectories.tracks is not None
    bare = replace(trajectories, tracks=replace(trajectories.tracks, times=None))
    with pytest.raises(BadInput, match="needs times, and 12 of 12 have none"):
        trajanon.anonymize(bare, 3, times="of-day")
    assert trajanon.anonymize(bare, 3, times="of-day", align=False).trajectories.times is not None
    with pytest.raises(BadInput, match="not those of their tracks"):
        replace(trajectories, times=np.zeros((12, 4)))
