"""What a slide changes in its group, as a loop and from scratch."""

from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_sliding import put, unsound
from sliding_towns import seeds

from trajanon._kernels.group_state import Groups
from trajanon._kernels.slide_moves import slid_exchange_change, slide, sliding_change
from trajanon.arrays import Floats
from trajanon.partition import dense
from trajanon.search.descent import build_groups


class State(NamedTuple):
    """Groups, the records they were laid out of, and others that these may become."""

    groups: Groups
    records: Floats
    others: Floats
    frame: Floats


@st.composite
def states(draw: st.DrawFn) -> State:
    """Random groups of any size, among the records duplicates, far from zero."""
    rng = np.random.default_rng(draw(seeds))
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    records, others = rng.normal(size=(2, n, p))
    if draw(st.booleans()):
        records, others = records.round(), others.round()
    if draw(st.booleans()):
        records, others = records + 1e6, others + 1e6
    labels = dense(rng.integers(0, max(n // 3, 1), n))
    groups = build_groups(records, labels, np.arange(n), n + 1)
    frame = records.mean(axis=0)
    return State(groups, records, others - frame, frame)


@given(state=states())
def test_what_a_slide_changes_is_what_the_sse_changes_by(state: State) -> None:
    groups, labels = state.groups, state.groups.labels
    now = naive.sse(state.records, labels)
    for x, other in enumerate(state.others):
        after = state.records.copy()
        after[x] = other + state.frame
        change = naive.sse(after, labels) - now
        found = sliding_change(groups, x, other)
        assert found == pytest.approx(change, rel=1e-7, abs=1e-7)


@given(state=states(), data=st.data())
def test_a_slide_leaves_groups_as_if_laid_out_anew(state: State, data: st.DataObject) -> None:
    groups, expected = state.groups, state.groups.records.copy()
    labels = groups.labels.copy()
    rows = st.integers(0, len(labels) - 1)
    for x in data.draw(st.lists(rows, min_size=1, max_size=30)):
        other = state.others[data.draw(rows)]
        slide(groups, x, other)
        expected[x] = other
    assert np.array_equal(groups.records, expected)
    assert np.array_equal(groups.labels, labels)
    assert not unsound(groups)


@given(state=states())
def test_what_a_slide_and_an_exchange_change_is_what_the_sse_changes_by(state: State) -> None:
    groups, labels, n = state.groups, state.groups.labels, len(state.records)
    now = naive.sse(state.records, labels)
    for x, z in zip(range(n), np.roll(np.arange(n), n // 2 + 1).tolist(), strict=True):
        if labels[x] == labels[z]:
            continue
        after = state.records.copy()
        after[x] = state.others[x] + state.frame
        exchanged = put(put(labels, x, labels[z]), z, labels[x])
        change = naive.sse(after, exchanged) - now
        found = slid_exchange_change(groups, x, state.others[x], z)
        assert found == pytest.approx(change, rel=1e-7, abs=1e-7)
