"""Boundaries by name, from files of OpenStreetMap."""

from pathlib import Path

import numpy as np
import pytest
from osm_xml import OsmFile

from trajanon.common.errors import BadInput
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.osm_file_boundaries import boundary


@pytest.fixture
def land(tmp_path: Path) -> Path:
    """A country with three towns; two of them have one name, and lie at one level."""
    osm = OsmFile()
    country = osm.square(40.0, 2.0, 1.0)
    first, second, third = (osm.square(40.1, 2.1 + i / 10, 0.05) for i in range(3))
    osm.town("Österland", 2, [country], **{"name:en": "Easternland", "name:fr": "Est"})
    osm.town("Nova", 8, [first], alt_name="Novum;Nouvelle")
    osm.town("Nova", 8, [second])
    osm.town("Nova", 6, [first, second])
    osm.town("Sant Joan", 8, [third], official_name="Ciutat de Sant Joan")
    return osm.write(tmp_path / "land.osm")


def refused(pbf: Path, name: str) -> str:
    with pytest.raises(BadInput) as caught:
        boundary(pbf, name)
    said = str(caught.value)
    assert str(pbf) in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize("name", ["Sant Joan", "sant joan", " SANT JOAN ", "Ciutat de Sant Joan"])
def test_a_boundary_is_found_by_its_name(land: Path, name: str) -> None:
    found = boundary(land, name)
    assert found.bounds == Box(2.3, 40.1, 2.35, 40.15)
    assert str(found).startswith("Sant Joan (relation ")


@pytest.mark.parametrize("name", ["ÖSTERLAND", "österland", "easternland", "Est", "Easternland"])
def test_a_boundary_is_found_in_any_language(land: Path, name: str) -> None:
    assert boundary(land, name).bounds == Box(2.0, 40.0, 3.0, 41.0)


def test_a_boundary_is_found_by_its_relation(land: Path) -> None:
    said = refused(land, "Nova")
    relation = said.partition("relation ")[2].partition(";")[0]
    found = boundary(land, relation)
    assert found.bounds == Box(2.1, 40.1, 2.15, 40.15)
    assert found.name == f"Nova (relation {relation})"


@pytest.mark.parametrize("name", ["", "  "])
def test_no_name_is_that_of_no_boundary(tmp_path: Path, name: str) -> None:
    osm = OsmFile()
    osm.town("Nova", 8, [osm.square(40.1, 2.1, 0.05)], alt_name="Novum;")
    assert "holds no boundary called" in refused(osm.write(tmp_path / "land.osm"), name)


def test_several_boundaries_of_one_name_are_listed_with_the_way_out(land: Path) -> None:
    said = refused(land, "Nova")
    assert said.startswith("3 boundaries in ")
    assert said.count("Nova: level 8, relation ") == 2
    assert said.count("Nova: level 6, relation ") == 1
    assert "give the number of a relation instead, such as " in said


def test_the_own_name_goes_before_those_in_other_languages(tmp_path: Path) -> None:
    osm = OsmFile()
    own, other = osm.square(40.0, 2.0, 0.1), osm.square(41.0, 2.0, 0.1)
    osm.town("Wien", 8, [other], alt_name="Vienne")
    osm.town("Vienne", 8, [own])
    land = osm.write(tmp_path / "land.osm")
    assert boundary(land, "Vienne").bounds.south == 40.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Sant Juan", "are Sant Joan"),
        ("osterland", "are Österland, Easternland"),
        ("Zzz", "are Nova, Sant Joan, Österland"),
    ],
)
def test_an_unknown_name_is_answered_with_near_ones_or_those_there_are(
    land: Path, tmp_path: Path, name: str, said: str
) -> None:
    assert refused(land, name).endswith(said)
    osm = OsmFile()
    osm.square(40.0, 2.0, 0.1, {"building": "yes", "name": "Nova"})
    assert "it holds none" in refused(osm.write(tmp_path / "none.osm"), name)


@pytest.mark.parametrize("missing", ["way", "node", "end"])
def test_an_incomplete_boundary_is_said_to_be_incomplete(tmp_path: Path, missing: str) -> None:
    osm = OsmFile()
    nodes = osm.nodes([(40.0, 2.0), (40.0, 2.1), (40.1, 2.1), (40.1, 2.0)])
    half = osm.way(nodes[:3])
    rest = {
        "way": 1000,
        "node": osm.way([nodes[2], nodes[3], 1000, nodes[0]]),
        "end": osm.way(nodes[2:]),
    }
    relation = osm.town("Nova", 8, [half, rest[missing]])
    said = refused(osm.write(tmp_path / "land.osm"), "Nova")
    assert f"the boundary of Nova (relation {relation}) is incomplete in" in said
    assert "larger extract" in said
    assert "give four degrees W,S,E,N" in said


def test_a_boundary_has_holes_and_parts(tmp_path: Path) -> None:
    osm = OsmFile()
    tags = {"type": "boundary", "boundary": "administrative", "name": "Nova"}
    big, island = osm.square(40.0, 2.0, 0.4), osm.square(41.0, 2.0, 0.1)
    hole = osm.square(40.1, 2.1, 0.1)
    osm.relation({big: "outer", island: "outer", hole: "inner"}, tags)
    found = boundary(osm.write(tmp_path / "land.osm"), "nova")
    lat, lon = np.array([40.05, 40.15, 40.7, 41.05]), np.full(4, 2.15)
    lon[3] = 2.05
    assert found.contains(lat, lon).tolist() == [True, False, False, True]
