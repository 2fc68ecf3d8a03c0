"""Which windows are taken where only some are."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.errors import BadInput
from trajanon.extract.rules import Rules
from trajanon.extract.selection import selected_windows, some_of_each


def taken(
    subject: list[int], trace: list[int], counts: Counter[str] | None = None, **how: Any
) -> list[int]:
    rules = Rules(spacing=10, **how)
    counts = Counter() if counts is None else counts
    found = selected_windows(np.array(subject), np.array(trace), rules, counts)
    return [int(place) for place in np.flatnonzero(found)]


ANN = [0] * 6 + [1] * 3
"""Two traces of one subject, the first with six windows, the second with three."""


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ({"windows": "first"}, [0, 6]),
        ({"windows": "spread"}, [3, 7]),
        ({"windows": "first", "per_trace": 2}, [0, 1, 6, 7]),
        ({"windows": "spread", "per_trace": 2}, [1, 4, 6, 8]),
        ({"windows": "spread", "per_trace": 9}, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ({"max_per_subject": 4}, [0, 1, 2, 3]),
        ({"windows": "spread", "per_trace": 9, "max_per_subject": 3}, [1, 4, 7]),
        ({"windows": "first", "max_per_subject": 1}, [0]),
    ],
)
def test_windows_of_a_trace_and_a_subject(how: dict[str, Any], expected: list[int]) -> None:
    assert taken([0] * 9, ANN, **how) == expected


def test_what_each_limit_left_out_is_counted() -> None:
    counts: Counter[str] = Counter()
    subject = [0] * 9 + [1]
    how = {"windows": "first", "per_trace": 3, "max_per_subject": 4}
    assert taken(subject, [*ANN, 2], counts, **how) == [0, 1, 2, 6, 9]
    assert counts == {
        "trajectories over the limit of a trace": 3,
        "trajectories over the limit of a subject": 2,
    }


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"windows": "last"}, "`windows` must be all or first or spread (got 'last')"),
        ({"per_trace": 1}, "add `windows='first'`, or `windows='spread'`"),
        ({"windows": "first", "per_trace": 0}, "`per_trace` must be at least 1"),
        ({"max_per_subject": 0}, "`max_per_subject` must be at least 1 (got 0)"),
        ({"trim_ends": -1.0}, "`trim_ends` must be a number of metres"),
        ({"trim_ends": float("nan")}, "`trim_ends` must be a number of metres"),
    ],
)
def test_rules_that_make_no_sense_are_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        Rules(spacing=10, **how)
    assert words in str(caught.value)


keys = st.lists(st.integers(0, 4), min_size=1, max_size=40).map(
    lambda some: np.unique(some, return_inverse=True)[1].astype(np.int64)
)


@given(keys, st.integers(0, 12), st.booleans())
def test_each_gives_its_quota_or_all(
    key: np.ndarray[Any, np.dtype[np.int64]], quota: int, spread: bool
) -> None:
    kept = some_of_each(key, quota, spread=spread)
    expected = np.minimum(np.bincount(key), quota)
    np.testing.assert_array_equal(np.bincount(key[kept], minlength=len(expected)), expected)


@given(st.integers(1, 60), st.integers(1, 60))
def test_what_is_spread_lies_in_the_middle_of_equal_parts(size: int, quota: int) -> None:
    kept = some_of_each(np.zeros(size, dtype=np.int64), quota, spread=True)
    quota = min(quota, size)
    middles = [(2 * j + 1) * size // (2 * quota) for j in range(quota)]
    assert np.flatnonzero(kept).tolist() == middles
