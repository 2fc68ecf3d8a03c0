"""Other trips of a person: a hidden one guessed by them, by somebody who knows no other member."""

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.number_text import UNITS
from trajanon.evaluation.attacks.attack import Guessed
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import KnownTracks, targets_drawn

# A trip may be on a line if its squared distance to it is at most so many times that of members.
_SQUARES_NEAR = 4.0
_HABITUAL = 0.5  # of the distance to the line: another trip within it makes a habit


def other_trips(published: Published, *, seed: int = 0) -> Guessed | None:
    """Guess a hidden trajectory of a person by all others of theirs.

    The adversary knows these, and which line the hidden one is on. One guess is the trip of these
    that is nearest to the line. Another is the same trip if it is a habit, and else the line: the
    trip is near the line, and less than half as far from another one as from the line. None if
    nobody has several; recordings without a name are of nobody.
    """
    person = renumbered(published.owners)
    has_others = np.bincount(person)[person] > 1
    if published.nameless is not None:
        has_others &= ~published.nameless
    several = np.flatnonzero(has_others)
    if not len(several):
        return None

    tracks = KnownTracks(published)
    # Row numbers of the trips person by person; where those of each begin, and the last ones end.
    by_person = np.argsort(person, kind="stable")
    first = np.searchsorted(person[by_person], np.arange(person.max() + 2))

    errors = list[list[float]]()
    for target in several[targets_drawn(len(several), np.random.default_rng(seed))].tolist():
        trips = by_person[first[person[target]] : first[person[target] + 1]]
        known_trips = trips[trips != target]
        guesses = _guesses(tracks, int(tracks.labels[target]), known_trips)
        errors.append([float(_mean_metres(guess, tracks.points[target])) for guess in guesses])

    of_nearest, of_habits, of_lines = np.array(errors).T
    knows = f"somebody's line and other {UNITS[published.unit]}, and takes the nearest,"
    return Guessed.of(knows, {"nearest": of_nearest, "habit": of_habits}, of_lines)


def _mean_metres(guesses: Floats, truth: Floats) -> Floats:
    """Compute the metres between points of tracks, (..., p, 2), on average over points, (...)."""
    return np.asarray(np.hypot(*np.moveaxis(guesses - truth, -1, 0)).mean(axis=-1))


def _guesses(tracks: KnownTracks, line: int, trips: Ints) -> tuple[Floats, Floats, Floats]:
    """Guess a hidden trajectory by the nearest trip, by a habit or else the line, and by the line.

    ``trips`` are row numbers of the known ones of the person. Each guess is (p, 2), metres.
    """
    line_points = tracks.lines[line]
    squares = tracks.squares(trips, line)
    nearest = tracks.points[trips[squares.argmin()]]
    other_known = tracks.points[np.delete(trips, squares.argmin())]

    from_other_trip = _mean_metres(other_known, nearest).min(initial=np.inf)
    is_repeated = from_other_trip < _HABITUAL * _mean_metres(line_points, nearest)
    is_near = squares.min() <= _SQUARES_NEAR * tracks.member_squares
    habit = nearest if is_repeated and is_near else line_points
    return nearest, habit, line_points
