"""What groups earn by prices and pay by cuts: those found, those within a gap, the first ones."""

import naive_columns
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pricings import different, peoples, random_pricing, seeds

from trajanon.common import threads_and_dask
from trajanon.grouping.bound.pricing import (
    FIRST_NEIGHBOURS,
    FoundGroups,
    cut_coefficients,
    first_groups,
    groups_within,
    search_best,
    with_cuts,
)


@given(
    seed=seeds,
    m=st.integers(3, 9),
    k=st.integers(2, 4),
    people=peoples,
    grid=...,
    cuts=st.integers(0, 12),
    every=...,
)
def test_groups_found_earn_most_and_pay_once_for_two_of_three(
    seed: int, m: int, k: int, people: int | None, grid: bool, cuts: int, every: bool
) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid)
    rng = np.random.default_rng(seed)
    of = np.array([rng.choice(m, 3, replace=False) for _ in range(cuts)], np.int64).reshape(-1, 3)
    pricing = with_cuts(pricing, of, rng.exponential(0.5, cuts).round(1))
    best = search_best(pricing, -1.0, 10**6)
    groups = groups_within(pricing, 1.0, 10**4) if every else best.groups
    earned = {
        tuple(group): naive_columns.earnings(records, pricing.prices, group)
        - naive_columns.duals_due(pricing.cuts, pricing.cut_duals, group)
        for group in naive_columns.every_group(m, pricing.k, pricing.subjects)
    }
    got = {tuple(sorted(group.tolist())) for group in groups}
    assert best.complete
    assert got <= {group for group in earned if earned[group] > -1.0 - 1e-9}
    if every:
        assert got >= {group for group in earned if earned[group] > -1.0 + 1e-9}
        return
    for group in best.groups:
        own = earned[tuple(sorted(group.tolist()))]
        assert best.at_most[group[0]] == pytest.approx(own)
    for record in range(m):
        most = max(
            (
                earned[group]
                for group in earned
                if record in group and naive_columns.is_centre(records, list(group), record)
            ),
            default=-np.inf,
        )
        assert best.at_most[record] >= most - 1e-9


@given(seed=seeds, room=st.integers(1, 40))
@settings(max_examples=15)
def test_round_each_record_are_no_more_groups_than_there_is_room(seed: int, room: int) -> None:
    _, pricing = random_pricing(seed, 20, 3, None, grid=False)
    every = groups_within(pricing, 0.5, 10**4)
    found = groups_within(pricing, 0.5, room)
    most = max(np.bincount([group[0] for group in every], minlength=1))
    assert (len(found) == len(every)) == (most <= room)
    held = {tuple(sorted(group.tolist())) for group in every}
    assert held >= {tuple(sorted(group.tolist())) for group in found}
    roots = np.bincount([group[0] for group in found], minlength=20)
    assert roots.max() <= room


@pytest.mark.parametrize("room", [None, 2, 10_000])
def test_the_search_is_the_same_on_one_core_and_two(
    monkeypatch: pytest.MonkeyPatch, room: int | None
) -> None:
    _, pricing = random_pricing(3, 60, 3, None, grid=False)

    def found() -> FoundGroups:
        best = search_best(pricing, 0.0, 50)
        return best if room is None else best._replace(groups=groups_within(pricing, 0.1, room))

    monkeypatch.setattr(threads_and_dask, "cores", lambda: 1)
    one = found()
    monkeypatch.setattr(threads_and_dask, "cores", lambda: 2)
    two = found()
    assert [g.tolist() for g in one.groups] == [g.tolist() for g in two.groups]
    assert one.complete == two.complete
    assert np.array_equal(one.at_most, two.at_most)


@given(seed=seeds, m=st.integers(3, 9), cuts=st.integers(0, 8))
def test_which_cuts_count_which_groups(seed: int, m: int, cuts: int) -> None:
    rng = np.random.default_rng(seed)
    of = np.array([rng.choice(m, 3, replace=False) for _ in range(cuts)])
    groups = [sorted(rng.choice(m, 3, replace=False).tolist()) for _ in range(4)]
    got = cut_coefficients(groups, of.reshape(-1, 3), m).toarray()
    expected = [[len(set(group) & set(cut)) > 1 for cut in of] for group in groups]
    assert np.array_equal(got, np.array(expected).reshape(4, cuts))


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 5), people=peoples)
def test_near_ones_of_each_record_are_groups(seed: int, m: int, k: int, people: int | None) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid=False)
    expected = []
    for record in records:
        order = np.argsort(((records - record) ** 2).sum(axis=1), kind="stable")
        for behind in range(FIRST_NEIGHBOURS):
            near = [order[0], *order[1 + behind :]]
            expected += [near[: pricing.k], near[: pricing.k + 1]]
    allowed = {
        tuple(group) for group in expected if different(pricing, np.array(group)) >= pricing.k
    }
    assert {tuple(group.tolist()) for group in first_groups(pricing)} == allowed
