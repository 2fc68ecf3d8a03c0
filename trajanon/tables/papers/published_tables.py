"""The papers' tables, measured again, each of a data set; kernels are compiled before timing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.grouping.loss import standardise
from trajanon.grouping.methods.decomposition import group_by_distance, regroup_parts
from trajanon.grouping.methods.hm2_and_compression import find_paths, published_heuristic
from trajanon.grouping.methods.mdav_and_v_mdav import mdav, v_mdav
from trajanon.grouping.methods.mf_tsp import group_by_paths, paths_from_every_record
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.paths.optimal_cut import best_cut
from trajanon.grouping.paths.travelling_salesman import path_length
from trajanon.grouping.refinements.shuffling_and_swapping import rcs, swap
from trajanon.tables.papers.datasets import PAPERS, Dataset, find_datasets
from trajanon.tables.papers.measurements import (
    Measurement,
    beside,
    counted_steps,
    decomposition_setting,
    measurements_of,
    rcs_setting,
    read_published,
    spread,
    timed,
    weighted_correlation,
)

Batches = Iterator[list[Measurement]]
"""Measurements as they come."""

PaperTable = Callable[[Dataset, int, Progress], Batches]

BY_DISTANCE = {"MDAV": ("mdav", mdav), "V-MDAV": ("v-mdav", v_mdav)}

TSP = {
    "Nearest Insertion-MHM": "nearest-insertion",
    "Farthest Insertion-MHM": "farthest-insertion",
    "Cheapest Insertion-MHM": "cheapest-insertion",
    "Arbitrary Insertion-MHM": "arbitrary-insertion",
    "Nearest Neighbour-MHM": "nearest-neighbor",
    "Repetitive NN-MHM": "repetitive-nn",
    "Concorde-MHM": "concorde",
}
"""Heuristics with a path that does not depend on k."""

THROUGH_GROUPS = {"MDAV-LK-MHM": "mdav-lk", "MD-MHM": "md", "MDAV-MHM": "mdav", "CBFS-MHM": "cbfs"}

OTHERS = {"2-Opt-MHM": "two-opt", "NPN-MHM": "npn"}
"""Not in the published tables."""

ONE_RUN = {"concorde", "npn", "md", "mdav", "cbfs"}
"""Seeds change them little, if at all."""

MF_TSP = {
    "MF-TSP(2-Opt)": "two-opt",
    "MF-TSP(Concorde)": "or-opt",
    "MF-TSP(Nearest Insert)": "nearest-insertion",
    "MF-TSP(Farthest Insert)": "farthest-insertion",
    "MF-TSP(Cheapest Insert)": "cheapest-insertion",
    "MF-TSP(Arbitrary Insert)": "arbitrary-insertion",
    "MF-TSP(Nearest Neighbour)": "nearest-neighbor",
    "MF-TSP(Repetitive NN)": "repetitive-nn",
}
"""Our default, without kicks, stands in for Concorde."""

SHUFFLES = (("0", 0), *((f"{p}/1000", n) for p in (1, 10, 100) for n in (10, 20)))

TIMED = {"C-MHM": "concorde", "Repetitive NN": "repetitive-nn", "MDAV, k = 4": "mdav"}

RANDOM = "random"
"""The data set of which the timing says how seconds grow with the records."""

GROWING = (100, 500, 1_000, 5_000, 10_000)
"""How many records in the plane a path leads through, of two distributions: thesis Fig. 5.4."""

_TIMED_RUNS = 3  # of which the fastest counts: a machine is never slower than it can be


def _run_as(by: str, dataset: Dataset) -> str:
    """Name our default for Concorde where that is not found, or may take hours."""
    return published_heuristic(len(dataset.records)) if by == "concorde" else by


def _paths_cut(
    dataset: Dataset, ks: Sequence[int], repeats: int, step: Callable[[], None], **options: Any
) -> tuple[Floats, Floats, Floats]:
    """Cut paths: losses and lengths, (ks, runs); seconds of a path and its first cut, (2, runs)."""
    losses, lengths = np.empty((2, len(ks), repeats))
    seconds = np.empty((2, repeats))
    of_each_k = options.get("heuristic") in THROUGH_GROUPS.values()
    for seed in range(repeats):
        step()
        paths: list[Ints] = []
        for number, k in enumerate(ks):
            problem = dataset.problem(k, seed=seed, **options)
            if number == 0 or of_each_k:
                paths, finding = timed(find_paths, problem)
            (labels, path), cutting = timed(best_cut, problem, paths)
            if number == 0:
                seconds[:, seed] = finding, cutting
            losses[number, seed] = dataset.loss(labels)
            lengths[number, seed] = path_length(dataset.records, path)
    return losses, lengths, seconds


def _by_distance(table: str, dataset: Dataset, ks: Iterable[int]) -> Batches:
    """Measure MDAV and V-MDAV, with which several tables begin."""
    for name, (by, method) in BY_DISTANCE.items():
        method(dataset.few.problem(3))
        for k in ks:
            problem = dataset.problem(k)
            labels, took = timed(method, problem)
            # V-MDAV's gamma, if it is of that.
            chosen = {name: float(value) for name, value in problem.log.chosen.items()}
            values = {"il": dataset.loss(labels), **chosen}
            if table == "hm2":
                values["seconds"] = took
            yield measurements_of(table, dataset.name, name, by, "", k, **values)


def hm2_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure paths cut by MHM: thesis Tables 4.2 to 4.7, and the correlation of 4.8."""
    ks = (3, 4, 5, 6)
    row = partial(measurements_of, "hm2", dataset.name)
    yield from _by_distance("hm2", dataset, ks)
    if dataset.own:  # beside the methods of the papers, the default search
        for k in ks:
            partition, took = timed(microaggregate, dataset.records, k)
            place = ("HM2 and annealing", "the default", "", k)
            yield row(*place, il=partition.information_loss, seconds=took)

    heuristics = {
        name: _run_as(by, dataset) for name, by in {**THROUGH_GROUPS, **TSP, **OTHERS}.items()
    }
    runs_of = {by: 1 if by in ONE_RUN else repeats for by in heuristics.values()}
    step = counted_steps(progress, f"{dataset.name}: paths and cuts", sum(runs_of.values()))
    of_tsp = []
    for name, by in heuristics.items():
        runs = runs_of[by]
        find_paths(dataset.few.problem(ks[0], heuristic=by))
        losses, lengths, seconds = _paths_cut(dataset, ks, runs, step, heuristic=by)
        if name in TSP:
            of_tsp.append((lengths, losses))

        batch: list[Measurement] = []
        for k, losses_of_k, lengths_of_k in zip(ks, losses, lengths, strict=True):
            values = {**spread(losses_of_k.tolist()), "path_length": lengths_of_k.mean()}
            batch += row(name, by, "", k, runs=runs, **values)
            for seed in range(runs):
                of_run = {"run_il": losses_of_k[seed], "run_path_length": lengths_of_k[seed]}
                batch += row(name, by, f"seed {seed}", k, **of_run)
        yield batch + row(name, by, "", None, runs=runs, seconds=seconds.sum(axis=0).mean())
    step()

    for number, k in enumerate(ks):
        lengths_of_tsp = [lengths[number] for lengths, _ in of_tsp]
        losses_of_tsp = [losses[number] for _, losses in of_tsp]
        pearson = weighted_correlation(lengths_of_tsp, losses_of_tsp)
        place = ("all TSP heuristics", "path length and SSE", "", k)
        yield row(*place, runs=sum(map(len, losses_of_tsp)), pearson=pearson)


