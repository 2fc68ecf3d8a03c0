import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tracks import GEOD

from trajanon.trajectories.geodesy import metres_between

longitudes = st.one_of(st.floats(-180, 180), st.sampled_from([180.0, -180.0, 179.999, -179.999]))


@given(
    lat=st.floats(-85, 85),
    lon=longitudes,
    azimuth=st.floats(0, 360),
    metres=st.floats(-2, 4).map(lambda digits: 10.0**digits),
)
@example(lat=0.0, lon=179.9999, azimuth=90.0, metres=14_000.0)
def test_ways_are_as_long_as_geodesics(
    lat: float, lon: float, azimuth: float, metres: float
) -> None:
    to_lon, to_lat, _ = GEOD.fwd(lon, lat, azimuth, metres)
    found = metres_between(*(np.array([each]) for each in (lat, lon, to_lat, to_lon)))
    assert found[0] == pytest.approx(metres, rel=1e-4, abs=1e-6)
