from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem
from real_data import published, reference

from trajanon import loss
from trajanon.arrays import Floats
from trajanon.microaggregation import microaggregate
from trajanon.problem import Problem
from trajanon.search.distance_methods import mdav
from trajanon.search.hm2 import HEURISTICS, find_paths
from trajanon.search.paths import path_length
from trajanon.settings import EXPANSIONS

seeds = st.integers(0, 10**6)
every_expansion = pytest.mark.parametrize("expansion", EXPANSIONS)


def compressed(records: Floats, c: int, expansion: str, k: int = 3, **how: Any) -> Problem:
    return problem(records, k, compression=c, expansion=expansion, **how)


@every_expansion
@given(
    seed=seeds,
    n=st.integers(2, 40),
    c=st.integers(2, 50),
    k=st.integers(2, 6),
    heuristic=st.sampled_from([name for name in HEURISTICS if name not in ("concorde", "lkh")]),
    grid=st.booleans(),
)
def test_the_records_of_a_city_stand_together_in_order(
    expansion: str, seed: int, n: int, c: int, k: int, heuristic: str, grid: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 2))
    records = naive.standardise(X.round() if grid else X)
    paths = find_paths(compressed(records, c, expansion, k, heuristic=heuristic))
    orders = ("distance", "row") if expansion == "both" else (expansion,)
    assert len(paths) == 2 * len(orders)
    routes = []
    for path, order in zip(paths, np.repeat(orders, 2), strict=True):
        assert sorted(path) == list(range(n))
        city = mdav(problem(records, min(c, n)))[path]
        borders = 1 + np.flatnonzero(np.diff(city))
        assert len(borders) == city.max()
        routes.append(city[np.append(0, borders)].tolist())
        for members in np.split(path, borders):
            if order == "row":
                assert (np.diff(members) > 0).all()
            else:
                away = [naive.distance(records[i], np.zeros(2)) for i in members]
                assert (np.diff(away) >= -1e-9).all()
    assert routes[::2] == [route[::-1] for route in routes[1::2]]


@every_expansion
@given(seed=seeds, n=st.integers(4, 60), c=st.integers(2, 6), ties=st.booleans())
@settings(max_examples=25)
def test_at_k_of_the_compression_nothing_is_lost_to_mdav(
    expansion: str, seed: int, n: int, c: int, ties: bool
) -> None:
    c = min(c, n)
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X = X.round() if ties else X
    ours = microaggregate(X, c, compression=c, expansion=expansion, refine="none")
    theirs = microaggregate(X, c, method="mdav", refine="none")
    assert ours.information_loss <= theirs.information_loss + 1e-9


@pytest.mark.parametrize(
    ("dataset", "c"),
    [
        ("Census", 3),
        ("Census", 4),
        ("Census", 5),
        ("Tarragona", 2),
        ("Tarragona", 3),
        ("Tarragona", 4),
        ("Tarragona", 5),
    ],
)
def test_in_order_of_rows_one_direction_is_as_long_as_published(dataset: str, c: int) -> None:
    """Census at 2 is left out: 1308.05 is published, and nobody comes below 1380."""
    records = naive.standardise(reference(dataset.lower()))
    lengths = [path_length(records, path) for path in find_paths(compressed(records, c, "row"))]
    theirs = published("compression", dataset, f"C{c}-C-MHM", None, "path_length")
    assert min(abs(length / theirs - 1) for length in lengths) < 0.015


@pytest.mark.parametrize(("c", "k"), [(3, 4), (4, 10), (5, 3)])
def test_the_better_direction_loses_no_more_than_published(c: int, k: int) -> None:
    """One direction alone loses up to 17 % more."""
    ours = microaggregate(reference("tarragona"), k, compression=c, expansion="row", refine="none")
    theirs = published("compression", "Tarragona", f"C{c}-C-MHM", k, "il")
    assert ours.information_loss < 1.03 * theirs


@pytest.mark.parametrize("weights", [None, np.array([4.0, 1.0, 0.0])])
def test_by_rows_the_path_leads_through_centroids_standardised_again(
    weights: Floats | None,
) -> None:
    X = np.random.default_rng(0).normal(size=(90, 3)) ** 3
    records = loss.standardise(X, weights)
    labels = mdav(problem(records, 4))
    cities = loss.standardise(loss.group_means(records, labels), weights)
    route = find_paths(problem(cities, 3))[0].tolist()
    path, _ = find_paths(compressed(records, 4, "row"))
    assert list(dict.fromkeys(labels[path].tolist())) in (route, route[::-1])
