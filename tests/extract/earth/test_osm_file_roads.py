"""Roads of OpenStreetMap files: who may go where and in which direction, and what maps draw."""

import re
from pathlib import Path

import main_road
import pytest
from osm_xml import OsmFile
from roads_of_cities import roads_of_cities

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract import roads_to_follow
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.osm_file_roads import main_roads

LAT, LON = 47.0, 9.5

BOX = Box(-3.80, 40.30, -3.60, 40.50)


def road(folder: Path, **tags: str) -> Path:
    """A file with a road of two nodes, drawn from west to east."""
    osm = OsmFile()
    named = {key.replace("__", ":"): value for key, value in tags.items()}
    osm.way(osm.nodes([(LAT, LON), (LAT, LON + 1e-3)]), named)
    return osm.write(folder / "road.osm")


def directions(file: Path, mode: str) -> str:
    """Return in which directions a mode may go along the road; nothing if the road is not its."""
    try:
        network = roads_to_follow(file, mode).network
    except BadInput:
        return ""
    (ends,), (may_go,) = network.ends, network.may_go
    west_to_east = network.lon[ends[0]] < network.lon[ends[1]]
    eastward, westward = may_go if west_to_east else may_go[::-1]
    return ("east " if eastward else "") + ("west" if westward else "")


@pytest.mark.parametrize(
    ("tags", "car", "bicycle", "foot"),
    [
        ({"highway": "residential"}, "east west", "east west", "east west"),
        ({"highway": "motorway"}, "east ", "", ""),
        ({"highway": "motorway", "oneway": "no"}, "east west", "", ""),
        ({"highway": "steps"}, "", "", "east west"),
        ({"highway": "footway"}, "", "", "east west"),
        ({"highway": "footway", "bicycle": "yes"}, "", "east west", "east west"),
        ({"highway": "proposed"}, "", "", ""),
        ({"highway": "service", "area": "yes"}, "", "", ""),
        ({"highway": "service", "oneway": "yes"}, "east ", "east ", "east west"),
        ({"highway": "service", "oneway": "-1"}, "west", "west", "east west"),
        (
            {"highway": "service", "oneway": "yes", "oneway__bicycle": "no"},
            *("east ", "east west", "east west"),
        ),
        ({"highway": "tertiary", "junction": "roundabout"}, "east ", "east ", "east west"),
        ({"highway": "service", "access": "private"}, "", "", ""),
        ({"highway": "service", "access": "no", "bicycle": "yes"}, "", "east west", ""),
        ({"highway": "service", "vehicle": "no", "motorcar": "yes"}, "east west", "", "east west"),
    ],
)
def test_tags_say_who_may_go_and_in_which_direction(
    tmp_path: Path, tags: dict[str, str], car: str, bicycle: str, foot: str
) -> None:
    file = road(tmp_path, **tags)
    assert [directions(file, mode) for mode in ("car", "bicycle", "foot")] == [car, bicycle, foot]


def test_any_takes_every_road_of_the_table_both_ways(tmp_path: Path) -> None:
    for tags in ({"access": "private"}, {"oneway": "yes"}):
        assert directions(road(tmp_path, highway="motorway", **tags), "any") == "east west"
    assert directions(road(tmp_path, highway="proposed"), "any") == ""


def test_cars_prefer_main_roads_and_other_modes_the_shortest_way(tmp_path: Path) -> None:
    for kind, cost in (("trunk", 1.0), ("primary", 1.1), ("residential", 1.4)):
        (found,) = roads_to_follow(road(tmp_path, highway=kind), "car").network.cost_per_metre
        assert found == pytest.approx(cost)
    (found,) = roads_to_follow(road(tmp_path, highway="residential"), "foot").network.cost_per_metre
    assert found == pytest.approx(1.0)


def test_only_roads_with_a_point_in_the_box_are_read(tmp_path: Path) -> None:
    osm = OsmFile()
    here, there = (osm.nodes([(LAT, lon), (LAT, lon + 1e-3)]) for lon in (LON, LON + 1.0))
    first = osm.way(here, {"highway": "residential", "name": "Here"})
    osm.way(there, {"highway": "residential", "name": "There"})
    box = Box(LON - 0.1, LAT - 0.1, LON + 0.1, LAT + 0.1)
    found = roads_to_follow(osm.write(tmp_path / "two.osm"), bbox=box).osm
    assert found is not None
    assert found.tags == {first: ("residential", "Here")}
    assert sorted(found.node.tolist()) == sorted(here)
    nowhere = Box(LON - 0.2, LAT - 0.1, LON - 0.1, LAT + 0.1)
    with pytest.raises(BadInput, match="holds no roads for any in the area of the lines"):
        roads_to_follow(tmp_path / "two.osm", bbox=nowhere)


@pytest.mark.parametrize(
    ("mode", "keep_off", "says"),
    [
        ("boat", 100.0, "`mode` 'boat' is not known; choose from car, bicycle, foot, any"),
        ("car", 0.0, "`keep_off` must be a positive number of metres (got 0)"),
        ("car", float("nan"), "`keep_off` must be a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, mode: str, keep_off: float, says: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        roads_to_follow(road(tmp_path, highway="residential"), mode, keep_off)


def test_a_file_without_roads_of_a_mode_says_so(tmp_path: Path) -> None:
    path = road(tmp_path, highway="footway")
    with pytest.raises(BadInput, match="holds no roads for car"):
        roads_to_follow(path, "car")
    with pytest.raises(FileProblem):
        roads_to_follow(tmp_path / "none.osm.pbf")


def test_signals_are_read_with_the_roads(tmp_path: Path) -> None:
    osm = OsmFile()
    signs: list[dict[str, str]] = [
        {"highway": "traffic_signals"},
        {"highway": "stop", "direction": "forward"},
        {"highway": "give_way"},
        {"highway": "crossing"},
    ]
    osm.way(
        [osm.node(LAT, LON + 0.01 * east, sign) for east, sign in enumerate(signs)],
        {"highway": "residential"},
    )
    osm_streets = roads_to_follow(osm.write(tmp_path / "signs.osm"), "car").osm
    assert osm_streets is not None
    assert osm_streets.waits.tolist() == [2.0, 0.0, 1.0, 0.0]


def test_small_roads_are_read_as_long_as_all_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads = roads_of_cities(tmp_path)
    trunk, street = [[40.40, -3.70], [40.45, -3.69]], [[40.45, -3.69], [40.41, -3.68]]
    assert [road.tolist() for road in main_roads(roads, BOX)] == [trunk, street]
    monkeypatch.setattr("trajanon.extract.earth.osm_file_roads.MOST_POINTS_DRAWN", 3)
    assert [road.tolist() for road in main_roads(roads, BOX)] == [trunk]
    assert main_roads(roads, Box(10.0, 10.0, 11.0, 11.0)) == []


def test_a_box_takes_the_roads_in_it(tmp_path: Path) -> None:
    around = Box(LON - 0.1, LAT - 0.1, LON + 0.1, LAT + 0.1)
    file = main_road.town(tmp_path)
    whole, some = (roads_to_follow(file, "car", bbox=box) for box in (None, around))
    assert len(whole.network.street_length) == len(some.network.street_length) + 1 == 4
