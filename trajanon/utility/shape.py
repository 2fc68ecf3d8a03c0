"""How lengths and directions of lines change."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.utility.metres import displacement, on_plane


def lengths(points: Floats) -> Floats:
    """Measure lines from point to point."""
    metres: Floats = displacement(points[:, :-1], points[:, 1:]).sum(axis=1)
    return metres


def length_change(original: Floats, released: Floats) -> Floats:
    """Measure by what share of its own length each line got longer."""
    before, after = lengths(original), lengths(released)
    still = before == 0.0
    change = (after - before) / np.where(still, 1.0, before)
    return np.where(still, (after > 0.0).astype(np.float64), change)


def turns(original: Floats, released: Floats) -> Floats:
    """Measure the angle between each hop of a line and the same hop as released."""
    one, other = (np.diff(line, axis=1) for line in on_plane(original, released))
    along = (one * other).sum(axis=-1)
    across = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    somewhere = one.any(axis=-1) & other.any(axis=-1)
    degrees: Floats = np.degrees(np.abs(np.arctan2(across, along))[somewhere])
    return degrees


def length_shift(original: Floats, released: Floats) -> float:
    """Measure how far the distribution of lengths moved."""
    before, after = np.sort(lengths(original)), np.sort(lengths(released))
    return float(np.abs(before - after).mean())
