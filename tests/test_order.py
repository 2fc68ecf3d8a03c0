"""Orders planted in releases, and shuffled files that must not be accused."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajanon.arrays import Floats, Ints
from trajanon.privacy.order import _log_chance_of_few_runs, find_order

G, K = 60, 4


def centroids(seed: int = 0, groups: int = G, m: int = 5) -> Floats:
    rng = np.random.default_rng(seed)
    start = rng.uniform((-4, 40), (-3, 41), (groups, 1, 2))
    lines: Floats = start + rng.normal(0, 0.003, (groups, m, 2)).cumsum(axis=1)
    return lines


def told(labels: Ints, lines: Floats) -> str:
    groups = np.unique(labels, return_inverse=True)[1]
    return "\n".join(find_order(groups, lines[labels]))


@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=60),
    grid=st.booleans(),
    rare=st.sampled_from([0, 0, 300]),
)
@settings(max_examples=200)
def test_a_shuffled_file_is_not_accused(seed: int, sizes: list[int], grid: bool, rare: int) -> None:
    """Also where a few groups are much larger, and where many measures are equal."""
    lines = centroids(seed, len(sizes) + 1)
    if grid:
        lines = np.round(lines)
    labels = np.repeat(np.arange(len(sizes) + 1), [*sizes, max(rare, 2)])
    assert not told(np.random.default_rng(seed).permutation(labels), lines)


MEASURES = {
    "first latitude": lambda lines: lines[:, 0, 1],
    "first longitude": lambda lines: -lines[:, 0, 0],
    "last latitude": lambda lines: lines[:, -1, 1],
    "last longitude": lambda lines: lines[:, -1, 0],
    "northern edge": lambda lines: lines[..., 1].max(axis=1),
    "western edge": lambda lines: lines[..., 0].min(axis=1),
    "mean longitude": lambda lines: lines[..., 0].mean(axis=1),
    "length": lambda lines: np.hypot(
        np.diff(lines[..., 0]) * np.cos(np.radians(lines[:, :-1, 1])), np.diff(lines[..., 1])
    ).sum(axis=1),
    "extent": lambda lines: np.ptp(lines, axis=1).prod(axis=1),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("groups", [5, G])
def test_a_sorted_file_is_found(measure: str, groups: int) -> None:
    lines = np.random.default_rng(groups).uniform((-4, 40), (-3, 41), (groups, 5, 2))
    labels = np.repeat(np.argsort(MEASURES[measure](lines)), K)
    # Five groups may have one order by several measures.
    said = f"sorted by their {measure if groups == G else ''}"
    assert said in told(labels, lines)
    assert said in told(labels[::-1], lines)


def test_groups_in_turns_are_found() -> None:
    rng = np.random.default_rng(1)
    labels = np.tile(rng.permutation(G), K)
    assert f"{(K - 1) * G} equal ones are {G} rows apart" in told(labels, centroids())


def test_the_order_of_a_source_is_found() -> None:
    """Whoever walks about leaves trajectories that begin where the last one ended."""
    rng = np.random.default_rng(2)
    walk = rng.normal(0, 0.01, (G, 1, 2)).cumsum(axis=0)
    lines = walk + rng.normal(0, 0.001, (G, 5, 2))
    near = np.clip(np.arange(G * K) // K + rng.integers(-3, 4, G * K), 0, G - 1)
    source = near[np.argsort(np.arange(G * K) // (2 * K), kind="stable")]
    assert "may be the order of the source" in told(source, lines)
    assert not told(rng.permutation(source), lines)


@given(st.lists(st.booleans(), min_size=2, max_size=7))
def test_the_chance_of_few_runs_is_that_of_all_orders(above: list[bool]) -> None:
    def runs(row: tuple[bool, ...] | list[bool]) -> int:
        return 1 + sum(a != b for a, b in pairwise(row))

    orders = list(permutations(above))
    few = sum(runs(order) <= runs(above) for order in orders) / len(orders)
    assert np.exp(_log_chance_of_few_runs(np.array(above))) == pytest.approx(few)


def test_lines_of_unequal_lengths_are_judged_by_their_groups_alone() -> None:
    assert find_order(np.repeat(np.arange(30), 4), None)
    assert not find_order(np.zeros(30, dtype=np.int64), None)
    assert not find_order(np.zeros(0, dtype=np.int64), None)
