"""The city of the sample: the fastest ways through its streets, and what lies where."""

import math
from itertools import pairwise

import numpy as np
import pytest
from city import City, Dice, Street, _is_east_of_river, build_city, in_park


def crossroads() -> City:
    """A short and slow way from 0 to 2 over 1, and a long and fast one over 3; nothing meets 4."""
    city = City()
    for place in ((0.0, 0.0), (100.0, 0.0), (200.0, 0.0), (100.0, 100.0), (100.0, 50.0)):
        city.add_junction(place)
    city.add_street(0, 1, [], 10.0)
    city.add_street(1, 2, [], 10.0)
    city.add_street(0, 3, [(0.0, 100.0)], 20.0)
    city.add_street(3, 2, [], 20.0)
    return city


def ends(way: list[Street]) -> list[int]:
    return [street.end for street in way]


def test_the_fastest_way_counts_seconds_and_not_metres() -> None:
    city = crossroads()
    evenly = [1.0] * 5
    # 20 s at 10 m/s and a crossing of 1 s each; 200 and 141 m at 20 m/s take 17 s.
    assert ends(city.fastest(0, 2, evenly)) == [3, 2]
    assert ends(city.fastest(2, 0, evenly)) == [3, 0]
    assert city.fastest(1, 1, evenly) == []


def test_a_taste_leads_elsewhere() -> None:
    assert ends(crossroads().fastest(0, 2, [1.0, 1.0, 1.0, 3.0, 1.0])) == [1, 2]


def test_a_street_leads_back_along_its_bends() -> None:
    city = crossroads()
    (there,) = [street for street in city.streets[0] if street.end == 3]
    (back,) = [street for street in city.streets[3] if street.end == 0]
    assert there.shape == back.shape[::-1] == ((0.0, 0.0), (0.0, 100.0), (100.0, 100.0))
    assert there.length == back.length == 200.0


def test_a_junction_near_a_place_has_streets() -> None:
    city, dice = crossroads(), Dice(0)
    drawn = {city.junction_near((100.0, 50.0), 60.0, dice) for _ in range(50)}
    assert drawn == {1, 3}


def test_dice_give_whole_numbers_below_a_count_and_a_bell_of_width_1() -> None:
    dice, again = Dice(7), Dice(7)
    drawn = [dice.below(3) for _ in range(300)]
    assert drawn == [again.below(3) for _ in range(300)]
    assert {*drawn} == {0, 1, 2}
    bells = np.array([dice.bell() for _ in range(10_000)])
    assert bells.mean() == pytest.approx(0.0, abs=0.05)
    assert bells.std() == pytest.approx(1.0, abs=0.05)


@pytest.fixture(scope="module")
def city() -> City:
    return build_city(Dice(1))


def slowest_avenue(city: City) -> float:
    """Return the lowest speed of streets with bends, which avenues alone have."""
    return min(street.speed for streets in city.streets for street in streets if street.shape[2:])


def test_parks_are_crossed_by_avenues_alone(city: City) -> None:
    in_parks = [
        street.speed
        for streets in city.streets
        for street in streets
        if any(map(in_park, street.shape))
    ]
    assert in_parks
    assert min(in_parks) >= slowest_avenue(city)


def test_bridges_are_of_avenues_alone(city: City) -> None:
    is_east = [_is_east_of_river(junction) for junction in city.junctions]
    bridges = [
        street.speed
        for start, streets in enumerate(city.streets)
        for street in streets
        if is_east[start] != is_east[street.end]
    ]
    assert bridges
    assert min(bridges) >= slowest_avenue(city)


def test_streets_join_the_junctions_that_they_name(city: City) -> None:
    for start, streets in enumerate(city.streets):
        for street in streets:
            assert street.shape[0] == city.junctions[start]
            assert street.shape[-1] == city.junctions[street.end]
            assert street.length == pytest.approx(
                sum(math.dist(*step) for step in pairwise(street.shape))
            )
