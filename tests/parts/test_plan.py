"""Where a table is split: every record has a shard, and all shards are as large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.arrays import Floats
from trajanon.axes import turn
from trajanon.parts.plan import Split, joined_shards
from trajanon.trajectories import Trajectories


def drawn(n: int, seed: int, decimals: int = 9) -> Trajectories:
    points = np.random.default_rng(seed).normal(size=(n, 2, 2)) * [[5, 2], [1, 0.1]]
    return Trajectories(np.round(points, decimals))


def shard_of(found: Split, record: Floats) -> int:
    """Walk down the tree, as one would by hand."""
    first, end = 0, found.shards
    while end - first > 1:  # planes come before those of their sides
        node = next(one for one in found.nodes if one.first == first and one.middle < end)
        before = record[node.axis] < node.place
        first, end = (first, node.middle) if before else (node.middle, end)
    return first


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    shards=st.integers(1, 12),
    decimals=st.integers(0, 3),
)
def test_every_record_has_the_shard_that_the_planes_say(
    seed: int, n: int, shards: int, decimals: int
) -> None:
    rows = drawn(n, seed, decimals)
    found = Split.of(rows.records, shards)
    assert len(found.nodes) == shards - 1
    turned = turn((rows.records - found.mean) / found.spread, found.axes)
    assert found.shard_of(rows).tolist() == [shard_of(found, one) for one in turned]


@pytest.mark.parametrize("shards", [2, 3, 4, 7, 10])
def test_shards_are_as_large_as_each_other(shards: int) -> None:
    rows = drawn(5000, 0)
    fell = Split.of(rows.records, shards).shard_of(rows)
    assert np.ptp(np.bincount(fell, minlength=shards)) < 5000 / shards * 0.02


@pytest.mark.parametrize(
    ("held", "together"),
    [
        ([3, 3, 3], [(0,), (1,), (2,)]),
        ([1, 2, 10, 10, 2], [(0, 1), (2,), (3, 4)]),
        ([1, 1, 1, 0, 0], [(0, 1, 2, 3, 4)]),
    ],
)
def test_poor_shards_are_joined_with_what_follows(
    held: list[int], together: list[tuple[int, ...]]
) -> None:
    subjects = [set(range(10 * n, 10 * n + count)) for n, count in enumerate(held)]
    assert joined_shards(subjects, 3) == together
