import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tracks import GEOD

from trajanon.extract import Rules, Trace, cut
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
