"""Drives along a way, as a receiver with its usual faults would record them.

Only `trajanon.data.make_sample` needs it.
"""

import math
from itertools import pairwise
from typing import NamedTuple

from trajanon.data.network import Dice, Point, Street
from trajanon.data.streets import in_park

WEST, SOUTH, EAST, NORTH = -3.7398145, 40.387613, -3.653985, 40.483515
MIDDLE_LON, MIDDLE_LAT = (WEST + EAST) / 2.0, (SOUTH + NORTH) / 2.0
METRES_NORTH = 111_200.0  # in a degree
METRES_EAST = METRES_NORTH * math.cos(math.radians(MIDDLE_LAT))


class Fix(NamedTuple):
    """A recorded point; no time in the traces that the API serves without."""

    lat: float
    lon: float
    time: int | None


class Moment(NamedTuple):
    """Where the vehicle truly is at a second of its drive."""

    second: float
    place: Point


def drive(way: list[Street], dice: Dice) -> list[Moment]:
    """Drive along a way, with a red light now and then."""
    haste = dice.between(0.85, 1.1)
    second = 0.0
    moments = [Moment(second, way[0].shape[0])]
    for street in way:
        for start, end in pairwise(street.shape):
            speed = street.speed * haste * dice.between(0.85, 1.08)
            second += math.dist(start, end) / max(speed, 6.0)
            moments.append(Moment(second, end))
        if dice.chance(0.09):
            second += dice.between(6.0, 35.0)
            moments.append(Moment(second, street.shape[-1]))
    return moments


def with_pause(moments: list[Moment], at: float, seconds: float) -> list[Moment]:
    """Put a long halt into a drive, after a share `at` of its points."""
    cut = int(at * len(moments))
    later = [Moment(m.second + seconds, m.place) for m in moments[cut:]]
    return [*moments[: cut + 1], *later]


def record(moments: list[Moment], began: int, every: float, dice: Dice, rate: int = 1) -> list[Fix]:
    """Record a drive: fixes a few metres off, stamped in whole seconds."""
    fixes, off_east, off_north = [], 0.0, 0.0
    second = 0.0
    for before, after in pairwise(moments):
        if after.second - before.second > 300.0:
            second = after.second
        while second < after.second:
            share = (second - before.second) / (after.second - before.second)
            east, north = (
                a + share * (b - a) for a, b in zip(before.place, after.place, strict=True)
            )
            off_east = 0.93 * off_east + 1.1 * dice.bell()
            off_north = 0.93 * off_north + 1.1 * dice.bell()
            if not in_park((east, north)):
                time = began + int(second)
                fixes.append(_fix(east + off_east, north + off_north, time))
            second += 1.0 / rate if rate > 1 else round(every + dice.below(2))
    return [fix for fix in fixes if in_box(fix)]


def _fix(east: float, north: float, time: int) -> Fix:
    lat, lon = MIDDLE_LAT + north / METRES_NORTH, MIDDLE_LON + east / METRES_EAST
    return Fix(round(lat, 7), round(lon, 7), time)


def in_box(fix: Fix) -> bool:
    """Whether the API would answer with this fix."""
    return SOUTH <= fix.lat <= NORTH and WEST <= fix.lon <= EAST


def repeated(fixes: list[Fix], dice: Dice) -> list[Fix]:
    """Write three of the fixes twice."""
    twice = {dice.below(len(fixes)) for _ in range(3)}
    return [fix for number, fix in enumerate(fixes) for _ in range(2 if number in twice else 1)]


def set_back(fixes: list[Fix], dice: Dice) -> list[Fix]:
    """Set the clock back by 20 seconds on the way."""
    cut = len(fixes) // 4 + dice.below(len(fixes) // 2)
    late = [fix._replace(time=(fix.time or 0) - 20) for fix in fixes[cut:]]
    return [*fixes[:cut], *late]


def gone_wild(fixes: list[Fix], dice: Dice) -> list[Fix]:
    """Throw one of the fixes kilometres away."""
    stray = len(fixes) // 4 + dice.below(len(fixes) // 2)
    # Mirrored in the middle of the box, so it stays inside.
    far = fixes[stray]._replace(
        lat=round(2.0 * MIDDLE_LAT - fixes[stray].lat, 7),
        lon=round(2.0 * MIDDLE_LON - fixes[stray].lon, 7),
    )
    return [*fixes[:stray], far, *fixes[stray + 1 :]]


def shuffled_in_seconds(fixes: list[Fix], dice: Dice) -> list[Fix]:
    """Order the fixes of a second by chance, as a database orders equal times."""
    order = [(fix.time or 0, dice.between(0.0, 1.0), fix) for fix in fixes]
    return [fix for _, _, fix in sorted(order)]


def cloud(traces: list[list[Fix]]) -> list[Fix]:
    """Sort the points of many traces by latitude and longitude: no time, no path."""
    return sorted(fix._replace(time=None) for fixes in traces for fix in fixes)
