import re
from typing import Any

import naive
import naive_paths
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem
from real_data import THESIS, published, reference, text_of, toy
from scipy.sparse import csr_array

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.search_and_release_options import HeuristicName
from trajanon.grouping.methods.mf_tsp import (
    group_by_counts,
    group_by_paths,
    mf_tsp,
    paths_from_every_record,
)
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.problem import Problem

seeds = st.integers(0, 10**6)
heuristics = st.sampled_from(["nearest-neighbor", "npn", "arbitrary-insertion"])


def paths_through(records: Floats, k: int, heuristic: HeuristicName) -> list[Ints]:
    return list(paths_from_every_record(problem(records, k, heuristic=heuristic)))


# The example of the papers


def printed_matrices() -> tuple[Ints, Ints]:
    """Of the hospital: the paths (3.1) of the thesis, and its matrix (3.2) of neighbours."""
    printed = re.findall(r"begin{pmatrix}(.+?)\\end{pmatrix}", text_of(THESIS), re.DOTALL)
    rows = [[re.findall(r"\d+", row) for row in text.split(r"\\")] for text in printed]
    paths, counts = (np.array(one, dtype=np.int64) for one in rows if len(one) == 9)
    return paths - 1, counts


def test_next_neighbours_give_the_printed_matrix_and_groups_of_the_hospital() -> None:
    X, labels = toy("hospital")
    paths, counts = printed_matrices()
    assert np.array_equal(naive_paths.next_counts(list(paths)), counts)
    asked = problem(naive.standardise(X), 3, method="mf-tsp", path_neighbours="next")
    assert renumbered(group_by_paths(asked, list(paths))).tolist() == labels.tolist()


@pytest.mark.parametrize("heuristic", ["nearest-neighbor", "npn"])
def test_nearest_neighbours_give_the_optimum_of_the_companies(heuristic: HeuristicName) -> None:
    """It is in Table II of the paper; its own groups, in Table VII, lose more."""
    X, labels = toy("companies")
    partition = microaggregate(X, 3, method="mf-tsp", heuristic=heuristic, refine="none")
    assert partition.labels.tolist() == labels.tolist()
    assert partition.information_loss == pytest.approx(34.0218, abs=1e-4)


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


@given(
    seed=seeds,
    n=st.integers(2, 40),
    k=st.integers(2, 6),
    heuristic=heuristics,
    rule=st.sampled_from(["near", "next"]),
)
def test_mf_tsp_groups_as_its_slow_twin(
    seed: int, n: int, k: int, heuristic: HeuristicName, rule: str
) -> None:
    k = min(k, n)
    records = np.random.default_rng(seed).normal(size=(n, 2))
    paths = paths_through(records, k, heuristic)
    how: dict[str, Any] = {"method": "mf-tsp", "path_neighbours": rule}
    labels = mf_tsp(problem(records, k, heuristic=heuristic, **how))
    assert np.array_equal(labels, group_by_paths(problem(records, k, **how), paths))
    groups = [set(np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
    near = rule == "near"
    counts = naive_paths.neighbour_counts(paths, k) if near else naive_paths.next_counts(paths)
    assert groups == naive_paths.mf_tsp(records, counts, k)


@given(
    seed=seeds,
    n=st.integers(2, 25),
    k=st.integers(2, 6),
    share=st.floats(0.0, 1.0),
    directed=st.booleans(),
)
def test_any_counts_are_grouped_as_by_the_slow_twin(
    seed: int, n: int, k: int, share: float, directed: bool
) -> None:
    """Also such as leave many records unconnected, which no paths do."""
    rng = np.random.default_rng(seed)
    k = min(k, n)
    asked = problem(rng.normal(size=(n, 2)), k)
    counts = rng.integers(1, 5, (n, n)) * (rng.random((n, n)) < share)
    if directed:
        np.fill_diagonal(counts, 0)
    else:
        counts = np.triu(counts, 1)
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
    subjects = renumbered(rng.integers(0, people + 1, n))
    k = min(k, int(subjects.max()) + 1)
    if k < 2:
        return
    asked = problem(rng.normal(size=(n, 2)), k, subjects=subjects)
    counts = np.triu(rng.integers(1, 5, (n, n)) * (rng.random((n, n)) < share), 1)
    groups = placed(asked, counts + counts.T)
    assert sorted(i for group in groups for i in group) == list(range(n))
    for group in groups:
        assert len(set(subjects[sorted(group)].tolist())) >= k
