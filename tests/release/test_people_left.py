"""Who is left on all lines of a drive or of a person, also where recordings have no name."""

from dataclasses import replace
from pathlib import Path

import naive_attacks as naive
import numpy as np
import pytest
from commands import FAST, Run
from crossroads import ROOM, crossroads, drives
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities
from toy import crossing

import trajanon
from trajanon.evaluation.attacks.next_trip import people_followed
from trajanon.evaluation.attacks.other_trips import other_trips
from trajanon.evaluation.attacks.published_lines import Published, people_steps
from trajanon.extract import Rules, Trace, cut
from trajanon.files.trajectory_files import write_trajectories
from trajanon.release.people_left import drives_left, people_left
from trajanon.trajectories.tracks import Tracks

LINES = np.array([0, 1, 0, 1, 0, 1])


def test_recordings_without_a_name_are_nobody_elses_companion() -> None:
    """Two recordings without a name, one on each line, may be of two people."""
    people = np.array([0, 0, 1, 1, 2, 2])
    assert people_left(LINES, people, None, 3)["people"] == (3, 0, 0)
    left = people_left(LINES, people, None, 3, people == 2)["people"]
    assert left == (3, 2, 0)  # Ada and Bob have each other; whoever has no name has these two
    assert drives_left(LINES, people, people, 3, people == 2) == {"drives": (3, 2, 0)}


def _walk(name: str, person: str | None, lat: float) -> Trace:
    return Trace(
        name, person, lat + np.arange(0.0, 0.03, 0.001), np.full(30, 2.0), np.full(30, np.nan)
    )


def test_who_has_no_name_is_known_from_extraction_to_the_report(tmp_path: Path) -> None:
    """Each of three roads has Ada, Bob, and a recording without a name."""
    who = ["Ada", None, "Bob"]
    walks = [
        _walk(f"{person} {road}", person, 40.0 + road + 1e-4 * place)
        for road in range(3)
        for place, person in enumerate(who)
    ]
    trips = cut(walks, Rules())
    assert trips.nameless is not None
    assert trips.nameless.tolist() == [False, True, False] * 3
    kept = trips.take(np.arange(9)[::-1][1:])

    path = tmp_path / "trips.parquet"
    trajanon.write_trajectories(path, kept)
    read = trajanon.read_trajectories(path)
    assert read.nameless is not None
    assert read.nameless.tolist() == [True, False, False] * 2 + [True, False]

    release = trajanon.anonymize(trips, k=3, effort="fast")
    persons = {"people": 3, "people_below": 2, "people_alone": 0}
    assert release.report["persons"] == persons
    assert release.verdict.colour != "green"

    # One of the three on each line has no name, and may be one of the two others.
    for k, few_named in ((2, 0), (3, 3)):
        release = trajanon.anonymize(trips, k=k, effort="fast")
        assert release.report["lines_of_few_named"] == few_named
        kinds = [finding.kind for finding in release.verdict.findings]
        assert ("nameless_are_others" in kinds) == bool(few_named)


def test_nobody_is_attacked_by_trips_of_recordings_without_a_name() -> None:
    """They may be of several people, whose trips tell nothing of each other."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (6, 3, 2))
    trips = trajanon.Trajectories(points, np.array(["Ada", None] * 3, dtype=object))
    steps = people_steps(trips, np.arange(6))
    assert steps is not None
    assert (steps.here.tolist(), steps.there.tolist()) == ([0, 2], [2, 4])
    nobody = np.ones(6, dtype=np.bool_)
    seen = Published(points, points, np.arange(6), 2, np.zeros(6, dtype=np.int64))
    assert other_trips(seen) is not None
    assert other_trips(replace(seen, nameless=nobody)) is None


def test_who_has_no_name_is_known_of_names_in_python() -> None:
    names = np.array(["Ada", None, "Bob", None], dtype=object)
    trips = trajanon.Trajectories(np.zeros((4, 2, 2)), names)
    assert trips.nameless is not None
    assert trips.nameless.tolist() == [False, True, False, True]
    nobody = trajanon.Trajectories(np.zeros((2, 2, 2)), np.array([None, None]))
    assert nobody.nameless is None


def test_windows_of_which_nobody_knows_the_drive_are_not_passed_over() -> None:
    """Unless each person has one, so that no drive is on two lines."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (30, 3, 2))
    for people, known in ((np.arange(30) % 6, False), (np.arange(30), True)):
        release = trajanon.anonymize(trajanon.Trajectories(points, people), k=3, effort="fast")
        kinds = [finding.kind for finding in release.verdict.findings]
        assert ("drives_not_checked" in kinds) != known
        assert ("chains" in release.report) == known
    trips = trajanon.Trajectories(points, np.arange(30) % 6, np.arange(30))
    kinds = [finding.kind for finding in trajanon.anonymize(trips, k=3).verdict.findings]
    assert "drives_not_checked" not in kinds


