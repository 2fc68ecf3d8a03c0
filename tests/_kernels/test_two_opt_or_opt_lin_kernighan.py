"""2-opt and or-opt moves; and what holds of the path of every heuristic."""

from collections.abc import Callable

import naive
import numpy as np
import pytest
from drawn_paths import first_tour, kinds, length, losses, of_published, path_by, records_of
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem

from trajanon._kernels.path_building import greedy_fragments, join_fragments
from trajanon._kernels.two_opt_or_opt_lin_kernighan import (
    Tour,
    after,
    chain,
    enqueue,
    improve,
    kick,
    reverse_stretch,
    shorten,
    take_back,
)
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.methods.hm2_and_compression import HEURISTICS
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.paths.travelling_salesman import (
    NEIGHBOURS,
    from_any_start,
    or_opt,
    path_length,
)
from trajanon.grouping.problem import Problem

seeds = st.integers(0, 10**6)
sizes = st.integers(5, 30)


def path(records: Floats, kicks_per_record: int = 10, seed: int = 0) -> Ints:
    return or_opt(problem(records, seed=seed, kicks=kicks_per_record), None)


@given(kind=kinds, seed=seeds, n=st.integers(1, 25), count=st.integers(1, 12))
def test_neighbours_are_as_near_as_brute_force_finds(
    kind: str, seed: int, n: int, count: int
) -> None:
    records = records_of(kind, seed, n)
    found = exact_neighbours(records, count)
    assert found.shape == (n, min(count, n - 1))
    distances = [[naive.distance(records[i], records[j]) for j in found[i]] for i in range(n)]
    for i in range(n):
        assert i not in found[i]
        assert len(set(found[i].tolist())) == found.shape[1]
    expected = naive.nearest_distances(records, count)
    assert np.allclose(distances, expected, rtol=1e-9, atol=1e-9)


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


@given(kind=kinds, seed=seeds, n=sizes)
def test_the_loss_of_a_kick_is_what_the_tour_gets_longer(kind: str, seed: int, n: int) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, True)
    before = length(tour)
    for _ in range(5):
        lost = kick(tour)
        after = length(tour)
        assert after == pytest.approx(before + lost, abs=1e-8)
        before = after


def test_a_full_journal_keeps_the_tour_whole() -> None:
    """What cannot be taken back stays: a longer tour, but a tour."""
    tour = first_tour("normal", 0, 30)
    tour = tour._replace(journal=np.zeros(9, dtype=np.int64))
    improve(tour, True)
    shorten(tour, True, 200)
    assert length(tour) > 0.0


def assert_no_move_is_left(records: Floats, order: list[int], neighbours: Ints) -> None:
    reached = naive.tour_length(records, order)
    for other in naive.tours_one_move_away(records, order, neighbours):
        assert naive.tour_length(records, other) >= reached - 1e-8


@given(kind=kinds, seed=seeds, n=sizes, kicked=st.sampled_from([0, 100]))
def test_no_move_is_overlooked_where_every_city_is_looked_at(
    kind: str, seed: int, n: int, kicked: int
) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, True)
    shorten(tour, True, kicked)
    gained = 1.0
    while gained > 0.0:
        for city in tour.order:
            enqueue(tour, city)
        gained = improve(tour, True)
    assert_no_move_is_left(tour.records, tour.order.tolist(), tour.neighbours)


# Every heuristic that needs no other program


every_heuristic = pytest.mark.parametrize(
    "heuristic", [name for name in HEURISTICS if name not in ("concorde", "lkh")]
)


@every_heuristic
@given(
    kind=st.sampled_from(["normal", "grid", "equal"]),
    seed=seeds,
    n=st.integers(1, 25),
    k=st.integers(2, 6),
    people=st.integers(2, 8),
    runs=st.booleans(),
)
@settings(max_examples=25)
def test_a_path_begins_at_its_start_though_its_subject_be_needed(
    heuristic: str, kind: str, seed: int, n: int, k: int, people: int, runs: bool
) -> None:
    """Without their start the records may be of k - 1 subjects."""
    rng = np.random.default_rng(seed)
    subjects = renumbered(rng.integers(0, people, n))
    subjects = np.sort(subjects) if runs else subjects
    k = min(k, int(subjects.max()) + 1)
    records = records_of(kind, seed, n)
    for start in [None, *range(n)]:
        path = path_by(heuristic, records, start, seed, k, subjects)
        assert path.dtype == np.int64
        assert sorted(path.tolist()) == list(range(n))
        assert start is None or path[0] == start


