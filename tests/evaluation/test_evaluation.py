"""Evaluations: numbers of small cases by hand, what is read of files, and what is refused."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from evaluations import Evaluated, evaluated, released
from reports import reported
from toy import toy
from verdicts import alone

import trajanon
from trajanon.common.errors import BadInput
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.evaluation import (
    ROUNDED,
    box_of,
    lines_near,
    months,
    movement_of,
    violations,
)
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


@pytest.mark.usefixtures("plain_means")
def test_pairs_are_measured_as_by_hand() -> None:
    evaluation = evaluated(toy())
    account = evaluation.account
    assert evaluation.holds
    assert (evaluation.k, evaluation.report.counted) == (2, "subjects")
    assert (evaluation.trajectories, evaluation.points, evaluation.subjects) == (4, 3, 4)
    assert evaluation.sizes.tolist() == [2, 2]
    assert account["violations"] == {"records": 0, "subjects": 0}
    # Each line moves 10 m to the middle of its pair.
    left = evaluation.usefulness
    assert list(asdict(left.displacement).values()) == pytest.approx([10.0] * 4, rel=1e-3)
    assert left.length_change == pytest.approx(0.0, abs=1e-6)
    # Columns: latitudes -1010, -990, 990, 1010 m about their mean; longitudes constant.
    expected = 100 * 4 * 10.0**2 / (2 * 1010.0**2 + 2 * 990.0**2)
    assert evaluation.loss == pytest.approx(expected, rel=1e-4)
    assert evaluation.loss == pytest.approx(evaluation.report.information_loss, rel=1e-4)
    nearest = evaluation.attacks[0].account
    assert (nearest["name"], nearest["baseline"]) == ("nearest record", 0.5)
    assert nearest["expected"] == nearest["worst_case"] == 0.5


def test_windows_that_slid_are_measured_where_they_were_averaged(slid_sample: Evaluated) -> None:
    evaluation, report = slid_sample
    left = evaluation.usefulness
    assert asdict(left.displacement) == pytest.approx(report["displacement"], rel=1e-4)
    assert left.length == pytest.approx(report["length"]["mean"], rel=1e-4)
    assert evaluation.loss == pytest.approx(report["information_loss"], rel=1e-3)
    names = [attack.name for attack in evaluation.attacks if attack.against == "release"]
    assert len(set(names)) == len(names)
    for text in (evaluation.html, evaluation.datasheet, json.dumps(evaluation.account["answers"])):
        for word in ("as slid", "as cut", "without sliding", "the runs"):
            assert word not in text


# What does not belong together


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": None}, "Expected int, got null - at .*k"),
        ({"k": "2"}, "Expected int, got str"),
        ({"k": True}, "Expected int, got bool"),
        ({"k": 1}, "Expected int >= 2 - at .*k"),
        ({"counted": "people"}, "Invalid enum value 'people'"),
        ({"labels": None}, "Expected array, got null - at .*labels"),
        ({"labels": [0, 0, 0]}, "not match its groups"),
        ({"labels": [0, 1, 0, 1]}, "do not belong together"),
        ({"n": 5}, "do not belong together"),
        ({"alignment": {"starts": [0, 0, 0, 0]}}, "do not belong together"),
        ({"alignment": {}}, "do not belong together"),
    ],
)
def test_a_report_that_does_not_fit_is_refused(change: dict[str, Any], says: str) -> None:
    release, report = released(toy())
    with pytest.raises(BadInput, match=says):
        trajanon.evaluate(toy(), release, report | change)


def one_more_of_a_line(release: ReleasedTrajectories) -> ReleasedTrajectories:
    _, first, copies = np.unique(release.records, axis=0, return_index=True, return_counts=True)
    assert copies.tolist() == [2, 2]
    return release.take(first[[0, 0, 0, 1]])


def test_strangers_are_refused() -> None:
    release, report = released(toy())
    other = Trajectories(toy().points + 0.01)
    strangers: list[tuple[Any, Any]] = [
        (other, release),
        (toy(), other),
        (release, toy()),
        (toy().take(np.arange(3)), release),
        (toy(), release.take(np.arange(3))),
        (toy(), one_more_of_a_line(release)),
        (Trajectories(toy().points[:, :2]), release),
    ]
    for originals, lines in strangers:
        with pytest.raises(BadInput, match="do not belong together: give all three of one run"):
            trajanon.evaluate(originals, lines, report)
    frame: Any = pd.DataFrame({"lat": [40.0], "lon": [2.0]})
    with pytest.raises(BadInput, match=r"not a DataFrame: anonymize what cut\(from_f"):
        trajanon.evaluate(frame, release, report)


@pytest.mark.usefixtures("plain_means")
def test_the_area_holds_all_released_lines_and_is_no_finer_than_hundredths() -> None:
    release, report = released(toy())
    area = trajanon.evaluate(toy(), release, report).area
    assert area == (0.0, 0.0, 0.01, 0.02)  # to 222 m east, and to 2,010 m north


@pytest.mark.parametrize("told", [None, "50", True, [5], -5.0, float("nan")])
def test_a_spacing_that_is_no_number_is_not_repeated(told: object) -> None:
    odd = Trajectories(toy().points, provenance={"spacing": told})
    release, report = released(toy())
    assert trajanon.evaluate(odd, release, report).spacing is None


def test_months_are_those_in_which_k_people_begin_and_end() -> None:
    days = ["2008-01-05", "2008-02-05", "2008-02-06", "2008-03-01", "2008-05-01"]
    starts = np.array(days, dtype="datetime64[s]").astype(np.float64)
    times = starts[:, None] + [0.0, 3_600.0]
    people = np.arange(5)
    assert months(times, people, 1) == "2008-01 to 2008-05"
    assert months(times, people, 2) == "2008-02 to 2008-03"
    assert months(times, people, 3) == "2008-02"
    assert months(times, people, 4) is None  # begin in March, and end in February
    assert months(times, people // 4, 3) is None  # of two people
    assert months(None, people, 2) is None
    assert months(times - 30 * 365.0 * 86_400.0, people, 2) is None  # before 1980


def test_violations_count_groups_of_few_records_and_of_few_people() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    points = np.zeros((6, 2, 2))
    seen = Published(points, points[:3], labels, 2)
    assert violations(seen, 2) == {"records": 1, "subjects": None}
    assert violations(seen, 4) == {"records": 3, "subjects": None}
    whose = replace(seen, subjects=np.array([0, 0, 1, 2, 2, 3]))
    assert violations(whose, 2) == {"records": 1, "subjects": 2}


def test_the_box_is_rounded_outward_to_hundredths() -> None:
    points = np.array([[[40.001, -3.709], [40.41, -3.7]]])
    assert box_of(points) == (-3.71, 40.0, -3.7, 40.41)


def test_lines_near_a_line_are_as_many_as_may_be_tried() -> None:
    """A degree of longitude is half as wide at 60 degrees: the line to the east is nearer."""
    middles = np.array([[60.0, 2.0], [60.1, 2.0], [60.0, 2.15], [61.0, 2.0]])
    sizes = np.array([5, 4, 3, 9])
    for most, lines in ((5, [0]), (8, [0, 2]), (11, [0, 2]), (12, [0, 2, 1]), (99, [0, 2, 1, 3])):
        assert lines_near(middles, 0, sizes, most).tolist() == lines


def test_lines_of_a_release_are_moved_as_everybody_may_read() -> None:
    """Plain means are not moved, and round numbers hide half of their step."""
    seen = Published(np.zeros((4, 3, 2)), np.zeros((2, 3, 2)), np.array([0, 0, 1, 1]), 2)
    still = movement_of(reported(), seen)
    assert still.places.covariance_times(1.0, 0.5) == pytest.approx(ROUNDED**2 * np.eye(3))
    assert (still.shares.tolist(), still.times) == ([0.5, 0.5], None)
    moved = movement_of(reported(width=100.0), seen)
    variances = np.diag(moved.places.covariance_times(1.0, 1.0))
    assert (variances >= 100.0**2).all()

    timed = replace(seen, times=np.zeros((4, 3)), line_times=np.zeros((2, 3)))
    assert movement_of(reported(width=100.0), timed).times is None
    of_times = movement_of(reported(**alone(0)), timed).times
    assert of_times is not None
    assert of_times.covariance_times(1.0, 1.0) == pytest.approx(300.0**2 / 12.0 * np.eye(3))
