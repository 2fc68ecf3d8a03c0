"""Chains: lines of one drive, or of one person, put together again from line to line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from trajanon.arrays import Bools, Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import UNITS, metres, number_of, percent
from trajanon.partition import dense
from trajanon.privacy.attack import TIED, Attack, Published, Steps
from trajanon.times import HOUR, MINUTE, departure_days
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories
from trajanon.workers import in_parts

_HEADING = 4.0  # a metre between two hops counts as much as this between two places
_EARLY, _LATE = 10.0, 3.0  # metres that count as much as a minute too early, or later
_SAME = 1e-6  # metres that are nothing but rounding
_NEAR = 200  # lines that begin nearest, of which he chooses
_AT_ONCE = 1_000  # steps that a thread tries

LINE, KNOWN, CHANCE = "line", "known", "chance"
"""What the adversary starts from: a known trajectory, its line, or a guess."""

PLACE = 200.0
"""Metres from an end within which others are at the same place."""
_ENDS = 3  # of the trips of a person that make a place
_APART = 1e9  # metres between two people, on an axis of their own


class Left(NamedTuple):
    """How few subjects are on all lines of each drive, day or person."""

    several: int  # of these, on several lines
    below: int  # with fewer than k subjects on all of them
    alone: int  # with one

    def account(self, name: str) -> dict[str, int]:
        """Ready for JSON, by the name of what is counted."""
        return {name: self.several, f"{name}_below": self.below, f"{name}_alone": self.alone}


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
class Chained:
    """What lines of one drive, or of one person, give away together."""

    k: int
    lines: int  # released
    unit: str
    of: str  # what is followed, as in `Steps`
    left: Mapping[str, Left]  # by ``drives``; or by ``people`` and, where known, ``days``
    steps: int = 0
    found: Mapping[str, Ranks] = field(default_factory=dict)  # by what the adversary starts from
    place: Place | None = None

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON, without data of single drives or people."""
        followed = {start: ranks._asdict() for start, ranks in self.found.items()}
        whole = {"k": self.k, "lines": self.lines, "of": self.of, "steps": self.steps}
        place = None if self.place is None else self.place._asdict()
        return whole | counts_of(self.left) | {"followed": followed, "place": place}

    @property
    def first(self) -> float:
        """How often the line of the next one ranks first, if the one before is known."""
        return self.found[KNOWN].first if self.found else 0.0

    @property
    def next(self) -> str:
        """What is looked for."""
        within = {"drive": " of its drive", "day": " of the person on that day"}
        return f"the next {self.unit}{within.get(self.of, ' of the person')}"

    @property
    def few(self) -> str:
        """How few subjects are left, a sentence without its end."""
        (what, left), *more = self.left.items()
        one, whom = ("drive", "subjects") if what == "drives" else ("person", "people")
        said = (
            f"Anyone who knows all lines of a {one} is left with fewer than {self.k} {whom} in "
            f"{left.below:,} of {number_of(left.several, one, what)} on several lines, and with "
            f"one alone in {left.alone:,}"
        )
        for days in (days for _, days in more if days.several):
            said += (
                f"; on one day, in {days.below:,} of {number_of(days.several, 'day')} and in "
                f"{days.alone:,}"
            )
        return said

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        if not any(left.several for left in self.left.values()):
            return "No person is on two lines, so none can be followed from line to line."
        said = [f"{self.few}."]
        if self.found:
            line, known, chance = (self.found[start] for start in (LINE, KNOWN, CHANCE))
            said.append(
                f"Somebody who knows a {self.unit} ranks the line of {self.next} first of "
                f"{self.lines:,} lines in {percent(known.first)} of {number_of(self.steps, 'step')}"
                f" (by its line {percent(line.first)}, by chance {percent(chance.first)})."
            )
        if (place := self.place) is not None and place.people:
            have = number_of(place.people, "person has", "people have")
            said.append(
                f"{have} a place of {metres(PLACE)} where three {UNITS[self.unit]} begin or end. "
                f"For {place.found:,} of them most ends of their lines lie there; one guess for "
                f"everybody is right for {place.guess:,}."
            )
        return " ".join(said)


def counts_of(left: Mapping[str, Left]) -> dict[str, int]:
    """Give all counts, ready for JSON."""
    return {key: n for name, one in left.items() for key, n in one.account(name).items()}


def left_on(cells: Ints, labels: Ints, subjects: Ints, k: int) -> Left:
    """Count the subjects who are on all lines of each cell: a drive, a day or a person, (n,)."""
    cell, line = np.unique(np.column_stack([cells, labels]), axis=0).T
    _, lines = np.unique(cell, return_counts=True)
    several = np.repeat(lines > 1, lines)
    if not several.any():
        return Left(0, 0, 0)
    on, held = _marked(dense(cell[several]), line[several]), _marked(labels, dense(subjects))
    on.resize(on.shape[0], held.shape[0])
    common = (on @ held).tocoo()
    on_all = common.row[common.data == lines[lines > 1][common.row]]
    people = np.bincount(on_all, minlength=on.shape[0])
    return Left(len(people), int((people < k).sum()), int((people == 1).sum()))


