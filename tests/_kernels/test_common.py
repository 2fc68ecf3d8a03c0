"""What kernels share: random numbers that a seed repeats, and short lists that rise."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon._kernels.common import (
    draw_below,
    draw_bits,
    insert_rising,
    keep_nearest,
    scalar_product,
    squared_distance,
)

numbers = st.lists(st.integers(-50, 50), min_size=1, max_size=8)


@given(pairs=st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), max_size=8))
def test_distances_and_products_are_those_of_numpy(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).reshape(-1, 2).T.copy()
    assert squared_distance(a, b) == ((a - b) ** 2).sum()
    assert scalar_product(a, b) == (a * b).sum()


def test_single_precision_stays_single() -> None:
    """In double 4097 ** 2 + 1 ** 2 would be 16,785,410; single has every other number there."""
    a = np.array([4097.0, 1.0], np.float32)
    assert squared_distance(a, np.zeros_like(a)) == 16_785_408


@given(seed=st.integers(1, 2**63 - 1))
def test_random_bits_are_those_of_xorshift(seed: int) -> None:
    """By whole numbers of Python, that know no end."""
    random, mask = np.array([seed], dtype=np.uint64), 2**64 - 1
    state = seed
    for _ in range(3):
        state ^= state >> 12
        state ^= (state << 25) & mask
        state ^= state >> 27
        assert int(draw_bits(random)) == state * 2685821657736338717 & mask
        assert int(random[0]) == state


def test_numbers_below_a_limit_are_all_drawn_about_as_often() -> None:
    random = np.array([7], dtype=np.uint64)
    drawn = np.bincount([draw_below(random, 6) for _ in range(6_000)])
    assert len(drawn) == 6
    assert drawn.min() > 850
    assert drawn.max() < 1_150


@given(values=numbers)
def test_inserted_values_rise_with_their_items_and_equal_ones_keep_their_order(
    values: list[int],
) -> None:
    rising, items = np.zeros(len(values)), np.zeros(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        insert_rising(rising, items, place, value, place)
    order = sorted(range(len(values)), key=lambda place: values[place])
    assert items.tolist() == order
    assert rising.tolist() == sorted(values)


@given(offers=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=30))
def test_of_offered_items_the_nearest_are_kept_each_once(offers: list[tuple[int, int]]) -> None:
    count = 3
    nearest, distances = np.full(count, -1), np.full(count, np.inf)
    least: dict[int, int] = {}
    for item, distance in offers:
        keep_nearest(nearest, distances, item, distance)
        least[item] = min(distance, least.get(item, distance))
    kept = nearest[nearest >= 0].tolist()
    assert len(kept) == len(set(kept)) == min(count, len(least))
    assert distances[: len(kept)].tolist() == sorted(least.values())[:count]
    assert [least[item] for item in kept] == distances[: len(kept)].tolist()
    assert np.isinf(distances[len(kept) :]).all()


def test_the_distance_is_the_naive_one() -> None:
    rng = np.random.default_rng(0)
    for p in (1, 2, 3, 7, 60):
        a, b = rng.normal(size=(2, p))
        assert squared_distance(a, b) == pytest.approx(naive.squared_distance(a, b))
