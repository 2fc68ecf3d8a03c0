"""Sensitive places of files of OpenStreetMap, and the zone around them."""

import logging
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely
from osm_xml import OsmFile

from trajanon.common.errors import BadInput
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.named_or_tagged_places import (
    hidden,
    is_place,
    middles_of_places,
    zone_around,
)


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
    assert zone is not None
    lon = np.array([HOSPITAL, CHURCH, BENCH, DOCTOR, SCHOOL])
    inside = zone.contains(np.full(5, 40.0), lon)
    assert lon[inside].tolist() == found


def test_an_area_is_hidden_with_its_surroundings_and_not_its_courtyard(town: Path) -> None:
    """The courtyard is 170 by 220 m; its middle is 85 m from the school."""
    lat = np.array([40.0005, 40.002, 40.0011, 40.0, 40.0])
    lon = np.array([2.0405, 2.042, 2.0411, 2.0395, 2.039])
    near, far = (hidden(town, "amenity=school", metres) for metres in (50.0, 90.0))
    assert near is not None
    assert far is not None
    assert near.contains(lat, lon).tolist() == [True, False, True, True, False]
    assert far.contains(lat, lon).all()


def test_only_places_that_reach_into_the_bounds_count(
    town: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The doctor is 43 m east of the box."""
    box, tags = Box(2.025, 39.9, 2.0295, 40.1), "amenity=place_of_worship,healthcare=*"
    zone = hidden(town, tags, 50.0, box)
    assert zone is not None
    assert zone.contains(np.full(2, 40.0), np.array([CHURCH, DOCTOR])).tolist() == [False, True]
    assert hidden(town, tags, 42.0, box) is None
    assert "none in or near the box 2.025,39.9,2.0295,40.1: nothing is hidden" in caplog.text


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
    assert zone is not None
    assert "4 places are not hidden, as only points and whole areas are" in caplog.text


@pytest.mark.parametrize("text", ["nan,nan", "41.38,nan", "nan,2.17", "inf,2.17", "91,2.17"])
def test_a_place_that_is_not_on_earth_is_refused_as_nothing_would_be_hidden(text: str) -> None:
    for read in (middles_of_places, lambda texts, radius: zone_around(texts[0], radius)):
        with pytest.raises(BadInput, match=f"{text} holds no places on Earth"):
            read([text], 100.0)


def test_a_text_too_long_for_the_name_of_a_file_is_no_place() -> None:
    polygon = f"POLYGON (({'2.1 41.3, ' * 200}2.1 41.3))"
    assert not is_place(polygon)
    with pytest.raises(BadInput, match="is not a place: write a latitude and a longitude"):
        zone_around(polygon, 100.0)


@pytest.mark.parametrize(
    "tags", ["", "hospital", "=hospital", "amenity=", "amenity=hospital,", ",amenity=hospital"]
)
def test_tags_that_are_none_are_answered_with_an_example(town: Path, tags: str) -> None:
    with pytest.raises(BadInput, match=r"not a key and a value.*amenity=hospital,place_of"):
        hidden(town, tags, 150.0)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, 100_001.0])
def test_a_radius_that_makes_no_sense_is_refused(town: Path, radius: float) -> None:
    with pytest.raises(BadInput, match=r"`radius` must be .* \(got .*\), at most 100,0"):
        hidden(town, "amenity=*", radius)


def shapes_in(path: Path, *shapes: shapely.Geometry) -> str:
    geopandas.GeoSeries(shapes, crs="EPSG:4326").to_file(path)
    return str(path)


def test_places_are_two_degrees_or_a_file_of_shapes(tmp_path: Path) -> None:
    square = shapely.box(2.0, 41.0, 2.001, 41.001)
    file = shapes_in(tmp_path / "places.gpkg", shapely.Point(2.5, 41.5), square)
    middles = middles_of_places(["41.38,2.17", file], 200.0)
    assert middles == pytest.approx(np.array([[41.38, 2.17], [41.5, 2.5], [41.0005, 2.0005]]))
    assert middles_of_places([], 200.0).shape == (0, 2)
    for text, names_a_place in ((file, True), (" 41.38, 2.17", True), ("amenity=*", False)):
        assert is_place(text) == names_a_place


def test_a_place_wider_than_its_circle_is_refused(tmp_path: Path) -> None:
    """The diagonal of the square is 139 m."""
    file = shapes_in(tmp_path / "park.gpkg", shapely.box(2.0, 41.0, 2.001, 41.001))
    with pytest.raises(BadInput, match=r"a place in .*park\.gpkg is 139 m wide, .* at most 138 m"):
        middles_of_places([file], 138.0)
    assert len(middles_of_places([file], 140.0)) == 1


def test_the_zone_of_named_places_holds_what_is_within_its_radius(tmp_path: Path) -> None:
    file = shapes_in(tmp_path / "two.gpkg", shapely.Point(2.0, 41.0), shapely.Point(2.1, 41.0))
    zone = zone_around(file, 100.0)
    lat = np.array([41.0008, 41.0010, 41.0008])  # 89, 111 and 89 m to the north
    assert zone.contains(lat, np.array([2.0, 2.0, 2.1])).tolist() == [True, False, True]
