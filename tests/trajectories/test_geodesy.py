"""Geodesy: metres and degrees beside those of PROJ, and cells of equal width."""

import numpy as np
import pyproj
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import (
    EARTH_RADIUS,
    cells,
    in_space,
    metres_between,
    metres_of_degrees,
    places_in_cells,
    wrapped,
)

ELLIPSOID = pyproj.Geod(ellps="WGS84")

latitudes = st.floats(-89.0, 89.0)

longitudes = st.floats(-180.0, 180.0)


@given(latitudes)
def test_a_degree_has_as_many_metres_as_on_the_ellipsoid(latitude: float) -> None:
    north, east = metres_of_degrees(np.array(latitude))
    half = 1e-3 / 2
    to_north = ELLIPSOID.inv(0.0, latitude - half, 0.0, latitude + half)[2] / 1e-3
    to_east = ELLIPSOID.inv(-half, latitude, half, latitude)[2] / 1e-3
    assert north == pytest.approx(to_north, rel=1e-6)
    assert east == pytest.approx(to_east, rel=1e-6)


@given(
    lat=st.floats(-85, 85),
    lon=longitudes | st.sampled_from([180.0, -180.0, 179.999, -179.999]),
    azimuth=st.floats(0, 360),
    metres=st.floats(-2, 4).map(lambda digits: 10.0**digits),
)
@example(lat=0.0, lon=179.9999, azimuth=90.0, metres=14_000.0)
def test_ways_are_as_long_as_geodesics(
    lat: float, lon: float, azimuth: float, metres: float
) -> None:
    to_lon, to_lat, _ = ELLIPSOID.fwd(lon, lat, azimuth, metres)
    found = metres_between(*(np.array([each]) for each in (lat, lon, to_lat, to_lon)))
    assert found[0] == pytest.approx(metres, rel=1e-4, abs=1e-6)


def test_the_way_over_the_antimeridian_is_the_short_one() -> None:
    west, east = np.array([-179.99]), np.array([179.99])
    equator = np.zeros(1)
    expected = ELLIPSOID.inv(-179.99, 0.0, 179.99, 0.0)[2]
    assert metres_between(equator, west, equator, east) == pytest.approx(expected, rel=1e-6)
    assert metres_between(equator, east, equator, west) == pytest.approx(expected, rel=1e-6)


@given(st.floats(-1_000.0, 1_000.0), longitudes)
def test_wrapped_longitudes_are_the_same_places_near_the_meridian(
    degrees: float, meridian: float
) -> None:
    found = float(wrapped(np.array(degrees), meridian))
    assert abs(found - meridian) <= 180.0 + 1e-9
    turns = (found - degrees) / 360.0
    assert turns == pytest.approx(round(turns), abs=1e-9)


def test_places_in_space_are_as_far_from_each_other_as_on_a_round_earth() -> None:
    pole, equator, opposite = in_space(np.array([[90.0, 77.0], [0.0, 0.0], [0.0, 180.0]]))
    assert np.linalg.norm(pole) == pytest.approx(EARTH_RADIUS)
    assert np.linalg.norm(pole - equator) == pytest.approx(np.sqrt(2.0) * EARTH_RADIUS)
    assert np.linalg.norm(equator - opposite) == pytest.approx(2.0 * EARTH_RADIUS)


@given(
    st.lists(st.tuples(st.floats(-89.9, 89.9), longitudes), min_size=1, max_size=9),
    st.sampled_from([1.0, 150.0, 500.0, 3_000.0]),
)
def test_the_middle_of_a_cell_is_in_it_and_near_all_of_its_places(
    places: list[tuple[float, float]], metres: float
) -> None:
    points = np.array(places)
    numbers = cells(points, metres)
    middles = places_in_cells(numbers, metres)
    assert cells(middles, metres).tolist() == numbers.tolist()
    # At the pole the ends of a row differ in width; in latitude all lie within half a cell.
    height = metres / 111_195.0
    assert (np.abs(points[:, 0] - middles[:, 0]) <= height / 2 + 1e-9).all()
    corners = places_in_cells(numbers, metres, 0.0)
    assert (corners <= points + 1e-9).all()


@pytest.mark.parametrize("metres", [10.0, 500.0, 40_000.0])
def test_the_middle_of_a_cell_is_in_it(metres: float) -> None:
    random = np.random.default_rng(0)
    points: Floats = random.uniform((-85, -180), (85, 180), (500, 2))
    numbers = cells(points, metres)
    assert (cells(places_in_cells(numbers, metres), metres) == numbers).all()


def test_cells_are_as_wide_as_high() -> None:
    for latitude in (0.0, 40.0, -70.0, 89.0):
        line = np.stack([np.full(5_000, latitude), np.linspace(-1, 1, 5_000)], axis=-1)
        width = displacement(line[:1], line[-1:])[0] / 500.0
        found = len(np.unique(cells(line, 500.0)))
        assert found == pytest.approx(width, rel=0.02, abs=1.5)
    assert np.ptp(cells(np.array([[0.0, 0.001], [0.0, 0.004]]), 500.0)) == 0
    assert len(np.unique(cells(np.array([[0.0, 0.0], [0.0, -1e-9]]), 500.0))) == 2
