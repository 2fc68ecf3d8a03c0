"""The circles around somebody's places: what they hide, and what they tell of the place."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import GEOD, START, line, points

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.hidden_homes_and_ends import RADIUS, Circles, Radius, radius_of, zone_centres
from trajanon.extract.one_persons_tracks import cut_places
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace

RULES = Rules(max_pause=300.0, max_gap=2_000.0)
NOWHERE = np.empty((0, 2))


def star(directions: int, *, start: tuple[float, float] = START) -> Points:
    """Tracks from one place to all sides, with a fix every 10 m for 3 km."""
    metres = np.arange(0.0, 3_000.0, 10.0)
    azimuths = np.arange(directions) * 360.0 / directions
    return points(*(line(list(metres), start=start, azimuth=azimuth) for azimuth in azimuths))


def metres_from(place: tuple[float, float], lat: Floats, lon: Floats) -> Floats:
    size = np.ones(len(lat))
    return np.asarray(GEOD.inv(place[1] * size, place[0] * size, lon, lat)[2])


@given(st.binary(min_size=16, max_size=32))
def test_what_is_near_an_end_is_cut_and_what_is_far_stays(key: bytes) -> None:
    tracks, left, _ = cut_places(star(6), RADIUS, NOWHERE, key)
    home = metres_from(START, left.lat, left.lon)
    assert home.min() > RADIUS.least

    farthest_cut = RADIUS.circle + RADIUS.shift + 10.0
    far_end = [tuple(end) for end in np.column_stack([tracks.lat, tracks.lon])[299::300]]
    far = np.min([metres_from(end, tracks.lat, tracks.lon) for end in far_end], axis=0)
    near_home = metres_from(START, tracks.lat, tracks.lon)
    stays = (far > farthest_cut) & (near_home > farthest_cut)
    assert np.isin(tracks.lat[stays], left.lat).all()


def test_whoever_knows_a_circle_does_not_know_its_place() -> None:
    """Of 1,000 keys the centre is within 50 m of the home in (50 / 300)², as chance has it."""
    home = star(1)
    near = 0
    for number in range(1_000):
        centres = zone_centres(home, RULES, RADIUS, NOWHERE, number.to_bytes(16, "little"))
        near += metres_from(START, *centres.T).min() < 50.0
    assert 10 <= near <= 50  # 28 are expected; five of a hundred people would be 50


def test_a_key_draws_the_same_circle_again_and_another_key_another() -> None:
    first = zone_centres(star(4), RULES, RADIUS, NOWHERE, bytes(range(32)))
    again = zone_centres(star(8), RULES, RADIUS, NOWHERE, bytes(range(32)))
    other = zone_centres(star(4), RULES, RADIUS, NOWHERE, bytes(range(1, 33)))
    assert first[0, 0] == again[0, 0]
    assert abs(first[0, 0] - other[0, 0]) > 1e-6


def test_two_ends_of_one_home_share_the_way_to_their_centres() -> None:
    """Two ways drawn for one home would show more of it than one."""
    beside = GEOD.fwd(START[1], START[0], 45.0, 150.0)[1::-1]
    tracks = points(line([0.0, 5_000.0]), line([0.0, 5_000.0], start=beside, azimuth=270.0))
    centres = zone_centres(tracks, RULES, RADIUS, NOWHERE, bytes(range(32)))
    first, second = centres[metres_from(START, *centres.T) < 1_200.0]
    (apart,) = metres_from((first[0], first[1]), second[:1], second[1:])
    assert apart == pytest.approx(150.0, abs=0.5)


def test_no_two_circles_of_different_people_share_a_way() -> None:
    """Whoever knows the own home must not find the neighbours'."""
    degrees = np.arange(12) * 0.51 * RADIUS.least / 75_000.0
    places = np.stack(np.meshgrid(START[0] + degrees, START[1] + degrees), axis=-1).reshape(-1, 2)
    circles = Circles(RADIUS, bytes(range(32)))
    numbers = circles.numbers_of(places)
    ways = np.round(circles.centres(numbers) - places, 9)
    assert len(np.unique(ways, axis=0)) == len(np.unique(numbers)) == len(places)


