import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem
from real_data import published, reference

from trajanon import loss
from trajanon.arrays import Floats
from trajanon.methods.hm2 import find_path
from trajanon.methods.mdav import mdav
from trajanon.microaggregation import microaggregate
from trajanon.paths import HEURISTICS
from trajanon.settings import EXPANSIONS

seeds = st.integers(0, 10**6)
every_expansion = pytest.mark.parametrize("expansion", EXPANSIONS)


def compressed(
    records: Floats, c: int, expansion: str, heuristic: str = "or-opt", k: int = 3
) -> list[int]:
    path: list[int] = find_path(
        problem(records, k, heuristic=heuristic, compression=c, expansion=expansion)
    ).tolist()
    return path


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
    path = compressed(records, c, expansion, heuristic, k)
    assert sorted(path) == list(range(n))
    city = mdav(problem(records, c))[path]
    borders = 1 + np.flatnonzero(np.diff(city))
    assert len(borders) == city.max()
    for members in np.split(np.array(path), borders):
        if expansion == "row":
            assert (np.diff(members) > 0).all()
        else:
            away = [naive.distance(records[i], np.zeros(2)) for i in members]
            assert (np.diff(away) >= -1e-9).all()
            assert len(members) <= max(2 * c - 1, n if n < c else 0)


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


@every_expansion
@pytest.mark.parametrize("name", ["census", "tarragona"])
@pytest.mark.parametrize("c", [2, 3, 4, 5, 6])
def test_at_k_of_the_compression_the_reference_loses_no_more(
    expansion: str, name: str, c: int
) -> None:
    X = reference(name)
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
def test_in_order_of_rows_the_path_is_as_long_as_the_published_one(dataset: str, c: int) -> None:
    """Census at 2 is left out: 1308.05 is published, and nobody comes below 1380."""
    X = reference(dataset.lower())
    lengths = [
        microaggregate(X, 3, compression=c, expansion="row", refine="none", seed=seed).path_length
        for seed in range(5)
    ]
    theirs = published("compression", dataset, f"C{c}-C-MHM", None, "path_length")
    assert np.mean([length or 0.0 for length in lengths]) == pytest.approx(theirs, rel=0.03)


def test_a_compression_above_the_table_leaves_one_city() -> None:
    X = np.random.default_rng(0).normal(size=(9, 2))
    for c in (10, 10**9):
        partition = microaggregate(X, 3, compression=c, expansion="row", refine="none")
        labels = np.sort(partition.labels)
        assert partition.labels.tolist() == labels.tolist()  # cuts of the table itself
        assert loss.sse(naive.standardise(X), labels) == pytest.approx(partition.sse)


def test_without_compression_the_expansion_does_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    a, b = (microaggregate(X, 3, expansion=expansion) for expansion in EXPANSIONS)
    assert np.array_equal(a.labels, b.labels)
