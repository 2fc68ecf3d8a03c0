"""Moves of descent, each beside its slow twin."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from groups_to_descend import near_records, neighbourhood, starts
from hypothesis import given
from naive_refine import Group, Grouped, kept, moved

from trajanon._kernels.descent_moves import (
    Descent,
    create_group,
    dissolve_group,
    find_chain,
    find_exchange,
    list_near_groups,
    split_group,
)
from trajanon.common.arrays import Ints
from trajanon.grouping.refinements.descent import build_descent


def begun(work: Grouped) -> Descent:
    """A state of the kernels in which nothing has moved."""
    return build_descent(work, work.records, work.labels, near_records(work))


def members(labels: Ints) -> set[Group]:
    """Groups without their numbers."""
    return {frozenset(np.flatnonzero(labels == group).tolist()) for group in set(labels.tolist())}


def near_of(state: Descent, record: int) -> Ints:
    return state.groups_near_record[: list_near_groups(state, record, state.groups_near_record)]


@given(work=starts(most=16))
def test_of_relocations_and_exchanges_the_best_is_made(work: Grouped) -> None:
    twin = neighbourhood(work)
    for x in range(len(work.labels)):
        allowed = [
            move
            for move in (*twin.relocations(), *twin.exchanges())
            if twin.keeps(move) and x in move[0][0] and x not in move[1][0]
        ]
        gains = [
            (twin.gain(move), move)
            for move in allowed
            if x in move[1][1] and (move[0][1] & set(twin.neighbours[x]))
        ]
        best = max((gain for gain, _ in gains), default=0.0)
        state = begun(work)
        made = moved(state, find_exchange(state, x, work.k, near_of(state, x)))
        after = naive.sse(work.records, state.groups.labels)
        gained = naive.sse(work.records, work.labels) - after
        assert gained == pytest.approx(max(best, 0.0), abs=1e-9)
        if abs(best) > 1e-9:
            assert (made > 0) == (best > 0.0)
        assert naive.holds(state.groups.labels, work.subjects, work.k)


@given(work=starts(most=14))
def test_chains_and_cycles_are_found_where_there_are_any(work: Grouped) -> None:
    twin = neighbourhood(work)
    best = max(
        (twin.gain(move) for move in (*twin.chains(), *twin.cycles()) if twin.keeps(move)),
        default=0.0,
    )
    gained = []
    for x in range(len(work.labels)):
        state = begun(work)
        if moved(state, find_chain(state, x, work.k, near_of(state, x))):
            after = state.groups.labels
            assert naive.holds(after, work.subjects, work.k)
            gain = naive.sse(work.records, work.labels)
            gained.append(gain - naive.sse(work.records, after))
            assert gained[-1] > -1e-12
            assert (after != work.labels).sum() in (2, 3)
    if best > 1e-9:
        assert gained
    if gained:
        assert max(gained) <= best + 1e-9


@given(work=starts(most=20))
def test_a_group_is_dissolved_as_by_the_slow_twin(work: Grouped) -> None:
    twin = neighbourhood(work)
    for group, inside in enumerate(twin.groups):
        expected = twin.dissolved(inside)
        if expected is None:
            continue
        change = -twin.gain((twin.groups, expected))
        for limit in (change - 1e-9, change + 1e-9):
            state = begun(work)
            left = kept(state, dissolve_group(state, group, limit))
            done = limit > change
            assert left == (len(inside) if done else 0)
            found = members(state.groups.labels)
            assert found == set(expected if done else twin.groups)


@given(work=starts(most=20))
def test_a_group_is_created_as_by_the_slow_twin(work: Grouped) -> None:
    twin = neighbourhood(work)
    for record in range(len(work.labels)):
        expected = twin.created(record)
        if expected is None:
            state = begun(work)
            assert kept(state, create_group(state, record, work.k, np.inf)) == 0
            assert members(state.groups.labels) == set(twin.groups)
            continue
        change = -twin.gain((twin.groups, expected))
        for limit in (change - 1e-9, change + 1e-9):
            state = begun(work)
            done = limit > change
            left = kept(state, create_group(state, record, work.k, limit))
            assert left == (work.k if done else 0)
            found = members(state.groups.labels)
            assert found == set(expected if done else twin.groups)


@given(work=starts(most=20))
def test_a_group_is_cut_where_that_gains_most(work: Grouped) -> None:
    one = replace(work, labels=np.zeros_like(work.labels))
    twin = neighbourhood(one)
    (whole,) = twin.groups
    gains = [twin.gain(([whole], list(cut))) for cut in twin.cuts(whole)]
    state = begun(one)
    left = kept(state, split_group(state, 0, work.k, np.inf))
    found = members(state.groups.labels)
    assert left == (0 if len(found) == 1 else len(whole) - state.groups.heads["size"][0])
    if left:
        assert naive.holds(state.groups.labels, work.subjects, work.k)
    if gains:
        gained = twin.gain(([whole], list(found)))
        assert gained >= max(gains) - 1e-9
    if twin.different(whole) < 2 * work.k:
        assert left == 0
