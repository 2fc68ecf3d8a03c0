"""MF-TSP: thesis Tables 3.2 and 3.4, MF-TSP paper Table IX."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from trajanon.arrays import Ints
from trajanon.benchmark.datasets import Dataset
from trajanon.benchmark.measurement import Measurement
from trajanon.benchmark.runs import first_records, loss_of_groups, task, timed
from trajanon.methods.mf_tsp import group_by_paths, paths_from_every_record
from trajanon.microaggregation import METHODS
from trajanon.problem import Problem
from trajanon.progress import Progress

KS = (3, 4, 5, 10)

HEURISTICS = {
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


def mf_tsp(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure the loss with each heuristic, from n paths that all k share."""
    del repeats
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    row = partial(Measurement, "mf-tsp", dataset.name)
    for name, method in (("MDAV", "mdav"), ("V-MDAV", "v-mdav")):
        for k in KS:
            labels = METHODS[method](task(dataset, k))
            yield row(name, method, "", k, "il", loss_of_groups(dataset, labels), 1)

    def tell(number: int, _: str, done: float, total: float | None, note: str = "") -> None:
        words = f"{dataset.name}: a path from every record"
        progress(words, number + (done / total if total else 0.0), len(HEURISTICS))

    for number, (name, heuristic) in enumerate(HEURISTICS.items()):
        few = task(first_records(dataset), KS[0], heuristic=heuristic)
        METHODS["mf-tsp"](few)

        work = task(dataset, KS[0], heuristic=heuristic, progress=partial(tell, number))
        paths, took = timed(_paths, work)
        for k in KS:
            labels = group_by_paths(replace(work, k=k), paths)
            yield row(name, heuristic, "", k, "il", loss_of_groups(dataset, labels), 1)
        yield row(name, heuristic, "", None, "seconds", took, 1)


def _paths(work: Problem) -> list[Ints]:
    return list(paths_from_every_record(work))
