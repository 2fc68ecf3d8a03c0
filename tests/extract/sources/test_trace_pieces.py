"""Pieces of recordings: joined, left out without an order, and what a reader reads as numbers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import trace_pieces
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import (
    CLOUD,
    EMPTY,
    UNTIMED_PIECES,
    is_cloud,
    joined,
    joined_pieces,
    number,
    traces_of_fixes,
    without_unordered,
)
from trajanon.extract.trace import Trace
from trajanon.extract.why_left_out import OVERLAPS


def untimed(lat: list[float], lon: list[float], name: str = "a") -> Trace:
    places = np.array(lat, dtype=np.float64), np.array(lon, dtype=np.float64)
    return Trace(name, None, *places, np.full(len(lat), np.nan))


def cloud(points: int, seed: int = 0) -> Trace:
    """Places of many people, as the server sorts them."""
    rng = np.random.default_rng(seed)
    lat = np.sort(rng.uniform(38.0, 38.1, points).round(7))
    return untimed(lat.tolist(), rng.uniform(-0.7, -0.6, points).tolist())


def switchbacks(points: int) -> Trace:
    """A path that climbs north, ten fixes east, then ten west."""
    step = np.arange(points)
    east = np.abs((step % 20) - 10)
    return untimed((46.0 + step / 1e5).tolist(), (7.0 + east / 1e4).tolist())


def left(traces: list[Trace], choice: str = "accept") -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    return [trace.name for trace in without_unordered(traces, choice, counts)], counts


@given(st.integers(60, 5000), st.integers(0, 99))
def test_a_cloud_is_never_a_trace(points: int, seed: int) -> None:
    names, counts = left([cloud(points, seed)])
    assert names == []
    assert counts == {CLOUD: points}


def test_ways_to_the_north_are_no_clouds() -> None:
    straight = untimed(np.linspace(40, 41, 500).tolist(), [2.0] * 500)
    noise = 2.0 + np.random.default_rng(0).normal(0, 1e-6, 500).cumsum()
    walk = untimed(np.linspace(40, 41, 500).tolist(), noise.tolist())
    for way in (straight, switchbacks(400), untimed([1.0, 2.0, 3.0], [1.0, 0.0, 1.0])):
        assert left([way])[0] == ["a"]
    turns = np.diff(walk.lon)
    assert (turns[1:] * turns[:-1] < 0).mean() > 1 / 3  # as jitter has it
    assert not is_cloud(walk.lat, walk.lon)


def test_untimed_traces_are_rejected_when_asked() -> None:
    timed = Trace("b", None, np.ones(2), np.ones(2), np.array([np.nan, 5.0]))
    names, counts = left([switchbacks(30), timed], "reject")
    assert names == ["b"]
    assert counts == {UNTIMED_PIECES: 30}


def test_only_what_xml_and_json_take_for_a_number_is_one() -> None:
    written = ["4.5", " 4.5 ", "4,5", 4.5, "1_000", "0x10", "4,5,6", "", None, True, 10**400]
    numbers = [number(value) for value in written]
    np.testing.assert_array_equal(numbers, [4.5] * 4 + [np.nan] * 7)


def test_a_piece_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_pieces, "_MOST_FIXES", 39)
    path = tmp_path / "a.kml"
    places = "".join(f"2.0,41.{n:02d} " for n in range(40))
    path.write_text(f"<kml><LineString><coordinates>{places}</coordinates></LineString></kml>")
    with pytest.raises(FileProblem, match="has over 39 points in one piece"):
        list(traces(path))
    monkeypatch.setattr(trace_pieces, "_MOST_FIXES", 40)
    assert [len(trace) for trace in traces(path)] == [40]


def timed(*seconds: float, name: str = "a", cut_off: bool = False) -> Trace:
    places = np.full(len(seconds), 41.0), np.full(len(seconds), 2.0)
    return Trace(name, None, *places, np.array(seconds, dtype=np.float64), cut_off=cut_off)


def test_pieces_of_one_recording_are_joined_in_their_order() -> None:
    counts = Counter[str]()
    pieces = [timed(1, 2), timed(8, 9), timed(5, cut_off=True), timed(3, 4, name="b")]
    first, other = joined_pieces(pieces, counts)
    assert first.time.tolist() == [1, 2, 8, 9, 5]
    assert first.cut_off
    assert other is pieces[-1]
    assert not counts


def test_times_may_be_whole_numbers() -> None:
    """As callers of `cut` may have them."""
    pieces = [replace(timed(*t), time=np.array(t)) for t in ([1, 2], [8, 9])]
    (found,) = joined_pieces(pieces, Counter())
    assert found.time.tolist() == [1, 2, 8, 9]


def test_a_piece_that_was_recorded_at_the_same_time_is_of_another_device() -> None:
    counts = Counter[str]()
    found = joined_pieces([timed(1, 5), timed(10, 20), timed(4, 8), timed(30, 31)], counts)
    assert [trace.time.tolist() for trace in found] == [[1, 5, 10, 20], [4, 8, 30, 31]]
    assert counts == {OVERLAPS: 1}


def test_pieces_are_joined_within_one_number_alone() -> None:
    numbered = [(1, timed(1, 2)), (1, timed(3, 4)), (2, timed(5, 6))]
    found = joined(numbered, Counter())
    assert [trace.time.tolist() for trace in found] == [[1, 2, 3, 4], [5, 6]]


def test_fixes_before_a_failure_are_a_trace_that_is_cut_off() -> None:
    def fixes() -> Iterator[tuple[float, float, float] | None]:
        yield from [(41.0, 2.0, 1.0), (41.0, 2.0, 2.0), None, None, (41.0, 2.0, 9.0)]
        raise FileProblem("it is cut off")

    found: list[Trace] = []
    with pytest.raises(FileProblem):
        found.extend(traces_of_fixes(fixes(), Reading(label="a")))
    assert [(trace.time.tolist(), trace.cut_off) for trace in found] == [
        ([1.0, 2.0], False),
        ([9.0], True),
    ]


def test_a_recording_without_fixes_is_counted() -> None:
    reading = Reading(label="a")
    assert list(traces_of_fixes([None], reading)) == []
    assert reading.counts == {EMPTY: 1}
