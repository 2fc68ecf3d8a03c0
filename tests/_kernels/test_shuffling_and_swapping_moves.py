"""Passes of shuffling and recutting, and exchanges of pairs, beside their slow twins."""

import naive
import naive_refine
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import Grouped, grouped, random_groups
from numpy.typing import NDArray

from trajanon._kernels.group_state import Groups
from trajanon._kernels.shuffling_and_swapping_moves import (
    Swaps,
    find_partners,
    make_exchanges,
    recut,
    shuffling_pass,
)
from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.refinements.descent import build_groups
from trajanon.grouping.refinements.shuffling_and_swapping import swap

seeds = st.integers(0, 10**6)
peoples = st.none() | st.integers(2, 15)
sizes = st.integers(2, 30)
ks = st.integers(2, 5)


def swaps_of(work: Grouped) -> Swaps:
    n = len(work.labels)
    groups = build_groups(work.records, work.labels, work.subjects)
    swaps = Swaps(groups, np.full(n, -1), np.zeros(n))
    find_partners(swaps, work.k, 0, n)
    return swaps


@given(seed=seeds, n=st.integers(4, 14), k=st.integers(2, 4), people=peoples)
def test_swap_makes_the_exchanges_of_its_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    expected = naive_refine.two_swapping(groups.records, groups.labels, groups.k, groups.subjects)
    swaps, course = swaps_of(groups), [groups.labels]
    while make_exchanges(swaps, groups.k, 1e-9, 1):
        course.append(swaps.groups.labels.copy())
    # Between two pairs, two exchanges give the same groups: the labels may differ.
    assert [renumbered(labels).tolist() for labels in course] == [
        renumbered(labels).tolist() for labels in expected
    ]
    assert np.array_equal(renumbered(swap(groups, groups.labels)), renumbered(expected[-1]))


def test_the_first_of_equally_good_exchanges_is_made() -> None:
    # Each of 0, 1 (at 0) may change places with each of 4, 5 (at 9): the same gain.
    records = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0], [0.0], [0.0]])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    swaps = swaps_of(grouped(records, labels, 2))
    assert make_exchanges(swaps, 2, 1e-9, 1) == 1
    assert swaps.groups.labels.tolist() == [1, 0, 0, 0, 0, 1, 1, 1]
    assert make_exchanges(swaps, 2, 1e-9, 9) == 1
    assert swaps.groups.labels.tolist() == [1, 1, 0, 0, 0, 0, 1, 1]


def laid_out(work: Grouped) -> tuple[Groups, NDArray[np.uint64]]:
    """Groups for the kernels, and the state of a generator."""
    places = len(work.labels) // work.k
    groups = build_groups(work.records, work.labels, work.subjects, places)
    return groups, work.random.integers(1, 2**63, size=1, dtype=np.uint64)


def members(labels: Ints, group: int) -> set[int]:
    return set(np.flatnonzero(labels == group).tolist())


@given(seed=seeds, n=sizes, k=ks, people=peoples)
def test_a_pass_without_events_is_its_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    (found, *state), expected = laid_out(groups), groups.labels
    for _ in range(3):
        left = shuffling_pass(found, *state, groups.k, 1.0, 0, 0, n)
        expected = naive_refine.shuffling_pass(groups.records, expected, groups.k, groups.subjects)
        assert left == 0
        assert found.labels.tolist() == expected.tolist()


@given(seed=seeds, n=sizes, k=ks, people=peoples)
def test_two_groups_are_recut_as_by_the_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    (kept, _), labels = laid_out(groups), groups.labels
    a, b = 0, int(labels.max())
    if a == b:
        return
    runs = naive_refine.recut(groups.records, labels, a, b, groups.k, groups.subjects)
    assert recut(kept, a, b, groups.k) == bool(runs)
    others = [members(labels, g) for g in range(a + 1, b)]
    if not runs:
        runs = [members(labels, a), members(labels, b)]
    found = renumbered(kept.labels)
    assert naive.holds(found, groups.subjects, groups.k)
    after = [members(found, g) for g in range(found.max() + 1)]
    assert sorted(after, key=min) == sorted([*runs, *others], key=min)


def test_as_many_events_happen_as_are_asked_for() -> None:
    groups = random_groups(0, 3000, 3, None, grid=False)
    args = groups.k, 1.0, 10, 0, 3000
    assert shuffling_pass(*laid_out(groups), *args) == 0
    assert shuffling_pass(*laid_out(groups), groups.k, 0.0, 10, 0, 3000) == 10
    left = shuffling_pass(*laid_out(groups), groups.k, 0.1, 3000, 0, 3000)
    assert 3000 - left == pytest.approx(300, abs=5 * np.sqrt(3000 * 0.1 * 0.9))
