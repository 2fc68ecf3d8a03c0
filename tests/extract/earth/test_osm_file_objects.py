"""Objects of OpenStreetMap files: which are yielded, with what, and files that are none."""

from collections.abc import Iterator
from pathlib import Path

import osmium
import pytest
from osm_xml import OsmFile
from osmium import osm
from osmium.filter import EntityFilter, KeyFilter
from shapely.geometry.base import BaseGeometry

from trajanon.common.errors import FileProblem
from trajanon.extract.earth.osm_file_objects import objects, polygons


@pytest.fixture
def land(tmp_path: Path) -> Path:
    """A bench, a pond, a street, and a town of which one side is missing."""
    made = OsmFile()
    made.node(40.0, 2.0, {"amenity": "bench"})
    made.square(40.1, 2.0, 0.01, {"natural": "water"})
    made.way(made.nodes([(40.2, 2.0), (40.2, 2.1)]), {"highway": "service"})
    made.town("Nova", 8, [made.way(made.nodes([(40.3, 2.0), (40.3, 2.1), (40.4, 2.1)]))])
    return made.write(tmp_path / "land.osm")


def areas(file: Path, is_area: KeyFilter) -> Iterator[tuple[str | None, BaseGeometry | None]]:
    """Return the name and the polygons of each area."""
    for area in objects(file, EntityFilter(osm.AREA), is_area, areas=is_area):
        assert isinstance(area, osm.Area)
        yield area.tags.get("name"), polygons(area)


def test_what_passes_all_filters_is_yielded(land: Path) -> None:
    tagged = [dict(thing.tags) for thing in objects(land, KeyFilter("amenity", "highway"))]
    assert tagged == [{"amenity": "bench"}, {"highway": "service"}]
    both = EntityFilter(osm.WAY), KeyFilter("amenity", "highway")
    assert [dict(thing.tags) for thing in objects(land, *both)] == [{"highway": "service"}]
    of_towns = objects(land, entities=osm.RELATION)
    assert [thing.tags["name"] for thing in of_towns] == ["Nova"]


@pytest.mark.parametrize("locations", [True, False])
def test_nodes_of_ways_have_places_if_asked_for(land: Path, locations: bool) -> None:
    for way in objects(land, KeyFilter("highway"), locations=locations):
        assert isinstance(way, osm.Way)
        assert [node.location.valid() for node in way.nodes] == [locations] * 2
        if locations:
            assert [(node.lat, node.lon) for node in way.nodes] == [(40.2, 2.0), (40.2, 2.1)]


def test_closed_ways_come_as_areas_with_polygons(land: Path) -> None:
    is_water = KeyFilter("natural")
    (pond,) = [shape for _, shape in areas(land, is_water)]
    assert pond is not None
    assert pond.bounds == pytest.approx((2.0, 40.1, 2.01, 40.11))


def test_an_area_whose_lines_do_not_close_has_no_polygons(land: Path) -> None:
    assert [*areas(land, KeyFilter("boundary"))] == [("Nova", None)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.osm.pbf", b""),
        ("a.osm.pbf", b"hello world" * 100),
        ("a.osm", b"<osm version='0.6'><relation id='1'>"),
        ("a.osm.gz", b"\x1f\x8bzzz"),
        ("a", b"hello"),
    ],
)
def test_what_is_no_osm_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileProblem, match=r"^cannot read .* as OpenStreetMap data"):
        list(objects(path))


def test_text_that_is_no_utf_8_is_refused(land: Path) -> None:
    path = land.with_name("broken.osm.pbf")
    with osmium.SimpleWriter(osmium.io.File(path, "pbf,pbf_compression=none")) as writer:
        for thing in osmium.FileProcessor(land):
            writer.add(thing)
    path.write_bytes(path.read_bytes().replace(b"Nova", b"N\xffva"))
    with pytest.raises(FileProblem, match=r"^cannot read .*broken.osm.pbf as OpenStreetMap data"):
        list(objects(path))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"cannot read .*none.*: No such file"):
        list(objects(tmp_path / "none.osm.pbf"))
    with pytest.raises(FileProblem, match=r"cannot read .*: Is a directory"):
        list(objects(tmp_path))
