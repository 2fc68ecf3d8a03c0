"""Crossing: of two partitions, the better groups of each place."""

from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.refinements.annealing import cross


def places(one: Ints, other: Ints) -> list[set[int]]:
    """Find the smallest sets of records that are whole groups in both, slowly."""
    found = []
    left = set(range(len(one)))
    while left:
        place: set[int] = set()
        grown = {min(left)}
        while grown != place:
            place = grown
            grown = {
                record
                for member in place
                for labels in (one, other)
                for record in np.flatnonzero(labels == labels[member]).tolist()
            }
        found.append(place)
        left -= place
    return found


def groups(labels: Ints) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == group).tolist()) for group in set(labels)}


def least_of_all_mixtures(records: Floats, one: Ints, other: Ints) -> float:
    """Try to take each place from either."""
    found = [np.array(sorted(place)) for place in places(one, other)]
    losses = []
    for choice in product((one, other), repeat=len(found)):
        labels = np.empty_like(one)
        for number, (rows, taken) in enumerate(zip(found, choice, strict=True)):
            labels[rows] = taken[rows] + number * len(one)
        losses.append(naive.sse(records, renumbered(labels)))
    return min(losses)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Floats, Ints, Ints]:
    """Records, and two partitions of them that agree on some groups."""
    n = draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    one = np.arange(n) // 2
    other = one.copy()
    for _ in range(draw(st.integers(0, 3))):
        two = rng.integers(0, n, 2)
        other[two] = other[two[::-1]]
    shuffled = rng.permutation(n)
    return (
        rng.normal(size=(n, 2)).round(1),
        renumbered(one[shuffled]),
        renumbered(other[shuffled]),
    )


@given(pairs())
def test_each_place_takes_the_better_groups(pair: tuple[Floats, Ints, Ints]) -> None:
    records, one, other = pair
    crossed = cross(records, one, other)
    least = least_of_all_mixtures(records, one, other)
    assert naive.sse(records, crossed) == pytest.approx(least, abs=1e-12)
    assert groups(crossed) <= groups(one) | groups(other)
    assert np.array_equal(crossed, renumbered(crossed))


def test_where_both_lose_the_same_the_first_stays() -> None:
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    one, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert cross(square, one, other).tolist() == one.tolist()
    assert cross(square, other, one).tolist() == other.tolist()


def test_groups_that_share_very_many_records_are_one_place() -> None:
    # A count of 256 would be none in a byte, and each half a place of its own.
    one, other = np.repeat([0, 1], 512), np.tile(np.repeat([0, 1], 256), 2)
    records = np.tile(np.repeat([0.0, 5.0], 256), 2)[:, None]
    assert cross(records, one, other).tolist() == other.tolist()
