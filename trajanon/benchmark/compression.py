"""Compressed paths: thesis Tables 5.1 to 5.4, compression paper Tables 1 to 4."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from trajanon.benchmark.datasets import PAPERS, Dataset
from trajanon.benchmark.measurement import Measurement
from trajanon.benchmark.runs import first_records, loss_of_groups, task, timed
from trajanon.methods.hm2 import cut, find_path
from trajanon.microaggregation import METHODS
from trajanon.paths.length import path_length
from trajanon.progress import Progress

KS = range(3, 11)
RATIOS = (1, 2, 3, 4, 5)


def compression(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure path length, loss and seconds with our path and each compression.

    Members come back in the order of their rows, to which the published path lengths point, and
    (with a ``setting``) by distance to the centroid, as the papers say.
    """
    if not dataset.measured_by(PAPERS):
        return
    row = partial(Measurement, "compression", dataset.name)
    for name, method in (("MDAV", "mdav"), ("V-MDAV", "v-mdav")):
        for k in KS:
            labels = METHODS[method](task(dataset, k))
            yield row(name, method, "", k, "il", loss_of_groups(dataset, labels), 1)
    ways = [(1, "row"), *((c, e) for c in RATIOS[1:] for e in ("row", "distance"))]
    find_path(task(first_records(dataset), 3, compression=2))
    for number, (c, expansion) in enumerate(ways):
        name = "C-MHM" if c == 1 else f"C{c}-C-MHM"
        by = "or-opt" if c == 1 else f"or-opt, {expansion}"
        setting = "" if expansion == "row" else "as the papers say"
        losses: dict[int, list[float]] = {k: [] for k in KS}
        lengths, seconds = [], []
        for seed in range(repeats):
            progress(f"{dataset.name}: compression", number * repeats + seed, len(ways) * repeats)
            work = task(dataset, KS[0], seed=seed, compression=c, expansion=expansion)
            path, took = timed(find_path, work)
            lengths.append(path_length(dataset.records, path))
            seconds.append(took)
            for k in KS:
                labels = cut(dataset.records, path, k, dataset.subjects)
                losses[k].append(loss_of_groups(dataset, labels))
        for k in KS:
            il = float(np.mean(losses[k]))
            yield row(name, by, setting, k, "il", il, repeats)
        mean = float(np.mean(lengths))
        yield row(name, by, setting, None, "path_length", mean, repeats)
        mean = float(np.mean(seconds))
        yield row(name, by, setting, None, "seconds", mean, repeats)
    progress(f"{dataset.name}: compression", 1, 1)
