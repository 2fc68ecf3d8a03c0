"""Paths built from nearest records, and of the shortest links."""

import naive
import naive_paths
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon._kernels.path_building import Walks, greedy_fragments, join_fragments, shortest_walk
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.paths.travelling_salesman import path_length

seeds = st.integers(0, 10**6)


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


@given(seed=seeds, n=st.integers(2, 25), m=st.integers(0, 80))
def test_greedy_edges_are_the_slow_twins(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (m, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    links, order = np.full((n, 2), -1), np.empty(n, dtype=np.int64)
    greedy_fragments(edges, links, np.arange(n))
    expected = naive.greedy_links(edges, n)
    assert [set(row[row >= 0].tolist()) for row in links] == expected
    records = rng.normal(size=(n, 2))
    ends = np.flatnonzero(links[:, 1] < 0)
    join_fragments(records, links, ends, np.zeros(n, dtype=np.bool_), order)
    assert order.tolist() == naive.join(records, expected)
