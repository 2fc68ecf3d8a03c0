"""Home and work of a person, by where most of the person's lines begin or end."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.evaluation.attacks.published_lines import Published

PLACE = 200.0
"""Metres from an end within which others are at the same place."""

_ENDS_OF_A_PLACE = 3  # starts and ends of trips of a person, at least: a round trip has two
_METRES_APART = 1e9  # between two people, or between ends that do not count together


@dataclass(frozen=True, slots=True)
class Place:
    """How many people have a place where most of their lines begin or end, too."""

    people: int  # with a place where three or more starts and ends of their trips lie
    found: int  # of these, with most ends of their lines there
    guess: int  # of these, with the place where most of all lines begin or end


def places_found(published: Published) -> tuple[Place, Place]:
    """Find where most lines of each person begin or end, and where most do elsewhere.

    The adversary knows which lines are a person's. Counted are people with such a place, and with a
    second one.
    """
    ends = _ends_in_metres(published, published.points)
    person = np.tile(renumbered(published.owners), 2)
    line_ends = _ends_in_metres(published, published.lines)
    # Of each trip the first point of its line and, g places on, the last one: (2 n, 2), as `ends`.
    labels = published.labels
    line_ends_of_trips = line_ends[np.append(labels, labels + len(published.lines))]

    # One guess for everybody: the end where most lines begin or end, as if all were one person's.
    (guess,), _ = _busiest(line_ends, np.zeros(len(line_ends), dtype=np.int64))

    first_place = None
    first_place_shown = None
    places = list[Place]()
    for _ in ("first", "second"):
        # Numbers of ends, one for each person.
        true_end, trips_there = _busiest(ends, person, first_place)
        shown_end, _ = _busiest(line_ends_of_trips, person, first_place_shown)
        has_place = trips_there >= _ENDS_OF_A_PLACE
        found, guessed = (
            int((has_place & (np.hypot(*(answers - ends[true_end]).T) <= PLACE)).sum())
            for answers in (line_ends_of_trips[shown_end], line_ends[guess])
        )
        places.append(Place(int(has_place.sum()), found, guessed))

        # The second place is looked for away from the first one: that of its person for each end.
        first_place = ends[true_end][person]
        first_place_shown = line_ends_of_trips[shown_end][person]
    return places[0], places[1]


def _ends_in_metres(published: Published, tracks: Floats) -> Floats:
    """Return the first points of all tracks, (n, p, 2), then the last ones, (2 n, 2)."""
    return np.concatenate([published.in_metres(tracks[:, end]) for end in (0, -1)])


def _busiest(ends: Floats, person: Ints, known_place: Floats | None = None) -> tuple[Ints, Ints]:
    """Find for each person the end near which most of theirs lie, and how many lie there.

    Both are (people,); the end is its number among ``ends``, (e, 2). Ends near a place of their
    ``person``, (e,), that is known already, (e, 2), count one each.
    """
    # On two more axes, ends of different people, and those near the known place, lie far apart.
    apart = np.zeros(len(ends))
    if known_place is not None:
        # Farther away, the circle around an end shares no end with that around the known place.
        is_there = np.hypot(*(ends - known_place).T) <= 2.0 * PLACE
        apart[is_there] = _METRES_APART * (1.0 + np.flatnonzero(is_there))
    positions = np.column_stack([ends, _METRES_APART * person, apart])
    ends_near = cKDTree(positions).query_ball_point(positions, PLACE, return_length=True)

    # Of each person the end with the most, the last in this order; of equal ones the first.
    order = np.lexsort((-np.arange(len(ends)), ends_near, person))
    busiest = order[np.append(np.diff(person[order]) != 0, True)]
    return busiest, ends_near[busiest]
