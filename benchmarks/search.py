"""Measure the search: losses, bounds and seconds, on the papers' tables in a folder.

    python benchmarks/search.py DATASETS

Everything is compiled before the clock starts. docs/measurements.md shows the table.
"""

from pathlib import Path
from typing import Unpack

import numpy as np
from measures import Spent, command_line, print_load, print_row, spent

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.search_and_release_options import SearchKeywords
from trajanon.grouping.partition import Partition
from trajanon.tables.papers.datasets import find_datasets

LARGEST_BOUNDED_K = 5  # beyond it, bounds of the papers' tables take minutes
SEEDS = range(5)


def searched(records: Floats, k: int, **options: Unpack[SearchKeywords]) -> Spent[Partition]:
    """Search for groups; the program ends if it is stopped."""
    run = spent(trajanon.microaggregate, records, k, **options)
    if run.result.stopped:
        raise KeyboardInterrupt
    return run


def losses(folder: Path) -> None:
    """Measure losses, bounds and seconds of a core: balanced over five seeds, best once."""
    print_load()
    print_row(
        "data", "k", "balanced", "of a core", "best", "of a core", "bound", "gap", "of a core"
    )
    for dataset in (find() for find in find_datasets(folder)):
        trajanon.microaggregate(dataset.records[:60], 3, effort="best")
        trajanon.lower_bound(dataset.records[:60], 3)

        for k in (3, 4, 5, 10):
            runs = [searched(dataset.records, k, seed=seed) for seed in SEEDS]
            loss = np.mean([run.result.information_loss for run in runs])
            best, _, seconds = searched(dataset.records, k, effort="best")
            cells = [f"{loss:.4f}", f"{np.mean([run.cpu_seconds for run in runs]):.2f}"]
            cells += [f"{best.information_loss:.5f}", f"{seconds:.0f}"]

            if k <= LARGEST_BOUNDED_K:
                bound, _, seconds = spent(trajanon.lower_bound, dataset.records, k)
                gap = 100.0 * (1.0 - bound.information_loss / best.information_loss)
                proven = "" if bound.certified else " (not certified)"
                cells += [f"{bound.information_loss:.5f}{proven}", f"{gap:.3f} %", f"{seconds:.0f}"]
            print_row(dataset.name, k, *cells)


if __name__ == "__main__":
    command_line(__doc__, losses)
