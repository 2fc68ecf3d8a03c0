"""Places at the two ends of trips: each group needs members in several places at each end.

If all trips of a group began in one place, the released line would show that place as the home of
all its people. This is our own rule. Ends up to 200 m apart (`ONE_PLACE`) are in one place. Windows
begin and end where they were cut: their line shows ends of recordings only where it comes near.
"""

from typing import NamedTuple

import numpy as np

from trajanon._kernels.group_state import ONE_PLACE
from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.grouping.group_means import group_means, members_of_groups
from trajanon.grouping.neighbours import nearest_points
from trajanon.grouping.principal_axes import principal_axes, turn
from trajanon.trajectories.geodesy import EARTH_RADIUS

SHOWN = 250.0
"""Metres from the end of a recording at which a line of windows shows it: somewhat more than one
place is wide, as the line will be moved."""

_CANDIDATES = 64  # nearest groups that a group may be merged with
_AXES = 8  # principal axes along which near groups are looked for, the longest


class Ends(NamedTuple):
    """Where n trips begin and end (e ends each), and how many places a group needs at each end.

    Of windows, ``places`` are where their recordings begin and end.
    """

    # In metres in space, (n, e, 3); not a number where it is no place of anybody's: such an end is
    # in another place than all others.
    places: Floats
    distinct: int  # places that a group needs at each end
    middles: Floats  # middle point of each trip, in metres in space, (n, 3)
    lengths: Floats  # of each trip, in metres, (n,)
    # Metres up to which the moves of the search count an end as another place: a group that needs a
    # farther one would be too wide.
    reach: float
    # Where windows begin and end themselves, in metres in space, (n, e, 3); None of trips.
    window_ends: Floats | None = None

    def take(self, rows: Ints) -> "Ends":
        """Return the ends of the trips in these rows."""
        return self._replace(
            places=self.places[rows],
            middles=self.middles[rows],
            lengths=self.lengths[rows],
            window_ends=None if self.window_ends is None else self.window_ends[rows],
        )

    def seen_by_moves(self) -> "Ends":
        """Return the ends of windows as the moves of a search see them: the same in all groups.

        Only windows that begin or end nearby show an end: up to twice as far, for their line may be
        nearer.
        """
        assert self.window_ends is not None
        is_far = ((self.places - self.window_ends) ** 2).sum(axis=-1) > (2.0 * ONE_PLACE) ** 2
        places = np.where(is_far[:, :, None], np.nan, self.places)
        return self._replace(places=places, window_ends=None)

    def shown_by(self, labels: Ints) -> "Ends":
        """Return the ends that the lines of groups 0..g-1 show: of windows, those that are near."""
        if self.window_ends is None:
            return self
        line_ends = group_means(self.window_ends.reshape(len(labels), -1), labels)
        off_line = self.places - line_ends[labels].reshape(self.places.shape)
        is_far = (off_line**2).sum(axis=-1) > SHOWN**2
        return self._replace(
            places=np.where(is_far[:, :, None], np.nan, self.places), window_ends=None
        )

    def lacks_place(self, rows: Ints) -> bool:
        """Return whether a group of the trips in these rows lacks a place at one of its ends."""
        places = self.places[rows]
        if self.window_ends is not None:
            # As in `shown_by`, of which the mean of one group is the slowest part.
            off_line = places - self.window_ends[rows].mean(axis=0)
            is_far = (off_line**2).sum(axis=-1) > SHOWN**2
            places = np.where(is_far[:, :, None], np.nan, places)
        return not all(
            are_distinct(places[:, end], self.distinct) for end in range(places.shape[1])
        )

    def groups_lacking_places(self, labels: Ints) -> list[int]:
        """List the groups 0..g-1 that lack a place at an end."""
        if self.window_ends is not None:
            return self.shown_by(labels).groups_lacking_places(labels)
        members = members_of_groups(labels)

        # Most groups hold a member far from their first one, which makes two places: only the
        # others, and all if more than two places are needed, are looked at closely.
        first_members = np.array([rows[0] for rows in members])
        is_far = in_other_places(self.places, self.places[first_members[labels]])
        has_two_places = np.zeros((len(members), self.places.shape[1]), dtype=np.bool_)
        np.logical_or.at(has_two_places, labels, is_far)
        may_lack = ~has_two_places.all(axis=1) | (self.distinct > 2)

        candidates = np.flatnonzero(may_lack).tolist()
        return [group for group in candidates if self.lacks_place(members[group])]


