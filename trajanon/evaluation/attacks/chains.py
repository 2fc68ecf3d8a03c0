"""Chains: lines of one drive, or of one person, taken together, and the next line of a person."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.number_text import UNITS, metres, number_of, percent
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import TIED, Attack, Published, Steps
from trajanon.release.people_left import Left, counts_of, few_left, people_left
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.times import HOUR, MINUTE

KNOWN, LINE, CHANCE = "known", "line", "chance"
"""What an adversary starts from who looks for the next line."""

_EARLY, _LATE = 10.0, 3.0  # metres that count as much as a minute too early, or later
_SAME = 1e-6  # metres that are nothing but rounding
_NEAR = 200  # lines that begin nearest, of which the adversary chooses
_AT_ONCE = 1_000  # steps that a thread tries

PLACE = 200.0
"""Metres from an end within which others are at the same place."""
_ENDS = 3  # of the trips of a person that make a place
_APART = 1e9  # metres between two people, on an axis of their own


class Ranks(NamedTuple):
    """How the line of the next one ranks; mean chances, if ties are decided at random."""

    first: float
    among_three: float


class Place(NamedTuple):
    """How many people have a place where most of their lines begin or end, too."""

    people: int  # with a place where three of their trips begin or end
    found: int  # of these, with most ends of their lines there
    guess: int  # of these, with the place where most of all lines begin or end


@dataclass(frozen=True)
class Followed:
    """What the lines of a person show together."""

    k: int
    lines: int  # released
    unit: str
    left: Mapping[str, Left]  # by ``people`` and, where they are known, ``days``
    place: Place  # the busiest of each person, such as home
    second: Place  # the busiest elsewhere, such as work
    steps: int = 0  # from line to line
    on_a_day: bool = False  # whether each leads to the next line of the same day
    found: Mapping[str, Ranks] = field(default_factory=dict)  # by what the adversary starts from

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON, without data of single people."""
        steps = {"steps": self.steps, "on_a_day": self.on_a_day}
        found = {"followed": {start: ranks._asdict() for start, ranks in self.found.items()}}
        whole = {"k": self.k, "lines": self.lines, **steps}
        places = {"place": self.place._asdict(), "second_place": self.second._asdict()}
        return whole | counts_of(self.left) | found | places

    @property
    def first(self) -> float:
        """How often the line of the next one ranks first, if the one before is known."""
        return self.found[KNOWN].first if self.found else 0.0

    @property
    def chance(self) -> float:
        """How often a line drawn by chance is that of the next one."""
        return self.found[CHANCE].first

    @property
    def next(self) -> str:
        """What is looked for."""
        return f"the next {self.unit} of the person{' on that day' * self.on_a_day}"

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        if not self.left["people"].several:
            return "No person is on two lines, so none can be followed from line to line."
        said = [f"{few_left(self.left, self.k)}."]
        if self.found:
            known, line, chance = (self.found[start] for start in (KNOWN, LINE, CHANCE))
            said.append(
                f"Somebody who knows a {self.unit} ranks the line of {self.next} first of "
                f"{self.lines:,} lines in {percent(known.first)} of {number_of(self.steps, 'step')}"
                f" (by its line {percent(line.first)}, by chance {percent(chance.first)}), and "
                f"among the first three in {percent(known.among_three)} (by its line "
                f"{percent(line.among_three)}, by chance {percent(chance.among_three)})."
            )
        if (place := self.place).people:
            have = number_of(place.people, "person has", "people have")
            said.append(
                f"{have} a place of {metres(PLACE)} where three {UNITS[self.unit]} begin or end, "
                f"such as home. For {place.found:,} of them most ends of their lines lie there; "
                f"one guess for everybody is right for {place.guess:,}."
            )
        if (place := self.second).people:
            have = number_of(place.people, "person has", "people have")
            said.append(
                f"{have} a second one elsewhere, such as work: it is found for {place.found:,}, "
                f"and by the guess for {place.guess:,}."
            )
        return " ".join(said)


def people_followed(published: Published, days: Ints | None) -> Followed | None:
    """Say what the lines of each person show, to those who know all, or follow from one to next.

    The adversary starts from a known trajectory, or from its line. Who knows all lines of a person
    takes the place where most of them begin or end, and the busiest elsewhere. None if nothing is
    known of subjects.
    """
    if (subjects := published.subjects) is None:
        return None
    left = people_left(published.labels, subjects, days, published.k)
    places = places_found(published.points, published.lines, published.labels, subjects)
    k, lines, steps = published.k, len(published.lines), published.steps
    if steps is None:
        return Followed(k, lines, published.unit, left, *places)
    found = {KNOWN: _ranked(published, steps)[0], LINE: _ranked(published, steps, by_line=True)[0]}
    found[CHANCE] = Ranks(*(min(n / (lines - 1), 1.0) for n in (1, 3)))
    went = len(steps.here), steps.on_a_day
    return Followed(k, lines, published.unit, left, *places, *went, found)


