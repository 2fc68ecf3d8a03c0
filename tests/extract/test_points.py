"""Points of many traces in common arrays: pieces, hops, and times that are none."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import line, points, trace

from trajanon.extract import Rules, Trace, cut
from trajanon.extract.points import greatest_of

WALK = line([0.0, 30.0, 130.0], [0.0, 10.0, 30.0])


def test_traces_stand_one_after_another_each_a_piece() -> None:
    some = points(WALK, trace([]), replace(trace([(41.0, 2.0)]), without_fix=(5.0, 3.0)))
    assert some.trace.tolist() == some.piece.tolist() == [0, 0, 0, 2]
    assert {number: times.tolist() for number, times in some.without_fix.items()} == {2: [3.0, 5.0]}
    first, sizes = some.pieces
    assert (first.tolist(), sizes.tolist()) == ([0, 3], [3, 1])
    assert len(points()) == 0
    assert [len(part) for part in points().pieces] == [0, 0]


def test_hops_lead_from_point_to_point_within_a_piece() -> None:
    some = points(WALK, WALK)
    assert some.hop_ends.tolist() == [1, 2, 4, 5]
    assert some.hop_metres == pytest.approx([30.0, 100.0] * 2, rel=1e-4)
    assert some.hop_seconds.tolist() == [10.0, 20.0] * 2


def test_a_piece_begins_at_each_mark_and_pieces_stay_apart() -> None:
    some = points(WALK, WALK)
    begins = np.array([False, True, False, False, False, True])
    assert some.cut(begins).piece.tolist() == [0, 1, 1, 2, 2, 3]
    assert some.cut(np.zeros(6, dtype=np.bool_)) is some


def test_points_are_taken_by_mask_or_in_the_order_of_rows() -> None:
    some = points(WALK, WALK)
    taken = some.take(np.array([False, True, False, False, False, True]))
    assert taken.time.tolist() == [10.0, 30.0]
    assert taken.trace.tolist() == [0, 1]
    assert some.take(np.array([2, 0])).time.tolist() == [30.0, 0.0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_the_greatest_row_of_each_owner_is_found(rows: list[tuple[int, int, int]]) -> None:
    """The last key counts first, and of equal rows the first is taken."""
    owner, minor, major = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = greatest_of(owner, minor, major).tolist()
    expected = [
        max(
            (row for row in range(len(rows)) if rows[row][0] == each),
            key=lambda row: (rows[row][2], rows[row][1], -row),
        )
        for each in sorted({each for each, _, _ in rows})
    ]
    assert found == expected


@pytest.mark.parametrize("time", [np.inf, -np.inf, 1e308, -1e308])
@pytest.mark.parametrize("which", [[0], [5], [1, 3, 5], [10]])
def test_a_time_that_is_none_ends_no_recording(time: float, which: list[int]) -> None:
    seconds = np.arange(1.6e9, 1.6e9 + 660.0, 60.0, dtype=np.float64)
    seconds[which] = time
    walk = Trace("walk", "Ada", np.linspace(41.0, 41.01, 11), np.full(11, 2.0), seconds)
    counts = cut([walk], Rules()).provenance["counts"]
    assert counts["points without time in a timed recording"] == len(which)
    assert counts["pauses"] == 0


@pytest.mark.parametrize("seconds", [[np.inf, 0.0, np.inf], [np.inf, -np.inf, np.inf], [1e308] * 3])
def test_a_recording_whose_times_are_none_is_untimed(seconds: list[float]) -> None:
    walk = Trace("walk", "Ada", np.linspace(41.0, 41.01, 3), np.full(3, 2.0), np.array(seconds))
    assert cut([walk], Rules()).provenance["counts"]["trajectories without times"] == 1
