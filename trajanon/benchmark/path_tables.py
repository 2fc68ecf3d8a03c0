"""Tables of paths and their cuts: hm2, compression, timing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from trajanon.benchmark.datasets import PAPERS, Dataset
from trajanon.benchmark.measurement import Measurement, spread, timed
from trajanon.methods.hm2 import cut_path, find_path
from trajanon.methods.mdav import mdav
from trajanon.methods.v_mdav import v_mdav
from trajanon.microaggregation import microaggregate
from trajanon.paths.tours import path_length
from trajanon.progress import Progress

BY_DISTANCE = {"MDAV": ("mdav", mdav), "V-MDAV": ("v-mdav", v_mdav)}

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

ALWAYS_THE_SAME = {"repetitive-nn", "npn", *THROUGH_GROUPS.values()}

SDCMICRO = {1_000: 0.03, 10_000: 1.6}
"""Seconds of sdcMicro's MDAV (C++) by the number of rows of 60 columns, k = 4: measured on another
machine, and printed by no paper."""

_ROUNDS = 3  # of which the fastest counts: a machine is never slower than it can be


@dataclass(slots=True)
class _Runs:
    """What the runs of one heuristic gave; losses and lengths by k."""

    losses: dict[int, list[float]] = field(default_factory=dict)
    lengths: dict[int, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def hm2_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Paths cut by MHM: thesis Tables 4.2 to 4.7, and the correlation of 4.8."""
    row, ks = partial(Measurement, "hm2", dataset.name), (3, 4, 5, 6)
    for name, (by, method) in BY_DISTANCE.items():
        method(dataset.few.problem(3))
        for k in ks:
            found, took = timed(method, dataset.problem(k))
            yield row(name, by, "", k, "il", dataset.loss(found))
            yield row(name, by, "", k, "seconds", took)
    if dataset.own:  # beside the methods of the papers, the default search
        for k in ks:
            searched, took = timed(microaggregate, dataset.records, k)
            ours = partial(row, "HM2 and annealing", "the default", "", k)
            yield ours("il", searched.information_loss)
            yield ours("seconds", took)
    heuristics = {**THROUGH_GROUPS, **TSP, **OTHERS}
    times = {name: 1 if by in ALWAYS_THE_SAME else repeats for name, by in heuristics.items()}
    total, done = sum(times.values()), 0
    of_tsp: list[_Runs] = []
    for name, by in heuristics.items():
        find_path(dataset.few.problem(ks[0], heuristic=by))
        runs, count = _Runs(), times[name]
        for seed in range(count):
            progress(f"{dataset.name}: paths and cuts", done, total)
            _measure_path(dataset, by, seed, ks, runs)
            done += 1
        if name in TSP:
            of_tsp.append(runs)
        for k in ks:
            for statistic, value in spread(runs.losses[k]):
                yield row(name, by, "", k, statistic, value, count)
            yield row(name, by, "", k, "path_length", float(np.mean(runs.lengths[k])), count)
            each = zip(runs.losses[k], runs.lengths[k], strict=True)
            for seed, (loss, length) in enumerate(each):
                yield row(name, by, f"seed {seed}", k, "run_il", loss)
                yield row(name, by, f"seed {seed}", k, "run_path_length", length)
        yield row(name, by, "", None, "seconds", float(np.mean(runs.seconds)), count)
    progress(f"{dataset.name}: paths and cuts", total, total)
    for k in ks:
        lengths = np.concatenate([runs.lengths[k] for runs in of_tsp])
        losses = np.concatenate([runs.losses[k] for runs in of_tsp])
        pearson = float(np.corrcoef(lengths, losses)[0, 1])
        every = ("all TSP heuristics", "path length and SSE", "", k)
        yield row(*every, "pearson", pearson, len(losses))


