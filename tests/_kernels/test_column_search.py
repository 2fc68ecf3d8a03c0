import naive_columns
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pricings import peoples, random_pricing, room, seeds

from trajanon._kernels.column_search import grow_groups


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