def _marked(row: Ints, column: Ints) -> csr_array:
    marks = csr_array((np.ones(len(row), np.int64), (row, column)))
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks


def drives_left(
    labels: Ints, tracks: Tracks | None, subjects: Ints | None, k: int
) -> dict[str, Left]:
    """Count the subjects on all lines of each drive; nothing if no drive is on two lines.

    Where subjects are not known, each drive counts as one.
    """
    if tracks is None:
        return {}
    left = left_on(tracks.run, labels, tracks.run if subjects is None else subjects, k)
    return {"drives": left} if left.several else {}


def people_left(labels: Ints, subjects: Ints, days: Ints | None, k: int) -> dict[str, Left]:
    """Count the subjects on all lines of each person, and of each of their days."""
    left = {"people": left_on(subjects, labels, subjects, k)}
    if days is not None:
        left["days"] = left_on(_cells(subjects, days), labels, subjects, k)
    return left


def _cells(subjects: Ints, days: Ints) -> Ints:
    pairs = np.column_stack([subjects, days])
    return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1))


def people_steps(trajectories: Trajectories, labels: Ints) -> Steps | None:
    """Go from each trajectory to the next of its subject on that day, or at all.

    By departure, or in the order of the file where times are not known. It must be on another line.
    None where no person is on two.
    """
    if (subjects := trajectories.subject) is None:
        return None
    order, days = np.arange(len(labels)), departure_days(trajectories)
    if trajectories.times is not None:
        order = np.argsort(trajectories.times[:, 0], kind="stable")
    cells = {"person": subjects}
    if days is not None:
        cells = {"day": _cells(subjects, days)} | cells
    steps = (_steps(of, cell, order, labels) for of, cell in cells.items())
    return next((one for one in steps if len(one.here)), None)


def _steps(of: str, cells: Ints, order: Ints, labels: Ints) -> Steps:
    """Go on within cells, in an order."""
    order = order[np.argsort(cells[order], kind="stable")]
    here, there = order[:-1], order[1:]
    goes_on = (cells[here] == cells[there]) & (labels[here] != labels[there])
    return Steps(of, here[goes_on], there[goes_on])


def drives_chained(published: Published, tracks: Tracks | None) -> Chained | None:
    """Put together again the windows of each drive, a run of the tracks.

    They lie end to end, each in a group of its own. From a line the adversary goes to the one that
    best begins where the first would be a hop later, with a hop like its last. None if the tracks
    are not known, or no drive has windows on two lines.
    """
    left = drives_left(published.labels, tracks, published.subjects, published.k)
    if tracks is None or not left or published.points.shape[1] == 1:  # a point has no heading
        return None
    order = np.argsort(tracks.start, kind="stable")
    steps = _steps("drive", tracks.run, order, published.labels)
    return _chained(published, steps, left, None)


def people_chained(published: Published, days: Ints | None) -> Chained | None:
    """Follow each person from trip to trip, by `Published.steps`, and ask where they mostly go.

    The next trip begins where the last one ended, and where times are released, later. The
    adversary starts from the line of a trip; or he knows the trip, and sets aside the line nearest
    to it. Who knows all lines of a person takes the place where most of them begin or end.
    None if nothing is known of subjects.
    """
    if (subjects := published.subjects) is None:
        return None
    left = people_left(published.labels, subjects, days, published.k)
    whom, *found = places_found(published.points, published.lines, published.labels, subjects)
    place = Place(len(whom), *(int(one.sum()) for one in found))
    return _chained(published, published.steps, left, place)


def _chained(
    published: Published, steps: Steps | None, left: Mapping[str, Left], place: Place | None
) -> Chained:
    k, lines = published.k, len(published.lines)
    if steps is None:
        return Chained(k, lines, published.unit, "person", left, place=place)
    tried = {start: _tried(published, steps, known=start == KNOWN) for start in (LINE, KNOWN)}
    found = {
        start: Ranks(float(one.first.mean()), float(one.among_three.mean()))
        for start, one in tried.items()
    }
    found[CHANCE] = Ranks(*(min(n / (lines - 1), 1.0) for n in (1, 3)))
    return Chained(k, lines, published.unit, steps.of, left, len(steps.here), found, place)


def next_trip(published: Published, steps: Steps) -> Attack:
    """Go from a known trip to the line that best goes on, and pick one of its rows."""
    tried, n = _tried(published, steps, known=True), len(steps.here)
    here, there = steps.here[tried.step], steps.there[tried.step]
    rows = published.rows[tried.line]
    own, _ = published.held(published.owners[here], tried.line)
    own[tried.line == published.labels[here]] = 0  # the row of the known trip is no other
    home = rows * (tried.line == published.labels[there])
    picked, own, home = (np.bincount(tried.step, each, n) for each in (rows, own, home))
    unit = published.unit
    return Attack(
        f"next {unit}",
        f"a {unit} of the target's subject, and looks for one that begins where it ends",
        published,
        steps.there,
        own / picked,
        home / picked,
        worst=own / picked,
        question="linkability",
    )


