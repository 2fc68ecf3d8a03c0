"""How far points are from roads, against distances measured one by one."""

from pathlib import Path

import numpy as np
import pytest
import shapely
from geodesics import GEOD, ahead, nearest
from hypothesis import given
from hypothesis import strategies as st
from osm_xml import OsmFile

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.roads import Roads, roads

STREET = {"highway": "residential"}


def around(at: float, count: int, metres: float, seed: int) -> tuple[Floats, Floats]:
    """Places at random about one on the meridian of 8 degrees."""
    rng = np.random.default_rng(seed)
    start = np.full(count, at), np.full(count, 8.0), rng.uniform(0, 360, count)
    return ahead(*start, metres * np.sqrt(rng.random(count)))


@given(seed=st.integers(0, 10**6), at=st.floats(-75.0, 75.0))
def test_the_distance_is_that_to_the_nearest_place_of_a_road(seed: int, at: float) -> None:
    """Five roads of a kilometre or two, each with a bend."""
    begin, turn = (around(at, 5, 4_000.0, seed + i) for i in range(2))
    shares = np.linspace(0.0, 1.0, 400)
    roads_of, lats, lons, steps = [], [], [], []
    for i in range(5):
        lat = begin[0][i] + np.array([0.0, 0.2, 0.3]) * (turn[0][i] - begin[0][i])
        lon = begin[1][i] + np.array([0.0, 0.2, 0.1]) * (turn[1][i] - begin[1][i])
        roads_of.append(shapely.LineString(np.stack([lon, lat], axis=1)))
        lats.append(np.interp(shares * 2, range(3), lat))
        lons.append(np.interp(shares * 2, range(3), lon))
        steps.append(GEOD.line_lengths(lons[-1], lats[-1])[:-1].max())
    lat, lon = around(at, 20, 8_000.0, seed + 2)
    slow = nearest(lat, lon, np.concatenate(lats), np.concatenate(lons))
    found = Roads(np.array(roads_of)).distance(lat, lon)
    assert (np.abs(found - slow) <= 0.01 * slow + 1.0 + max(steps) / 2).all()


def crossing() -> Roads:
    """Two streets that cross at 50 N, 8 E."""
    lines = [[(7.9, 50.0), (8.1, 50.0)], [(8.0, 49.9), (8.0, 50.1)]]
    return Roads(shapely.linestrings(lines))


def test_what_is_farther_than_asked_for_is_infinitely_far() -> None:
    lat, lon = ahead(
        np.full(4, 50.0), np.full(4, 8.02), np.zeros(4), np.array([0, 99.9, 100.1, 1e6])
    )
    found = crossing().distance(lat, lon, within=100.0)
    assert np.isfinite(found).tolist() == [True, True, False, False]
    everything = crossing().distance(lat, lon)
    assert np.isfinite(everything).all()
    np.testing.assert_array_equal(found[:2], everything[:2])


def test_every_way_with_a_highway_is_a_road(tmp_path: Path) -> None:
    osm = OsmFile()
    for kind in ("motorway", "footway", "proposed"):
        osm.way(osm.nodes([(50.0, 8.0), (50.0, 8.1)]), {"highway": kind})
    osm.way(osm.nodes([(51.0, 8.0), (51.0, 8.1)]), {"railway": "rail"})
    osm.node(52.0, 8.0, {"highway": "bus_stop"})
    found = roads(osm.write(tmp_path / "a.osm"))
    assert found.distance(np.array([51.0]), np.array([8.05]))[0] > 100_000


def test_a_box_takes_the_roads_that_come_into_it(tmp_path: Path) -> None:
    osm = OsmFile()
    for lon in (8.0, 8.1, 8.2):
        osm.way(osm.nodes([(50.0, lon), (50.5, lon)]), STREET)
    path = osm.write(tmp_path / "a.osm")
    found = roads(path, Box(8.05, 50.1, 8.15, 50.2))
    assert found.distance(np.full(3, 50.2), np.array([8.0, 8.1, 8.2])) == pytest.approx(
        [7_154, 0, 7_154], rel=1e-2
    )
    with pytest.raises(BadInput, match=r"a\.osm holds no roads .* in the box 1,2,3,4"):
        roads(path, Box(1, 2, 3, 4))


def test_of_a_road_cut_by_the_extract_the_known_parts_count(tmp_path: Path) -> None:
    osm = OsmFile()
    one, two, three, four = osm.nodes((50.0, 8.0 + i / 10) for i in range(4))
    osm.way([one, two, 1000, three, four, 1001], STREET)
    osm.way([1000, three, 1001, four], STREET)
    found = roads(osm.write(tmp_path / "a.osm"))
    lat, lon = np.full(3, 50.0), np.array([8.05, 8.15, 8.25])
    far = found.distance(lat, lon)
    assert (far[[0, 2]] < 5).all()
    assert far[1] == pytest.approx(3_583, rel=1e-3)
