"""Whole trips: what a recording holds from one pause or stay to the next, inside the area.

Of a trip that leaves the area, its longest part inside is taken, as several lines of one drive
would betray each other. One with a gap inside is left out, never cut into pieces with false ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.clip_to_area import clip
from trajanon.extract.earth.area import Area, Box
from trajanon.extract.gaps_and_stays import cut_at_stops, gaps_of, longest_stop
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points, greatest_of
from trajanon.extract.why_left_out import FOUND, WHY_BY_BECAME, Became
from trajanon.trajectories.geodesy import metres_of_degrees


class Trips:
    """The trips of a batch of recordings, and those that cannot be shown whole."""

    def __init__(
        self, points: Points, rules: Rules, counts: Counter[str], *, last_read: Floats
    ) -> None:
        points = cut_at_stops(points, rules, counts)
        first, size = points.pieces
        trip_of_point = np.repeat(np.arange(len(first)), size)
        counts[FOUND] += len(first)

        self._counts = counts
        self.trace = points.trace[first]  # which trace of the batch each trip is of, (trips,)
        # What became of each; those that are complete may still be too short.
        self.became = np.full(len(first), Became.TOO_SHORT)

        # From here on `trace` is the number of a trip.
        _, far, fast = gaps_of(points, rules)
        points = replace(points, trace=trip_of_point, piece=trip_of_point)
        self._may_go_on = self._cut_off(points, last_read[self.trace], longest_stop(rules))

        # Ends are sought beside gaps, too, which may be errors of the receiver. A gap may be lost
        # with the surroundings of ends, and then the trip must not seem whole.
        self._has_gap = np.zeros(len(first), dtype=np.bool_)
        self._has_gap[trip_of_point[far | fast]] = rules.trim_ends > 0.0
        self.points = points.cut(far | fast)

    def _cut_off(self, points: Points, last_read: Floats, longest_stop: float) -> Bools:
        """Mark trips at whose end the recording was cut off, so that they may go on, (trips,).

        ``last_read`` is of the recording of each trip, as `Trace.last_read` says. A timed trip may
        go on if the last point was read during it, or so soon before or after that a stop may lie
        between; of others the last one of the recording.
        """
        first, size = points.pieces
        begin = points.time[first]
        end = points.time[first + size - 1]

        is_last = np.diff(self.trace, append=-1) != 0
        timed = np.isfinite(begin) & np.isfinite(last_read)
        read_at_it = (begin - longest_stop <= last_read) & (last_read <= end + longest_stop)
        return np.asarray(np.where(timed, read_at_it, is_last & ~np.isnan(last_read)))

    def longest_inside(
        self, points: Points, area: Area | None, boxes: Sequence[Box]
    ) -> tuple[Points, Bools]:
        """Return the longest parts inside of complete trips, and which of their ends are true.

        ``points`` are those of the trips that may be shown. The ends are of all trips, (trips, 2);
        why a trip is left out, `became` says.
        """
        trip_count = len(self.trace)
        is_shown = np.bincount(points.trace, minlength=trip_count) > 1  # a point alone is no trip

        # A trip is one piece here, which only the border of the area cuts.
        parts, row = clip(replace(points, piece=points.trace), area)
        is_of_longest = _of_longest_parts(parts)
        longest = parts.take(is_of_longest)
        row = row[is_of_longest]

        self._counts["points outside the area"] += len(points) - len(parts)
        self._counts["points of other parts inside the area"] += len(parts) - len(longest)

        is_inside = np.bincount(longest.trace, minlength=trip_count) > 1
        true_ends = ends_that_are_true(row, longest, points.trace, trip_count, boxes)
        # A part is one piece: where the pieces that were shown differ, a gap lies in it.
        after_gap = longest.follows
        after_gap[1:] &= np.diff(points.piece[row]) != 0
        self._has_gap[longest.trace[after_gap]] = True

        self._leave_out(Became.HIDDEN, ~is_shown)
        self._leave_out(Became.OUTSIDE, ~is_inside)
        self._leave_out(Became.WITH_A_GAP, self._has_gap)
        self._leave_out(Became.CUT_OFF, self._may_go_on)

        complete = longest.take((self.became == Became.TOO_SHORT)[longest.trace])
        self._counts["points of trips left out"] += len(longest) - len(complete)
        return complete, true_ends

    def _leave_out(self, became: Became, trips: Bools) -> None:
        """Leave out trips that are not left out yet, and count them."""
        new = trips & (self.became == Became.TOO_SHORT)
        self.became[new] = became
        self._counts[WHY_BY_BECAME[became].counter] += int(new.sum())


def _of_longest_parts(parts: Points) -> Bools:
    """Mark the points of each trip's longest part."""
    first, _ = parts.pieces
    part = np.cumsum(~parts.follows) - 1
    length = np.bincount(part[parts.hop_ends], parts.hop_metres, minlength=len(first))
    return np.isin(part, greatest_of(parts.trace[first], length))


def ends_that_are_true(
    row: Ints, parts: Points, whole: Ints, count: int, boxes: Sequence[Box]
) -> Bools:
    """Mark which ends of parts inside an area are no border's, (count, 2).

    There is at most one part of each number below ``count``, its `trace`. ``row`` is that of each
    of their points among all points of what they are parts of, and ``whole`` numbers these.
    """
    true_ends = _are_ends(row, parts, whole, count)
    return true_ends & ~_near_sides(parts, boxes, count) if boxes else true_ends


def _are_ends(row: Ints, longest: Points, trip: Ints, trip_count: int) -> Bools:
    """Mark which ends of the longest parts are those of their trips, (trips, 2).

    ``row`` is that of each of their points among all points of trips, and ``trip`` of all these.
    """
    is_end = np.stack([np.diff(trip, prepend=-1) != 0, np.diff(trip, append=-1) != 0], axis=1)
    first, size = longest.pieces
    ends = row[np.stack([first, first + size - 1], axis=1)]
    true_ends = np.ones((trip_count, 2), dtype=np.bool_)  # of trips without points, too
    true_ends[longest.trace[first]] = is_end[ends, [0, 1]]
    return true_ends


def _near_sides(points: Points, boxes: Sequence[Box], trip_count: int) -> Bools:
    """Mark the ends of trips, (trips, 2), that are nearer to a side than their longest hop is long.

    A server gives no points outside its boxes, so such a trip may go on there.
    """
    longest_hop = np.zeros(trip_count)
    np.maximum.at(longest_hop, points.trace[points.hop_ends], points.hop_metres)

    near = np.zeros((trip_count, 2), dtype=np.bool_)
    first, size = points.pieces
    for side, end in enumerate((first, first + size - 1)):
        lat, lon, trip = points.lat[end], points.lon[end], points.trace[end]
        north, east = metres_of_degrees(lat).T

        for box in boxes:
            metres_north = np.minimum(lat - box.south, box.north - lat) * north
            metres_east = np.minimum(lon - box.west, box.east - lon) * east
            room = np.minimum(metres_north, metres_east)
            near[trip, side] |= (room >= 0.0) & (room < longest_hop[trip])
    return near
