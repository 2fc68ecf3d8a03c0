"""A hold-out tells members from others as well as its slow twins, and fails where it should."""

import json
from pathlib import Path

import naive_holdout as naive
import numpy as np
import pytest
from commands import Run
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from toy import toy, ways

import trajanon
from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import TooFewSubjects
from trajanon.evaluation.attacks.end_or_hour import NEAR_END
from trajanon.evaluation.attacks.published_lines import nearest_line, people_steps
from trajanon.evaluation.holdout_and_membership import (
    NEXT,
    Halves,
    Lines,
    Shadows,
    hold_out,
    measured_halves,
    published_halves,
)
from trajanon.release.report_files import checked
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.trajectories import Trajectories


def shadows_of(points: Floats, subjects: Ints, seed: int, weak: bool = True) -> Shadows:
    """Releases of the originals of random halves, or of others in their place."""
    random, people = np.random.default_rng(seed), int(subjects.max()) + 1
    away, inside = list[Floats](), list[Bools]()
    for _ in range(6):
        half = np.isin(subjects, random.permutation(people)[: people // 2])
        for members in (half, ~half):
            other = ways(len(points) // 2, seed=int(random.integers(99, 9_999)))
            lines = points[members] if weak else other.points
            away.append(nearest_line(points, lines)[0])
            inside.append(members)
    return Shadows(np.array(away), np.array(inside))


@given(st.integers(0, 999), st.integers(2, 4))
def test_it_is_the_slow_twin(seed: int, k: int) -> None:
    some = ways(14, 7, seed)
    subjects = np.arange(14) % 7
    members = subjects < 4
    lines = ways(4, 4, seed + 1).points
    shadows = shadows_of(some.points, subjects, seed)
    found = measured_halves(some, Halves(members, subjects, Lines(lines), shadows), k)
    away = [min(naive.away(one, lines)) for one in some.points]
    gains = np.array(naive.likelier(away, shadows.metres_away.tolist(), shadows.is_inside.tolist()))
    people = np.asarray(np.bincount(subjects, gains), dtype=np.float64)
    assert found.membership.value == pytest.approx(naive.auc(-people[:4], -people[4:]))
    assert found.surely == (people[:4] > np.quantile(people[4:], 0.99)).mean()
    for question, succeeded in (
        ("linkability", np.array([naive.linked(one, lines) for one in some.points])),
        ("inference", np.array(naive.inferred(some.points, lines, NEAR_END))),
    ):
        told = found.risks[question]
        assert (told.main, told.control) == pytest.approx(
            (succeeded[members].mean(), succeeded[~members].mean())
        )


@given(st.integers(0, 999))
def test_people_are_followed_in_both_halves_as_by_the_slow_twin(seed: int) -> None:
    some, members = ways(14, 3, seed), np.arange(14) % 3 < 2
    lines = ways(4, 4, seed + 1).points
    subjects = np.arange(14) % 3
    steps = people_steps(some, np.arange(14))
    assert steps is not None
    assert (steps.on_a_day, len(steps.here)) == (False, 11)
    shadows = shadows_of(some.points, subjects, seed)
    found = measured_halves(some, Halves(members, subjects, Lines(lines), shadows), 2)
    ways_on = [
        np.array(
            [naive.goes_on(some.points[a], some.points[a + 3], lines, way=way) for a in range(11)]
        )
        for way in range(3)
    ]
    goes_on = max(ways_on, key=np.mean)  # the best way; the first, if others are as good
    told = found.risks[NEXT]
    halves = members[:11], ~members[:11]
    of_halves = [goes_on[half].mean() for half in halves]
    assert [told.main, told.control] == pytest.approx(of_halves)
    assert told.words in found.beside


def test_a_release_that_is_no_better_than_the_originals_tells_all() -> None:
    some, subjects = ways(60, 60), np.arange(60)
    members = subjects < 30
    shadows = shadows_of(some.points, subjects, 0)
    lines = some.points[members]
    found = measured_halves(some, Halves(members, subjects, Lines(lines), shadows), 2)
    assert found.surely == 1.0
    assert found.membership.value == 1.0
    assert found.risks["linkability"].main == found.risks["inference"].main == 1.0
    assert found.risks["linkability"].control < 0.5
    # And one that has nothing to do with them tells nothing.
    shadows, lines = shadows_of(some.points, subjects, 0, weak=False), ways(30, 30, 9).points
    other = measured_halves(some, Halves(members, subjects, Lines(lines), shadows), 2)
    assert other.membership.low < 0.5 < other.membership.high
    assert abs(other.risks["linkability"].risk) < 0.5


def test_one_line_alone_leads_to_no_next_trip() -> None:
    """The only line is that of the trip before, which an adversary rules out."""
    some = ways(12, 4)
    subjects = np.asarray(some.subject)
    members = subjects < np.median(subjects)
    shadows = shadows_of(some.points, subjects, 0)
    for lines, are_tried in ((some.points[:1], False), (some.points[:2], True)):
        found = measured_halves(some, Halves(members, subjects, Lines(lines), shadows), 2)
        assert (NEXT in found.risks) == are_tried


@pytest.mark.usefixtures("far_lines")
def test_half_of_too_few_is_refused() -> None:
    report = checked(trajanon.anonymize(toy(), 4, effort="fast").report)
    with pytest.raises(TooFewSubjects, match="needs 8 subjects, k for each half; there are 4"):
        hold_out(toy(), report)
    asked = list[str]()
    release = trajanon.anonymize(toy(), 4, effort="fast")
    with pytest.raises(TooFewSubjects):
        trajanon.evaluate(
            toy(), release, holdout=True, progress=lambda _, done, *__: asked.append(str(done))
        )
    assert not asked


@pytest.mark.usefixtures("far_lines")
def test_people_nobody_knows_count_as_one_each() -> None:
    some = toy(people=None)
    found = hold_out(some, checked(trajanon.anonymize(some, 2, effort="fast").report))
    assert (found.members, found.others, found.lines) == (2, 2, 1)


def test_page_and_verdict_say_what_came_out(run: Run, tmp_path: Path) -> None:
    some = ways(40, 20)
    release = trajanon.anonymize(some, 3, effort="fast")
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", some)
    release.write(tmp_path / "anonymized.parquet")
    answer = run("evaluate", "--holdout")
    assert answer.code == 0
    found = trajanon.evaluate(some, release, holdout=True)
    assert found.holdout is not None
    assert found.holdout.beside in answer.out
    account = found.account["holdout"]
    assert account == json.loads(json.dumps(account))
    told = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert told["holdout"] == account
    assert found.holdout.membership.words in found.html
    assert str(escape(found.holdout.beside)) in found.html
    none = trajanon.evaluate(some, release)
    assert none.holdout is none.account["holdout"] is None
    assert "Beside people" not in none.html
    assert none.html.count("evaluate --holdout does so") == 3


def test_released_hours_show_who_is_in_it() -> None:
    """All go one way, each at another hour."""
    departures = 1.7e9 + 2_400.0 * np.arange(16)[:, None]
    points = np.tile(ways(1).points, (16, 1, 1))
    times = departures + 60.0 * np.arange(points.shape[1])
    some = Trajectories(points, subject=np.arange(16), times=times)
    timing = Timing(Clock("of-day", "Etc/UTC", 60), 3.0)

    def publish(half: Trajectories, _: int) -> Lines:
        return Lines(half.points, timing.seconds(half))

    halves = published_halves(some, 2, publish, timing)
    found = measured_halves(some, halves, 2, timing)
    assert found.membership.value == 1.0
    assert "inference of the hour" in found.risks
