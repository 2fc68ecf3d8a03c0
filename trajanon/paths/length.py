"""How long a path is."""

from threading import Event

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.workers import in_parts

_AT_ONCE = 10_000  # steps that a thread measures


def path_length(records: Floats, path: Ints) -> float:
    """Length of a path through standardised records."""

    def length(places: Ints, stop: Event) -> float:
        steps = np.diff(records[path[places[0] : places[-1] + 2]], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return sum(in_parts(length, np.arange(max(len(path) - 1, 1)), _AT_ONCE))
