"""Random Cluster Shuffling after MDAV: thesis Table 6.1."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from trajanon.arrays import Ints
from trajanon.benchmark.datasets import Dataset
from trajanon.benchmark.measurement import Measurement, spread
from trajanon.benchmark.published import rcs_setting
from trajanon.benchmark.runs import first_records, loss_of_groups, task, timed
from trajanon.microaggregation import METHODS
from trajanon.progress import Progress
from trajanon.refine.rcs import rcs as shuffle

KS = (3, 5, 10)

SETTINGS = (("0", 0), *((f"{p}/1000", n) for p in (1, 10, 100) for n in (10, 20)))


def rcs(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[Measurement]:
    """Measure the loss after MDAV, and after shuffling with each setting."""
    if dataset.name in ("Tarragona", "EIA"):
        return
    row = partial(Measurement, "rcs", dataset.name)
    few = first_records(dataset)
    _shuffled(few, METHODS["mdav"](task(few, 3)), 3, "0", 0, 0)
    for number, k in enumerate(KS):
        labels = METHODS["mdav"](task(dataset, k))
        yield row("MDAV", "mdav", "", k, "il", loss_of_groups(dataset, labels), 1)
        for place, (probability, events) in enumerate(SETTINGS):
            done = number * len(SETTINGS) + place
            progress(f"{dataset.name}: shuffling", done, len(KS) * len(SETTINGS))
            losses, seconds = [], []
            for seed in range(repeats if events else 1):
                after, took = timed(_shuffled, dataset, labels, k, probability, events, seed)
                losses.append(loss_of_groups(dataset, after))
                seconds.append(took)
            setting = rcs_setting(probability, events)
            for statistic, value in (*spread(losses), ("seconds", float(np.mean(seconds)))):
                yield row("MDAV-RCS", "mdav, rcs", setting, k, statistic, value, len(losses))
    progress(f"{dataset.name}: shuffling", 1, 1)


def _shuffled(
    dataset: Dataset, labels: Ints, k: int, probability: str, events: int, seed: int
) -> Ints:
    chance = float(Fraction(probability))
    problem = task(dataset, k, seed=seed, shuffle_probability=chance, max_events=events)
    return shuffle(problem, labels)
