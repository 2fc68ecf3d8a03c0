"""A made-up city: a warped grid of streets, avenues laid over it, a river and two parks.

Nothing here was measured anywhere: the streets are formulas and chance. Places are metres east and
north of the middle of the sample's box, speeds are metres a second.
"""

import heapq
import math
import random
import tomllib
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

from scipy.spatial import cKDTree

Point = tuple[float, float]
Curve = Callable[[float], Point]  # a place for each share of the curve, from 0 to 1

HALF_EAST = 5400.0  # metres; the city is larger than the box
HALF_NORTH = 7200.0
BLOCK = 235.0  # metres from one street of the grid to the next
VERTEX = 25.0  # metres between two points of an avenue
STOPS_APART = 8  # points of an avenue that lie between two of its crossings with others, at least
PLACES = tomllib.loads(Path(__file__).with_name("city.toml").read_text("utf-8"))
"""Parks, avenues, hubs and homes of the city."""


class Dice(random.Random):
    """Chance that is the same on every machine and under every Python."""

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to count - 1."""
        return int(count * self.random())

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.random() < probability

    def bell(self) -> float:
        """Draw a nearly normal number of mean 0 and standard deviation 1."""
        return (sum(self.random() for _ in range(4)) - 2.0) * math.sqrt(3.0)


class Street(NamedTuple):
    """A piece of road from one junction to the next, in one direction."""

    end: int
    shape: tuple[Point, ...]
    length: float
    speed: float


class City:
    """Junctions, and the streets that leave them."""

    def __init__(self) -> None:
        self.junctions: list[Point] = []
        self.streets: list[list[Street]] = []

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

    def junction_near(self, place: Point, radius: float, dice: Dice) -> int:
        """Draw a junction with streets, closer to a place than a radius in metres."""
        near = [
            junction
            for junction, junction_place in enumerate(self.junctions)
            if self.streets[junction] and math.dist(junction_place, place) < radius
        ]
        return near[dice.below(len(near))]

    def fastest(self, start: int, goal: int, taste: Sequence[float]) -> list[Street]:
        """Find the fastest way (Dijkstra); taste is a factor of seconds for each junction left."""
        seconds = {start: 0.0}  # from the start, by junction
        before: dict[int, tuple[int, Street]] = {}  # where the fastest way to a junction comes from
        queue = [(0.0, start)]
        while queue[0][1] != goal:
            spent, junction = heapq.heappop(queue)
            if spent > seconds[junction]:
                continue

            for street in self.streets[junction]:
                at_crossing = 3.5 if street.speed < 9.0 else 1.0  # seconds; side streets wait
                driving = taste[junction] * street.length / street.speed
                arrival = spent + driving + at_crossing
                if arrival < seconds.get(street.end, math.inf):
                    seconds[street.end] = arrival
                    before[street.end] = (junction, street)
                    heapq.heappush(queue, (arrival, street.end))

        way: list[Street] = []
        while goal != start:
            goal, street = before[goal]
            way.append(street)
        return way[::-1]


class Avenue:
    """A fast road over the grid: its points, and the junctions at some of them."""

    def __init__(self, curve: Curve, speed: float) -> None:
        self.speed = speed
        self.stops = dict[int, int]()  # junctions by the number of their point

        fine = [curve(step / 4000.0) for step in range(4001)]
        self.points = [fine[0]]
        since_last = 0.0  # metres
        for before, here in pairwise(fine):
            since_last += math.dist(before, here)
            if since_last >= VERTEX:
                self.points.append(here)
                since_last = 0.0

    def junction(self, city: City, number: int) -> int:
        """Return the junction at a point of the avenue; make one if there is none."""
        if number not in self.stops:
            self.stops[number] = city.add_junction(self.points[number])
        return self.stops[number]


def _ring(east: float, north: float, wave: float) -> Curve:
    """Lead around the middle: an ellipse by its half axes in metres, and how much it waves."""

    def curve(share: float) -> Point:
        turn = 2.0 * math.pi * share
        radius = 1.0 + wave * math.sin(3.0 * turn + 0.6)
        return 150.0 + east * radius * math.cos(turn), north * radius * math.sin(turn)

    return curve


def _bow(start: Point, end: Point, bend: float, waves: float) -> Curve:
    """Join two places by a line that sways to its left by at most `bend` metres."""
    east = end[0] - start[0]
    north = end[1] - start[1]
    size = math.hypot(east, north)

    def curve(share: float) -> Point:
        sway = bend * math.sin(math.pi * waves * share) / size
        return (start[0] + east * share - north * sway, start[1] + north * share + east * sway)

    return curve


_CURVES: dict[str, Callable[..., Curve]] = {"ring": _ring, "bow": _bow}


def build_city(dice: Dice) -> City:
    """Make up the streets."""
    city = City()
    avenues = [
        Avenue(_CURVES[form](*numbers), speed) for speed, form, *numbers in PLACES["avenues"]
    ]
    grid = _grid(city, _cross(city, avenues), dice)
    for (column, row), start in grid.items():
        # To the next junction in the row, and in the column; each fourth of these is faster.
        for next_corner, line in (((column + 1, row), row), ((column, row + 1), column)):
            end = grid.get(next_corner, start)
            banks = {_is_east_of_river(city.junctions[junction]) for junction in (start, end)}
            crosses_river = len(banks) > 1
            if end != start and not crosses_river:
                city.add_street(start, end, [], 10.5 if line % 4 == 0 else 8.0)

    for avenue in avenues:
        for first, last in pairwise(sorted(avenue.stops)):
            bends = avenue.points[first + 1 : last]
            city.add_street(avenue.stops[first], avenue.stops[last], bends, avenue.speed)
    return city


Stop = tuple[Avenue, int]  # an avenue, and the number of one of its points


def _cross(city: City, avenues: list[Avenue]) -> list[Stop]:
    """Make a common junction where avenues cross; return all their points."""
    laid: list[Stop] = []
    for avenue in avenues:
        last_crossing = -STOPS_APART - 1
        for number, stop in enumerate(_nearest(laid, avenue.points, 18.0)):
            if stop is not None and number - last_crossing > STOPS_APART:
                other, number_on_other = stop
                avenue.stops[number] = other.junction(city, number_on_other)
                last_crossing = number
        # A ring ends where it began.
        if math.dist(avenue.points[0], avenue.points[-1]) < 2.0 * VERTEX:
            avenue.stops[len(avenue.points) - 1] = avenue.junction(city, 0)
        laid += [(avenue, number) for number in range(len(avenue.points))]
    return laid


def _grid(city: City, laid: list[Stop], dice: Dice) -> dict[tuple[int, int], int]:
    """Make the junctions of the grid, turned, warped and jittered; some move onto an avenue."""
    turn = math.radians(9.0)
    corners = dict[tuple[int, int], Point]()  # by column and row
    for column, row in product(range(-32, 33), range(-36, 37)):
        u = column * BLOCK
        v = row * BLOCK
        east = u * math.cos(turn) - v * math.sin(turn) + 150.0 * math.sin(v / 1400.0 + 1.0)
        north = u * math.sin(turn) + v * math.cos(turn) + 150.0 * math.sin(u / 1500.0)
        east += dice.uniform(-28.0, 28.0)
        north += dice.uniform(-28.0, 28.0)
        if abs(east) < HALF_EAST and abs(north) < HALF_NORTH and not in_park((east, north)):
            corners[column, row] = (east, north)

    stops = _nearest(laid, list(corners.values()), 0.46 * BLOCK)
    return {
        corner: city.add_junction(place) if stop is None else stop[0].junction(city, stop[1])
        for (corner, place), stop in zip(corners.items(), stops, strict=True)
    }


def _nearest(laid: list[Stop], places: list[Point], reach: float) -> list[Stop | None]:
    """Find the nearest point of an avenue to each place; None beyond a reach in metres."""
    if not laid:
        return [None] * len(places)
    tree = cKDTree([avenue.points[number] for avenue, number in laid])
    _, found = tree.query(places, distance_upper_bound=reach)
    return [laid[number] if number < len(laid) else None for number in found]


def in_park(place: Point) -> bool:
    """Return whether a place lies in a park: only avenues pass, in tunnels."""
    return any(
        math.hypot((place[0] - east) / width, (place[1] - north) / height) < 1.0
        for east, north, width, height in PLACES["parks"]
    )


def _is_east_of_river(place: Point) -> bool:
    """Return whether a place lies to the east of the river, over which only avenues lead."""
    east, north = place
    return east > -1750.0 - 0.2 * north - 420.0 * math.sin(north / 1500.0)
