"""Habits: a person's other trips beside a line, by somebody who knows no other member."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.partition import dense
from trajanon.privacy.attack import Published
from trajanon.privacy.known_tracks import Guessed, KnownTracks, drawn


def other_trips(published: Published, *, seed: int = 0) -> Guessed | None:
    """Guess a hidden trajectory of a person by the nearest to its line of all others of theirs.

    The adversary knows the other trajectories of the person, and which line the hidden one is on.
    None if nobody has several.
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
        guess = known[tracks.squares(known, line).argmin()]
        off.append(_metres_between(tracks.points[guess], tracks.points[target]))
        lines.append(_metres_between(tracks.lines[line], tracks.points[target]))
    unit = published.unit
    knows = f"the line of a {unit} and the other ones of its person, and takes the nearest,"
    return Guessed.of(knows, {"nearest": np.array(off)}, np.array(lines))


def _metres_between(guess: Floats, truth: Floats) -> float:
    return float(np.hypot(*(guess - truth).T).mean())
