"""Who is left on all lines of a person, where some recordings have no name."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import trajanon
from trajanon.evaluation.attacks.other_trips import other_trips
from trajanon.evaluation.attacks.published_lines import Published, people_steps
from trajanon.extract import Rules, Trace, cut
from trajanon.release.people_left import drives_left, people_left

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