def next_line(published: Published, steps: Steps) -> Attack:
    """Go from a known trajectory to the line that best goes on, and pick one of its rows.

    The next one begins where the last one ended and, where times are released, later. The adversary
    sets aside the line nearest to the known one.
    """
    _, step, line = _ranked(published, steps)
    n, here, there = len(steps.here), steps.here[step], steps.there[step]
    rows = published.rows[line]
    own = published.held(published.owners[here], line)
    own[line == published.labels[here]] = 0  # the row of the known trip is no other
    home = rows * (line == published.labels[there])
    picked, own, home = (np.bincount(step, each, n) for each in (rows, own, home))
    unit = published.unit
    return Attack(
        f"next {unit}",
        f"a {unit} of the same person, and looks for one that begins where it ends",
        published,
        steps.there,
        own / picked,
        home / picked,
        worst=own / picked,
        question="linkability",
    )


def _ranked(
    published: Published, steps: Steps, *, by_line: bool = False
) -> tuple[Ranks, Ints, Ints]:
    """Rank the lines by how well they go on from each step, from a known trajectory or its line.

    Also gives the lines that rank first: pairs of step and line, (p,) each.
    """
    own, right = published.labels[steps.here], published.labels[steps.there]
    points, times, row = published.points, published.times, steps.here
    if by_line:
        points, times, row = published.lines, published.line_times, own
    elif published.against == "release":
        own = np.array([lines[0] for lines in published.nearest[steps.here]])
    arrive = None
    if times is not None and (steps.on_a_day or np.isinf(published.cycle)):
        arrive = times[row, -1]
    tree = cKDTree(in_metres(published.lines[:, 0], published.lines))
    onward = in_metres(points[row, -1], published.lines)
    near = np.arange(1, min(_NEAR, len(published.lines)) + 1)

    def ranked(rows: Ints, _: Event) -> tuple[Floats, Ints, Ints]:
        away, line = tree.query(onward[rows], k=near)
        if arrive is not None and published.line_times is not None:
            minutes = (published.line_times[line, 0] - arrive[rows, None]) / MINUTE
            late = _LATE * np.minimum(minutes, HOUR / MINUTE)
            away = np.hypot(away, np.where(minutes < 0.0, _EARLY * minutes, late))
        away[line == own[rows, None]] = np.inf
        least = away.min(axis=1, keepdims=True)
        step, place = np.nonzero(away <= least * (1.0 + TIED) + _SAME)
        away_right = np.where(line == right[rows, None], away, np.inf).min(axis=1, keepdims=True)
        tied = np.where(np.isfinite(away_right), TIED * away_right + _SAME, 0.0)
        nearer = (away < away_right - tied).sum(axis=1)
        alike = np.maximum((away <= away_right + tied).sum(axis=1) - nearer, 1)
        among = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike
        return (among * np.isfinite(away_right[:, 0])).T, rows[step], line[step, place]

    found = in_parts(ranked, np.arange(len(own)), _AT_ONCE)
    among, step, line = map(np.concatenate, zip(*found, strict=True))
    return Ranks(*among.mean(axis=0).tolist()), step, line


def in_metres(points: Floats, lines: Floats) -> Floats:
    """Put points on the plane of some lines."""
    return np.asarray((points - lines[0, 0]) * metres_of_degrees(lines[..., 0].mean()))


def places_found(
    points: Floats, lines: Floats, labels: Ints, subjects: Ints
) -> tuple[Place, Place]:
    """Find where most lines of each person begin or end, and where most do elsewhere.

    Counted are people with such a place, and with a second one.
    """
    went, ended = (
        np.concatenate([in_metres(each[:, end], lines) for end in (0, -1)])
        for each in (points, lines)
    )
    person = np.tile(dense(subjects), 2)
    lines_of_ends = ended[np.append(labels, labels + len(lines))]
    (guess,), _ = _busiest(ended, np.zeros(len(ended), dtype=np.int64))
    home = told_home = None
    places = list[Place]()
    for _ in range(2):
        true, many = _busiest(went, person, home)
        told, _ = _busiest(lines_of_ends, person, told_home)
        home, told_home = went[true], lines_of_ends[told]
        right = [np.hypot(*(at - home).T) <= PLACE for at in (told_home, ended[guess])]
        some = many >= _ENDS
        places.append(Place(int(some.sum()), *(int(found[some].sum()) for found in right)))
        home, told_home = home[person], told_home[person]
    return places[0], places[1]


def _busiest(ends: Floats, subjects: Ints, but: Floats | None = None) -> tuple[Ints, Ints]:
    """For each subject the end near which most of theirs lie, and how many do.

    Ends at a place that is known already, (n, 2), have none beside them.
    """
    known = np.zeros(len(ends))
    if but is not None:
        there = np.hypot(*(ends - but).T) <= 2.0 * PLACE
        known[there] = _APART * (1.0 + np.flatnonzero(there))
    at = np.column_stack([ends, _APART * subjects, known])
    near = cKDTree(at).query_ball_point(at, PLACE, return_length=True)
    order = np.lexsort((-np.arange(len(near)), near, subjects))
    last = order[np.append(np.diff(subjects[order]) != 0, True)]
    return last, near[last]
