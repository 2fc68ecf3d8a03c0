import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import line, points, trace

from trajanon.extract import impossible_and_stray_points as dropped
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points

Step = Callable[[Points], Points]

NAN = math.nan
STEPS = [
    dropped.drop_impossible,
    dropped.settle_times,
    dropped.sort_by_time,
    lambda of: dropped.spread_minutes(of)[0],
    dropped.average_equal_times,
    lambda of: dropped.drop_strays(of, Rules(spacing=10)),
    dropped.drop_zero_hops,
]


def places(of: Points) -> list[tuple[float, float]]:
    return list(zip(of.lat.tolist(), of.lon.tolist(), strict=True))


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        (NAN, 2.0),
        (41.0, NAN),
        (NAN, NAN),
        (math.inf, 2.0),
        (41.0, -math.inf),
        (90.0001, 2.0),
        (-90.0001, 2.0),
        (41.0, 180.0001),
        (41.0, -180.0001),
        (0.0, 0.0),
        (-0.0, 0.0),
    ],
)
def test_impossible_points_are_dropped(lat: float, lon: float) -> None:
    kept = dropped.drop_impossible(points(trace([(41.0, 2.0), (lat, lon), (41.1, 2.1)])))
    assert places(kept) == [(41.0, 2.0), (41.1, 2.1)]


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), min_size=1, max_size=6))
def test_each_trace_is_sorted_by_itself(seconds: list[list[float]]) -> None:
    """Sorted, turned around and mixed ones side by side."""
    traces = [trace([(i, j) for j in range(len(times))], times) for i, times in enumerate(seconds)]
    ordered = dropped.sort_by_time(points(*traces))
    expected = [
        (i, j)
        for i, times in enumerate(seconds)
        for j in sorted(range(len(times)), key=times.__getitem__)
    ]
    assert places(ordered) == expected
    assert ordered.time.tolist() == [seconds[i][j] for i, j in expected]


def test_each_trace_settles_its_own_times() -> None:
    settled = dropped.settle_times(
        points(
            trace([(1, 1), (2, 2), (3, 3)], [1.0, NAN, 2.0]),
            trace([(4, 4), (5, 5), (6, 6)], [1.0, NAN, NAN]),
            trace([(7, 7)]),
        )
    )
    assert places(settled) == [(1, 1), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)]
    assert np.isfinite(settled.time).tolist() == [True, True] + [False] * 4


def test_points_of_one_second_become_their_average() -> None:
    fixes = [(1.0, 2.0), (2.0, 3.0), (4.0, 5.0), (6.0, 8.0), (6.0, 2.0)]
    merged = dropped.average_equal_times(points(trace(fixes, [10, 11, 11, 11, 12])))
    assert places(merged) == [(1, 2), (4, pytest.approx(16 / 3)), (6, 2)]
    assert merged.time.tolist() == [10, 11, 12]


def test_averages_far_from_zero_lose_no_digit() -> None:
    """A sum of many degrees would round away what a receiver knows."""
    away = np.arange(200_000) % 2 * 2e-9
    lat, lon = 89.9 + away, 179.9 + away
    recorded = trace(list(zip(lat.tolist(), lon.tolist(), strict=True)), [7.0] * len(lat))
    merged = dropped.average_equal_times(points(recorded))
    assert len(merged) == 1
    assert abs(merged.lat[0] - 89.9 - 1e-9) < 3e-14
    assert abs(merged.lon[0] - 179.9 - 1e-9) < 6e-14


@pytest.mark.parametrize(
    ("lon", "mean"),
    [((179.75, -179.75), 180.0), ((-179.5, 179.75), -179.875), ((179.5, -179.75), 179.875)],
)
def test_averages_at_the_antimeridian_lie_on_it(lon: tuple[float, float], mean: float) -> None:
    recorded = points(trace([(1.0, east) for east in lon], [7.0, 7.0]))
    assert places(dropped.average_equal_times(recorded)) == [(1.0, mean)]


def spread(stamps: Sequence[float], *places: float) -> tuple[list[float], int]:
    """The times of points at these places, or each farther to the north, once spread."""
    lat = places or range(1, len(stamps) + 1)
    after, many = dropped.spread_minutes(points(trace([(x, 2.0) for x in lat], stamps)))
    return after.time.tolist(), many


def test_points_that_share_a_minute_are_spread_over_it_in_their_order() -> None:
    assert spread([0, 0, 0, 60, 120, 120]) == ([0, 20, 40, 60, 120, 150], 5)
    assert spread([60, 60, 600, 600, 660]) == ([60, 90, 600, 630, 660], 4)


