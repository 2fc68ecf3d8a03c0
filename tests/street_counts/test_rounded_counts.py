"""Counts in places and parts of the day, rounded to what they are worth."""

import numpy as np
import pandas as pd
import shapely
from hypothesis import given
from hypothesis import strategies as st

from trajanon.street_counts.day_parts import ALL_DAY, day_parts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.rounded_counts import (
    counts_of,
    passages,
    rounded_counts,
    table_of_counts,
)


@given(st.integers(0, 100_000), st.integers(1, 20))
def test_counts_are_rounded_to_what_they_are_worth(count: int, k: int) -> None:
    (rounded,) = rounded_counts(np.array([count]), k).tolist()
    if count < 10 * k:
        assert rounded % k == 0 or rounded == count < k
        assert abs(rounded - count) <= k / 2 or rounded == k
    else:
        assert abs(rounded - count) <= 0.05 * count
        assert len(str(rounded).rstrip("0")) <= 2
    assert rounded >= min(count, k)


LINES = ReleasedLines(np.zeros((3, 2, 2)), np.array([4, 7, 5]), attribution="© us", k=4)


def passed() -> pd.DataFrame:
    """Lines 0 and 1 pass place 8, line 0 twice; line 2 passes place 9 in no part."""
    place, line = np.array([8, 8, 8, 9, 9]), np.array([0, 0, 1, 2, 1])
    return passages({"place": place}, line, np.array([0, 1, 1, -1, 0]))


def test_a_line_counts_where_it_first_comes_to_a_place() -> None:
    found = passed()
    assert found[["place", "line", "part"]].to_numpy().tolist() == [[8, 0, 0], [8, 1, 1], [9, 1, 0]]


def test_trips_of_a_line_in_two_places_are_counted_once_on_the_whole() -> None:
    counts = counts_of(passed(), LINES)
    assert counts.table.to_numpy().tolist() == [[8, 0, 4, 1], [8, 1, 7, 1], [9, 0, 7, 1]]
    assert counts.trips_counted == 11


def test_a_table_says_what_its_counts_are_made_of() -> None:
    counts = counts_of(passed(), LINES)
    places = counts.table[["place"]]
    shapes = [shapely.Point(n, 0) for n in range(3)]
    drawn = table_of_counts(places, shapes, counts, LINES, day_parts("7-9,9-16"))
    assert drawn.trips.tolist() == [4, 8, 8]
    assert drawn.hours.tolist() == ["7-9", "9-16", "7-9"]
    assert drawn.attrs == {
        "attribution": "© us",
        "of_lines": 3,
        "of_trips": 16,
        "share_counted": 11 / 16,
        "k": 4,
    }
    assert "hours" not in table_of_counts(places, shapes, counts, LINES, ALL_DAY)


def test_where_k_is_not_known_small_counts_stay() -> None:
    assert rounded_counts(np.array([0, 1, 9, 10, 104, 1_250]), None).tolist() == [
        *(0, 1, 9, 10, 100, 1_300)
    ]
