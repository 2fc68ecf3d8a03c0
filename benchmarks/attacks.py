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
from trajanon.privacy.known_points import known_ends, known_points
from trajanon.privacy.linkage import nearest_record, other_tracks
from trajanon.privacy.published import Published
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


def published(trajectories: Trajectories) -> Published:
    """What a holder has: originals, released lines, labels, k and subjects."""
    groups = trajanon.microaggregate(trajectories.records, K, subjects=trajectories.subject)
    lines = np.round(groups.lines(trajectories.points), 7)
    return Published(trajectories.points, lines, groups.labels, K, trajectories.subject)


def measure(name: str, trajectories: Trajectories) -> None:
    print(f"\n{name}: {len(trajectories)} trajectories, load {os.getloadavg()[0]:.1f}")
    print(f"  {'percent':>75}  expect   worst    line  exposed")
    release = published(trajectories)
    timed("nearest record", lambda: nearest_record(release))
    for known in (2, 4):
        for order in (False, True):
            for seen in (release, release.originals):
                words = f"{known} points{', in order' * order}, {seen.against}"
                timed(words, lambda s=seen, m=known, o=order: known_points(s, m, order=o))
    for seen in (release, release.originals):
        timed(f"both ends, {seen.against}", lambda s=seen: known_ends(s))
    if release.subjects is not None:
        timed("other tracks", lambda: other_tracks(release))
    found = timed("diversity", lambda: diversity(release))
    timed("all on the release", lambda: attacks(release))
    timed("all on the originals", lambda: attacks(release.originals))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"  {found.words}\n  at most {most:.0f} MB so far")


def measure_tolerances(name: str, trajectories: Trajectories) -> None:
    print(f"\n{name}: {len(trajectories)} trajectories, 2 points without order")
    release = published(trajectories)
    for tolerance in TOLERANCES:
        timed(f"{tolerance:g} m", lambda t=tolerance: known_points(release, tolerance=t))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", help="trajectories, as extract writes them")
    parser.add_argument("--tolerances", action="store_true")
    asked = parser.parse_args()
    job = measure_tolerances if asked.tolerances else measure
    points = np.zeros((2, POINTS, 2))
    known_points(Published(points, points, np.arange(2), K))  # compiles
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
