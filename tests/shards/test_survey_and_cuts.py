"""The survey of all parts, and the cuts between shards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.shards.places_of_rows import PlacedRows
from trajanon.shards.survey_and_cuts import Moments, keys_of_cuts, spread_of


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 200), shards=st.integers(2, 9))
def test_each_shard_has_k_subjects_also_of_rows_that_are_not_sampled(
    seed: int, n: int, shards: int
) -> None:
    random = np.random.default_rng(seed)
    rows = rows_at(random.integers(0, n, n), random.integers(0, 12, n))
    k = min(3, len(np.unique(rows.person)))
    is_sampled = np.arange(n) % 2 == 0
    sample = PlacedRows(*(column[is_sampled] for column in rows))
    cuts = keys_of_cuts(sample, k, shards)
    assert len(cuts) < shards
    shard = np.searchsorted(cuts, rows.key, side="right")
    if len(cuts):
        assert len(np.unique(shard)) == len(cuts) + 1
        assert subjects_per_group(shard, renumbered(rows.person.astype(np.int64))).min() >= k


def rows_at(key: Ints, person: Ints) -> PlacedRows:
    return PlacedRows(key, person.astype(np.uint64))


def test_shards_are_as_large_as_each_other() -> None:
    numbers = np.random.default_rng(0).permutation(5000)
    for shards in (2, 3, 7, 10):
        cuts = keys_of_cuts(rows_at(numbers, numbers), 5, shards)
        sizes = np.bincount(np.searchsorted(cuts, numbers, side="right"))
        assert len(sizes) == shards
        assert np.ptp(sizes) < 10


@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_the_spread_of_parts_is_that_of_all_rows(seed: int, sizes: list[int]) -> None:
    random = np.random.default_rng(seed)
    parts = [random.normal(random.normal(0, 5), 1, (size, 3)) for size in sizes]
    for part in parts:
        part[:, 2] = 40.1  # which is constant
    records = np.concatenate(parts)
    spread = spread_of([Moments.of(part) for part in parts])
    assert spread[:2] == pytest.approx(records.std(axis=0)[:2], rel=1e-9, abs=1e-9)
    assert spread[2] == 0.0


def test_where_no_cut_leaves_k_people_on_both_sides_there_is_one_shard() -> None:
    numbers = np.arange(100)
    assert len(keys_of_cuts(rows_at(numbers, numbers // 25), 3, 4)) == 0
    assert len(keys_of_cuts(rows_at(numbers, numbers // 25), 2, 4)) == 1
