"""Whole trips: what a recording holds from one pause or stay to the next, inside the area.

Of a trip that leaves the area, its longest part inside is taken, as several lines of one drive
would betray each other. One with a gap inside is left out, never cut into pieces with false ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.extract.earth.area import Area, Box
from trajanon.extract.gaps_and_stays import broken, gaps_of, longest_stop, stays_of
from trajanon.extract.points import Points, greatest_of
from trajanon.extract.rules import Rules
from trajanon.extract.why_dropped import FOUND, WHY_LEFT_OUT, Became
from trajanon.trajectories.geodesy import radii

_NEAR = 100.0  # metres around one place; a stay of some minutes there is an arrival


class Trips:
    """The trips of a batch of recordings, and those that cannot be shown whole."""

    def __init__(
        self, points: Points, rules: Rules, counts: Counter[str], *, last_read: Floats
    ) -> None:
        points = _cut_at_stops(points, rules, counts)
        first, size = points.pieces
        trip = np.repeat(np.arange(len(first)), size)
        counts[FOUND] += len(first)

        self._counts = counts
        self.trace = points.trace[first]  # which trace of the batch each trip is of, (trips,)
        # What became of each; those that are complete may still be too short.
        self.became = np.full(len(first), Became.TOO_SHORT)

        # From here on `trace` is the number of a trip.
        _, far, fast = gaps_of(points, rules)
        points = replace(points, trace=trip, piece=trip)
        # `last_read` is of recordings that were cut off; of others it is NaN.
        self._goes_on = self._cut_off(points, last_read[self.trace], longest_stop(rules))

        # Ends are sought beside gaps, too, which may be errors of the receiver. A gap may be lost
        # with the surroundings of ends, and then the trip must not seem whole.
        self._gap = np.zeros(len(first), dtype=np.bool_)
        self._gap[trip[far | fast]] = rules.trim_ends > 0.0
        self.points = points.cut(far | fast)

    def _cut_off(self, points: Points, last_read: Floats, wait: float) -> Bools:
        """Mark trips that may be incomplete: the recording was cut off; without times, the last."""
        first, size = points.pieces
        begin = points.time[first]
        end = points.time[first + size - 1]

        is_last = np.diff(self.trace, append=-1) != 0
        timed = np.isfinite(begin) & np.isfinite(last_read)
        may_be_last = (begin - wait <= last_read) & (last_read <= end + wait)
        return np.asarray(np.where(timed, may_be_last, is_last & ~np.isnan(last_read)))

    def longest_inside(
        self, points: Points, area: Area | None, boxes: Sequence[Box]
    ) -> tuple[Points, Bools]:
        """Find the longest shown part of each trip inside, and whether its ends are true ones."""
        n = len(self.trace)
        trip, shown_piece = points.trace, points.piece
        points, inside = _parts_inside(points, area)
        longest, true_ends = _longest_parts(points, inside, n)

        outside = int((~inside).sum())
        self._counts["points outside the area"] += outside
        self._counts["points of other parts inside the area"] += int((~longest).sum()) - outside

        points, shown_piece = points.take(longest), shown_piece[longest]
        if boxes:
            true_ends &= ~_near_sides(points, boxes, n)
        gap = points.follows
        gap[1:] &= np.diff(shown_piece) != 0
        self._gap[points.trace[gap]] = True

        are_shown = np.bincount(trip, minlength=n) > 1
        are_inside = np.bincount(points.trace, minlength=n) > 1
        self._leave_out(Became.HIDDEN, ~are_shown)
        self._leave_out(Became.OUTSIDE, ~are_inside)
        self._leave_out(Became.WITH_A_GAP, self._gap)
        self._leave_out(Became.CUT_OFF, self._goes_on)

        complete = points.take((self.became == Became.TOO_SHORT)[points.trace])
        self._counts["points of trips left out"] += len(points) - len(complete)
        return complete, true_ends

    def _leave_out(self, became: Became, trips: Bools) -> None:
        """Leave out trips that are not left out yet, and count them."""
        new = trips & (self.became == Became.TOO_SHORT)
        self.became[new] = became
        self._counts[WHY_LEFT_OUT[became].counter] += int(new.sum())


def _parts_inside(points: Points, area: Area | None) -> tuple[Points, Bools]:
    """Cut trips where they leave or enter the area; mark the points inside."""
    points = replace(points, piece=points.trace)
    if area is None:
        return points, np.ones(len(points), np.bool_)

    inside = area.contains(points.lat, points.lon)
    begins = broken(points, inside, area.leaves)
    begins[1:] |= inside[1:] != inside[:-1]
    return points.cut(begins), inside


def _longest_parts(points: Points, inside: Bools, n: int) -> tuple[Bools, Bools]:
    """Mark the points of the longest part inside of n trips, and parts' ends that are trips'."""
    trip = points.trace
    first, size = points.pieces
    part = np.cumsum(~points.follows) - 1
    length = np.bincount(part[points.follows], points.hops, minlength=len(first))

    longest = greatest_of(trip[first], length, inside[first])
    is_longest = np.isin(part, longest[inside[first[longest]]])

    ends = np.stack([first, first + size - 1], axis=1)[longest]
    is_end = np.stack([np.diff(trip, prepend=-1) != 0, np.diff(trip, append=-1) != 0], axis=1)
    true_ends = np.ones((n, 2), dtype=np.bool_)
    true_ends[trip[first[longest]]] = is_end[ends, [0, 1]]
    return is_longest, true_ends


def _cut_at_stops(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """End a trip before each pause, and where a stay begins; begin one after, where it ends."""
    pauses, _, _ = gaps_of(points, rules)
    points = points.cut(pauses)
    stays = stays_of(points, rules, _NEAR)

    # Of a stay its first and its last point remain.
    stays_on = stays & points.follows
    stays_on[1:] &= stays[:-1]
    will_stay = np.append(stays_on[1:], False)[: len(points)]
    within = stays_on & will_stay
    points = points.cut(stays_on & ~will_stay).take(~within)

    _, size = points.pieces
    counts["pauses"] += int(pauses.sum())
    counts["stays"] += int((stays & ~stays_on).sum())
    counts["points of stays"] += int(within.sum())
    counts["points alone between pauses and stays"] += int((size == 1).sum())
    return points.take(np.repeat(size > 1, size))


def _near_sides(points: Points, boxes: Sequence[Box], n: int) -> Bools:
    """Mark the ends of n trips that are nearer to a side than their longest hop is long."""
    longest_hop = np.zeros(n)
    np.maximum.at(longest_hop, points.trace[points.follows], points.hops)

    near = np.zeros((n, 2), dtype=np.bool_)
    first, size = points.pieces
    for side, end in enumerate((first, first + size - 1)):
        lat, lon, trip = points.lat[end], points.lon[end], points.trace[end]
        north, east = (np.radians(metres) for metres in radii(np.radians(lat)))

        for box in boxes:
            metres_north = np.minimum(lat - box.south, box.north - lat) * north
            metres_east = np.minimum(lon - box.west, box.east - lon) * east
            room = np.minimum(metres_north, metres_east)
            near[trip, side] |= (room >= 0.0) & (room < longest_hop[trip])
    return near
