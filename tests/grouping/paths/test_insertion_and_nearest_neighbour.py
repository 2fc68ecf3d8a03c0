import naive_paths
import numpy as np
import pytest
from drawn_paths import losses, of_published
from hypothesis import given
from hypothesis import strategies as st
from naive_paths import ARBITRARY, FARTHEST, NEAREST
from problems import problem

from trajanon.common.arrays import Floats
from trajanon.grouping.paths.insertion_and_nearest_neighbour import (
    _shortest_walk as shortest_walk_of,
)
from trajanon.grouping.paths.insertion_and_nearest_neighbour import path_by_insertion, repetitive_nn

seeds = st.integers(0, 10**6)
rules = st.sampled_from([NEAREST, ARBITRARY, FARTHEST])

PUBLISHED = {
    "nearest-insertion": "Nearest Insertion-MHM",
    "farthest-insertion": "Farthest Insertion-MHM",
    "cheapest-insertion": "Cheapest Insertion-MHM",
    "arbitrary-insertion": "Arbitrary Insertion-MHM",
}


@pytest.mark.parametrize("dataset", ["Census", "Tarragona"])
@pytest.mark.parametrize("heuristic", PUBLISHED)
def test_insertion_comes_near_the_published_losses(heuristic: str, dataset: str) -> None:
    ours = losses(dataset, heuristic, range(6))
    parts = of_published(ours, dataset, PUBLISHED[heuristic])
    assert parts.mean() == pytest.approx(1.0, abs=0.03)


def test_repetitive_nearest_neighbour_comes_near_the_published_losses() -> None:
    """Through the dummy city; without it they are up to 9 % lower."""
    ours = losses("Tarragona", "repetitive-nn", range(5))
    parts = of_published(ours, "Tarragona", "Repetitive NN-MHM")
    assert parts == pytest.approx(1.0, abs=0.05)


@given(seed=seeds, n=st.integers(2, 25), ended=st.booleans())
def test_the_shortest_walk_is_its_slow_twin(seed: int, n: int, ended: bool) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 2))
    starts = rng.integers(n, size=4)
    ends = (starts + rng.integers(1, n, size=4)) % n if ended else np.full(4, -1)
    path = shortest_walk_of(problem(records), starts, ends).tolist()
    walks = [
        naive_paths.walk_to(records, start, end) for start, end in zip(starts, ends, strict=True)
    ]
    assert path == min(walks, key=lambda walk: naive_paths.length_of(records, walk))


@given(seed=seeds, n=st.integers(2, 12))
def test_each_city_begins_a_tour_that_goes_on_by_the_dummy(seed: int, n: int) -> None:
    """So the city that begins it stands at the end of the path."""
    records = np.random.default_rng(seed).normal(size=(n, 2))
    path = repetitive_nn(problem(records, seed=seed)).tolist()
    walks = [
        naive_paths.walk_to(records, start, end)
        for end in range(-1, n)
        for start in range(n)
        if start != end
    ]
    assert path in walks


def records_of(kind: str, seed: int, n: int) -> Floats:
    """Random ones, or with many equal distances, all of them whole numbers."""
    rng = np.random.default_rng(seed)
    return {
        "normal": rng.normal(size=(n, rng.integers(2, 5))),
        "grid": rng.integers(0, 4, (n, 2)).astype(float),
        "line": rng.integers(0, 6, (n, 1)).astype(float),
        "rectangle": rng.integers(0, 2, (n, 2)).astype(float) @ np.diag([3.0, 4.0]),
        "equal": np.full((n, 2), 2.0),
    }[kind]


def turn_of(seed: int, n: int) -> list[int]:
    turn: list[int] = np.random.default_rng(seed).permutation(n + 1).tolist()
    return turn


@pytest.mark.parametrize("kind", ["normal", "grid", "line", "rectangle", "equal"])
@given(seed=seeds, n=st.integers(1, 18), rule=rules)
def test_insertion_is_its_slow_twin(kind: str, seed: int, n: int, rule: int) -> None:
    """Of equal cities the first in turn is inserted."""
    n = n if kind == "normal" else min(n, 6)
    records, turn = records_of(kind, seed, n), turn_of(seed, n)
    path = tuple(path_by_insertion(records, np.array(turn), rule).tolist())
    assert path in naive_paths.insertion(records, turn, rule)
    if kind != "grid":
        path = tuple(path_by_insertion(records, np.array(turn), None).tolist())
        assert path in naive_paths.cheapest_insertion(records, turn)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["normal", "clusters"])
def test_cheapest_insertion_forgets_and_finds_places_again(kind: str, seed: int) -> None:
    """In tight clusters all places that a city remembers are soon taken."""
    n = 90
    records = np.random.default_rng(seed).normal(size=(n, 2))
    if kind == "clusters":
        records = records * 0.01 + np.arange(n)[:, None] % 3 * 9.0
    turn = turn_of(seed, n)
    path = tuple(path_by_insertion(records, np.array(turn), None).tolist())
    assert path in naive_paths.cheapest_insertion(records, turn)