def stay_in_the_middle(name: str) -> Trace:
    metres = [*range(0, 5_000, 50), *[5_000.0] * 80, *range(5_050, 10_000, 50)]
    return line(metres, [10.0 * number for number in range(len(metres))], name=name)


def test_a_place_where_tracks_stay_again_is_hidden_and_one_stay_is_not() -> None:
    middle = GEOD.fwd(START[1], START[0], 90.0, 5_000.0)[1::-1]
    nearest = []
    for names in (["a"], ["a", "b"]):
        _, left, _ = cut_places(
            points(*map(stay_in_the_middle, names)), RADIUS, NOWHERE, bytes(range(32))
        )
        nearest.append(metres_from(middle, left.lat, left.lon).min())
    once, twice = nearest
    assert once < 1.0
    assert twice > RADIUS.least


def test_a_place_that_is_named_is_hidden() -> None:
    middle = GEOD.fwd(START[1], START[0], 90.0, 5_000.0)[1::-1]
    tracks = points(line(list(np.arange(0.0, 10_000.0, 50.0))))
    _, left, _ = cut_places(tracks, RADIUS, np.array([middle]), bytes(range(32)))
    assert metres_from(middle, left.lat, left.lon).min() > RADIUS.least


@pytest.mark.parametrize("fixes_far_off", [1, 4])
def test_first_fixes_that_lie_far_off_do_not_show_the_home(fixes_far_off: int) -> None:
    """A receiver that has just been switched on may repeat where it was last."""
    metres = [*[-1_500.0] * fixes_far_off, *np.arange(0.0, 4_000.0, 20.0)]
    seconds = list(2.0 * np.arange(len(metres)))
    _, left, _ = cut_places(points(line(metres, seconds)), RADIUS, NOWHERE, bytes(range(32)))
    assert metres_from(START, left.lat, left.lon).min() > RADIUS.least


def test_a_single_stray_fix_is_no_end() -> None:
    metres = np.arange(0.0, 9_000.0, 20.0)
    metres[200] += 1_500.0
    tracks, _, places = cut_places(
        points(line(list(metres), list(2.0 * np.arange(450)))), RADIUS, NOWHERE, bytes(range(32))
    )
    assert places == 2
    assert len(tracks) == 449


def test_a_way_through_a_circle_is_cut_even_if_no_point_lies_in_it() -> None:
    """Points 1.8 km apart, and a place to hide in the middle of two: no line leads through it."""
    tracks = points(line([1_800.0 * number for number in range(6)]))
    middle = np.array([GEOD.fwd(START[1], START[0], 90.0, 4_500.0)[1::-1]])
    _, left, places = cut_places(tracks, RADIUS, middle, bytes(range(32)))
    assert places == 3
    assert left.pieces[1].tolist() == [2, 2]


@pytest.mark.parametrize("lat", [0.0, 75.0, -89.999, 90.0])
def test_no_circle_lies_farther_from_its_place_than_its_shift(lat: float) -> None:
    radius = Radius(50.0, 20_000.0)
    farthest = 0.0
    for number in range(1_000):
        circles = Circles(radius, number.to_bytes(16, "little"))
        centre = circles.centres(circles.numbers_of(np.array([[lat, 3.0]])))
        farthest = max(farthest, metres_from((lat, 3.0), *centre.T)[0])
    assert 0.9 * radius.shift < farthest < 1.0002 * radius.shift or lat == 90.0


@given(st.floats(-180.0, 180.0), st.floats(-90.0, 90.0))
def test_circles_hold_everywhere_on_earth(lon: float, lat: float) -> None:
    home = star(3, start=(lat, lon))
    _, left, _ = cut_places(home, RADIUS, NOWHERE, bytes(range(32)))
    assert metres_from((lat, lon), left.lat, left.lon).min() > RADIUS.least
    for before, after in pairwise(left.piece):
        assert before <= after


def test_a_radius_is_two_distances() -> None:
    assert radius_of("200-500") == Radius()
    for text in ("200", "500-200", "300-400", "10-90", "nan-3", "1-2-3", "200-90000"):
        with pytest.raises(BadInput, match="`radius`"):
            radius_of(text)
