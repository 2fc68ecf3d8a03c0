"""How lengths and directions of lines change."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.utility.metres import displacement, on_plane


def lengths(points: Floats) -> Floats:
    """Measure lines from point to point.

    Parameters
    ----------
    points
        Latitude and longitude in degrees, shape (n, m, 2).

    Returns
    -------
    Floats
        Metres, shape (n,).
    """
    metres: Floats = displacement(points[:, :-1], points[:, 1:]).sum(axis=1)
    return metres


def length_change(original: Floats, released: Floats) -> Floats:
    """Measure by what share of its own length each line got longer.

    Parameters
    ----------
    original, released
        Latitude and longitude in degrees, shape (n, m, 2).

    Returns
    -------
    Floats
        Shape (n,): -0.1 for a line that lost a tenth; 0 for lines without length that
        have none after, 1 for those that got one.
    """
    before, after = lengths(original), lengths(released)
    still = before == 0.0
    change = (after - before) / np.where(still, 1.0, before)
    return np.where(still, (after > 0.0).astype(np.float64), change)


def turns(original: Floats, released: Floats) -> Floats:
    """Measure the angle between each hop of a line and the same hop as released.

    Parameters
    ----------
    original, released
        Latitude and longitude in degrees, shape (n, m, 2).

    Returns
    -------
    Floats
        Degrees, 0 to 180, of all hops that lead somewhere before and after.
    """
    one, other = (np.diff(line, axis=1) for line in on_plane(original, released))
    along = (one * other).sum(axis=-1)
    across = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    somewhere = one.any(axis=-1) & other.any(axis=-1)
    degrees: Floats = np.degrees(np.abs(np.arctan2(across, along))[somewhere])
    return degrees


def length_shift(original: Floats, released: Floats) -> float:
    """Measure how far the distribution of lengths moved.

    Returns
    -------
    float
        The earth mover's distance in metres: how much a length has to change, on
        average, if the shortest line stands for the shortest, and so on.
    """
    before, after = np.sort(lengths(original)), np.sort(lengths(released))
    return float(np.abs(before - after).mean())