@every_heuristic
@pytest.mark.parametrize("start", [None, 5])
def test_a_seed_repeats_the_path_of_every_heuristic(heuristic: str, start: int | None) -> None:
    for kind in ("normal", "grid", "equal"):
        records = records_of(kind, 0, 60)
        paths = [path_by(heuristic, records, start, 1).tolist() for _ in range(2)]
        assert paths[0] == paths[1]


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


# Published numbers


def test_our_path_comes_near_the_losses_of_the_shortest_one() -> None:
    parts = np.array(
        [
            of_published(losses(name, "or-opt", range(3)), name, "Concorde-MHM")
            for name in ("Census", "Tarragona")
        ]
    )
    assert parts.mean() == pytest.approx(1.0, abs=0.02)
    assert parts.max() <= 1.04


RULES: dict[str, Callable[[Tour], float]] = {
    "two-opt": lambda tour: float(improve(tour, False)),
    "or-opt": lambda tour: float(improve(tour, True)),
    "chains": lambda tour: float(improve(tour, None)),
}


@given(kind=kinds, seed=seeds, n=sizes, rule=st.sampled_from(sorted(RULES)))
def test_the_gain_of_all_moves_is_what_the_tour_gets_shorter(
    kind: str, seed: int, n: int, rule: str
) -> None:
    tour = shuffled_tour(kind, seed, n)
    before = length(tour)
    gained = RULES[rule](tour)
    assert gained >= 0.0
    assert length(tour) == pytest.approx(before - gained, abs=1e-8)


@pytest.mark.parametrize("heuristic", ["two-opt", "mdav-lk"])
@given(kind=kinds, seed=seeds, n=sizes)
def test_no_exchange_shortens_the_path(heuristic: str, kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    order = [n, *path_by(heuristic, records, None, seed).tolist()]
    reached = naive.tour_length(records, order)
    for other in naive.tours_two_links_away(records, order, exact_neighbours(records, NEIGHBOURS)):
        assert naive.tour_length(records, other) >= reached - 1e-8


@given(kind=kinds, seed=seeds, n=sizes)
def test_a_chain_gains_what_it_says_and_never_loses(kind: str, seed: int, n: int) -> None:
    tour = shuffled_tour(kind, seed, n)
    tour.queue[-1] = 0
    tour.queued[:] = False
    rng = np.random.default_rng(seed)
    for _ in range(50):
        a, step = int(rng.integers(n + 1)), int(rng.choice([1, -1]))
        b = after(tour, a, step)
        c = int(rng.choice(tour.neighbours[b])) if b < n else a
        if c in (a, after(tour, b, step)):
            continue
        before, order, queued = length(tour), tour.order.copy(), tour.queue[-1]
        gain = chain(tour, a, b, c, step)
        assert gain >= 0.0
        assert length(tour) == pytest.approx(before - gain, abs=1e-8)
        if gain == 0.0:
            assert np.array_equal(tour.order, order)
            assert tour.queue[-1] == queued
        else:
            assert tour.queued[[a, b, c]].all()


def test_a_chain_goes_through_a_loss() -> None:
    """Lin and Kernighan find what 2-opt, from the same tour, does not."""
    shorter = 0
    for seed in range(30):
        lengths = {}
        for rule in ("two-opt", "chains"):
            tour = shuffled_tour("normal", seed, 30)
            RULES[rule](tour)
            lengths[rule] = length(tour)
        shorter += lengths["chains"] < lengths["two-opt"] - 1e-8
    assert shorter > 15


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


def shuffled_tour(kind: str, seed: int, n: int) -> Tour:
    """A tour with much to gain."""
    tour = first_tour(kind, seed, n)
    tour.order[:] = np.random.default_rng(seed).permutation(n + 1)
    tour.position[tour.order] = np.arange(n + 1)
    return tour


@given(seed=seeds, n=sizes, count=st.integers(0, 8), data=st.data())
def test_all_but_the_first_reversals_are_taken_back(
    seed: int, n: int, count: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    tour = shuffled_tour("normal", seed, n)
    tour.journal[-1] = 0
    orders = [tour.order.copy()]
    for _ in range(count):
        first, last = rng.choice(n + 1, 2, replace=False)
        reverse_stretch(tour, first, last, int(rng.choice([1, -1])))
        orders.append(tour.order.copy())
    kept = data.draw(st.integers(0, count))
    take_back(tour, kept)
    assert np.array_equal(tour.order, orders[kept])
    assert tour.journal[-1] == kept
    assert length(tour) > 0.0


# Paths


@pytest.mark.parametrize("dataset", ["Census", "Tarragona"])
def test_mdav_lk_loses_little_more_than_published(dataset: str) -> None:
    """And much less on Tarragona, by a path that begins in another group."""
    parts = of_published(losses(dataset, "mdav-lk", range(3)), dataset, "MDAV-LK-MHM")
    assert parts.mean() <= 1.03
