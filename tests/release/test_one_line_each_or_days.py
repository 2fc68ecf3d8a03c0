"""Choices of what k people share: one line of each person, whole days, and places at the ends."""

import json
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from commands import Run
from hypothesis import assume, given
from hypothesis import strategies as st
from planted import UNTIMED
from reports import reported
from shards import write_parts

import trajanon
from trajanon import maps
from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.evaluation.evaluation import evaluate
from trajanon.release.originals import matched
from trajanon.release.release_words import left_out, people_sentences
from trajanon.release.report_files import checked
from trajanon.trajectories.days_as_records import days_of
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")
seeds = st.integers(0, 2**32 - 1)
KEY = bytes(range(32))
MADRID = "Europe/Madrid"


def trips_of(
    people: int, days: int, most: int, seed: int = 0, m: int = 4, *, homes: int = 12
) -> Trajectories:
    """Trips of people who go from place to place, up to so many a day, about 29 March 2026."""
    random = np.random.default_rng(seed)
    places = np.array([40.4, -3.7]) + random.normal(0.0, 0.02, (homes, 2))
    points, times, subject = list[Floats](), list[Floats](), list[int]()
    share = np.linspace(0.0, 1.0, m)[:, None]
    for person in range(people):
        own = random.integers(0, homes, 3)
        for day in range(days):
            second = datetime(2026, 3, 27 + day, 5, tzinfo=UTC).timestamp()
            for _ in range(max(int(random.integers(0, most + 1)), int(day == 0))):
                start, end = places[random.choice(own, 2)] + random.normal(0.0, 1e-3, (2, 2))
                points.append(start + share * (end - start))
                takes = random.integers(300, 3_000)
                times.append(second + share[:, 0] * takes)
                subject.append(person)
                second += takes + random.integers(600, 10_000)
    order = random.permutation(len(points))  # in a file trips stand in any order
    return Trajectories(
        np.array(points)[order],
        subject=100 - np.array(subject)[order],
        times=np.array(times)[order],
        provenance={"trips": True},
    )


def released(trips: Trajectories, k: int, **how: Any) -> tuple[trajanon.Release, Any]:
    """A release, and its lines beside what was averaged; what no line can hide is no example."""
    try:
        release = trajanon.anonymize(trips, k, key=KEY, effort="fast", **how)
    except TooFewSubjects:
        assume(False)
    except BadInput as error:
        hides_nothing = "smaller area", "would show nothing", "no day can be released"
        assume(not any(words in str(error) for words in hides_nothing))
        raise
    again = trajanon.anonymize(trips, k, key=KEY, effort="fast", **how)
    np.testing.assert_array_equal(again.trajectories.points, release.trajectories.points)
    report = checked(release.report)
    return release, matched(report.released_of(trips), release.trajectories, report)


@given(people=st.integers(3, 12), k=st.integers(2, 3), distinct=st.integers(1, 2), seed=seeds)
def test_one_line_each_puts_nobody_on_two_lines(
    people: int, k: int, distinct: int, seed: int
) -> None:
    trips = trips_of(people, 3, 4, seed)
    release, found = released(trips, k, one_line_each=True, distinct_ends=distinct)
    who = found.slid.subject
    assert who is not None
    assert len(np.unique(who)) == len(who) == release.report["n"]
    assert np.bincount(found.labels).min() >= k
    assert trips.subject is not None
    assert release.report["choice"] == {
        "people": len(np.unique(trips.subject)),
        "left_out": len(trips) - len(np.unique(trips.subject)),
    }
    assert trajanon.check(release, k, trajectories=trips).holds
    assert "Nobody is on two lines" in people_sentences(checked(release.report))


def test_of_the_trips_of_a_person_the_one_beside_others_is_taken() -> None:
    """Everybody goes along one street once, and elsewhere once."""
    street = np.array([[40.0, 2.0], [40.0, 2.05]])
    elsewhere = street + np.arange(1, 9)[:, None, None] * np.array([0.1, 0.07])
    points = np.concatenate([elsewhere, np.repeat(street[None], 8, axis=0) + 1e-5])
    trips = Trajectories(points, subject=np.tile(np.arange(8), 2))
    report = trajanon.anonymize(trips, 4, one_line_each=True).report
    assert report["suppressed"]["rows"] == [*range(8)]
    assert report["displacement"]["max"] < 20.0


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


def test_map_evaluation_and_earlier_releases_know_days(run: Run) -> None:
    trips = trips_of(60, 4, 3, 7, m=6, homes=4)  # few, so that many go the same ways
    trajanon.write_trajectories("trajectories.parquet", trips)
    answer = run("anonymize", "-k", "3", "--days", "2", "--effort", "fast")
    assert answer.code == 0, answer.err
    assert "A line is a whole day of up to 2 trips; a shorter day ends with a stay." in answer.out
    assert "days of too many trips" in answer.out
    assert "% of the days are left out" in answer.out
    assert run("check", "-k", "3", "--trajectories", "trajectories.parquet").code == 0
    assert run("map").code == 0
    assert run("anonymize", "-k", "3", "--effort", "fast", "--out", "trips.parquet").code == 0
    together = run(
        "check", "-k", "3", "--trajectories", "trajectories.parquet", "--against", "trips.parquet"
    )
    assert together.code == 1
    assert "have fewer than 3 different subjects in common" in together.out
    release = trajanon.anonymize(trips, 3, days=2, effort="fast")
    found = evaluate(trips, release, curve=(2,))  # anonymizes days anew
    assert found.trajectories == release.report["n"]
    shown = found.usefulness.displacement
    assert shown.mean == pytest.approx(release.report["displacement"]["mean"], rel=1e-5)
    assert maps.compare(trips, release.trajectories, release.report)
    assert "A line is a day of up to 2 trips" in found.datasheet
    each = trajanon.anonymize(trips, 3, one_line_each=True, effort="fast", key=KEY)
    found = evaluate(trips, each, curve=(3,))  # of which each k takes its own
    assert "Each subject is on one line at most" in found.datasheet
    assert found.curve is not None
    moved = each.report["displacement"]["mean"]  # by another key
    assert found.curve.choices[0].moved == pytest.approx(moved, rel=0.2)


