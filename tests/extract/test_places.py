"""Sensitive places of files of OpenStreetMap."""

import logging
from pathlib import Path

import numpy as np
import pytest
from osm_xml import OsmFile
from pyproj import Geod
from real_data import OSM, needs_real_data

from trajanon.errors import BadInput
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.places import hidden

GEOD = Geod(ellps="WGS84")


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """Places on the parallel of 40 degrees, every hundredth of a degree."""
    osm = OsmFile()
    osm.node(40.0, 2.00, {"amenity": "hospital", "healthcare": "hospital"})
    osm.square(40.0, 2.01, 0.001, {"amenity": "place_of_worship"})
    osm.node(40.0, 2.02, {"amenity": "bench"})
    osm.node(40.0, 2.03, {"healthcare": "doctor"})
    outer, inner = osm.square(40.0, 2.04, 0.004), osm.square(40.001, 2.041, 0.002)
    campus = {"type": "multipolygon", "amenity": "school"}
    osm.relation({outer: "outer", inner: "inner"}, campus)
    return osm.write(tmp_path / "town.osm")


HOSPITAL, CHURCH, BENCH, DOCTOR, SCHOOL = 2.0, 2.01, 2.02, 2.03, 2.04


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("amenity=hospital", [HOSPITAL]),
        ("amenity=hospital,place_of_worship", [HOSPITAL, CHURCH]),
        (" amenity = hospital , place_of_worship ", [HOSPITAL, CHURCH]),
        ("amenity=hospital,amenity=bench", [HOSPITAL, BENCH]),
        ("amenity=*", [HOSPITAL, CHURCH, BENCH, SCHOOL]),
        ("amenity=hospital,*", [HOSPITAL, CHURCH, BENCH, SCHOOL]),
        ("healthcare=*", [HOSPITAL, DOCTOR]),
        ("healthcare=*,amenity=hospital,school", [HOSPITAL, DOCTOR, SCHOOL]),
        ("amenity=hospital,healthcare=doctor", [HOSPITAL, DOCTOR]),
        ("amenity=school,unheard=of", [SCHOOL]),
    ],
)
def test_places_are_found_by_their_tags(town: Path, tags: str, found: list[float]) -> None:
    zone = hidden(town, tags, 50.0)
    lon = np.array([HOSPITAL, CHURCH, BENCH, DOCTOR, SCHOOL])
    inside = zone.contains(np.full(5, 40.0), lon)
    assert lon[inside].tolist() == found
    assert zone.places == len(found)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("azimuth", [0.0, 45.0, 90.0])
def test_what_lies_within_the_radius_is_hidden(town: Path, side: float, azimuth: float) -> None:
    zone = hidden(town, "amenity=hospital", 150.0)
    metres = side * np.array([0.0, 149.99, 152.5, 500.0])
    start = np.full(4, 2.0), np.full(4, 40.0), np.full(4, azimuth)
    lon, lat, _ = GEOD.fwd(*start, metres)
    assert zone.contains(lat, lon).tolist() == [True, True, False, False]


def test_an_area_is_hidden_with_its_surroundings_and_not_its_courtyard(town: Path) -> None:
    """The courtyard is 170 by 220 m; its middle is 85 m from the school."""
    lat = np.array([40.0005, 40.002, 40.0011, 40.0, 40.0])
    lon = np.array([2.0405, 2.042, 2.0411, 2.0395, 2.039])
    inside = hidden(town, "amenity=school", 50.0).contains(lat, lon).tolist()
    assert inside == [True, False, True, True, False]
    assert hidden(town, "amenity=school", 90.0).contains(lat, lon).all()


def test_only_places_that_reach_into_the_bounds_count(town: Path) -> None:
    """The doctor is 43 m east of the box, the church far to the west."""
    box = Box(2.025, 39.9, 2.0295, 40.1)
    tags = "amenity=place_of_worship,healthcare=*"
    assert hidden(town, tags, 50.0, box).places == 1
    assert hidden(town, tags, 42.0, Box(2.0, 39.9, 2.0295, 40.1)).places == 2


def test_no_place_within_the_bounds_is_a_warning_and_hides_nothing(
    town: Path, caplog: pytest.LogCaptureFixture
) -> None:
    zone = hidden(town, "amenity=hospital", 150.0, Box(3.0, 40.0, 4.0, 41.0))
    assert zone.places == 0
    assert not zone.contains(np.array([40.0]), np.array([2.0])).any()
    lat, lon = np.array([40.0, 40.0]), np.array([1.9, 2.1])
    assert not zone.meets(lat, lon, np.array([0])).any()
    assert "none in or near the box 3,40,4,41: nothing is hidden" in caplog.text


def test_tags_that_no_place_has_are_refused(town: Path) -> None:
    """As after a slip of the pen."""
    with pytest.raises(BadInput, match=r"holds no places with the tags amenity=hosptial"):
        hidden(town, "amenity=hosptial", 150.0)


def test_places_of_which_a_part_is_missing_are_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A line, a ring with an unknown corner, and one that has no second half."""
    osm = OsmFile()
    clinic = {"amenity": "clinic"}
    nodes = osm.nodes([(40.0, 2.0), (40.0, 2.1), (40.1, 2.1)])
    osm.way(nodes, clinic)
    osm.way([*nodes, 1000, nodes[0]], clinic)
    osm.relation({2000: "outer"}, {"type": "multipolygon", **clinic})
    osm.relation({osm.way(nodes): "outer"}, {"type": "multipolygon", **clinic})
    osm.square(41.0, 2.0, 0.001, clinic)
    with caplog.at_level(logging.WARNING):
        zone = hidden(osm.write(tmp_path / "town.osm"), "amenity=clinic", 150.0)
    assert zone.places == 1
    assert "4 places are not hidden" in caplog.text


@pytest.mark.parametrize(
    "tags", ["", "hospital", "=hospital", "amenity=", "amenity=hospital,", ",amenity=hospital"]
)
def test_tags_that_are_none_are_answered_with_an_example(town: Path, tags: str) -> None:
    with pytest.raises(BadInput, match=r"no key and value.*amenity=hospital,place_of"):
        hidden(town, tags, 150.0)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, 100_001.0])
def test_a_radius_that_makes_no_sense_is_refused(town: Path, radius: float) -> None:
    with pytest.raises(BadInput, match=r"`radius` must be .* \(got .*\), at most 100,0"):
        hidden(town, "amenity=*", radius)


@needs_real_data
@pytest.mark.parametrize(
    ("tags", "places"),
    [
        ("amenity=hospital,place_of_worship,social_facility", 30),
        ("amenity=hospital,clinic,doctors,place_of_worship,social_facility", 42),
    ],
)
def test_liechtenstein_has_so_many_sensitive_places(tags: str, places: int) -> None:
    assert hidden(OSM / "liechtenstein.osm.pbf", tags, 150.0).places == places
