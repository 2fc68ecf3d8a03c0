import naive_columns
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pricings import different, peoples, random_pricing, room, seeds

from trajanon._kernels.column_search import earnings, exchange_member, grow_group, grow_groups


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


@given(seed=seeds, m=st.integers(2, 12), k=st.integers(2, 4), people=peoples, grid=...)
def test_exchanges_earn_most_and_end_where_none_earns(
    seed: int, m: int, k: int, people: int | None, grid: bool
) -> None:
    records, pricing = random_pricing(seed, m, k, people, grid)
    args = records, pricing.prices, pricing.subjects, pricing.k
    for record in range(m):
        members = np.full(pricing.halves.shape[1], record)
        group = members[: grow_group(pricing, members, 1, np.empty(m))]
        if len(group):
            most = naive_columns.most_after_exchange(*args, group.tolist())
            exchange_member(pricing, group, np.empty(m))
            assert earnings(pricing, group) == pytest.approx(most, abs=1e-9)
    found, sizes = room(pricing)
    found[:, 0] = np.arange(m)
    grow_groups(pricing, 1, True, found, sizes, np.empty(m))
    for members, size in zip(found, sizes, strict=True):
        if size:
            group = members[:size]
            assert len(set(group.tolist())) == size
            assert different(pricing, group) >= pricing.k
            most = naive_columns.most_after_exchange(*args, group.tolist())
            assert earnings(pricing, group) == pytest.approx(most, abs=1e-9)
