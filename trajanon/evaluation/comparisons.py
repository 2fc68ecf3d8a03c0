"""Releases made again: with other k, and of half of the subjects, held beside the other half."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from trajanon.anonymization import anonymize
from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.declared_options import Settings
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.attacks.attack import Published, people_steps, published
from trajanon.evaluation.attacks.inference import (
    NEAR_END,
    Shadows,
    Z,
    departures_told,
    ends_told,
    likely_members,
    nearest_line,
    told_apart,
    variance,
)
from trajanon.evaluation.attacks.known_tracks import Estimate
from trajanon.evaluation.attacks.linkage import attacks, next_line
from trajanon.evaluation.page.templates import words
from trajanon.grouping.k_promise import check_k
from trajanon.release.holder_key import key_of_trials
from trajanon.release.originals import matched
from trajanon.release.report import Report, checked
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

SHADOWS = 18
"""Releases that an adversary makes of halves, to learn how lines lie beside members and others."""

KS = (2, 3, 4, 5, 8, 10, 20)

NEXT = "linkability of the next"


@dataclass(frozen=True, slots=True)
class Choice:
    """The cost and protection of one k."""

    k: int
    moved: float  # metres, the mean
    chance: float  # of the attack with the highest mean chance to find a row of its target
    attack: str  # its name


@dataclass(frozen=True)
class Curve:
    """Metres moved beside the mean chance of the best attack, for several k."""

    choices: Sequence[Choice]  # by k
    left_out: Sequence[int]  # each k for which there are too few

    @property
    def words(self) -> str:
        """Describe cost and protection of the least and the largest k."""
        return words("curve", choices=self.choices, left_out=self.left_out)


def curve(
    trajectories: Trajectories, ks: Sequence[int], *, progress: Progress = silent, **options: Any
) -> Curve:
    """Anonymize again with each k and run all attacks; ``options`` are those of `anonymize`."""
    ks = sorted({check_k(k) for k in ks})
    choices = []
    left_out = []
    for done, k in enumerate(ks):
        progress("which k", done, len(ks), f"k = {k}")
        try:
            choices.append(_choice(trajectories, k, options))
        except BadInput:  # too few, or too far from one another
            left_out.append(k)
    return Curve(choices, left_out)


def options_in(report: Report) -> dict[str, Any]:
    """Read how a release was made, as far as its report tells: options of `anonymize`."""
    options: dict[str, Any] = {
        "as_published": report.as_published,
        "align": report.alignment is not None,
        "rows": "lines" if report.rows.way == "lines" else "subjects",
        "distinct_ends": report.distinct_ends,
        "leave_out": report.leave_out,
        "one_line_each": report.one_line_each,
    }
    if not report.as_published:
        # These releases are not published: the holder's key is neither needed nor used.
        options["key"] = key_of_trials(report.key_fingerprint)

    search = report.search
    options |= {
        field.name: search[field.name] for field in fields(Settings) if field.name in search
    }
    times = report.times
    if times is not None:
        options |= {
            "times": times.times,
            "timezone": times.timezone,
            "minute_worth": times.minute_worth,
            "time_step": times.step,
        }
    return options


def _choice(trajectories: Trajectories, k: int, options: Mapping[str, Any]) -> Choice:
    options = {**options, "distinct_ends": min(options.get("distinct_ends", 2), k)}
    release = anonymize(trajectories, k, **options)
    if release.report["stopped"]:
        raise KeyboardInterrupt

    report = checked(release.report)
    groups = matched(report.released_of(trajectories), release.trajectories, report)
    best = max(attacks(published(groups, report)), key=lambda attack: attack.expected)
    return Choice(k, report.displacement.mean, best.expected, best.name)


@dataclass(frozen=True, slots=True)
class Risk:
    """How often an attack succeeds, and how much of that is due to being in the release."""

    main: float  # share of successes against members
    control: float  # against those held out
    risk: float  # (main - control) / (1 - control): what a member has to fear beyond the others
    low: float  # its interval of 90 %
    high: float

    @property
    def words(self) -> str:
        """Describe the difference with its interval, without a full stop."""
        return words("risk", of=self)


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
    surely: float  # share of the members found if 1 % of the others are taken for some
    risks: Mapping[str, Risk]  # by question

    @property
    def beside(self) -> str:
        """Compare members with those held out, in a few sentences."""
        return words("holdout", held=self, near_end=NEAR_END)


Publish = Callable[[Trajectories, int], Floats]
"""Publishes trajectories, in the run of a number from 0 on: the different lines, (g, m, 2)."""


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
    shadow_options: dict[str, Any] = options | {"effort": "fast"}
    if not report.as_published:
        shadow_options["key"] = np.random.default_rng([seed, SHADOWS]).bytes(32)
    made = list[ReleasedTrajectories]()

    def publish(half: Trajectories, run: int) -> Floats:
        release = anonymize(half, k, **(shadow_options if run else options))
        if release.report["stopped"]:
            raise KeyboardInterrupt
        rows = release.trajectories
        lines = rows.take(np.unique(rows.records, axis=0, return_index=True)[1])
        if not run:
            made.append(lines)
        return lines.points

    halves = published_halves(trajectories, k, publish, seed=seed, progress=progress)
    timing = report.timing
    hours = None
    if timing is not None and made[0].times is not None:
        departures = timing.seconds(trajectories)[:, 0], made[0].times[:, 0]
        hours = departures_told(
            trajectories.points, made[0].points, *departures, timing.clock.period
        )[0]
    return measured_halves(trajectories, halves, k, hours=hours)


class Halves(NamedTuple):
    """A release of half of the subjects, and shadow releases of other halves."""

    members: Bools  # whose trajectories are in the release, (n,)
    subjects: Ints
    lines: Floats  # different ones, (g, m, 2)
    shadows: Shadows


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
    members, subjects = drawn_half(trajectories, k, seed)
    lines = publish(trajectories.take(members), 0)
    people = int(subjects.max()) + 1
    random = np.random.default_rng([seed, SHADOWS])

    away = list[Floats]()
    inside = list[Bools]()
    while len(away) < SHADOWS:
        progress("Shadow releases", len(away), SHADOWS)
        half = np.isin(subjects, random.permutation(people)[: people // 2])
        for chosen in (half, ~half):
            shadow = publish(trajectories.take(chosen), len(away) + 1)
            away.append(nearest_line(trajectories.points, shadow)[0])
            inside.append(chosen)
    return Halves(members, subjects, lines, Shadows(np.array(away), np.array(inside)))


def drawn_half(trajectories: Trajectories, k: int, seed: int = 0) -> tuple[Bools, Ints]:
    """Draw half of the subjects: whether each trajectory is a member's, and its subject."""
    if trajectories.subject is not None:
        subjects = dense(trajectories.subject)
    elif trajectories.tracks is not None:
        subjects = dense(trajectories.tracks.run)
    else:
        subjects = np.arange(len(trajectories))

    people = int(subjects.max()) + 1
    if people < 2 * k:
        raise TooFewSubjects(
            f"a hold-out with k = {k} needs {2 * k} subjects, k for each half; there are {people}"
        )
    chosen = np.random.default_rng(seed).permutation(people)[: (people + 1) // 2]
    return np.isin(subjects, chosen), subjects


def measured_halves(
    trajectories: Trajectories, halves: Halves, k: int, *, hours: Bools | None = None
) -> Holdout:
    """Attack members and the others with the lines of the members' release.

    ``hours`` says of each trajectory whether its departure is found by the line.
    """
    points = trajectories.points
    members, subjects, lines, shadows = halves
    steps = people_steps(trajectories, np.arange(len(trajectories)))
    away, nearest = nearest_line(points, lines)
    successes = {"linkability": _linked(points, lines), "inference": ends_told(points, lines)[0]}
    if hours is not None:
        successes["inference of the hour"] = hours
    risks = {
        question: _risk_of(succeeded, members, subjects)
        for question, succeeded in successes.items()
    }

    # The next trip can only be compared where people of both halves have one.
    if steps is not None and 0 < members[steps.here].sum() < len(steps.here):
        # The right line is that nearest to the next trajectory.
        one_row_each = np.ones(len(lines), np.int64)
        seen = Published(
            points, lines, nearest, k, against="half", copies=one_row_each, steps=steps
        )
        succeeded = next_line(seen).line_rates
        risks[NEXT] = _risk_of(succeeded, members[steps.here], subjects[steps.here])

    _, first = np.unique(subjects, return_index=True)
    score = likely_members(away, shadows, subjects)
    of_members = members[first]
    return Holdout(
        k=k,
        members=len(np.unique(subjects[members])),
        others=len(np.unique(subjects[~members])),
        lines=len(lines),
        membership=told_apart(-score, of_members, subjects[first]),
        surely=float((score[of_members] > np.quantile(score[~of_members], 0.99)).mean()),
        risks=risks,
    )


def _linked(points: Floats, lines: Floats) -> Bools:
    """Check whether both halves of each trajectory lead to the same line."""
    half = points.shape[1] // 2
    parts = slice(None, max(half, 1)), slice(half, None)
    by_begin, by_end = (nearest_line(points[:, part], lines[:, part])[1] for part in parts)
    return np.asarray(by_begin == by_end)


def _risk_of(succeeded: Bools | Floats, members: Bools, subjects: Ints) -> Risk:
    rates = succeeded.astype(np.float64)
    return risk(rates[members], rates[~members], subjects[members], subjects[~members])


def risk(main: Floats, control: Floats, of_main: Ints, of_control: Ints) -> Risk:
    """Compare successes against members with those against others; with the clusters of both.

    Source: M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying
    privacy risk in synthetic data", PoPETs 2023 (anonymeter): intervals of Wilson, and propagation
    of errors. As many trials are counted as would have the variance that clusters have.
    """
    rate = float(main.mean())
    control_rate = float(control.mean())
    excess = (rate - control_rate) / (1.0 - control_rate) if control_rate < 1.0 else 0.0

    a, error = wilson(main, of_main)
    b, control_error = wilson(control, of_control)
    middle = (a - b) / (1.0 - b)
    side = float(np.hypot(error / (1.0 - b), control_error * (1.0 - a) / (1.0 - b) ** 2))
    low = min(middle - side, excess)
    high = max(min(middle + side, 1.0), excess)
    return Risk(rate, control_rate, excess, low, high)


def wilson(succeeded: Floats, clusters: Ints) -> tuple[float, float]:
    """Compute the middle of Wilson's interval, and how far it goes to each side."""
    rate = float(succeeded.mean())
    spread = variance(succeeded, clusters)
    trials = rate * (1.0 - rate) / spread if spread > 0.0 else len(np.unique(clusters))
    middle = (rate + Z**2 / (2.0 * trials)) / (1.0 + Z**2 / trials)
    side = Z * np.sqrt(rate * (1.0 - rate) / trials + Z**2 / (4.0 * trials**2))
    return middle, float(side) / (1.0 + Z**2 / trials)
