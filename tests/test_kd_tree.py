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
    while end - first > 1:  # planes come before those of their sides
        node = next(one for one in found.nodes if one.first == first and one.middle < end)
        before = (record[node.axis], tie) < (node.place, node.tie)
        first, end = (first, node.middle) if before else (node.middle, end)
    return first


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    shards=st.integers(1, 12),
    decimals=st.integers(0, 3),
    number=st.integers(0, 2),
)
def test_every_record_has_the_shard_that_the_planes_say(
    seed: int, n: int, shards: int, decimals: int, number: int
) -> None:
    sample = np.round(np.random.default_rng(seed).normal(size=(n, 3)), decimals)
    found = split_table(sample, shards, number)
    assert len(found.nodes) == shards - 1
    rows = np.arange(n) + seed
    at_once = found.shard_of(sample, rows)
    by_hand = [shard_of(found, *one) for one in zip(sample, rows.tolist(), strict=True)]
    assert at_once.tolist() == by_hand


@pytest.mark.parametrize("shards", [2, 3, 4, 7, 10])
def test_shards_are_as_large_as_each_other_and_split_otherwise_each_time(shards: int) -> None:
    sample = np.random.default_rng(0).normal(size=(5000, 4)) * [5, 2, 1, 0.1]
    found = [split_table(sample, shards, number) for number in range(3)]
    fell = [split.shard_of(sample, np.arange(5000)) for split in found]
    for split, shard, axis in zip(found, fell, range(3), strict=True):
        assert np.ptp(np.bincount(shard, minlength=shards)) < 5000 / shards * 0.02
        assert split.nodes[0].axis == axis  # the widest, and the next ones
    for one, other in ((0, 1), (0, 2), (1, 2)):
        # Who shares a shard is parted, more than half of them, as chance would.
        together = np.zeros((shards, shards))
        np.add.at(together, (fell[one], fell[other]), 1)
        assert (together.max(axis=1) / together.sum(axis=1)).mean() < 0.75


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
