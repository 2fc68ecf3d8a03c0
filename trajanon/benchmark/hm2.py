"""Paths cut by MHM: thesis Tables 4.2 to 4.8."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from trajanon.benchmark.datasets import Dataset
from trajanon.benchmark.measurement import Measurement, spread
from trajanon.benchmark.runs import first_records, loss_of_groups, task, timed
from trajanon.methods.hm2 import cut, find_path
from trajanon.microaggregation import METHODS, microaggregate
from trajanon.paths.length import path_length
from trajanon.progress import Progress

KS = (3, 4, 5, 6)

BY_DISTANCE = {"MDAV": "mdav", "V-MDAV": "v-mdav"}

TSP = {
    "Nearest Insertion-MHM": "nearest-insertion",
    "Farthest Insertion-MHM": "farthest-insertion",
    "Cheapest Insertion-MHM": "cheapest-insertion",
    "Arbitrary Insertion-MHM": "arbitrary-insertion",
    "Nearest Neighbour-MHM": "nearest-neighbor",
    "Repetitive NN-MHM": "repetitive-nn",
    "Concorde-MHM": "or-opt",
}
"""Heuristics whose path does not depend on k. Our default stands in for Concorde."""

THROUGH_GROUPS = {"MDAV-LK-MHM": "mdav-lk", "MD-MHM": "md", "MDAV-MHM": "mdav", "CBFS-MHM": "cbfs"}

OTHERS = {"2-Opt-MHM": "two-opt", "NPN-MHM": "npn"}
"""Not in the published tables."""

_ALWAYS_THE_SAME = {"repetitive-nn", "npn", *THROUGH_GROUPS.values()}


@dataclass(slots=True)
class _Runs:
    """What the runs of one heuristic gave; losses by k."""

    losses: dict[int, list[float]] = field(default_factory=dict)
    lengths: dict[int, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def hm2(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure every method of thesis Tables 4.2 to 4.7, and the correlation of 4.8."""
    row = partial(Measurement, "hm2", dataset.name)
    for name, method in BY_DISTANCE.items():
        METHODS[method](task(first_records(dataset), 3))
        for k in KS:
            found, took = timed(METHODS[method], task(dataset, k))
            yield row(name, method, "", k, "il", loss_of_groups(dataset, found), 1)
            yield row(name, method, "", k, "seconds", took, 1)
    if dataset.own:  # beside the methods of the papers, what anneals their best
        for k in KS:
            searched, took = timed(microaggregate, dataset.records, k)
            loss = searched.information_loss
            yield row("HM2 and annealing", "the default", "", k, "il", loss, 1)
            yield row("HM2 and annealing", "the default", "", k, "seconds", took, 1)
    heuristics = {**THROUGH_GROUPS, **TSP, **OTHERS}
    total = sum(_repeats(h, repeats) for h in heuristics.values())
    done = 0
    of_tsp: list[_Runs] = []
    for name, heuristic in heuristics.items():
        runs = _Runs()
        for seed in range(_repeats(heuristic, repeats)):
            progress(f"{dataset.name}: paths and cuts", done, total)
            _run(dataset, heuristic, seed, runs)
            done += 1
        if name in TSP:
            of_tsp.append(runs)
        count = len(runs.losses[KS[0]])
        for k in KS:
            for statistic, value in spread(runs.losses[k]):
                yield row(name, heuristic, "", k, statistic, value, count)
            length = float(np.mean(runs.lengths[k]))
            yield row(name, heuristic, "", k, "path_length", length, count)
            each = zip(runs.losses[k], runs.lengths[k], strict=True)
            for seed, (loss, length) in enumerate(each):
                setting = f"seed {seed}"
                yield row(name, heuristic, setting, k, "run_il", loss, 1)
                yield row(name, heuristic, setting, k, "run_path_length", length, 1)
        seconds = float(np.mean(runs.seconds))
        yield row(name, heuristic, "", None, "seconds", seconds, count)
    progress(f"{dataset.name}: paths and cuts", total, total)
    for k in KS:
        lengths = np.concatenate([runs.lengths[k] for runs in of_tsp])
        losses = np.concatenate([runs.losses[k] for runs in of_tsp])
        pearson = float(np.corrcoef(lengths, losses)[0, 1])
        name, by = "all TSP heuristics", "path length and SSE"
        yield row(name, by, "", k, "pearson", pearson, len(losses))


def _repeats(heuristic: str, repeats: int) -> int:
    return 1 if heuristic in _ALWAYS_THE_SAME else repeats


def _run(dataset: Dataset, heuristic: str, seed: int, runs: _Runs) -> None:
    """Find a path and cut it for every k; a path through groups has its own for each.

    The seconds are those of one path and one cut.
    """
    if seed == 0:
        find_path(task(first_records(dataset), KS[0], heuristic=heuristic))
    own_paths = heuristic in THROUGH_GROUPS.values()
    path, took = np.empty(0, dtype=np.int64), 0.0
    for k in KS:
        if own_paths or k == KS[0]:
            work = task(dataset, k, seed=seed, heuristic=heuristic)
            path, took = timed(find_path, work)
        labels, cutting = timed(cut, dataset.records, path, k, dataset.subjects)
        if k == KS[0]:
            runs.seconds.append(took + cutting)
        runs.losses.setdefault(k, []).append(loss_of_groups(dataset, labels))
        runs.lengths.setdefault(k, []).append(path_length(dataset.records, path))
