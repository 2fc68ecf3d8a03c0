"""Anchors: where to cut circles around places, so that a circle does not reveal its place."""

from collections.abc import Iterator

import numpy as np

from trajanon.arrays import Floats
from trajanon.extract.fingerprints import hashes_of
from trajanon.extract.geodesics import WGS84
from trajanon.geodesy import EQUATOR, in_space
from trajanon.hashing import bits_mixed

_Place = tuple[float, float]  # latitude and longitude
_Space = tuple[float, float, float]  # metres from the middle of the Earth


class Anchors:
    """Gives each place the centre of a circle, and places near each other the same one.

    The first place of a neighbourhood, half of ``metres`` around it, is its anchor. The centre lies
    off the anchor by a random way of up to ``metres``, which the secret ``key`` decides.
    """

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[_Place] = []
        self._space: list[_Space] = []
        self._cells: dict[tuple[int, int, int], list[int]] = {}  # numbers of anchors by cell

    def of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the centre of each place's circle, in degrees, shape (n,)."""
        numbers = []
        for place, at in _with_space(lat, lon):
            near = self._nearby(*at)
            numbers.append(self._add(place, at) if near is None else near)
        lat, lon = np.array(self.places)[numbers].T
        # Azimuth and length of the way to the centre, evenly spread over the circle.
        one = bits_mixed(hashes_of(lat, lon) ^ np.uint64(self.key))
        azimuth, share = one / 2.0**64, bits_mixed(one) / 2.0**64
        lon, lat, _ = WGS84.fwd(lon, lat, 360.0 * azimuth, self.metres * np.sqrt(share))
        return lat, lon

    def know(self, places: Floats) -> None:
        """Take over the anchors of another, in their order, shape (n, 2)."""
        for place, at in _with_space(*places.T):
            self._add(place, at)

    def _nearby(self, x: float, y: float, z: float) -> int | None:
        """Find the first anchor of the neighbourhood."""
        a, b, c = self._cell(x, y, z)
        near = [
            number
            for i in (a - 1, a, a + 1)
            for j in (b - 1, b, b + 1)
            for k in (c - 1, c, c + 1)
            for number in self._cells.get((i, j, k), ())
            if _square(self._space[number], (x, y, z)) <= (0.5 * self.metres) ** 2
        ]
        return min(near, default=None)

    def _add(self, place: _Place, at: _Space) -> int:
        self.places.append(place)
        self._space.append(at)
        number = len(self.places) - 1
        self._cells.setdefault(self._cell(*at), []).append(number)
        return number

    def _cell(self, x: float, y: float, z: float) -> tuple[int, int, int]:
        size = 0.5 * self.metres
        return int(x // size), int(y // size), int(z // size)


def _with_space(lat: Floats, lon: Floats) -> Iterator[tuple[_Place, _Space]]:
    """Give each place in degrees, and in metres from the middle of the Earth."""
    space = in_space(np.column_stack([lat, lon]), EQUATOR)
    for north, east, (x, y, z) in zip(lat.tolist(), lon.tolist(), space.tolist(), strict=True):
        yield (north, east), (x, y, z)


def _square(one: _Space, other: _Space) -> float:
    """Square of the distance: a chord, which for near places is as good as the way."""
    x, y, z = (a - b for a, b in zip(one, other, strict=True))
    return x * x + y * y + z * z