@pytest.mark.parametrize(
    "stamps",
    [
        [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0],  # ten a second: their order is chance
        [10.0, 10.0, 20.0, 20.0, 40.0, 60.0],  # averaged, a track keeps its form
        [0.0, 0.0, 60.0, 60.0, 120.5, 120.5],
        [0.0, 0.0, 3600.0, 3600.0, 7200.0],
        [86400.0, 86400.0, 172800.0, 172800.0],
        [120.0, 120.0, 120.0],
        [NAN, NAN, NAN],
    ],
)
def test_other_shared_times_stay_as_they_are(stamps: list[float]) -> None:
    after, many = spread(stamps)
    assert after == pytest.approx(stamps, nan_ok=True)
    assert many == 0


def test_a_row_that_comes_twice_now_and_then_is_no_reason_to_spread() -> None:
    once = (60.0 * np.arange(20)).tolist()
    assert spread(sorted([*once, 300.0]))[1] == 0
    twice = sorted([*once, *once])
    assert spread(twice, *np.repeat(np.arange(1.0, 21.0), 2).tolist()) == (twice, 0)


def test_where_minutes_are_spread_rows_that_come_twice_are_dropped() -> None:
    """Also where a whole table stands in a file twice."""
    stamps, places = [0, 0, 0, 60, 60, 60] * 2, [1, 2, 3, 4, 5, 6] * 2
    recorded = points(trace([(x, 2.0) for x in places], stamps))
    after, many = dropped.spread_minutes(dropped.sort_by_time(recorded))
    assert after.lat.tolist() == [1, 2, 3, 4, 5, 6]
    assert after.time.tolist() == [0, 20, 40, 60, 80, 100]
    assert many == 6


STRAY = [(40.4, -3.7), (40.4, -3.699), (40.5, -3.7), (40.4, -3.698), (40.4, -3.697)]


def test_a_fix_that_is_far_off_between_two_others_is_dropped() -> None:
    seconds = [0.0, 10.0, 20.0, 30.0, 40.0]
    kept = dropped.drop_strays(points(trace(STRAY, seconds)), Rules(spacing=10))
    assert places(kept) == STRAY[:2] + STRAY[3:]
    for rules in (Rules(spacing=10, max_speed=None), Rules(spacing=10, max_speed=2_000)):
        assert len(dropped.drop_strays(points(trace(STRAY, seconds)), rules)) == 5
    assert len(dropped.drop_strays(points(trace(STRAY)), Rules(spacing=10))) == 5


@pytest.mark.parametrize(
    "lat",
    [
        [40.4, 40.5, 40.5, 40.4],  # two in a row
        [40.4, 40.5, 40.4, 40.5, 40.4],  # which of them, nobody knows
        [40.5, 40.4, 40.4, 40.4],  # at the ends, there is no way back
        [40.4, 40.4, 40.4, 40.5],
        [40.4, 40.4, 40.5, 40.6, 40.6],  # past it, it is too fast, too
    ],
)
def test_what_may_not_be_a_single_stray_fix_stays(lat: list[float]) -> None:
    recorded = trace([(x, -3.7) for x in lat], (10.0 * np.arange(len(lat))).tolist())
    assert len(dropped.drop_strays(points(recorded), Rules(spacing=10))) == len(lat)


def test_noise_of_up_to_fifty_metres_is_no_stray_fix() -> None:
    recorded = line([0, 49, 1, 51.5, 1], [0.0, 0.1, 0.2, 0.3, 0.4])
    assert places(dropped.drop_strays(points(recorded), Rules(spacing=10))) == [
        place for number, place in enumerate(places(points(recorded))) if number != 3
    ]


def test_points_at_the_place_of_the_one_before_are_dropped() -> None:
    fixes = [(1, 1), (1, 1), (1, 1), (1, 2), (2, 2), (1, 1)]
    kept = dropped.drop_zero_hops(points(trace(fixes, [1, 2, 3, 4, 5, 6])))
    assert places(kept) == [(1, 1), (1, 2), (2, 2), (1, 1)]
    assert kept.time.tolist() == [1, 4, 5, 6]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_sees_an_empty_trace_among_others(step: Step) -> None:
    one, other = line([0, 10], [1, 2]), line([20, 30], [3, 4])
    cleaned = step(points(trace([]), one, trace([]), other))
    assert cleaned.trace.tolist() == [1, 1, 3, 3]
