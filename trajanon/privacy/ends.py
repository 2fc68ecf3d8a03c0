"""An adversary who knows where his target's trajectory begins and where it ends."""

from dataclasses import replace

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.privacy.attack import Attack
from trajanon.privacy.known_points import check_tolerance, passing, question_of
from trajanon.privacy.published import Published


def known_ends(
    points: Floats,
    released: Floats,
    labels: Ints,
    k: int,
    *,
    tolerance: float = 100.0,
    subjects: Ints | None = None,
) -> Attack:
    """Attack a release with both ends of each original trajectory, as home and work.

    A released line is compatible if its first point lies within ``tolerance`` metres of the
    target's first point, and its last within as many of the target's last.
    """
    published = Published.release(points, released, labels, k, subjects)
    return _attack(published, tolerance)


def known_ends_in_originals(
    points: Floats, k: int, *, tolerance: float = 100.0, subjects: Ints | None = None
) -> Attack:
    """Attack the originals themselves, as if they were published without names.

    Arguments, result and errors are those of `known_ends`.
    """
    return _attack(Published.originals(points, k, subjects), tolerance)


def _attack(published: Published, tolerance: float) -> Attack:
    check_tolerance(tolerance)
    # Two points known in order, of lines that are their two ends: the first of these
    # has to be passed at the first.
    ends = replace(
        published,
        points=np.ascontiguousarray(published.points[:, [0, -1]]),
        lines=np.ascontiguousarray(published.lines[:, [0, -1]]),
    )
    told = passing(ends, question_of(ends, 2, tolerance, order=True))
    knows = f"both ends of the target's trajectory, within {tolerance:g} m"
    return published.attack("both ends", knows, told)
