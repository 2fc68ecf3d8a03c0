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
from trajanon.extract.points import Points, greatest_of
from trajanon.extract.rules import Rules
from trajanon.extract.split import broken, gaps_of, longest_stop, stays_of
from trajanon.trajectories.geodesy import radii

FOUND = "trips found"
GAP = "trips with a gap"
CUT_OFF = "trips that may go on where the source was cut off"
SHORT = "trips too short"

LEFT_OUT = {  # why, the first that holds, and what to change
    "trips all near their ends or hidden places": "lower `trim_ends`, or hide fewer places",
    "trips outside the area": "give the `area` that holds them",
    GAP: (
        "raise `max_gap`, or `max_speed` for trains and planes; lower `trim_ends`, or hide fewer "
        "places; or take windows, which end at a gap"
    ),
    CUT_OFF: "download the file again; of the OSM server raise `max_pages`",
    SHORT: "lower `min_length`",
}

_NEAR = 100.0  # metres around one place; a stay of some minutes there is an arrival


class Trips:
    """The trips of a batch of recordings, and those that cannot be shown whole."""

    def __init__(
        self, points: Points, rules: Rules, counts: Counter[str], *, last_read: Floats
    ) -> None:
        points = _cut_at_stops(points, rules, counts)
        first, size = points.pieces  # `last_read` is of recordings that were cut off, or NaN
        self._counts = counts
        self.trace = points.trace[first]  # which trace of the batch each trip is of, (trips,)
        self.why = np.full(len(first), -1)  # the number of the reason why it is left out, or -1
        trip = np.repeat(np.arange(len(first)), size)
        points = replace(points, trace=trip, piece=trip)  # `trace` numbers trips from here on
        counts[FOUND] += len(first)
        self._goes_on = self._cut_off(points, last_read[self.trace], longest_stop(rules))
        _, far, fast = gaps_of(points, rules)
        # Ends are sought beside gaps, too, which may be errors of the receiver. A gap may be lost
        # with the surroundings of ends, and then the trip must not seem whole.
        self._gap = np.zeros(len(first), dtype=np.bool_)
        self._gap[trip[far | fast]] = rules.trim_ends > 0.0
        self.points = points.cut(far | fast)  # `trace` is the number of the trip

    def _cut_off(self, points: Points, last_read: Floats, wait: float) -> Bools:
        """Mark trips that may be incomplete: the recording was cut off; without times, the last."""
        first, size = points.pieces
        begin, end = points.time[first], points.time[first + size - 1]
        is_last = np.diff(self.trace, append=-1) != 0
        timed = np.isfinite(begin) & np.isfinite(last_read)
        there = (begin - wait <= last_read) & (last_read <= end + wait)
        return np.asarray(np.where(timed, there, is_last & ~np.isnan(last_read)))

    def longest_inside(
        self, points: Points, area: Area | None, boxes: Sequence[Box]
    ) -> tuple[Points, Bools]:
        """Give the longest shown part of each trip inside, and whether its ends are true ones."""
        n, trip, shown_piece = len(self.trace), points.trace, points.piece
        points = replace(points, piece=trip)
        inside, begins = np.ones(len(points), np.bool_), np.zeros(len(points), np.bool_)
        if area is not None:
            inside = area.contains(points.lat, points.lon)
            begins = broken(points, inside, area.leaves)
            begins[1:] |= inside[1:] != inside[:-1]
        points = points.cut(begins)
        first, size = points.pieces
        part = np.cumsum(~points.follows) - 1
        length = np.bincount(part[points.follows], points.hops, minlength=len(first))
        longest = greatest_of(trip[first], length, inside[first])
        kept = np.isin(part, longest[inside[first[longest]]])
        ends = np.stack([first, first + size - 1], axis=1)[longest]
        sides = np.stack([np.diff(trip, prepend=-1) != 0, np.diff(trip, append=-1) != 0], axis=1)
        true_ends = np.ones((n, 2), dtype=np.bool_)
        true_ends[trip[first[longest]]] = sides[ends, [0, 1]]
        outside = int((~inside).sum())
        self._counts["points outside the area"] += outside
        self._counts["points of other parts inside the area"] += int((~kept).sum()) - outside
        points, shown_piece = points.take(kept), shown_piece[kept]
        if boxes:
            true_ends &= ~_near_sides(points, boxes, n)
        gap = points.follows
        gap[1:] &= np.diff(shown_piece) != 0
        self._gap[points.trace[gap]] = True
        shown, inside = (np.bincount(one, minlength=n) > 1 for one in (trip, points.trace))
        spoilt = [~shown, ~inside, self._gap, self._goes_on]
        for number, (why, trips) in enumerate(zip(LEFT_OUT, spoilt, strict=False)):
            new = trips & (self.why < 0)
            self.why[new] = number
            self._counts[why] += int(new.sum())
        whole = points.take((self.why < 0)[points.trace])
        self._counts["points of trips left out"] += len(points) - len(whole)
        return whole, true_ends


def _cut_at_stops(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """End a trip before each pause, and where a stay begins; begin one after, where it ends."""
    pauses, _, _ = gaps_of(points, rules)
    points = points.cut(pauses)
    stays = stays_of(points, rules, _NEAR)
    stays_on = stays & points.follows  # and stayed at the point before
    stays_on[1:] &= stays[:-1]
    will_stay = np.append(stays_on[1:], False)[: len(points)]
    inside = stays_on & will_stay
    points = points.cut(stays_on & ~will_stay).take(~inside)
    _, size = points.pieces
    counts["pauses"] += int(pauses.sum())
    counts["stays"] += int((stays & ~stays_on).sum())
    counts["points of stays"] += int(inside.sum())
    counts["points alone between pauses and stays"] += int((size == 1).sum())
    return points.take(np.repeat(size > 1, size))


def _near_sides(points: Points, boxes: Sequence[Box], n: int) -> Bools:
    """Mark the ends of n trips that are nearer to a side than their longest hop is long."""
    longest, near = np.zeros(n), np.zeros((n, 2), dtype=np.bool_)
    np.maximum.at(longest, points.trace[points.follows], points.hops)
    first, size = points.pieces
    for side, end in enumerate((first, first + size - 1)):
        lat, lon, trip = points.lat[end], points.lon[end], points.trace[end]
        north, east = (np.radians(metres) for metres in radii(np.radians(lat)))
        for box in boxes:
            up = np.minimum(lat - box.south, box.north - lat) * north
            over = np.minimum(lon - box.west, box.east - lon) * east
            room = np.minimum(up, over)
            near[trip, side] |= (room >= 0.0) & (room < longest[trip])
    return near
