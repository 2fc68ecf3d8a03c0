"""Distances: beside the ellipsoid, shapely's plane and numbers worked out by hand."""

from dataclasses import astuple

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import on_earth

from trajanon.trajectories import distances
from trajanon.trajectories.distances import (
    Histogram,
    displacement,
    distances_to_lines,
    length_change,
    lengths,
    summary,
    to_line,
    until_rest,
)

errors = st.lists(st.one_of(st.just(0.0), st.floats(2e-3, 1e5)), min_size=1, max_size=200)

ELLIPSOID = pyproj.Geod(ellps="WGS84")


@given(errors, errors)
def test_histograms_of_parts_sum_up_what_all_errors_do(
    one: list[float], other: list[float]
) -> None:
    joined = Histogram.of(np.array(one)).plus(Histogram.of(np.array(other)))
    found = joined.summary
    whole = np.sort(one + other)
    assert found.mean == pytest.approx(whole.mean())
    assert found.max == whole[-1]
    for share, quantile in ((0.5, found.median), (0.95, found.p95)):
        # The least error that so many are not above.
        expected = whole[int(np.ceil(share * len(whole) - 1e-9)) - 1]
        assert quantile == pytest.approx(expected, rel=2.1e-3, abs=1e-12)


def test_no_errors_are_summed_up_as_zero() -> None:
    assert astuple(Histogram.of(np.zeros(0)).summary) == (0.0, 0.0, 0.0, 0.0)


def test_errors_are_summed_up() -> None:
    shown = summary(np.arange(101.0).reshape(1, 101)[:, ::-1].copy())
    assert astuple(shown) == (50.0, 50.0, 95.0, 100.0)


def test_each_trajectory_is_measured_to_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where batches end within them."""
    random = np.random.default_rng(0)
    points = on_earth(random.normal(0.0, 500.0, (7, 4, 2)))
    lines = on_earth(random.normal(0.0, 500.0, (3, 4, 2)))
    labels = np.array([2, 0, 1, 1, 2, 0, 0])
    monkeypatch.setattr(distances, "_TRIPS_PER_TASK", 3)
    for measure in (displacement, to_line):
        found = distances_to_lines(points, lines, labels, measure)
        for row, label in enumerate(labels):
            (expected,) = measure(points[row][None], lines[label][None])
            assert found[row] == pytest.approx(expected, rel=1e-6)


def test_a_day_is_measured_until_it_rests() -> None:
    stays = [[0, 0], [9, 9], [7, 7], [7, 7], [7, 7]]
    comes_back = [[7, 7], [9, 9], [7, 7], [9, 9], [7, 7]]
    goes_nowhere = [[7, 7]] * 5
    marked = until_rest(np.array([stays, comes_back, goes_nowhere], dtype=np.float64))
    assert marked.tolist() == [
        [True, True, True, False, False],
        [True, True, True, True, True],
        [True, False, False, False, False],
    ]


@given(
    latitude=st.floats(-80, 80),
    longitude=st.floats(-179, 179),
    direction=st.floats(0, 360),
    metres=st.floats(0.1, 20_000),
)
def test_displacement_is_that_on_the_ellipsoid(
    latitude: float, longitude: float, direction: float, metres: float
) -> None:
    lon, lat, _ = ELLIPSOID.fwd(longitude, latitude, direction, metres)
    if abs(lon - longitude) > 180:  # over the antimeridian, which anonymize refuses
        return
    original = np.array([[[latitude, longitude]]])
    released = np.array([[[lat, lon]]])
    # 0.01 mm for the digits of a float of degrees.
    expected = pytest.approx(metres, rel=1e-5, abs=1e-5)
    assert displacement(original, released)[0, 0] == expected
    assert displacement(released, original)[0, 0] == expected


def test_lengths() -> None:
    line = on_earth([[[0, 0], [100, 0], [100, 100]], [[0, 0], [0, 0], [0, 0]]])
    turned = on_earth([[[0, 0], [0, 50], [0, -50]], [[0, 0], [0, 0], [0, 10]]])
    assert lengths(line) == pytest.approx([200.0, 0.0], rel=1e-4)
    # 200 m became 150 m; nothing became something.
    assert length_change(line, turned) == pytest.approx([-0.25, 1.0], rel=1e-4)
    assert length_change(line, line).tolist() == [0.0, 0.0]
