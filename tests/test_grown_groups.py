import naive_columns
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markets import different, peoples, random_market, room, seeds

from trajanon._kernels.pricing import earnings, exchange_member, grow_group, grow_groups


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 4), people=peoples)
def test_groups_grow_as_their_slow_twin(seed: int, m: int, k: int, people: int | None) -> None:
    records, market = random_market(seed, m, k, people, grid=False)
    largest = market.halves.shape[1]
    for record in range(m):
        members = np.full(largest, record)
        size = grow_group(market, members, 1)
        assert members[:size].tolist() == naive_columns.grown_group(
            records, market.prices, market.subjects, market.k, record
        )


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 4), people=peoples, grid=...)
def test_exchanges_earn_most_and_end_where_none_earns(
    seed: int, m: int, k: int, people: int | None, grid: bool
) -> None:
    records, market = random_market(seed, m, k, people, grid)
    args = records, market.prices, market.subjects, market.k
    for record in range(m):
        members = np.full(market.halves.shape[1], record)
        group = members[: grow_group(market, members, 1)]
        if len(group):
            most = naive_columns.most_after_exchange(*args, group.tolist())
            exchange_member(market, group)
            assert earnings(market, group) == pytest.approx(most, abs=1e-9)
    found, sizes = room(market)
    grow_groups(market, np.arange(m), found, sizes)
    for members, size in zip(found, sizes, strict=True):
        if size:
            group = members[:size]
            assert len(set(group.tolist())) == size
            assert different(market, group) >= market.k
            most = naive_columns.most_after_exchange(*args, group.tolist())
            assert earnings(market, group) == pytest.approx(most, abs=1e-9)
