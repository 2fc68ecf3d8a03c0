"""Seconds of the paths and groupings whose speed was published."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from trajanon.benchmark.datasets import PAPERS, Dataset
from trajanon.benchmark.measurement import Measurement
from trajanon.benchmark.runs import first_records, task, timed
from trajanon.methods.hm2 import find_path
from trajanon.microaggregation import METHODS
from trajanon.progress import Progress

SDCMICRO = {1_000: 0.03, 10_000: 1.6}
"""Seconds of sdcMicro's MDAV (C++) on tables of so many rows and 60 columns, k = 4:
measured on another machine, and printed by no paper."""

_ROUNDS = 3  # of which the fastest counts: a machine is never slower than it can be


def timing(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure the seconds of MDAV and of paths, each the fastest of three."""
    del repeats
    if not dataset.measured_by(PAPERS):
        return
    for heuristic in ("or-opt", "repetitive-nn"):
        find_path(task(first_records(dataset), 4, heuristic=heuristic))
    runs: list[tuple[Measurement, Callable[[], object]]] = [
        (_row(dataset, "C-MHM", "or-opt"), _path(dataset, "or-opt")),
        (_row(dataset, "Repetitive NN", "repetitive-nn"), _path(dataset, "repetitive-nn")),
        (_row(dataset, "MDAV, k = 4", "mdav"), _mdav(dataset)),
    ]
    if dataset.name == PAPERS[0]:
        for n, published in SDCMICRO.items():
            random = Dataset("random", np.random.default_rng(0).normal(size=(n, 60)))
            measured = _row(random, f"MDAV, k = 4, {n} x 60", "mdav")
            measured = replace(
                measured, published=published, source="sdcMicro 5.8.1 on another machine"
            )
            runs.append((measured, _mdav(random)))
    METHODS["mdav"](task(first_records(dataset), 4))
    for number, (measured, run) in enumerate(runs):
        progress(f"{dataset.name}: seconds", number, len(runs))
        yield replace(measured, ours=min(timed(run)[1] for _ in range(_ROUNDS)))
    progress(f"{dataset.name}: seconds", len(runs), len(runs))


def _row(dataset: Dataset, name: str, by: str) -> Measurement:
    nothing_yet = float("nan")
    return Measurement("timing", dataset.name, name, by, "", None, "seconds", nothing_yet, _ROUNDS)


def _path(dataset: Dataset, heuristic: str) -> Callable[[], object]:
    return lambda: find_path(task(dataset, 4, heuristic=heuristic))


def _mdav(dataset: Dataset) -> Callable[[], object]:
    return lambda: METHODS["mdav"](task(dataset, 4))
