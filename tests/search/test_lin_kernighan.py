"""2-opt moves alone, and chains of them; test_paths.py tests them with or-opt."""

from collections.abc import Callable

import naive
import numpy as np
import pytest
from drawn_paths import first_tour, kinds, length, losses, of_published, path_by, records_of
from hypothesis import given
from hypothesis import strategies as st
from problems import problem

from trajanon._kernels.tour_moves import (
    Tour,
    after,
    between,
    chain,
    enqueue,
    improve,
    improve_by_chains,
    reverse_stretch,
    take_back,
)
from trajanon.neighbours import exact_neighbours
from trajanon.search.distance_methods import mdav
from trajanon.search.local_search import NEIGHBOURS
from trajanon.search.paths import path_length, path_through

Rule = Callable[[Tour], float]


def two_opt(tour: Tour) -> float:
    """The gain of 2-opt moves alone."""
    return float(improve(tour, False))


seeds = st.integers(0, 10**6)
sizes = st.integers(5, 30)
rules = st.sampled_from([two_opt, improve_by_chains])


@given(kind=kinds, seed=seeds, n=sizes, rule=rules)
def test_the_gain_of_all_moves_is_what_the_tour_gets_shorter(
    kind: str, seed: int, n: int, rule: Rule
) -> None:
    tour = shuffled_tour(kind, seed, n)
    before = length(tour)
    gained = rule(tour)
    assert gained >= 0.0
    assert length(tour) == pytest.approx(before - gained, abs=1e-8)


@pytest.mark.parametrize("heuristic", ["two-opt", "mdav-lk"])
@given(kind=kinds, seed=seeds, n=sizes)
def test_no_exchange_shortens_the_path_that_is_given_back(
    heuristic: str, kind: str, seed: int, n: int
) -> None:
    records = records_of(kind, seed, n)
    order = [n, *path_by(heuristic, records, None, seed).tolist()]
    reached = naive.tour_length(records, order)
    for other in naive.tours_two_links_away(records, order, exact_neighbours(records, NEIGHBOURS)):
        assert naive.tour_length(records, other) >= reached - 1e-8


def shuffled_tour(kind: str, seed: int, n: int) -> Tour:
    """A tour with much to gain."""
    tour = first_tour(kind, seed, n)
    tour.order[:] = np.random.default_rng(seed).permutation(n + 1)
    tour.position[tour.order] = np.arange(n + 1)
    return tour


@given(kind=kinds, seed=seeds, n=sizes, rule=rules)
def test_no_exchange_is_overlooked_where_every_city_is_looked_at(
    kind: str, seed: int, n: int, rule: Rule
) -> None:
    tour = shuffled_tour(kind, seed, n)
    while rule(tour) > 0.0:
        for city in tour.order:
            enqueue(tour, city)
    reached = length(tour)
    for other in naive.tours_two_links_away(tour.records, tour.order.tolist(), tour.neighbours):
        assert naive.tour_length(tour.records, other) >= reached - 1e-8


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
            assert tour.queued[a]
            assert tour.queued[b]
            assert tour.queued[c]


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


def test_a_chain_goes_through_a_loss() -> None:
    """What Lin-Kernighan finds and 2-opt, from the same tour, does not."""
    shorter = 0
    for seed in range(30):
        lengths = []
        for rule in (two_opt, improve_by_chains):
            tour = shuffled_tour("normal", seed, 30)
            rule(tour)
            lengths.append(length(tour))
        shorter += lengths[1] < lengths[0] - 1e-8
    assert shorter > 15


def test_the_links_of_the_dummy_are_free() -> None:
    tour = first_tour("normal", 0, 9)
    assert between(tour, 9, 3) == between(tour, 3, 9) == 0.0
    assert between(tour, 2, 3) > 0.0


# Paths


@given(kind=kinds, seed=seeds, n=st.integers(5, 60), k=st.integers(2, 5))
def test_lin_kernighan_never_lengthens_the_path_through_the_groups(
    kind: str, seed: int, n: int, k: int
) -> None:
    records = records_of(kind, seed, n)
    through = path_through(records, mdav(problem(records, k)))
    path = path_by("mdav-lk", records, None, k=k)
    assert path_length(records, path) <= path_length(records, through) + 1e-8


@pytest.mark.parametrize("dataset", ["Census", "Tarragona"])
def test_mdav_lk_loses_little_more_than_published(dataset: str) -> None:
    """And much less on Tarragona, by a path that begins in another group."""
    parts = of_published(losses(dataset, "mdav-lk", [0]), dataset, "MDAV-LK-MHM")
    assert parts.mean() <= 1.03
