"""Made-up people: where they live, where they go, which ways they like.

Only `trajanon.data.make_sample` needs it.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

from trajanon.data.network import City, Dice, Point, Street

HUBS = (
    *((300.0, -400.0), (700.0, 4300.0), (-300.0, -4300.0), (3000.0, 600.0)),
    *((-1900.0, 3900.0), (-3100.0, -3200.0), (1500.0, -2900.0)),
)
HOMES = (
    *((-2700.0, 4500.0), (-3000.0, 1000.0), (-2700.0, -3900.0), (2900.0, 4300.0)),
    *((2600.0, -4100.0), (-2900.0, -1900.0), (2600.0, -1700.0), (-700.0, 4700.0)),
    *((900.0, -4800.0), (-4500.0, 4900.0), (4300.0, -5000.0), (4400.0, 5500.0)),
)
AIM = 8000.0  # metres as the crow flies: a drive of two windows of 30 points


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody who does not exist: a home, goals, the usual one first, and a taste."""

    name: str
    home: int
    goals: tuple[int, int, int, int]
    taste: list[float]


def make_subjects(city: City, count: int, dice: Dice) -> list[Subject]:
    """Make up people who live in a few neighbourhoods and work at fewer hubs."""
    return [_subject(city, number, dice) for number in range(count)]


def _subject(city: City, number: int, dice: Dice) -> Subject:
    home = HOMES[number % len(HOMES)]
    hubs = sorted(HUBS, key=lambda hub: abs(math.dist(home, hub) - AIM))
    fond = 0.0 if dice.chance(0.4) else 1.1  # many do as they are told
    return Subject(
        name=f"synthetic-{number + 1:03d}",
        home=_one_near(city, home, 450.0 if dice.chance(0.85) else 1500.0, dice),
        goals=(
            _one_near(city, hubs[0], 250.0, dice),
            _one_near(city, hubs[1], 250.0, dice),
            _one_near(city, home, 1700.0, dice),
            _one_near(city, (0.0, 0.0), 4200.0, dice),
        ),
        taste=[1.0 + fond * dice.between(0.0, 1.0) for _ in city.junctions],
    )


def _one_near(city: City, place: Point, radius: float, dice: Dice) -> int:
    found = city.near(place, radius)
    return found[dice.below(len(found))]


def choose_way(city: City, subject: Subject, dice: Dice) -> tuple[list[Street], bool]:
    """Choose one of the subject's ways."""
    place = dice.between(0.0, 1.0)
    usual, other, errand, visit = subject.goals
    stops = [subject.home, usual]
    if place > 0.96:
        stops = [subject.home, errand]
    elif place > 0.88:
        stops = [subject.home, visit]
    elif place > 0.76:
        stops = [subject.home, other]
    elif place > 0.5:
        stops = [subject.home, usual, other]
    evening = dice.chance(0.45)
    if evening:
        stops.reverse()
    way = []
    for start, goal in pairwise(stops):
        way += city.fastest(start, goal, subject.taste)
    return way, evening
