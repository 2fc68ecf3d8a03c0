"""Half of the people released again: who is in a release, and what it shows beyond the others.

Shapes: n trajectories, g lines, p points of a trajectory.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.common.errors import TooFewSubjects
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.attacks.end_or_hour import NEAR_END, departures_told, ends_told
from trajanon.evaluation.attacks.next_trip import next_line
from trajanon.evaluation.attacks.published_lines import Published, nearest_line, people_steps
from trajanon.evaluation.choice_of_k import TrialOptions, options_in, trial_release
from trajanon.evaluation.intervals import Estimate, Risk, area_under_curve, risk
from trajanon.evaluation.page.templates import words
from trajanon.release.report import Report
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

SHADOWS = 18
"""Releases that an adversary makes of halves, to learn how lines lie beside members and others."""

NEXT = "linkability of the next"
"""The question of the attack on the next trip of a person."""

# Of the likelihood ratio.
_METRE = 1.0  # added to distances, as lines are rounded
_WEIGHT_OF_ALL = 1.0  # of the mean variance of all, beside 1 of a trajectory's own
_LEAST_VARIANCE = 1e-6  # of logarithms of metres

_FALSE_ALARMS = 0.01  # share of the others who are taken for members; one of them at least is

Publish = Callable[[Trajectories, int], Floats]
"""Publishes trajectories, in the run of a number from 0 on: the different lines, (g, p, 2)."""


@dataclass(frozen=True)
class Holdout:
    """What a release of half of the subjects shows of them, and what of the other half.

    Intervals are of 90 %, with subjects as clusters.
    """

    k: int
    members: int  # subjects released
    others: int  # subjects held out
    lines: int  # different ones
    membership: Estimate  # by how likely all trajectories of a subject are those of a member
    surely: float  # share of the members found if 1 % of the others, or one, is taken for some
    risks: Mapping[str, Risk]  # by question

    @property
    def beside(self) -> str:
        """Compare members with those held out, in a few sentences."""
        return words("holdout", held=self, near_end=NEAR_END)


class Shadows(NamedTuple):
    """How far trajectories are from releases of random halves of the subjects."""

    metres_away: Floats  # from the nearest line of each release, (r, n)
    is_inside: Bools  # whether each trajectory is in it, (r, n); each in some, and not in others


class Halves(NamedTuple):
    """A release of half of the subjects, and shadow releases of other halves."""

    is_member: Bools  # whether each trajectory is in the release, (n,)
    subjects: Ints  # (n,)
    lines: Floats  # different ones, (g, p, 2)
    shadows: Shadows


def hold_out(
    trajectories: Trajectories, report: Report, *, seed: int = 0, progress: Progress = silent
) -> Holdout:
    """Anonymize one half of the subjects again, with a report's settings; attack both halves.

    Where nothing is known of subjects, each drive counts as one, or each trajectory if drives are
    not known. Distances are of places, also where times are released; the hour is then asked for.
    Shadow releases are made as by an adversary: quickly, and with another key.

    Raises
    ------
    TooFewSubjects
        If a half has fewer than k.
    """
    k = report.k
    options = options_in(report)
    shadow_options: TrialOptions = {**options, "effort": "fast"}
    if not report.as_published:
        shadow_options["key"] = np.random.default_rng([seed, SHADOWS]).bytes(32)
    lines_of_run_0 = list[ReleasedTrajectories]()  # their times are asked for below

    def publish(half: Trajectories, run: int) -> Floats:
        # Run 0 is the release of the members; all others are shadows.
        release = trial_release(half, k, shadow_options if run else options)
        rows = release.trajectories
        lines = rows.take(np.unique(rows.records, axis=0, return_index=True)[1])
        if run == 0:
            lines_of_run_0.append(lines)
        return lines.points

    halves = published_halves(trajectories, k, publish, seed=seed, progress=progress)
    (lines,) = lines_of_run_0
    timing = report.timing
    hour_is_told = None
    if timing is not None and lines.times is not None:
        hour_is_told = departures_told(
            Published(
                points=trajectories.points,
                lines=lines.points,
                labels=np.zeros(len(trajectories), np.int64),  # not asked for
                k=k,
                times=timing.seconds(trajectories),
                line_times=lines.times,
                cycle=timing.clock.period,
            )
        )
    return measured_halves(trajectories, halves, k, hour_is_told=hour_is_told)


def published_halves(
    trajectories: Trajectories,
    k: int,
    publish: Publish,
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Halves:
    """Publish half of the subjects, and random halves as an adversary would.

    Halves of shadows come in pairs, so that each subject is in half of them.
    """
    is_member, subjects = drawn_half(trajectories, k, seed)
    lines = publish(trajectories.take(is_member), 0)
    people = int(subjects.max()) + 1
    random = np.random.default_rng([seed, SHADOWS])

    metres_away = list[Floats]()
    is_inside = list[Bools]()
    while len(metres_away) < SHADOWS:
        progress("Shadow releases", len(metres_away), SHADOWS)
        half = np.isin(subjects, random.permutation(people)[: people // 2])
        for released in (half, ~half):
            shadow_lines = publish(trajectories.take(released), len(metres_away) + 1)
            metres_away.append(nearest_line(trajectories.points, shadow_lines)[0])
            is_inside.append(released)
    return Halves(is_member, subjects, lines, Shadows(np.array(metres_away), np.array(is_inside)))


def drawn_half(trajectories: Trajectories, k: int, seed: int = 0) -> tuple[Bools, Ints]:
    """Draw half of the subjects: whether each trajectory is a member's, and its subject, (n,) each.

    Subjects are numbered from 0 on.
    """
    if trajectories.subject is not None:
        subjects = renumbered(trajectories.subject)
    elif trajectories.tracks is not None:
        subjects = renumbered(trajectories.tracks.run)
    else:
        subjects = np.arange(len(trajectories))

    people = int(subjects.max()) + 1
    if people < 2 * k:
        raise TooFewSubjects(
            f"a hold-out with k = {k} needs {2 * k} subjects, k for each half; there are {people}"
        )
    members = np.random.default_rng(seed).permutation(people)[: (people + 1) // 2]
    return np.isin(subjects, members), subjects


def measured_halves(
    trajectories: Trajectories, halves: Halves, k: int, *, hour_is_told: Bools | None = None
) -> Holdout:
    """Attack members and the others with the lines of the members' release.

    ``hour_is_told`` marks the trajectories whose departure is found by the line, (n,).
    """
    points = trajectories.points
    is_member, subjects, lines, shadows = halves

    # Each trajectory counts as on a line of its own, so that no step of a person is left out. Of
    # what is seen, the right line is the nearest.
    metres_away, nearest = nearest_line(points, lines)
    steps = people_steps(trajectories, np.arange(len(trajectories)))
    one_row_each = np.ones(len(lines), np.int64)
    seen = Published(
        points, lines, labels=nearest, k=k, against="half", copies=one_row_each, steps=steps
    )

    successes: dict[str, Bools] = {
        "linkability": _is_linked(points, lines),
        "inference": ends_told(seen),
    }
    if hour_is_told is not None:
        successes["inference of the hour"] = hour_is_told
    risks = {
        question: _risk_of(succeeded.astype(np.float64), is_member, subjects)
        for question, succeeded in successes.items()
    }

    # The next trip can only be compared where people of both halves have one, and another line.
    if steps is not None and len(lines) > 1 and 0 < is_member[steps.here].sum() < len(steps.here):
        rates = next_line(seen).line_rates
        risks[NEXT] = _risk_of(rates, is_member[steps.here], subjects[steps.here])

    # Of each subject one number: a score, and whether the subject is a member.
    _, first = np.unique(subjects, return_index=True)
    score = member_scores(metres_away, shadows, subjects)
    is_member_by_subject = is_member[first]
    alarm_from = np.quantile(score[~is_member_by_subject], 1.0 - _FALSE_ALARMS)
    return Holdout(
        k=k,
        members=len(np.unique(subjects[is_member])),
        others=len(np.unique(subjects[~is_member])),
        lines=len(lines),
        # Who is likelier a member counts as nearer.
        membership=area_under_curve(-score, is_member_by_subject, subjects[first]),
        surely=float((score[is_member_by_subject] > alarm_from).mean()),
        risks=risks,
    )


def _is_linked(points: Floats, lines: Floats) -> Bools:
    """Check whether both halves of each trajectory, (n, p, 2), lead to the same line."""
    half = points.shape[1] // 2
    parts = slice(None, half), slice(half, None)
    by_begin, by_end = (nearest_line(points[:, part], lines[:, part])[1] for part in parts)
    return np.asarray(by_begin == by_end)


def _risk_of(rates: Floats, is_member: Bools, subjects: Ints) -> Risk:
    """Compare the success of an attack against each trajectory, (n,), of members and of others."""
    return risk(rates[is_member], rates[~is_member], subjects[is_member], subjects[~is_member])


def member_scores(metres_away: Floats, shadows: Shadows, subjects: Ints) -> Floats:
    """Score subjects by how much likelier a release is if they are members.

    ``metres_away``, (n,), is how far its nearest line is from each trajectory. Logarithms of such
    distances are normal, with a mean where a trajectory is inside and another where it is not, and
    a variance of its own that is drawn to that of all. Those of a subject are added up: one score
    for each, in the order of their numbers.

    Source: N. Carlini, S. Chien, M. Nasr, S. Song, A. Terzis, F. Tramèr, "Membership inference
    attacks from first principles", IEEE S&P 2022.
    """
    logs = np.log(shadows.metres_away + _METRE)
    seen = np.log(metres_away + _METRE)

    sum_of_squares = np.zeros_like(seen)
    squares_off = list[Floats]()  # of what is seen, from the means outside and inside
    for is_there in (~shadows.is_inside, shadows.is_inside):
        mean = np.average(logs, axis=0, weights=is_there)
        sum_of_squares += (is_there * (logs - mean) ** 2).sum(axis=0)
        squares_off.append((seen - mean) ** 2)
    # Sums over the shadow releases: a trajectory's own, and the mean of all.
    drawn_to_all = sum_of_squares + _WEIGHT_OF_ALL * sum_of_squares.mean()
    variance = drawn_to_all / ((1 + _WEIGHT_OF_ALL) * len(logs)) + _LEAST_VARIANCE

    if_outside, if_inside = squares_off
    likelier = 0.5 * (if_outside - if_inside) / variance
    person = np.unique(subjects, return_inverse=True)[1]
    return np.asarray(np.bincount(person, likelier), dtype=np.float64)
