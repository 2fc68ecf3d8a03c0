"""Arrays of numbers that count and rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import renumbered


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float32"])
def test_labels_of_any_size_stay_apart(kind: str) -> None:
    labels = np.arange(-100, 101) if kind[0] != "u" else np.arange(201)
    repeated = np.repeat(labels.astype(kind), 2)
    assert renumbered(repeated).tolist() == [number for number in range(201) for _ in "ab"]


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=20))
def test_dense_labels_appear_in_order_and_part_the_same(raw: list[int]) -> None:
    labels = renumbered(np.array(raw)).tolist()
    first_seen = list(dict.fromkeys(labels))
    assert first_seen == list(range(len(set(raw))))
    assert len(set(zip(raw, labels, strict=True))) == len(set(raw))
