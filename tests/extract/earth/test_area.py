"""Areas of any shape."""

import pickle

import numpy as np
import pytest
import shapely
from geodesics import ahead
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.earth.area import Box, Region

seeds = st.integers(0, 10**6)
latitudes = st.floats(-85.0, 85.0)


def star(rng: np.random.Generator, lat: float, metres: float) -> Region:
    """A shape with many bays around a place on the meridian of 8 degrees."""
    count = int(rng.integers(3, 40))
    turn = np.linspace(0.0, 360.0, count, endpoint=False)
    away = metres * rng.uniform(0.1, 1.0, count)
    corners = ahead(np.full(count, lat), np.full(count, 8.0), turn, away)
    return Region(shapely.Polygon(np.stack(corners[::-1], axis=1)), "star")


def spread(rng: np.random.Generator, region: Region, count: int) -> tuple[Floats, Floats]:
    """Points inside, a third of them on the border or a hair from it."""
    west, south, east, north = region.bounds.sides
    lat, lon = rng.uniform(south, north, count), rng.uniform(west, east, count)
    ring = region.shape.exterior
    near = shapely.line_interpolate_point(ring, rng.random(count // 3), normalized=True)
    hair = rng.normal(0, 1, (2, count // 3)) * 10.0 ** rng.uniform(-9, -4, count // 3)
    lat[::3][: count // 3] = shapely.get_y(near) + hair[0]
    lon[::3][: count // 3] = shapely.get_x(near) + hair[1]
    inside = region.contains(lat, lon)
    return lat[inside], lon[inside]


def along(lat: Floats, lon: Floats, count: int) -> tuple[Floats, Floats]:
    """Places on the straight ways between each point and the next, (points - 1, count)."""
    share = np.linspace(0.0, 1.0, count)
    return lat[:-1, None] + np.diff(lat)[:, None] * share, lon[:-1, None] + np.diff(lon)[
        :, None
    ] * share


@given(seed=seeds, at=latitudes, size=st.sampled_from([200.0, 2_000.0, 20_000.0]))
def test_a_way_that_leaves_is_never_missed(seed: int, at: float, size: float) -> None:
    """Ways that are looked at in 100 places."""
    rng = np.random.default_rng(seed)
    region = star(rng, at, size)
    lat, lon = spread(rng, region, 120)
    on_lat, on_lon = along(lat, lon, 100)
    leaves, meets = (ask(lat, lon, np.arange(len(on_lat))) for ask in (region.leaves, region.meets))
    stays = region.contains(on_lat.ravel(), on_lon.ravel()).reshape(len(on_lat), 100).all(axis=1)
    assert (stays | leaves).all()
    assert meets.all()


@given(seed=seeds, at=latitudes)
def test_a_way_far_from_the_border_does_not_leave(seed: int, at: float) -> None:
    """Its places are farther from the border than they are from one another."""
    rng = np.random.default_rng(seed)
    region = star(rng, at, 20_000.0)
    lat, lon = spread(rng, region, 120)
    on_lat, on_lon = along(lat, lon, 100)
    step = np.hypot(np.diff(lat), np.diff(lon)) / 99
    far = shapely.distance(region.shape.exterior, shapely.points(on_lon, on_lat))
    start = np.flatnonzero(far.min(axis=1) > step)
    assert not region.leaves(lat, lon, start).any()


def test_the_border_belongs_to_the_region_and_nothing_unknown() -> None:
    lat = np.array([40.0, 41.0, 40.5, 40.5, 41.0000001, np.nan, 40.5, np.inf])
    lon = np.array([2.5, 2.5, 2.0, 3.0, 2.5, 2.5, np.nan, 2.5])
    for area in (Region(shapely.box(2.0, 40.0, 3.0, 41.0), "box"), Box(2.0, 40.0, 3.0, 41.0)):
        inside = area.contains(lat, lon).tolist()
        assert inside == [True, True, True, True, False, False, False, False]
        assert area.contains(lat[:0], lon[:0]).shape == (0,)


@pytest.mark.parametrize("at", [-17.0, 0.0])
def test_a_way_across_the_antimeridian_leaves(at: float) -> None:
    """Though both sides of it belong to the region, and all between in degrees."""
    lat, lon = np.full(3, at), np.array([179.9, -179.9, -179.8])
    parts = shapely.union(shapely.box(170, -20, 180, 10), shapely.box(-180, -20, -170, 10))
    for shape in (parts, shapely.box(-180, -20, 180, 10)):
        region = Region(shape, "Fiji")
        assert region.contains(lat, lon).all()
        assert region.leaves(lat, lon, np.array([0, 1])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("sides", "leaves"),
    [((-180.0, 180.0), False), ((-180.0, 179.95), True), ((-179.95, 180.0), True)],
)
def test_a_way_across_the_antimeridian_leaves_a_box_that_ends_before_it(
    sides: tuple[float, float], leaves: bool
) -> None:
    west, east = sides
    lat, lon = np.zeros(3), np.array([179.9, -179.9, -179.8])
    box = Box(west, -20.0, east, 10.0)
    assert box.contains(lat, lon).all()
    assert box.leaves(lat, lon, np.array([0, 1])).tolist() == [leaves, False]


def test_a_region_can_be_sent_to_another_process() -> None:
    region = Region(shapely.box(0, 0, 1, 1), "box")
    lat, lon = np.array([0.5, 0.6]), np.array([0.5, 1.5])
    region.leaves(lat, lon, np.array([0]))
    again = pickle.loads(pickle.dumps(region))
    assert again.contains(lat, lon).tolist() == [True, False]
    assert again.leaves(lat, lon, np.array([0])).tolist() == [True]


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        (shapely.Point(0, 0), r"it is not a valid polygon \(a Point\)"),
        (shapely.LineString([(0, 0), (1, 1)]), r"\(a LineString\)"),
        (shapely.Polygon(), r"it is not a valid polygon"),
        (shapely.MultiPolygon(), r"it is not a valid polygon"),
        (
            shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 2)]),
            r"it is not a valid polygon \(Self-intersection.*repair it",
        ),
        (shapely.box(170, -20, 190, -10), r"longitudes in -180\.\.180"),
        (shapely.box(0, 80, 1, 100), r"latitudes in -90\.\.90"),
    ],
)
def test_what_is_no_region_is_refused(shape: shapely.Geometry, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Region(shape, "it")
