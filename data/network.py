"""Chance that repeats, and a network of streets with its fastest ways.

Only `trajanon.data.make_sample` needs it. Places are metres east and north of the middle of the
box, speeds metres a second.
"""

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


class Dice:
    """Chance that is the same on every machine and under every Python."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed).random

    def between(self, low: float, high: float) -> float:
        """Draw a number, every one in the range as likely."""
        return low + (high - low) * self._draw()

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to count - 1."""
        return int(count * self._draw())

    def chance(self, probability: float) -> bool:
        """Say yes as often as the probability tells."""
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


class City:
    """Junctions, and the streets that leave them."""

    def __init__(self) -> None:
        self.junctions: list[Point] = []
        self.streets: list[list[Street]] = []

    def add_junction(self, place: Point) -> int:
        """Take a place into the network and return its number."""
        # Rounded, so that no last digit of a sine can ever turn a route.
        self.junctions.append((round(place[0], 2), round(place[1], 2)))
        self.streets.append([])
        return len(self.junctions) - 1

    def add_street(self, start: int, end: int, bends: list[Point], speed: float) -> None:
        """Join two junctions in both directions."""
        shape = (self.junctions[start], *bends, self.junctions[end])
        length = math.fsum(map(math.dist, shape, shape[1:]))
        self.streets[start].append(Street(end, shape, length, speed))
        self.streets[end].append(Street(start, shape[::-1], length, speed))

    def near(self, place: Point, radius: float) -> list[int]:
        """Junctions with streets, closer to a place than a radius in metres."""
        return [
            junction
            for junction, here in enumerate(self.junctions)
            if self.streets[junction] and math.dist(here, place) < radius
        ]

    def fastest(self, start: int, goal: int, taste: Sequence[float]) -> list[Street]:
        """Find the fastest way, to somebody's taste."""
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
                seems = taste[here] * street.length / street.speed
                then = spent + seems + lost
                if then < seconds.get(street.end, math.inf):
                    seconds[street.end], came[street.end] = then, (here, street)
                    heapq.heappush(queue, (then, street.end))
        way = []
        while goal != start:
            goal, street = came[goal]
            way.append(street)
        return way[::-1]
