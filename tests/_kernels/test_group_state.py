"""What the kernels keep of groups while records move, and what moves change."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import exchanged, kept

from trajanon._kernels.common import squared_distance
from trajanon._kernels.descent_moves import (
    Descent,
    create_group,
    dissolve_group,
    gather,
    send_back,
    split_group,
)
from trajanon._kernels.group_state import (
    NONE,
    Groups,
    count_places,
    exchange,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
    refresh_centroids,
    replacing_change,
)
from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.descent import build_descent, build_groups

seeds = st.integers(0, 10**6)


def chain(groups: Groups, group: int) -> list[int]:
    """The members of a group in the order of its chain, which leads back as well."""
    found, before, member = [], -1, int(groups.heads["first"][group])
    while member >= 0:
        assert groups.members["preceding"][member] == before
        assert member not in found
        found.append(member)
        before, member = member, int(groups.members["following"][member])
    return found


def are_sound(groups: Groups) -> bool:
    """Whether all that is kept of the groups can be found again from the labels."""
    for group in range(len(groups.heads["size"])):
        inside = np.flatnonzero(groups.labels == group)
        assert sorted(chain(groups, group)) == inside.tolist()
        assert groups.heads["size"][group] == len(inside)
        assert groups.heads["subject_count"][group] == len(
            set(groups.members["subject"][inside].tolist())
        )
        if len(inside):
            mean = groups.records[inside].mean(axis=0)
            assert groups.centroids[group] == pytest.approx(mean, abs=1e-11)
    height = int(groups.empty[-1])
    stack = groups.empty[:height].tolist()
    assert len(set(stack)) == height
    assert sorted(stack) == np.flatnonzero(groups.heads["size"] == 0).tolist()
    return True


@st.composite
def states(draw: st.DrawFn) -> Groups:
    """Records in random groups of any size, among them duplicates, far from zero."""
    rng = np.random.default_rng(draw(seeds))
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    records = rng.normal(size=(n, p))
    if draw(st.booleans()):
        records = records[rng.integers(0, max(n // 2, 1), n)]
    if draw(st.booleans()):
        records += 1e6
    subjects = renumbered(rng.integers(0, n, n)) if draw(st.booleans()) else np.arange(n)
    labels = renumbered(rng.integers(0, max(n // 3, 1), n))
    return build_groups(records, labels, subjects, n + 1)


# What a change of one group adds to its SSE


@given(groups=states())
def test_changes_are_those_of_the_sse_computed_anew(groups: Groups) -> None:
    n, labels = len(groups.labels), groups.labels
    now = naive.sse(groups.records, labels)
    for x in range(n):
        alone = labels.copy()
        alone[x] = -1
        left = naive.sse(groups.records, alone)
        assert leaving_change(groups, x) == pytest.approx(left - now, abs=1e-9)
        for group in range(len(groups.heads["size"])):
            if group != labels[x]:
                joined = alone.copy()
                joined[x] = group
                change = naive.sse(groups.records, joined) - left
                found = joining_change(groups, groups.records[x], group)
                assert found == pytest.approx(change, abs=1e-9)


@given(groups=states())
def test_changes_by_taking_a_place_are_those_of_the_sse_computed_anew(groups: Groups) -> None:
    n, labels = len(groups.labels), groups.labels
    now = naive.sse(groups.records, labels)
    for x in range(n):
        for z in range(n):
            if labels[x] == labels[z]:
                continue
            other = exchanged(labels, x, z)
            change = naive.sse(groups.records, other) - now
            assert exchange_change(groups, x, z) == pytest.approx(change, abs=1e-9)
            inside = labels == labels[z]
            replaced = inside.copy()
            replaced[[x, z]] = True, False
            change = naive.group_sse(groups.records[replaced])
            change -= naive.group_sse(groups.records[inside])
            enters = squared_distance(groups.records[x], groups.centroids[labels[z]])
            found = replacing_change(groups, z, x, enters)
            assert found == pytest.approx(change, abs=1e-9)


# Who may leave


def stay(groups: Groups, record: int) -> list[int]:
    """The subjects of the other members of a record's group."""
    others = groups.labels == groups.labels[record]
    others[record] = False
    return [int(subject) for subject in groups.members["subject"][others]]


@given(groups=states(), k=st.integers(1, 4))
def test_a_record_may_leave_or_be_replaced_where_k_different_subjects_are_then(
    groups: Groups, k: int
) -> None:
    for x in range(len(groups.labels)):
        others = stay(groups, x)
        assert may_leave(groups, x, k) == (len(set(others)) >= k)
        if groups.heads["subject_count"][groups.labels[x]] < k:
            continue
        for z in np.flatnonzero(groups.labels != groups.labels[x]).tolist():
            there = {*others, int(groups.members["subject"][z])}
            assert may_replace(groups, x, z, k) == (len(there) >= k)