def compression_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure compressed paths, the best cut of each: thesis Tables 5.1 to 5.4, paper 1 to 4."""
    ks = range(3, 11)
    row = partial(measurements_of, "compression", dataset.name)
    yield from _by_distance("compression", dataset, ks)

    path = _run_as("concorde", dataset)
    repeats = 1 if path in ONE_RUN else repeats
    find_paths(dataset.few.problem(3, compression=2, heuristic=path))

    # The best of all ways to expand the cities, and the two of the paper's program.
    every_way: dict[str, str] = {}
    one_way = [{"expansion": "row", "direction": way} for way in ("forward", "backward")]
    runs = [(1, every_way)] + [(c, ways) for c in (2, 3, 4, 5) for ways in (every_way, *one_way)]
    step = counted_steps(progress, f"{dataset.name}: compression", len(runs) * repeats)
    for c, ways in runs:
        by = ", ".join([path, *ways.values()])
        ours = partial(row, "C-MHM" if c == 1 else f"C{c}-C-MHM", by, "")
        losses, lengths, seconds = _paths_cut(
            dataset, ks, repeats, step, heuristic=path, compression=c, **ways
        )
        for k, losses_of_k in zip(ks, losses, strict=True):
            yield ours(k, runs=repeats, il=losses_of_k.mean())
        if not ways:
            of_all_k = {"path_length": lengths[0].mean(), "seconds": seconds[0].mean()}
            yield ours(None, runs=repeats, **of_all_k)
    step()


def rcs_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure Random Cluster Shuffling after MDAV: thesis Table 6.1."""
    if dataset.name in ("Tarragona", "EIA"):
        return

    ks = (3, 5, 10)
    row = partial(measurements_of, "rcs", dataset.name)
    few = dataset.few.problem(3)
    rcs(few, mdav(few))
    step = counted_steps(progress, f"{dataset.name}: shuffling", len(ks) * len(SHUFFLES))
    for k in ks:
        labels = mdav(dataset.problem(k))
        yield row("MDAV", "mdav", "", k, il=dataset.loss(labels))
        for probability, events in SHUFFLES:
            step()
            shuffles: dict[str, Any] = {
                "refine": "rcs",
                "shuffle_probability": float(Fraction(probability)),
                "max_events": events,
            }
            runs = [
                timed(rcs, dataset.problem(k, seed=seed, **shuffles), labels)
                for seed in range(repeats if events else 1)
            ]
            losses = [dataset.loss(shuffled) for shuffled, _ in runs]
            seconds = float(np.mean([took for _, took in runs]))
            place = ("MDAV-RCS", "mdav, rcs", rcs_setting(probability, events), k)
            yield row(*place, runs=len(runs), **spread(losses), seconds=seconds)
    step()


