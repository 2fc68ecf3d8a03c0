import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest

from trajanon.errors import BadInput
from trajanon.extract.earth import areas as module
from trajanon.extract.earth.areas import CITIES, area, areas
from trajanon.extract.earth.box import Box
from trajanon.extract.earth.regions import Region

OTHERS = [name for name in CITIES if name not in ("barcelona", "madrid", "tarraco")]


@pytest.mark.parametrize(
    ("city", "sides", "spacing"),
    [
        ("barcelona", (2.1268845, 41.3726866, 2.1903992, 41.4078446), 100),
        ("madrid", (-3.7398145, 40.387613, -3.653985, 40.483515), 150),
        ("tarraco", (1.226008, 41.0967083, 1.2946691, 41.141174), 5),
    ],
)
def test_a_city_has_the_box_and_spacing_of_the_papers(
    city: str, sides: tuple[float, ...], spacing: float
) -> None:
    box, metres = area(city)
    assert box.sides == sides
    assert metres == spacing


@pytest.mark.parametrize("text", ["madrid", "Madrid", "MADRID", " madrid\n"])
def test_a_city_may_be_written_in_any_case(text: str) -> None:
    assert area(text) == (CITIES["madrid"].box, 150)


@pytest.mark.parametrize(
    "text", ["-3.75,40.38,-3.65,40.48", " -3.75, 40.38 ,-3.65,40.48 ", "-375e-2,40.38,-3.65,40.48"]
)
def test_a_box_is_four_degrees_and_has_no_spacing(text: str) -> None:
    assert area(text) == (Box(-3.75, 40.38, -3.65, 40.48), None)


@pytest.mark.parametrize(
    "text",
    [
        "atlantis",
        "",
        ",",
        "1,2,3",
        "1,2,3,4,5",
        "1;2;3;4",
        "1 2 3 4",
        "1,2,3,x",
        "1,2,3,",
        "madrid,barcelona",
        "40°N,3°W,41°N,2°W",
    ],
)
def test_what_is_no_area_is_answered_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        area(text)
    said = str(caught.value)
    assert said.startswith(f"{text!r} is not an area: name barcelona, madrid, tarraco ")
    for way_out in (*CITIES, "one of 30 more (", "W,S,E,N", "`area='"):
        assert way_out in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("madrit", "madrid"),
        ("Barzelona", "barcelona"),
        ("New York", "new-york"),
        ("sao_paulo", "sao-paulo"),
        ("mexico", "mexico-city"),
        ("tarragona", "tarraco"),
    ],
)
def test_a_name_near_a_city_is_answered_with_that_city(text: str, near: str) -> None:
    with pytest.raises(BadInput) as caught:
        area(text)
    said = str(caught.value)
    assert said.startswith(f"{text!r} is not an area: did you mean {near}")
    assert "`area='" in said
    assert len(said) < 160


def test_the_cities_are_those_of_the_papers_and_thirty_more() -> None:
    assert list(CITIES)[:3] == ["barcelona", "madrid", "tarraco"]
    assert len(OTHERS) == 30
    assert sorted(OTHERS) == OTHERS


