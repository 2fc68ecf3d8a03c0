"""Published lines: rows of each person, steps from trip to trip, and the nearest lines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from naive_attacks import cities
from toy import NORTH, commuters, crossing, on_earth, toy

import trajanon
from trajanon.evaluation.attacks.published_lines import (
    Published,
    lines_nearest_to,
    nearest_line,
    people_steps,
    published,
)
from trajanon.release.originals import matched
from trajanon.release.report_files import checked

TO_WORK_AND_HOME = np.tile([0, 0, 1, 1, 2, 3, 2, 3], 2)
"""Lines of the commuters: neighbours share the one to work, and not the one home."""


@given(cities(most=12))
def test_rows_held_are_those_of_a_person_on_a_line(city: Published) -> None:
    has_row = np.ones(len(city.points), np.bool_) if city.own_row is None else city.own_row
    for subject in np.unique(city.owners):
        lines = np.arange(len(city.lines))
        held = city.rows_held(np.full(len(lines), subject), lines)
        is_theirs = has_row & (city.owners == subject)
        assert held.tolist() == [int((city.labels[is_theirs] == line).sum()) for line in lines]
    assert city.row_counts.sum() == has_row.sum()
    assert city.group_sizes.sum() == len(city.points)


@given(cities())
def test_originals_are_groups_of_one(city: Published) -> None:
    naked = city.originals
    assert naked.against == "originals"
    assert naked.group_sizes.tolist() == naked.row_counts.tolist() == [1] * len(city.points)
    # Each is nearest to itself, and to those at the same place.
    for row, lines in enumerate(naked.nearest):
        same = (city.points == city.points[row]).all(axis=(1, 2))
        assert sorted(lines) == np.flatnonzero(same).tolist()


def test_steps_go_to_the_next_departure_of_a_day() -> None:
    trips = commuters()
    steps = people_steps(trips, TO_WORK_AND_HOME)
    assert steps is not None
    assert steps.on_a_day
    assert sorted(zip(steps.here.tolist(), steps.there.tolist(), strict=True)) == [
        (row, row + 4) for row in (0, 1, 2, 3, 8, 9, 10, 11)
    ]

    # In another order of the file these are the same steps.
    order = np.random.default_rng(0).permutation(16)
    mixed = people_steps(trips.take(order), TO_WORK_AND_HOME[order])
    assert mixed is not None
    found = zip(order[mixed.here].tolist(), order[mixed.there].tolist(), strict=True)
    expected = zip(steps.here.tolist(), steps.there.tolist(), strict=True)
    assert sorted(found) == sorted(expected)


def test_where_no_day_has_a_step_they_go_from_day_to_day() -> None:
    trips = commuters().take(np.array([0, 1, 8, 9]))  # two people, on their way to work
    steps = people_steps(trips, np.array([0, 0, 1, 1]))
    assert steps is not None
    assert not steps.on_a_day
    assert sorted(zip(steps.here.tolist(), steps.there.tolist(), strict=True)) == [(0, 2), (1, 3)]


def test_nobody_steps_on_one_line_or_without_a_name() -> None:
    trips = commuters()
    assert people_steps(trips, np.zeros(16, dtype=np.int64)) is None
    assert people_steps(replace(trips, subject=None), TO_WORK_AND_HOME) is None
    nameless = replace(trips, provenance={**trips.provenance, "nameless_subject": 0})
    steps = people_steps(nameless, TO_WORK_AND_HOME)
    assert steps is not None
    assert set(np.asarray(trips.subject)[steps.here].tolist()) == {1, 2, 3}


def test_hours_are_known_only_where_all_have_them() -> None:
    trips = commuters()
    lines = np.stack([trips.points[line == TO_WORK_AND_HOME][0] for line in range(4)])
    line_times = np.tile([0.0, 600.0, 1_200.0], (4, 1))
    whole = Published(trips.points, lines, TO_WORK_AND_HOME, 2, times=trips.times)
    assert not whole.shows_hours
    timed = replace(whole, line_times=line_times)
    assert timed.shows_hours
    records, of_lines = timed.records([0, 2])
    assert records.shape == (16, 6)
    assert of_lines[0, 4:].tolist() == pytest.approx([0.0, 80.0])  # 4 m a minute
    unknown = np.array(trips.times)
    unknown[3] = np.nan
    assert not replace(timed, times=unknown).shows_hours


def test_lines_at_one_distance_are_all_the_nearest() -> None:
    found = lines_nearest_to(np.zeros((1, 2)), np.array([[3.0, 4.0], [0.0, 5.0], [5.0, 0.1]]))
    assert [sorted(lines) for lines in found] == [[0, 1]]


def test_the_nearest_line_is_as_far_as_its_points_on_average() -> None:
    lines = on_earth([[[0, 0], [0, 100]], [[50, 0], [50, 100]]])
    trips = on_earth([[[3, 0], [4, 100]], [[60, 0], [60, 100]]])
    metres, line = nearest_line(trips, lines)
    assert line.tolist() == [0, 1]
    assert metres == pytest.approx([np.sqrt(12.5), 10.0], rel=1e-4)


def test_what_is_published_is_what_was_averaged_beside_its_lines() -> None:
    windows = crossing()
    release = trajanon.anonymize(windows, 2, effort="fast")
    report = checked(release.report)
    groups = matched(windows, release.trajectories, report)
    seen = published(groups, report)
    assert (seen.k, seen.unit, seen.against) == (2, "trajectory", "release")
    np.testing.assert_array_equal(seen.points, groups.slid.points)
    assert seen.line_times is None

    of_two = trajanon.anonymize(toy(), 2, effort="fast")
    pairs = matched(toy(), of_two.trajectories, checked(of_two.report))
    seen = published(pairs, checked(of_two.report))
    assert seen.steps is None
    offset = seen.in_metres(seen.lines[0, 0] + np.array([1.0, 0.0]))
    assert offset[0] == pytest.approx(NORTH, rel=1e-4)
