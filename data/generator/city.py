"""A made-up city: a warped grid of streets, avenues laid over it, a river and two parks.

Nothing here was measured anywhere: the streets are formulas and chance. Places are metres east and
north of the middle of the sample's box, speeds are metres a second.
"""

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from scipy.spatial import cKDTree

Point = tuple[float, float]
Curve = Callable[[float], Point]  # a place for each share of the curve, from 0 to 1

HALF_EAST, HALF_NORTH = 5400.0, 7200.0  # the city is larger than the box
BLOCK = 235.0
VERTEX = 25.0  # between two points of an avenue
PARKS = ((2050.0, 1750.0, 520.0, 700.0), (-1450.0, 2700.0, 300.0, 330.0))


class Dice:
    """Chance that is the same on every machine and under every Python."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed).random

    def between(self, low: float, high: float) -> float:
        """Draw a number, uniformly."""
        return low + (high - low) * self._draw()

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to count - 1."""
        return int(count * self._draw())

    def chance(self, probability: float) -> bool:
        """Say yes with a probability."""
        return self._draw() < probability

    def bell(self) -> float:
        """Draw a nearly normal number of mean 0 and standard deviation 1."""
        return (sum(self._draw() for _ in range(4)) - 2.0) * math.sqrt(3.0)


@dataclass(frozen=True, slots=True)
class Street:
    """A piece of road from one junction to the next, in one direction."""

    end: int
    shape: tuple[Point, ...]
    length: float
    speed: float


@dataclass(slots=True)
class City:
    """Junctions, and the streets that leave them."""

    junctions: list[Point] = field(default_factory=list)
    streets: list[list[Street]] = field(default_factory=list)

    def add_junction(self, place: Point) -> int:
        """Take a place into the network and return its number."""
        # Rounded, so that the last digit of a sine cannot change a route.
        self.junctions.append((round(place[0], 2), round(place[1], 2)))
        self.streets.append([])
        return len(self.junctions) - 1

    def add_street(self, start: int, end: int, bends: list[Point], speed: float) -> None:
        """Join two junctions in both directions."""
        shape = (self.junctions[start], *bends, self.junctions[end])
        length = math.fsum(map(math.dist, shape, shape[1:]))
        self.streets[start].append(Street(end, shape, length, speed))
        self.streets[end].append(Street(start, shape[::-1], length, speed))

    def one_near(self, place: Point, radius: float, dice: Dice) -> int:
        """Draw a junction with streets, closer to a place than a radius in metres."""
        found = [
            junction
            for junction, here in enumerate(self.junctions)
            if self.streets[junction] and math.dist(here, place) < radius
        ]
        return found[dice.below(len(found))]

    def fastest(self, start: int, goal: int, taste: Sequence[float]) -> list[Street]:
        """Find the fastest way (Dijkstra); taste is a factor of seconds for each junction left."""
        seconds, came = {start: 0.0}, dict[int, tuple[int, Street]]()
        queue = [(0.0, start)]
        while queue:
            spent, here = heapq.heappop(queue)
            if here == goal:
                break
            if spent > seconds[here]:
                continue
            for street in self.streets[here]:
                lost = 3.5 if street.speed < 9.0 else 1.0
                then = spent + taste[here] * street.length / street.speed + lost
                if then < seconds.get(street.end, math.inf):
                    seconds[street.end], came[street.end] = then, (here, street)
                    heapq.heappush(queue, (then, street.end))
        way = []
        while goal != start:
            goal, street = came[goal]
            way.append(street)
        return way[::-1]


@dataclass(slots=True)
class Avenue:
    """A fast road over the grid: its points, and the junctions at some of them."""

    points: list[Point]
    speed: float
    stops: dict[int, int] = field(default_factory=dict)

    @classmethod
    def along(cls, curve: Curve, speed: float) -> "Avenue":
        """Put points on a curve, about VERTEX apart."""
        fine = [curve(step / 4000.0) for step in range(4001)]
        points, since = [fine[0]], 0.0
        for before, here in pairwise(fine):
            since += math.dist(before, here)
            if since >= VERTEX:
                points.append(here)
                since = 0.0
        return cls(points, speed)

    def junction(self, city: City, number: int) -> int:
        """Give the junction at a point, a new one if there is none."""
        if number not in self.stops:
            self.stops[number] = city.add_junction(self.points[number])
        return self.stops[number]


def _ring(east: float, north: float, wave: float) -> Curve:
    def curve(share: float) -> Point:
        turn = 2.0 * math.pi * share
        radius = 1.0 + wave * math.sin(3.0 * turn + 0.6)
        return 150.0 + east * radius * math.cos(turn), north * radius * math.sin(turn)

    return curve


