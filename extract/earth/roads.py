"""The roads of an OpenStreetMap file, and how far points are from them."""

import logging
import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.earth.box import Box
from trajanon.extract.earth.osm_file import objects, opened
from trajanon.geodesy import ECCENTRICITY_SQUARED, EQUATOR, radii

if TYPE_CHECKING:
    from osmium.osm import Way
    from shapely.geometry.base import BaseGeometry

log = logging.getLogger(__name__)

_POLE = 89.9
"""Degrees, up to where the map of the roads goes."""


class Roads:
    """Roads, as a tree of their segments on Mercator's map.

    That map is true to shape: what is nearest on it is nearest on Earth, but for some thousandths
    at distances of kilometres.

    Parameters
    ----------
    lines
        Lines, of one part or several; longitude and latitude in degrees, shape (roads,).
    """

    def __init__(self, lines: NDArray[np.object_]) -> None:
        import shapely

        self._count = len(lines)
        parts = shapely.get_parts(lines)
        places, line = shapely.get_coordinates(parts, return_index=True)
        corners = _on_map(places[:, 1], places[:, 0])
        same = line[1:] == line[:-1]
        ends = np.stack([corners[:-1][same], corners[1:][same]], axis=1)
        self._segments = shapely.STRtree(shapely.linestrings(ends))

    def __len__(self) -> int:
        return self._count

    def distance(self, lat: Floats, lon: Floats, within: float | None = None) -> Floats:
        """Measure how far points are from the nearest road."""
        import shapely

        if within is not None and not within > 0.0:
            msg = f"within must be a positive number of metres (got {within})"
            raise BadInput(msg)
        metres = np.where(np.isfinite(lat) & np.isfinite(lon), np.inf, np.nan)
        known = np.flatnonzero(~np.isnan(metres))
        scale = _scale(lat[known])
        (point, _), far = self._segments.query_nearest(
            shapely.points(_on_map(lat[known], lon[known])),
            max_distance=None if within is None else within * scale.max(initial=1.0),
            return_distance=True,
            all_matches=False,
        )
        metres[known[point]] = far / scale[point]
        if within is not None:
            metres[metres > within] = np.inf
        return metres


def roads(pbf: str | os.PathLike[str], bbox: Box | None = None) -> Roads:
    """Read the roads of an OpenStreetMap file: all its ways with a ``highway``.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    bbox
        Take those alone that come into this box; None for all. Points at its border may have their
        nearest road outside: take it wider than the points.

    Raises
    ------
    BadInput
        If there are no roads.
    FileProblem
        If the file cannot be read.
    """
    import shapely
    from osmium import osm
    from osmium.filter import EntityFilter, KeyFilter

    pbf = Path(pbf)
    processor = opened(pbf).with_locations()
    processor.with_filter(EntityFilter(osm.WAY)).with_filter(KeyFilter("highway"))
    found = [_line(cast(osm.Way, way)) for way in objects(pbf, processor)]
    lines: NDArray[np.object_] = np.array(found, dtype=np.object_)
    lost = int(shapely.is_missing(lines).sum())
    if lost:
        log.warning("%s: %d roads are left out: their points are missing", pbf, lost)
        lines = lines[~shapely.is_missing(lines)]
    if bbox is not None:
        lines = lines[shapely.intersects(lines, shapely.box(*bbox.sides))]
    if len(lines) == 0:
        where = "" if bbox is None else f" in the box {bbox}"
        msg = f"{pbf} holds no roads (ways with a highway){where}"
        raise BadInput(msg)
    return Roads(lines)


def _line(way: "Way") -> "BaseGeometry | None":
    """What the file knows of a way: all of it, or parts, or nothing."""
    import shapely

    places = [(one.lon, one.lat) if one.location.valid() else () for one in way.nodes]
    parts = [list(part) for known, part in groupby(places, bool) if known]
    parts = [part for part in parts if len(part) > 1]
    return shapely.MultiLineString(parts) if parts else None


def _on_map(lat: Floats, lon: Floats) -> Floats:
    """Places in metres east and north on the ellipsoid's Mercator map, shape (n, 2)."""
    eccentricity = np.sqrt(ECCENTRICITY_SQUARED)
    sin = np.sin(np.radians(np.clip(lat, -_POLE, _POLE)))
    up = np.arctanh(sin) - eccentricity * np.arctanh(eccentricity * sin)
    return EQUATOR * np.stack([np.radians(lon), up], axis=-1)


def _scale(lat: Floats) -> Floats:
    """Metres on the map for one on Earth."""
    across = np.radians(np.clip(lat, -_POLE, _POLE))
    scale: Floats = EQUATOR / radii(across)[1]
    return scale
