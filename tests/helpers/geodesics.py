"""Ways and distances on Earth, found slowly, by many places on each."""

import numpy as np
from pyproj import Geod

from trajanon.common.arrays import Floats

GEOD = Geod(ellps="WGS84")


def ahead(lat: Floats, lon: Floats, azimuth: Floats, metres: Floats) -> tuple[Floats, Floats]:
    """Places (lat, lon) so many metres from others."""
    east, north, _ = GEOD.fwd(lon, lat, azimuth, metres)
    return north, east


def along(lat: Floats, lon: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Places on the geodesics between each point and the next.

    Latitude and longitude, of shape (points - 1, count), and the metres between two
    neighbours, shape (points - 1,).
    """
    azimuth, _, metres = GEOD.inv(lon[:-1], lat[:-1], lon[1:], lat[1:])
    share = np.linspace(0.0, 1.0, count)
    shape = (len(metres), count)

    def wide(values: Floats) -> Floats:
        return np.broadcast_to(values[:, None], shape).ravel()

    away = (metres[:, None] * share).ravel()
    places = ahead(wide(lat[:-1]), wide(lon[:-1]), wide(azimuth), away)
    return places[0].reshape(shape), places[1].reshape(shape), metres / (count - 1)


def nearest(lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> Floats:
    """Metres from each point to the nearest of some places."""
    here, there = np.divmod(np.arange(len(lat) * len(to_lat)), len(to_lat))
    metres = GEOD.inv(lon[here], lat[here], to_lon[there], to_lat[there])[2]
    nearest: Floats = metres.reshape(len(lat), len(to_lat)).min(axis=1)
    return nearest