@st.composite
def drives_of(draw: st.DrawFn, n: int) -> Tracks:
    random = np.random.default_rng(draw(st.integers(0, 999)))
    return drives(random.integers(0, draw(st.integers(1, 4)), n), random.permutation(ROOM)[:n])


@given(cities(most=12), st.booleans(), st.data())
def test_on_all_lines_of_a_drive_are_those_of_the_slow_twin(
    city: Published, named: bool, data: st.DataObject
) -> None:
    tracks = data.draw(drives_of(len(city.points)))
    people = city.owners if named else tracks.run
    left = naive.left_on(tracks.run, city.labels, people, city.k)
    found = drives_left(city.labels, tracks.run, city.owners if named else None, city.k)
    assert [list(one) for one in found.values()] == [left] * (left[0] > 0)


def test_companions_who_turn_off_leave_one_alone() -> None:
    """One of each pair turns at the crossing: each line still has two, each chain but one."""
    city, tracks = crossroads()
    assert drives_left(city.labels, tracks.run, city.subjects, 2) == {"drives": (4, 0, 0)}
    turned = np.array([0, 1, 0, 3, 2, 3, 2, 1])
    assert drives_left(turned, tracks.run, city.subjects, 2) == {"drives": (4, 4, 4)}
    # Where k counts nobody's name, drives are counted, and these are as many.
    assert drives_left(turned, tracks.run, None, 2) == {"drives": (4, 4, 4)}
    # Whoever made both drives of a pair was alone on both lines before.
    one = drives_left(city.labels, tracks.run, np.zeros(8, dtype=int), 2)
    assert one["drives"][1:] == (4, 4)


def test_nothing_chains_without_steps() -> None:
    city, tracks = crossroads()
    assert drives_left(city.labels, np.arange(8), None, 2) == {}
    assert drives_left(np.zeros(8, dtype=int), tracks.run, city.subjects, 2) == {}
    assert people_followed(replace(city, subjects=None), None, city) is None


@pytest.mark.parametrize("align", [False, True])
def test_anonymize_counts_who_is_left_along_drives(align: bool) -> None:
    release = trajanon.anonymize(crossing(), 2, align=align, effort="fast")
    counted = (4, 4, 4)
    assert tuple(release.report["chains"].values()) == counted
    # Without tracks, windows of one recording are known by it; where nothing is known, by nothing.
    ways = replace(crossing(), tracks=None)
    without_tracks = trajanon.anonymize(ways, 2, align=align, effort="fast")
    assert tuple(without_tracks.report["chains"].values()) == counted
    assert without_tracks.verdict.colour == "red"
    evaluated_chains = trajanon.evaluate(ways, without_tracks).account["chains"]
    assert evaluated_chains.items() >= without_tracks.report["chains"].items()
    ways = replace(ways, trace=None)
    assert "chains" not in trajanon.anonymize(ways, 2, align=align, effort="fast").report


def test_the_screen_warns_of_chains_and_names_the_ways_out(run: Run) -> None:
    write_trajectories("drives.parquet", crossing())
    said = run("anonymize", "drives.parquet", "-k", "2", *FAST).out
    assert said.startswith("Do not publish.\n- Windows of one drive lie end to end: ")
    assert "trajanon extract --windows --per-recording 1 FILES" in said
    write_trajectories("windows.parquet", crossing().take(np.arange(0, 8, 2)))
    assert "follows a drive" not in run("anonymize", "windows.parquet", "-k", "2", *FAST).out
