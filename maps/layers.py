"""Layers as the page holds them: lines in whole numbers, hexagons, and the colours of groups."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

_NEIGHBOURS = 8  # that have other colours
_STEP = 1e-6  # degrees: 0.1 m, finer than any screen
_BEND = 3e-5  # degrees: a track is drawn to some 3 m
_ACROSS = 45  # cells from one side of the map to the other
_LEAST = 10.0  # metres
_ROW = 1 << 20  # more than there are cells from south to north


def steps(lines: Floats) -> list[list[int]]:
    """Write lines of equally many points as whole numbers of millionths of a degree."""
    places = np.rint(lines / _STEP).astype(np.int64)
    first = np.zeros_like(places[:, :1])
    return np.diff(places, axis=1, prepend=first).reshape(len(lines), -1).tolist()


def bends(lines: Iterable[Floats]) -> list[list[int]]:
    """Write lines of any number of points, without points between which a line is straight."""
    import shapely

    parts = list(lines)
    places = np.concatenate([np.empty((0, 2)), *parts])
    line = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    drawn = shapely.linestrings(places, indices=line)
    with np.errstate(all="ignore"):  # GEOS divides by tiny numbers, and means it
        # By Douglas and Peucker: the way that preserves topology does not end on some tiny hops.
        simple = shapely.simplify(drawn, _BEND, preserve_topology=False)
    return [steps(shapely.get_coordinates(one)[None])[0] for one in simple]


def corners(points: Floats) -> list[list[float]]:
    """South-west and north-east corner of all points, as lat, lon."""
    places = points.reshape(-1, 2)
    return [places.min(axis=0).tolist(), places.max(axis=0).tolist()]


class Honeycomb:
    """Hexagonal cells of one size on the ground, in which points are counted some at a time."""

    def __init__(self, bounds: list[list[float]]) -> None:
        (self._south, self._west), (north, east) = bounds
        self._squeeze = float(np.cos(np.radians((self._south + north) / 2)))
        extent = max(north - self._south, (east - self._west) * self._squeeze) * DEGREE
        self._wide = _nice(max(extent / _ACROSS, _LEAST))
        self._keys: Ints = np.empty(0, np.int64)
        self._counts: Ints = np.empty(0, np.int64)

    def add(self, lines: Floats, copies: Ints | None = None) -> "Honeycomb":
        """Count the points of lines, with copies of each."""
        x = (lines[..., 1].ravel() - self._west) * self._squeeze * DEGREE / self._wide
        y = (lines[..., 0].ravel() - self._south) * DEGREE / (self._wide * np.sqrt(3.0))
        # The middles of cells are two rectangular lattices, one shifted by half a cell:
        # a point belongs to the nearer of its two candidates.
        corner = np.stack([np.rint(x), np.rint(y)])
        shifted = np.stack([np.floor(x), np.floor(y)]) + 0.5
        far, far_shifted = ((x - at[0]) ** 2 + 3.0 * (y - at[1]) ** 2 for at in (corner, shifted))
        middle = np.where(far <= far_shifted, corner, shifted)
        halves = np.rint(2 * middle).astype(np.int64)
        times = np.ones(len(lines), np.int64) if copies is None else copies
        keys = np.append(self._keys, halves[0] * _ROW + halves[1])
        weights = np.append(self._counts, np.repeat(times, lines.shape[1]))
        self._keys, cell = np.unique(keys, return_inverse=True)
        self._counts = np.bincount(cell, weights=weights).astype(np.int64)
        return self

    @property
    def layer(self) -> dict[str, Any]:
        """The cells with points, and how many each has, ready for JSON."""
        up = (self._keys + _ROW // 2) % _ROW - _ROW // 2
        along = (self._keys - up) / _ROW / 2 * self._wide
        longitude = self._west + along / (self._squeeze * DEGREE)
        latitude = self._south + up / 2 * self._wide * np.sqrt(3.0) / DEGREE
        radius = self._wide / np.sqrt(3.0) / DEGREE
        places = np.rint(np.stack([latitude, longitude]) / _STEP).astype(np.int64)
        return {
            "metres": self._wide,
            "radius": [round(radius / _STEP), round(radius / self._squeeze / _STEP)],
            "cells": np.vstack([places, self._counts]).T.ravel().tolist(),
        }


def _nice(metres: float) -> float:
    """Round up to 1, 2, 5, 10, 20, 50, ... metres."""
    power = 10.0 ** np.floor(np.log10(metres))
    return float(next(n * power for n in (1, 2, 5, 10) if n * power >= metres))


def colours(lines: Floats) -> list[int]:
    """Choose a colour for each line that its neighbours do not have."""
    middle = lines.mean(axis=1)
    middle[:, 1] *= np.cos(np.radians(middle[:, 0].mean()))
    count = min(_NEIGHBOURS + 1, len(lines))
    _, neighbours = KDTree(middle).query(middle, k=[*range(1, count + 1)])
    chosen = np.full(len(lines), -1)
    used = np.zeros(len(PALETTE))
    for line, nearest_first in enumerate(neighbours):
        taken = chosen[nearest_first]
        near = 1.0 / np.arange(1, count + 1)
        cost = np.bincount(taken[taken >= 0], near[taken >= 0], len(PALETTE))
        chosen[line] = np.lexsort((used, cost))[0]
        used[chosen[line]] += 1
    return chosen.tolist()


def weights(sizes: Ints) -> list[float]:
    """Choose a width in pixels for each released line, growing mildly with its group."""
    pixels: list[float] = np.round(2.0 + 0.75 * np.log2(sizes), 1).tolist()
    return pixels
