"""An audit of any release, with no report of its own: what attacks find, what tasks lose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from msgspec import to_builtins

from trajanon.common.arrays import Bools, Ints, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.end_or_hour import (
    departures_guessed,
    departures_told,
    ends_guessed,
    ends_told,
)
from trajanon.evaluation.attacks.home_and_work import Place, places_found
from trajanon.evaluation.attacks.published_lines import Published, people_steps, published
from trajanon.evaluation.holdout_and_membership import Holdout
from trajanon.evaluation.intervals import Estimate, rate_with_interval, risk, share_of
from trajanon.evaluation.page.templates import words
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.evaluation.usefulness_for_tasks import task_errors
from trajanon.evaluation.weaknesses import Weakness, weaknesses
from trajanon.files.rounding_order_and_keys_of_lines import line_numbers
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.originals import matched
from trajanon.release.report import Report
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.clock_and_time_zones import HOUR, Clock
from trajanon.trajectories.distances import distances_to_lines
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

MatchName = Literal["id", "order"]

ATTACKS = (
    *("whole trip", "two points", "two points and hours", "both ends", "next trip", "home", "work"),
    *("end of a trip", "hour of a trip", "membership"),
)
"""Attacks in the order of the page; those before the end of a trip need the match of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What can be measured of a release; None is what it, or its holder, does not tell."""

    name: str
    rows: int
    lines: int  # different ones
    fewest_rows: int  # of a line
    fewest_people: int | None  # of a line with known rows
    alone: float  # share of the rows that no other row equals
    matched: int | None  # originals with a known row; None: no row is known
    timed: bool
    metres: float | None  # points moved, mean
    # Of each attack of ATTACKS to be right; of ends, hours, homes, works and membership: more often
    # than by guessing.
    chances: Mapping[str, Estimate | None]
    errors: Mapping[str, Estimate | None]  # of each of the TASKS, as a share
    weaknesses: Sequence[Weakness] = ()

    @property
    def best_attack(self) -> float:
        """Return the highest chance of the attacks that could be tried."""
        return max(chance.value for chance in self.chances.values() if chance is not None)

    @property
    def not_measured(self) -> list[str]:
        """Name what could not be measured."""
        figures = {**self.chances, **self.errors}
        return [name for name, figure in figures.items() if figure is None]

    @property
    def not_measured_words(self) -> str:
        """Name what is left out, and what would bring it."""
        reasons = {
            "rows, or originals, have no times": not self.timed,
            "which row is whose is not known (--match id, or order)": self.matched is None,
            "nobody is known to have trips on several lines": self.matched is not None
            and self.chances["next trip"] is None,
            "membership needs --method": self.chances["membership"] is None,
        }
        return words("not_measured", audit=self, ways=[why for why in reasons if reasons[why]])

    @property
    def account(self) -> dict[str, Json]:
        """Return what JSON holds: nothing of single trajectories but the rows that are weak."""
        weak_points = [weakness.account for weakness in self.weaknesses]
        account: dict[str, Json] = to_builtins(self) | {"weaknesses": weak_points}
        return account


def audit(
    name: str,
    originals: Originals,
    release: Recordings,
    *,
    match: MatchName | None = None,
    roads: RoadsToFollow | None = None,
    holdout: Holdout | None = None,
) -> Audit:
    """Attack any release and measure its tasks; ``match`` says which row belongs to whom."""
    row_of_original = None if match is None else _rows_of_originals(originals, release, match)
    seen, members = _published(originals.trips, release, row_of_original)
    measured = _audited(name, originals.trips, release.clock, seen, members, roads, holdout)
    weak_points = weaknesses(originals, release, ids_are_given=match == "id")
    return replace(measured, weaknesses=weak_points)


def audit_with_report(
    name: str,
    originals: Originals,
    release: ReleasedTrajectories,
    report: Report,
    *,
    roads: RoadsToFollow | None = None,
    holdout: Holdout | None = None,
) -> Audit:
    """Audit one of our releases, of which the report knows whose each row is."""
    averaged = matched(report.released_of(originals.trips), release, report)
    seen = published(averaged, report)
    rows = Recordings.of(release, report.clock)
    measured = _audited(name, originals.trips, rows.clock, seen, averaged.slid, roads, holdout)
    return replace(measured, weaknesses=weaknesses(originals, rows))


def _rows_of_originals(originals: Originals, release: Recordings, match: MatchName) -> Ints:
    """Find the row number of each original in the release, (n,), or -1."""
    n = len(originals.trips)
    if match == "order":
        if len(release.points) != n:
            raise BadInput(
                f"rows in the order of the originals are as many: there are {n:,} originals and "
                f"{len(release.points):,} rows; match them by id"
            )
        return np.arange(n)

    row_of_name = {name: number for number, name in enumerate(release.names)}
    if len(row_of_name) < len(release.names):
        raise BadInput(
            "an id of the release occurs in several rows, so it does not show which original a row "
            "belongs to: leave `match` out"
        )

    # Originals may be named in several ways: the one that finds most of them is meant.
    by_way = [np.array([row_of_name.get(name, -1) for name in names]) for names in originals.names]
    rows = max(by_way, key=lambda numbers: int((numbers >= 0).sum()))
    known_rows = rows[rows >= 0]
    if len(np.unique(known_rows)) < len(known_rows):
        raise BadInput(
            "an id of the release is that of several originals, so it does not show which of them "
            "the row belongs to: leave `match` out"
        )
    if not len(known_rows):
        example = next(iter(release.names))
        raise BadInput(
            f"no id of the release, such as {example!r}, is one of the originals, such as "
            f"{originals.names[0][0]!r}: leave `match` out"
        )
    return rows


def _published(
    trips: Trajectories, release: Recordings, row_of_original: Ints | None
) -> tuple[Published, Trajectories | None]:
    """Return what an adversary sees, and the originals with a known row; None: no row is known."""
    members = trips if row_of_original is None else trips.take(row_of_original >= 0)
    # Times tell something only where those of the originals are known, too.
    are_timed = members.times is not None and np.isfinite(members.times[:, 0]).any()
    times = release.times if are_timed else None
    line = line_numbers(release.points, times)
    _, first, copies = np.unique(line, return_index=True, return_counts=True)

    # Without known rows the labels stand for nothing; attacks that need them are not run.
    labels = np.zeros(len(trips), np.int64)
    steps = None
    if row_of_original is not None:
        labels = line[row_of_original[row_of_original >= 0]]
        steps = people_steps(members, labels)

    # Times of originals by the clock of the release, which begins again after a cycle.
    seconds = members.times
    cycle = np.inf
    if release.clock is not None and seconds is not None:
        seconds = release.clock.seconds(seconds)
        cycle = release.clock.period
    seen = Published(
        points=members.points,
        lines=release.points[first],
        labels=labels,
        k=max(int(copies.min()), 2),  # no k is known: the fewest rows of a line
        subjects=None if members.subject is None else renumbered(members.subject),
        times=None if times is None else seconds,
        line_times=None if times is None else times[first],
        cycle=cycle,
        unit=trips.unit,
        copies=copies,
        steps=steps,
    )
    return seen, None if row_of_original is None else members


def _audited(
    name: str,
    trips: Trajectories,
    clock: Clock | None,
    seen: Published,
    members: Trajectories | None,
    roads: RoadsToFollow | None,
    holdout: Holdout | None,
) -> Audit:
    """Attack what is seen of a release, and measure its tasks; ``clock`` is that of its times."""
    chances: dict[str, Estimate | None] = dict.fromkeys(ATTACKS)
    chances |= _by_nearest_row(seen)
    metres = None
    people = None
    if members is not None:
        chances |= _by_row_picked(seen)
        chances |= _by_all_lines(seen)
        metres = float(distances_to_lines(seen.points, seen.lines, seen.labels).mean())
        if seen.subjects is not None:
            # Nothing is known of lines without a known row.
            people = int(subjects_per_group(renumbered(seen.labels), seen.subjects).min())
    if holdout is not None:
        chances["membership"] = holdout.membership.beyond(0.5)  # a coin is right for half

    times = trips.times
    if times is not None and clock is not None:
        times = clock.seconds(times)
    before = ReleasedLines(trips.points, trips=np.ones(len(trips), np.int64), times=times)
    after = ReleasedLines(seen.lines, trips=seen.row_counts, times=seen.line_times, clock=clock)
    rows = int(seen.row_counts.sum())
    return Audit(
        name=name,
        rows=rows,
        lines=len(seen.lines),
        fewest_rows=int(seen.row_counts.min()),
        fewest_people=people,
        alone=float((seen.row_counts == 1).sum() / rows),
        matched=None if members is None else len(members),
        timed=seen.line_times is not None,
        metres=metres,
        chances=chances,
        errors=task_errors(before, after, roads),
    )


def _by_row_picked(seen: Published) -> dict[str, Estimate]:
    """Pick a row of each target, by what the adversary knows of it."""
    names = {
        "nearest record": "whole trip",
        "2 known points": "two points",
        "2 known points and their hours": "two points and hours",
        "both ends, nearest": "both ends",
        f"next {seen.unit}": "next trip",
    }
    return {
        names[attack.name]: rate_with_interval(attack.rates, seen.owners[attack.targets])
        for attack in attacks(seen)
    }


def _by_nearest_row(seen: Published) -> dict[str, Estimate]:
    """Read from the nearest line where a trip ends and when it departs.

    Guessing takes the likeliest answer of the originals, which nobody knows better.
    """
    by_line = ends_told(seen)
    by_guess = ends_guessed(seen, seen.points[:, -1])
    chances = {"end of a trip": beyond_guessing(by_line, by_guess, seen.owners)}

    if seen.times is not None and seen.line_times is not None:
        departures = seen.times[:, 0]
        is_timed = np.isfinite(departures)
        by_line = departures_told(seen)[is_timed]
        by_guess = departures_guessed(seen, departures)[is_timed]
        chances["hour of a trip"] = beyond_guessing(by_line, by_guess, seen.owners[is_timed])
    return chances


def _by_all_lines(seen: Published) -> dict[str, Estimate | None]:
    """Find home and work of people by all their lines."""
    if seen.subjects is None:
        return {}
    home, work = places_found(seen)
    return {"home": _place_found(home), "work": _place_found(work)}


def _place_found(place: Place) -> Estimate | None:
    """Estimate how much more often a place is found than guessed.

    None if the guess is right for all, or nobody has such a place.
    """
    if place.people <= place.guess:
        return None
    share = share_of(np.arange(place.people) < place.found)  # so many successes, in any order
    return share.beyond(place.guess / place.people)


def beyond_guessing(answers: Bools, guesses: Bools, people: Ints) -> Estimate:
    """Estimate how much more often answers are right than guesses, with people as clusters."""
    excess = risk(answers.astype(np.float64), guesses.astype(np.float64), people, people)
    interval = np.clip([excess.risk, excess.low, excess.high], 0.0, 1.0)
    return Estimate(*interval.tolist())


def ends_of_the_scale(originals: Originals, roads: RoadsToFollow | None = None) -> list[Audit]:
    """Audit the originals as if they were published, and noise in their place."""
    rows = Recordings.of(originals.trips, None)
    noise = _straight_lines_between_random_ends(rows)
    return [
        audit("originals", originals, rows, match="order", roads=roads),
        audit("noise", originals, noise, match="order", roads=roads),
    ]


def _straight_lines_between_random_ends(rows: Recordings) -> Recordings:
    """Draw as many straight lines within the same box; each departs at random and takes an hour."""
    random = np.random.default_rng(0)
    low, high = (bound(rows.points, axis=(0, 1)) for bound in (np.min, np.max))
    n, points = rows.points.shape[:2]
    # Each (n, 1, 2), beside shares of the way, (points, 1).
    begin, end = random.uniform(low, high, (2, n, 2))[:, :, None]
    lines = begin + (end - begin) * np.linspace(0.0, 1.0, points)[:, None]

    times = rows.times
    if times is not None:
        departure = random.uniform(np.nanmin(times), np.nanmax(times), (n, 1))
        times = departure + np.linspace(0.0, HOUR, points)
    return replace(rows, points=lines, times=times, vertices=lines.reshape(-1, 2))
