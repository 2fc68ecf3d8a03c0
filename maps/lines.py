"""Lines as the page holds them: whole numbers, each the difference from the one before."""

from collections.abc import Iterable

import numpy as np

from trajanon.arrays import Floats

DEGREES_A_STEP = 1e-6  # degrees: 0.1 m, finer than any screen
_BEND = 3e-5  # degrees: a track is drawn to some 3 m


def steps(lines: Floats) -> list[list[int]]:
    """Write lines of equally many points as whole numbers of ``DEGREES_A_STEP``."""
    places = np.rint(lines / DEGREES_A_STEP).astype(np.int64)
    first = np.zeros_like(places[:, :1])
    flat: list[list[int]] = np.diff(places, axis=1, prepend=first).reshape(len(lines), -1).tolist()
    return flat


def bends(lines: Iterable[Floats]) -> list[list[int]]:
    """Write lines of any number of points, without points between which a line is straight."""
    import shapely

    parts = list(lines)
    places = np.concatenate([np.empty((0, 2)), *parts])
    line = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    with np.errstate(all="ignore"):  # GEOS divides by tiny numbers, and means it
        simple = shapely.simplify(shapely.linestrings(places, indices=line), _BEND)
    return [steps(shapely.get_coordinates(one)[None])[0] for one in simple]


class Unrolled:
    """Longitudes without the jump at the antimeridian, where data lie on both sides."""

    def __init__(self, points: Floats) -> None:
        longitude = points[..., 1]
        self._middle: float | None = None
        if np.ptp(longitude) > 180.0:
            around = np.exp(1j * np.radians(longitude)).mean()
            self._middle = float(np.degrees(np.angle(around)))

    def __call__(self, points: Floats) -> Floats:
        """Move longitudes by whole turns to within half a turn of the middle."""
        if self._middle is None:
            return points
        moved = points.copy()
        moved[..., 1] -= 360.0 * np.rint((points[..., 1] - self._middle) / 360.0)
        return moved


def corners(points: Floats) -> list[list[float]]:
    """South-west and north-east corner of all points, as lat, lon."""
    places = points.reshape(-1, 2)
    return [places.min(axis=0).tolist(), places.max(axis=0).tolist()]
