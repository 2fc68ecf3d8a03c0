"""Releases made again: with other k, and of half of the subjects, held beside the other half."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.anonymization import anonymize
from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.common.number_text import metres, number_of, percent
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import Settings
from trajanon.evaluation.attacks.attack import Steps
from trajanon.evaluation.attacks.chains import in_metres
from trajanon.evaluation.attacks.inference import (
    NEAR_END,
    Auc,
    Shadows,
    Z,
    departures_told,
    ends_told,
    likely_members,
    nearest_line,
    told_apart,
    variance,
)
from trajanon.evaluation.attacks.linkage import attacks
from trajanon.evaluation.attacks.published import people_steps, published
from trajanon.grouping.k_promise import check_k
from trajanon.release.holder_key import key_of_trials
from trajanon.release.originals import matched, timing_in
from trajanon.release.report import Report, checked, promise_in, released_of, rows_in
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

SHADOWS = 18
"""Releases that an adversary makes of halves, to learn how lines lie beside members and others."""

KS = (2, 3, 4, 5, 8, 10, 20)

NEXT = "linkability of the next"
_ASKED = {
    "linkability": "both halves of a trajectory lead to the same line",
    NEXT: "the line that begins nearest to its end is the one of the person's next",
    "inference": "the line nearest to its first two thirds ends within "
    f"{metres(NEAR_END)} of its end",
    "inference of the hour": "the line nearest to all its places departs within an hour of it",
}
"""What an attack of a hold-out asks, by its question."""


class Choice(NamedTuple):
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
        """What came out, in a few sentences."""
        said = []
        if self.choices:
            first, last = self.choices[0], self.choices[-1]
            best = " or ".join(dict.fromkeys(one.attack for one in self.choices))
            said.append(
                f"With k = {first.k} points move by {metres(first.moved)} on average, and the best "
                f"attack ({best}) finds a row of its target in {percent(first.chance)} of all "
                f"cases; 1/k is {percent(1 / first.k)}."
            )
            if last is not first:
                said.append(
                    f"With k = {last.k} they move by {metres(last.moved)}, and it finds one in "
                    f"{percent(last.chance)}; 1/k is {percent(1 / last.k)}."
                )
        said += [
            f"k = {k} is left out: there are too few for a group, or groups would be too wide."
            for k in self.left_out
        ]
        return " ".join(said)

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single trajectories."""
        return {
            "choices": [one._asdict() | {"baseline": 1.0 / one.k} for one in self.choices],
            "left_out": list(self.left_out),
        }


def curve(
    trajectories: Trajectories,
    ks: Sequence[int] = KS,
    *,
    progress: Progress = silent,
    **options: Any,
) -> Curve:
    """Anonymize again with each k and run all attacks; ``options`` are those of `anonymize`."""
    ks = sorted(set(ks))
    for k in ks:
        check_k(k)
    choices, left_out = [], []
    for done, k in enumerate(ks):
        progress("which k", done, len(ks), f"k = {k}")
        try:
            choices.append(_choice(trajectories, k, options))
        except BadInput:  # too few, or too far from one another
            left_out.append(k)
    return Curve(choices, left_out)


def options_in(report: Report) -> dict[str, Any]:
    """How a release was made, as far as its report tells: options of `anonymize`."""
    options: dict[str, Any] = {
        "as_published": report.get("as_published", False),
        "align": report.get("alignment") is not None,
        "rows": "lines" if rows_in(report) == "lines" else "subjects",
        "distinct_ends": report.get("distinct_ends", 2),
        "one_line_each": "people" in (report.get("choice") or {}),
    }
    if not options["as_published"]:
        # These releases are not published: the holder's key is neither needed nor used.
        options["key"] = key_of_trials(report.get("key_fingerprint"))
    search = report.get("search", {})
    options |= {one.name: search[one.name] for one in fields(Settings) if one.name in search}
    if times := report.get("times"):
        options |= {name: times[name] for name in ("times", "timezone", "minute_worth")}
        options["time_step"] = times["step"]
    return options


def _choice(trajectories: Trajectories, k: int, options: Mapping[str, Any]) -> Choice:
    how = {**options, "distinct_ends": min(options.get("distinct_ends", 2), k)}
    release = anonymize(trajectories, k, **how)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    report = checked(release.report)
    found = matched(released_of(trajectories, report), release.trajectories, report)
    seen = published(found, report)
    best = max(attacks(seen), key=lambda one: one.expected)
    return Choice(k, report["displacement"]["mean"], best.expected, best.name)


class Risk(NamedTuple):
    """How often an attack succeeds, and how much of that is due to being in the release."""

    main: float  # share of successes against members
    control: float  # against those held out
    risk: float  # (main - control) / (1 - control): what a member has to fear beyond the others
    low: float  # its interval of 95 %
    high: float

    @property
    def words(self) -> str:
        """The difference with its interval, without an end."""
        return (
            f"{percent(self.main)} of the time for members and {percent(self.control)} for "
            f"those held out: a risk of {percent(self.risk)} for being in the release "
            f"({percent(self.low)} to {percent(self.high)})"
        )


