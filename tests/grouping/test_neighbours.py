"""The nearest records of each record, exact or approximate, and points asked for in threads."""

import naive
import naive_forest
import numpy as np
import pytest
from drawn_paths import kinds, records_of
from hypothesis import given, settings
from hypothesis import strategies as st
from large import MOST_EXACT, clustered, search_as_if_large
from scipy.spatial import cKDTree

from trajanon.common import threads_and_dask
from trajanon.common.arrays import Floats
from trajanon.grouping import neighbours
from trajanon.grouping.neighbours import Neighbours, exact_neighbours, nearest_points
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)


def no_interest() -> None:
    pytest.fail("nothing had to be looked for in another way")


@pytest.mark.parametrize("n", [2, 3, MOST_EXACT])
def test_neighbours_in_a_small_table_are_exact(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    search_as_if_large(monkeypatch)
    records = np.random.default_rng(n).normal(size=(n, 4))
    known = Neighbours(records, 16, no_interest)
    assert not known.large
    assert np.array_equal(known.nearest, exact_neighbours(records, 16))


def tables(kind: str, n: int, seed: int) -> Floats:
    X = clustered(n, 6, seed)
    if kind == "equal":
        X = np.ones((n, 6))
    if kind == "duplicates":
        X = X[np.random.default_rng(seed).integers(0, 5, n)]
    if kind == "constant columns":
        X[:, ::2] = 7.0
    return standardise(X)


@given(
    kind=st.sampled_from(["any", "equal", "duplicates", "constant columns"]),
    n=st.integers(MOST_EXACT + 1, 200),
    count=st.integers(1, 16),
    seed=seeds,
)
@settings(max_examples=20)
def test_neighbours_in_a_large_table_are_others_and_different(
    kind: str, n: int, count: int, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        search_as_if_large(patch)
        records = tables(kind, n, seed)
        known = Neighbours(records, count)
        assert known.large
        nearest = known.nearest
    assert nearest.shape == (n, count)
    assert nearest.min() >= 0
    for row, found in enumerate(nearest.tolist()):
        assert len({row, *found}) == count + 1
    near = known.approximate
    assert (np.diff(near.squares, axis=1) >= 0.0).all()
    apart = ((near.points[:, None] - near.points[nearest]) ** 2).sum(axis=2)
    assert near.squares == pytest.approx(apart, abs=1e-9)
    assert sorted(near.order.tolist()) == list(range(n))


def test_few_neighbours_are_missed() -> None:
    records = standardise(clustered(12_000, 20))
    records += np.random.default_rng(0).normal(size=records.shape) * 0.003
    known = Neighbours(records, 16)
    assert known.large
    rows = np.arange(0, 12_000, 100)
    assert naive_forest.recall(records, known.approximate.nearest, rows) > 0.9


def test_the_leading_axes_leave_out_what_they_may() -> None:
    records = standardise(clustered(300, 8))
    known, total = Neighbours(records, 4), float((records**2).sum())
    for share in (0.0, 0.01, 0.3, 1.0):
        turned = known.turned(share * total)
        assert total - (turned**2).sum() <= share * total + 1e-9 * total
        fewer = turned[:, :-1]
        if fewer.shape[1] > 0:
            assert total - (fewer**2).sum() > share * total - 1e-9 * total


@pytest.mark.parametrize("kind", ["any", "duplicates"])
def test_threads_leave_every_bit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search_as_if_large(monkeypatch)
    monkeypatch.setattr(neighbours, "_RECORDS_PER_TURN", 17)
    found = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads_and_dask, "cores", lambda count=count: count)
        near = Neighbours(tables(kind, 400, 3), 8).approximate
        found.append([part.tobytes() for part in near])
    assert found[0] == found[1] == found[2]


# Points of a tree, asked for in threads


@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 30), m=st.integers(1, 20), count=st.integers(1, 25)
)
@settings(max_examples=25)
def test_the_nearest_are_those_of_all_distances(seed: int, n: int, m: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    some, points = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_POINTS_PER_QUERY", 7)
        away, which = nearest_points(cKDTree(some), points, count)
    assert away.shape == which.shape == (n, count)
    for point, far, places in zip(points, away, which, strict=True):
        distances = np.hypot(*(some - point).T)
        near = np.sort(distances)[:count]
        assert far[: len(near)] == pytest.approx(near)
        assert np.isinf(far[len(near) :]).all()
        assert (places[len(near) :] == m).all()
        assert distances[places[: len(near)]] == pytest.approx(near)


def test_ctrl_c_ends_the_threads_that_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that threads of its own would still read may be gone by then."""
    asked = []

    class Tree:
        def query(self, some: object, **_: object) -> tuple[object, object]:
            asked.append(some)
            raise KeyboardInterrupt

    monkeypatch.setattr(neighbours, "_POINTS_PER_QUERY", 1)
    monkeypatch.setattr(threads_and_dask, "cores", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        nearest_points(Tree(), np.zeros((50, 2)), 1)
    assert len(asked) < 50


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
