"""Days: the trips of one person on one local day, put together as one record."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Floats, Ints, indices_of_spans, renumbered
from trajanon.common.errors import BadInput
from trajanon.trajectories.clock_and_time_zones import local_days
from trajanon.trajectories.trajectories import Trajectories


def days_of(trips: Trajectories, most: int, timezone: str) -> tuple[Trajectories, Ints, int]:
    """Make days of trips, each one record of so many trips at most.

    Recordings without a name are in none: those of one day may be of several people. Also return
    the day of each trip, (n,), -1 of those in none; and how many days have too many.
    """
    assert trips.subject is not None
    assert trips.times is not None
    n, m = trips.points.shape[:2]
    is_in_day = ~np.isnan(trips.times[:, 0])
    if trips.nameless is not None:
        is_in_day &= ~trips.nameless
    timed = np.flatnonzero(is_in_day)  # rows of trips with times, and a name
    departures = trips.times[timed, 0]

    # Subjects are numbered by who comes first: the order of days must not follow from their names.
    day_of_timed = day_numbers(renumbered(trips.subject)[timed], local_days(departures, timezone))
    is_short_enough = np.bincount(day_of_timed) <= most

    # Trips of days that are not too long, by day and departure: their rows, their days, which are
    # numbered anew without the long ones, and their place in the day.
    order = np.lexsort((departures, day_of_timed))
    order = order[is_short_enough[day_of_timed[order]]]
    row = timed[order]
    day = (np.cumsum(is_short_enough) - 1)[day_of_timed[order]]
    trips_in_day = np.bincount(day)
    place = indices_of_spans(0, trips_in_day)

    points = np.full((len(trips_in_day), most, m, 2), np.nan)
    times = np.full(points.shape[:3], np.nan)
    points[day, place] = trips.points[row]
    times[day, place] = trips.times[row]

    # Behind its last trip a day stays where that one ended.
    for empty_place in range(1, most):
        stays = trips_in_day <= empty_place
        points[stays, empty_place] = points[stays, empty_place - 1, -1:]
        times[stays, empty_place] = times[stays, empty_place - 1, -1:]

    day_of_trip = np.full(n, -1)
    day_of_trip[row] = day
    first_trips = row[place == 0]
    last_trips = row[place == trips_in_day[day] - 1]
    days = Trajectories(
        points=points.reshape(-1, most * m, 2),
        subject=trips.subject[first_trips],
        provenance={**trips.provenance, "days": most},
        # Two trips that were recorded at once overlap: the times of a day never run back.
        times=np.maximum.accumulate(times.reshape(-1, most * m), axis=1),
        true_ends=np.column_stack(
            [trips.ends_are_true[first_trips, 0], trips.ends_are_true[last_trips, 1]]
        ),
    )
    return days, day_of_trip, int((~is_short_enough).sum())


def day_numbers(subjects: Ints, days: Ints) -> Ints:
    """Number each pair of a subject and a day, (n,), from 0 on."""
    pairs = np.column_stack([subjects, days])
    return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1))


def trips_of_days(days: Trajectories) -> Ints:
    """Count the trips of each day, (d,): behind the last one it stays where it is."""
    most = days.origin.trips_of_day
    points = days.points.shape[1]
    if points % most:  # anybody may have made the provenance
        raise BadInput(f"days of {most} trips cannot have {points} points: extract trips again")

    trips = days.points.reshape(len(days), most, -1, 2)
    moves = (trips != trips[:, :, :1]).any(axis=(2, 3))
    moves[:, 0] = True  # a day has a trip, even one that goes nowhere
    after_last_move = moves[:, ::-1].argmax(axis=1)
    return np.asarray(moves.shape[1] - after_last_move)


def days_by_trips(days: Trajectories) -> Iterator[tuple[Ints, Trajectories]]:
    """Yield the days of one trip, of two, and so on: their rows, and days of these trips alone."""
    trips_in_day = trips_of_days(days)
    m = days.points.shape[1] // days.origin.trips_of_day
    for trips in np.unique(trips_in_day).tolist():
        rows = np.flatnonzero(trips_in_day == trips)
        without_stays = replace(
            days.take(rows),
            points=days.points[rows, : trips * m],
            times=None if days.times is None else days.times[rows, : trips * m],
            provenance={**days.provenance, "days": trips},
        )
        yield rows, without_stays


def staying_after_last_trip(lines: Floats, trips_in_day: Ints, most: int) -> Floats:
    """Return lines of days, (g, most m, 2), that stay where the last of their trips, (g,), ends."""
    m = lines.shape[1] // most
    last_moving_point = trips_in_day[:, None] * m - 1
    place = np.minimum(np.arange(lines.shape[1]), last_moving_point)
    return np.take_along_axis(lines, place[..., None], axis=1)
