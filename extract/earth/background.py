"""Roads and water of an OpenStreetMap file, as lines to draw behind a map."""

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from trajanon.arrays import Floats
from trajanon.extract.earth.box import Box
from trajanon.extract.earth.osm_file import objects, opened, polygons

if TYPE_CHECKING:
    from osmium.osm import Way

_ROADS = frozenset(
    f"{kind}{link}"
    for kind in ("motorway", "trunk", "primary", "secondary", "tertiary")
    for link in ("", "_link")
) | {"unclassified", "residential", "living_street", "pedestrian"}
"""Values of ``highway``: what cars take, and squares."""

Line = Floats


def roads_and_water(pbf: str | os.PathLike[str], bbox: Box) -> tuple[list[Line], list[Line]]:
    """Read the roads and waters that come into a box."""
    pbf = Path(pbf)
    roads: list[Line] = []
    water: list[Line] = []
    for kind, line in (*_ways(pbf), *_shores(pbf)):
        if _comes_into(line, bbox):
            (roads if kind == "road" else water).append(line)
    return roads, water


def _ways(pbf: Path) -> Iterator[tuple[str, Line]]:
    """Roads, streams and coasts, in the parts that the file knows."""
    from osmium.filter import EntityFilter, KeyFilter
    from osmium.osm import WAY

    processor = opened(pbf).with_locations()
    processor.with_filter(EntityFilter(WAY))
    processor.with_filter(KeyFilter("highway", "waterway", "natural"))
    for thing in objects(pbf, processor):
        way = cast("Way", thing)
        kind = "road" if way.tags.get("highway") in _ROADS else "water"
        coast = way.tags.get("natural") == "coastline"
        if kind == "water" and not coast and "waterway" not in way.tags:
            continue
        places = [
            (one.location.lat, one.location.lon) if one.location.valid() else ()
            for one in way.nodes
        ]
        for known, part in groupby(places, bool):
            line = np.array(list(part))
            if known and len(line) > 1:
                yield kind, line


def _shores(pbf: Path) -> Iterator[tuple[str, Line]]:
    """The borders of lakes, basins and wide rivers, and of the islands in them."""
    import shapely
    from osmium.filter import TagFilter
    from osmium.osm import Area

    wanted = TagFilter(("natural", "water"))
    for thing in objects(pbf, opened(pbf).with_areas(wanted).with_filter(wanted)):
        if isinstance(thing, Area):
            shape = polygons(thing)
            rings = () if shape is None else shapely.get_rings(shapely.get_parts(shape))
            for ring in rings:
                yield "water", shapely.get_coordinates(ring)[:, ::-1]


def _comes_into(line: Line, bbox: Box) -> bool:
    south, west = line.min(axis=0)
    north, east = line.max(axis=0)
    return bool(
        west <= bbox.east and east >= bbox.west and south <= bbox.north and north >= bbox.south
    )
