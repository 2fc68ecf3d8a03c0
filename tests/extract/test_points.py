import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tracks import GEOD

from trajanon.arrays import Floats
from trajanon.extract.points import Geodesics

MILLIMETRE = 1e-3

latitudes = st.one_of(
    st.floats(-90, 90), st.sampled_from([0.0, 90.0, -90.0, 89.0, 89.94, -89.95, 89.9999999])
)
longitudes = st.one_of(st.floats(-180, 180), st.sampled_from([180.0, -180.0, 179.999, -179.999]))
metres = st.floats(-2, 7).map(lambda digits: 10.0**digits)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def one_way(lat: float, lon: float, to_lat: float, to_lon: float) -> Geodesics:
    return Geodesics(*(np.array([each]) for each in (lat, lon, to_lat, to_lon)))


def places(way: Geodesics, shares: list[float]) -> Floats:
    on = np.zeros(len(shares), dtype=np.int64)
    return np.stack(way.at(on, np.array(shares) * way.length[0]), axis=1)


def off(one: Floats, other: Floats) -> float:
    """Metres between places (lat, lon), at most."""
    _, _, apart = GEOD.inv(one[:, 1], one[:, 0], other[:, 1], other[:, 0])
    return float(np.max(apart))


@given(lat=latitudes, lon=longitudes, azimuth=st.floats(0, 360), metres=metres, shares=shares)
@example(lat=89.0, lon=10.0, azimuth=90.0, metres=660.0, shares=[0.2, 0.5, 0.8])
@example(lat=89.0, lon=10.0, azimuth=90.0, metres=680.0, shares=[0.2, 0.5, 0.8])
@example(lat=0.0, lon=179.9999, azimuth=90.0, metres=14_000.0, shares=[0.2, 0.9])
@example(lat=0.0, lon=0.0, azimuth=45.0, metres=5_000_000.0, shares=[0.2, 0.9])
def test_ways_are_geodesics_wherever_they_lie_and_however_long(
    lat: float, lon: float, azimuth: float, metres: float, shares: list[float]
) -> None:
    to_lon, to_lat, _ = GEOD.fwd(lon, lat, azimuth, metres)
    azimuth, _, length = GEOD.inv(lon, lat, to_lon, to_lat)
    way = one_way(lat, lon, to_lat, to_lon)
    assert way.length[0] == pytest.approx(length, abs=1e-6)
    expected = [GEOD.fwd(lon, lat, azimuth, share * length)[1::-1] for share in shares]
    found = places(way, shares)
    assert off(found, np.array(expected)) < MILLIMETRE
    assert (np.abs(found) <= (90.0, 180.0)).all()


@given(lat=latitudes, lon=longitudes, to_lat=latitudes, to_lon=longitudes)
def test_any_two_places_are_as_far_apart_as_they_are(
    lat: float, lon: float, to_lat: float, to_lon: float
) -> None:
    """The series is never taken for a way that only looks short."""
    length = GEOD.inv(lon, lat, to_lon, to_lat)[2]
    assert one_way(lat, lon, to_lat, to_lon).length[0] == pytest.approx(length, abs=1e-6)


def test_the_longest_short_ways_are_right_to_a_millimetre() -> None:
    """A dense sample about the limit, at all latitudes: the error is largest there."""
    random = np.random.default_rng(3)
    n = 50_000
    lat, lon = random.uniform(-89.99, 89.99, n), random.uniform(-180, 180, n)
    limit = np.cbrt(3e12 / (1 + 3 * np.tan(np.radians(lat)) ** 2))
    azimuth, metres = random.uniform(0, 360, n), limit * random.uniform(0.8, 1.1, n)
    to_lon, to_lat, _ = GEOD.fwd(lon, lat, azimuth, metres)
    ways = Geodesics(lat, lon, to_lat, to_lon)
    assert 0.5 < ways.long.mean() + 0.2 < 0.8  # both kinds are seen
    azimuth, _, length = GEOD.inv(lon, lat, to_lon, to_lat)
    np.testing.assert_allclose(ways.length, length, rtol=0, atol=1e-6)
    for share in (0.2, 0.5, 0.8):
        found = np.stack(ways.at(np.arange(n), share * ways.length), axis=1)
        to_lon, to_lat, _ = GEOD.fwd(lon, lat, azimuth, share * length)
        assert off(found, np.stack([to_lat, to_lon], axis=1)) < MILLIMETRE


@pytest.mark.parametrize("size", [1, 3, 7, 8, 63, 1000])
def test_a_way_has_the_same_bits_in_any_company(size: int) -> None:
    random = np.random.default_rng(4)
    lat, lon = random.uniform(-89, 89, 1000), random.uniform(-180, 180, 1000)
    to_lat, to_lon = lat + random.normal(0, 0.01, 1000), lon + 0.01
    whole = Geodesics(lat, lon, to_lat, to_lon)
    way = np.arange(1000)
    lats, lons = whole.at(way, 0.3 * whole.length)
    for begin in range(0, 1000, size):
        some = slice(begin, begin + size)
        part = Geodesics(lat[some], lon[some], to_lat[some], to_lon[some])
        assert part.length.tobytes() == whole.length[some].tobytes()
        found = part.at(way[: len(part.length)], 0.3 * part.length)
        assert found[0].tobytes() == lats[some].tobytes()
        assert found[1].tobytes() == lons[some].tobytes()
