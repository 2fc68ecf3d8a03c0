"""Paths along nearest records, through groups, and by exchanges of links."""

import naive
import naive_paths
import numpy as np
import pytest
from drawn_paths import kinds, losses, of_published, path_by, records_of
from hypothesis import given
from hypothesis import strategies as st
from naive_paths import assert_is_path, least_length
from problems import problem

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping import loss
from trajanon.grouping.methods.mdav_and_v_mdav import cbfs, md, mdav
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.paths import travelling_salesman
from trajanon.grouping.paths.optimal_cut import cut_path
from trajanon.grouping.paths.travelling_salesman import (
    NEIGHBOURS,
    from_any_start,
    joined_paths,
    path_length,
    path_through,
    shortest_of_few,
    walk_to_nearest,
)
from trajanon.grouping.problem import Problem

seeds = st.integers(0, 10**6)
sizes = st.integers(5, 30)


@given(kind=kinds, seed=seeds, n=st.integers(1, 25), share=st.floats(0.0, 0.9))
def test_a_walk_is_its_slow_twin(kind: str, seed: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    records, met = records_of(kind, seed, n), rng.random(n) < share
    start = int(rng.integers(n))
    met[start] = False
    order = walk_to_nearest(records, start, np.flatnonzero(~met))
    assert order.tolist() == naive_paths.walk(records, start, np.flatnonzero(met).tolist())


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


def test_blocks_are_joined_at_their_nearer_ends() -> None:
    points = np.array([[0.0], [1.0], [5.0], [2.0], [6.0], [9.0]])
    paths = [np.array(path) for path in ([0, 1], [2, 3], [4, 5])]
    assert joined_paths(points, paths).tolist() == [0, 1, 3, 2, 4, 5]


@given(seed=seeds, n=st.integers(2, 12))
def test_the_start_stands_before_the_nearer_end(seed: int, n: int) -> None:
    records = records_of("normal", seed, n)
    start = int(np.random.default_rng(seed).integers(n))
    others = np.delete(np.arange(n), start)

    @from_any_start
    def in_order(free: Problem) -> Ints:
        assert np.array_equal(free.records, records[others])
        assert free.subjects.tolist() == others.tolist()
        return np.arange(n - 1)

    path = in_order(problem(records), start).tolist()
    assert path[1:] in (others.tolist(), others.tolist()[::-1])
    near, far = (naive.distance(records[i], records[start]) for i in (path[1], path[-1]))
    assert near <= far


def test_our_path_comes_near_the_losses_of_the_shortest_one() -> None:
    parts = np.array(
        [
            of_published(losses(name, "or-opt", range(3)), name, "Concorde-MHM")
            for name in ("Census", "Tarragona")
        ]
    )
    assert parts.mean() == pytest.approx(1.0, abs=0.02)
    assert parts.max() <= 1.04


@pytest.mark.parametrize("heuristic", ["two-opt", "mdav-lk"])
@given(kind=kinds, seed=seeds, n=sizes)
def test_no_exchange_shortens_the_path(heuristic: str, kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    order = [n, *path_by(heuristic, records, None, seed).tolist()]
    reached = naive.tour_length(records, order)
    for other in naive.tours_two_links_away(records, order, exact_neighbours(records, NEIGHBOURS)):
        assert naive.tour_length(records, other) >= reached - 1e-8


@given(kind=kinds, seed=seeds, n=st.integers(5, 60), k=st.integers(2, 5))
def test_lin_kernighan_never_lengthens_the_path_through_the_groups(
    kind: str, seed: int, n: int, k: int
) -> None:
    records = records_of(kind, seed, n)
    through = path_by("mdav", records, None, seed, k)
    path = path_by("mdav-lk", records, None, seed, k)
    assert path_length(records, path) <= path_length(records, through) + 1e-8


def test_seeds_of_mdav_lk_are_different_runs() -> None:
    """The published ones have a spread, too; a seed repeats its own."""
    records = records_of("normal", 0, 200)
    paths = {tuple(path_by("mdav-lk", records, None, seed).tolist()) for seed in (0, 0, 1, 2)}
    assert len(paths) == 3


@pytest.mark.parametrize("dataset", ["Census", "Tarragona"])
def test_mdav_lk_loses_little_more_than_published(dataset: str) -> None:
    """And much less on Tarragona, by a path that begins in another group."""
    parts = of_published(losses(dataset, "mdav-lk", range(3)), dataset, "MDAV-LK-MHM")
    assert parts.mean() <= 1.03


@pytest.mark.parametrize("n", [1, 4, 8])
@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_a_handful_of_records_get_their_shortest_path(n: int, kind: str) -> None:
    records = records_of(kind, n, n)
    path = shortest_of_few(records)
    assert_is_path(path, n, None)
    assert path_length(records, path) == pytest.approx(least_length(records), abs=1e-8)


@given(seed=seeds, n=st.integers(1, 80))
def test_a_length_summed_in_parts_is_that_of_the_whole(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    records, path = rng.normal(size=(n, 3)), rng.permutation(n)
    whole = path_length(records, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(travelling_salesman, "_STEPS_PER_SUM", 7)
        assert path_length(records, path) == pytest.approx(whole)
