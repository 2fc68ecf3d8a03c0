"""The papers' tables, measured again, each of a data set; kernels are compiled before timing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.loss import standardise
from trajanon.microaggregation import microaggregate
from trajanon.papers.datasets import PAPERS, Dataset, find_datasets
from trajanon.papers.decomposition import regroup_parts, start
from trajanon.papers.measurements import (
    Measurement,
    beside,
    counted_steps,
    decomposition_setting,
    measurements_of,
    rcs_setting,
    read_published,
    spread,
    timed,
)
from trajanon.papers.mf_tsp import group_by_paths, paths_from_every_record
from trajanon.papers.shuffling_and_swapping import rcs, swap
from trajanon.progress import Progress, silent
from trajanon.search.distance_methods import mdav, v_mdav
from trajanon.search.external_solvers import concorde_command
from trajanon.search.hm2 import best_cut, find_paths
from trajanon.search.paths import path_length

PaperTable = Callable[[Dataset, int, Progress], Iterator[Measurement]]

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

ONE_RUN = {"concorde", "repetitive-nn", "npn", *THROUGH_GROUPS.values()}
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

GROWING = (100, 500, 1_000, 5_000, 10_000)
"""How many records in the plane a path leads through, of two distributions: thesis Fig. 5.4."""

_ROUNDS = 3  # of which the fastest counts: a machine is never slower than it can be


def _run_as(by: str, dataset: Dataset) -> str:
    """Let our default stand in for Concorde where that is not found, or may take hours."""
    found = by == "concorde" and dataset.name in PAPERS and concorde_command() is not None
    return by if found or by != "concorde" else "or-opt"


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


def _by_distance(table: str, dataset: Dataset, ks: Iterable[int]) -> Iterator[Measurement]:
    """Measure MDAV and V-MDAV, with which several tables begin."""
    for name, (by, method) in BY_DISTANCE.items():
        method(dataset.few.problem(3))
        for k in ks:
            labels, took = timed(method, dataset.problem(k))
            values = {"il": dataset.loss(labels)}
            if table == "hm2":
                values["seconds"] = took
            yield from measurements_of(table, dataset.name, name, by, "", k, **values)


def hm2_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Paths cut by MHM: thesis Tables 4.2 to 4.7, and the correlation of 4.8."""
    row, ks = partial(measurements_of, "hm2", dataset.name), (3, 4, 5, 6)
    yield from _by_distance("hm2", dataset, ks)
    if dataset.own:  # beside the methods of the papers, the default search
        for k in ks:
            searched, took = timed(microaggregate, dataset.records, k)
            place = ("HM2 and annealing", "the default", "", k)
            yield from row(*place, il=searched.information_loss, seconds=took)
    heuristics = {**THROUGH_GROUPS, **TSP, **OTHERS}
    heuristics = {name: _run_as(by, dataset) for name, by in heuristics.items()}
    times = {by: 1 if by in ONE_RUN else repeats for by in heuristics.values()}
    step = counted_steps(progress, f"{dataset.name}: paths and cuts", sum(times.values()))
    of_tsp = []
    for name, by in heuristics.items():
        find_paths(dataset.few.problem(ks[0], heuristic=by))
        losses, lengths, seconds = _paths_cut(dataset, ks, times[by], step, heuristic=by)
        if name in TSP:
            of_tsp.append((lengths, losses))
        for k, lost, long in zip(ks, losses, lengths, strict=True):
            values = {**spread(lost.tolist()), "path_length": long.mean()}
            yield from row(name, by, "", k, runs=times[by], **values)
            for seed in range(times[by]):
                one = {"run_il": lost[seed], "run_path_length": long[seed]}
                yield from row(name, by, f"seed {seed}", k, **one)
        yield from row(name, by, "", None, runs=times[by], seconds=seconds.sum(axis=0).mean())
    step()
    for k, pairs in zip(ks, np.concatenate(of_tsp, axis=2).swapaxes(0, 1), strict=True):
        place = ("all TSP heuristics", "path length and SSE", "", k)
        yield from row(*place, runs=pairs.shape[1], pearson=np.corrcoef(pairs)[0, 1])


def compression_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Compressed paths, the best cut of each: thesis Tables 5.1 to 5.4, paper 1 to 4."""
    row, ks = partial(measurements_of, "compression", dataset.name), range(3, 11)
    yield from _by_distance("compression", dataset, ks)
    path = _run_as("concorde", dataset)
    repeats = 1 if path in ONE_RUN else repeats
    compressions = (1, 2, 3, 4, 5)
    find_paths(dataset.few.problem(3, compression=2, heuristic=path))
    step = counted_steps(progress, f"{dataset.name}: compression", len(compressions) * repeats)
    for c in compressions:
        ours = partial(row, "C-MHM" if c == 1 else f"C{c}-C-MHM", path, "")
        losses, lengths, seconds = _paths_cut(
            dataset, ks, repeats, step, heuristic=path, compression=c
        )
        for k, lost in zip(ks, losses, strict=True):
            yield from ours(k, runs=repeats, il=lost.mean())
        yield from ours(
            None, runs=repeats, path_length=lengths[0].mean(), seconds=seconds[0].mean()
        )
    step()


def rcs_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Random Cluster Shuffling after MDAV: thesis Table 6.1."""
    if dataset.name in ("Tarragona", "EIA"):
        return
    row, ks = partial(measurements_of, "rcs", dataset.name), (3, 5, 10)
    few = dataset.few.problem(3)
    rcs(few, mdav(few))
    step = counted_steps(progress, f"{dataset.name}: shuffling", len(ks) * len(SHUFFLES))
    for k in ks:
        labels = mdav(dataset.problem(k))
        yield from row("MDAV", "mdav", "", k, il=dataset.loss(labels))
        for probability, events in SHUFFLES:
            step()
            runs = [
                timed(
                    rcs, dataset.problem(k, seed=seed), labels, float(Fraction(probability)), events
                )
                for seed in range(repeats if events else 1)
            ]
            losses = [dataset.loss(shuffled) for shuffled, _ in runs]
            seconds = float(np.mean([took for _, took in runs]))
            place = ("MDAV-RCS", "mdav, rcs", rcs_setting(probability, events), k)
            yield from row(*place, runs=len(runs), **spread(losses), seconds=seconds)
    step()