def mf_tsp_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure MF-TSP, from n paths that all k share: thesis Tables 3.2, 3.4, its paper Table IX."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return

    ks = (3, 4, 5, 10)
    row = partial(measurements_of, "mf-tsp", dataset.name)
    yield from _by_distance("mf-tsp", dataset, ks)

    def report(number: int, _: str, done: float, total: float | None, note: str = "") -> None:
        task = f"{dataset.name}: a path from every record"
        progress(task, number + (done / total if total else 0.0), len(MF_TSP))

    for number, (name, by) in enumerate(MF_TSP.items()):
        few = dataset.few.problem(ks[0], heuristic=by)
        group_by_paths(few, list(paths_from_every_record(few)))

        problem = dataset.problem(ks[0], heuristic=by, progress=partial(report, number))
        paths, took = timed(lambda problem: list(paths_from_every_record(problem)), problem)
        yield row(name, by, "", None, seconds=took)

        for rule, k in product(("near", "next"), ks):
            grouping = dataset.problem(k, method="mf-tsp", path_neighbours=rule)
            labels = group_by_paths(grouping, paths)
            by_rule = by if rule == "near" else f"{by}, next"
            yield row(name, by_rule, "", k, il=dataset.loss(labels))


def decomposition_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure the decomposition heuristic, step by step: decomposition paper Tables 1 to 4."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return

    ks = (3, 5, 10)
    subsets = (40, 20, 10, 5, 2)
    few = dataset.few.problem(3)
    swap(few, regroup_parts(few, group_by_distance(few), 2))
    step = counted_steps(progress, f"{dataset.name}: decomposition", 2 * len(ks) * len(subsets))

    def row(
        k: int, setting: str, labels: Ints, seconds: float, method: str = "decomposition"
    ) -> list[Measurement]:
        place = ("decomposition", dataset.name, method, "decomposition", setting, k)
        return measurements_of(*place, il=dataset.loss(labels), seconds=seconds)

    for k in ks:
        first, first_took = timed(group_by_distance, dataset.problem(k))
        better = "MDAV" if np.array_equal(first, mdav(dataset.problem(k))) else "VMDAV"
        exchanged, exchange_took = timed(swap, dataset.problem(k), first)
        for step_3, before in (("yes", exchanged), ("no", first)):
            yield row(k, decomposition_setting("2", "", step_3), first, first_took, better)
            if step_3 == "yes":
                yield row(k, decomposition_setting("3", "", step_3), exchanged, exchange_took)

            for s in subsets:
                step()
                problem = dataset.problem(k)
                regrouped, took = timed(regroup_parts, problem, before, s)
                yield row(k, decomposition_setting("5", s, step_3), regrouped, took)
                swapped, took = timed(swap, problem, regrouped)
                yield row(k, decomposition_setting("7", s, step_3), swapped, took)
    step()


