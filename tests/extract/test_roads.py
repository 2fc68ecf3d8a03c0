"""How far points are from roads, against distances measured one by one."""

from pathlib import Path

import numpy as np
import pytest
import shapely
from geodesics import GEOD, ahead, nearest
from hypothesis import given
from hypothesis import strategies as st
from osm_xml import OsmFile
from real_data import OSM, needs_real_data

from trajanon.arrays import Floats
from trajanon.errors import BadInput, FileProblem
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


def test_a_point_on_a_road_is_at_none() -> None:
    lat, lon = np.array([50.0, 50.05, 50.0]), np.array([8.0, 8.0, 8.03])
    assert (crossing().distance(lat, lon) < 1e-6).all()


def test_what_is_farther_than_asked_for_is_infinitely_far() -> None:
    lat, lon = ahead(
        np.full(4, 50.0), np.full(4, 8.02), np.zeros(4), np.array([0, 99.9, 100.1, 1e6])
    )
    found = crossing().distance(lat, lon, within=100.0)
    assert np.isfinite(found).tolist() == [True, True, False, False]
    everything = crossing().distance(lat, lon)
    assert np.isfinite(everything).all()
    np.testing.assert_array_equal(found[:2], everything[:2])


def test_the_limit_holds_at_every_latitude() -> None:
    """A metre is two on the map at 60 degrees, and not at the equator."""
    lines = [[(8.0, 0.0), (8.0, 0.1)], [(8.0, 60.0), (8.0, 60.1)]]
    lat, lon = ahead(np.array([0.05, 60.05]), np.full(2, 8.0), np.full(2, 90.0), np.full(2, 150.0))
    there = Roads(shapely.linestrings(lines))
    assert np.isinf(there.distance(lat, lon, within=140.0)).all()
    assert there.distance(lat, lon, within=160.0) == pytest.approx([150.0, 150.0])


def test_an_unknown_place_is_at_an_unknown_distance() -> None:
    lat, lon = np.array([np.nan, 50.0, 50.0]), np.array([8.0, np.nan, 8.0])
    assert np.isnan(crossing().distance(lat, lon)).tolist() == [True, True, False]
    assert crossing().distance(lat[:0], lon[:0], within=5.0).shape == (0,)


@pytest.mark.parametrize("within", [0.0, -1.0, np.nan])
def test_a_limit_that_makes_no_sense_is_refused(within: float) -> None:
    with pytest.raises(BadInput, match="within must be a positive number of metres"):
        crossing().distance(np.array([50.0]), np.array([8.0]), within)


def test_every_way_with_a_highway_is_a_road(tmp_path: Path) -> None:
    osm = OsmFile()
    for kind in ("motorway", "footway", "proposed"):
        osm.way(osm.nodes([(50.0, 8.0), (50.0, 8.1)]), {"highway": kind})
    osm.way(osm.nodes([(51.0, 8.0), (51.0, 8.1)]), {"railway": "rail"})
    osm.node(52.0, 8.0, {"highway": "bus_stop"})
    found = roads(osm.write(tmp_path / "a.osm"))
    assert len(found) == 3
    assert found.distance(np.array([51.0]), np.array([8.05]))[0] > 100_000


def test_a_box_takes_the_roads_that_come_into_it(tmp_path: Path) -> None:
    osm = OsmFile()
    for lon in (8.0, 8.1, 8.2):
        osm.way(osm.nodes([(50.0, lon), (50.5, lon)]), STREET)
    path = osm.write(tmp_path / "a.osm")
    assert len(roads(path, Box(8.05, 50.1, 8.3, 50.2))) == 2
    assert len(roads(path, Box(8.05, 50.1, 8.15, 50.2))) == 1
    with pytest.raises(BadInput, match=r"a\.osm holds no roads .* in the box 1,2,3,4"):
        roads(path, Box(1, 2, 3, 4))


def test_of_a_road_cut_by_the_extract_the_known_parts_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    osm = OsmFile()
    one, two, three, four = osm.nodes((50.0, 8.0 + i / 10) for i in range(4))
    osm.way([one, two, 1000, three, four, 1001], STREET)
    osm.way([1000, three, 1001, four], STREET)
    found = roads(osm.write(tmp_path / "a.osm"))
    assert len(found) == 1
    lat, lon = np.full(3, 50.0), np.array([8.05, 8.15, 8.25])
    far = found.distance(lat, lon)
    assert (far[[0, 2]] < 5).all()
    assert far[1] == pytest.approx(3_583, rel=1e-3)
    assert "a.osm: 1 road is left out: points are missing" in caplog.text


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.osm.pbf"
    path.write_bytes(b"hello")
    with pytest.raises(FileProblem, match="as OpenStreetMap data"):
        roads(path)
    with pytest.raises(FileProblem, match="No such file"):
        roads(tmp_path / "none.osm.pbf")


@needs_real_data
@pytest.mark.parametrize(
    ("name", "count"), [("liechtenstein", 7_506), ("helsinki_centre", 2_650 - 73)]
)
def test_real_files_hold_so_many_roads(name: str, count: int) -> None:
    """In the middle of Helsinki, 73 ways have no two points in a row in the file."""
    assert len(roads(OSM / f"{name}.osm.pbf")) == count


@needs_real_data
def test_a_walk_in_andorra_keeps_to_the_roads() -> None:
    from trajanon.extract.sources import gpx_document

    path = OSM.parent / "gpx" / "graphhopper_andorra.gpx"
    (segment,) = gpx_document.read_document(path.read_bytes(), path.name).segments
    far = roads(OSM / "andorra.osm.pbf").distance(segment.lat, segment.lon)
    assert np.median(far) < 20
