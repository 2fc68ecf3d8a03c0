"""Look for the homes of made-up commuters in their trimmed tracks.

Run ``python benchmarks/homes.py [PEOPLE]``: for 5, 20 and 100 tracks of each person, the share of
people whose home is found within 50 m. The adversary knows which cut ends are near the home, how
circles are drawn, and all streets; not the key. Beside it stands the usual privacy circle of 350 m,
which has the home in its middle.
"""

import math
import sys
from collections.abc import Callable, Iterator
from itertools import count, islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import shapely
from scipy.spatial import cKDTree

sys.path.insert(0, str(Path(__file__).parents[1] / "data" / "generator"))

import commuters
from city import City, Dice, build_city
from make_sample import HOMES, METRES_EAST, METRES_NORTH, MIDDLE_LAT, MIDDLE_LON, SEED, make_subject

from trajanon.common.arrays import Floats
from trajanon.extract.earth.area import Region, around
from trajanon.extract.home_zones import RADIUS
from trajanon.extract.points import Points, batch
from trajanon.extract.split import keep
from trajanon.extract.trace import Trace
from trajanon.extract.trimmed_tracks import cut_places

TRACKS = (5, 20, 100)
DAYS = 70
FOUND = 50.0  # metres; a home that is guessed so far off is found
AROUND = 1_300.0  # metres from the home, in which cut ends are of its circle
USUAL = 350.0  # metres of the usual circle
HOP = 40.0  # metres; ends farther outside are of another circle
REACHING = 0.5  # of a person's tracks come home; others count for nobody
EVERY = 10.0  # metres between places of streets


class Town(NamedTuple):
    """What everybody knows: places on the streets, and how many are near each; its junctions."""

    streets: Floats
    density: Floats
    junctions: Floats


class Seen(NamedTuple):
    """What an adversary sees of a home: cut ends, and the circle that fits them; in metres."""

    ends: Floats
    centre: Floats
    radius: float


def town_of(city: City) -> Town:
    """Lay places on all streets."""
    places = [
        (first[0] + share * (last[0] - first[0]), first[1] + share * (last[1] - first[1]))
        for streets in city.streets
        for street in streets
        for first, last in pairwise(street.shape)
        for share in np.arange(0.0, 1.0, EVERY / max(math.dist(first, last), EVERY))
    ]
    streets = np.array(places)
    density = cKDTree(streets).query_ball_point(streets, 100.0, return_length=True)
    joined = [bool(streets) for streets in city.streets]
    return Town(streets, np.asarray(density), np.array(city.junctions)[joined])


def centre_of(ends: Floats, radius: float) -> Floats:
    """Find the circle of a known radius that has most ends just outside, and few inside."""
    centre = np.median(ends, axis=0)
    for reach, step in ((AROUND, 50.0), (75.0, 10.0), (12.0, 2.0)):
        side = np.arange(-reach, reach + step, step)
        grid = centre + np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        outside = np.linalg.norm(grid[:, None] - ends[None], axis=2) - radius
        # A cut end is the first fix outside, so it lies up to a hop from the circle.
        cost = np.where(outside < 0.0, 2.0 * HOP, np.minimum(outside, HOP)).sum(axis=1)
        centre = grid[cost.argmin()]
    return centre


def _inside(seen: Seen, places: Floats) -> Floats:
    """Return which places lie in the circle; all if none does."""
    inside = np.linalg.norm(places - seen.centre, axis=1) <= seen.radius
    return inside if inside.any() else ~inside


def _in_densest_street(seen: Seen, town: Town) -> Floats:
    inside = _inside(seen, town.streets)
    return town.streets[inside][town.density[inside].argmax()][None]


def _nearest_to_ends(seen: Seen, town: Town) -> Floats:
    places = town.streets[_inside(seen, town.streets)]
    distance = np.linalg.norm(places[:, None] - seen.ends[None], axis=2).sum(axis=1)
    return places[distance.argmin()][None]


def _at_a_junction(seen: Seen, town: Town) -> Floats:
    """Return all junctions as near to the centre as the home: one of them is drawn."""
    near = np.linalg.norm(town.junctions - seen.centre, axis=1) <= RADIUS.shift + RADIUS.width
    return town.junctions[near] if near.any() else seen.centre[None]


