"""Numbers mixed, so that equal ones stay equal and others look like chance."""

import numpy as np
from numpy.typing import NDArray


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers: another number for each, in no order.

    Source: Steele, Lea and Flood (OOPSLA 2014), "Fast splittable pseudorandom number generators".
    """
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result
