"""Cleaning recorded points, in five steps, in this order."""

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

    If at least half have a time, those without are dropped, because their order is unknown.
    Otherwise the few times are ignored.
    """
    untimed = np.isnan(points.time)
    if not untimed.any():
        return points
    first, size = points.pieces
    share = np.repeat(np.add.reduceat(untimed.astype(np.float64), first) / size, size)
    settled = replace(points, time=np.where(share > 0.5, np.nan, points.time))
    return settled.take(~untimed | (share > 0.5))


def sort_by_time(points: Points) -> Points:
    """Sort each piece by time; the sort is stable, so an untimed piece stays as it is."""
    falls = points.follows
    falls[1:] &= points.time[1:] < points.time[:-1]
    if not falls.any():
        return points
    first, size = points.pieces
    fallen = np.add.reduceat(falls.astype(np.int64), first)
    # Newest first is common, and reversing is faster than sorting.
    turned = np.flatnonzero(np.repeat(fallen == size - 1, size))
    mixed = np.flatnonzero(np.repeat((fallen > 0) & (fallen < size - 1), size))
    order = np.arange(len(points))
    order[turned] = np.repeat(2 * first + size - 1, size)[turned] - turned
    order[mixed] = mixed[np.lexsort((points.time[mixed], points.piece[mixed]))]
    return points.take(order)


def average_equal_times(points: Points) -> Points:
    """Replace consecutive points of a piece with the same time by their mean.

    If a recorder writes ten positions a second with times in whole seconds, the order within a
    second is chance; followed point by point, such a track becomes twice as long as it was.
    """
    same = points.follows
    same[1:] &= points.time[1:] == points.time[:-1]
    if not same.any():
        return points
    first = np.flatnonzero(~same)
    size = np.diff(first, append=len(points))

    def mean(values: Floats) -> Floats:
        # Relative to the first value of each group, so that no digits are lost.
        away = np.add.reduceat(values - np.repeat(values[first], size), first)
        return values[first] + away / size

    return replace(points.take(first), lat=mean(points.lat), lon=mean(points.lon))


def drop_zero_hops(points: Points) -> Points:
    """Drop points at exactly the place of the point before them."""
    stays = points.follows
    stays[1:] &= (points.lat[1:] == points.lat[:-1]) & (points.lon[1:] == points.lon[:-1])
    return points.take(~stays)
