"""How much of a window is made up, how far it gets, and what it costs to cut."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import GEOD, Leg, bent, distance, line, points, trace, walk

from trajanon.extract.resample import WindowBatch, windows
from trajanon.extract.rules import Rules
from trajanon.extract.trace import Trace

legs = st.lists(st.tuples(st.floats(0, 360), st.floats(0.01, 900)), min_size=1, max_size=25)
spacings = st.floats(3, 250)
sizes = st.integers(2, 9)


def cut_windows(*recorded: Trace, spacing: float, size: int) -> WindowBatch:
    return windows(
        points(*recorded), Rules(spacing=spacing, points=size, per_recording=None, max_gap=None)
    )


# Filled in


@pytest.mark.parametrize(
    ("fixes", "filled"),
    [
        ([0, 1000], 7),  # 200, 300, ..., 800
        ([0, 500, 1000], 4),  # 200, 300; 700, 800
        ([0, 300, 600, 1000], 1),  # 800
        ([0, 310, 610, 1000], 3),  # 200, 500, 800
        ([*range(0, 1001, 200)], 0),
        ([*range(0, 1001, 7), 1000.5], 0),
    ],
)
def test_points_over_one_spacing_from_both_fixes_are_filled_in(
    fixes: list[float], filled: int
) -> None:
    """Those at just one spacing from a fix are not."""
    found = cut_windows(line(fixes, azimuth=0), spacing=100, size=11)
    assert found.filled.tolist() == [filled]


def test_the_way_to_a_fix_goes_along_the_track() -> None:
    """Out and back: at 50 m of each hop a fix of another hop is near by air."""
    there_and_back = bent([(90, 50), (90, 400), (270, 400)])
    found = cut_windows(there_and_back, spacing=50, size=17)
    assert found.filled.tolist() == [5 + 5]


@given(legs=legs, spacing=spacings, size=sizes)
def test_what_is_filled_in_is_what_somebody_counts_who_walks_along(
    legs: list[Leg], spacing: float, size: int
) -> None:
    recorded = bent(legs)
    lat, lon = recorded.lat, recorded.lon
    length = GEOD.inv(lon[:-1], lat[:-1], lon[1:], lat[1:])[2]
    walked = np.append(0.0, np.cumsum(length))
    found = cut_windows(recorded, spacing=spacing, size=size)
    place = np.arange(len(found.points) * size) * spacing
    nearest = np.abs(place[:, None] - walked).min(axis=1, initial=np.inf)
    sure = np.abs(nearest - spacing) > 1e-4
    expected = (nearest > spacing).reshape(-1, size)
    doubt = (~sure).reshape(-1, size).sum(axis=1)
    assert (np.abs(found.filled - expected.sum(axis=1)) <= doubt).all()


def test_without_windows_there_is_nothing_to_measure() -> None:
    found = cut_windows(line([0, 10]), line([5]), spacing=10, size=3)
    assert found.filled.tolist() == []
    assert found.track_length.tolist() == pytest.approx([10, 0])
    nothing = cut_windows(trace([]), spacing=10, size=3)
    assert nothing.points.shape == (0, 3, 2)
    assert nothing.filled.tolist() == nothing.track_length.tolist() == []


# Everywhere on Earth


@pytest.mark.parametrize("azimuth", [0, 77, 180, 270])
@pytest.mark.parametrize(
    "start", [(89.0, 20.0), (-89.9, 0.0), (0.0, 0.0), (40.0, 179.999), (0.0, -180.0)]
)
@pytest.mark.parametrize("hop", [0.1, 3.0, 450.0, 20_000.0])
def test_points_are_spaced_equally_wherever_the_track_lies(
    start: tuple[float, float], azimuth: float, hop: float
) -> None:
    """Over the antimeridian, along the equator and close by the pole."""
    fixes = [hop * i for i in range(9)]
    straight = line(fixes, start=start, azimuth=azimuth)
    found = cut_windows(straight, spacing=hop / 1.7, size=5)
    assert len(found.points) == 2  # 8 * 1.7 spacings hold 14 points
    assert (np.abs(found.points) <= (90.0, 180.0)).all()
    for here, there in pairwise(found.points.reshape(-1, 2)):
        assert distance(here, there) == pytest.approx(hop / 1.7, abs=1e-3)


def test_a_hop_of_five_thousand_kilometres_is_walked_like_any_other() -> None:
    far = bent([(60, 5_000_000), (200, 30)], start=(40.0, 150.0))
    found = cut_windows(far, spacing=10_000, size=50)
    assert len(found.points) == 10
    assert found.track_length.tolist() == pytest.approx([5_000_030], abs=1e-3)
    walked = walk(np.stack([far.lat, far.lon], axis=1), 10_000)
    for place, expected in zip(found.points.reshape(-1, 2), walked, strict=False):
        assert distance(place, expected) < 1e-3


# Memory


def test_cutting_needs_little_more_memory_than_what_it_gives() -> None:
    """With a point every metre, places are many times as many as fixes."""
    recorded = points(*[line([0, 4_000, 8_000]) for _ in range(100)])
    tracemalloc.start()
    found = windows(recorded, Rules(spacing=1.0, per_recording=None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.tracks is not None
    # Those of tracks are floats while they are laid.
    given = found.points.nbytes + 2 * found.tracks.points.ticks.nbytes
    assert len(found.points) == 26_600
    assert peak < 2 * given + 10e6
