"""Groups whose members lie farther apart than they are long."""

from math import ceil, floor, log10
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import EARTH, in_space
from trajanon.loss import group_means
from trajanon.privacy.outliers import in_order
from trajanon.utility.shape import lengths

_MOST = 0.2  # of the trajectories: more is no suppression
_ALIKE = 0.1  # of the widest group's span


def wide_groups(
    points: Floats, labels: Ints, k: int, subjects: Ints | None, *, counts_subjects: bool = True
) -> dict[str, Any] | None:
    """Sum up the groups wider than their longest member, ready for JSON; None if there is none."""
    length = lengths(points)
    middles = in_space(points.mean(axis=1))

    def span(rows: Ints) -> float:
        far = [np.linalg.norm(middles[rows] - one, axis=1).max() for one in middles[rows]]
        chord = float(max(far, default=0.0))
        return 2.0 * EARTH * float(np.arcsin(min(chord / (2.0 * EARTH), 1.0)))

    # No two are farther apart than twice the farthest is from the middle of all.
    off = np.linalg.norm(middles - group_means(middles, labels)[labels], axis=1)
    radius, longest = np.zeros(labels.max() + 1), np.zeros(labels.max() + 1)
    np.maximum.at(radius, labels, off)
    np.maximum.at(longest, labels, length)
    maybe = np.flatnonzero(np.pi * radius > longest)  # an arc is longer than a chord
    ends = np.cumsum(np.bincount(labels))
    members = np.split(np.argsort(labels, kind="stable"), ends[:-1])
    wide = {
        int(group): metres for group in maybe if (metres := span(members[group])) > longest[group]
    }
    if not wide:
        return None
    own = np.arange(len(points))
    if counts_subjects and subjects is not None:
        own = subjects
    widest = max(wide.values())
    left = {group for group, metres in wide.items() if metres >= _ALIKE * widest}
    out = np.zeros(len(points), dtype=np.bool_)
    for rows in in_order(points, labels, int(_MOST * len(points)), k=k, subjects=own):
        out[rows] = True
        group = int(labels[rows[0]])
        if group in left:
            rest = members[group][~out[members[group]]]
            if len(np.unique(own[rest])) < k or span(rest) <= length[rest].max():
                left.remove(group)
        if not left:
            break
    many = int(out.sum())
    return {
        "groups": len(wide),
        "span": widest,
        "trajectories": None if left else many,
        "subjects": None if left or subjects is None else len(np.unique(subjects[out])),
        "share": None if left else _rounded_up(many / len(points)),
    }


def _rounded_up(share: float) -> float:
    """Round a share up to two digits, so that all of it is left out."""
    unit = 10.0 ** (floor(log10(share)) - 1)
    return round(ceil(share / unit - 1e-9) * unit, 12)