def _measure_path(
    dataset: Dataset, heuristic: str, seed: int, ks: tuple[int, ...], runs: _Runs
) -> None:
    """Find a path and cut it for every k; a path through groups has its own for each.

    The seconds are those of one path and one cut.
    """
    path, took = np.empty(0, dtype=np.int64), 0.0
    for k in ks:
        problem = dataset.problem(k, seed=seed, heuristic=heuristic)
        if k == ks[0] or heuristic in THROUGH_GROUPS.values():
            path, took = timed(find_path, problem)
        labels, cutting = timed(cut_path, problem, path)
        if k == ks[0]:
            runs.seconds.append(took + cutting)
        runs.losses.setdefault(k, []).append(dataset.loss(labels))
        runs.lengths.setdefault(k, []).append(path_length(dataset.records, path))


def by_distance(table: str, dataset: Dataset, ks: Iterable[int]) -> Iterator[Measurement]:
    """Measure the loss of MDAV and V-MDAV, with which several tables begin."""
    for name, (by, method) in BY_DISTANCE.items():
        for k in ks:
            loss = dataset.loss(method(dataset.problem(k)))
            yield Measurement(table, dataset.name, name, by, "", k, "il", loss)


def compression_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Compressed paths: thesis Tables 5.1 to 5.4, compression paper Tables 1 to 4.

    Members come back in the order of their rows, to which the published path lengths point, and
    (with a ``setting``) by distance to the centroid, as the papers say.
    """
    if not dataset.measured_by(PAPERS):
        return
    row, ks = partial(Measurement, "compression", dataset.name), range(3, 11)
    yield from by_distance("compression", dataset, ks)
    ways = [(1, "row"), *((c, by) for c in (2, 3, 4, 5) for by in ("row", "distance"))]
    find_path(dataset.few.problem(3, compression=2))
    for number, (c, expansion) in enumerate(ways):
        name = "C-MHM" if c == 1 else f"C{c}-C-MHM"
        by = "or-opt" if c == 1 else f"or-opt, {expansion}"
        ours = partial(row, name, by, "" if expansion == "row" else "as the papers say")
        losses: dict[int, list[float]] = {k: [] for k in ks}
        lengths, seconds = [], []
        for seed in range(repeats):
            progress(f"{dataset.name}: compression", number * repeats + seed, len(ways) * repeats)
            problem = dataset.problem(ks[0], seed=seed, compression=c, expansion=expansion)
            path, took = timed(find_path, problem)
            lengths.append(path_length(dataset.records, path))
            seconds.append(took)
            for k in ks:
                losses[k].append(dataset.loss(cut_path(replace(problem, k=k), path)))
        for k in ks:
            yield ours(k, "il", float(np.mean(losses[k])), repeats)
        yield ours(None, "path_length", float(np.mean(lengths)), repeats)
        yield ours(None, "seconds", float(np.mean(seconds)), repeats)
    progress(f"{dataset.name}: compression", 1, 1)


def timing_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """The seconds of MDAV and of paths, each the fastest of three."""
    if not dataset.measured_by(PAPERS):
        return

    def row(dataset: Dataset, name: str, by: str) -> Measurement:
        nothing_yet = float("nan")
        place = ("timing", dataset.name, name, by, "", None, "seconds")
        return Measurement(*place, nothing_yet, _ROUNDS)

    def run(dataset: Dataset, by: str) -> Callable[[], object]:
        if by == "mdav":
            return lambda: mdav(dataset.problem(4))
        return lambda: find_path(dataset.problem(4, heuristic=by))

    runs = [
        (row(dataset, name, by), run(dataset, by))
        for name, by in {
            "C-MHM": "or-opt",
            "Repetitive NN": "repetitive-nn",
            "MDAV, k = 4": "mdav",
        }.items()
    ]
    for measured, _ in runs:
        run(dataset.few, measured.by)()
    if dataset.name == PAPERS[0]:
        for n, published in SDCMICRO.items():
            random = Dataset("random", np.random.default_rng(0).normal(size=(n, 60)))
            measured = row(random, f"MDAV, k = 4, {n} x 60", "mdav")
            source = "sdcMicro 5.8.1 on another machine"
            measured = replace(measured, published=published, source=source)
            runs.append((measured, run(random, "mdav")))
    for number, (measured, measure) in enumerate(runs):
        progress(f"{dataset.name}: seconds", number, len(runs))
        yield replace(measured, ours=min(timed(measure)[1] for _ in range(_ROUNDS)))
    progress(f"{dataset.name}: seconds", len(runs), len(runs))
