"""Make the bundled sample: synthetic traces, in the form of the OSM API's answers.

Run ``python data/generator/make_sample.py [FOLDER]``; the same pages come out on every machine. No
point in them was recorded by anyone.
"""

import gzip
import math
import sys
from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from city import PLACES, City, Dice, Point, Street, build_city, in_park

SEED = 2026
SUBJECTS = 120
TRACES = 300
UNTIMED_POINTS = 420  # at the end of the pages
PAGE = 5000  # points in an answer of the API
FIRST_DAY = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
WEST, SOUTH, EAST, NORTH = -3.7398145, 40.387613, -3.653985, 40.483515
MIDDLE_LON = (WEST + EAST) / 2.0
MIDDLE_LAT = (SOUTH + NORTH) / 2.0
METRES_NORTH = 111_200.0  # in a degree
METRES_EAST = METRES_NORTH * math.cos(math.radians(MIDDLE_LAT))
HUBS: list[Point] = PLACES["hubs"]
HOMES: list[Point] = PLACES["homes"]
SUMMER = int(datetime(2026, 3, 29, 1, tzinfo=UTC).timestamp())  # when Madrid's clocks go forward
RUSH = {False: (8.2, 0.8), True: (18.3, 1.1)}  # local hours to go out and to go home, and a spread
AIM = 8000.0  # metres as the crow flies: a drive of two windows of 30 points
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- synthetic: made by data/make_sample.py, no real person's track -->
<gpx version="1.0" creator="OpenStreetMap.org" \
xmlns="http://www.topografix.com/GPX/1/0">
"""


class Fix(NamedTuple):
    """A recorded point; no time in the traces that the API serves without."""

    lat: float
    lon: float
    time: int | None


Moment = tuple[float, Point]  # a second of a drive, and where the vehicle truly is


class Subject(NamedTuple):
    """Somebody who does not exist: a home, goals, the usual one first, and a taste."""

    name: str
    home: int
    goals: tuple[int, int, int, int]
    taste: list[float]


class Upload(NamedTuple):
    """A trace as the API knows it; without a subject if it is merely trackable."""

    subject: str | None
    segments: list[list[Fix]]
    number: int = 0


def make_subject(city: City, number: int, dice: Dice) -> Subject:
    """Make up somebody who lives in one of a few neighbourhoods and works at one of fewer hubs."""
    home = HOMES[number % len(HOMES)]
    hubs = sorted(HUBS, key=lambda hub: abs(math.dist(home, hub) - AIM))
    detours = 0.0 if dice.chance(0.4) else 1.1  # many drive the fastest way
    return Subject(
        name=f"synthetic-{number + 1:03d}",
        home=city.junction_near(home, 450.0 if dice.chance(0.85) else 1500.0, dice),
        goals=(
            city.junction_near(hubs[0], 250.0, dice),
            city.junction_near(hubs[1], 250.0, dice),
            city.junction_near(home, 1700.0, dice),
            city.junction_near((0.0, 0.0), 4200.0, dice),
        ),
        taste=[1.0 + detours * dice.uniform(0.0, 1.0) for _ in city.junctions],
    )


def choose_way(city: City, subject: Subject, dice: Dice) -> tuple[list[Street], bool]:
    """Choose one of the subject's ways, and whether it is driven in the evening."""
    usual, other, errand, visit = subject.goals
    tours = [[usual], [usual, other], [other], [visit], [errand]]
    drawn = bisect_left((0.5, 0.76, 0.88, 0.96), dice.uniform(0.0, 1.0))
    stops = [subject.home, *tours[drawn]]
    evening = dice.chance(0.45)
    if evening:
        stops.reverse()
    ways = (city.fastest(start, goal, subject.taste) for start, goal in pairwise(stops))
    return list(chain.from_iterable(ways)), evening


def drive(way: list[Street], dice: Dice) -> list[Moment]:
    """Drive along a way, with a red light now and then."""
    haste = dice.uniform(0.85, 1.1)
    second = 0.0
    moments = [(second, way[0].shape[0])]
    for street in way:
        for start, end in pairwise(street.shape):
            speed = street.speed * haste * dice.uniform(0.85, 1.08)
            second += math.dist(start, end) / max(speed, 6.0)
            moments.append((second, end))
        if dice.chance(0.09):
            second += dice.uniform(6.0, 35.0)
            moments.append((second, street.shape[-1]))
    return moments


