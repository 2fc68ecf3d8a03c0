"""Half of the people released again: who is in a release, and what it shows beyond the others.

Shapes: n trajectories, g lines, p points of a trajectory.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.common.errors import TooFewSubjects
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.attacks.end_or_hour import NEAR_END, departures_told, ends_told
from trajanon.evaluation.attacks.next_trip import next_line
from trajanon.evaluation.attacks.published_lines import Published, people_steps
from trajanon.evaluation.choice_of_k import TrialOptions, options_in, trial_release
from trajanon.evaluation.intervals import Estimate, Risk, area_under_curve, risk
from trajanon.evaluation.page.templates import words
from trajanon.release.report import Report
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.trajectories import Trajectories

SHADOWS = 18
"""Releases that an adversary makes of halves, to learn how lines lie beside members and others."""

NEXT = "linkability of the next"
"""The question of the attack on the next trip of a person."""

# Of the likelihood ratio.
_METRE = 1.0  # added to distances, as lines are rounded
_WEIGHT_OF_ALL = 1.0  # of the mean variance of all, beside 1 of a trajectory's own
_LEAST_VARIANCE = 1e-6  # of logarithms of metres

_FALSE_ALARMS = 0.01  # share of the others who are taken for members; one of them at least is


class Lines(NamedTuple):
    """The different lines of a release."""

    points: Floats  # (g, p, 2)
    times: Floats | None = None  # seconds of the release's clock, (g, p); None: not published


Publish = Callable[[Trajectories, int], Lines]
"""Publishes trajectories, in the run of a number from 0 on."""


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
    lines: Lines
    shadows: Shadows


def hold_out(
    trajectories: Trajectories, report: Report, *, seed: int = 0, progress: Progress = silent
) -> Holdout:
    """Anonymize one half of the subjects again, with a report's settings; attack both halves.

    Where nothing is known of subjects, each drive counts as one, or each trajectory if drives are
    not known. Where times are released, adversaries know them; and the hour of departure is asked
    for. Shadow releases are made as by an adversary: quickly, and with another key.

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

    def publish(half: Trajectories, run: int) -> Lines:
        # Run 0 is the release of the members; all others are shadows.
        release = trial_release(half, k, shadow_options if run else options)
        rows = release.trajectories
        lines = rows.take(np.unique(rows.records, axis=0, return_index=True)[1])
        return Lines(lines.points, lines.times)

    timing = report.timing
    halves = published_halves(trajectories, k, publish, timing, seed=seed, progress=progress)
    return measured_halves(trajectories, halves, k, timing)


def published_halves(
    trajectories: Trajectories,
    k: int,
    publish: Publish,
    timing: Timing | None = None,
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
            metres_away.append(_nearest_lines(_seen(trajectories, shadow_lines, k, timing))[0])
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


def _seen(trajectories: Trajectories, lines: Lines, k: int, timing: Timing | None) -> Published:
    """Return what an adversary sees of lines, beside all trajectories, which are on none so far."""
    return Published(
        points=trajectories.points,
        lines=lines.points,
        labels=np.zeros(len(trajectories), np.int64),
        k=k,
        against="half",
        times=None if timing is None else timing.seconds(trajectories),
        line_times=lines.times,
        cycle=np.inf if timing is None else timing.clock.period,
        copies=np.ones(len(lines.points), np.int64),
    )


def _nearest_lines(seen: Published, part: slice = slice(None)) -> tuple[Floats, Ints]:
    """Find how far a part of each trajectory is from the nearest line, and which: both (n,).

    Distances are root mean squares over all points, of metres and hours.
    """
    originals, lines = seen.records(part)
    metres_away, line = cKDTree(lines).query(originals, workers=-1)
    return metres_away / np.sqrt(seen.points.shape[1]), line.astype(np.int64)


def measured_halves(
    trajectories: Trajectories, halves: Halves, k: int, timing: Timing | None = None
) -> Holdout:
    """Attack members and the others with the lines of the members' release."""
    is_member, subjects, lines, shadows = halves
    seen = _seen(trajectories, lines, k, timing)
    metres_away, nearest = _nearest_lines(seen)
    # Each trajectory counts as on a line of its own, so that no step of a person is left out. Of
    # what is seen, the right line is the nearest.
    steps = people_steps(trajectories, np.arange(len(trajectories)))
    seen = replace(seen, labels=nearest, steps=steps)

    half = seen.points.shape[1] // 2
    by_begin, by_end = (
        _nearest_lines(seen, part)[1] for part in (slice(None, half), slice(half, None))
    )
    successes: dict[str, Bools] = {"linkability": by_begin == by_end, "inference": ends_told(seen)}
    if seen.line_times is not None:
        successes["inference of the hour"] = departures_told(seen)
    risks = {
        question: _risk_of(succeeded.astype(np.float64), is_member, subjects)
        for question, succeeded in successes.items()
    }

    # The next trip can only be compared where people of both halves have one, and another line.
    has_other_lines = len(seen.lines) > 1
    if steps is not None and has_other_lines and 0 < is_member[steps.here].mean() < 1:
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
        lines=len(seen.lines),
        # Who is likelier a member counts as nearer.
        membership=area_under_curve(-score, is_member_by_subject, subjects[first]),
        surely=float((score[is_member_by_subject] > alarm_from).mean()),
        risks=risks,
    )


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
