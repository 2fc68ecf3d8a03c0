"""Chains: lines of one drive, or of one person, taken together."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import to_builtins
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.inputs import Json
from trajanon.evaluation.attacks.attack import Published, Ranks, in_metres
from trajanon.release.people_left import Left, counts_of, people_left

KNOWN = "known"
LINE = "line"
CHANCE = "chance"
"""What an adversary who looks for the next line starts from."""

PLACE = 200.0
"""Metres from an end within which others are at the same place."""
_ENDS = 3  # of the trips of a person that make a place
_APART = 1e9  # metres between two people, on an axis of their own


@dataclass(frozen=True, slots=True)
class Place:
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
    def account(self) -> dict[str, Json]:
        """Return what JSON holds, without data of single people."""
        return {
            "k": self.k,
            "lines": self.lines,
            "steps": self.steps,
            "on_a_day": self.on_a_day,
            **counts_of(self.left),
            "followed": to_builtins(self.found),
            "place": to_builtins(self.place),
            "second_place": to_builtins(self.second),
        }

    @property
    def first(self) -> float:
        """Return how often the next line ranks first, if the trajectory before is known."""
        return self.found[KNOWN].first if self.found else 0.0

    @property
    def chance(self) -> float:
        """Return how often a line drawn by chance is the next one."""
        return self.found[CHANCE].first

    @property
    def next(self) -> str:
        """Name what is looked for."""
        return f"the next {self.unit} of the person{' on that day' * self.on_a_day}"


def people_followed(published: Published, days: Ints | None) -> Followed | None:
    """Measure what the lines of each person show, to those who know all, or follow them in turn.

    The adversary starts from a known trajectory, or from its line. Who knows all lines of a person
    takes the place where most of them begin or end, and the busiest elsewhere. None if nothing is
    known of subjects.
    """
    subjects = published.subjects
    if subjects is None:
        return None
    left = people_left(published.labels, subjects, days, published.k)
    home, second = places_found(published.points, published.lines, published.labels, subjects)
    lines = len(published.lines)
    followed = Followed(published.k, lines, published.unit, left, home, second)

    steps = published.steps
    if steps is None:
        return followed
    ranks = {
        KNOWN: published.next_lines.ranks,
        LINE: published.next_lines_by_line.ranks,
        CHANCE: Ranks(*(min(first / (lines - 1), 1.0) for first in (1, 3))),
    }
    return replace(followed, steps=len(steps.here), on_a_day=steps.on_a_day, found=ranks)


def places_found(
    points: Floats, lines: Floats, labels: Ints, subjects: Ints
) -> tuple[Place, Place]:
    """Find where most lines of each person begin or end, and where most do elsewhere.

    Counted are people with such a place, and with a second one.
    """
    ends, line_ends = (
        np.concatenate([in_metres(tracks[:, end], lines) for end in (0, -1)])
        for tracks in (points, lines)
    )
    person = np.tile(dense(subjects), 2)
    ends_of_lines = line_ends[np.append(labels, labels + len(lines))]
    (guess,), _ = _busiest(line_ends, np.zeros(len(line_ends), dtype=np.int64))

    home = None
    home_shown = None
    places = list[Place]()
    for _ in range(2):
        true, trips = _busiest(ends, person, home)
        shown, _ = _busiest(ends_of_lines, person, home_shown)
        has_place = trips >= _ENDS
        right, guessed = (
            int((has_place & (np.hypot(*(at - ends[true]).T) <= PLACE)).sum())
            for at in (ends_of_lines[shown], line_ends[guess])
        )
        places.append(Place(int(has_place.sum()), right, guessed))

        # The second place is looked for away from the first one.
        home = ends[true][person]
        home_shown = ends_of_lines[shown][person]
    return places[0], places[1]


def _busiest(ends: Floats, subjects: Ints, but: Floats | None = None) -> tuple[Ints, Ints]:
    """Find for each subject the end near which most of theirs lie, and how many do.

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
