"""Which windows are taken where only some are."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.extract.cutting import selected_windows, some_of_each
from trajanon.extract.rules import Rules


def taken(
    subject: list[int], trace: list[int], counts: Counter[str] | None = None, **how: Any
) -> list[int]:
    rules = Rules(**{"spacing": 10, "per_recording": None, **how})
    counts = Counter() if counts is None else counts
    found = selected_windows(np.array(subject), np.array(trace), rules, counts)
    return [int(place) for place in np.flatnonzero(found)]


ANN = [0] * 6 + [1] * 3
"""Two traces of one subject, the first with six windows, the second with three."""


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ({"per_recording": 1}, [3, 7]),
        ({"per_recording": 2}, [1, 4, 6, 8]),
        ({"per_recording": 9}, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ({"max_per_subject": 4}, [1, 3, 5, 7]),
        ({"per_recording": 9, "max_per_subject": 3}, [1, 4, 7]),
        ({"per_recording": 1, "max_per_subject": 1}, [7]),
        ({"spacing": None, "per_recording": 1, "max_per_subject": 3}, [1, 4, 7]),
    ],
)
def test_windows_of_a_recording_and_a_subject(how: dict[str, Any], expected: list[int]) -> None:
    assert taken([0] * 9, ANN, **how) == expected


def test_what_each_limit_left_out_is_counted() -> None:
    counts: Counter[str] = Counter()
    subject = [0] * 9 + [1]
    how = {"per_recording": 3, "max_per_subject": 4}
    assert taken(subject, [*ANN, 2], counts, **how) == [1, 5, 6, 8, 9]
    assert counts == {
        "trajectories over the limit of a recording": 3,
        "trajectories over the limit of a subject": 2,
    }


keys = st.lists(st.integers(0, 4), min_size=1, max_size=40).map(
    lambda some: np.unique(some, return_inverse=True)[1].astype(np.int64)
)


@given(keys, st.integers(0, 12))
def test_each_gives_its_quota_or_all(key: np.ndarray[Any, np.dtype[np.int64]], quota: int) -> None:
    kept = some_of_each(key, quota)
    expected = np.minimum(np.bincount(key), quota)
    np.testing.assert_array_equal(np.bincount(key[kept], minlength=len(expected)), expected)


@given(st.integers(1, 60), st.integers(1, 60))
def test_what_is_spread_lies_in_the_middle_of_equal_parts(size: int, quota: int) -> None:
    kept = some_of_each(np.zeros(size, dtype=np.int64), quota)
    quota = min(quota, size)
    middles = [(2 * j + 1) * size // (2 * quota) for j in range(quota)]
    assert np.flatnonzero(kept).tolist() == middles
