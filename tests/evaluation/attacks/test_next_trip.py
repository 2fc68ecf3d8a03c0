"""Windows of a drive and trips of a person, taken together or followed from line to line."""

from dataclasses import astuple, replace

import naive_attacks as naive
import numpy as np
import pytest
from crossroads import crossroads
from evaluations import evaluated
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities, timed_cities
from toy import commuters, crossing

import trajanon
from trajanon.common.arrays import Ints
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.home_and_work import Place
from trajanon.evaluation.attacks.next_trip import Followed, next_line, next_lines, people_followed
from trajanon.evaluation.attacks.published_lines import Published, Steps, people_steps
from trajanon.release.people_left import few_left
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR, departure_days
from trajanon.trajectories.trajectories import Trajectories


@given(st.one_of(cities(most=12), timed_cities()), st.data())
def test_people_are_followed_as_by_the_slow_twin(city: Published, data: st.DataObject) -> None:
    n, labels, people = len(city.points), city.labels, city.owners
    hours = st.lists(st.sampled_from([np.nan, *range(0, 96, 5)]), min_size=n, max_size=n)
    begin = 3_600.0 * np.array(data.draw(hours))[:, None]
    times = np.repeat(begin, city.points.shape[1], axis=1)
    at_sea = np.zeros(city.points.shape)  # by UTC
    trips = Trajectories(at_sea, people, times=times if data.draw(st.booleans()) else None)
    days = None if trips.times is None else (begin[:, 0] / 3_600.0 - 3.0) // 24.0
    cells, order = people, np.arange(n)
    if days is not None:
        order = np.argsort(begin[:, 0], kind="stable")
        own = np.where(np.isnan(days), 10 + np.arange(n), days).astype(int)
        cells = 100 * people + own
    pairs = naive.steps(cells, order, labels)
    on_a_day = days is not None and bool(pairs)
    pairs = pairs if on_a_day else naive.steps(people, order, labels)
    nobody = people == 0 if data.draw(st.booleans()) else None
    seen = replace(city, steps=people_steps(trips, labels), nameless=nobody)
    found = people_followed(seen, None if days is None else own, seen)
    assert found is not None
    nameless = None if seen.nameless is None else 0
    left = {"people": naive.left_on(people, labels, people, city.k, nameless)}
    if days is not None:
        left["days"] = naive.left_on(cells, labels, people, city.k, nameless)
    assert {name: list(counts) for name, counts in found.left.items()} == left
    assert [list(astuple(found.place)), list(astuple(found.second))] == naive.places(city)
    assert found.steps == len(pairs)
    if seen.steps is None:
        return
    assert found.on_a_day == on_a_day
    for start in ("line", "known"):
        told = naive.next_lines(city, pairs, on_a_day, start)
        np.testing.assert_allclose(astuple(found.found[start]), told.mean(axis=0)[:2])
    attack = next_line(seen)
    np.testing.assert_allclose(sorted(attack.rates), sorted(told[:, 2]))
    assert attack.targets.tolist() == [b for _, b in zip(*seen.steps[:2], strict=True)]


def test_recordings_without_names_on_a_line_each_tell_nothing_of_people() -> None:
    city, _ = crossroads()
    each = replace(city, subjects=np.arange(8))
    assert people_followed(each, None, each, nobody_is_named=True) is None
    found = people_followed(each, None, each)
    assert found is not None
    assert found.left["people"].several == 0
    # Windows of a recording are of one person.
    found = people_followed(city, None, city, nobody_is_named=True)
    assert found is not None
    assert found.left["people"].several == 4


def test_evaluate_begins_with_drives_that_leave_fewer_than_k() -> None:
    release = trajanon.anonymize(crossing(), 2, align=False, effort="fast")
    found = trajanon.evaluate(crossing(), release)
    assert found.verdict.kind == "stop"
    assert found.verdict.findings[0].kind == "drives_betrayed"
    assert found.account["chains"].items() >= release.report["chains"].items()
    assert found.account["persons"].items() >= release.report["persons"].items()
    assert few_left(found.chained, 2) in found.html
    assert "No attack of this kind" not in found.html.partition("<h2>Inference")[0]
    for told in (replace(crossing(), tracks=None, trace=None), crossing().take(np.arange(0, 8, 2))):
        few = trajanon.anonymize(told, 2, align=False, effort="fast")
        found = trajanon.evaluate(told, few)
        assert found.account["chains"] is None
        assert "Windows of one drive" not in found.html
        assert "follows a drive" not in " ".join(found.verdict.sentences)


