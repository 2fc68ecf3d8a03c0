"""Blocks of a large table: whole groups, each record once."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import random_groups

from trajanon.common.arrays import renumbered
from trajanon.grouping.refinements.blocks import (
    block_count,
    block_of,
    draw_blocks,
    neighbours_within,
    put_together,
)

seeds = st.integers(0, 10**6)


@given(seed=seeds, n=st.integers(1, 60), groups=st.integers(1, 15), size=st.integers(1, 40))
def test_blocks_are_of_whole_groups_and_hold_each_record_once(
    seed: int, n: int, groups: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 3)), renumbered(rng.integers(0, groups, n))
    drawn, again = [
        list(draw_blocks(records, labels, np.random.default_rng(seed), size)) for _ in range(2)
    ]
    assert sorted(np.concatenate(drawn).tolist()) == list(range(n))
    for rows, same in zip(drawn, again, strict=True):
        assert np.array_equal(rows, same)
        assert rows.tolist() == sorted(rows.tolist())
        inside = set(labels[rows].tolist())
        assert np.isin(labels, list(inside)).sum() == len(rows)
        largest = np.bincount(labels).max()
        assert len(rows) <= size + 2 * largest or len(inside) == 1


@given(seed=seeds, n=st.integers(1, 60), groups=st.integers(1, 15), size=st.integers(1, 40))
def test_blocks_are_put_together_as_they_were(seed: int, n: int, groups: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 2)), renumbered(rng.integers(0, groups, n))
    drawn = draw_blocks(records, labels, rng, size)
    whole = put_together((rows, renumbered(labels[rows])) for rows in drawn)
    assert whole.tolist() == labels.tolist()


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2_500, 1), (2_501, 2), (7_500, 3)])
def test_a_record_too_many_makes_another_block(n: int, count: int) -> None:
    assert block_count(n) == count


def test_a_neighbour_in_another_block_is_replaced_by_the_record_itself() -> None:
    neighbours = np.array([[1, 4], [0, 2], [3, 1], [4, 2], [0, 3]])
    assert neighbours_within(neighbours, np.array([0, 1, 4])).tolist() == [[1, 2], [0, 1], [0, 2]]


def test_the_thread_of_a_block_ends_when_it_is_asked_to() -> None:
    told = []
    work = replace(
        random_groups(1, 12, 2, None, grid=False), progress=lambda *words: told.append(words)
    )
    stop = Event()
    block = block_of(work, stop, np.array([2, 5]))
    assert block.records.tolist() == work.records[[2, 5]].tolist()
    assert block.log is not work.log
    block.progress("Moving records", 1, 2)
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        block.progress("Moving records", 2, 2)
    assert told == []
