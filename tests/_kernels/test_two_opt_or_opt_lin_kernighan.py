"""Moves of 2-opt, or-opt and Lin and Kernighan, kicks, and what is taken back."""

from collections.abc import Callable

import naive
import numpy as np
import pytest
from drawn_paths import first_tour, kinds, length
from hypothesis import given
from hypothesis import strategies as st

from trajanon._kernels.two_opt_or_opt_lin_kernighan import (
    CHAINS,
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
from trajanon.common.arrays import Floats, Ints

seeds = st.integers(0, 10**6)
sizes = st.integers(5, 30)


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


# Published numbers


RULES: dict[str, Callable[[Tour], float]] = {
    "two-opt": lambda tour: float(improve(tour, False)),
    "or-opt": lambda tour: float(improve(tour, True)),
    "chains": lambda tour: float(improve(tour, CHAINS)),
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