def record(moments: list[Moment], began: int, every: float, dice: Dice, rate: int = 1) -> list[Fix]:
    """Record a drive: fixes a few metres off, stamped in whole seconds; none in a pause."""
    fixes = list[Fix]()
    off_east = 0.0
    off_north = 0.0
    second = 0.0
    for (left, start), (reached, end) in pairwise(moments):
        if reached - left > 300.0:
            second = reached
        while second < reached:
            share = (second - left) / (reached - left)
            east = start[0] + share * (end[0] - start[0])
            north = start[1] + share * (end[1] - start[1])
            off_east = 0.93 * off_east + 1.1 * dice.bell()
            off_north = 0.93 * off_north + 1.1 * dice.bell()
            if not in_park((east, north)):
                lat = round(MIDDLE_LAT + (north + off_north) / METRES_NORTH, 7)
                lon = round(MIDDLE_LON + (east + off_east) / METRES_EAST, 7)
                fixes.append(Fix(lat, lon, began + int(second)))
            second += 1.0 / rate if rate > 1 else round(every + dice.below(2))
    return [fix for fix in fixes if SOUTH <= fix.lat <= NORTH and WEST <= fix.lon <= EAST]


def damaged(fixes: list[Fix], number: int, dice: Dice) -> list[Fix]:
    """Add the faults of receivers that the number of a trace calls for."""
    if number % 17 == 3:  # three of the fixes are written twice
        twice = {dice.below(len(fixes)) for _ in range(3)}
        fixes = [fix for place, fix in enumerate(fixes) for _ in range(1 + (place in twice))]
    if number % 60 == 11:  # the clock is set back by 20 seconds on the way
        cut = len(fixes) // 4 + dice.below(len(fixes) // 2)
        fixes[cut:] = [fix._replace(time=(fix.time or 0) - 20) for fix in fixes[cut:]]
    if number % 100 == 37:  # one of the fixes is mirrored in the middle of the box
        stray = len(fixes) // 4 + dice.below(len(fixes) // 2)
        lat, lon, time = fixes[stray]
        mirrored = round(2.0 * MIDDLE_LAT - lat, 7), round(2.0 * MIDDLE_LON - lon, 7)
        fixes[stray] = Fix(*mirrored, time)
    return fixes


def recorded(city: City, subject: Subject, number: int, dice: Dice) -> list[Fix]:
    """Record a drive of a subject, with the faults that this number calls for."""
    fixes: list[Fix] = []
    rate = 5 if number in (70, 170) else 1  # fixes a second
    while len(fixes) < 12:
        way, evening = choose_way(city, subject, dice)
        moments = drive(way, dice)
        if number % 23 == 5:  # a pause on the way
            pause = dice.uniform(400.0, 1500.0)
            cut = int(0.55 * len(moments))
            later = [(second + pause, place) for second, place in moments[cut:]]
            moments = [*moments[: cut + 1], *later]
        hour = dice.uniform(15.5, 19.0) if evening else dice.uniform(5.5, 8.5)
        began = FIRST_DAY + 86_400 * dice.below(120) + int(3600.0 * hour)
        fixes = record(moments, began, 3.5 + dice.below(4), dice, rate)
    if rate > 1:  # the fixes of a second in any order, as a database orders equal times
        drawn = [(fix.time or 0, dice.uniform(0.0, 1.0), fix) for fix in fixes[:2500]]
        fixes = [fix for _, _, fix in sorted(drawn)]
    return damaged(fixes, number, dice)


def local_hour(evening: bool, dice: Dice) -> float:
    """Draw when a drive of a city begins: mostly in a rush hour, some all day, few at night."""
    kind = dice.uniform(0.0, 1.0)
    middle, spread = RUSH[evening]
    if kind < 0.7:
        return middle + spread * dice.bell()
    return dice.uniform(6.5, 22.5) if kind < 0.96 else dice.uniform(0.0, 24.0)


