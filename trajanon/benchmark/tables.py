"""The papers' tables, measured again: each a function of a data set.

It takes the data set, the repeats of whatever chance plays a part in, and a progress; it yields
nothing for a data set that the table does not have. Every kernel is compiled on a few records
before it is timed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from trajanon.arrays import Ints
from trajanon.benchmark.datasets import Dataset
from trajanon.benchmark.measurement import Measurement, spread, timed
from trajanon.benchmark.path_tables import by_distance, compression_table, hm2_table, timing_table
from trajanon.benchmark.published import decomposition_setting, rcs_setting
from trajanon.methods.decomposition import regroup_parts, start
from trajanon.methods.mdav import mdav
from trajanon.methods.mf_tsp import group_by_paths, paths_from_every_record
from trajanon.problem import Problem
from trajanon.progress import Progress
from trajanon.refine.rcs import rcs
from trajanon.refine.swap import swap

Table = Callable[[Dataset, int, Progress], Iterator[Measurement]]

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


def rcs_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Random Cluster Shuffling after MDAV: thesis Table 6.1."""
    if dataset.name in ("Tarragona", "EIA"):
        return
    row, ks = partial(Measurement, "rcs", dataset.name), (3, 5, 10)
    few = dataset.few.problem(3)
    rcs(few, mdav(few))
    for number, k in enumerate(ks):
        labels = mdav(dataset.problem(k))
        yield row("MDAV", "mdav", "", k, "il", dataset.loss(labels))
        for place, (probability, events) in enumerate(SHUFFLES):
            done = number * len(SHUFFLES) + place
            progress(f"{dataset.name}: shuffling", done, len(ks) * len(SHUFFLES))
            chance = float(Fraction(probability))
            losses, seconds = [], []
            for seed in range(repeats if events else 1):
                problem = dataset.problem(
                    k, seed=seed, shuffle_probability=chance, max_events=events
                )
                after, took = timed(rcs, problem, labels)
                losses.append(dataset.loss(after))
                seconds.append(took)
            ours = partial(row, "MDAV-RCS", "mdav, rcs", rcs_setting(probability, events), k)
            for statistic, value in (*spread(losses), ("seconds", float(np.mean(seconds)))):
                yield ours(statistic, value, len(losses))
    progress(f"{dataset.name}: shuffling", 1, 1)


def mf_tsp_table(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """MF-TSP, from n paths that all k share: thesis Tables 3.2 and 3.4, MF-TSP paper Table IX."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    row, ks = partial(Measurement, "mf-tsp", dataset.name), (3, 4, 5, 10)
    yield from by_distance("mf-tsp", dataset, ks)

    def tell(number: int, _: str, done: float, total: float | None, note: str = "") -> None:
        words = f"{dataset.name}: a path from every record"
        progress(words, number + (done / total if total else 0.0), len(MF_TSP))

    def paths_of(problem: Problem) -> list[Ints]:
        return list(paths_from_every_record(problem))

    for number, (name, by) in enumerate(MF_TSP.items()):
        few = dataset.few.problem(ks[0], heuristic=by)
        group_by_paths(few, paths_of(few))
        problem = dataset.problem(ks[0], heuristic=by, progress=partial(tell, number))
        paths, took = timed(paths_of, problem)
        for k in ks:
            labels = group_by_paths(replace(problem, k=k), paths)
            yield row(name, by, "", k, "il", dataset.loss(labels))
        yield row(name, by, "", None, "seconds", took)


def decomposition_table(
    dataset: Dataset, repeats: int, progress: Progress
) -> Iterator[Measurement]:
    """The decomposition heuristic, step by step: decomposition paper Tables 1 to 4."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    ks, subsets = (3, 5, 10), (40, 20, 10, 5, 2)
    few = dataset.few.problem(3, subsets=2)
    swap(few, regroup_parts(few, start(few)))
    done, total = 0, 2 * len(ks) * len(subsets)
    for k in ks:
        first, first_took = timed(start, dataset.problem(k))
        exchanged, exchange_took = timed(swap, dataset.problem(k), first)
        better = "MDAV" if np.array_equal(first, mdav(dataset.problem(k))) else "VMDAV"
        for step_3, before in (("yes", exchanged), ("no", first)):
            steps = [("2", "", first, first_took)]
            if step_3 == "yes":
                steps.append(("3", "", exchanged, exchange_took))
            for s in subsets:
                progress(f"{dataset.name}: decomposition", done, total)
                problem = dataset.problem(k, subsets=s)
                regrouped, took = timed(regroup_parts, problem, before)
                steps.append(("5", str(s), regrouped, took))
                last, took = timed(swap, problem, regrouped)
                steps.append(("7", str(s), last, took))
                done += 1
            for step, s_named, labels, seconds in steps:
                method = "decomposition" if step != "2" else better
                setting = decomposition_setting(step, s_named, step_3)
                row = partial(Measurement, "decomposition", dataset.name, method, "decomposition")
                yield row(setting, k, "il", dataset.loss(labels))
                yield row(setting, k, "seconds", seconds)
    progress(f"{dataset.name}: decomposition", total, total)


TABLES: Mapping[str, Table] = {
    "hm2": hm2_table,
    "compression": compression_table,
    "rcs": rcs_table,
    "mf-tsp": mf_tsp_table,
    "decomposition": decomposition_table,
    "timing": timing_table,
}
