"""Which groups and originals are drawn, where there are too many for a browser."""

from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Ints

_POINTS = 300_000  # of the originals drawn: 10,000 trajectories of 30 points
_OF_PAGE = 1_000_000  # of those of all releases on a page, where all can be drawn
# And where not: samples of several releases have no tracks in common, which take half
# as much again.
_SAMPLED = 700_000


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What is drawn of a release."""

    groups: Ints  # numbers of the groups drawn, rising, shape (drawn,)
    members: list[Ints]  # for each of them the originals drawn
    each: int | None  # originals drawn of a group at most; None if all are


def sample(labels: Ints, points: int, always: Ints, releases: int = 1) -> Sample:
    """Choose what to draw: everything, or a few originals of each group.

    Where even two originals of each group are too many, some groups are left out.
    """
    most = max(1, min(_POINTS, _OF_PAGE // releases) // points)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    if len(labels) <= most:
        return Sample(np.arange(len(sizes)), _split(order, sizes), None)
    most = max(1, min(_POINTS, _SAMPLED // releases) // points)
    random = np.random.default_rng(0)
    mixed = random.permutation(len(labels))
    mixed = mixed[np.argsort(labels[mixed], kind="stable")]
    groups = np.arange(len(sizes))
    if len(groups) > max(1, most // 2):
        others = np.setdiff1d(random.permutation(len(sizes)), always)
        random.shuffle(others)
        room = max(0, max(1, most // 2) - len(always))
        groups = np.sort(np.concatenate([always, others[:room]]))
    each = _each(sizes[groups], most)
    members = _split(mixed, sizes)
    return Sample(groups, [np.sort(members[group][:each]) for group in groups], each)


def of_release(sizes: Ints, points: int) -> Ints:
    """Choose the groups to draw where nothing is known of originals."""
    most = max(1, _POINTS // points)
    if len(sizes) <= most:
        return np.arange(len(sizes))
    return np.sort(np.random.default_rng(0).permutation(len(sizes))[:most])


def _split(order: Ints, sizes: Ints) -> list[Ints]:
    return np.split(order, np.cumsum(sizes)[:-1])


def _each(sizes: Ints, most: int) -> int:
    """How many of each group may be drawn, for no more than most in all."""
    each = 1
    while each < sizes.max() and np.minimum(sizes, each + 1).sum() <= most:
        each += 1
    return each
