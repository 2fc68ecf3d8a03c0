"""Paths along nearest records, and through groups."""

import naive
import naive_paths
import numpy as np
import pytest
from drawn_paths import kinds, path_by, records_of
from hypothesis import given
from hypothesis import strategies as st
from problems import problem

from trajanon._kernels.path_building import Walks, shortest_walk
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping import loss
from trajanon.grouping.methods.mdav_and_v_mdav import cbfs, md, mdav
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.paths.optimal_cut import cut_path
from trajanon.grouping.paths.travelling_salesman import path_length, path_through, walk_to_nearest

seeds = st.integers(0, 10**6)


@given(kind=kinds, seed=seeds, n=st.integers(1, 25), share=st.floats(0.0, 0.9))
def test_a_walk_is_its_slow_twin(kind: str, seed: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    records, met = records_of(kind, seed, n), rng.random(n) < share
    start = int(rng.integers(n))
    met[start] = False
    order = walk_to_nearest(records, start, np.flatnonzero(~met))
    assert order.tolist() == naive_paths.walk(records, start, np.flatnonzero(met).tolist())


def lists(records: Floats, count: int) -> tuple[Ints, Floats]:
    neighbours = exact_neighbours(records, count)
    away = records[:, None, :] - records[neighbours]
    return neighbours, np.sqrt((away**2).sum(axis=2))


@given(seed=seeds, n=st.integers(2, 30), p=st.integers(1, 7), count=st.sampled_from([1, 3, 32]))
def test_the_shortest_walk_is_the_shortest_of_all(seed: int, n: int, p: int, count: int) -> None:
    records = np.random.default_rng(seed).normal(size=(n, p))
    best = np.empty(n, dtype=np.int64)
    waiting = np.empty(n, dtype=np.bool_)
    order = np.empty(n, dtype=np.int64)
    walks = Walks(records, *lists(records, count), waiting, order, best)

    length = np.inf
    middle = n // 2
    for first, last in ((0, middle), (middle, n)):  # a part, and another
        starts = np.arange(first, last)
        length = shortest_walk(walks, starts, np.full(last - first, -1), length)
    expected = min(
        (naive_paths.walk(records, start) for start in range(n)),
        key=lambda path: path_length(records, np.array(path)),
    )
    assert length == pytest.approx(path_length(records, np.array(expected)))
    # Of walks of one length, in one dimension, any may be taken.
    assert sorted(best.tolist()) == list(range(n))
    assert path_length(records, best) == pytest.approx(length)


@given(kind=kinds, seed=seeds, n=st.integers(1, 25))
def test_only_the_last_record_of_a_free_path_may_be_far(kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    path = path_by("nearest-neighbor", records, None, seed).tolist()
    assert sorted(path) == list(range(n))
    whole = path == naive_paths.walk(records, path[0])
    assert whole or path[:-1] == naive_paths.walk(records, path[0], path[-1:])
    start = seed % n
    path = path_by("nearest-neighbor", records, start, seed).tolist()
    assert path == naive_paths.walk(records, start)


@given(seed=seeds, n=st.integers(1, 30), groups=st.integers(1, 8))
def test_a_chain_leads_on_to_the_nearest_centroid_and_record(
    seed: int, n: int, groups: int
) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 2)), renumbered(rng.integers(0, groups, n))
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
    cut = loss.sse(records, cut_path(problem(records, k), path))
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
