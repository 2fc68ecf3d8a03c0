"""Traces without times: ways in their order, and clouds that are none."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import trace_pieces
from trajanon.extract.sources.trace_pieces import (
    CLOUD,
    UNTIMED_PIECES,
    is_cloud,
    number,
    without_unordered,
)
from trajanon.extract.trace import Trace


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
