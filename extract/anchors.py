"""Anchors: where to cut circles around places, so that a circle does not reveal its place."""

from collections.abc import Iterator
from itertools import product
from math import dist

import numpy as np

from trajanon.arrays import Floats
from trajanon.extract.fingerprints import hashes_of
from trajanon.extract.geodesics import WGS84
from trajanon.geodesy import EQUATOR, in_space
from trajanon.hashing import bits_mixed

_Place = tuple[float, ...]  # latitude and longitude, or metres from the middle of the Earth


class Anchors:
    """Gives each place the centre of a circle, and places near each other the same one.

    The first place of a neighbourhood, half of ``metres`` around it, is its anchor. The centre lies
    off the anchor by a random way of up to ``metres``, which the secret ``key`` decides.
    """

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[_Place] = []
        self._cells: dict[tuple[int, ...], list[tuple[int, _Place]]] = {}  # number, where in space

    def of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the centre of each place's circle, in degrees, shape (n,)."""
        numbers = []
        for place, at in _with_space(lat, lon):
            near = self._near(at)
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

    def _near(self, at: _Place) -> int | None:
        """Find the first anchor of the neighbourhood; a chord is as good as the way."""
        near = [
            number
            for cell in product(*((side - 1, side, side + 1) for side in self._cell(at)))
            for number, other in self._cells.get(cell, ())
            if dist(at, other) <= 0.5 * self.metres
        ]
        return min(near, default=None)

    def _add(self, place: _Place, at: _Place) -> int:
        number = len(self.places)
        self.places.append(place)
        self._cells.setdefault(self._cell(at), []).append((number, at))
        return number

    def _cell(self, at: _Place) -> tuple[int, ...]:
        return tuple(int(side // (0.5 * self.metres)) for side in at)


def _with_space(lat: Floats, lon: Floats) -> Iterator[tuple[_Place, _Place]]:
    """Give each place in degrees, and in metres from the middle of the Earth."""
    places = np.column_stack([lat, lon])
    space = in_space(places, EQUATOR)
    return zip(map(tuple, places.tolist()), map(tuple, space.tolist()), strict=True)