def followed(trips: Trajectories) -> Published:
    """Neighbours share the line to work; on the way home each shares one with somebody else."""
    labels = np.tile([0, 0, 1, 1, 2, 3, 2, 3], 2)
    lines = np.array([trips.points[labels == line].mean(axis=0) for line in range(4)])
    steps = people_steps(trips, labels)
    return Published(trips.points, lines, labels, 2, trips.subject, unit="trip", steps=steps)


def followed_by_next(seen: Published, days: Ints | None) -> tuple[Followed, Attack]:
    assert seen.steps is not None
    attack = next_line(seen)
    found = people_followed(seen, days, seen)
    assert found is not None
    return found, attack


def test_a_person_is_followed_from_work_to_home() -> None:
    trips = commuters()
    seen = followed(trips)
    assert seen.steps is not None
    assert (seen.steps.on_a_day, len(seen.steps.here)) == (True, 8)
    assert set(seen.steps.there - seen.steps.here) == {4}
    found, attack = followed_by_next(seen, departure_days(trips))
    # Both lines home begin half way between the places of work, and the other line far away.
    assert found.first == 0.5
    assert found.left == {"people": (4, 4, 4), "days": (8, 8, 8)}
    assert found.place == Place(4, 4, 0)  # lines to work begin at home
    assert few_left(found.left, 2) == (
        "Anyone who knows all lines of a person is left with fewer than 2 people in 4 of 4 people "
        "on several lines, and with one alone in 4; on one day, in 8 of 8 days and in 8"
    )
    assert attack.rates.tolist() == [0.25] * 8  # four rows, of which one is theirs
    naked = next_line(seen.originals)
    assert (naked.line_found, naked.expected) == (0.25, 0.5)  # four leave each place of work


@pytest.mark.parametrize(("leaves", "found"), [(8.5, 1.0), (8.0, 0.5), (7.0, 0.0)])
def test_released_hours_tell_what_comes_later(leaves: float, found: float) -> None:
    """A line begins where the last ended, and so does another at 08:00, before it ended."""
    lines = np.zeros((3, 2, 2))
    lines[..., 1] = [[0.0, 0.01], [0.01, 0.02], [0.01, 0.02]]
    times = HOUR * np.array([[7.0, 8.25], [leaves, 9.0], [8.0, 9.0]])
    labels = np.array([0, 1, 2])
    seen = Published(
        *(lines, lines, labels, 2, np.array([0, 0, 1])),
        times=times,
        line_times=times,
        cycle=DAY,
        steps=Steps(labels[:1], labels[1:2], on_a_day=True),
    )
    assert followed_by_next(seen, np.zeros(3, dtype=int))[0].first == found


def test_without_times_the_next_trip_is_that_of_the_file() -> None:
    trips = replace(commuters(), times=None)
    seen = followed(trips)
    assert seen.steps is not None
    assert (seen.steps.on_a_day, len(seen.steps.here)) == (False, 12)
    found, _ = followed_by_next(seen, departure_days(trips))
    assert list(found.left) == ["people"]
    assert found.next == "the next trip of the person"


def test_people_on_one_line_each_are_not_followed() -> None:
    trips = commuters().take(np.arange(4))
    found = evaluated(trips)
    assert found.followed is not None
    assert found.followed.steps == 0
    words = "No person is on two lines, so none can be followed from line to line."
    assert words in found.html
    assert found.account["persons"]["people"] == 0
    assert "k is of a line" not in str(found.verdict)


def test_the_line_on_which_a_person_returns_is_found() -> None:
    """Lines that begin nearer to work lead elsewhere, as whoever knows the way to work sees."""
    home, work = [40.0, -3.0], [40.1, -3.0]
    out = np.array([home, work])
    back = np.array([[40.101, -3.0], home])
    elsewhere = np.array([work, [40.2, -3.0]])
    points = np.array([out, back, elsewhere, elsewhere])
    people = np.array([0, 0, 1, 2])
    labels = np.array([0, 1, 2, 2])
    steps = people_steps(Trajectories(points, people), labels)
    seen = Published(points, np.array([out, back, elsewhere]), labels, 2, people, steps=steps)
    assert next_lines(seen).ranks.first == 1.0
    assert next_line(seen).rates.tolist() == [1.0]
