"""Roads of an OpenStreetMap file: how far points are from them; roads and water to draw."""

import logging
import os

import numpy as np
import shapely
from numpy.typing import NDArray
from osmium import osm
from osmium.filter import TagFilter

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.earth.area import Box, segment_tree
from trajanon.extract.earth.osm_file import known_parts, objects, polygons, ways
from trajanon.geodesy import ECCENTRICITY_SQUARED, EQUATOR, radii
from trajanon.number_text import number_of

logger = logging.getLogger(__name__)

_POLE = 89.9  # degrees; the map of the roads ends there

_DRAWN = frozenset(
    f"{kind}{link}"
    for kind in ("motorway", "trunk", "primary", "secondary", "tertiary")
    for link in ("", "_link")
) | {"unclassified", "residential", "living_street", "pedestrian"}
"""Values of ``highway`` that a background shows: what cars take, and squares."""


class Roads:
    """Roads, as a tree of their segments on Mercator's map.

    That map keeps shapes: the nearest road on it is the nearest on Earth, up to some thousandths at
    distances of kilometres.

    Parameters
    ----------
    lines
        Lines, of one part or several; longitude and latitude in degrees, shape (roads,).

    Examples
    --------
    >>> import numpy as np
    >>> import shapely
    >>> from trajanon.extract import Roads
    >>> roads = Roads(np.array([shapely.LineString([(2.0, 41.0), (2.1, 41.0)])]))
    >>> lat, lon = np.array([41.0, 41.001, 42.0]), np.array([2.05, 2.05, 2.05])
    >>> roads.distance(lat, lon, within=500.0).round().tolist()
    [0.0, 111.0, inf]
    """

    def __init__(self, lines: NDArray[np.object_]) -> None:
        self._count = len(lines)
        self._segments = segment_tree(shapely.transform(lines, _on_map))

    def __len__(self) -> int:
        return self._count

    def distance(self, lat: Floats, lon: Floats, within: float | None = None) -> Floats:
        """Measure how far points are from the nearest road.

        Parameters
        ----------
        lat, lon
            Degrees, WGS 84, shape (n,).
        within
            Metres; beyond, the distance is infinite: the search is faster. None for no limit.

        Returns
        -------
        Floats
            Metres, right to 1 % up to some kilometres, shape (n,); NaN where a coordinate is. Roads
            on the other side of the antimeridian do not count.
        """
        if within is not None and not within > 0.0:
            raise BadInput(f"within must be a positive number of metres (got {within})")
        known = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon))
        metres = np.full(len(lat), np.nan)
        metres[known] = np.inf
        places = np.stack([lon[known], lat[known]], axis=-1)
        scale = EQUATOR / radii(np.radians(np.clip(lat[known], -_POLE, _POLE)))[1]
        (point, _), far = self._segments.query_nearest(
            shapely.points(_on_map(places)),
            max_distance=None if within is None else within * scale.max(initial=1.0),
            return_distance=True,
            all_matches=False,
        )
        metres[known[point]] = far / scale[point]
        if within is not None:
            metres[metres > within] = np.inf
        return metres


def roads(pbf: str | os.PathLike[str], bbox: Box | None = None) -> Roads:
    r"""Read the roads of an OpenStreetMap file: all its ways with a ``highway``.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    bbox
        Take only the roads that come into this box; None for all. Points at its border may have
        their nearest road outside, so the box should be wider than the points.

    Raises
    ------
    BadInput, FileProblem
        If there are no roads.

    Examples
    --------
    A point 0.001 degrees north of a street. Real files end in ``.osm.pbf``; this one is OPL, a
    text format of OpenStreetMap:

    >>> from pathlib import Path
    >>> import numpy as np
    >>> from trajanon.extract import roads
    >>> street = ["n1 x2.0 y41.0", "n2 x2.1 y41.0", "w1 Thighway=residential Nn1,n2"]
    >>> _ = Path("town.opl").write_text("\n".join(street))
    >>> roads("town.opl").distance(lat=np.array([41.001]), lon=np.array([2.05])).round().tolist()
    [111.0]
    """
    found = [known_parts(way) for way in ways(pbf, "highway")]
    lines = np.array([shapely.MultiLineString(parts) for parts in found if parts], np.object_)
    lost = len(found) - len(lines)
    if lost:
        roads_are = number_of(lost, "road is", "roads are")
        logger.warning("%s: %s left out: points are missing", pbf, roads_are)
    if bbox is not None:
        lines = lines[shapely.intersects(lines, shapely.box(*bbox.sides))]
    if len(lines) == 0:
        where = "" if bbox is None else f" in the box {bbox}"
        raise BadInput(f"{pbf} holds no roads (ways with a highway){where}")
    return Roads(lines)


def _on_map(places: Floats) -> Floats:
    """Turn longitudes and latitudes to metres on the ellipsoid's Mercator map, shape (n, 2)."""
    eccentricity = np.sqrt(ECCENTRICITY_SQUARED)
    sin = np.sin(np.radians(np.clip(places[:, 1], -_POLE, _POLE)))
    up = np.arctanh(sin) - eccentricity * np.arctanh(eccentricity * sin)
    return EQUATOR * np.stack([np.radians(places[:, 0]), up], axis=-1)


def roads_and_water(pbf: str | os.PathLike[str], bbox: Box) -> tuple[list[Floats], list[Floats]]:
    """Read the roads and waters that come into a box, as lines to draw behind a map.

    The lines are latitudes and longitudes; those of lakes and wide rivers are their borders.
    """
    roads, water = list[Floats](), list[Floats]()
    for way in ways(pbf, "highway", "waterway", "natural"):
        if way.tags.get("highway") in _DRAWN:
            roads += known_parts(way)
        elif "waterway" in way.tags or way.tags.get("natural") == "coastline":
            water += known_parts(way)
    lakes = TagFilter(("natural", "water"))
    for area in objects(pbf, lakes, areas=lakes):
        if isinstance(area, osm.Area):
            rings = shapely.get_rings(shapely.get_parts(polygons(area)))
            water += map(shapely.get_coordinates, rings)
    return _inside(roads, bbox), _inside(water, bbox)


def _inside(lines: list[Floats], bbox: Box) -> list[Floats]:
    """Those that may come into a box, with the latitude first."""
    west, south, east, north = bbox.sides
    return [
        line[:, ::-1]
        for line in lines
        if (line.min(axis=0) <= (east, north)).all() and (line.max(axis=0) >= (west, south)).all()
    ]
