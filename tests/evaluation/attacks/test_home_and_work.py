"""Home and work by the ends of a person's lines: who is found where lines are moved."""

import numpy as np

from trajanon.evaluation.attacks.home_and_work import Place, places_found
from trajanon.evaluation.attacks.published_lines import Published

STEP = 0.0027
"""Degrees of latitude: 300 m."""


def test_a_home_amid_the_ends_of_moved_lines_is_found() -> None:
    """No two lines begin within 200 m of each other; home is in the middle of where they do."""
    away = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])  # far, and each elsewhere
    sides = np.array([[STEP, 0.0], [0.0, STEP], [-STEP, 0.0], [0.0, -STEP]])
    trips = np.stack([np.zeros((4, 2)), away], axis=1)
    lines = np.stack([sides, away], axis=1)
    seen = Published(trips, lines, np.arange(4), 2, subjects=np.zeros(4, dtype=np.int64))
    home, work = places_found(seen)
    assert home == Place(people=1, found=1, guess=0)
    assert work == Place(people=0, found=0, guess=0)


def test_an_end_away_from_home_comes_before_one_at_home() -> None:
    """Of lines with one end away, the second place is shown there, although no other is near."""
    home = np.zeros(2)
    work = np.array([0.1, 0.0])
    trips = np.array([[home, work]] * 3)
    lines = np.array([[home, home], [home, home], [home, work]])
    seen = Published(trips, lines, np.arange(3), 2, subjects=np.zeros(3, dtype=np.int64))
    assert places_found(seen)[1] == Place(people=1, found=1, guess=0)
