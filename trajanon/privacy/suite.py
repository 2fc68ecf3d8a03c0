"""The attacks that the evidence of a release consists of."""

from trajanon.arrays import Floats, Ints
from trajanon.privacy.attack import Attack
from trajanon.privacy.known_points import (
    known_ends,
    known_ends_in_originals,
    known_points,
    known_points_in_originals,
)
from trajanon.privacy.linkage import nearest_record
from trajanon.privacy.other_tracks import other_tracks

KNOWN = 2
"""Points that the adversary knows: more take long beyond some thousand trajectories."""

TOLERANCE = 100.0
"""Metres, about what a release moves a point."""


def attacks(
    points: Floats, released: Floats, labels: Ints, k: int, *, subjects: Ints | None = None
) -> list[Attack]:
    """Run every attack: on the release, and what can be on the originals beside it."""
    on_release = attacks_on_release(points, released, labels, k, subjects=subjects)
    on_originals = {one.name: one for one in _attacks_on_originals(points, k, subjects)}
    both = ((one, on_originals.get(one.name)) for one in on_release)
    return [one for pair in both for one in pair if one is not None]


def attacks_on_release(
    points: Floats, released: Floats, labels: Ints, k: int, *, subjects: Ints | None = None
) -> list[Attack]:
    """Run every attack on the release alone; all else is as in `attacks`."""
    release = (points, released, labels, k)
    done = [nearest_record(*release, subjects=subjects)]
    done += [
        known_points(*release, known=KNOWN, tolerance=TOLERANCE, order=order, subjects=subjects)
        for order in (False, True)
    ]
    done.append(known_ends(*release, tolerance=TOLERANCE, subjects=subjects))
    if subjects is not None:
        done.append(other_tracks(*release, subjects))
    return done


def _attacks_on_originals(points: Floats, k: int, subjects: Ints | None) -> list[Attack]:
    done = [
        known_points_in_originals(
            points, k, known=KNOWN, tolerance=TOLERANCE, order=order, subjects=subjects
        )
        for order in (False, True)
    ]
    done.append(known_ends_in_originals(points, k, tolerance=TOLERANCE, subjects=subjects))
    return done
