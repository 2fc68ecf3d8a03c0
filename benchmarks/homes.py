"""Look for the homes of made-up commuters in their trimmed tracks.

Run ``python benchmarks/homes.py PEOPLE [PICTURE.png]``: for 5, 20 and 100 tracks of each person,
the share of people whose home is found within 50 m. The adversary knows which cut ends are near the
home, how circles are drawn, and all streets; not the key. Beside it stands the usual privacy circle
of 350 m, which has the home in its middle. The picture shows tracks of the first person.
"""

import sys
from collections.abc import Iterator
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

sys.path.insert(0, str(Path(__file__).parents[1] / "data" / "generator"))

import commuters
from city import City, Dice, build_city
from make_sample import HOMES, METRES_EAST, METRES_NORTH, MIDDLE_LAT, MIDDLE_LON, SEED, make_subject

from trajanon.common.arrays import Floats
from trajanon.extract.hidden_homes_and_ends import RADIUS
from trajanon.extract.one_persons_tracks import cut_places, outside
from trajanon.extract.points import Points, batch
from trajanon.extract.trace import Trace

TRACKS = (5, 20, 100)
DAYS = 70
FOUND = 50.0  # metres; a home that is guessed so far off is found
AROUND = 1_300.0  # metres from the home, in which cut ends are of its circle
USUAL = 350.0  # metres of the usual circle
HOP = 40.0  # metres; ends farther outside are of another circle
REACHING = 0.5  # least share of a person's tracks that come home; people with fewer are left out
EVERY = 10.0  # metres between places of streets
DENSE = 100.0  # metres around a place within which streets are counted
DRAWN = 20  # tracks in the picture
GUESSES = "centre of the circle", "densest street", "least distances", "a junction by chance"
NO_PLACES = np.empty((0, 2))  # to hide besides those that the tracks show


class Town(NamedTuple):
    """What everybody knows of the city, in metres east and north of its middle."""

    streets: Floats  # places on them, (n, 2)
    density: Floats  # how many such places are near each, itself counted, (n,)
    junctions: Floats  # (j, 2)


def town_of(city: City) -> Town:
    """Lay places on all streets, in both of their directions."""
    places = list[Floats]()
    for street in chain.from_iterable(city.streets):
        for first, last in pairwise(np.array(street.shape)):
            step = EVERY / max(np.linalg.norm(last - first), EVERY)  # a short street has one place
            share = np.arange(0.0, 1.0, step)[:, None]
            places.append(first + share * (last - first))

    streets = np.concatenate(places)
    density = cKDTree(streets).query_ball_point(streets, DENSE, return_length=True)
    has_streets = [bool(streets) for streets in city.streets]
    return Town(streets, np.asarray(density), np.array(city.junctions)[has_streets])


def centre_of(ends: Floats, radius: float) -> Floats:
    """Find the circle of a known radius that has most ends just outside, and few inside."""
    centre = np.median(ends, axis=0)
    # A grid around the centre so far, ever smaller and finer; in metres.
    for reach, step in ((AROUND, 50.0), (75.0, 10.0), (12.0, 2.0)):
        side = np.arange(-reach, reach + step, step)
        grid = centre + np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        beyond = np.linalg.norm(grid[:, None] - ends[None], axis=2) - radius
        # A cut end is the first fix outside, so it lies up to a hop from the circle.
        cost = np.where(beyond < 0.0, 2.0 * HOP, np.minimum(beyond, HOP)).sum(axis=1)
        centre = grid[cost.argmin()]
    return centre


def guesses(ends: Floats, centre: Floats, radius: float, town: Town) -> dict[str, Floats]:
    """Return where adversaries look for a home; of several places, one is drawn."""
    inside = np.linalg.norm(town.streets - centre, axis=1) <= radius
    if not inside.any():  # the circle was guessed beyond all streets
        inside = ~inside
    streets = town.streets[inside]
    to_ends = cdist(streets, ends).sum(axis=1)
    # A home stands at a junction, and no farther from the centre than circles are shifted, and the
    # width of a place.
    near = np.linalg.norm(town.junctions - centre, axis=1) <= RADIUS.shift + RADIUS.width
    places = (
        centre[None],
        streets[[town.density[inside].argmax()]],
        streets[[to_ends.argmin()]],
        town.junctions[near] if near.any() else centre[None],
    )
    return dict(zip(GUESSES, places, strict=True))


def metres_of(lat: Floats, lon: Floats) -> Floats:
    """Return metres east and north of the middle of the city."""
    return np.column_stack([(lon - MIDDLE_LON) * METRES_EAST, (lat - MIDDLE_LAT) * METRES_NORTH])


