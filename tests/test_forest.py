"""Trees that halve points, against slow twins."""

import naive_forest
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trajanon._kernels.forest import compare_leaves, grow, halve, select
from trajanon.arrays import Floats

seeds = st.integers(0, 10**6)


def points_of(seed: int, n: int, kind: str) -> Floats:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    if kind == "grid":
        return points.round()
    return np.zeros((n, 3)) if kind == "equal" else points


def state(seed: int) -> NDArray[np.uint64]:
    return np.array([seed + 1], dtype=np.uint64)


kinds = st.sampled_from(["any", "grid", "equal"])


@given(seed=seeds, n=st.integers(1, 60), ties=st.booleans(), data=st.data())
def test_the_value_in_the_middle_is_where_sorting_puts_it(
    seed: int, n: int, ties: bool, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start + 1, n))
    middle = data.draw(st.integers(start, stop - 1))
    values = np.random.default_rng(seed).normal(size=n)
    values = values.round() if ties else values
    along, order = values.copy(), np.arange(n)
    select(along, order, start, stop, middle)
    assert np.array_equal(along, values[order])
    assert order[:start].tolist() == list(range(start))
    assert order[stop:].tolist() == list(range(stop, n))
    before, there = naive_forest.selected(values[start:stop].tolist(), middle - start)
    assert sorted(along[start:middle].tolist()) == before
    assert along[middle] == there


@given(seed=seeds, n=st.integers(2, 60), kind=kinds)
def test_halves_lie_on_two_sides(seed: int, n: int, kind: str) -> None:
    points, order, along = points_of(seed, n, kind), np.arange(n), np.empty(n)
    middle = halve(points, order, along, 0, n, state(seed))
    assert middle == n // 2
    assert along[:middle].max() <= along[middle:].min()
    if kind == "any":  # the places on the line are those of the points
        fitted = np.linalg.lstsq(points[order], along, rcond=None)[0]
        assert points[order] @ fitted == pytest.approx(along, abs=1e-9)


@given(seed=seeds, n=st.integers(1, 200), leaf=st.integers(1, 50), kind=kinds)
def test_leaves_hold_each_point_once(seed: int, n: int, leaf: int, kind: str) -> None:
    order, borders = grow(points_of(seed, n, kind), leaf, state(seed))
    assert sorted(order.tolist()) == list(range(n))
    assert np.diff(borders).tolist() == naive_forest.leaf_sizes(n, leaf)
    assert borders[0] == 0
    assert borders[-1] == n


@given(seed=seeds, n=st.integers(1, 40), count=st.integers(1, 8), kind=kinds)
def test_the_nearest_of_several_trees_are_kept_once_each(
    seed: int, n: int, count: int, kind: str
) -> None:
    points, leaves = points_of(seed, n, kind), []
    nearest = np.full((n, count), -1, dtype=np.int32)
    away = np.full((n, count), np.inf)
    for tree in range(3):
        order, borders = grow(points, 10, state(seed + tree))
        compare_leaves(points, order, borders, nearest, away)
        leaves += np.split(order, borders[1:-1])
    expected = naive_forest.nearest_in_leaves(points, leaves, count)
    for a, distances in enumerate(expected):
        found = nearest[a][nearest[a] >= 0].tolist()
        assert away[a, : len(found)] == pytest.approx(distances)
        assert len(set(found)) == len(found) == len(distances)
        assert a not in found
        kept = ((points[found] - points[a]) ** 2).sum(axis=1)
        assert kept == pytest.approx(away[a, : len(found)])
