"""Each person counts once in a line and its times, however many trips of theirs are behind it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from naive_perturbation import mean_of_people

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.release import perturbed_places_and_times as perturbation
from trajanon.release.originals import matched
from trajanon.release.report_files import checked
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR
from trajanon.trajectories.trajectories import Trajectories

PEOPLE, DAYS = 6, 12


@pytest.fixture(autouse=True)
def unmoved() -> Iterator[None]:
    """Write means as they are, but for their rounding."""

    def zeros(seeds: Ints, count: int) -> Floats:
        return np.zeros((len(seeds), count))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perturbation, "normal_numbers", zeros)
        yield


def commuters() -> Trajectories:
    """Six neighbours, who go the same two ways on more and more days."""
    random = np.random.default_rng(0)
    points, times, people = list[Floats](), list[Floats](), list[int]()
    share = np.linspace(0.0, 1.0, 5)[:, None]
    for person in range(PEOPLE):
        home, work = np.array([[40.4, -3.7], [40.45, -3.6]]) + random.normal(0.0, 2e-3, (2, 2))
        for day in range(2 + 2 * person):
            for hour, start, end in ((8, home, work), (17, work, home)):
                begin, stop = np.array([start, end]) + random.normal(0.0, 1e-4, (2, 2))
                points.append(begin + share * (stop - begin))
                second = (20_000 + day) * DAY + hour * HOUR + random.integers(0, 900)
                times.append(second + share[:, 0] * random.integers(600, 900))
                people.append(person)
    words = {"trips": True}
    return Trajectories(np.array(points), np.array(people), None, words, None, np.array(times))


@pytest.mark.parametrize("how", [{}, {"times": "of-day"}, {"days": 2}])
def test_a_line_is_the_mean_of_its_people(how: dict[str, Any]) -> None:
    trips = commuters()
    release = trajanon.anonymize(trips, 3, key=bytes(range(32)), **how)
    report = checked(release.report)
    found = matched(report.released_of(trips), release.trajectories, report)
    who = found.slid.subject
    assert who is not None
    several = 0
    for group, line in enumerate(found.lines):
        here = found.labels == group
        people = who[here].tolist()
        several += len(people) > 2 * len(set(people))
        mean = mean_of_people(found.slid.points[here], people)
        np.testing.assert_allclose(line, mean, atol=0.51e-5)
        if found.times is not None and found.slid.times is not None:
            seconds = found.slid.times[here] % DAY + 2 * HOUR  # summer in Madrid
            assert np.abs(found.times[group] - mean_of_people(seconds, people)).max() <= 150.0
    assert several
    assert release.report["largest_share"] == pytest.approx(1.0 / 3.0)
