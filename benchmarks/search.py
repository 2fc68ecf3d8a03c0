"""Measure the search: what it loses, how far that is from the best, and how fast.

    python benchmarks/search.py losses ../shared/reference/datasets
    python benchmarks/search.py tracks cabs.parquet
    python benchmarks/search.py draws cabs.parquet
    python benchmarks/search.py speed

Everything is compiled before the clock starts. ``tracks`` and ``draws`` take trajectories that
`trajanon extract` wrote; docs/search.md says how those it shows were made.
"""

import argparse
import os
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

import trajanon
from trajanon.arrays import Floats
from trajanon.benchmark.datasets import find_datasets
from trajanon.settings import EFFORTS
from trajanon.utility import displacement

KS = (3, 4, 5, 6, 10)
LARGEST_BOUNDED = 5  # beyond, bounds of such tables take minutes and may be weak
SEEDS = range(5)
DRAWS = range(12)


def measured(records: Floats, k: int, **options: Any) -> tuple[float, float]:
    """The loss of a run, percent, and its seconds."""
    start = perf_counter()
    found = trajanon.microaggregate(records, k, **options)
    if found.stopped:
        raise KeyboardInterrupt
    return found.information_loss, perf_counter() - start


def row(*cells: object) -> None:
    """Print a row of a table as soon as it is known."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def compile_all(records: Floats) -> None:
    """Run everything once on a few records."""
    trajanon.microaggregate(records[:60], 3, effort="best")
    trajanon.microaggregate(records[:60], 3, method="mdav", refine="none")
    trajanon.lower_bound(records[:60], 3)


def losses(folder: Path) -> None:
    """Losses, bounds and seconds: balanced over five seeds, best once."""
    row("data", "k", "balanced", "seconds", "best", "seconds", "bound", "gap", "seconds")
    for dataset in (find() for find in find_datasets(folder)):
        compile_all(dataset.records)
        for k in KS:
            runs = [measured(dataset.records, k, seed=seed) for seed in SEEDS]
            il, seconds = np.array(runs).T
            best, took = measured(dataset.records, k, effort="best")
            cells = [f"{il.mean():.4f}", f"{seconds.mean():.2f}"]
            cells += [f"{best:.5f}", f"{took:.0f}"]
            if k <= LARGEST_BOUNDED:
                start = perf_counter()
                bound = trajanon.lower_bound(dataset.records, k)
                took = perf_counter() - start
                gap = 100.0 * (1.0 - bound.information_loss / best)
                proven = "" if bound.certified else " (not certified)"
                cells += [f"{bound.information_loss:.5f}{proven}", f"{gap:.3f} %"]
                cells.append(f"{took:.0f}")
            row(dataset.name, k, *cells)


def tracks(file: Path) -> None:
    """Real tracks: MDAV, hm2 alone, and the search, for 1,000 and for all."""
    trajectories = trajanon.read_trajectories(file)
    n = len(trajectories)
    some = np.random.default_rng(1).choice(n, min(1_000, n), replace=False)
    row("n", "k", "MDAV", "hm2", "descent", "balanced", "seconds", "moved by, m")
    compile_all(trajectories.records)
    for points in (trajectories.points[some], trajectories.points):
        records = points.reshape(len(points), -1)
        for k in (3, 4, 5, 10):
            mdav = trajanon.microaggregate(records, k, method="mdav", refine="none")
            hm2 = trajanon.microaggregate(records, k, refine="none", seed=1)
            start = perf_counter()
            found = trajanon.microaggregate(records, k, seed=1)
            seconds = perf_counter() - start
            moved = [
                displacement(points, partition.aggregated.reshape(points.shape)).mean()
                for partition in (mdav, found)
            ]
            row(
                len(points),
                k,
                f"{mdav.information_loss:.3f}",
                f"{hm2.information_loss:.3f}",
                f"{found.stages[2].information_loss:.3f}",
                f"{found.information_loss:.3f}",
                f"{seconds:.2f}",
                f"{moved[0]:.0f} -> {moved[1]:.0f}",
            )


def draws(file: Path) -> None:
    """How much less is lost than with others, for 1,000 tracks drawn several times."""
    records = trajanon.read_trajectories(file).records
    row("k", "below MDAV, %", "least", "most", "below hm2, %", "least", "most")
    compile_all(records)
    for k in (3, 4, 5, 10):
        less = []
        for draw in DRAWS:
            random = np.random.default_rng(draw)
            some = records[random.choice(len(records), 1_000, replace=False)]
            found, _ = measured(some, k, seed=1)
            mdav, _ = measured(some, k, method="mdav", refine="none")
            hm2, _ = measured(some, k, refine="none", seed=1)
            less.append((100.0 * (1.0 - found / mdav), 100.0 * (1.0 - found / hm2)))
        cells = [
            f"{value:.1f}"
            for column in np.transpose(less)
            for value in (column.mean(), column.min(), column.max())
        ]
        row(k, *cells)


def speed() -> None:
    """Random moves a second on one core, all that annealing does included."""
    row("n", "p", "k", "million moves a second")
    records = np.random.default_rng(0).normal(size=(1_000, 12))
    compile_all(records)
    moves = EFFORTS["balanced"].moves_per_record * EFFORTS["balanced"].runs
    with patch("trajanon.workers.cores", return_value=1):
        for k in (3, 5, 10):
            annealing = trajanon.microaggregate(records, k).stages[-1]
            row(1_000, 12, k, f"{moves * len(records) / annealing.seconds / 1e6:.1f}")


def main() -> None:
    """Run the measurement asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["losses", "tracks", "draws", "speed"])
    parser.add_argument("data", type=Path, nargs="?")
    asked = parser.parse_args()
    if asked.data is None and asked.what != "speed":
        parser.error(f"{asked.what} needs data")
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if asked.what == "speed":
        speed()
    else:
        {"losses": losses, "tracks": tracks, "draws": draws}[asked.what](asked.data)


if __name__ == "__main__":
    main()
