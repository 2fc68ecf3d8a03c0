"""Habits: a person's other trips beside a line, by somebody who knows no other member."""

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.number_text import UNITS
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.attacks.known_tracks import Guessed, KnownTracks, drawn

_NEAR = 4.0  # times the squared distance of members: a trip within it may be on the line


def other_trips(published: Published, *, seed: int = 0) -> Guessed | None:
    """Guess a hidden trajectory of a person by all others of theirs.

    The adversary knows these, and which line the hidden one is on, and takes the nearest to it. Or
    only if it is a habit, half as far from another of them as from the line, and this is near; else
    the line. None if nobody has several.
    """
    owners = dense(published.owners)
    several = np.flatnonzero(np.bincount(owners)[owners] > 1)
    if not len(several):
        return None
    tracks = KnownTracks(published)
    by_owner = np.argsort(owners, kind="stable")
    first = np.searchsorted(owners[by_owner], np.arange(owners.max() + 2))

    errors = list[list[float]]()
    for target in several[drawn(len(several), np.random.default_rng(seed))].tolist():
        person = owners[target]
        trips = by_owner[first[person] : first[person + 1]]
        trips = trips[trips != target]
        guesses = _guesses(tracks, int(tracks.labels[target]), trips)
        errors.append([float(_off(guess, tracks.points[target])) for guess in guesses])

    of_nearest, of_habits, of_lines = np.array(errors).T
    knows = f"somebody's line and other {UNITS[published.unit]}, and takes the nearest,"
    return Guessed.of(knows, {"nearest": of_nearest, "habit": of_habits}, of_lines)


def _off(guesses: Floats, truth: Floats) -> Floats:
    """Compute the metres between points, on average, (..., )."""
    return np.asarray(np.hypot(*np.moveaxis(guesses - truth, -1, 0)).mean(axis=-1))


def _guesses(tracks: KnownTracks, number: int, trips: Ints) -> tuple[Floats, Floats, Floats]:
    """Guess a hidden trajectory by the nearest trip, by a habit or else the line, and by the line.

    The trips are the known ones of the person.
    """
    line = tracks.lines[number]
    away = tracks.squares(trips, number)
    nearest = tracks.points[trips[away.argmin()]]
    others = tracks.points[np.delete(trips, away.argmin())]

    is_repeated = _off(others, nearest).min(initial=np.inf) < 0.5 * _off(line, nearest)
    is_near = away.min() <= _NEAR * tracks.member_squares
    habit = nearest if is_repeated and is_near else line
    return nearest, habit, line
