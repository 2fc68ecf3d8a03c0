"""Trees that halve points, against slow twins."""

import naive_forest
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon._kernels.forest import begin_tree, compare_leaves, grow, halve
from trajanon.common.arrays import Floats

seeds = st.integers(0, 10**6)


def points_of(seed: int, n: int, kind: str) -> Floats:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    if kind == "grid":
        return points.round()
    return np.zeros((n, 3)) if kind == "equal" else points


kinds = st.sampled_from(["any", "grid", "equal"])


@given(seed=seeds, n=st.integers(2, 60), kind=kinds, data=st.data())
def test_halves_lie_on_two_sides(seed: int, n: int, kind: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, n - 2))
    stop = data.draw(st.integers(start + 2, n))
    points = points_of(seed, n, kind)
    tree = begin_tree(points, n, seed + 1)
    border, order = halve(tree, start, stop), tree.order
    assert order[:start].tolist() == list(range(start))
    assert order[stop:].tolist() == list(range(stop, n))
    assert sorted(order.tolist()) == list(range(n))
    left, right = points[order[start:border]], points[order[border:stop]]
    assert min(len(left), len(right)) > (stop - start) // 4 or border == (start + stop) // 2
    if border != (start + stop) // 2:
        assert naive_forest.parted_by_a_plane(left, right, points)


@given(seed=seeds, n=st.integers(1, 200), leaf=st.integers(1, 50), kind=kinds)
def test_leaves_hold_each_point_once(seed: int, n: int, leaf: int, kind: str) -> None:
    tree = begin_tree(points_of(seed, n, kind), leaf, seed + 1)
    order, borders = tree.order, tree.borders[: grow(tree, leaf) + 1]
    assert sorted(order.tolist()) == list(range(n))
    assert np.diff(borders).max() <= leaf
    if n > leaf:
        assert np.diff(borders).min() > leaf // 4
    assert borders[0] == 0
    assert borders[-1] == n


@given(seed=seeds, n=st.integers(1, 40), count=st.integers(1, 8), kind=kinds)
def test_the_nearest_of_several_trees_are_kept_once_each(
    seed: int, n: int, count: int, kind: str
) -> None:
    points, leaves = points_of(seed, n, kind), []
    nearest = np.full((n, count), -1, dtype=np.int32)
    away = np.full((n, count), np.inf)
    for number in range(1, 4):
        tree = begin_tree(points, 10, seed + number)
        order, borders = tree.order, tree.borders[: grow(tree, 10) + 1]
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
