"""Home and work of a person, by where most of the person's lines begin or end."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.evaluation.attacks.published_lines import Published

PLACE = 200.0
"""Metres from an end within which others are at the same place."""

REACHES = (PLACE, 300.0, 500.0, 700.0, 1_000.0)
"""Metres around an end of a line within which the adversary looks for ends at the same place.

Lines are means of several trips, and moved: their ends lie around a place, and rarely within 200 m.
"""

_ENDS_OF_A_PLACE = 3  # starts and ends of trips of a person, at least: a round trip has two
_METRES_APART = 1e9  # between two people, or between ends that do not count together


@dataclass(frozen=True, slots=True)
class Place:
    """How many people have a place that the ends of their lines show, to 200 m."""

    people: int  # with a place where three or more starts and ends of their trips lie
    found: int  # of these, with this place in the middle of most ends of their lines
    guess: int  # of these, with the place where most of all lines begin or end


def places_found(published: Published) -> tuple[Place, Place]:
    """Find where most lines of each person begin or end, and where most do elsewhere.

    The adversary knows which lines are a person's, and takes the middle of their ends around the
    end with most of them; of several reaches, that which finds most. Counted are people with such a
    place, and with a second one.
    """
    ends = _ends_in_metres(published, published.points)
    person = np.tile(renumbered(published.owners), 2)
    line_ends = _ends_in_metres(published, published.lines)
    # Of each trip the first point of its line and, g places on, the last one: (2 n, 2), as `ends`.
    labels = published.labels
    line_ends_of_trips = line_ends[np.append(labels, labels + len(published.lines))]

    # One guess for everybody: the end where most lines begin or end, as if all were one person's.
    first_of_all, _ = _two_busiest(line_ends, np.zeros(len(line_ends), dtype=np.int64), PLACE)
    guess = first_of_all.end

    true_places = _two_busiest(ends, person, PLACE)
    shown_places = [_two_busiest(line_ends_of_trips, person, reach) for reach in REACHES]
    places = list[Place]()
    for number, true_place in enumerate(true_places):
        has_place = true_place.ends_there >= _ENDS_OF_A_PLACE
        found, guessed = (
            max(
                int((has_place & (np.hypot(*(answer - true_place.end).T) <= PLACE)).sum())
                for answer in answers
            )
            for answers in ([shown[number].middle for shown in shown_places], [guess])
        )
        places.append(Place(int(has_place.sum()), found, guessed))
    return places[0], places[1]


def _ends_in_metres(published: Published, tracks: Floats) -> Floats:
    """Return the first points of all tracks, (n, p, 2), then the last ones, (2 n, 2)."""
    return np.concatenate([published.in_metres(tracks[:, end]) for end in (0, -1)])


@dataclass(frozen=True, slots=True)
class _Busiest:
    """A place of each person: an end with the most ends of theirs within reach."""

    end: Floats  # (people, 2), metres
    middle: Floats  # of the ends within reach, (people, 2)
    ends_there: Ints  # how many these are, (people,)


def _two_busiest(ends: Floats, person: Ints, reach: float) -> tuple[_Busiest, _Busiest]:
    """Find the busiest place of each ``person``, (e,), among ends, (e, 2); and the busiest away.

    Away from the first place is farther than twice the reach, so that no end is within reach of
    both. Of a person without an end so far away, the second place is any end, with none there.
    """
    first = _busiest(ends, person, np.zeros(len(ends), dtype=np.bool_), reach)
    is_at_first = np.hypot(*(ends - first.end[person]).T) <= 2.0 * reach
    return first, _busiest(ends, person, is_at_first, reach)


def _busiest(ends: Floats, person: Ints, is_left_out: Bools, reach: float) -> _Busiest:
    """Find the busiest place of each person, without the ends that are left out, (e,)."""
    # On two more axes, ends of different people, and each of those left out, lie far apart.
    apart = _METRES_APART * np.where(is_left_out, 1.0 + np.arange(len(ends)), 0.0)
    positions = np.column_stack([ends, _METRES_APART * person, apart])
    tree = cKDTree(positions)
    ends_near = tree.query_ball_point(positions, reach, return_length=True)
    ends_near[is_left_out] = 0

    # Of each person the end with the most, the last in this order; of equal ones the first.
    order = np.lexsort((-np.arange(len(ends)), ends_near, person))
    busiest = order[np.append(np.diff(person[order]) != 0, True)]
    around = tree.query_ball_point(positions[busiest], reach)
    middle = np.array([ends[near].mean(axis=0) for near in around])
    return _Busiest(ends[busiest], middle, ends_near[busiest])
