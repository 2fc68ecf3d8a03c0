"""Hashes of numbers: equal numbers stay equal, and others look like chance.

Source: Steele, Lea and Flood (OOPSLA 2014), "Fast splittable pseudorandom number generators".
"""

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def bits_mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers: another number for each, in no order; 0 stays 0."""
    mixed = numbers ^ (numbers >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def hashed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers, 0 too: the bits mixed of the next state of the generator."""
    return bits_mixed(numbers + _GOLDEN)
