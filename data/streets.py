"""A made-up city: a warped grid, avenues laid over it, a river and two parks.

Only `trajanon.data.make_sample` needs it. Nothing here was measured anywhere: the streets are
formulas and chance.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from trajanon.data.network import City, Dice, Point

HALF_EAST, HALF_NORTH = 5400.0, 7200.0  # the city is larger than the box
BLOCK = 235.0
VERTEX = 25.0  # between two points of an avenue
PARKS = ((2050.0, 1750.0, 520.0, 700.0), (-1450.0, 2700.0, 300.0, 330.0))


@dataclass(frozen=True, slots=True)
class Avenue:
    """A fast road over the grid: its points, and the junctions at some of them."""

    points: list[Point]
    speed: float
    stops: dict[int, int]


def _drawn(formula: Callable[[float], Point], speed: float) -> Avenue:
    """Points on a curve for 0..1, about VERTEX apart."""
    fine = [formula(step / 4000.0) for step in range(4001)]
    points, since = [fine[0]], 0.0
    for before, here in pairwise(fine):
        since += math.dist(before, here)
        if since >= VERTEX:
            points.append(here)
            since = 0.0
    return Avenue(points, speed, {})


def _ring(east: float, north: float, wave: float) -> Callable[[float], Point]:
    def formula(share: float) -> Point:
        turn = 2.0 * math.pi * share
        radius = 1.0 + wave * math.sin(3.0 * turn + 0.6)
        return 150.0 + east * radius * math.cos(turn), north * radius * math.sin(turn)

    return formula


def _bow(start: Point, end: Point, bend: float, waves: float) -> Callable[[float], Point]:
    """Join two places by a line that sways to its left by at most `bend` metres."""
    east, north = end[0] - start[0], end[1] - start[1]
    size = math.hypot(east, north)

    def formula(share: float) -> Point:
        sway = bend * math.sin(math.pi * waves * share) / size
        return (start[0] + east * share - north * sway, start[1] + north * share + east * sway)

    return formula


def _avenues() -> list[Avenue]:
    return [
        _drawn(_ring(3420.0, 4650.0, 0.07), 14.0),
        _drawn(_bow((-150.0, -7200.0), (650.0, 7200.0), 320.0, 3.0), 12.5),
        _drawn(_ring(1250.0, 1650.0, 0.04), 11.5),
        _drawn(_bow((-5400.0, -900.0), (5400.0, 250.0), -380.0, 2.0), 12.5),
        _drawn(_bow((-5400.0, -6500.0), (150.0, -150.0), 420.0, 1.0), 13.0),
        _drawn(_bow((150.0, -150.0), (5400.0, 6700.0), 500.0, 1.0), 13.0),
        _drawn(_bow((-5400.0, 5900.0), (-350.0, 1300.0), 450.0, 1.0), 12.5),
        _drawn(_bow((800.0, -1300.0), (5400.0, -6300.0), 420.0, 1.0), 12.5),
        _drawn(_bow((-5400.0, -3300.0), (5400.0, -3000.0), 300.0, 2.0), 11.5),
        _drawn(_bow((-5400.0, 2600.0), (5400.0, 3300.0), -350.0, 1.6), 11.5),
        _drawn(_bow((-2100.0, -7200.0), (-1250.0, 7200.0), -300.0, 2.4), 11.5),
        _drawn(_bow((1900.0, -7200.0), (2450.0, 900.0), 260.0, 2.0), 11.5),
        _drawn(_bow((1500.0, 7200.0), (2450.0, 900.0), 300.0, 1.6), 11.5),
        _drawn(_bow((-5400.0, 700.0), (5400.0, 1250.0), 280.0, 3.0), 11.0),
        _drawn(_bow((-5400.0, -1900.0), (5400.0, -1900.0), 250.0, 2.0), 11.0),
        _drawn(_bow((-5400.0, 4600.0), (5400.0, 4500.0), -260.0, 3.0), 11.0),
        _drawn(_bow((-5400.0, -4700.0), (5400.0, -4300.0), -280.0, 2.0), 11.0),
    ]


class _Index:
    """The points of avenues by square, to find the nearest one."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[tuple[Avenue, int]]] = {}

    @staticmethod
    def _square(place: Point) -> tuple[int, int]:
        return math.floor(place[0] / 120.0), math.floor(place[1] / 120.0)

    def add(self, avenue: Avenue) -> None:
        for number, point in enumerate(avenue.points):
            self._squares.setdefault(self._square(point), []).append((avenue, number))

    def nearest(self, place: Point, reach: float) -> tuple[Avenue, int] | None:
        column, row = self._square(place)
        found = [
            (math.dist(avenue.points[number], place), avenue, number)
            for i in (column - 1, column, column + 1)
            for j in (row - 1, row, row + 1)
            for avenue, number in self._squares.get((i, j), ())
        ]
        best = min(found, key=lambda entry: entry[0], default=None)
        return None if best is None or best[0] > reach else best[1:]


