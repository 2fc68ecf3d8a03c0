"""Which groups and originals are drawn, if there are too many for a browser."""

import numpy as np

from trajanon.arrays import Ints

_POINTS = 300_000  # of the originals drawn: 10,000 trajectories of 30 points
_OF_PAGE = 1_000_000  # of those of all releases on a page, if all can be drawn
_SAMPLED = 700_000  # and if not: samples share no tracks, which take half as much again


def choose_groups(sizes: Ints, points: int) -> Ints:
    """Choose the groups of a release to draw at random, each as one line of some points."""
    most = max(1, _POINTS // points)
    if len(sizes) <= most:
        return np.arange(len(sizes))
    return np.sort(np.random.default_rng(0).permutation(len(sizes))[:most])


def choose_originals(
    labels: Ints, points: int, always: Ints, releases: int = 1
) -> tuple[Ints, list[Ints], int | None]:
    """Choose what to draw of one of several releases: everything, or a few originals of each group.

    If even two originals of each group are too many, some groups are left out, but none of
    ``always``. Returned are the groups, rising, the originals of each, and how many originals a
    group has at most (None if all).
    """
    most = max(1, min(_POINTS, _OF_PAGE // releases) // points)
    sizes = np.bincount(labels)
    if len(labels) <= most:
        order = np.argsort(labels, kind="stable")
        return np.arange(len(sizes)), _split(order, sizes), None
    most = max(1, min(_POINTS, _SAMPLED // releases) // points)
    random = np.random.default_rng(0)
    order = random.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    groups = np.arange(len(sizes))
    if len(groups) > max(1, most // 2):
        others = np.setdiff1d(random.permutation(len(sizes)), always)
        random.shuffle(others)
        room = max(0, max(1, most // 2) - len(always))
        groups = np.sort(np.concatenate([always, others[:room]]))
    each = 1
    while each < sizes[groups].max() and np.minimum(sizes[groups], each + 1).sum() <= most:
        each += 1
    members = _split(order, sizes)
    return groups, [np.sort(members[group][:each]) for group in groups], each


def _split(order: Ints, sizes: Ints) -> list[Ints]:
    return np.split(order, np.cumsum(sizes)[:-1])
