import math

import numpy as np
import pytest

from trajanon.errors import BadInput
from trajanon.extract.areas import CITIES, Box, area


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
    "text",
    [
        "-3.75,40.38,-3.65,40.48",
        " -3.75, 40.38 ,-3.65,40.48 ",
        "-375e-2,40.38,-3.65,40.48",
    ],
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
    assert said.startswith(f"{text!r} is not an area")
    for way_out in (*CITIES, "W,S,E,N", "--bbox="):
        assert way_out in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("179.9,-17,-179.9,-16", "west > east.*antimeridian, give two boxes"),
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