def mf_tsp_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """MF-TSP, from n paths that all k share: thesis Tables 3.2 and 3.4, MF-TSP paper Table IX."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    row, ks = partial(measurements_of, "mf-tsp", dataset.name), (3, 4, 5, 10)
    yield from _by_distance("mf-tsp", dataset, ks)

    def tell(number: int, _: str, done: float, total: float | None, note: str = "") -> None:
        words = f"{dataset.name}: a path from every record"
        progress(words, number + (done / total if total else 0.0), len(MF_TSP))

    for number, (name, by) in enumerate(MF_TSP.items()):
        few = dataset.few.problem(ks[0], heuristic=by)
        group_by_paths(few, list(paths_from_every_record(few)))
        problem = dataset.problem(ks[0], heuristic=by, progress=partial(tell, number))
        paths, took = timed(lambda problem: list(paths_from_every_record(problem)), problem)
        for k in ks:
            labels = group_by_paths(dataset.problem(k), paths)
            yield from row(name, by, "", k, il=dataset.loss(labels))
        yield from row(name, by, "", None, seconds=took)


def decomposition_table(
    dataset: Dataset, repeats: int, progress: Progress
) -> Iterator[Measurement]:
    """The decomposition heuristic, step by step: decomposition paper Tables 1 to 4."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    ks, subsets = (3, 5, 10), (40, 20, 10, 5, 2)
    few = dataset.few.problem(3)
    swap(few, regroup_parts(few, start(few), 2))
    step = counted_steps(progress, f"{dataset.name}: decomposition", 2 * len(ks) * len(subsets))
    for k in ks:
        first, first_took = timed(start, dataset.problem(k))
        exchanged, exchange_took = timed(swap, dataset.problem(k), first)
        better = "MDAV" if np.array_equal(first, mdav(dataset.problem(k))) else "VMDAV"
        for step_3, before in (("yes", exchanged), ("no", first)):
            done = [("2", "", first, first_took)]
            if step_3 == "yes":
                done.append(("3", "", exchanged, exchange_took))
            for s in subsets:
                step()
                problem = dataset.problem(k)
                regrouped, took = timed(regroup_parts, problem, before, s)
                done.append(("5", str(s), regrouped, took))
                done.append(("7", str(s), *timed(swap, problem, regrouped)))
            for number, s_named, labels, seconds in done:
                method = better if number == "2" else "decomposition"
                setting = decomposition_setting(number, s_named, step_3)
                place = ("decomposition", dataset.name, method, "decomposition", setting, k)
                yield from measurements_of(*place, il=dataset.loss(labels), seconds=seconds)
    step()


def timing_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """The seconds of MDAV and of paths, each the fastest of three; thesis Fig. 5.4."""
    if not dataset.measured_by(PAPERS):
        return
    runs = [(dataset, name, _run_as(by, dataset), "") for name, by in TIMED.items()]
    if dataset.name == PAPERS[0]:
        random = np.random.default_rng(0)
        draws: dict[str, Callable[..., Floats]]
        draws = {"normal": random.normal, "uniform": random.uniform}
        for (name, draw), n in product(draws.items(), GROWING):
            drawn = Dataset("random", standardise(draw(0.0, 1.0, (n, 2))))
            runs.append((drawn, f"C-MHM, {name}", "or-opt", f"n = {n}"))
    step = counted_steps(progress, f"{dataset.name}: seconds", len(runs))
    for of, name, by, setting in runs:
        step()
        method = mdav if by == "mdav" else find_paths
        method(dataset.few.problem(4, heuristic=by))
        seconds = min(timed(method, of.problem(4, heuristic=by))[1] for _ in range(_ROUNDS))
        place = ("timing", of.name, name, by, setting, None)
        yield from measurements_of(*place, runs=_ROUNDS, seconds=seconds)
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


def benchmark(
    tables: Sequence[str], data: Path, *, repeats: int = 50, progress: Progress = silent
) -> Iterator[list[Measurement]]:
    """Measure the papers' tables again."""
    unknown = [name for name in tables if name not in (*TABLES, EVERY)]
    if unknown:
        raise BadInput(f"table {unknown[0]!r} is not known; choose from {', '.join(TABLES)}, all")
    if repeats < 1:
        raise BadInput(f"repeats must be a whole number from 1 (got {repeats})")
    chosen = TABLES if EVERY in tables else {name: TABLES[name] for name in tables}
    datasets = find_datasets(data)
    published = read_published(data.parent / "published")
    nothing = True
    for table, read in product(chosen.values(), datasets):
        if measured := beside(table(read(), repeats, progress), published):
            nothing = False
            yield measured
    if nothing:
        raise BadInput(
            f"{', '.join(chosen)} has nothing to measure in {data}: see "
            "trajanon benchmark --help for the data sets, or ask for `table=hm2`"
        )
