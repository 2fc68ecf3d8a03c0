"""How a run of a table is set up and timed."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

import numpy as np

from trajanon.arrays import Ints
from trajanon.benchmark.datasets import Dataset
from trajanon.loss import information_loss, sse
from trajanon.problem import Problem
from trajanon.progress import Progress, silent
from trajanon.settings import EFFORTS, Settings

Given = ParamSpec("Given")
Result = TypeVar("Result")

_FEW = 60  # records with which a kernel is compiled before it is timed


def task(
    dataset: Dataset, k: int, *, seed: int = 0, progress: Progress = silent, **options: Any
) -> Problem:
    """Set up a run with the defaults of `trajanon.microaggregate`."""
    return Problem(
        records=dataset.records,
        k=k,
        subjects=dataset.subjects,
        random=np.random.default_rng(seed),
        settings=Settings(seed=seed, **options),
        budget=EFFORTS["balanced"],
        progress=progress,
    )


def first_records(dataset: Dataset) -> Dataset:
    """Take some records, for a run that only compiles."""
    return Dataset(dataset.name, dataset.records[:_FEW])


def timed(
    run: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> tuple[Result, float]:
    """Run with what is given, and say how many seconds it took."""
    since = perf_counter()
    result = run(*given, **named)
    return result, perf_counter() - since


def loss_of_groups(dataset: Dataset, labels: Ints) -> float:
    """Information loss of groups."""
    sst = float((dataset.records**2).sum())
    return information_loss(sse(dataset.records, labels), sst)