def timing_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure the seconds of MDAV and of paths, each the fastest of three; thesis Fig. 5.4."""
    if not dataset.measured_by(PAPERS):
        return

    runs = [(dataset, name, _run_as(by, dataset), "") for name, by in TIMED.items()]
    if dataset.name == PAPERS[0]:
        random = np.random.default_rng(0)
        draws: dict[str, Callable[..., Floats]]
        draws = {"normal": random.normal, "uniform": random.uniform}
        for (name, draw), n in product(draws.items(), GROWING):
            drawn = Dataset(RANDOM, standardise(draw(0.0, 1.0, (n, 2))))
            runs.append((drawn, f"C-MHM, {name}", _run_as("concorde", drawn), f"n = {n}"))

    step = counted_steps(progress, f"{dataset.name}: seconds", len(runs))
    for timed_set, name, by, setting in runs:
        step()
        method = mdav if by == "mdav" else find_paths
        method(dataset.few.problem(4, heuristic=by))
        problems = [timed_set.problem(4, heuristic=by) for _ in range(_TIMED_RUNS)]
        seconds = min(timed(method, problem)[1] for problem in problems)
        place = ("timing", timed_set.name, name, by, setting, None)
        yield measurements_of(*place, runs=_TIMED_RUNS, seconds=seconds)
    step()


TABLES: Mapping[str, PaperTable] = {
    "hm2": hm2_table,
    "compression": compression_table,
    "rcs": rcs_table,
    "mf-tsp": mf_tsp_table,
    "decomposition": decomposition_table,
    "timing": timing_table,
}

EVERY = "all"


def published_folder(data: Path) -> Path:
    """Name the folder with the published tables: it stands beside that of the data sets."""
    return (data.parent if data.is_file() else data).parent / "published"


def benchmark(
    tables: Sequence[str], data: Path, *, repeats: int = 50, progress: Progress = silent
) -> Iterator[list[Measurement]]:
    """Measure the papers' tables again; the numbers come as they are measured."""
    unknown = [name for name in tables if name not in (*TABLES, EVERY)]
    if unknown:
        raise BadInput(f"table {unknown[0]!r} is not known; choose from {', '.join(TABLES)}, all")
    if repeats < 1:
        raise BadInput(f"repeats must be a whole number from 1 (got {repeats})")

    chosen = TABLES if EVERY in tables else {name: TABLES[name] for name in tables}
    datasets = find_datasets(data)
    published = read_published(published_folder(data))
    measured_any = False
    for table, read in product(chosen.values(), datasets):
        dataset = read()
        for batch in table(dataset, repeats, progress):
            measured_any = True
            yield beside(batch, published if dataset.published else {})
    if not measured_any:
        raise BadInput(
            f"{', '.join(chosen)} has nothing to measure in {data}: see "
            "trajanon benchmark --help for the data sets, or ask for `table=hm2`"
        )
