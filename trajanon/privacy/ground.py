"""Metres on the ground between points given in degrees."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.utility import displacement


def metres_of_degrees(latitude: Floats) -> Floats:
    """Measure a degree of latitude and one of longitude.

    Examples
    --------
    >>> metres_of_degrees(np.array(60.0)).round().tolist()
    [111412.0, 55800.0]
    """
    here = np.stack([latitude, np.zeros_like(latitude)], axis=-1)
    half = np.array([0.5, 0.0])  # half a degree either way: the middle is here
    north = displacement(here - half, here + half)
    east = displacement(here, here + np.array([0.0, 1.0]))
    return np.stack([north, east], axis=-1)