def _join(city: City, avenue: Avenue, number: int) -> int:
    """Give the junction at a point of an avenue, a new one if there is none."""
    if number not in avenue.stops:
        avenue.stops[number] = city.add_junction(avenue.points[number])
    return avenue.stops[number]


def _lay_avenues(city: City, avenues: list[Avenue]) -> _Index:
    """Find where avenues cross: there they share a junction."""
    index = _Index()
    for avenue in avenues:
        crossed = -9
        for number, point in enumerate(avenue.points):
            other = index.nearest(point, 18.0)
            if other is not None and number - crossed > 8:
                avenue.stops[number] = _join(city, *other)
                crossed = number
        if math.dist(avenue.points[0], avenue.points[-1]) < 2.0 * VERTEX:
            avenue.stops[len(avenue.points) - 1] = _join(city, avenue, 0)
        index.add(avenue)
    return index


def _corner(dice: Dice, column: int, row: int) -> Point:
    """Place a corner of the grid: turned by nine degrees, warped, jittered."""
    turn = math.radians(9.0)
    u, v = column * BLOCK, row * BLOCK
    east = u * math.cos(turn) - v * math.sin(turn) + 150.0 * math.sin(v / 1400.0 + 1.0)
    north = u * math.sin(turn) + v * math.cos(turn) + 150.0 * math.sin(u / 1500.0)
    return east + dice.between(-28.0, 28.0), north + dice.between(-28.0, 28.0)


def in_park(place: Point) -> bool:
    """Whether a place lies in a park: only avenues pass, in tunnels."""
    return any(
        math.hypot((place[0] - east) / width, (place[1] - north) / height) < 1.0
        for east, north, width, height in PARKS
    )


def _east_of_river(place: Point) -> bool:
    east, north = place
    return east > -1750.0 - 0.2 * north - 420.0 * math.sin(north / 1500.0)


def _corners(dice: Dice) -> Iterator[tuple[int, int, Point]]:
    for column in range(-32, 33):
        for row in range(-36, 37):
            place = _corner(dice, column, row)
            inside = abs(place[0]) < HALF_EAST and abs(place[1]) < HALF_NORTH
            if inside and not in_park(place):
                yield column, row, place


def build_city(dice: Dice) -> City:
    """Make up the streets."""
    city = City()
    avenues = _avenues()
    index = _lay_avenues(city, avenues)
    grid: dict[tuple[int, int], int] = {}
    for column, row, place in _corners(dice):
        # A corner near an avenue moves onto it: streets end at the avenue.
        near = index.nearest(place, 0.46 * BLOCK)
        grid[column, row] = city.add_junction(place) if near is None else _join(city, *near)
    for (column, row), start in grid.items():
        for step, line in (((column + 1, row), row), ((column, row + 1), column)):
            end = grid.get(step, start)
            banks = {_east_of_river(city.junctions[at]) for at in (start, end)}
            if end != start and len(banks) == 1:
                city.add_street(start, end, [], 10.5 if line % 4 == 0 else 8.0)
    for avenue in avenues:
        stops = sorted(avenue.stops)
        for first, last in pairwise(stops):
            bends = avenue.points[first + 1 : last]
            city.add_street(avenue.stops[first], avenue.stops[last], bends, avenue.speed)
    return city
