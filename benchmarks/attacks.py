"""Measure the attacks: how long each takes, and what it finds.

    python benchmarks/attacks.py                          # made-up streets
    python benchmarks/attacks.py cabs.parquet             # trajectories of your own
    python benchmarks/attacks.py --tolerances cabs.parquet

Without a file, 1,000 and 10,000 trajectories along made-up streets; with one, its first 1,000 and
all of it. Groups are of k = 4, different subjects where the file knows them, on the windows as cut.
Seconds are those of the clock and of the processor, all threads; kernels are compiled before.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from corridors import POINTS, corridors
from measures import command_line, first_rows, load, peak_gb, spent

import trajanon
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.diversity import diversity
from trajanon.privacy.known_points import known_ends, known_points
from trajanon.privacy.linkage import nearest_record, other_tracks
from trajanon.privacy.suite import attacks
from trajanon.trajectories import Trajectories

K = 4
SIZES = (1_000, 10_000)
TOLERANCES = (25.0, 50.0, 100.0, 200.0, 400.0, 800.0)


def timed(name: str, *job: Any, **options: Any) -> Any:
    """Do a job; print its name, its seconds and, of an attack, what it found."""
    found, seconds, cpu_seconds = spent(*job, **options)
    line = f"  {name:42} {seconds:8.2f} s {cpu_seconds:8.2f} s CPU"
    if isinstance(found, Attack):
        shares = (found.expected, found.worst_case, found.line_found, found.exposed)
        line += "".join(f"  {100 * share:6.2f}" for share in shares)
    print(line, flush=True)
    return found


def measure(release: Published) -> None:
    """Try each attack, on the release and on the originals."""
    print(f"  {'percent':>75}  expect   worst    line  exposed")
    timed("nearest record", nearest_record, release)
    both = (release, release.originals)
    for known in (2, 4):
        for order in (False, True):
            for seen in both:
                words = f"{known} points{', in order' * order}, {seen.against}"
                timed(words, known_points, seen, known, order=order)
    for seen in both:
        timed(f"both ends, {seen.against}", known_ends, seen)
    if release.subjects is not None:
        timed("other tracks", other_tracks, release)
    found = timed("diversity", diversity, release)
    for seen in both:
        timed(f"all on the {seen.against}", attacks, seen)
    print(f"  {found.words}\n  at most {1e3 * peak_gb():.0f} MB so far")


def attack(file: Annotated[Path | None, typer.Argument()] = None, tolerances: bool = False) -> None:
    """Try the attacks on made-up streets, or on the trajectories of a file."""
    points = np.zeros((2, POINTS, 2))
    known_points(Published(points, points, np.arange(2), K))  # compiles
    if file is None:
        tables = [Trajectories(corridors(n).reshape(n, POINTS, 2)) for n in SIZES]
    else:
        whole = trajanon.read_trajectories(file)
        tables = [whole] if tolerances else [first_rows(whole, SIZES[0]), whole]
    for table in tables:
        name = file or "made-up streets"
        print(f"\n{name}: {len(table)} trajectories, load {load():.1f}")
        groups = trajanon.microaggregate(table.records, K, subjects=table.subject)
        lines = np.round(groups.lines(table.points), 7)
        release = Published(table.points, lines, groups.labels, K, table.subject)
        if not tolerances:
            measure(release)
            continue
        for tolerance in TOLERANCES:
            name = f"2 points without order, {tolerance:g} m"
            timed(name, known_points, release, tolerance=tolerance)


if __name__ == "__main__":
    command_line(__doc__, attack)
