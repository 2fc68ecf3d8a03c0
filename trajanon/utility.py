"""What a release costs, in metres."""

import numpy as np
from numpy.typing import NDArray

_EQUATOR = 6_378_137.0  # metres, WGS 84
_ECCENTRICITY_SQUARED = 0.00669437999014


def summary(metres: NDArray[np.float64]) -> dict[str, float]:
    """Sum up distances in metres, ready for JSON: mean, median, 95 %, the farthest."""
    return {
        "mean": float(metres.mean()),
        "median": float(np.median(metres)),
        "p95": float(np.percentile(metres, 95)),
        "max": float(metres.max()),
    }


def displacement(
    original: NDArray[np.float64], released: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Measure how far each point was moved.

    The distance is that of the ellipsoid's tangent plane half way between the two
    points: right to a millionth as long as they are within some tens of kilometres.

    Parameters
    ----------
    original, released
        Latitude and longitude in degrees, WGS 84, shape (..., 2).

    Returns
    -------
    NDArray[np.float64]
        Metres, shape (...).

    Examples
    --------
    >>> north = displacement(np.array([[[0.0, 0.0]]]), np.array([[[0.001, 0.0]]]))
    >>> round(float(north[0, 0]), 1)
    110.6
    """
    latitude = np.radians((original[..., 0] + released[..., 0]) / 2)
    north, east = np.moveaxis(np.radians(released - original), -1, 0)
    curvature = 1.0 - _ECCENTRICITY_SQUARED * np.sin(latitude) ** 2
    meridian_radius = _EQUATOR * (1.0 - _ECCENTRICITY_SQUARED) / curvature**1.5
    parallel_radius = _EQUATOR * np.cos(latitude) / np.sqrt(curvature)
    metres: NDArray[np.float64] = np.hypot(
        north * meridian_radius, east * parallel_radius
    )
    return metres
