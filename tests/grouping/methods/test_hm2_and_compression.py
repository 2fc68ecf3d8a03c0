"""Paths of every heuristic, and of cities made of records."""

from itertools import product
from typing import Any

import naive
import numpy as np
import pytest
from drawn_paths import path_by, records_of
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem
from real_data import published, reference

from trajanon.common.arrays import renumbered
from trajanon.common.parameters_of_single_methods import InnerMethodName
from trajanon.common.search_and_release_options import HeuristicName
from trajanon.grouping.methods.hm2_and_compression import HEURISTICS, find_paths
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.microaggregation import METHODS, microaggregate

seeds = st.integers(0, 10**6)


every_heuristic = pytest.mark.parametrize(
    "heuristic", [name for name in HEURISTICS if name not in ("concorde", "lkh")]
)


@given(
    seed=seeds,
    n=st.integers(2, 40),
    c=st.integers(2, 50),
    k=st.integers(2, 6),
    heuristic=st.sampled_from([name for name in HEURISTICS if name not in ("concorde", "lkh")]),
    grid=st.booleans(),
)
def test_the_records_of_a_city_stand_together_in_order(
    seed: int, n: int, c: int, k: int, heuristic: HeuristicName, grid: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 2))
    records = naive.standardise(X.round() if grid else X)
    paths = find_paths(problem(records, k, compression=c, heuristic=heuristic))
    for number, (order, way) in enumerate(product(("distance", "row"), ("forward", "backward"))):
        one: dict[str, Any] = {"heuristic": heuristic, "expansion": order, "direction": way}
        (alone,) = find_paths(problem(records, k, compression=c, **one))
        assert np.array_equal(alone, paths[number])
    routes = []
    for path, by_row in zip(paths, (False, False, True, True), strict=True):
        assert sorted(path) == list(range(n))
        city = mdav(problem(records, min(c, n)))[path]
        borders = 1 + np.flatnonzero(np.diff(city))
        assert len(borders) == city.max()
        routes.append(city[np.append(0, borders)].tolist())
        for members in np.split(path, borders):
            away = [naive.distance(records[i], np.zeros(2)) for i in members]
            assert (np.diff(members if by_row else away) >= -1e-9).all()
    assert routes[::2] == [route[::-1] for route in routes[1::2]]


@pytest.mark.parametrize("method", ["v-mdav", "md", "cbfs"])
def test_another_method_makes_the_cities(method: InnerMethodName) -> None:
    records = naive.standardise(np.random.default_rng(0).normal(size=(40, 2)))
    asked = problem(records, 3, compression=4, compress_by=method)
    path = find_paths(asked)[0]
    city = METHODS[method](problem(records, 4))[path]
    assert len(np.flatnonzero(np.diff(city))) == city.max()
    assert asked.log.chosen == {"heuristic": "or-opt"}


@given(seed=seeds, n=st.integers(4, 60), c=st.integers(2, 6), ties=st.booleans())
@settings(max_examples=25)
def test_at_k_of_the_compression_nothing_is_lost_to_mdav(
    seed: int, n: int, c: int, ties: bool
) -> None:
    c = min(c, n)
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X = X.round() if ties else X
    ours = microaggregate(X, c, compression=c, refine="none")
    theirs = microaggregate(X, c, method="mdav", refine="none")
    assert ours.information_loss <= theirs.information_loss + 1e-9


@pytest.mark.parametrize(("c", "k"), [(3, 4), (4, 10), (5, 3)])
def test_the_best_of_the_cuts_loses_no_more_than_published(c: int, k: int) -> None:
    """One direction alone loses up to 17 % more."""
    ours = microaggregate(reference("tarragona"), k, compression=c, refine="none")
    theirs = published("compression", "Tarragona", f"C{c}-C-MHM", k, "il")
    assert ours.information_loss < 1.03 * theirs


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
