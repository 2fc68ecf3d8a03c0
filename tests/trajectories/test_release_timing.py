"""Releases with times: the departure in the search, mean times of groups, and what is refused."""

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from timed_trajectories import SUNDAY, timed, windows_with_times

import trajanon
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import ReleaseSettings, TimesName
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.standardised_records import standardise
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.release_timing import Timing, timing_of
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

seeds = st.integers(0, 10**6)


def timing(trajectories: Trajectories, **options: Any) -> Timing:
    found = timing_of(trajectories, ReleaseSettings(**{"times": "of-day"} | options))
    assert found is not None
    return found


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


def test_tracks_without_times_cannot_slide_with_them() -> None:
    trajectories = windows_with_times(0)
    assert trajectories.tracks is not None
    bare = replace(trajectories, tracks=replace(trajectories.tracks, times=None))
    with pytest.raises(BadInput, match="needs times, and 12 of 12 have none"):
        trajanon.anonymize(bare, 3, times="of-day")
    assert trajanon.anonymize(bare, 3, times="of-day", align=False).trajectories.times is not None
    with pytest.raises(BadInput, match="not those of their tracks"):
        replace(trajectories, times=np.zeros((12, 4)))
