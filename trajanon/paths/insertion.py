"""Insertion heuristics: a tour grows by the city that a rule chooses.

Each is inserted where it lengthens the tour least. As in the published experiments the dummy is a
city like the others: once the tour holds it every record is at distance 0 from the tour. Nearest
insertion then takes records at random, as arbitrary insertion does, while farthest insertion comes
to the dummy last. Random choices, and those between equals, come from the seed. With a ``start``
see `begun_at_start`.
"""

import numpy as np

from trajanon._kernels.insertion import cheapest_insertion as cheapest
from trajanon._kernels.insertion import insertion
from trajanon.arrays import Ints
from trajanon.paths.journey import Journey
from trajanon.paths.tours import begun_at_start

_NEAREST, _ARBITRARY, _FARTHEST = -1, 0, 1


def nearest_insertion(journey: Journey) -> Ints:
    """Insert the city nearest to the tour next.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3; Rosenkrantz, Stearns, Lewis (1977),
    "An analysis of several heuristics for the traveling salesman problem".
    """
    return begun_at_start(lambda free: _insertion(free, _NEAREST), journey)


def farthest_insertion(journey: Journey) -> Ints:
    """Insert the city farthest from the tour next.

    References
    ----------
    As for `nearest_insertion`.
    """
    return begun_at_start(lambda free: _insertion(free, _FARTHEST), journey)


def arbitrary_insertion(journey: Journey) -> Ints:
    """Insert the cities in random order.

    References
    ----------
    As for `nearest_insertion`.
    """
    return begun_at_start(lambda free: _insertion(free, _ARBITRARY), journey)


def cheapest_insertion(journey: Journey) -> Ints:
    """Insert the city that lengthens the tour least next.

    References
    ----------
    As for `nearest_insertion`.
    """
    return begun_at_start(lambda free: np.asarray(cheapest(free.records, _turn(free))), journey)


def _insertion(journey: Journey, rule: int) -> Ints:
    return np.asarray(insertion(journey.records, _turn(journey), rule))


def _turn(journey: Journey) -> Ints:
    return journey.random.permutation(len(journey.records) + 1)