class _Tried(NamedTuple):
    """How lines rank as the next one of each step that was tried, (s,)."""

    first: Floats  # chance that the right line ranks first
    among_three: Floats
    step: Ints  # with each of the lines that rank first in it
    line: Ints


def _tried(published: Published, steps: Steps, *, known: bool) -> _Tried:
    """Rank the other lines that begin near by how well they continue this one."""
    own, right = published.labels[steps.here], published.labels[steps.there]
    points, times, row = published.lines, published.line_times, own
    if known:
        points, times, row = published.points, published.times, steps.here
        if published.against == "release":
            own = np.array([lines[0] for lines in published.nearest[steps.here]])
    tree = cKDTree(_ends(published, published.lines, steps.of)[0])
    onward = _ends(published, points[row], steps.of)[1]
    arrive = _arrivals(published, times, row, steps.of)
    near = np.arange(1, min(_NEAR, len(published.lines)) + 1)

    def ranked(rows: Ints, _: Event) -> tuple[Floats, Floats, Ints, Ints]:
        away, line = tree.query(onward[rows], k=near)
        if arrive is not None and published.line_times is not None:
            minutes = (published.line_times[line, 0] - arrive[rows, None]) / MINUTE
            late = _LATE * np.minimum(minutes, HOUR / MINUTE)
            away = np.hypot(away, np.where(minutes < 0.0, _EARLY * minutes, late))
        away[line == own[rows, None]] = np.inf
        right_away = np.where(line == right[rows, None], away, np.inf).min(axis=1, keepdims=True)
        there = np.isfinite(right_away[:, 0])
        tied = np.where(np.isfinite(right_away), TIED * right_away + _SAME, 0.0)
        nearer = (away < right_away - tied).sum(axis=1)
        alike = np.maximum((away <= right_away + tied).sum(axis=1) - nearer, 1)
        among = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike * there
        least = away.min(axis=1, keepdims=True)
        step, place = np.nonzero(away <= least * (1.0 + TIED) + _SAME)
        return (*among, rows[step], line[step, place])

    found = in_parts(ranked, np.arange(len(own)), _AT_ONCE)
    return _Tried(*map(np.concatenate, zip(*found, strict=True)))


def _ends(published: Published, points: Floats, of: str) -> tuple[Floats, Floats]:
    """Where lines or originals begin, and where they would go on, in metres.

    At the end; for drives a hop later, in the direction of the hop.
    """
    ways = in_metres(points, published.lines)
    begin, end = ways[:, 0], ways[:, -1]
    if of != "drive":
        return begin, end
    first, last = ways[:, 1] - begin, end - ways[:, -2]
    return np.hstack([begin, _HEADING * first]), np.hstack([end + last, _HEADING * last])


def _arrivals(published: Published, times: Floats | None, row: Ints, of: str) -> Floats | None:
    """When others would go on; None where times are not released, or days are not."""
    if times is None or published.line_times is None:
        return None
    if of == "person" and np.isfinite(published.cycle):
        return None
    arrive: Floats = times[row, -1]
    return 2.0 * arrive - times[row, -2] if of == "drive" else arrive


def in_metres(points: Floats, lines: Floats) -> Floats:
    """Put points on the plane of some lines."""
    return np.asarray((points - lines[0, 0]) * metres_of_degrees(lines[..., 0].mean()))


def places_found(
    points: Floats, lines: Floats, labels: Ints, subjects: Ints
) -> tuple[Ints, Bools, Bools]:
    """Find the place where most lines of each person begin or end, for those who have one.

    Gives one trajectory of each such person; whether that place is theirs; and whether the place
    where most of all lines begin or end is.
    """
    went, ended = (
        np.concatenate([in_metres(each[:, end], lines) for end in (0, -1)])
        for each in (points, lines)
    )
    own, person = np.append(labels, labels + len(lines)), np.tile(dense(subjects), 2)
    true, many = _busiest(went, person)
    true, inferred = true[many >= _ENDS], _busiest(ended[own], person)[0][many >= _ENDS]
    guess, _ = _busiest(ended, np.zeros(len(ended), dtype=np.int64))
    found, guessed = (
        np.hypot(*(place - went[true]).T) <= PLACE for place in (ended[own[inferred]], ended[guess])
    )
    return true % len(points), found, guessed


def _busiest(ends: Floats, subjects: Ints) -> tuple[Ints, Ints]:
    """For each subject the end near which most of theirs lie, and how many do."""
    at = np.column_stack([ends, _APART * subjects])
    near = cKDTree(at).query_ball_point(at, PLACE, return_length=True)
    order = np.lexsort((-np.arange(len(near)), near, subjects))
    last = order[np.append(np.diff(subjects[order]) != 0, True)]
    return last, near[last]
