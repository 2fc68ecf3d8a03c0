"""What lies within a radius of places: all of it is held, and nothing far."""

from dataclasses import dataclass

import numpy as np
import pytest
import shapely
from geodesics import ahead, along, nearest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.extract.earth.area import Region, around

seeds = st.integers(0, 10**6)
latitudes = st.floats(-72.0, 72.0)
radii = st.floats(5.0, 3_000.0)


@dataclass(frozen=True)
class Places:
    """Points and polygons, and what is measured of them."""

    shapes: NDArray[np.object_]
    lat: Floats
    lon: Floats

    @classmethod
    def at_random(cls, rng: np.random.Generator, at: float, spread: float) -> "Places":
        """Three points and three houses, so many metres from a latitude's zero."""
        lat, lon = ahead(
            np.full(6, at), np.zeros(6), rng.uniform(0, 360, 6), spread * rng.random(6)
        )
        shapes = [shapely.Point(lon[i], lat[i]) for i in range(3)]
        walls_lat, walls_lon = [lat[:3]], [lon[:3]]
        for i in range(3, 6):
            turn = 72.0 * np.arange(5) + rng.uniform(0, 30, 5)
            size = rng.uniform(5.0, 60.0, 5)
            corners = ahead(np.full(5, lat[i]), np.full(5, lon[i]), turn, size)
            shapes.append(shapely.Polygon(np.stack(corners[::-1], axis=1)))
            ring = shapely.get_coordinates(shapely.segmentize(shapes[-1].exterior, 5e-5))
            walls_lat.append(ring[:, 1])
            walls_lon.append(ring[:, 0])
        return cls(
            np.array(shapes, dtype=np.object_), np.concatenate(walls_lat), np.concatenate(walls_lon)
        )

    def distance(self, lat: Floats, lon: Floats) -> Floats:
        """Metres to the nearest, or some decimetres more; steps of walls are 5 m."""
        metres = nearest(lat, lon, self.lat, self.lon)
        metres[shapely.intersects_xy(shapely.union_all(self.shapes), lon, lat)] = 0.0
        return metres


def zone_of(shapes: NDArray[np.object_], radius: float) -> Region:
    return Region(shapely.union_all(around(shapes, radius)), "zone")


@given(seed=seeds, at=latitudes, radius=radii)
def test_all_within_the_radius_is_inside_and_nothing_far(
    seed: int, at: float, radius: float
) -> None:
    rng = np.random.default_rng(seed)
    places = Places.at_random(rng, at, 3 * radius)
    zone = zone_of(places.shapes, radius)
    count = 120
    # Half of them near the border of the zone of one place.
    away = radius * np.append(rng.uniform(0, 4, 60), rng.uniform(0.98, 1.03, 60))
    from_one = rng.integers(len(places.lat), size=count)
    lat, lon = ahead(places.lat[from_one], places.lon[from_one], rng.uniform(0, 360, count), away)
    inside, metres = zone.contains(lat, lon), places.distance(lat, lon)
    assert inside[metres <= radius].all()
    assert not inside[metres > 1.03 * radius + 1.0].any()


@settings(max_examples=30)
@given(seed=seeds, at=latitudes, radius=radii)
def test_no_way_comes_into_the_zone_unseen(seed: int, at: float, radius: float) -> None:
    rng = np.random.default_rng(seed)
    places = Places.at_random(rng, at, 3 * radius)
    zone = zone_of(places.shapes, radius)
    count = 30
    lat, lon = ahead(
        np.full(count, at),
        np.zeros(count),
        rng.uniform(0, 360, count),
        radius * rng.uniform(0, 6, count),
    )
    outside = ~zone.contains(lat, lon)
    start = np.flatnonzero(outside[:-1] & outside[1:])
    meets = zone.meets(lat, lon, start)
    assert meets.shape == start.shape
    on_lat, on_lon, step = along(lat, lon, 60)
    near = np.array([places.distance(on_lat[i], on_lon[i]).min() for i in start])
    assert meets[near <= radius].all()
    assert not meets[near - step[start] / 2 > 1.03 * radius + 1.0].any()


def point_zone(lat: float, lon: float, radius: float) -> Region:
    return zone_of(np.array([shapely.Point(lon, lat)]), radius)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_place_at_the_antimeridian_is_seen_from_both_sides(side: float) -> None:
    zone = point_zone(-17.0, side * 179.9995, 150.0)
    lon = side * np.array([179.9991, -179.9996, 179.99, -179.99])
    inside = zone.contains(np.full(4, -17.0), lon).tolist()
    assert inside == [True, True, False, False]


@pytest.mark.parametrize("lat", [89.95, -90.0])
def test_at_a_pole_all_within_the_radius_is_inside(lat: float) -> None:
    zone = point_zone(lat, 8.0, 2_000.0)
    azimuth = np.arange(0.0, 360.0, 15.0)
    there = ahead(np.full(24, lat), np.full(24, 8.0), azimuth, np.full(24, 1_990.0))
    assert zone.contains(*there).all()
