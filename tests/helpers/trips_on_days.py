"""Trips of people on several days, and releases of them."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from hypothesis import assume

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.release.originals import matched
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories

KEY = bytes(range(32))


def trips_of(
    people: int, days: int, most: int, seed: int = 0, m: int = 4, *, homes: int = 12
) -> Trajectories:
    """Trips of people who go from place to place, up to so many a day, about 29 March 2026."""
    random = np.random.default_rng(seed)
    places = np.array([40.4, -3.7]) + random.normal(0.0, 0.02, (homes, 2))
    points, times, subject = list[Floats](), list[Floats](), list[int]()
    share = np.linspace(0.0, 1.0, m)[:, None]
    for person in range(people):
        own = random.integers(0, homes, 3)
        for day in range(days):
            second = datetime(2026, 3, 27 + day, 5, tzinfo=UTC).timestamp()
            for _ in range(max(int(random.integers(0, most + 1)), int(day == 0))):
                start, end = places[random.choice(own, 2)] + random.normal(0.0, 1e-3, (2, 2))
                points.append(start + share * (end - start))
                takes = random.integers(300, 3_000)
                times.append(second + share[:, 0] * takes)
                subject.append(person)
                second += takes + random.integers(600, 10_000)
    order = random.permutation(len(points))  # in a file trips stand in any order
    return Trajectories(
        np.array(points)[order],
        subject=100 - np.array(subject)[order],
        times=np.array(times)[order],
        provenance={"trips": True},
    )


def released(trips: Trajectories, k: int, **how: Any) -> tuple[trajanon.Release, Any]:
    """A release, and its lines beside what was averaged; what no line can hide is no example."""
    try:
        release = trajanon.anonymize(trips, k, key=KEY, effort="fast", **how)
    except TooFewSubjects:
        assume(False)
    except BadInput as error:
        hides_nothing = "smaller area", "would show nothing", "no day can be released"
        assume(not any(words in str(error) for words in hides_nothing))
        raise
    again = trajanon.anonymize(trips, k, key=KEY, effort="fast", **how)
    np.testing.assert_array_equal(again.trajectories.points, release.trajectories.points)
    report = checked(release.report)
    return release, matched(report.released_of(trips), release.trajectories, report)
