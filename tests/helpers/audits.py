"""Originals for audits of releases."""

import numpy as np

from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.trajectories.trajectories import Trajectories

N = 240
"""How many trips they are."""

START = 1_212_900_000.0


def trips_of_a_town() -> Originals:
    """Trips of 60 people in a town, each from a place of its own to another; with times."""
    random = np.random.default_rng(3)
    person = np.arange(N) % 60
    home = random.uniform([40.40, -3.75], [40.48, -3.65], (60, 2))[person]
    work = random.uniform([40.40, -3.75], [40.48, -3.65], (60, 2))[person]
    other = random.uniform([40.40, -3.75], [40.48, -3.65], (N, 2))
    trip = np.arange(N) // 60
    begin = np.where((trip % 2 == 0)[:, None], home, work)
    end = np.where((trip == 3)[:, None], other, np.where((trip % 2 == 0)[:, None], work, home))
    share = np.linspace(0.0, 1.0, 12)[:, None]
    bend = np.sin(np.pi * share) * random.normal(0.0, 0.004, (N, 1, 2))
    points = begin[:, None] + (end - begin)[:, None] * share + bend
    departure = START + 20_000.0 * trip + random.uniform(0.0, 9_000.0, N)
    duration = random.uniform(600.0, 3_000.0, N)
    times = departure[:, None] + duration[:, None] * share[:, 0]
    trips = Trajectories(points, subject=person, times=times, provenance={"trips": True})
    rows = Recordings.of(trips, None)
    return Originals(trips, rows, [rows.names])
