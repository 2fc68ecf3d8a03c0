import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.utility import displacement

ELLIPSOID = pyproj.Geod(ellps="WGS84")


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


@pytest.mark.parametrize("place", [(0.0, 0.0), (40.4, -3.7), (-89.9, 179.0)])
def test_what_stays_is_not_displaced(place: tuple[float, float]) -> None:
    points = np.full((2, 3, 2), place)
    assert displacement(points, points).tolist() == [[0.0] * 3] * 2


def test_each_point_is_measured() -> None:
    original = np.zeros((2, 3, 2))
    released = original.copy()
    released[1, 2] = 0.001, 0.0
    moved = displacement(original, released)
    assert moved.shape == (2, 3)
    assert np.count_nonzero(moved) == 1
    assert moved[1, 2] == pytest.approx(110.574, abs=0.001)
