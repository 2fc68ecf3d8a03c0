"""Measure the search: what it loses, how far that is from the best, and how fast.

    python benchmarks/search.py losses ../shared/reference/datasets
    python benchmarks/search.py tracks cabs.parquet
    python benchmarks/search.py draws cabs.parquet
    python benchmarks/search.py speed

Everything is compiled before the clock starts. ``tracks`` and ``draws`` take trajectories that
`trajanon extract` wrote; docs/search.md says how those it shows were made.
"""

from pathlib import Path
from unittest.mock import patch

import numpy as np
from measures import command_line, row, say_machine, searched, spent

import trajanon
from trajanon.arrays import Floats
from trajanon.benchmark.datasets import find_datasets
from trajanon.settings import EFFORTS
from trajanon.utility import displacement

KS = (3, 4, 5, 10)
LARGEST_BOUNDED = 5  # beyond, bounds of such tables take minutes and may be weak
SEEDS = range(5)
DRAWS = range(12)
MDAV = {"method": "mdav", "refine": "none"}
HM2 = {"refine": "none", "seed": 1}


def compile_all(records: Floats) -> None:
    """Run everything once on a few records."""
    trajanon.microaggregate(records[:60], 3, effort="best")
    trajanon.microaggregate(records[:60], 3, **MDAV)
    trajanon.lower_bound(records[:60], 3)


def losses(folder: Path) -> None:
    """Losses, bounds and seconds of a core: balanced over five seeds, best once."""
    say_machine()
    row("data", "k", "balanced", "of a core", "best", "of a core", "bound", "gap", "of a core")
    for dataset in (find() for find in find_datasets(folder)):
        compile_all(dataset.records)
        for k in (3, 4, 5, 6, 10):
            runs = [searched(dataset.records, k, seed=seed) for seed in SEEDS]
            loss = np.mean([run.found.information_loss for run in runs])
            best, _, took = searched(dataset.records, k, effort="best")
            cells = [f"{loss:.4f}", f"{np.mean([run.cpu_seconds for run in runs]):.2f}"]
            cells += [f"{best.information_loss:.5f}", f"{took:.0f}"]
            if k <= LARGEST_BOUNDED:
                bound, _, took = spent(trajanon.lower_bound, dataset.records, k)
                gap = 100.0 * (1.0 - bound.information_loss / best.information_loss)
                proven = "" if bound.certified else " (not certified)"
                cells += [f"{bound.information_loss:.5f}{proven}", f"{gap:.3f} %", f"{took:.0f}"]
            row(dataset.name, k, *cells)


def tracks(file: Path) -> None:
    """Real tracks: MDAV, hm2 alone, and the search, for 1,000 and for all."""
    say_machine()
    points = trajanon.read_trajectories(file).points
    some = np.random.default_rng(1).choice(len(points), min(1_000, len(points)), replace=False)
    row("n", "k", "MDAV", "hm2", "descent", "balanced", "of a core", "moved by, m")
    compile_all(points.reshape(len(points), -1))
    for shown in (points[some], points):
        records = shown.reshape(len(shown), -1)
        for k in KS:
            mdav, hm2 = (searched(records, k, **options).found for options in (MDAV, HM2))
            found, _, seconds = searched(records, k, seed=1)
            kinds = (mdav, hm2, found.stages[2], found)
            moved = [
                displacement(shown, groups.aggregated.reshape(shown.shape)).mean()
                for groups in (mdav, found)
            ]
            row(
                len(shown),
                k,
                *(f"{kind.information_loss:.3f}" for kind in kinds),
                f"{seconds:.2f}",
                f"{moved[0]:.0f} -> {moved[1]:.0f}",
            )


def draws(file: Path) -> None:
    """How much less is lost than with others, for 1,000 tracks drawn several times."""
    say_machine()
    records = trajanon.read_trajectories(file).records
    row("k", "below MDAV, %", "least", "most", "below hm2, %", "least", "most")
    compile_all(records)
    for k in KS:
        losses = []
        for draw in DRAWS:
            chosen = np.random.default_rng(draw).choice(len(records), 1_000, replace=False)
            runs = [searched(records[chosen], k, **way) for way in ({"seed": 1}, MDAV, HM2)]
            losses.append([run.found.information_loss for run in runs])
        ours, *others = np.transpose(losses)
        below = [100.0 * (1.0 - ours / theirs) for theirs in others]
        shown = [(less.mean(), less.min(), less.max()) for less in below]
        row(k, *(f"{value:.1f}" for value in np.ravel(shown)))


def speed() -> None:
    """Random moves a second on one core, all that annealing does included."""
    say_machine()
    row("n", "p", "k", "million moves a second")
    records = np.random.default_rng(0).normal(size=(1_000, 12))
    compile_all(records)
    moves = EFFORTS["balanced"].moves_per_record * EFFORTS["balanced"].runs
    with patch("trajanon.workers.cores", return_value=1):
        for k in (3, 5, 10):
            annealing = trajanon.microaggregate(records, k).stages[-1]
            row(1_000, 12, k, f"{moves * len(records) / annealing.seconds / 1e6:.1f}")


if __name__ == "__main__":
    command_line(__doc__, losses, tracks, draws, speed)
