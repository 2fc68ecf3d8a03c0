"""Places about which something is cut out, each with a circle that does not tell it."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.extract.fingerprints import hashes_of
from trajanon.extract.geodesics import WGS84
from trajanon.geodesy import EQUATOR, in_space
from trajanon.hashing import bits_mixed


class Anchors:
    """Gives each place a circle, and places near each other the same one.

    The first place of a neighbourhood is its anchor.
    """

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[tuple[float, float]] = []
        self._space: list[tuple[float, float, float]] = []
        self._cells: dict[tuple[int, int, int], list[int]] = {}

    def of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the centre of each place's circle, in degrees, shape (n,)."""
        number = np.array([self._number(*place) for place in _in_space(lat, lon)])
        places = np.array(self.places)[number]
        azimuth, way = self._ways(*places.T)
        lon, lat, _ = WGS84.fwd(places[:, 1], places[:, 0], azimuth, way)
        return lat, lon

    def know(self, places: Floats) -> None:
        """Take anchors over from one that had them, in their order, shape (n, 2)."""
        for place in _in_space(*places.T):
            self._add(*place)

    def _number(self, x: float, y: float, z: float, lat: float, lon: float) -> int:
        """Find the first anchor that is near, or make one."""
        near = 0.5 * self.metres
        a, b, c = _cell(x, y, z, near)
        found = [
            number
            for i in (a - 1, a, a + 1)
            for j in (b - 1, b, b + 1)
            for k in (c - 1, c, c + 1)
            for number in self._cells.get((i, j, k), ())
            if _square(self._space[number], (x, y, z)) <= near**2
        ]
        return min(found) if found else self._add(x, y, z, lat, lon)

    def _add(self, x: float, y: float, z: float, lat: float, lon: float) -> int:
        number = len(self.places)
        self.places.append((lat, lon))
        self._space.append((x, y, z))
        cell = _cell(x, y, z, 0.5 * self.metres)
        self._cells.setdefault(cell, []).append(number)
        return number

    def _ways(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Azimuth in degrees and metres of the way from each anchor to its centre."""
        one = bits_mixed(hashes_of(lat, lon) ^ np.uint64(self.key))
        azimuth, share = one / 2.0**64, bits_mixed(one) / 2.0**64
        return 360.0 * azimuth, self.metres * np.sqrt(share)


def _in_space(lat: Floats, lon: Floats) -> list[tuple[float, float, float, float, float]]:
    """Places on a globe: x, y, z in metres, with their latitude and longitude."""
    places = np.column_stack([lat, lon])
    return list(map(tuple, np.hstack([in_space(places, EQUATOR), places]).tolist()))


def _cell(x: float, y: float, z: float, size: float) -> tuple[int, int, int]:
    return int(x // size), int(y // size), int(z // size)


def _square(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Square of the distance: a chord, which is as good as the way for near places."""
    x, y, z = (a - b for a, b in zip(one, other, strict=True))
    return x * x + y * y + z * z
