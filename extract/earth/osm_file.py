"""Objects of an OpenStreetMap file, and their shapes."""

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import cast

import numpy as np
import osmium
import shapely
from osmium import BaseFilter, osm
from osmium.filter import EntityFilter, KeyFilter
from osmium.geom import WKBFactory
from osmium.osm.types import OSMEntity
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.inputs import regular


def objects(
    pbf: str | os.PathLike[str],
    *filters: BaseFilter,
    entities: "osm.osm_entity_bits" = osm.ALL,
    locations: bool = False,
    areas: BaseFilter | None = None,
) -> Iterator[OSMEntity]:
    """Yield the objects that pass all filters; each is valid only until the next.

    With locations, the nodes of ways have their places; areas are built from ways in that filter.
    """
    try:
        regular(Path(pbf)).open("rb").close()
    except OSError as error:
        raise FileProblem(f"cannot read {pbf}: {error.strerror}") from error
    try:
        processor = osmium.FileProcessor(Path(pbf), entities)
        if locations:
            processor.with_locations()
        if areas is not None:
            processor.with_areas(areas)
        for each in filters:
            processor.with_filter(each)
        yield from processor
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        reason = str(error).rstrip(".")
        raise FileProblem(
            f"cannot read {pbf} as OpenStreetMap data (.osm.pbf): {reason}"
        ) from error


def ways(pbf: str | os.PathLike[str], *keys: str) -> Iterator[osm.Way]:
    """Yield the ways with one of some keys, with the places of their nodes."""
    for way in objects(pbf, EntityFilter(osm.WAY), KeyFilter(*keys), locations=True):
        yield cast(osm.Way, way)


def polygons(area: osm.Area) -> BaseGeometry | None:
    """The polygons of an area; None if its lines do not close."""
    try:
        return shapely.from_wkb(WKBFactory().create_multipolygon(area))
    except RuntimeError:
        return None


def known_parts(way: osm.Way) -> list[Floats]:
    """The parts of a way with nodes in the file: longitudes and latitudes, shape (m, 2)."""
    places = [(one.lon, one.lat) if one.location.valid() else () for one in way.nodes]
    parts = [np.array(list(part)) for known, part in groupby(places, bool) if known]
    return [part for part in parts if len(part) > 1]
