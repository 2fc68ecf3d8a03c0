"""Whole trips: what a recording holds from one pause or stay to the next, inside the area.

Of a trip that leaves the area, its longest part inside is taken: one recording stays one line, for
several lines of one drive would betray each other. Ends at the border are marked as no true ends. A
trip with a hole inside the area is left out and counted, never cut into pieces with false ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.area import Area, Box
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import after_pauses, gaps_of
from trajanon.extract.trim_ends import longest_stop, stays_of
from trajanon.geodesy import radii

FOUND = "trips found"
HIDDEN = "trips all near their ends or hidden places"
OUTSIDE = "trips outside the area"
FAST = "trips with an impossible speed"
CUT_OFF = "trips that may go on where the source was cut off"
SHORT = "trips too short"

LEFT_OUT = {
    HIDDEN: "lower `trim_ends`, or hide fewer places",
    OUTSIDE: "give the `area` that holds them",
    "trips with a long hop": "raise `max_gap`",
    FAST: (
        "raise `max_speed` for trains and planes; where several fixes in a row are wrong, mend "
        "them, or take windows, which end there"
    ),
    CUT_OFF: "download the file again; of the OSM server raise `max_pages`",
    "trips cut in their middle": "lower `trim_ends`, or hide fewer places",
    SHORT: "lower `min_length`",
}
"""Why trips are left out, and what to change; each is counted by the first that holds."""

_NEAR = 100.0  # metres around one place; a stay of some minutes there is an arrival


class Trips:
    """The trips of a batch of recordings, and those that cannot be shown whole."""

    def __init__(
        self,
        points: Points,
        rules: Rules,
        counts: Counter[str],
        *,
        last_read: Floats,  # time of the last point of each recording that was cut off, or NaN
    ) -> None:
        points = _cut_at_stops(points, rules, counts)
        first, size = points.pieces
        self._rules, self._counts = rules, counts
        self.trace = points.trace[first]  # which trace of the batch each trip is of, (trips,)
        self.why = np.full(len(first), -1)  # the number of the reason why it is left out, or -1
        trip = np.repeat(np.arange(len(first)), size)
        points = replace(points, trace=trip, piece=trip)
        counts[FOUND] += len(first)
        self._goes_on = self._cut_off(points, last_read[self.trace], longest_stop(rules))
        # Their points: `trace` is the number of the trip. Ends are sought beside long hops and
        # impossible speeds, too, which may be errors of the receiver; with the surroundings of ends
        # these hops may be lost, and the trips must not seem whole.
        self._far = self._fast = np.zeros(len(first), dtype=np.bool_)
        if rules.trim_ends:
            gaps = gaps_of(points, rules)
            self._far, self._fast = (
                self._any(trip[gaps.end[odd]]) for odd in (gaps.far, gaps.fast)
            )
            points = points.cut(gaps.begins(gaps.far | gaps.fast, len(points)))
        self.points = points

    def _cut_off(self, points: Points, last_read: Floats, wait: float) -> Bools:
        """Mark the trips that go on, or may, where the last point of their recording was read.

        Without times, that is the last trip.
        """
        first, size = points.pieces
        begin, end = points.time[first], points.time[first + size - 1]
        is_last = np.diff(self.trace, append=-1) != 0
        timed = np.isfinite(begin) & np.isfinite(last_read)
        there = (begin - wait <= last_read) & (last_read <= end + wait)
        return np.asarray(np.where(timed, there, is_last & ~np.isnan(last_read)))

    def whole(
        self, points: Points, area: Area | None, boxes: Sequence[Box]
    ) -> tuple[Points, Bools]:
        """Give the longest part of each trip inside, from the points that are left.

        And whether the ends of each trip are true ones, (trips, 2). Trips that cannot be shown
        whole are counted.
        """
        n, shown, broken = len(self.trace), points.trace, points.piece
        inside, begins = _parts(points := replace(points, piece=shown), area, boxes)
        first = np.flatnonzero(begins)
        part = np.cumsum(begins) - 1
        points = points.cut(begins & points.follows)
        end = np.flatnonzero(points.follows)
        length = np.bincount(part[end], points.ways.length, minlength=len(first))
        # The longest one inside, and the first of several.
        order = np.lexsort((-first, length, inside[first], shown[first]))
        longest = order[np.append(np.diff(shown[first][order]) != 0, True)[: len(order)]]
        kept = np.isin(part, longest[inside[first[longest]]])
        ends = np.stack([first, np.append(first, len(points))[1:] - 1], axis=1)[longest]
        sides = np.stack([np.diff(shown, prepend=-1) != 0, np.diff(shown, append=-1) != 0], axis=1)
        true_ends = np.ones((n, 2), dtype=np.bool_)
        true_ends[shown[first[longest]]] = sides[ends, [0, 1]]
        outside = int((~inside).sum())
        self._counts["points outside the area"] += outside
        self._counts["points of other parts inside the area"] += int((~kept).sum()) - outside
        points, broken = points.take(kept), broken[kept]
        if boxes:
            true_ends &= ~_near_sides(points, boxes, n)
        trip, gaps = points.trace, gaps_of(points, self._rules)
        cut = points.follows
        cut[1:] &= np.diff(broken) != 0
        spoilt = [
            np.bincount(shown, minlength=n) < 2,
            np.bincount(trip, minlength=n) < 2,
            self._far | self._any(trip[gaps.end[gaps.far]]),
            self._fast | self._any(trip[gaps.end[gaps.fast]]),
            self._goes_on,
            self._any(trip[cut]),
        ]
        for number, (why, trips) in enumerate(zip(LEFT_OUT, spoilt, strict=False)):
            new = trips & (self.why < 0)
            self.why[new] = number
            self._counts[why] += int(new.sum())
        whole = points.take((self.why < 0)[trip])
        self._counts["points of trips left out"] += len(points) - len(whole)
        return whole, true_ends

    def _any(self, trips: Ints) -> Bools:
        """Mark the trips that are among some."""
        return np.bincount(trips, minlength=len(self.trace)) > 0


def _cut_at_stops(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """End a trip before each pause, and where a stay begins; begin one after, where it ends."""
    pauses = after_pauses(points, rules)
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


def _parts(points: Points, area: Area | None, boxes: Sequence[Box]) -> tuple[Bools, Bools]:
    """Tell which points lie in the area, and which begin a part of a trip inside or outside.

    Of a server that gave the points of some boxes, a trip may have been outside between two points
    that are nearer to a side of their box than to each other.
    """
    inside, follows = np.ones(len(points), dtype=np.bool_), points.follows
    begins = ~follows
    if area is not None:
        inside = area.contains(points.lat, points.lon)
        both = follows & inside
        both[1:] &= inside[:-1]
        start = np.flatnonzero(both) - 1
        begins[start[area.leaves(points.lat, points.lon, start)] + 1] = True
        begins[1:] |= inside[1:] != inside[:-1]
    if boxes:
        room, end = _room(points, boxes), np.flatnonzero(follows)
        begins[end] |= np.maximum(room[end], room[end - 1]) < points.ways.length
    return inside, begins


def _near_sides(points: Points, boxes: Sequence[Box], n: int) -> Bools:
    """Mark the ends of n trips that are nearer to a side than their longest hop is long."""
    longest, near = np.zeros(n), np.zeros((n, 2), dtype=np.bool_)
    np.maximum.at(longest, points.trace[points.follows], points.ways.length)
    room, (first, size) = _room(points, boxes), points.pieces
    trip = points.trace[first]
    for side, end in enumerate((first, first + size - 1)):
        near[trip, side] = room[end] < longest[trip]
    return near


def _room(points: Points, boxes: Sequence[Box]) -> Floats:
    """Metres from each point to the nearest side of any box that it lies in."""
    lat, lon = points.lat, points.lon
    north, east = (np.radians(metres) for metres in radii(np.radians(lat)))
    room = np.full(len(points), np.inf)
    for box in boxes:
        up = np.minimum(lat - box.south, box.north - lat) * north
        over = np.minimum(lon - box.west, box.east - lon) * east
        here = np.minimum(up, over)
        room = np.where(here >= 0.0, np.minimum(room, here), room)
    return room
