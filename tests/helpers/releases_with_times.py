"""Releases with times for tests."""

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from planted import groups

from trajanon.common.arrays import Floats
from trajanon.files.release_formats import write_release
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

CLOCK = Clock("of-day", "Europe/Madrid", 300)


def release(
    points: Floats, times: Floats, clock: Clock = CLOCK, attribution: str | None = OSM_ATTRIBUTION
) -> Trajectories:
    words = {"attribution": attribution, "times": clock.sentence}
    return Trajectories(points, provenance=words, times=times)


def released(sizes: tuple[int, ...] = (4, 5, 4, 7), clock: Clock = CLOCK) -> Trajectories:
    """Groups of lines, each of three points at times of its own."""
    points = groups(sizes)
    of_line = np.unique(points.reshape(len(points), -1), axis=0, return_inverse=True)[1].ravel()
    departure = 28_800 + 3_600 * of_line
    times = departure[:, None] + np.array([0, 0, 600])
    return release(points, times.astype(np.float64), clock)


def written(path: Path, of: Trajectories | None = None) -> Path:
    """Write a release, sorted."""
    of = released() if of is None else of
    write_release(path, of.take(in_order(of.points, of.times)))
    return path


def collection_of(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("movingpandas").read_mf_json(path, "id")