def in_other_places(places: Floats, others: Floats) -> Bools:
    """Return which of some places are others than those they are compared with, (..., 3) each."""
    # NaN is no less than any number, so an end that is nobody's place is far from all others.
    return np.asarray(~(((places - others) ** 2).sum(axis=-1) <= ONE_PLACE**2))


def are_distinct(places: Floats, count: int) -> bool:
    """Return whether ``count`` of some places, (s, 3), are all far apart from each other."""
    # In most groups one after the other, each far from all before, are enough. A group may hold all
    # trips of a courier: only where these do not suffice is each place compared with each.
    left = places
    picked = 0
    while len(left) and picked < count:
        picked += 1
        left = left[1:][in_other_places(left[1:], left[0])]
    if picked == count:
        return True

    are_apart = in_other_places(places[:, None], places)
    np.fill_diagonal(are_apart, False)
    return holds_distinct_places(are_apart, count)


def holds_distinct_places(are_apart: Bools, count: int) -> bool:
    """Return whether a group of s members has ``count`` that are all far apart from each other.

    ``are_apart``, (s, s), says so of each two members; none is apart from itself.
    """
    if count == 0:
        return True

    # The first of these members is any one; the rest are found among those after it, far from it.
    # Of members in one place, which are apart from the same ones, only the first has to be tried.
    tried = set()
    for first in range(len(are_apart) - count + 1):
        pattern = are_apart[first].tobytes()
        if pattern in tried:
            continue
        tried.add(pattern)
        later = first + 1 + np.flatnonzero(are_apart[first, first + 1 :])
        if holds_distinct_places(are_apart[np.ix_(later, later)], count - 1):
            return True
    return False


def span(middles: Floats) -> float:
    """Measure how far apart the two farthest of some points are, in metres along the ground.

    The points are given in metres in space, (s, 3).
    """
    # A chord through the Earth, and from it the way along the ground.
    farthest = [np.linalg.norm(middles - middle, axis=1).max() for middle in middles]
    chord = float(max(farthest, default=0.0))
    return 2.0 * EARTH_RADIUS * float(np.arcsin(min(chord / (2.0 * EARTH_RADIUS), 1.0)))


def merge_groups_lacking_places(records: Floats, labels: Ints, ends: Ends) -> Ints:
    """Merge each group 0..g-1 that lacks a place at an end with the one where that costs least.

    A group stays as it is where every merged one would lack a place, too, or be too wide: wider
    than its longest trip. Returned are the new labels, (n,).
    """
    lacking = ends.groups_lacking_places(labels)
    if not lacking:
        return labels

    from scipy.spatial import cKDTree  # most methods need none

    # Which groups are near is seen on a few axes; what merging costs is measured on all columns.
    members = members_of_groups(labels)
    means = group_means(records, labels)
    turned = turn(means, principal_axes(means)[:, :_AXES])
    count = min(_CANDIDATES + 1, len(means))  # the nearest of a group is itself
    _, near_groups = nearest_points(cKDTree(turned), turned[lacking], count)

    # A group that has joined another one has no members left.
    new_labels = labels.copy()
    for group, candidates in zip(lacking, near_groups.tolist(), strict=True):
        rows = members[group]
        if not ends.lacks_place(rows):
            continue  # another group has joined it since

        neighbours = [near for near in candidates if near != group and len(members[near])]
        own_records = records[rows]
        costs = {near: cost_of_merging(own_records, records[members[near]]) for near in neighbours}
        for neighbour in sorted(neighbours, key=costs.__getitem__):
            merged = np.append(members[neighbour], rows)
            if not _is_too_wide(ends, merged) and not ends.lacks_place(merged):
                members[neighbour] = merged
                members[group] = rows[:0]
                new_labels[rows] = neighbour
                break
    return new_labels


def _is_too_wide(ends: Ends, rows: Ints) -> bool:
    """Return whether the trips in these rows lie farther apart than the longest is long."""
    # No two are farther apart than twice the farthest is from their middle, and an arc on the Earth
    # is at most pi / 2 times as long as its chord. Only where that is too far, all are compared.
    middles = ends.middles[rows]
    longest = ends.lengths[rows].max()
    radius = np.linalg.norm(middles - middles.mean(axis=0), axis=1).max()
    return bool(np.pi * radius > longest and span(middles) > longest)


def cost_of_merging(group: Floats, neighbour: Floats) -> float:
    """Compute by how much the SSE rises if two groups become one, of their records, (s, p) each."""
    # a b / (a + b) |A - B|², for a records round A and b records round B.
    factor = len(group) * len(neighbour) / (len(group) + len(neighbour))
    difference = neighbour.mean(axis=0) - group.mean(axis=0)
    return factor * float((difference**2).sum())
