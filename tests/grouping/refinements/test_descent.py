"""Descent: it ends where no move gains, in one piece or in blocks."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from groups_to_descend import neighbourhood, starts
from hypothesis import given, settings
from hypothesis import strategies as st
from large import MOST_EXACT, large_groups, search_as_if_large
from naive_refine import Grouped, both

from trajanon.common.arrays import renumbered
from trajanon.grouping import loss
from trajanon.grouping.refinements.descent import descend

seeds = st.integers(0, 10**6)


@given(work=starts(), seed=seeds)
def test_descent_ends_where_no_move_gains_however_groups_are_numbered(
    work: Grouped, seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(int(work.labels.max()) + 1)
    before = order[work.labels]
    labels = before.copy()
    after = descend(*both(replace(work, labels=labels)))
    assert np.array_equal(labels, before), "the input was changed"
    assert naive.holds(after, work.subjects, work.k)
    assert naive.sse(work.records, after) <= naive.sse(work.records, before) + 1e-9
    end = neighbourhood(replace(work, labels=renumbered(after)))
    for move in end.moves():
        assert end.gain(move) <= 1e-9, move


@given(seed=seeds, n=st.integers(MOST_EXACT + 1, 150))
@settings(max_examples=20)
def test_descent_in_blocks_never_raises_the_sse(seed: int, n: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        search_as_if_large(patch)
        work = large_groups(n, seed)
        labels = descend(work, work.labels)
    assert naive.holds(labels, None, 4)
    assert loss.sse(work.records, labels) <= loss.sse(work.records, work.labels) + 1e-9
    assert work.log.best is not None
    assert np.array_equal(work.log.best, labels)
