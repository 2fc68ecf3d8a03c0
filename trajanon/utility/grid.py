"""Square cells on the ground."""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE

_COLUMNS = 2**31  # more than there are cells of a metre round the equator's half


def cells(points: Floats, metres: float) -> Ints:
    """Number the cell that each point lies in.

    Cells are as wide as they are high at every latitude: each row of cells has as many as fit round
    the Earth there.
    """
    row = np.floor(points[..., 0] * (DEGREE / metres)).astype(np.int64)
    middle = np.radians((row + 0.5) * (metres / DEGREE))
    width = metres / (DEGREE * np.cos(np.clip(middle, -np.pi / 2, np.pi / 2)) + 1e-9)
    column = np.floor(points[..., 1] / width).astype(np.int64)
    numbers: Ints = row * _COLUMNS + column
    return numbers
