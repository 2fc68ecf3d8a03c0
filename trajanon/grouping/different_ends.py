"""Ends of trips: each group needs members in different places there."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon._kernels.group_state import ONE_PLACE
from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.grouping.loss import group_means, principal_axes, turn
from trajanon.grouping.neighbours import nearest_points
from trajanon.trajectories.geodesy import EARTH

_NEAR = 64  # groups that one may be merged with
_AXES = 8  # in which near groups are looked for


class Ends(NamedTuple):
    """Where trips begin and end, and how many places, 200 m apart, a group needs at each end."""

    # In metres in space, (n, e, 3); not a number where it is no place of anybody's: such an end is
    # in another place than all others.
    places: Floats
    distinct: int  # places that a group needs
    middles: Floats  # of each trip, in metres in space, (n, 3)
    lengths: Floats  # of each trip, in metres, (n,)
    reach: float  # metres beyond which the search counts no other place: groups would be too wide

    def take(self, rows: Ints) -> "Ends":
        """Return the ends of these trips."""
        return self._replace(
            places=self.places[rows], middles=self.middles[rows], lengths=self.lengths[rows]
        )

    def may_merge(self, rows: Ints) -> bool:
        """Return whether a group of these trips lacks no place, and is not too wide."""
        return not self.lack(rows) and span(self.middles[rows]) <= self.lengths[rows].max()

    def lack(self, rows: Ints) -> bool:
        """Return whether a group of these trips lacks a place at an end."""
        places = self.places[rows]
        squares = ((places[:, None] - places) ** 2).sum(axis=3)
        far_apart = ~(squares <= ONE_PLACE**2)
        members = range(len(rows))
        return not all(
            holds_clique(far_apart[:, :, end], members, self.distinct)
            for end in range(places.shape[1])
        )

    def lacking(self, labels: Ints) -> list[int]:
        """List the groups 0..g-1 that lack a place at an end."""
        sizes = np.bincount(labels)
        order = np.argsort(labels, kind="stable")
        behind = np.cumsum(sizes)

        # Most groups hold a member far from the first one, which makes two places.
        first = order[behind - sizes][labels]
        is_far = ~(((self.places - self.places[first]) ** 2).sum(axis=2) <= ONE_PLACE**2)
        has_two = np.zeros((len(sizes), self.places.shape[1]), dtype=np.bool_)
        np.logical_or.at(has_two, labels, is_far)
        may_lack = ~has_two.all(axis=1) | (self.distinct > 2)

        members = np.split(order, behind[:-1])
        return [group for group in np.flatnonzero(may_lack).tolist() if self.lack(members[group])]


def holds_clique(far_apart: Bools, members: Sequence[int], count: int) -> bool:
    """Return whether so many members are far from each other, (s, s)."""
    if count == 0:
        return True
    return any(
        holds_clique(
            far_apart, [m for m in members[place + 1 :] if far_apart[member, m]], count - 1
        )
        for place, member in enumerate(members[: len(members) - count + 1])
    )


def span(middles: Floats) -> float:
    """Measure how far apart the two farthest of these points in space are, in metres on Earth."""
    # A chord through the Earth, and from it the way along the ground.
    farthest = [np.linalg.norm(middles - middle, axis=1).max() for middle in middles]
    chord = float(max(farthest, default=0.0))
    return 2.0 * EARTH * float(np.arcsin(min(chord / (2.0 * EARTH), 1.0)))


def merge_lacking(records: Floats, labels: Ints, ends: Ends) -> Ints:
    """Merge each group 0..g-1 that lacks a place at an end with the one where that costs least.

    Where any merged group would be too wide, or lack a place, too, it stays.
    """
    lacking = ends.lacking(labels)
    if not lacking:
        return labels

    from scipy.spatial import cKDTree  # most methods need none

    # Which groups are near is seen on a few axes; what merging costs is measured on all columns.
    behind = np.cumsum(np.bincount(labels))
    members = np.split(np.argsort(labels, kind="stable"), behind[:-1])
    means = group_means(records, labels)
    turned = turn(means, principal_axes(means)[:, :_AXES])
    count = min(_NEAR + 1, len(means))
    _, near = nearest_points(cKDTree(turned), turned[lacking], count)

    merged = labels.copy()
    for group, candidates in zip(lacking, near.tolist(), strict=True):
        rows = members[group]
        if not ends.lack(rows):
            continue  # another one was merged with it

        def cost(neighbour: int, rows: Ints = rows) -> float:
            others = members[neighbour]
            # Two groups merged lose this more: the squared distance of their means, by their sizes.
            share = len(rows) * len(others) / (len(rows) + len(others))
            away = records[others].mean(axis=0) - records[rows].mean(axis=0)
            return share * float((away**2).sum())

        neighbours = [n for n in candidates if n != group and len(members[n])]
        for neighbour in sorted(neighbours, key=cost):
            both = np.append(members[neighbour], rows)
            if ends.may_merge(both):
                members[neighbour] = both
                members[group] = rows[:0]
                merged[rows] = neighbour
                break
    return merged
