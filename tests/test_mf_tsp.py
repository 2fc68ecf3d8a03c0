from dataclasses import replace
from typing import Any

import naive_paths
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem
from real_data import published, reference, toy
from scipy.sparse import csr_array

from trajanon.arrays import Floats, Ints
from trajanon.methods.mf_tsp import group_by_counts, group_by_paths, mf_tsp, paths_from_every_record
from trajanon.microaggregation import microaggregate
from trajanon.partition import dense
from trajanon.problem import Problem

seeds = st.integers(0, 10**6)
heuristics = st.sampled_from(["nearest-neighbor", "npn", "arbitrary-insertion"])


def paths_through(records: Floats, k: int, heuristic: str) -> list[Ints]:
    return list(paths_from_every_record(problem(records, k, heuristic=heuristic)))


# The example of the papers


@pytest.mark.parametrize("heuristic", ["nearest-neighbor", "npn"])
def test_nearest_neighbours_give_the_printed_groups_of_the_companies(heuristic: str) -> None:
    X, labels = toy("companies")
    partition = microaggregate(X, 3, method="mf-tsp", heuristic=heuristic, refine="none")
    assert partition.labels.tolist() == labels.tolist()
    assert partition.information_loss == pytest.approx(34.0218, abs=1e-4)


@pytest.mark.parametrize("heuristic", ["or-opt", "cheapest-insertion"])
def test_short_paths_give_the_printed_groups_of_the_hospital(heuristic: str) -> None:
    """Printed are those of Concorde, the shortest paths."""
    X, labels = toy("hospital")
    partition = microaggregate(X, 3, method="mf-tsp", heuristic=heuristic, refine="none")
    assert partition.labels.tolist() == labels.tolist()


def test_a_fast_heuristic_comes_near_the_best_published_loss() -> None:
    k = 3
    best = min(
        published("mftsp", "Tarragona", f"MF-TSP({name})", k, "il")
        for name in (
            "2-Opt",
            "Concorde",
            "Nearest Insert",
            "Farthest Insert",
            "Cheapest Insert",
            "Arbitrary Insert",
            "Nearest Neighbour",
            "Repetitive NN",
        )
    )
    partition = microaggregate(
        reference("tarragona"), k, method="mf-tsp", heuristic="arbitrary-insertion", refine="none"
    )
    assert partition.information_loss <= 1.05 * best


# Slow twins


@given(seed=seeds, n=st.integers(1, 12))
def test_a_path_leads_from_every_record(seed: int, n: int) -> None:
    told: list[tuple[float, float | None]] = []
    asked = replace(
        problem(np.random.default_rng(seed).normal(size=(n, 2)), 2, heuristic="two-opt"),
        progress=lambda task, done, total, note="": told.append((done, total)),
    )
    paths = [path.tolist() for path in paths_from_every_record(asked)]
    assert [path[0] for path in paths] == list(range(n))
    assert all(sorted(path) == list(range(n)) for path in paths)
    assert told == [(done, n) for done in range(n + 1)]


@given(seed=seeds, n=st.integers(2, 40), k=st.integers(2, 6), heuristic=heuristics)
def test_mf_tsp_groups_as_its_slow_twin(seed: int, n: int, k: int, heuristic: str) -> None:
    k = min(k, n)
    records = np.random.default_rng(seed).normal(size=(n, 2))
    paths = paths_through(records, k, heuristic)
    labels = mf_tsp(problem(records, k, heuristic=heuristic))
    assert np.array_equal(labels, group_by_paths(problem(records, k), paths))
    groups = [set(np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
    counts = naive_paths.neighbour_counts(paths, k)
    assert groups == naive_paths.mf_tsp(records, counts, k)


@given(seed=seeds, n=st.integers(2, 25), k=st.integers(2, 6), share=st.floats(0.0, 1.0))
def test_any_counts_are_grouped_as_by_the_slow_twin(
    seed: int, n: int, k: int, share: float
) -> None:
    """Also such as leave many records unconnected, which no paths do."""
    rng = np.random.default_rng(seed)
    k = min(k, n)
    asked = problem(rng.normal(size=(n, 2)), k)
    counts = np.triu(rng.integers(1, 5, (n, n)) * (rng.random((n, n)) < share), 1)
    counts = counts + counts.T
    groups = placed(asked, counts)
    assert groups == naive_paths.mf_tsp(asked.records, counts, k)
    assert k <= min(map(len, groups))
    assert max(map(len, groups)) <= 2 * k - 1


def placed(asked: Problem, counts: Any) -> list[set[int]]:
    labels = group_by_counts(asked, csr_array(counts))
    return [set(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)]


@given(
    seed=seeds,
    n=st.integers(2, 25),
    k=st.integers(2, 6),
    share=st.floats(0.0, 1.0),
    people=st.integers(1, 12),
)
def test_any_counts_give_groups_of_k_subjects(
    seed: int, n: int, k: int, share: float, people: int
) -> None:
    rng = np.random.default_rng(seed)
    subjects = dense(rng.integers(0, people + 1, n))
    k = min(k, int(subjects.max()) + 1)
    if k < 2:
        return
    asked = problem(rng.normal(size=(n, 2)), k, subjects=subjects)
    counts = np.triu(rng.integers(1, 5, (n, n)) * (rng.random((n, n)) < share), 1)
    groups = placed(asked, counts + counts.T)
    assert sorted(i for group in groups for i in group) == list(range(n))
    for group in groups:
        assert len(set(subjects[sorted(group)].tolist())) >= k


def counts_of(n: int, pairs: dict[tuple[int, int], int]) -> Ints:
    counts = np.zeros((n, n), dtype=np.int64)
    for (a, b), often in pairs.items():
        counts[a, b] = counts[b, a] = often
    return counts


def test_the_last_records_join_the_nearest_groups_with_room() -> None:
    numbers = np.array([0.0, 1.0, 2.0, 3.0, 50.0, 51.0])[:, None]
    counts = counts_of(6, {(0, 1): 9, (4, 5): 8})
    assert placed(problem(numbers, 2), counts) == [{0, 1, 2}, {3, 4, 5}]


def test_records_without_room_are_grouped_by_mdav() -> None:
    numbers = np.array([0.0, 1.0, 2.0, 3.0, 50.0, 51.0, 52.0])[:, None]
    counts = counts_of(7, {(0, 1): 9, (4, 5): 8})
    assert placed(problem(numbers, 2), counts) == [{0, 1}, {4, 5}, {2, 3, 6}]


def test_the_record_met_most_often_with_one_of_the_pair_joins() -> None:
    """The third one's own neighbours do not count."""
    counts = counts_of(6, {(0, 1): 9, (1, 2): 5, (0, 3): 4, (2, 4): 8, (3, 5): 3, (4, 5): 1})
    numbers = np.arange(6.0)[:, None]
    assert placed(problem(numbers, 3), counts) == [{0, 1, 2}, {3, 4, 5}]
    assert placed(problem(numbers, 4), counts)[0] >= {0, 1, 2, 3}
