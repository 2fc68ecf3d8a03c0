"""Few trajectories of which everything is known, a town and a crowd."""

from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

MONDAY = 4 * DAY  # of January 1970

NORTH, EAST = 110_574.3, 111_319.5  # metres of a degree at the equator, WGS 84
HOME, WORK, AWAY = (0.0, 0.0), (0.0, 1.0), (1.0, 1.0)


def on_earth(metres: object) -> Floats:
    """Points at the equator from metres north and east."""
    points: Floats = np.asarray(metres, dtype=np.float64) / (NORTH, EAST)
    return points


def toy(people: int | None = 4) -> Trajectories:
    """Two pairs of lines to the east: 20 m apart within a pair, 2 km between them."""
    north = np.array([0.0, 20.0, 2_000.0, 2_020.0])[:, None] / NORTH
    east = np.broadcast_to([0.0, 0.001, 0.002], (4, 3))
    points = np.stack([np.broadcast_to(north, (4, 3)), east], axis=-1)
    return Trajectories(
        np.ascontiguousarray(points),
        subject=None if people is None else np.arange(4) % people,
        provenance={"attribution": OSM_ATTRIBUTION, "source": "alice/her.gpx"},
    )


def crossing() -> Trajectories:
    """Four drives of two windows each, three points 100 m apart, which meet at a crossing.

    Two come from the west and two from the south, 10 m apart. Behind the crossing one of each two
    goes on to the east, and one to the north: each has other companions then.
    """
    step = 100.0 / STEPS / NORTH
    east, north = np.array([0.0, step]), np.array([step, 0.0])
    before, after = np.arange(-2 * STEPS, 0)[:, None], np.arange(3 * STEPS + 1)[:, None]
    ways = [(east, east), (east, north), (north, north), (north, east)]
    runs = [
        np.concatenate([before * come, after * go]) + drive * 10.0 / NORTH
        for drive, (come, go) in enumerate(ways)
    ]
    long = len(runs[0])
    tracks = Tracks(
        points=TrackPoints.of(np.concatenate(runs)),
        first=long * np.arange(5),
        run=np.repeat(np.arange(4), 2),
        start=np.tile([0, 3 * STEPS], 4),
        true_ends=np.zeros((4, 2), dtype=np.bool_),  # all come from outside, and leave again
    )
    return Trajectories(
        tracks.windows(3), subject=tracks.run, trace=tracks.run, provenance={}, tracks=tracks
    )


def timed(trips: bool = True, zone: str = "Etc/UTC") -> Trajectories:
    """Two pairs: at 08:00 and 08:20 for 10 and 20 min, at 17:00 and 17:10 for 10 min."""
    departure = MONDAY + np.array([8 * HOUR, 8 * HOUR + 1_200, 17 * HOUR, 17 * HOUR + 600])
    took = np.array([600.0, 1_200.0, 600.0, 600.0])
    times = departure[:, None] + took[:, None] * [0.0, 0.5, 1.0]
    provenance = {"trips": True} if trips else {}
    return replace(toy(), times=times, provenance=provenance)


def town(n: int = 240, seed: int = 0) -> Trajectories:
    """Trips across a town, in the hours of its peaks, and a few in the night."""
    rng = np.random.default_rng(seed)
    ends = rng.normal((40.4, -3.7), 0.015, (n, 2, 1, 2))
    share = np.linspace(0.0, 1.0, 6)[:, None]
    points = ends[:, 0] * (1 - share) + ends[:, 1] * share
    hour = np.concatenate([rng.normal(8, 1, n // 2), rng.normal(18, 1.5, n - n // 2 - 8)])
    hour = np.concatenate([hour, np.full(4, 3.1), np.full(4, 25.2)])
    times = MONDAY + HOUR * hour[:, None] + rng.uniform(300, 2_000, (n, 1)) * share.T
    subject = rng.integers(0, n // 2, n)
    subject[-8:] = np.arange(8)
    return Trajectories(points, subject, times=times, provenance={"trips": True, "points": 6})


def crowd(seed: int = 0, n: int = 60, people: int = 9) -> Trajectories:
    """Walks in one place, several of each subject, so that groups hold some of them twice."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 3e-4, (n, 4, 2)).cumsum(axis=1)
    steps[..., 0] += 0.002 * np.arange(4)  # all go north, longer than any is moved
    subject = np.concatenate([np.arange(people), rng.integers(0, people, n - people)])
    begin = 1_212_883_200 + rng.integers(0, 80_000, (n, 1))
    return Trajectories(
        np.array([40.4, -3.7]) + rng.normal(0.0, 2e-3, (n, 1, 2)) + steps,
        subject=subject,
        provenance={"attribution": OSM_ATTRIBUTION},
        times=(begin + np.arange(4) * 60).astype(np.float64),
    )


def ways(n: int = 24, people: int = 12, seed: int = 0, m: int = 6) -> Trajectories:
    """Straight ways between places some hundred metres apart."""
    rng = np.random.default_rng(seed)
    ends = rng.normal((40.4, -3.7), 0.002, (n, 2, 1, 2))
    share = np.linspace(0.0, 1.0, m)[:, None]
    points = ends[:, 0] * (1 - share) + ends[:, 1] * share
    return Trajectories(points, np.arange(n) % people)


def commuters() -> Trajectories:
    """Four people on two days: 0 and 1 live together, and 2 and 3, 2 km north of them.

    Neighbours work together, 5 km east of their homes. Rows are a day's ways to work at 08:00, then
    its ways home at 17:00, by person.
    """
    north = 2_000.0 * np.array([0, 0, 1, 1])
    home, work = (np.column_stack([north, np.full(4, east)]) for east in (0.0, 5_000.0))
    way = np.stack([home, (home + work) / 2, work], axis=1)
    day = np.concatenate([way, way[:, ::-1]]) / (NORTH, EAST)
    leave = MONDAY + HOUR * np.repeat([8, 17], 4)
    begin = np.concatenate([leave, leave + DAY])[:, None]
    return Trajectories(
        np.concatenate([day, day]),
        subject=np.tile(np.arange(4), 4),
        times=begin + np.array([0.0, 600.0, 1_200.0]),
        provenance={"trips": True},
    )
