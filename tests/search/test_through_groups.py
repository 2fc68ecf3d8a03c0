import naive
import naive_paths
import numpy as np
import pytest
from drawn_paths import kinds, path_by, records_of
from hypothesis import given
from hypothesis import strategies as st
from problems import problem

from trajanon import loss
from trajanon._kernels.mhm import latest_starts, optimal_cut
from trajanon.arrays import Floats, Ints
from trajanon.partition import dense
from trajanon.search.distance_methods import cbfs, md, mdav
from trajanon.search.paths import path_through

seeds = st.integers(0, 10**6)


def runs(labels: Ints) -> int:
    return 1 + int((np.diff(labels) != 0).sum())


@given(kind=kinds, seed=seeds, n=st.integers(1, 30), groups=st.integers(1, 8))
def test_the_members_of_a_group_stand_together(kind: str, seed: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    records, labels = records_of(kind, seed, n), dense(rng.integers(0, groups, n))
    path = path_through(records, labels)
    assert sorted(path.tolist()) == list(range(n))
    assert runs(labels[path]) == labels.max() + 1


@given(seed=seeds, n=st.integers(1, 30), groups=st.integers(1, 8))
def test_a_chain_leads_on_to_the_nearest_centroid_and_record(
    seed: int, n: int, groups: int
) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 2)), dense(rng.integers(0, groups, n))
    centroids = np.array([records[labels == g].mean(axis=0) for g in range(labels.max() + 1)])
    outermost = 0  # of two, which are equally far from their middle
    if len(centroids) != 2:
        middle = centroids.mean(axis=0)
        outermost = naive.farthest(centroids, range(len(centroids)), middle)
    expected: list[int] = []
    for group in naive_paths.walk(centroids, outermost):
        others = np.flatnonzero(labels != group).tolist()
        members = np.flatnonzero(labels == group).tolist()
        if expected:
            last = records[expected[-1]]
            first = min(members, key=lambda i: naive.distance(records[i], last))
        else:
            first = naive.farthest(records, members, records.mean(axis=0))
        expected += naive_paths.walk(records, first, others)
    assert path_through(records, labels).tolist() == expected


@pytest.mark.parametrize("heuristic", ["mdav", "md", "cbfs"])
@given(kind=kinds, seed=seeds, n=st.integers(2, 40), k=st.integers(2, 5))
def test_the_cut_loses_no_more_than_the_groups(
    heuristic: str, kind: str, seed: int, n: int, k: int
) -> None:
    k = min(k, n)
    records = records_of(kind, seed, n)
    grouping = {"mdav": mdav, "md": md, "cbfs": cbfs}[heuristic]
    labels = grouping(problem(records, k))
    path = path_by(heuristic, records, None, k=k)
    assert path.tolist() == path_through(records, labels).tolist()
    starts = optimal_cut(records, path, latest_starts(path, k))
    cut = loss.sse(records[path], np.cumsum(starts) - 1)
    assert cut <= naive.sse(records, labels) + 1e-9


@given(seed=seeds, n=st.integers(1, 30))
def test_nearest_point_next_begins_at_the_farthest_record(seed: int, n: int) -> None:
    records: Floats = np.random.default_rng(seed).normal(size=(n, 2))
    path = path_by("npn", records, None).tolist()
    outermost = naive.farthest(records, range(n), records.mean(axis=0))
    assert path == naive_paths.walk(records, outermost)
    start = seed % n
    path = path_by("npn", records, start).tolist()
    assert path == naive_paths.walk(records, start)
