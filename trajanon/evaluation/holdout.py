"""A hold-out: half of the subjects are released again and compared with the other half."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.anonymization import anonymize_trajectories
from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import TooFewSubjects
from trajanon.evaluation.adversaries import timing_in
from trajanon.evaluation.curve import options_in
from trajanon.files.report import Report, promise_in
from trajanon.number_text import metres, number_of, percent
from trajanon.partition import dense
from trajanon.privacy.attack import Steps
from trajanon.privacy.chains import in_metres, people_steps, places_found
from trajanon.privacy.inference import (
    NEAR,
    Auc,
    Lines,
    Z,
    departures_told,
    ends_told,
    told_apart,
    variance,
)
from trajanon.progress import Progress, silent
from trajanon.trajectories import Trajectories

AS_CUT, BY_SUBJECT = "a trajectory", "all trajectories of a subject"
"""What the adversary measures to the nearest line: if several, the mean distance."""


class Risk(NamedTuple):
    """How often an attack succeeds, and how much of that is due to being in the release."""

    main: float  # share of successes against members
    control: float  # against those held out
    risk: float  # (main - control) / (1 - control): what a member has to fear beyond the others
    low: float  # its interval of 95 %
    high: float
    guess: float | None = None  # share without the attack, where there is such a guess

    @property
    def words(self) -> str:
        """The difference with its interval, without an end."""
        return (
            f"{percent(self.main)} of the time for members and {percent(self.control)} for "
            f"those held out: a risk of {percent(self.risk)} for being in the release "
            f"({percent(self.low)} to {percent(self.high)})"
        )


@dataclass(frozen=True, eq=False)
class Holdout:
    """What a release of half of the subjects shows of them, and what of the other half.

    Intervals are of 95 %, with subjects as clusters.
    """

    k: int
    members: int  # subjects released
    others: int  # subjects held out
    lines: int  # different ones
    membership: Mapping[str, Auc]  # by what the adversary measures the distance of
    risks: Mapping[str, Risk]  # by question

    @property
    def told(self) -> tuple[str, Auc]:
        """The distance that separates members best, and how well."""
        return max(self.membership.items(), key=lambda item: item[1])

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single subjects."""
        return {
            "k": self.k,
            "members": self.members,
            "others": self.others,
            "lines": self.lines,
            "membership": {name: auc._asdict() for name, auc in self.membership.items()},
            "risks": {question: risk._asdict() for question, risk in self.risks.items()},
        }

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        return f"{self.beside} {self.was_in}."

    @property
    def beside(self) -> str:
        """Members beside those held out, in a few sentences."""
        hour = following = ""
        if "linkability of the next" in self.risks:
            following = (
                " The line that begins nearest to its end is the one of the person's next "
                f"{self.risks['linkability of the next'].words}."
            )
        if "inference of the hour" in self.risks:
            hour = (
                " The line nearest to all its places departs within an hour of it "
                f"{self.risks['inference of the hour'].words}."
            )
        return (
            f"{number_of(self.members, 'subject')} were anonymized again as this release was, and "
            f"{number_of(self.others, 'subject')} held out. "
            "Linkability: both halves of a trajectory lead to the same line "
            f"{self.risks['linkability'].words}.{following} "
            f"Inference: the line nearest to its first two thirds ends within {metres(NEAR)} of "
            f"its end {self.risks['inference'].words}.{hour}"
        )

    @property
    def was_in(self) -> str:
        """How well members are distinguished from others, a sentence without its end."""
        what, (auc, low, high) = self.told
        return (
            "Was somebody in it? Of a member and somebody held out, the member is the one nearer "
            f"to the released lines (by {what}) in {percent(auc)} of the pairs ({percent(low)} to "
            f"{percent(high)}); 50 % is chance"
        )


def hold_out(
    trajectories: Trajectories,
    report: Report,
    *,
    seed: int = 0,
    progress: Progress = silent,
    **options: Any,
) -> Holdout:
    """Anonymize one half of the subjects again, with a report's settings; attack both halves.

    Where nothing is known of subjects, each drive counts as one, or each trajectory if drives are
    not known. Distances are of places, also where times are released; the hour is then asked for.

    Raises
    ------
    TooFewSubjects
        If a half has fewer than k.
    """
    k, _ = promise_in(report)
    members, subjects = drawn(trajectories, k, seed)
    asked = options_in(report) | options
    release = anonymize_trajectories(trajectories.take(members), k, progress=progress, **asked)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    rows, timing = release.trajectories, timing_in(report)
    once = rows.take(np.unique(rows.records, axis=0, return_index=True)[1])
    points, hours = trajectories.points, None
    if timing is not None and once.times is not None:
        departures = timing.seconds(trajectories)[:, 0], once.times[:, 0]
        hours = departures_told(points, once.points, *departures, timing.clock.round)
    steps = people_steps(trajectories, np.arange(len(trajectories)))
    return measured(points, members, subjects, once.points, k, hours=hours, steps=steps)


