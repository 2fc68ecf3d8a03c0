"""Points as recorded -> points worth measuring: five steps, in this order."""

from dataclasses import replace

import numpy as np

from trajanon.arrays import Floats
from trajanon.extract.points import Points


def drop_impossible(points: Points) -> Points:
    """Drop points that are not numbers, not on Earth, or exactly at 0, 0.

    Receivers without a fix report 0, 0; no street is there.
    """
    possible = (np.abs(points.lat) <= 90.0) & (np.abs(points.lon) <= 180.0)
    nowhere = (points.lat == 0.0) & (points.lon == 0.0)
    return points.take(possible & ~nowhere)


def settle_times(points: Points) -> Points:
    """Make each piece timed or untimed, by the majority of its points.

    Where at least half have a time, those without are dropped: nobody knows where they belong.
    Elsewhere the few times are forgotten.
    """
    untimed = np.isnan(points.time)
    if len(points) == 0 or not untimed.any():
        return points
    first = np.flatnonzero(~points.follows)
    size = np.diff(np.append(first, len(points)))
    share = np.repeat(np.add.reduceat(untimed.astype(np.float64), first) / size, size)
    settled = replace(points, time=np.where(share > 0.5, np.nan, points.time))
    return settled.take(~untimed | (share > 0.5))


def sort_by_time(points: Points) -> Points:
    """Put each piece in the order of time; stable, so that an untimed one stays."""
    falls = points.follows
    falls[1:] &= points.time[1:] < points.time[:-1]
    if not falls.any():
        return points
    first = np.flatnonzero(~points.follows)
    size = np.diff(np.append(first, len(points)))
    fallen = np.add.reduceat(falls.astype(np.int64), first)
    # Newest first is common, and turned around faster than sorted.
    turned = np.flatnonzero(np.repeat(fallen == size - 1, size))
    mixed = np.flatnonzero(np.repeat((fallen > 0) & (fallen < size - 1), size))
    order = np.arange(len(points))
    order[turned] = np.repeat(2 * first + size - 1, size)[turned] - turned
    order[mixed] = mixed[np.lexsort((points.time[mixed], points.piece[mixed]))]
    return points.take(order)


def average_equal_times(points: Points) -> Points:
    """Make one point of consecutive points of one piece that share a time stamp.

    Recorders that write ten positions a second with stamps of whole seconds leave the order inside
    a second to chance; followed point by point, their tracks become twice as long as they were.
    """
    if len(points) == 0:
        return points
    same = points.follows
    same[1:] &= points.time[1:] == points.time[:-1]
    first = np.flatnonzero(~same)
    if len(first) == len(points):
        return points
    size = np.diff(np.append(first, len(points)))

    def mean(values: Floats) -> Floats:
        # About the group's first value: no digits are lost to the large mean.
        origin = values[first]
        away = np.add.reduceat(values - np.repeat(origin, size), first)
        averaged: Floats = origin + away / size
        return averaged

    lat, lon = mean(points.lat), mean(points.lon)
    kept = points.take(first)
    return Points(lat, lon, kept.time, kept.trace, kept.piece)


def drop_zero_hops(points: Points) -> Points:
    """Drop points at the very place of the point before them."""
    stays = points.follows
    stays[1:] &= (points.lat[1:] == points.lat[:-1]) & (points.lon[1:] == points.lon[:-1])
    return points.take(~stays)
