"""Density: the number of points in each cell of a honeycomb."""

from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE
from trajanon.maps.lines import DEGREES_A_STEP

_ACROSS = 45  # cells from one side of the map to the other
_LEAST = 10.0  # metres
_ROW = 1 << 20  # more than there are cells from south to north


def honeycomb(
    lines: Floats, bounds: list[list[float]], copies: Ints | None = None
) -> dict[str, Any]:
    """Count points in hexagonal cells of one size on the ground, with copies of each line."""
    (south, west), (north, east) = bounds
    squeeze = float(np.cos(np.radians((south + north) / 2)))
    extent = max(north - south, (east - west) * squeeze) * DEGREE
    wide = _nice(max(extent / _ACROSS, _LEAST))
    x = (lines[..., 1].ravel() - west) * squeeze * DEGREE / wide
    y = (lines[..., 0].ravel() - south) * DEGREE / (wide * np.sqrt(3.0))
    # The middles of cells are two rectangular lattices, one shifted by half a cell:
    # a point belongs to the nearer of its two candidates.
    corner = np.stack([np.rint(x), np.rint(y)])
    shifted = np.stack([np.floor(x), np.floor(y)]) + 0.5
    far = (x - corner[0]) ** 2 + 3.0 * (y - corner[1]) ** 2
    far_shifted = (x - shifted[0]) ** 2 + 3.0 * (y - shifted[1]) ** 2
    middle = np.where(far <= far_shifted, corner, shifted)
    halves = np.rint(2 * middle).astype(np.int64)
    key, cell = np.unique(halves[0] * _ROW + halves[1], return_inverse=True)
    times = np.ones(len(lines), np.int64) if copies is None else copies
    counts = np.bincount(cell, weights=np.repeat(times, lines.shape[1]))
    up = (key + _ROW // 2) % _ROW - _ROW // 2
    longitude = west + (key - up) / _ROW / 2 * wide / (squeeze * DEGREE)
    latitude = south + up / 2 * wide * np.sqrt(3.0) / DEGREE
    radius = wide / np.sqrt(3.0) / DEGREE
    places = np.rint(np.stack([latitude, longitude]) / DEGREES_A_STEP).astype(np.int64)
    return {
        "metres": wide,
        "radius": [round(radius / DEGREES_A_STEP), round(radius / squeeze / DEGREES_A_STEP)],
        "cells": np.vstack([places, counts.astype(np.int64)]).T.ravel().tolist(),
    }


def _nice(metres: float) -> float:
    """Round up to 1, 2, 5, 10, 20, 50, ... metres."""
    power = 10.0 ** np.floor(np.log10(metres))
    return float(next(n * power for n in (1, 2, 5, 10) if n * power >= metres))
