"""Days as records: what they hold, how they are released, and what is refused."""

from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import UNTIMED
from trips_on_days import released, trips_of

import trajanon
from trajanon.common.errors import BadInput
from trajanon.release.release_words import left_out
from trajanon.release.report_files import checked
from trajanon.trajectories.days_as_records import days_of
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

seeds = st.integers(0, 2**32 - 1)


MADRID = "Europe/Madrid"


@given(people=st.integers(1, 6), days=st.integers(1, 4), most=st.integers(1, 4), seed=seeds)
def test_days_are_what_a_dictionary_says(people: int, days: int, most: int, seed: int) -> None:
    trips = trips_of(people, days, 4, seed)
    assert trips.subject is not None
    assert trips.times is not None
    trips.times[np.random.default_rng(seed).random(len(trips)) < 0.1] = np.nan
    found, of_trip, too_many = days_of(trips, most, MADRID)
    by_day = defaultdict[tuple[int, Any], list[int]](list)
    for row in np.argsort(trips.times[:, 0], kind="stable").tolist():
        if not np.isnan(trips.times[row, 0]):
            local = datetime.fromtimestamp(trips.times[row, 0] - 3 * 3600, ZoneInfo(MADRID))
            by_day[int(trips.subject[row]), local.date()].append(row)
    whole = [rows for rows in by_day.values() if len(rows) <= most]
    assert too_many == len(by_day) - len(whole)
    assert len(found) == len(whole)
    for rows in whole:
        (day,) = {*of_trip[rows].tolist()}
        points = trips.points[rows].reshape(-1, 2)
        line = found.points[day]
        np.testing.assert_array_equal(line[: len(points)], points)
        assert (line[len(points) :] == points[-1]).all()
    assert (of_trip >= 0).sum() == sum(map(len, whole))
    renamed = replace(trips, subject=-7 * trips.subject)
    np.testing.assert_array_equal(days_of(renamed, most, MADRID)[1], of_trip)


@given(
    people=st.integers(4, 12),
    k=st.integers(2, 3),
    most=st.integers(1, 3),
    timed=st.booleans(),
    seed=seeds,
    suffix=st.sampled_from(UNTIMED),
)
def test_k_different_people_share_each_whole_day(
    tmp_path: Path, people: int, k: int, most: int, timed: bool, seed: int, suffix: str
) -> None:
    trips, m = trips_of(people, 3, 3, seed), 4
    how: dict[str, Any] = {"times": "of-day", "timezone": MADRID} if timed else {}
    release, found = released(trips, k, days=most, **how)
    days, who = found.slid, found.slid.subject
    assert who is not None
    assert days.points.shape[1] == most * m
    moves = (np.diff(days.points.reshape(-1, most, m, 2), axis=2) != 0.0).any(axis=(2, 3))
    for line in range(len(found.lines)):
        members = found.labels == line
        assert len(np.unique(who[members])) >= k
        assert len(np.unique(moves[members].sum(axis=1))) == 1  # days of equally many trips
        rest = found.lines[line, int(moves[members].sum(axis=1)[0]) * m - 1 :]
        assert (rest == rest[0]).all()
    choice, report = release.report["choice"], release.report
    assert report["unit"] == "day"
    assert report["n"] == len(days)
    left_out = report["suppressed"]["rows"] if report["suppressed"] else []
    assert choice["days"] - choice["too_many"] == len(days) + len(left_out)
    suffix = ".parquet" if timed else suffix
    path = tmp_path / f"{suffix[1:]}{suffix}"  # each has a report of its own
    release.write(path)
    assert trajanon.check(path, k).holds
    assert trajanon.check(path, k, trajectories=trips).holds


def test_days_are_measured_until_they_rest() -> None:
    release, found = released(trips_of(12, 3, 3), 2, days=3)
    report = checked(release.report)
    assert report.unit == "day"
    metres = []
    for day, line in zip(found.slid.points, found.lines[found.labels], strict=True):
        rests = (day == day[-1]).all(axis=1).tolist()
        until = rests.index(True) + 1
        metres += displacement(day[:until], line[:until]).tolist()
    assert len(metres) < found.slid.points.shape[0] * found.slid.points.shape[1]
    assert report.displacement.mean == pytest.approx(np.mean(metres))


def test_trips_without_a_name_are_in_no_day() -> None:
    """Those of one day may be of several people, and are no day of anybody."""
    trips = trips_of(9, 2, 2, 1)
    assert trips.subject is not None
    is_nameless = trips.subject == 100
    names = trips.subject.astype(object)
    names[is_nameless] = None
    named = Trajectories(trips.points, names, times=trips.times, provenance={"trips": True})
    release = trajanon.anonymize(named, 2, days=2, effort="fast")
    report = checked(release.report)
    assert report.choice is not None
    missing = is_nameless.sum()
    assert report.choice.nameless == missing
    assert left_out(report).startswith(f"{missing} of {len(trips)} trips")
    assert f"trips without a name ({missing})" in left_out(report)
    assert (report.days_of(named)[1][is_nameless] == -1).all()
    assert trajanon.check(release, 2, trajectories=named).holds


def test_days_that_trips_cannot_share_are_refused() -> None:
    trips = trips_of(8, 2, 3, 1)
    told = replace(trips, provenance={"days": trips.points.shape[1] + 1})
    with pytest.raises(BadInput, match="days of 5 trips cannot have 4 points"):
        trajanon.anonymize(told, 2, effort="fast")
