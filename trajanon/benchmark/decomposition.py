"""The decomposition heuristic, step by step: decomposition paper Tables 1 to 4."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from trajanon.benchmark.datasets import Dataset
from trajanon.benchmark.measurement import Measurement
from trajanon.benchmark.published import decomposition_setting
from trajanon.benchmark.runs import first_records, loss_of_groups, task, timed
from trajanon.methods.decomposition import regroup, start
from trajanon.microaggregation import METHODS
from trajanon.progress import Progress
from trajanon.refine.swap import swap

KS = (3, 5, 10)
SUBSETS = (40, 20, 10, 5, 2)


def decomposition(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure the loss and the seconds of each step, with and without step 3."""
    del repeats
    if not dataset.measured_by(("Census", "Tarragona")):
        return
    few = task(first_records(dataset), 3, subsets=2)
    swap(few, regroup(few, start(few)))
    done, total = 0, 2 * len(KS) * len(SUBSETS)
    for k in KS:
        first, first_took = timed(start, task(dataset, k))
        exchanged, exchange_took = timed(swap, task(dataset, k), first)
        by_mdav = METHODS["mdav"](task(dataset, k))
        better = "MDAV" if np.array_equal(first, by_mdav) else "VMDAV"
        for step_3, before in (("yes", exchanged), ("no", first)):
            row = partial(Measurement, "decomposition", dataset.name)
            steps = [("2", "", first, first_took)]
            if step_3 == "yes":
                steps.append(("3", "", exchanged, exchange_took))
            for s in SUBSETS:
                progress(f"{dataset.name}: decomposition", done, total)
                work = task(dataset, k, subsets=s)
                regrouped, took = timed(regroup, work, before)
                steps.append(("5", str(s), regrouped, took))
                last, took = timed(swap, work, regrouped)
                steps.append(("7", str(s), last, took))
                done += 1
            for step, s_named, labels, seconds in steps:
                setting = decomposition_setting(step, s_named, step_3)
                method = "decomposition" if step != "2" else better
                named = partial(row, method, "decomposition", setting, k)
                yield named("il", loss_of_groups(dataset, labels), 1)
                yield named("seconds", seconds, 1)
    progress(f"{dataset.name}: decomposition", total, total)
