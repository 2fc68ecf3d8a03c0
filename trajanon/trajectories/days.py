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
    departures = trips.times[timed, 0]

    # By who comes first, whatever their numbers are.
    day = cells_of(dense(trips.subject)[timed], local_days(departures, timezone))
    fits = np.bincount(day) <= most

    # Trips of days that are not too long, by day and departure.
    order = np.lexsort((departures, day))
    order = order[fits[day[order]]]
    row = timed[order]
    day = (np.cumsum(fits) - 1)[day[order]]
    sizes = np.bincount(day)
    place = np.arange(len(row)) - (np.cumsum(sizes) - sizes)[day]

    points = np.full((len(sizes), most, m, 2), np.nan)
    times = np.full(points.shape[:3], np.nan)
    points[day, place] = trips.points[row]
    times[day, place] = trips.times[row]
    # Behind its last trip a day stays where that one ended.
    for empty in range(1, most):
        without = sizes <= empty
        points[without, empty] = points[without, empty - 1, -1:]
        times[without, empty] = times[without, empty - 1, -1:]

    day_of_trip = np.full(n, -1)
    day_of_trip[row] = day
    begins = row[place == 0]
    ends = row[place == sizes[day] - 1]
    days = Trajectories(
        points=points.reshape(-1, most * m, 2),
        subject=trips.subject[begins],
        provenance={**trips.provenance, "days": most},
        times=np.maximum.accumulate(times.reshape(-1, most * m), axis=1),  # recorded twice at once
        true_ends=np.column_stack([trips.known_ends[begins, 0], trips.known_ends[ends, 1]]),
    )
    return days, day_of_trip, int((~fits).sum())


def cells_of(subjects: Ints, days: Ints) -> Ints:
    """Number each day of each subject, (n,)."""
    pairs = np.column_stack([subjects, days])
    return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1))


def trips_of_days(days: Trajectories) -> Ints:
    """Count the trips of each day, (d,): behind the last one it stays where it is."""
    parts = days.points.reshape(len(days), days.origin.trips_of_day, -1, 2)
    moves = (parts != parts[:, :, :1]).any(axis=(2, 3))
    moves[:, 0] = True
    return np.asarray(moves.shape[1] - moves[:, ::-1].argmax(axis=1))


def of_equally_many(days: Trajectories) -> Iterator[tuple[Ints, Trajectories]]:
    """Yield the days of one trip, of two, and so on: which they are, and these trips alone."""
    trips = trips_of_days(days)
    m = days.points.shape[1] // days.origin.trips_of_day
    for count in np.unique(trips).tolist():
        rows = np.flatnonzero(trips == count)
        yield (
            rows,
            replace(
                days.take(rows),
                points=days.points[rows, : count * m],
                times=None if days.times is None else days.times[rows, : count * m],
                provenance={**days.provenance, "days": count},
            ),
        )


def staying(lines: Floats, trips: Ints, most: int) -> Floats:
    """Return lines of days, (g, most m, 2), that stay where the last of their trips, (g,), ends."""
    m = lines.shape[1] // most
    place = np.minimum(np.arange(lines.shape[1]), trips[:, None] * m - 1)
    return np.take_along_axis(lines, place[..., None], axis=1)
