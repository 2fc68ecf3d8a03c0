"""Whether released rows stand in the order of the originals."""

from itertools import permutations

import numpy as np
import pytest

from trajanon.arrays import Ints
from trajanon.privacy.order import find_source_order, log_chance_of_nearness


def groups(n: int, k: int) -> Ints:
    """Groups of k or a few more, scattered over the source."""
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    scattered: Ints = np.random.default_rng(0).permutation(labels)
    return scattered


def naive_share(rows: Ints, source: Ints, distance: int) -> float:
    """Sum over rows of the share of their group's members that stand near."""
    return sum(
        float(np.mean(np.abs(np.flatnonzero(source == row) - place) <= distance))
        for place, row in enumerate(rows)
    )


@pytest.mark.parametrize("source", [[0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 2, 2], [0] * 6])
@pytest.mark.parametrize("distance", [0, 1, 3])
def test_no_order_is_likelier_than_the_bound(source: list[int], distance: int) -> None:
    """All orders are tried."""
    of = np.array(source)
    orders = [of[list(order)] for order in permutations(range(6))]
    found = np.array([naive_share(order, of, distance) for order in orders])
    bounds = [
        np.exp(log_chance_of_nearness(order, of, np.bincount(of), distance)) for order in orders
    ]
    for share, bound in set(zip(found.round(9).tolist(), bounds, strict=True)):
        assert (found >= share - 1e-8).mean() <= bound + 1e-12


def test_the_bound_is_that_of_the_share_counted_slowly() -> None:
    source, n, distance = groups(60, 4), 60, 2
    rows = source[np.argsort(np.arange(n) + np.random.default_rng(1).uniform(0, 3, n))]
    expected = np.mean([np.abs(np.arange(n) - i) <= distance for i in range(n)]) * n
    more = naive_share(rows, source, distance) - expected
    assert more > 0
    assert log_chance_of_nearness(rows, source, np.bincount(source), distance) == pytest.approx(
        np.log(2) - more**2 / (4 * expected + 2 * more)
    )


@pytest.mark.parametrize(("n", "k"), [(40, 4), (406, 4), (406, 20), (9_000, 4)])
def test_the_order_of_the_source_is_found_and_chance_is_not(n: int, k: int) -> None:
    source = groups(n, k)
    assert len(find_source_order(source, source)) == 1
    assert "backwards" in find_source_order(source[::-1], source)[0]
    for seed in range(200 if n < 1_000 else 5):
        shuffled = np.random.default_rng(seed).permutation(source)
        assert find_source_order(shuffled, source) == []


@pytest.mark.parametrize(("n", "wide"), [(406, 20), (9_000, 1_000)])
def test_a_source_shuffled_in_short_stretches_is_found(n: int, wide: int) -> None:
    source = groups(n, 4)
    order = np.arange(n) + np.random.default_rng(0).uniform(0, wide, n)
    assert find_source_order(source[np.argsort(order)], source)


def test_few_rows_are_not_accused_where_chance_may_have_put_them() -> None:
    """Two groups of four have 70 orders: to be in that of the source is no proof."""
    source = groups(8, 4)
    assert find_source_order(source, source) == []
    assert find_source_order(np.zeros(8, int), np.zeros(8, int)) == []
