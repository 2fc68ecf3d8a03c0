"""Habits: a person's other trips beside a line, by somebody who knows no other member."""

import numpy as np

from trajanon.common.arrays import Floats, dense
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
    order = np.argsort(owners, kind="stable")
    first = np.searchsorted(owners[order], np.arange(owners.max() + 2))
    errors = list[list[float]]()
    for target in several[drawn(len(several), np.random.default_rng(seed))].tolist():
        number, truth = int(tracks.labels[target]), tracks.points[target]
        line, person = tracks.lines[number], owners[target]
        known = order[first[person] : first[person + 1]]
        known = known[known != target]
        away = tracks.squares(known, number)
        nearest = tracks.points[known[away.argmin()]]
        others = tracks.points[np.delete(known, away.argmin())]
        habit = line
        repeated = _off(others, nearest).min(initial=np.inf) < 0.5 * _off(line, nearest)
        if repeated and away.min() <= _NEAR * tracks.member_squares:
            habit = nearest
        errors.append([float(_off(guess, truth)) for guess in (nearest, habit, line)])
    of_nearest, of_habits, of_lines = np.array(errors).T
    knows = f"somebody's line and other {UNITS[published.unit]}, and takes the nearest,"
    return Guessed.of(knows, {"nearest": of_nearest, "habit": of_habits}, of_lines)


def _off(guesses: Floats, truth: Floats) -> Floats:
    """Metres between points, on average, (..., )."""
    return np.asarray(np.hypot(*np.moveaxis(guesses - truth, -1, 0)).mean(axis=-1))
