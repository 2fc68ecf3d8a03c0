"""How a line is written: moved, and on a grid, both by its group's own width; and its times."""

from hashlib import blake2b
from itertools import pairwise

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.clock import BEGINS, Clock
from trajanon.files.release_lines import MOST_STEPS, UNIT, Grids
from trajanon.loss import group_means
from trajanon.partition import dense
from trajanon.utility import moved_to
from trajanon.utility.displacements import metres_of_degrees

_SHIFT_DIGITS = 7  # decimals of a degree, as a report tells them
_MOVES = 3.0  # in a step of a grid, at most


def grids_of(points: Floats, lines: Floats, labels: Ints, subjects: Ints | None = None) -> Grids:
    """Choose how each group's line is moved, and the grid that it is put on.

    Whoever holds all other members of a group of s could subtract them from s times its mean, and
    would have the last one. So the whole line is moved by an s-th of the group's width, in a
    direction that follows from all of its members: what is left then is off by the width, also if
    it is smoothed. To find these members, he could look for those that leave points which are
    equally spaced, as originals are. So the line is put on a grid: a step is the largest power of
    two units that is not above three times the move, the width, or the members' mean hop; at least
    one unit, and at most `MOST_STEPS`. The width is the mean displacement of the members to the
    mean. Whoever is in a group c times is left c times: such a group counts as one of s / c. Where
    ``subjects`` are None, each trajectory has its own.
    """
    sizes, parts = np.bincount(labels), _parts(labels, subjects)
    moved = moved_to(points, lines, labels).mean(axis=1, dtype=np.float64)
    width = np.bincount(labels, moved) / sizes
    degree = metres_of_degrees(lines[..., 0].mean(axis=1))
    turned = 2.0 * np.pi * _drawn(points, labels, len(sizes), b"places")
    direction = np.column_stack([np.sin(turned), np.cos(turned)])
    far = (width / parts)[:, None] * direction / degree
    length, scale = np.zeros(len(points)), degree[labels]
    for here, there in pairwise(np.moveaxis(points, 1, 0)):
        length += np.hypot(*((there - here) * scale).T)
    hop = np.bincount(labels, length) / sizes / max(points.shape[1] - 1, 1)
    coarsest = np.minimum(width * np.minimum(_MOVES / parts, 1.0), hop)
    with np.errstate(divide="ignore"):  # all members may be equal
        doublings = np.floor(np.log2(coarsest[:, None] / (UNIT * degree)))
    steps: Ints = np.exp2(doublings.clip(0.0, np.log2(MOST_STEPS))).astype(np.int64)
    return Grids(np.round(far.clip(-180.0, 180.0), _SHIFT_DIGITS), steps)


def time_shifts(
    points: Floats, seconds: Floats, labels: Ints, clock: Clock, subjects: Ints | None = None
) -> Floats:
    """Choose by how many seconds the times of each group's line are moved, (g,).

    By up to twice an s-th of the group's width, so that who subtracts all other members, as
    `grids_of` says, is off by about the width: here, the mean distance from the mean departure. A
    line departs within the day or week of the clock.
    """
    sizes, departures = np.bincount(labels), seconds[:, 0]
    members = np.dstack([points, seconds])
    mean = group_means(seconds[:, :1], labels)[:, 0]
    width = np.bincount(labels, np.abs(departures - mean[labels])) / sizes
    most = 2.0 * width / _parts(labels, subjects)
    moved = mean + most * (2.0 * _drawn(members, labels, len(sizes), b"times") - 1.0)
    if np.isfinite(clock.round):
        moved = np.clip(moved, BEGINS, BEGINS + clock.round)
    return np.trunc(moved - mean) + 0.0


def _parts(labels: Ints, subjects: Ints | None) -> Floats:
    """How many times each group is as large as what a subject has in it at most, (g,).

    Where all is of one subject there are no others to subtract, and the group is as large as it is.
    """
    sizes = np.bincount(labels).astype(np.float64)
    if subjects is None:
        return sizes
    own, people = dense(subjects), len(subjects)
    pairs, held = np.unique(labels * people + own, return_counts=True)
    most = np.zeros(len(sizes))
    np.maximum.at(most, pairs // people, held)
    return sizes / np.where(most < sizes, most, 1.0)


def _drawn(members: Floats, labels: Ints, groups: int, what: bytes) -> Floats:
    """A number from 0 to 1 for each group, (g,), that nobody can tell without all its members.

    It is drawn by what they are, not by a seed, which others may know. The order of the members
    does not matter.
    """
    each = (blake2b((one + 0.0).tobytes(), digest_size=8, person=what) for one in members)
    drawn = np.zeros(groups, dtype=np.uint64)
    np.add.at(drawn, labels, np.frombuffer(b"".join(one.digest() for one in each), dtype="<u8"))
    return drawn / 2.0**64
