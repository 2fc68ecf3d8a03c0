"""Where a table is split: every record has a shard, and all shards are as large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.arrays import Floats, Ints
from trajanon.hashing import hashed
from trajanon.parts.plan import Split, joined_shards, split_table


def shard_of(found: Split, record: Floats, row: int) -> int:
    """Walk down the tree, as one would by hand."""
    first, end = 0, found.shards
    tie = int(hashed(np.array([row], dtype=np.uint64))[0])
    while end - first > 1:
        (node,) = (node for node in found.nodes if (node.first, node.end) == (first, end))
        before = (record[node.axis], tie) < (node.place, node.tie)
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
    sample = np.round(np.random.default_rng(seed).normal(size=(n, 3)), decimals)
    found = split_table(sample, shards)
    assert len(found.nodes) == shards - 1
    rows = np.arange(n) + seed
    at_once = found.shard_of(sample, rows)
    by_hand = [shard_of(found, *one) for one in zip(sample, rows.tolist(), strict=True)]
    assert at_once.tolist() == by_hand
    for shard in range(shards):
        # All other shards lie beyond one of the planes on the way.
        assert [*found.borders_of(shard, [shard])][:1] == [0] * (shards > 1)
        assert not [*found.borders_of(shard, range(shards))]
        for other in {*range(shards)} - {shard}:
            without = {*range(shards)} - {other}
            assert len([*found.borders_of(shard, [*without])]) == 1


@pytest.mark.parametrize("shards", [2, 3, 7, 10])
def test_shards_are_as_large_as_each_other(shards: int) -> None:
    sample = np.random.default_rng(0).normal(size=(5000, 4)) * [5, 1, 1, 0.1]
    found = split_table(sample, shards)
    held = np.bincount(found.shard_of(sample, np.arange(5000)), minlength=shards)
    assert np.ptp(held) < 5000 / shards * 0.02
    assert found.nodes[0].axis == 0  # the widest


def test_equal_records_are_split_by_their_numbers() -> None:
    sample = np.zeros((4000, 2))
    found = split_table(sample, 8)
    held = np.bincount(found.shard_of(sample, np.arange(4000)), minlength=8)
    assert held.tolist() == [500] * 8
    other_rows = np.bincount(found.shard_of(sample, np.arange(4000) + 10**9))
    assert np.abs(other_rows - 500).max() < 120


def subjects(*several: set[int]) -> list[set[int]]:
    return list(several)


def test_poor_shards_are_joined_with_what_follows() -> None:
    rich: Ints = np.arange(10)
    many = set(rich.tolist())
    assert joined_shards(subjects(many, many, many, many, many), 3) == [
        (0,),
        (1,),
        (2,),
        (3,),
        (4,),
    ]
    assert joined_shards(subjects({1}, {2}, many, many, {1, 2}), 3) == [(0, 1, 2), (3, 4)]
    assert joined_shards(subjects({1}, {2}, {3}, set(), set()), 3) == [(0, 1, 2, 3, 4)]
