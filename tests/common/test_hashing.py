"""Hashes of numbers: equal for equal rows, and the least ones of each owner."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.hashing import bits_mixed, hashes_of, least_hashes


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=40),
    st.sampled_from([5, 300, 70_000]),
)
def test_the_least_hashes_are_those_of_a_slow_twin(held: list[tuple[int, int]], more: int) -> None:
    owner, hashes = np.array(held, dtype=np.int64).reshape(-1, 2).T
    found = least_hashes(owner * (more // 5), hashes.astype(np.uint64), more, 3)
    for number in range(5):
        least = sorted({one for who, one in held if who == number})[:3]
        assert found[number * (more // 5)].tolist() == least + [0] * (3 - len(least))


def test_equal_rows_have_equal_hashes_and_others_differ() -> None:
    lat = np.array([0.0, -0.0, np.nan, -np.nan, 1.0, 2.0])
    lon = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 1.0])
    hashes = hashes_of(lat, lon)
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert len(np.unique(hashes)) == 4  # columns do not change places
    assert (hashes_of(lon, lat)[4:] == hashes[4:][::-1]).all()


def test_no_two_numbers_are_mixed_to_the_same() -> None:
    """And a bit more or less changes half of all bits."""
    numbers = np.arange(1 << 16, dtype=np.uint64)
    mixed = bits_mixed(numbers)
    assert mixed[0] == 0
    assert len(np.unique(mixed)) == len(numbers)
    changed = np.bitwise_count(mixed ^ bits_mixed(numbers ^ np.uint64(1)))
    assert abs(changed.mean() - 32) < 0.5
