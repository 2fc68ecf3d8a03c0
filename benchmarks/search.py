"""Measure the search: losses, bounds and seconds.

    python benchmarks/search.py losses DATASETS     tables of the papers, in a folder
    python benchmarks/search.py sizes               tracks drawn along corridors, many
    python benchmarks/search.py sliding windows.parquet -k 4 -k 10

Everything is compiled before the clock starts. docs/measurements.md shows all.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from corridors import corridors
from measures import Spent, alone, command_line, peak_gb, row, say_machine, spent

import trajanon
from trajanon.common.arrays import Floats
from trajanon.grouping import neighbours
from trajanon.tables.papers.datasets import find_datasets

K = 5  # of the sizes, and beyond which bounds of the papers' tables take minutes
SEEDS = range(5)
SIZES = [20_000, 100_000, 1_000_000]
MOST_COMPARED = 50_000  # records up to which MDAV is asked, too: its time grows with their square
MDAV = {"method": "mdav", "refine": "none"}


def searched(records: Floats, k: int, **options: Any) -> Spent:
    """Search for groups; the program ends if it is stopped."""
    run = spent(trajanon.microaggregate, records, k, **options)
    if run.found.stopped:
        raise KeyboardInterrupt
    return run


def losses(folder: Path) -> None:
    """Measure losses, bounds and seconds of a core: balanced over five seeds, best once."""
    say_machine()
    row("data", "k", "balanced", "of a core", "best", "of a core", "bound", "gap", "of a core")
    for dataset in (find() for find in find_datasets(folder)):
        trajanon.microaggregate(dataset.records[:60], 3, effort="best")
        trajanon.lower_bound(dataset.records[:60], 3)
        for k in (3, 4, 5, 10):
            runs = [searched(dataset.records, k, seed=seed) for seed in SEEDS]
            loss = np.mean([run.found.information_loss for run in runs])
            best, _, took = searched(dataset.records, k, effort="best")
            cells = [f"{loss:.4f}", f"{np.mean([run.cpu_seconds for run in runs]):.2f}"]
            cells += [f"{best.information_loss:.5f}", f"{took:.0f}"]
            if k <= K:
                bound, _, took = spent(trajanon.lower_bound, dataset.records, k)
                gap = 100.0 * (1.0 - bound.information_loss / best.information_loss)
                proven = "" if bound.certified else " (not certified)"
                cells += [f"{bound.information_loss:.5f}{proven}", f"{gap:.3f} %", f"{took:.0f}"]
            row(dataset.name, k, *cells)


def of_size(n: int, how: str) -> tuple[str, str, float]:
    """Search among n records, or ask MDAV, in this process: loss, seconds, gigabytes."""
    for few in (300, neighbours.WHOLE + 1):
        trajanon.microaggregate(corridors(few), K)
    run = searched(corridors(n), K, **(MDAV if how == "MDAV" else {}))
    return f"{run.found.information_loss:.5f}", f"{run.seconds:.2f}", peak_gb()


def sizes(size: list[int] = SIZES) -> None:
    """Measure each size in a process of its own, and MDAV in others."""
    say_machine()
    row("n", "", "loss", "seconds by the clock", "GB")
    for n in size:
        for how in ["MDAV", "default"] if n <= MOST_COMPARED else ["default"]:
            row(n, how, *alone(of_size, n, how))


def sliding(file: Path, k: Annotated[list[int], typer.Option("-k")]) -> None:
    """Measure metres of windows, of which k counts each, by MDAV, search and sliding."""
    cut = replace(trajanon.read_trajectories(file), subject=None)
    say_machine()
    trajanon.anonymize(cut.take(np.arange(60)), 3)  # compiles
    row("k", "MDAV", "search", "with sliding", "windows that slid")
    for least in k:
        mdav = trajanon.anonymize(cut, least, align=False, method="mdav", refine="none").report
        report = trajanon.anonymize(cut, least, seed=1).report
        stay = trajanon.anonymize(cut, least, align=False, seed=1).report
        ways = (one["displacement"] for one in (mdav, stay, report))
        metres = (f"{way['mean']:.1f}, {way['median']:.1f}" for way in ways)
        row(least, *metres, f"{report['alignment']['slid']:.0%}")


if __name__ == "__main__":
    command_line(__doc__, losses, sizes, sliding)
