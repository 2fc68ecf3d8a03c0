import naive_columns
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pricings import peoples, random_pricing, seeds

from trajanon._kernels.column_search import room_for, search_groups
from trajanon.common import threads_and_dask
from trajanon.grouping.bound.pricing import FoundGroups, groups_within, search_best, with_cuts


def test_a_search_without_room_says_so() -> None:
    _, pricing = random_pricing(5, 40, 3, None, grid=False)
    room = room_for(pricing, 50, finds_all=True)
    assert not search_groups(pricing, room, np.arange(40), 0.0, 10**6, np.zeros(40))
    assert room.sizes.all()


def test_a_search_cut_short_says_so_and_still_bounds_what_groups_earn() -> None:
    _, pricing = random_pricing(5, 40, 3, None, grid=False)
    room = room_for(pricing, 40, finds_all=False)
    roots, most, at_most = np.arange(40), np.zeros(40), np.zeros(40)
    assert search_groups(pricing, room, roots, 0.0, 10**6, most)
    for nodes in (1, 2, 3, 4, 1000):
        complete = search_groups(pricing, room, roots, 0.0, nodes, at_most)
        assert (at_most >= most).all()
        assert complete == (nodes > 100)
        assert complete == bool((at_most == most).all())


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
