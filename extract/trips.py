"""Whole trips: what a recording holds from one pause or stay to the next.

A trip that cannot be shown whole is left out and counted, never cut into pieces with false ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.box import Area, Box
from trajanon.extract.ends import longest_stop, stays_of
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import Gaps, after_pauses, gaps_of
from trajanon.geodesy import radii

FOUND = "trips found"
OUTSIDE = "trips outside the area"
FAST = "trips with an impossible speed"
BEYOND = "trips that may go on beyond what the server gave"
CUT_OFF = "trips that may go on where a file was cut off"
SHORT = "trips too short"

LEFT_OUT = {
    OUTSIDE: "give the `area` that holds them",
    "trips that leave the area": "give a larger `area`",
    "trips with a long hop": "raise `max_gap`",
    FAST: (
        "raise `max_speed` for trains and planes; where several fixes in a row are wrong, mend "
        "them, or take windows, which end there"
    ),
    BEYOND: "give a larger `area`, or raise `max_pages`",
    CUT_OFF: "download the file again",
    "trips all near their ends or hidden places": "lower `trim_ends`, or hide fewer places",
    "trips cut in their middle": "lower `trim_ends`, or hide fewer places",
    SHORT: "lower `min_length`",
}
"""Why trips are left out, and what to change; each is counted by the first that holds."""

_NEAR = 100.0  # metres around one place; whoever stays there for some minutes has arrived


class Trips:
    """The trips of a batch of recordings, and which of them cannot be shown whole."""

    def __init__(
        self,
        points: Points,
        rules: Rules,
        counts: Counter[str],
        *,
        area: Area | None,
        boxes: Sequence[Box],
        last_read: Floats,  # time of the last point of each recording that was cut off, or NaN
    ) -> None:
        points = _cut_at_stops(points, rules, counts)
        first, size = points.pieces
        self.trace = points.trace[first]  # which trace of the batch each trip is of, (trips,)
        trip = np.repeat(np.arange(len(first)), size)
        points = replace(points, trace=trip, piece=trip)
        self._counts, gaps = counts, gaps_of(points, rules)
        counts[FOUND] += len(first)
        self._spoilt: dict[str, Bools] = {}
        if area is not None:
            inside, leaves = _inside(points, area)
            self._spoilt[OUTSIDE] = ~self._any(trip[inside])
            self._spoilt["trips that leave the area"] = self._any(trip[~inside | leaves])
        self._spoilt["trips with a long hop"] = self._any(trip[gaps.end[gaps.far]])
        self._spoilt[FAST] = self._any(trip[gaps.end[gaps.fast]])
        ends_early = self._cut_off(points, last_read[self.trace], longest_stop(rules))
        if boxes:
            near = _near_sides(points, boxes, gaps)
            self._spoilt[BEYOND] = self._any(trip[near]) | ends_early
        else:
            self._spoilt[CUT_OFF] = ends_early
        # Their points: `trace` is the number of the trip, and pieces end at long hops and at
        # impossible speeds, which may be errors of the receiver.
        self.points = points.cut(gaps.begins(gaps.far | gaps.fast, len(points)))

    def _any(self, trips: Ints) -> Bools:
        """Mark the trips that are among some."""
        return np.bincount(trips, minlength=len(self.trace)) > 0

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

    def whole(self, points: Points) -> Points:
        """Of what is left of the points, give that of whole trips; count the others."""
        n, trip, (first, _) = len(self.trace), points.trace, points.pieces
        spoilt = self._spoilt | {
            "trips all near their ends or hidden places": np.bincount(trip, minlength=n) < 2,
            "trips cut in their middle": np.bincount(trip[first], minlength=n) > 1,
        }
        left = np.ones(n, dtype=np.bool_)
        for why, trips in spoilt.items():
            self._counts[why] += int((left & trips).sum())
            left &= ~trips
        return points.take(left[trip])


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


def _inside(points: Points, area: Area) -> tuple[Bools, Bools]:
    """Tell which points lie in the area, and from which of them the way leads out of it."""
    inside, leaves = area.contains(points.lat, points.lon), np.zeros(len(points), dtype=np.bool_)
    both = points.follows & inside
    both[1:] &= inside[:-1]
    start = np.flatnonzero(both) - 1
    leaves[start] = area.leaves(points.lat, points.lon, start)
    return inside, leaves


def _near_sides(points: Points, boxes: Sequence[Box], gaps: Gaps) -> Bools:
    """Mark points beyond which a trip may lead out of the box whose points a server gave.

    The ends of a trip that are nearer to a side of the box than its longest hop is long, and hops
    that are longer than the way from either of their ends to a side.
    """
    room, hop = _room(points, boxes), points.ways.length
    trip, (first, size) = points.trace, points.pieces
    longest = np.zeros(len(first))
    np.maximum.at(longest, trip[gaps.end], hop)
    near = np.zeros(len(points), dtype=np.bool_)
    for end in (first, first + size - 1):
        near[end] = room[end] < longest
    near[gaps.end] |= np.maximum(room[gaps.end], room[gaps.end - 1]) < hop
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
