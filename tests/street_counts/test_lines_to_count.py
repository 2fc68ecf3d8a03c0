"""Lines that trips are counted on: each once, with its times."""

import numpy as np
import pytest
from toy import crowd

import trajanon
from trajanon.common.errors import BadInput
from trajanon.street_counts.lines_to_count import ReleasedLines, lines_to_count, times_at
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import ReleasedTrajectories


@pytest.mark.parametrize("seconds", [100.0, 400.0, 1_000.0])
def test_rounded_times_are_right_on_the_whole(seconds: float) -> None:
    """Lines that begin at any time take as long as they do, however coarse the clock is."""
    clock = Clock("of-day", "Europe/Vaduz", 300)
    begin = np.random.default_rng(0).uniform(20_000.0, 60_000.0, (3_000, 1))
    times = clock.rounded(begin + seconds * np.linspace(0.0, 1.0, 30))
    lines = ReleasedLines(np.zeros((3_000, 30, 2)), np.ones(3_000, np.int64), times, clock)
    assert lines.seconds.mean() == pytest.approx(seconds, rel=0.05)


def test_each_line_of_a_release_is_there_once_with_its_rows() -> None:
    one, other = np.array([[40.0, 2.0], [40.1, 2.0]]), np.array([[41.0, 2.0], [41.1, 2.0]])
    found = ReleasedLines.distinct(ReleasedTrajectories(np.stack([one, other, one])), 2, "trips")
    assert found.points.shape == (2, 2, 2)
    for line, trips in zip(found.points.tolist(), found.trips.tolist(), strict=True):
        assert trips == {str(one.tolist()): 2, str(other.tolist()): 1}[str(line)]
    assert (found.k, found.counted, found.times, found.clock) == (2, "trips", None, None)


def test_the_moment_at_a_place_lies_between_those_of_its_points() -> None:
    times = np.array([[0.0, 10.0, 40.0], [100.0, 100.0, 160.0]])
    line, place = np.array([0, 0, 0, 1]), np.array([0.5, 1.5, 2.0, 1.25])
    assert times_at(times, line, place).tolist() == [5.0, 25.0, 40.0, 115.0]
    assert np.isnan(times_at(None, line, place)).all()


def test_exact_times_are_from_first_to_last() -> None:
    times = np.array([[0.0, 10.0, 95.0], [5.0, np.nan, np.nan]])
    lines = ReleasedLines(np.zeros((2, 3, 2)), np.ones(2, np.int64), times)
    assert lines.seconds.tolist()[0] == 95.0
    assert np.isnan(lines.seconds[1])


def test_originals_are_refused_and_lines_stay_as_they_are() -> None:
    originals = crowd()
    with pytest.raises(BadInput, match="pass the Release that anonymize made"):
        lines_to_count(originals)  # type: ignore[arg-type]
    lines = lines_to_count(trajanon.anonymize(originals, 3, method="mdav", refine="none"))
    assert lines.trips.min() >= 3
    assert lines_to_count(lines) is lines