def people() -> Iterator[tuple[City, Floats, list[Trace]]]:
    """Draw commuters without end: the city, the home in metres, and tracks, which reach it."""
    commuters.EVERY = 2.0  # seconds between fixes, as sports watches have it
    dice = Dice(SEED + 2)
    city = build_city(dice)
    shops = [city.junction_near(home, 600.0, dice) for home in HOMES]
    for number in count():
        subject = make_subject(city, number, dice)
        places = commuters.places_of(city, subject, number, shops, dice)
        home = np.array(city.junctions[places[0]])
        trips = islice(commuters.trips_of(city, subject, places, DAYS, dice), max(TRACKS))
        tracks = [
            Trace(f"{trip}", subject.name, *np.array(fixes, np.float64).T)
            for trip, fixes in enumerate(trips)
        ]
        # Tracks end at the edge of the city: those of a home beyond it, or in its park, show less.
        reached = [
            np.linalg.norm(metres_of(track.lat, track.lon) - home, axis=1).min() <= FOUND
            for track in tracks
        ]
        if np.mean(reached) >= REACHING:
            yield city, home, tracks


def ends_of(trimmed: Points, points: Points, home: Floats) -> Floats:
    """Return the ends near a home at which tracks were cut; others are the tracks' own."""
    # A track's own end is known by its time.
    rows, rows_of_own_ends = (
        np.concatenate([first, first + size - 1]) for first, size in (trimmed.pieces, points.pieces)
    )
    is_cut = ~np.isin(trimmed.time[rows], points.time[rows_of_own_ends])
    ends = metres_of(trimmed.lat[rows], trimmed.lon[rows])[is_cut]
    return ends[np.linalg.norm(ends - home, axis=1) <= AROUND]


def measure(number_of_people: int, picture: Path | None = None) -> None:
    """Print the share of homes that are found; draw the first person's tracks, if asked to."""
    rows = list[tuple[str, str, int, float]]()
    town = None
    for number, (city, home, tracks) in enumerate(islice(people(), number_of_people)):
        town = town or town_of(city)
        key = number.to_bytes(32, "little")
        if number == 0 and picture is not None:
            draw(batch(tracks[:DRAWN]), home, key, picture)

        home_degrees = np.array([MIDDLE_LAT, MIDDLE_LON]) + home[::-1] / (METRES_NORTH, METRES_EAST)
        for track_count in TRACKS:
            points = batch(tracks[:track_count])
            _, with_our_circle, _ = cut_places(points, RADIUS, NO_PLACES, key)
            with_usual_circle = outside(points, home_degrees[None], USUAL)
            for method, radius, trimmed in (
                ("trim", RADIUS.circle, with_our_circle),
                (f"usual circle of {USUAL:g} m", USUAL, with_usual_circle),
            ):
                ends = ends_of(trimmed, points, home)
                # A track that was not cut does not show where the circle is.
                places = guesses(ends, centre_of(ends, radius), radius, town) if len(ends) else {}
                for guess in GUESSES:
                    off = np.linalg.norm(places.get(guess, np.inf) - home, axis=-1)
                    rows.append((method, guess, track_count, 100.0 * float(np.mean(off <= FOUND))))

    table = pd.DataFrame(rows, columns=["way", "guess", "tracks", "found (%)"])
    print(table.groupby(["way", "guess", "tracks"]).mean().round(1).to_string())


def draw(points: Points, home: Floats, key: bytes, picture: Path) -> None:
    """Draw tracks around a home before and after they are trimmed; it needs matplotlib."""
    import matplotlib.pyplot as plt
    from PIL import Image

    tracks, trimmed, _ = cut_places(points, RADIUS, NO_PLACES, key)
    figure, panels = plt.subplots(1, 2, figsize=(8, 4.4), layout="constrained")
    titles = f"{DRAWN} tracks of one person, and home", "trimmed"
    for axes, title, drawn in zip(panels, titles, (tracks, trimmed), strict=True):
        metres = metres_of(drawn.lat, drawn.lon) - home
        for track in np.split(metres, drawn.pieces[0][1:]):
            axes.plot(*track.T, color="#0072B2", linewidth=1, alpha=0.5)
        axes.plot(0, 0, "*", color="#D55E00", markersize=14)
        axes.set(title=title, xlim=(-AROUND, AROUND), ylim=(-AROUND, AROUND), aspect="equal")
        axes.set_axis_off()

    panels[0].plot([-1_200, -700], [-1_200, -1_200], color="black", linewidth=2)
    panels[0].text(-950, -1_170, "500 m", ha="center")
    figure.savefig(picture, dpi=80)
    Image.open(picture).quantize(32).save(picture, optimize=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]), *map(Path, sys.argv[2:]))
