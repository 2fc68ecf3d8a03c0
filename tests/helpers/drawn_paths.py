"""Records of several kinds, and paths and tours through them."""

from collections.abc import Iterable

import naive
import numpy as np
from hypothesis import strategies as st
from problems import problem
from real_data import published, reference

from trajanon._kernels.two_opt_or_opt_lin_kernighan import Tour
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.loss import sse
from trajanon.grouping.methods.hm2_and_compression import HEURISTICS
from trajanon.grouping.paths.optimal_cut import cut_path
from trajanon.grouping.paths.travelling_salesman import greedy_path, near_lists, tour_through
from trajanon.grouping.standardised_records import standardise

kinds = st.sampled_from(["normal", "grid", "line", "clusters", "equal"])


def records_of(kind: str, seed: int, n: int) -> Floats:
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 4, (n, 2)).astype(float)
    if kind == "line":
        return rng.normal(size=(n, 1))
    if kind == "clusters":
        return rng.normal(size=(n, 3)) * 0.01 + rng.integers(0, 3, (n, 1))
    if kind == "equal":
        return np.full((n, 2), 0.7)
    if kind == "far":
        return rng.normal(size=(n, 2)) + 1e7
    if kind == "heavy":
        return rng.normal(size=(n, 2)) ** 5
    return rng.normal(size=(n, 2))


def first_tour(kind: str, seed: int, n: int) -> Tour:
    records = records_of(kind, seed, n)
    near = near_lists(records)
    return tour_through(records, greedy_path(records, near), near, np.random.default_rng(seed))


def length(tour: Tour) -> float:
    order = tour.order.tolist()
    assert sorted(order) == list(range(len(order)))
    assert tour.position[tour.order].tolist() == list(range(len(order)))
    return naive.tour_length(tour.records, order)


def path_by(
    heuristic: str,
    records: Floats,
    start: int | None,
    seed: int = 0,
    k: int = 3,
    subjects: Ints | None = None,
) -> Ints:
    return HEURISTICS[heuristic](problem(records, k, subjects, seed=seed), start)


def losses(dataset: str, heuristic: str, seeds: Iterable[int]) -> Floats:
    """IL of hm2 averaged over seeds, k = 3..6: its path does not depend on k."""
    records = standardise(reference(dataset.lower()))
    found = []
    for seed in seeds:
        path = HEURISTICS[heuristic](problem(records, seed=seed, kicks=10), None)
        cuts = [cut_path(problem(records, k), path) for k in range(3, 7)]
        found.append([sse(records, labels) for labels in cuts])
    average: Floats = 100.0 * np.mean(found, axis=0) / (records**2).sum()
    return average


def of_published(ours: Floats, dataset: str, method: str) -> Floats:
    """Our losses as parts of those published, k = 3..6."""
    theirs = [published("hm2micro", dataset, method, k, "avg") for k in range(3, 7)]
    parts: Floats = ours / theirs
    return parts