@dataclass(frozen=True)
class Holdout:
    """What a release of half of the subjects shows of them, and what of the other half.

    Intervals are of 95 %, with subjects as clusters.
    """

    k: int
    members: int  # subjects released
    others: int  # subjects held out
    lines: int  # different ones
    membership: Auc  # by how likely all trajectories of a subject are those of a member
    surely: float  # share of the members found if 1 % of the others are taken for some
    risks: Mapping[str, Risk]  # by question

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single subjects."""
        return asdict(self) | {
            "membership": self.membership._asdict(),
            "risks": {question: risk._asdict() for question, risk in self.risks.items()},
        }

    @property
    def beside(self) -> str:
        """Members beside those held out, in a few sentences."""
        said = [
            f"{number_of(self.members, 'subject')} were anonymized again as this release was, and "
            f"{number_of(self.others, 'subject')} held out."
        ]
        said += [
            f"{question.capitalize()}: {what} {self.risks[question].words}."
            for question, what in _ASKED.items()
            if question in self.risks
        ]
        return " ".join(said)

    @property
    def was_in(self) -> str:
        """How well members are distinguished from others, a sentence without its end."""
        auc, low, high = self.membership
        return (
            "Was somebody in it? Anyone who knows all tracks, and makes such releases of random "
            f"halves, tells a member from somebody held out in {percent(auc)} of the pairs "
            f"({percent(low)} to {percent(high)}); 50 % is chance. With 1 % false alarms, "
            f"{percent(self.surely)} of the members are found"
        )


def hold_out(
    trajectories: Trajectories, report: Report, *, seed: int = 0, progress: Progress = silent
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
    members, subjects = drawn_half(trajectories, k, seed)
    how = options_in(report)
    once, timing = _lines_of(trajectories.take(members), k, how, progress), timing_in(report)
    shadows = shadow_releases(trajectories, subjects, k, how, seed=seed, progress=progress)
    points, hours = trajectories.points, None
    if timing is not None and once.times is not None:
        departures = timing.seconds(trajectories)[:, 0], once.times[:, 0]
        hours = departures_told(points, once.points, *departures, timing.clock.round)[0]
    steps = people_steps(trajectories, np.arange(len(trajectories)))
    return measured_halves(
        points, members, subjects, once.points, k, shadows=shadows, hours=hours, steps=steps
    )


def _lines_of(
    trajectories: Trajectories, k: int, how: Mapping[str, Any], progress: Progress = silent
) -> ReleasedTrajectories:
    """Anonymize trajectories, and take each line once."""
    release = anonymize(trajectories, k, progress=progress, **how)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    rows = release.trajectories
    return rows.take(np.unique(rows.records, axis=0, return_index=True)[1])


def shadow_releases(
    trajectories: Trajectories,
    subjects: Ints,
    k: int,
    how: Mapping[str, Any],
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Shadows:
    """Release random halves of the subjects as an adversary would, quickly and with other keys.

    Halves come in pairs, so that each subject is in half of the releases.
    """
    people, random = int(subjects.max()) + 1, np.random.default_rng([seed, SHADOWS])
    if not how["as_published"]:
        how = {**how, "key": random.bytes(32)}
    away, inside = list[Floats](), list[Bools]()
    while len(away) < SHADOWS:
        progress("Shadow releases", len(away), SHADOWS)
        half = np.isin(subjects, random.permutation(people)[: people // 2])
        for members in (half, ~half):
            lines = _lines_of(trajectories.take(members), k, {**how, "effort": "fast"})
            away.append(nearest_line(trajectories.points, lines.points)[0])
            inside.append(members)
    return Shadows(np.array(away), np.array(inside))


def drawn_half(trajectories: Trajectories, k: int, seed: int = 0) -> tuple[Bools, Ints]:
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


def measured_halves(
    points: Floats,
    members: Bools,
    subjects: Ints,
    lines: Floats,
    k: int,
    *,
    shadows: Shadows,
    hours: Bools | None = None,
    steps: Steps | None = None,
) -> Holdout:
    """Attack members, by mask, and the others, with the different lines of the members' release.

    ``shadows`` show how near such lines come to members, and to others; ``hours`` says of each
    trajectory whether its departure is found by the line; ``steps`` lead to the next trajectory of
    a person.
    """
    away, nearest = nearest_line(points, lines)
    tried = {"linkability": _linked(points, lines), "inference": ends_told(points, lines)[0]}
    if hours is not None:
        tried["inference of the hour"] = hours
    risks = {question: _risk_of(right, members, subjects) for question, right in tried.items()}
    if steps is not None and 0 < members[steps.here].sum() < len(steps.here):  # some in each half
        right = _next(points, lines, nearest, steps)
        risks[NEXT] = _risk_of(right, members[steps.here], subjects[steps.here])
    _, first = np.unique(subjects, return_index=True)
    score, of_members = likely_members(away, shadows, subjects), members[first]
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
    """Whether both halves of each trajectory lead to the same line."""
    half = points.shape[1] // 2
    parts = slice(None, max(half, 1)), slice(half, None)
    one, other = (nearest_line(points[:, part], lines[:, part])[1] for part in parts)
    return np.asarray(one == other)


def _next(points: Floats, lines: Floats, nearest: Ints, steps: Steps) -> Bools:
    """Whether the line that begins nearest to the end of each is the one nearest to its next.

    The line nearest to the known trajectory is set aside.
    """
    entries, ends = in_metres(lines[:, 0], lines), in_metres(points[steps.here, -1], lines)
    one, other = cKDTree(entries).query(ends, k=[1, 2])[1].T
    first = np.where(one == nearest[steps.here], other, one)
    return np.asarray(first == nearest[steps.there])


def _risk_of(succeeded: Bools, members: Bools, subjects: Ints) -> Risk:
    rates = succeeded.astype(np.float64)
    return risk(rates[members], rates[~members], subjects[members], subjects[~members])


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