@pytest.mark.parametrize("name", OTHERS)
def test_a_city_is_one_request_to_the_server(name: str) -> None:
    """A box that the OSM API takes, of more than a quarter."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    box, spacing = area(name)
    west, south, east, north = box.sides
    assert 0.01 < (east - west) * (north - south) < 0.25
    assert 0.1 < north - south < 0.5
    assert spacing == 100


@pytest.mark.parametrize(
    ("name", "lat", "lon"),
    [
        ("new-york", 40.7128, -74.0060),
        ("sao-paulo", -23.5505, -46.6333),
        ("lagos", 6.4550, 3.3841),
        ("nairobi", -1.2864, 36.8172),
        ("sydney", -33.8688, 151.2093),
        ("tokyo", 35.6812, 139.7671),
        ("london", 51.5074, -0.1278),
        ("mumbai", 18.9388, 72.8354),
    ],
)
def test_a_city_lies_where_people_look_for_it(name: str, lat: float, lon: float) -> None:
    box, _ = area(name)
    assert box.contains(np.array([lat]), np.array([lon])).all()


def test_all_continents_and_no_two_boxes_share_ground() -> None:
    boxes = [city.box for city in CITIES.values()]
    corners = [(np.array([b.south, b.north]), np.array([b.west, b.east])) for b in boxes]
    for i, box in enumerate(boxes):
        for j, (lat, lon) in enumerate(corners):
            assert box.contains(lat, lon).any() == (i == j)


def test_every_box_says_where_it_is_from() -> None:
    path = Path(str(module.__file__)).with_name("cities.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == list(CITIES)
    for row in rows:
        of_the_papers = row["name"] not in OTHERS
        assert ("thesis" in row["source"]) == of_the_papers
        assert ("drawn around the centre" in row["source"]) != of_the_papers


def test_one_area_is_its_box() -> None:
    assert areas(["madrid"]) == (CITIES["madrid"].box, 150)
    assert areas(["2,40,3,41"]) == (Box(2, 40, 3, 41), None)


def test_several_areas_are_the_ground_of_all() -> None:
    both, _ = areas(["2,40,3,41", " 5,40,6,42"])
    assert isinstance(both, Region)
    lat, lon = np.full(3, 40.5), np.array([2.5, 4.0, 5.5])
    assert both.contains(lat, lon).tolist() == [True, False, True]
    assert both.bounds == Box(2, 40, 6, 42)
    assert str(both) == "2,40,3,41 + 5,40,6,42"


def test_between_boxes_side_by_side_is_no_border() -> None:
    both, _ = areas(["2,40,3,41", "3,40,4,41"])
    lat, lon = np.array([40.5, 40.5]), np.array([2.99, 3.01])
    assert not both.leaves(lat, lon, np.array([0])).any()


@pytest.mark.parametrize(
    ("texts", "spacing"),
    [
        (["madrid", "barcelona"], None),
        (["barcelona", "london", "Tokyo"], 100),
        (["madrid", "2,40,3,41"], None),
        (["2,40,3,41", "5,40,6,42"], None),
    ],
)
def test_the_spacing_is_what_all_agree_in(texts: list[str], spacing: float | None) -> None:
    assert areas(texts)[1] == spacing


def test_one_wrong_area_among_several_is_said() -> None:
    with pytest.raises(BadInput, match="'atlantis' is not an area"):
        areas(["madrid", "atlantis"])
    with pytest.raises(BadInput, match="no area is given: name barcelona"):
        areas([])


def test_a_box_over_the_antimeridian_is_answered_with_the_two_to_give() -> None:
    with pytest.raises(BadInput) as caught:
        area("170,-20,-170,-10")
    said = str(caught.value)
    assert "`area='170,-20,180,-10'` `area='-180,-20,-170,-10'`" in said
    fiji, _ = areas(re.findall("`area='(.*?)'`", said))
    lat, lon = np.full(3, -17.0), np.array([179.5, -179.5, 0.0])
    assert fiji.contains(lat, lon).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("179.9,-17,-179.9,-16", "west > east.*antimeridian, give two: `area="),
        ("3,40,2,41", "west > east"),
        ("2,41,3,40", "south > north"),
        ("2,40,2,41", "is empty"),
        ("2,40,3,40", "is empty"),
        ("2,40,181,41", r"longitudes in -180\.\.180"),
        ("-180.1,40,2,41", r"longitudes in -180\.\.180"),
        ("2,-91,3,41", r"latitudes in -90\.\.90"),
        ("2,40,3,90.5", r"latitudes in -90\.\.90"),
        ("41,2,42,200", r"latitudes in -90\.\.90 \(order: W,S,E,N\)"),
        ("nan,40,3,41", "not a number"),
        ("2,40,3,inf", "not a number"),
        ("-inf,40,3,41", "not a number"),
    ],
)
def test_a_box_that_makes_no_sense_says_why(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        area(text)


@pytest.mark.parametrize("side", [0, 1, 2, 3])
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_no_side_of_a_box_may_be_infinite(side: int, wrong: float) -> None:
    sides = [2.0, 40.0, 3.0, 41.0]
    sides[side] = wrong
    with pytest.raises(BadInput, match="not a number"):
        Box(*sides)


def test_the_whole_earth_is_a_box() -> None:
    box, _ = area("-180,-90,180,90")
    assert box.contains(np.array([90.0, -90.0]), np.array([180.0, -180.0])).all()


def test_the_border_belongs_to_the_box() -> None:
    box = Box(2.0, 40.0, 3.0, 41.0)
    lat = np.array([40.0, 41.0, 40.5, 40.5, 41.0000001, 40.5, np.nan])
    lon = np.array([2.5, 2.5, 2.0, 3.0, 2.5, 1.9999999, 2.5])
    inside = box.contains(lat, lon).tolist()
    assert inside == [True, True, True, True, False, False, False]


def test_a_box_is_written_as_it_was_given() -> None:
    text = "-3.7398145,40.387613,-3.653985,40.483515"
    assert str(area(text)[0]) == text
    assert area(str(CITIES["tarraco"].box))[0] == CITIES["tarraco"].box
