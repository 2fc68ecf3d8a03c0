import naive_columns
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pricings import different, peoples, random_pricing, seeds

from trajanon import workers
from trajanon._kernels.column_search import earnings, grow_group, room_for, search_groups
from trajanon.bound.pricing import search_best


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 4), people=peoples)
def test_groups_grow_as_their_slow_twin(seed: int, m: int, k: int, people: int | None) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid=False)
    largest = pricing.halves.shape[1]
    for record in range(m):
        members = np.full(largest, record)
        size = grow_group(pricing, members, 1, np.empty(m))
        assert members[:size].tolist() == naive_columns.grown_group(
            records, pricing.prices, pricing.subjects, pricing.k, record
        )


@given(seed=seeds, m=st.integers(2, 9), k=st.integers(2, 4), people=peoples, grid=...)
def test_the_search_finds_the_group_that_earns_most_round_each_record(
    seed: int, m: int, k: int, people: int | None, grid: bool
) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid)
    room, least = room_for(pricing, m), -1.0
    at_most, found, sizes = np.zeros(m), room.found, room.sizes
    assert search_groups(pricing, room, np.arange(m), least, 10**6, at_most)
    for record in range(m):
        most = naive_columns.most_earned(
            records, pricing.prices, pricing.subjects, pricing.k, record
        )
        if most > least + 1e-9:
            group = found[record, : sizes[record]]
            assert group[0] == record
            assert len(set(group.tolist())) == len(group)
            assert different(pricing, group) >= pricing.k
            assert len(group) <= 2 * pricing.k - 1
            got = naive_columns.earnings(records, pricing.prices, group.tolist())
            assert got >= most - 1e-9
            assert earnings(pricing, group) == pytest.approx(got)
        group = found[record, : sizes[record]]
        assert at_most[record] == pytest.approx(earnings(pricing, group) if len(group) else least)


def test_a_search_cut_short_says_so_and_still_bounds_what_groups_earn() -> None:
    _, pricing = random_pricing(5, 40, 3, None, grid=False)
    room = room_for(pricing, 40)
    roots, most, at_most = np.arange(40), np.zeros(40), np.zeros(40)
    assert search_groups(pricing, room, roots, 0.0, 10**6, most)
    for nodes in (1, 2, 3, 4, 1000):
        complete = search_groups(pricing, room, roots, 0.0, nodes, at_most)
        assert (at_most >= most).all()
        assert complete == (nodes > 100)
        assert complete == bool((at_most == most).all())


def test_the_search_is_the_same_on_one_core_and_two(monkeypatch: pytest.MonkeyPatch) -> None:
    _, pricing = random_pricing(3, 60, 3, None, grid=False)
    found = []
    for cores in (1, 2):
        monkeypatch.setattr(workers, "cores", lambda cores=cores: cores)
        found.append(search_best(pricing, 0.0, 50))
    one, two = found
    assert [g.tolist() for g in one.groups] == [g.tolist() for g in two.groups]
    assert one.complete == two.complete
    assert np.array_equal(one.at_most, two.at_most)
