"""Habits: a person's other trips beside a line, by somebody who knows no other member."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.number_text import UNITS
from trajanon.partition import dense
from trajanon.privacy.attack import Published
from trajanon.privacy.known_tracks import Guessed, KnownTracks, drawn

_NEAR = 4.0  # times the squared distance of members: a trip within it may be on the line


def other_trips(published: Published, *, seed: int = 0) -> Guessed | None:
    """Guess a hidden trajectory of a person by all others of theirs.

    The adversary knows these, and which line the hidden one is on, and takes the nearest to it; or
    the line itself if none is as near as members are. None if nobody has several.
    """
    owners = dense(published.owners)
    several = np.flatnonzero(np.bincount(owners)[owners] > 1)
    if not len(several):
        return None
    tracks = KnownTracks(published)
    order = np.argsort(owners, kind="stable")
    first = np.searchsorted(owners[order], np.arange(owners.max() + 2))
    off, lines = list[float](), list[float]()
    for target in several[drawn(len(several), np.random.default_rng(seed))].tolist():
        line, person = int(tracks.labels[target]), owners[target]
        known = order[first[person] : first[person + 1]]
        known = known[known != target]
        away = tracks.squares(known, line)
        guess = tracks.lines[line]
        if away.min() <= _NEAR * tracks.member_squares:
            guess = tracks.points[known[away.argmin()]]
        off.append(_metres_between(guess, tracks.points[target]))
        lines.append(_metres_between(tracks.lines[line], tracks.points[target]))
    knows = (
        f"somebody's line and other {UNITS[published.unit]}, and takes the nearest if it is near,"
    )
    return Guessed.of(knows, {"nearest": np.array(off)}, np.array(lines))


def _metres_between(guess: Floats, truth: Floats) -> float:
    return float(np.hypot(*(guess - truth).T).mean())