@given(groups=states(), seed=seeds, distinct=st.integers(2, 3))
def test_places_of_a_group_are_counted_as_they_will_be(
    groups: Groups, seed: int, distinct: int
) -> None:
    rng = np.random.default_rng(seed)
    n = len(groups.labels)
    place = rng.integers(0, 4, n)
    ends = 1000.0 * place[:, None, None] * np.ones((n, 1, 3))
    is_free = rng.random(n) < 0.2
    ends[is_free] = np.nan
    place[is_free] = 10 + np.flatnonzero(is_free)
    groups = groups._replace(ends=ends, picked=np.empty(distinct, dtype=np.int64), reach=1e9)
    for x in range(n):
        others = np.flatnonzero(groups.labels == groups.labels[x])
        others = others[others != x]
        for z in (int(NONE), *np.flatnonzero(groups.labels != groups.labels[x]).tolist()):
            places = set(place[others].tolist())
            if z >= 0:
                places.add(int(place[z]))
            counted = count_places(groups, groups.labels[x], 0, np.int64(x), np.int64(z))
            assert counted == min(len(places), distinct)


# What is kept while records move


@given(groups=states(), seed=seeds, k=st.integers(1, 4))
def test_groups_stay_sound_whatever_moves(groups: Groups, seed: int, k: int) -> None:
    """Moves, and whole groups dissolved, created and cut, done and taken back."""
    rng = np.random.default_rng(seed)
    near = exact_neighbours(groups.records, 16)
    problem = Problem(groups.records, groups.members["subject"], 1)
    state = build_descent(problem, groups.records, groups.labels, near)
    groups = state.groups
    n = len(groups.labels)
    for what in rng.choice(6, 60, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]):
        limit = rng.choice([-np.inf, np.inf])
        record = int(rng.integers(n))
        group = int(groups.labels[record])
        target = int(groups.labels[rng.integers(n)])
        before = groups.labels.copy()
        if what == 0:
            if target != group and groups.heads["size"][group] > 1:
                move(groups, record, target)
                assert groups.labels[record] == target
            continue
        if what == 5:
            partner = int(rng.integers(n))
            if groups.labels[partner] != group:
                exchange(groups, record, partner)
                assert np.array_equal(groups.labels, exchanged(before, record, partner))
            continue
        if what == 1:
            done = kept(state, dissolve_group(state, group, limit))
            assert done == 0 or not (groups.labels == group).any()
        elif what == 2:
            done = kept(state, create_group(state, record, k, limit))
            assert done == 0 or groups.heads["size"][groups.labels[record]] == done == k
        elif what == 3:
            done = kept(state, split_group(state, group, k, limit))
            assert done == 0 or 0 < groups.heads["size"][group] < (before == group).sum()
        else:
            done = 0
            count = gather(state, group)
            assert state.gathered[:count].tolist() == sorted(chain(groups, group))
            count = int(rng.integers(count + 1)) if target != group else 0
            state.origins[:count] = group
            for member in state.gathered[:count]:
                move(groups, member, target)
            send_back(state, count, 0)
        changed = np.flatnonzero(groups.labels != before)
        if done == 0:
            assert np.array_equal(groups.labels, before)
        else:
            assert limit > 0
            assert set(changed.tolist()) == set(state.gathered[:done].tolist())
            assert np.array_equal(before[changed], origins(state, changed, done))
        assert are_sound(groups)
    assert are_sound(groups)


def origins(state: Descent, records: Ints, count: int) -> Ints:
    """Where the records that a move has gathered came from."""
    came = dict(zip(state.gathered[:count].tolist(), state.origins[:count].tolist(), strict=True))
    return np.array([came[record] for record in records.tolist()], dtype=np.int64)


@given(seed=seeds, far=st.booleans())
def test_centroids_are_exact_again_when_they_are_computed_anew(seed: int, far: bool) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(30, 3)) + 1e6 * far
    labels = np.arange(30) % 4
    groups = build_groups(records, labels, np.arange(30), 5)
    groups.centroids[:] += rng.normal(size=groups.centroids.shape)
    refresh_centroids(groups)
    for group in range(4):
        mean = groups.records[labels == group].mean(axis=0)
        assert groups.centroids[group] == pytest.approx(mean, abs=1e-14)