def begun_at_hours(uploads: list[Upload], dice: Dice) -> Iterator[Upload]:
    """Move each recording within its day to an hour of a city; they stay in their order."""
    begins = [upload.segments[0][0].time or 0 for upload in uploads]
    for midnight, day in groupby(
        zip(uploads, begins, strict=True), key=lambda begin: begin[1] // 86_400 * 86_400
    ):
        of_day = list(day)
        hours = sorted(local_hour(began - midnight > 43_200, dice) for _, began in of_day)
        for (upload, began), hour in zip(of_day, hours, strict=True):
            second = midnight + int(3600.0 * hour) - 3600  # local time is UTC + 1, + 2 in summer
            later = second - 3600 * (second >= SUMMER) - began
            yield upload._replace(
                segments=[
                    [fix._replace(time=(fix.time or 0) + later) for fix in segment]
                    for segment in upload.segments
                ]
            )


def make_uploads(dice: Dice) -> list[Upload]:
    """Make all that the pages hold: the newest upload first, points without time last."""
    city = build_city(dice)
    subjects = [make_subject(city, number, dice) for number in range(SUBJECTS)]
    uploads = []
    for number in range(TRACES):
        subject = subjects[number if number < SUBJECTS else dice.below(SUBJECTS)]
        fixes = recorded(city, subject, number, dice)

        # Everybody's first trace bears a name, so all subjects are in the pages.
        is_first = number < SUBJECTS
        is_named = is_first or number % 6 != 0
        is_in_two = not is_first and number % 24 == 0
        half = len(fixes) // 2
        segments = [fixes[:half], fixes[half:]] if is_in_two else [fixes]
        uploads.append(Upload(subject.name if is_named else None, segments))

    uploads.sort(key=lambda upload: upload.segments[0][0].time or 0)
    numbered = list[Upload]()
    latest = 900_000
    for upload in begun_at_hours(uploads, Dice(SEED + 1)):  # chance that moves no place
        latest += 1 + dice.below(4)
        numbered.append(upload._replace(number=latest))

    drives = [recorded(city, subject, -1, dice) for subject in subjects[::12]]
    points = sorted(fix._replace(time=None) for fixes in drives for fix in fixes)
    step = len(points) / UNTIMED_POINTS
    untimed = [points[int(step * place)] for place in range(UNTIMED_POINTS)]
    return [*numbered[::-1], Upload(None, [untimed])]


def page(rows: list[tuple[int, int, Fix]], uploads: list[Upload]) -> Iterator[str]:
    """Write one answer; a trace that the page before cut begins anew.

    Rows are the number of an upload, that of a segment of it, and a fix.
    """
    yield HEAD
    for upload, rows_of_upload in groupby(rows, key=lambda row: row[0]):
        yield "  <trk>\n"
        subject, _, number = uploads[upload]
        if subject is not None:
            yield f"    <name>synthetic-{number}.gpx</name>\n"
            yield "    <desc>Synthetic drive, nobody's</desc>\n"
            yield f"    <url>/user/{subject}/traces/{number}</url>\n"
        for _, segment in groupby(rows_of_upload, key=lambda row: row[1]):
            yield "    <trkseg>\n"
            for _, _, (lat, lon, time) in segment:
                yield f'      <trkpt lat="{lat:.7f}" lon="{lon:.7f}">\n'
                if time is not None:
                    stamp = datetime.fromtimestamp(time, UTC)
                    yield f"        <time>{stamp:%Y-%m-%dT%H:%M:%SZ}</time>\n"
                yield "      </trkpt>\n"
            yield "    </trkseg>\n"
        yield "  </trk>\n"
    yield "</gpx>\n"


def write(folder: Path) -> None:
    """Write the pages as page000.gpx.gz and so on."""
    uploads = make_uploads(Dice(SEED))
    rows = [
        (number, segment, fix)
        for number, upload in enumerate(uploads)
        for segment, fixes in enumerate(upload.segments)
        for fix in fixes
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, len(rows), PAGE)):
        text = "".join(page(rows[start : start + PAGE], uploads))
        packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
        (folder / f"page{number:03d}.gpx.gz").write_bytes(packed)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "sample")