def drawn(trajectories: Trajectories, k: int, seed: int = 0) -> tuple[Bools, Ints]:
    """Draw half of the subjects: whether each trajectory is a member's, and its subject."""
    own, tracks = trajectories.subject, trajectories.tracks
    if own is None:
        own = np.arange(len(trajectories)) if tracks is None else tracks.run
    subjects = dense(own)
    people = int(subjects.max()) + 1
    if people < 2 * k:
        raise TooFewSubjects(
            f"a hold-out with k = {k} needs {2 * k} subjects, k for each half; there are {people}"
        )
    chosen = np.random.default_rng(seed).permutation(people)[: (people + 1) // 2]
    return np.isin(subjects, chosen), subjects


def measured(
    points: Floats,
    members: Bools,
    subjects: Ints,
    lines: Floats,
    k: int,
    *,
    hours: tuple[Bools, Bools] | None = None,
    steps: Steps | None = None,
) -> Holdout:
    """Attack members, by mask, and the others, with the different lines of the members' release.

    ``hours`` says of each trajectory whether its departure is found by the line, and by one guess.
    ``steps`` lead to the next trajectory of a person.
    """
    released = Lines(lines)
    away, nearest = released.nearest(points)
    membership = {
        AS_CUT: told_apart(away, members, subjects),
        BY_SUBJECT: _of_subjects(away, members, subjects),
    }
    linked = _linked(points, lines)
    asked = {"inference": ends_told(points, lines)}
    if hours is not None:
        asked["inference of the hour"] = hours
    whom, found, guessed = places_found(points, lines, nearest, subjects)
    people: dict[str, tuple[Ints, Bools, Bools | None]]
    people = {"linkability by place": (whom, found, guessed)}
    if steps is not None:
        followed = _next(points, lines, nearest, steps)
        people = {"linkability of the next": (steps.here, followed, None)} | people
    return Holdout(
        k=k,
        members=len(np.unique(subjects[members])),
        others=len(np.unique(subjects[~members])),
        lines=len(lines),
        membership=membership,
        risks={
            "linkability": _risk_of(linked, members, subjects),
            **{
                question: _risk_of(right, members[rows], subjects[rows], guess)
                for question, (rows, right, guess) in people.items()
                if 0 < members[rows].sum() < len(rows)  # some in each half
            },
            **{
                question: _risk_of(right, members, subjects, guess)
                for question, (right, guess) in asked.items()
            },
        },
    )


def _of_subjects(away: Floats, members: Bools, subjects: Ints) -> Auc:
    """Distinguish subjects by the mean distance of everything known of each."""
    _, first, subject = np.unique(subjects, return_index=True, return_inverse=True)
    mean = np.bincount(subject, away) / np.bincount(subject)
    return told_apart(mean, members[first], subjects[first])


def _linked(points: Floats, lines: Floats) -> Bools:
    """Whether both halves of each trajectory lead to the same line."""
    half = points.shape[1] // 2
    parts = slice(None, max(half, 1)), slice(half, None)
    one, other = (Lines(lines[:, part]).nearest(points[:, part])[1] for part in parts)
    return np.asarray(one == other)


def _next(points: Floats, lines: Floats, nearest: Ints, steps: Steps) -> Bools:
    """Whether the line that begins nearest to the end of each is the one nearest to its next.

    The line nearest to the known trajectory is set aside.
    """
    entries, ends = in_metres(lines[:, 0], lines), in_metres(points[steps.here, -1], lines)
    one, other = cKDTree(entries).query(ends, k=[1, 2])[1].T
    first = np.where(one == nearest[steps.here], other, one)
    return np.asarray(first == nearest[steps.there])


def _risk_of(
    succeeded: Bools, members: Bools, subjects: Ints, guessed: Bools | None = None
) -> Risk:
    rates = succeeded.astype(np.float64)
    found = risk(rates[members], rates[~members], subjects[members], subjects[~members])
    return found if guessed is None else found._replace(guess=float(guessed[members].mean()))


def risk(main: Floats, control: Floats, of_main: Ints, of_control: Ints) -> Risk:
    """Set successes against members beside those against others; with the clusters of both.

    Source: M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying
    privacy risk in synthetic data", PoPETs 2023 (anonymeter): intervals of Wilson, and propagation
    of errors. As many trials are counted as would have the variance that clusters have.
    """
    rates = float(main.mean()), float(control.mean())
    (a, error), (b, other) = _wilson(main, of_main), _wilson(control, of_control)
    middle = (a - b) / (1.0 - b)
    off = float(np.hypot(error / (1.0 - b), other * (1.0 - a) / (1.0 - b) ** 2))
    beyond = (rates[0] - rates[1]) / (1.0 - rates[1]) if rates[1] < 1.0 else 0.0
    return Risk(*rates, beyond, min(middle - off, beyond), max(min(middle + off, 1.0), beyond))


def _wilson(succeeded: Floats, clusters: Ints) -> tuple[float, float]:
    """The middle of Wilson's interval, and how far it goes to each side."""
    rate, spread = float(succeeded.mean()), variance(succeeded, clusters)
    trials = rate * (1.0 - rate) / spread if spread > 0.0 else len(np.unique(clusters))
    middle = (rate + Z**2 / (2.0 * trials)) / (1.0 + Z**2 / trials)
    side = Z * np.sqrt(rate * (1.0 - rate) / trials + Z**2 / (4.0 * trials**2))
    return middle, float(side) / (1.0 + Z**2 / trials)