@pytest.mark.parametrize(("recordings", "count_as"), [(3, 1), (3, 3), (0, 0)])
def test_who_has_no_name_may_be_on_two_lines(recordings: int, count_as: int) -> None:
    source = {"nameless": recordings, "nameless_count_as": count_as}
    sentence = people_sentences(reported(choice={"people": 500}, source=source))
    named = " with a name" if recordings else ""
    assert sentence == f"Nobody{named} is on two lines."


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


def test_what_no_day_can_be_is_one_sentence() -> None:
    trips = trips_of(8, 2, 3, 1)
    for given_, how, says in (
        (replace(trips, subject=None), {"days": 2}, "needs to know who made each trip"),
        (replace(trips, subject=None), {"one_line_each": True}, "needs to know who made each trip"),
        (replace(trips, times=None), {"days": 2}, "needs the times of trips, and there are none"),
        (trips, {"days": 2, "one_line_each": True}, "are two choices"),
        (
            trips,
            {"days": 2, "timezone": "Europe/Madird"},
            "`timezone` 'Europe/Madird' is not known",
        ),
        (trips, {"days": 2, "timezone": ""}, "`timezone` '' is not known"),
        (trips, {"distinct_ends": 3}, "must be at most k, 2"),
        (trips, {"days": 2, "as_published": True}, "is the method alone"),
    ):
        with pytest.raises(BadInput, match=says):
            trajanon.anonymize(given_, 2, **how)
    busy = trips.take(np.repeat(np.arange(len(trips)), 3))  # as a cab, with many trips a day
    with pytest.raises(BadInput, match=r"no day can be released: all \d+ have more than 1 trips"):
        trajanon.anonymize(busy, 2, days=1)
    with pytest.raises(TooFewSubjects, match="none has as many trips as days of 8 people"):
        trajanon.anonymize(trips, 8, days=2)


def test_days_of_a_report_that_anybody_made_are_refused_or_none() -> None:
    trips = trips_of(8, 2, 3, 1)
    release = trajanon.anonymize(trips, 2, days=2, effort="fast")
    for entry, odd, says in (
        ("most", 0, "`days` must be a whole number from 1 to 24"),
        ("most", 2**40, "`days` must be a whole number from 1 to 24"),
        ("timezone", "x", "`timezone` 'x' is not known"),
    ):
        choice = {**release.report["choice"], entry: odd}
        told = replace(release, report={**release.report, "choice": choice})
        with pytest.raises(BadInput, match=says):
            trajanon.check(told, 2, trajectories=trips)
    no_days = checked({**release.report, "choice": {**release.report["choice"], "days": 0}})
    assert "of 0 days" not in left_out(no_days)


def test_days_that_trips_cannot_share_are_refused() -> None:
    trips = trips_of(8, 2, 3, 1)
    told = replace(trips, provenance={"days": trips.points.shape[1] + 1})
    with pytest.raises(BadInput, match="days of 5 trips cannot have 4 points"):
        trajanon.anonymize(told, 2, effort="fast")


class Everywhere:
    """A station as large as the Earth."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        return np.ones(len(lat), dtype=np.bool_)


def test_where_everybody_may_be_ends_need_no_other_places() -> None:
    points = np.array([40.0, 2.0]) + np.zeros((6, 3, 2))
    points[:, 1:] += np.random.default_rng(0).normal(0.0, 0.1, (6, 2, 2))
    trips = Trajectories(points, subject=np.arange(6), provenance={"trips": True})
    assert trajanon.anonymize(trips, 2).report["mended"]["one_place"]["left"] > 0
    nothing = {"groups": 0, "left": 0}
    report = trajanon.anonymize(trips, 2, public_places=Everywhere()).report
    assert report["mended"]["one_place"] == nothing
    cut = replace(trips, true_ends=np.array([[False, True]] * 6))  # they begin elsewhere
    assert trajanon.anonymize(cut, 2).report["mended"]["one_place"] == nothing


def test_stations_of_a_file_are_such_places(run: Run) -> None:
    trips = trips_of(9, 1, 1, 4)
    trips.points[:, 0] = 40.4, -3.7
    trajanon.write_trajectories("trajectories.parquet", trips)
    write_parts(Path("trips"), trips)
    Path("town.opl").write_text("n1 x-3.7 y40.4 Trailway=station\nn2 x-3.6 y40.4 Tshop=tea\n")
    Path("village.opl").write_text("n2 x-3.7 y40.4 Tshop=tea\n")
    command = ("anonymize", "-k", "3", "--effort", "fast", "--json")
    assert json.loads(run(*command).out)["mended"]["one_place"]["left"] == 3
    found = run(*command, "--public-places", "town.opl")
    assert json.loads(found.out)["mended"]["one_place"]["left"] == 0, found.err
    answer = run(*command, "--public-places", "village.opl")
    assert "village.opl" in answer.sentence
    answer = run("anonymize", "trips", *command[1:], "--public-places", "town.opl")
    assert "--public-places needs one file of trajectories" in answer.sentence


def test_public_places_are_nothing_to_windows() -> None:
    """They were passed over in silence."""
    lines = replace(trips_of(8, 2, 3, 1), provenance={})
    with pytest.raises(BadInput, match="`public_places` is for whole trips and days"):
        trajanon.anonymize(lines, 2, public_places=Everywhere())
