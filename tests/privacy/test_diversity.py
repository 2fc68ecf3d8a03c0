import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities

from trajanon.arrays import Floats
from trajanon.privacy.attack import Published
from trajanon.privacy.inference import diversity
from trajanon.utility import displacement

METRE = 1.0 / float(displacement(np.array([44.5, 7.0]), np.array([45.5, 7.0])))
"""Degrees of latitude, at 45 degrees: there cells are as high as they say."""


@given(cities(), st.floats(0.0, 500.0))
def test_the_radius_is_that_of_the_farthest_point(city: Published, tight: float) -> None:
    points, lines, labels = city.points, city.lines, city.labels
    found = diversity(city, tight=tight)
    for group, line in enumerate(lines):
        members = points[labels == group]
        away = [displacement(m[i], line[i]) for m in members for i in range(len(line))]
        assert found.radius[group] == pytest.approx(max(away))
        assert found.sizes[group] == len(members)
        assert (group in found.alarms) == (max(away) <= tight)


def ends(*metres: tuple[float, float]) -> Floats:
    """Trajectories of two points, from and to so many metres north of 45 degrees."""
    north = 45.0 + METRE * np.array(metres)
    return np.stack([north, np.full_like(north, 7.0)], axis=-1)


def test_by_hand() -> None:
    # Cells of 100 m begin at the equator; the first of the row of 45 degrees counts.
    base = -((45.0 / METRE) % 100.0)
    points = ends(
        *[
            (base + a, base + b)
            for a, b in [(10, 110), (90, 190), (120, 130), (130, 350), (410, 10), (420, 90)]
        ]
    )
    labels = np.array([0, 0, 0, 0, 1, 1])
    lines = np.array([points[:4].mean(axis=0), points[4:].mean(axis=0)])
    found = diversity(Published(points, lines, labels, 2), cell=100.0, tight=45.0)
    assert found.origins.tolist() == [2, 1]
    assert found.destinations.tolist() == [2, 1]
    assert found.radius == pytest.approx([350 - 195, 40.0], rel=1e-4)
    assert found.alarms.tolist() == [1]
    account = found.account
    assert account["groups"] == 2
    assert account["one_origin"] == account["one_destination"] == 1
    assert account["alarms"] == 1
    assert account["trajectories_in_alarms"] == 2
    assert account["origins"] == {"min": 1.0, "mean": 1.5, "median": 1.5, "max": 2.0}
    assert found.words.startswith("In 1 of 2 groups all members begin in one cell of 100")


@pytest.mark.parametrize("latitude", [0.0, 60.0, -60.0])
def test_cells_are_as_wide_as_they_say(latitude: float) -> None:
    """Along a parallel of 10 km, a cell of 100 m is found each 100 m."""
    metre = 1.0 / float(displacement(np.array([latitude, 0.0]), np.array([latitude, 1.0])))
    along = np.arange(1_000) * 10.0 * metre
    points = np.stack([np.full_like(along, latitude + 1e-6), along], axis=-1)[:, None]
    found = diversity(
        Published(points, points.mean(axis=0)[None], np.zeros(1_000, int), 2), cell=100.0
    )
    assert 99 <= found.origins[0] <= 101
