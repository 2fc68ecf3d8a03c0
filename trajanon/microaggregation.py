"""Microaggregation: the pipeline method -> refinement, on one page."""

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trajanon import loss
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.methods import METHODS
from trajanon.methods.task import Task
from trajanon.partition import (
    Partition,
    Stage,
    broken_promises,
    check_k,
    dense,
    number_subjects,
)
from trajanon.paths import HEURISTICS
from trajanon.progress import Progress, silent
from trajanon.refine import REFINEMENTS

KICKS_PER_RECORD = {"fast": 1, "balanced": 10, "best": 100}
"""The budget of each effort, in moves, never in seconds: a seed repeats a result."""


def microaggregate(
    X: ArrayLike,
    k: int,
    *,
    method: str = "hm2",
    heuristic: str = "or-opt",
    refine: str = "descent",
    effort: str = "balanced",
    subjects: ArrayLike | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Partition:
    """Partition records into groups of at least k with little information loss.

    Parameters
    ----------
    X
        Records, shape (n, p), finite, in any units: columns are standardised inside,
        and a constant column counts nothing.
    k
        Least number of records in a group, at least 2; with ``subjects``, least
        number of different subjects.
    method
        ``hm2`` (a short path, cut optimally) or ``mdav``.
    heuristic
        How the path of ``hm2`` is found: ``or-opt``.
    refine
        ``descent`` moves single records to a local optimum; ``none`` leaves the
        method's groups as they are.
    effort
        ``fast``, ``balanced`` or ``best``: how many moves the path heuristic may try.
    subjects
        Whose record each one is, shape (n,), any values; None if each record is its
        own subject.
    seed
        Repeats a result bit for bit.
    progress
        Told how far the work is.

    Returns
    -------
    Partition
        Every group has at least k records of at least k different subjects.

    Raises
    ------
    BadInput
        If X is not a table of finite numbers, or an option is not known.
    TooFewRecords
        If there are fewer than k records.
    TooFewSubjects
        If there are fewer than k different subjects.

    Examples
    --------
    >>> partition = microaggregate([[0.0], [1.0], [10.0], [11.0]], k=2)
    >>> partition.labels.tolist(), partition.centroids.tolist()
    ([0, 0, 1, 1], [[0.5], [10.5]])
    """
    raw = loss.as_records(X)
    _check_options(method=method, heuristic=heuristic, refine=refine, effort=effort)
    _check_seed(seed)
    numbers = _number_subjects(subjects, len(raw))
    _check_enough(len(raw), numbers, k, counted=subjects is not None)
    records = loss.standardise(raw)
    sst = float((records**2).sum())
    stages: list[Stage] = []

    def arrived(name: str, labels: NDArray[np.int64], since: float) -> None:
        il = loss.information_loss(loss.sse(records, labels), sst)
        stages.append(Stage(name, il, perf_counter() - since))

    start = perf_counter()
    task = Task(
        records=records,
        k=k,
        subjects=numbers,
        heuristic=heuristic,
        kicks_per_record=KICKS_PER_RECORD[effort],
        random=np.random.default_rng(seed),
        progress=progress,
    )
    grouping = METHODS[method](task)
    labels = dense(grouping.labels)
    arrived(method, labels, start)
    if refine != "none":
        start = perf_counter()
        labels = dense(REFINEMENTS[refine](records, labels, k, numbers, progress))
        arrived(refine, labels, start)
    if broken_promises(labels, numbers, k):
        msg = f"{method} with {refine} left a group of fewer than {k}; please report it"
        raise TrajanonError(msg)
    return Partition(
        labels=labels,
        centroids=loss.group_means(raw, labels),
        sse=loss.sse(records, labels),
        sst=sst,
        path_length=grouping.path_length,
        stages=tuple(stages),
    )


def _check_options(*, method: str, heuristic: str, refine: str, effort: str) -> None:
    for name, value, known in (
        ("method", method, METHODS),
        ("heuristic", heuristic, HEURISTICS),
        ("refine", refine, ["none", *REFINEMENTS]),
        ("effort", effort, KICKS_PER_RECORD),
    ):
        if value not in known:
            msg = f"{name} {value!r} is not known; choose from {', '.join(known)}"
            raise BadInput(msg)


def _check_seed(seed: int) -> None:
    if not isinstance(seed, int | np.integer) or seed < 0:
        msg = f"the seed must be a whole number from 0 (got {seed!r})"
        raise BadInput(msg)


def _number_subjects(subjects: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """Number subjects from 0; without subjects each record is its own."""
    if subjects is None:
        return np.arange(n, dtype=np.int64)
    values = np.asarray(subjects, dtype=object)
    if values.shape != (n,):
        msg = (
            f"subjects must have shape ({n},), one for each record; got {values.shape}"
        )
        raise BadInput(msg)
    return number_subjects(values)


def _check_enough(n: int, numbers: NDArray[np.int64], k: int, *, counted: bool) -> None:
    check_k(k)
    if n < k:
        msg = f"{n} records cannot form a group of k = {k}; lower k or add records"
        raise TooFewRecords(msg)
    different = int(numbers.max()) + 1
    if counted and different < k:
        msg = (
            f"the {n} records come from {different} "
            f"{'subject' if different == 1 else 'subjects'}, and k = {k} needs "
            f"{k} different ones in each group; lower k or add subjects"
        )
        raise TooFewSubjects(msg)
