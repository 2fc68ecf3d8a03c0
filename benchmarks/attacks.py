"""Measure the attacks: how long each takes, and what it finds.

    python benchmarks/attacks.py                          # made-up streets
    python benchmarks/attacks.py cabs.parquet             # trajectories of your own
    python benchmarks/attacks.py --tolerances cabs.parquet

Without a file, 1,000 and 10,000 trajectories along made-up streets; with one, its first 1,000 and
all of it. Groups are of k = 4, different subjects where the file knows them, on the windows as cut.
Seconds are those of the clock and of the processor, all threads; kernels are compiled before.
"""

import argparse
import os
import resource
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
from corridors import POINTS, corridors

import trajanon
from trajanon.privacy.attack import Attack
from trajanon.privacy.diversity import diversity
from trajanon.privacy.known_points import (
    known_ends,
    known_ends_in_originals,
    known_points,
    known_points_in_originals,
)
from trajanon.privacy.linkage import nearest_record
from trajanon.privacy.other_tracks import other_tracks
from trajanon.privacy.suite import attacks
from trajanon.trajectories import Trajectories

K = 4
SIZES = (1_000, 10_000)
TOLERANCES = (25.0, 50.0, 100.0, 200.0, 400.0, 800.0)


def timed(name: str, job: Callable[[], Any]) -> Any:
    """Do a job; print its name, its seconds and, of an attack, what it found."""
    wall, processor = perf_counter(), process_time()
    found = job()
    wall, processor = perf_counter() - wall, process_time() - processor
    line = f"  {name:42} {wall:8.2f} s {processor:8.2f} s CPU"
    if isinstance(found, Attack):
        line += "".join(
            f"  {100 * value:6.2f}"
            for value in (found.expected, found.worst_case, found.line_found, found.exposed)
        )
    print(line, flush=True)
    return found


def grouped(trajectories: Trajectories) -> tuple[Any, ...]:
    """What a holder has: originals, released lines, labels and k."""
    groups = trajanon.microaggregate(trajectories.records, K, subjects=trajectories.subject)
    lines = np.round(groups.centroids.reshape(-1, *trajectories.points.shape[1:]), 7)
    return trajectories.points, lines, groups.labels, K


def measure(name: str, trajectories: Trajectories) -> None:
    print(f"\n{name}: {len(trajectories)} trajectories, load {os.getloadavg()[0]:.1f}")
    print(f"  {'percent':>75}  expect   worst    line  exposed")
    release = grouped(trajectories)
    points, subjects = trajectories.points, trajectories.subject
    whose = {"subjects": subjects}
    timed("nearest record", lambda: nearest_record(*release, **whose))
    for known in (2, 4):
        for order in (False, True):
            asked = {"known": known, "order": order, **whose}
            words = f"{known} points{', in order' * order}"
            timed(f"{words}, release", lambda a=asked: known_points(*release, **a))
            timed(f"{words}, originals", lambda a=asked: known_points_in_originals(points, K, **a))
    timed("both ends, release", lambda: known_ends(*release, **whose))
    timed("both ends, originals", lambda: known_ends_in_originals(points, K, **whose))
    if subjects is not None:
        timed("other tracks", lambda: other_tracks(*release, subjects))
    found = timed("diversity", lambda: diversity(*release[:3]))
    timed("all that a holder is shown", lambda: attacks(*release, **whose))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"  {found.words}\n  at most {most:.0f} MB so far")


def measure_tolerances(name: str, trajectories: Trajectories) -> None:
    print(f"\n{name}: {len(trajectories)} trajectories, 2 points without order")
    release = grouped(trajectories)
    whose = {"subjects": trajectories.subject}
    for tolerance in TOLERANCES:
        asked = {"tolerance": tolerance, **whose}
        timed(f"{tolerance:g} m", lambda a=asked: known_points(*release, **a))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", help="trajectories, as extract writes them")
    parser.add_argument("--tolerances", action="store_true")
    asked = parser.parse_args()
    job = measure_tolerances if asked.tolerances else measure
    compiling = np.zeros((2, POINTS, 2)), np.zeros((2, POINTS, 2)), np.arange(2), K
    known_points(*compiling)
    if asked.file is None:
        for n in SIZES:
            points = corridors(n).reshape(n, POINTS, 2)
            job("made-up streets", Trajectories(points))
        return
    trajectories = trajanon.read_trajectories(asked.file)
    if not asked.tolerances:
        job(asked.file, trajectories.take(np.arange(min(1_000, len(trajectories)))))
    job(asked.file, trajectories)


if __name__ == "__main__":
    main()
