"""Draw a population of commuters in the city of the sample: homes, workplaces, shops, whole days.

Run ``python data/generator/commuters.py FILE.csv [PEOPLE] [DAYS]``: 500 people on 20 days from a
Monday on make 19,000 trips. Every machine writes the same file, and all people in it are invented.
"""

import csv
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from city import City, Dice, Street, build_city
from make_sample import FIRST_DAY, HOMES, RUSH, SEED, Fix, Subject, drive, make_subject, record

PEOPLE, DAYS = 500, 20
EVERY = 14.0  # seconds between two fixes
LOST = 0.03  # share of the trips that are not recorded

HOME, WORK, MEETING, SHOP, VISIT = range(5)  # by their place in the list of `places_of`

# Which share of the days somebody goes where, one place after another, from home on.
WEEKDAYS = (
    (0.08, ()),
    (0.50, (WORK, HOME)),
    (0.20, (WORK, SHOP, HOME)),
    (0.06, (VISIT, HOME)),
    (0.10, (WORK, HOME, SHOP, HOME)),
    (0.06, (WORK, MEETING, WORK, HOME)),
)
WEEKENDS = ((0.35, ()), (0.40, (SHOP, HOME)), (0.25, (VISIT, HOME)))

# The local hour at which somebody sets out for a place, and a spread, in hours; for work and home
# it is the rush hour.
HOURS = {MEETING: (11.5, 0.8), SHOP: (18.0, 1.0), VISIT: (12.0, 2.0)}


def places_of(city: City, subject: Subject, number: int, shops: list[int], dice: Dice) -> list[int]:
    """Draw the junctions of a home, work, meetings, shops and visits; a third work off the hubs."""
    # The third goal of a subject of the sample is an errand; here it is a shop.
    hub, meeting, _, visit = subject.goals

    # Homes lie farther apart than those of the sample, so the subject's own is not used.
    home = city.junction_near(HOMES[number % len(HOMES)], 1500.0, dice)
    work = city.junction_near((0.0, 0.0), 4200.0, dice) if dice.chance(1.0 / 3.0) else hub
    return [home, work, meeting, shops[number % len(shops)], visit]


def plan(weekend: bool, dice: Dice) -> list[int]:
    """Draw where somebody is on a day, from home on; home alone on a day without trips."""
    remaining = dice.uniform(0.0, 1.0)
    for share, goals in WEEKENDS if weekend else WEEKDAYS:
        remaining -= share
        if remaining < 0.0:
            return [HOME, *goals]
    return [HOME]


def trips_of(
    city: City, subject: Subject, places: list[int], days: int, dice: Dice
) -> Iterator[list[Fix]]:
    """Record the trips of somebody on so many days: between two places always the same way."""
    ways: dict[tuple[int, int], list[Street]] = {}
    for day in range(days):
        ready = 0.0  # the hour at which somebody is where the next trip begins
        for start, goal in pairwise(plan(day % 7 > 4, dice)):
            pair = places[start], places[goal]
            if pair not in ways:
                ways[pair] = city.fastest(*pair, subject.taste)
            is_way_home = goal == HOME
            middle, spread = HOURS.get(goal, RUSH[is_way_home])
            hour = max(middle + spread * dice.bell(), ready)
            if not ways[pair]:  # both places are one
                continue
            moments = drive(ways[pair], dice)
            least_stay = dice.uniform(0.2, 0.6)  # hours
            ready = hour + moments[-1][0] / 3600.0 + least_stay
            began = FIRST_DAY + 86_400 * day + int(3600.0 * (hour - 1.0))  # local time is UTC + 1
            fixes = record(moments, began, EVERY, dice)
            if len(fixes) > 1 and not dice.chance(LOST):
                yield fixes


def write(file: Path, people: int = PEOPLE, days: int = DAYS) -> None:
    """Write a row for each fix: who, which trip, where and when."""
    dice = Dice(SEED + 2)  # the sample is drawn by the two seeds before
    city = build_city(dice)
    shops = [city.junction_near(home, 600.0, dice) for home in HOMES]
    with file.open("w", newline="", encoding="utf-8") as text:
        rows = csv.writer(text)
        rows.writerow(["subject", "id", "lat", "lon", "time"])
        trip = 0
        for number in range(people):
            subject = make_subject(city, number, dice)
            places = places_of(city, subject, number, shops, dice)
            for fixes in trips_of(city, subject, places, days, dice):
                trip += 1
                for lat, lon, time in fixes:
                    stamp = f"{datetime.fromtimestamp(time or 0, UTC):%Y-%m-%dT%H:%M:%SZ}"
                    rows.writerow([subject.name, trip, f"{lat:.6f}", f"{lon:.6f}", stamp])


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:]))
