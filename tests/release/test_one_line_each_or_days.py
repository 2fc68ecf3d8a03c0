"""Choices of what k people share: one line of each person, whole days, and places at the ends."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import Run
from hypothesis import given
from hypothesis import strategies as st
from shards import write_parts
from trips_on_days import KEY, released, trips_of

import trajanon
from trajanon import maps
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.evaluation.evaluation import evaluate
from trajanon.release.release_words import left_out, people_sentences
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

seeds = st.integers(0, 2**32 - 1)


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