GUESSES: dict[str, Callable[[Seen, Town], Floats]] = {
    "centre of the circle": lambda seen, _: seen.centre[None],
    "densest street": _in_densest_street,
    "least distances": _nearest_to_ends,
    "a junction by chance": _at_a_junction,
}


def metres_of(lat: Floats, lon: Floats) -> Floats:
    """Return metres east and north of the middle of the town."""
    return np.column_stack([(lon - MIDDLE_LON) * METRES_EAST, (lat - MIDDLE_LAT) * METRES_NORTH])


def people(number_of_people: int) -> Iterator[tuple[City, Floats, list[Trace]]]:
    """Draw commuters: the town, the home in metres, and their tracks, which reach the home."""
    commuters.EVERY = 2.0  # seconds between fixes, as sports watches have it
    dice = Dice(SEED + 2)
    city = build_city(dice)
    shops = [city.one_near(home, 600.0, dice) for home in HOMES]
    left = number_of_people
    for number in count():
        subject = make_subject(city, number, dice)
        places = commuters.places_of(city, subject, number, shops, dice)
        home = np.array(city.junctions[places[0]])
        trips = islice(commuters.days_of(city, subject, places, DAYS, dice), max(TRACKS))
        tracks = [
            Trace(f"{trip}", subject.name, *np.array(fixes, np.float64).T)
            for trip, fixes in enumerate(trips)
        ]
        # Tracks end at the edge of the town: those of a home beyond it, or in its park, show less.
        reached = [
            np.linalg.norm(metres_of(track.lat, track.lon) - home, axis=1).min() <= FOUND
            for track in tracks
        ]
        if np.mean(reached) >= REACHING:
            yield city, home, tracks
            left -= 1
        if left == 0:
            return


def ends_of(left: Points, points: Points, home: Floats) -> Floats:
    """Return the ends near a home at which tracks were cut; others are the tracks' own."""
    rows, own = (
        np.concatenate([first, first + size - 1]) for first, size in (left.pieces, points.pieces)
    )
    rows = rows[~np.isin(left.time[rows], points.time[own])]
    ends = metres_of(left.lat[rows], left.lon[rows])
    return ends[np.linalg.norm(ends - home, axis=1) <= AROUND]


def in_usual_circle(points: Points, home: Floats) -> Points:
    """Cut a circle with the home in its middle."""
    lat = MIDDLE_LAT + home[1] / METRES_NORTH
    lon = MIDDLE_LON + home[0] / METRES_EAST
    (circle,) = around(np.array([shapely.Point(lon, lat)]), USUAL)
    zone = Region(circle, "the usual circle")
    left = keep(points, ~zone.contains(points.lat, points.lon), zone.meets)
    _, size = left.pieces
    return left.take(np.repeat(size > 1, size))


def measure(number_of_people: int) -> None:
    """Print the share of homes that are found."""
    shares: dict[tuple[str, str, int], list[float]] = {}
    town = None
    for number, (city, home, tracks) in enumerate(people(number_of_people)):
        town = town or town_of(city)
        key = number.to_bytes(32, "little")
        for track_count in TRACKS:
            points = batch(tracks[:track_count])
            trimmed = cut_places(points, RADIUS, np.empty((0, 2)), key)[1]
            ways = (
                ("trim", RADIUS.circle, trimmed),
                (f"usual circle of {USUAL:g} m", USUAL, in_usual_circle(points, home)),
            )
            for way, radius, left in ways:
                ends = ends_of(left, points, home)
                seen = Seen(ends, centre_of(ends, radius), radius) if len(ends) else None
                for guess, at in GUESSES.items():
                    places = at(seen, town) if seen else np.full((1, 2), np.inf)
                    near = np.linalg.norm(places - home, axis=1) <= FOUND
                    shares.setdefault((way, guess, track_count), []).append(float(near.mean()))

    for (way, guess, track_count), found in sorted(shares.items()):
        print(f"{way:22} {guess:22} {track_count:4} tracks  {100.0 * np.mean(found):5.1f} %")


if __name__ == "__main__":
    measure(*map(int, sys.argv[1:2] or ["200"]))
