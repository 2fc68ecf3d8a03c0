"""Days: the trips of one person on one local day, put together as one record."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.trajectories.times import local_days
from trajanon.trajectories.trajectories import Trajectories


def days_of(trips: Trajectories, most: int, timezone: str) -> tuple[Trajectories, Ints, int]:
    """Make days of trips; also the day of each, -1 of those in none, and how many have too many."""
    assert trips.subject is not None
    assert trips.times is not None
    n, m = trips.points.shape[:2]
    timed = np.flatnonzero(~np.isnan(trips.times[:, 0]))
    departs = trips.times[timed, 0]
    # By who comes first, whatever their numbers are.
    of = np.column_stack([dense(trips.subject)[timed], local_days(departs, timezone)])
    pair = np.unique(of, axis=0, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(pair)
    order = np.lexsort((departs, pair))
    place = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[pair[order]]
    fits = sizes <= most
    here = fits[pair[order]]
    row, place, sizes = timed[order][here], place[here], sizes[fits]
    day = (np.cumsum(fits) - 1)[pair[order][here]]
    points = np.full((len(sizes), most, m, 2), np.nan)
    times = np.full(points.shape[:3], np.nan)
    points[day, place], times[day, place] = trips.points[row], trips.times[row]
    for empty in range(1, most):
        without = sizes <= empty
        points[without, empty] = points[without, empty - 1, -1:]
        times[without, empty] = times[without, empty - 1, -1:]
    of_trip = np.full(n, -1)
    of_trip[row] = day
    begins, ends = row[place == 0], row[place == sizes[day] - 1]
    of_day = Trajectories(
        points=points.reshape(-1, most * m, 2),
        subject=trips.subject[begins],
        provenance={**trips.provenance, "days": most},
        times=np.maximum.accumulate(times.reshape(-1, most * m), axis=1),  # recorded twice at once
        true_ends=np.column_stack([trips.known_ends[begins, 0], trips.known_ends[ends, 1]]),
    )
    return (of_day, of_trip, int((~fits).sum()))


def trips_of_days(days: Trajectories) -> Ints:
    """Count the trips of each day, (d,): behind the last one it stays where it is."""
    parts = days.points.reshape(len(days), days.provenance["days"], -1, 2)
    moves = (parts != parts[:, :, :1]).any(axis=(2, 3))
    moves[:, 0] = True
    return np.asarray(moves.shape[1] - moves[:, ::-1].argmax(axis=1))


def of_equally_many(days: Trajectories) -> Iterator[tuple[Ints, Trajectories]]:
    """Take the days of one trip, of two, and so on: which, and these trips alone."""
    trips = trips_of_days(days)
    m = days.points.shape[1] // days.provenance["days"]
    for count in np.unique(trips).tolist():
        some = np.flatnonzero(trips == count)
        times = None if days.times is None else days.times[some, : count * m]
        points, words = days.points[some, : count * m], {**days.provenance, "days": count}
        yield some, replace(days.take(some), points=points, times=times, provenance=words)


def staying(lines: Floats, trips: Ints, most: int) -> Floats:
    """Let the lines of days, (g, most m, 2), stay where the last of their trips, (g,), ends."""
    m = lines.shape[1] // most
    place = np.minimum(np.arange(lines.shape[1]), trips[:, None] * m - 1)
    return np.take_along_axis(lines, place[..., None], axis=1)