def _bow(start: Point, end: Point, bend: float, waves: float) -> Curve:
    """Join two places by a line that sways to its left by at most `bend` metres."""
    east, north = end[0] - start[0], end[1] - start[1]
    size = math.hypot(east, north)

    def curve(share: float) -> Point:
        sway = bend * math.sin(math.pi * waves * share) / size
        return (start[0] + east * share - north * sway, start[1] + north * share + east * sway)

    return curve


AVENUES = (
    (_ring(3420.0, 4650.0, 0.07), 14.0),
    (_bow((-150.0, -7200.0), (650.0, 7200.0), 320.0, 3.0), 12.5),
    (_ring(1250.0, 1650.0, 0.04), 11.5),
    (_bow((-5400.0, -900.0), (5400.0, 250.0), -380.0, 2.0), 12.5),
    (_bow((-5400.0, -6500.0), (150.0, -150.0), 420.0, 1.0), 13.0),
    (_bow((150.0, -150.0), (5400.0, 6700.0), 500.0, 1.0), 13.0),
    (_bow((-5400.0, 5900.0), (-350.0, 1300.0), 450.0, 1.0), 12.5),
    (_bow((800.0, -1300.0), (5400.0, -6300.0), 420.0, 1.0), 12.5),
    (_bow((-5400.0, -3300.0), (5400.0, -3000.0), 300.0, 2.0), 11.5),
    (_bow((-5400.0, 2600.0), (5400.0, 3300.0), -350.0, 1.6), 11.5),
    (_bow((-2100.0, -7200.0), (-1250.0, 7200.0), -300.0, 2.4), 11.5),
    (_bow((1900.0, -7200.0), (2450.0, 900.0), 260.0, 2.0), 11.5),
    (_bow((1500.0, 7200.0), (2450.0, 900.0), 300.0, 1.6), 11.5),
    (_bow((-5400.0, 700.0), (5400.0, 1250.0), 280.0, 3.0), 11.0),
    (_bow((-5400.0, -1900.0), (5400.0, -1900.0), 250.0, 2.0), 11.0),
    (_bow((-5400.0, 4600.0), (5400.0, 4500.0), -260.0, 3.0), 11.0),
    (_bow((-5400.0, -4700.0), (5400.0, -4300.0), -280.0, 2.0), 11.0),
)


def build_city(dice: Dice) -> City:
    """Make up the streets."""
    city = City()
    avenues = [Avenue.along(curve, speed) for curve, speed in AVENUES]
    grid = _grid(city, _cross(city, avenues), dice)
    for (column, row), start in grid.items():
        for step, line in (((column + 1, row), row), ((column, row + 1), column)):
            end = grid.get(step, start)
            banks = {_east_of_river(city.junctions[at]) for at in (start, end)}
            if end != start and len(banks) == 1:
                city.add_street(start, end, [], 10.5 if line % 4 == 0 else 8.0)
    for avenue in avenues:
        for first, last in pairwise(sorted(avenue.stops)):
            bends = avenue.points[first + 1 : last]
            city.add_street(avenue.stops[first], avenue.stops[last], bends, avenue.speed)
    return city


Stop = tuple[Avenue, int]  # an avenue, and the number of one of its points


def _cross(city: City, avenues: list[Avenue]) -> list[Stop]:
    """Give avenues a common junction where they cross; return all their points."""
    laid: list[Stop] = []
    for avenue in avenues:
        crossed = -9
        for number, other in enumerate(_nearest(laid, avenue.points, 18.0)):
            if other is not None and number - crossed > 8:
                avenue.stops[number] = other[0].junction(city, other[1])
                crossed = number
        if math.dist(avenue.points[0], avenue.points[-1]) < 2.0 * VERTEX:
            avenue.stops[len(avenue.points) - 1] = avenue.junction(city, 0)
        laid += [(avenue, number) for number in range(len(avenue.points))]
    return laid


def _grid(city: City, laid: list[Stop], dice: Dice) -> dict[tuple[int, int], int]:
    """Make the junctions of the grid; a corner near an avenue moves onto it."""
    corners = {
        (column, row): _corner(dice, column, row)
        for column in range(-32, 33)
        for row in range(-36, 37)
    }
    corners = {
        key: (east, north)
        for key, (east, north) in corners.items()
        if abs(east) < HALF_EAST and abs(north) < HALF_NORTH and not in_park((east, north))
    }
    stops = _nearest(laid, list(corners.values()), 0.46 * BLOCK)
    return {
        key: city.add_junction(place) if stop is None else stop[0].junction(city, stop[1])
        for (key, place), stop in zip(corners.items(), stops, strict=True)
    }


def _nearest(laid: list[Stop], places: list[Point], reach: float) -> list[Stop | None]:
    """Find the nearest point of an avenue to each place; None beyond a reach in metres."""
    if not laid:
        return [None] * len(places)
    tree = cKDTree([avenue.points[number] for avenue, number in laid])
    _, found = tree.query(places, distance_upper_bound=reach)
    return [laid[number] if number < len(laid) else None for number in found]


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
