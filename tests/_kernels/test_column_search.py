"""Groups that prices make worth most: grown from a record, and searched."""

import naive_columns
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pricings import peoples, random_pricing, room, seeds

from trajanon._kernels.column_search import grow_groups, room_for, search_groups


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 4), people=peoples)
def test_groups_grow_as_their_slow_twin(seed: int, m: int, k: int, people: int | None) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid=False)
    grown, sizes = room(pricing)
    grown[:, 0] = np.arange(m)
    grow_groups(pricing, grown, sizes, np.empty(m))
    for record in range(m):
        assert grown[record, : sizes[record]].tolist() == naive_columns.grown_group(
            records, pricing.prices, pricing.subjects, pricing.k, record
        )


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
