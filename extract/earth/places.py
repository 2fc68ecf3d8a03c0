"""Sensitive places of an OpenStreetMap file, and the zone around them."""

import logging
import os

import numpy as np
import shapely
from numpy.typing import NDArray
from osmium import osm
from osmium.filter import KeyFilter, TagFilter
from shapely.geometry.base import BaseGeometry

from trajanon.errors import BadInput
from trajanon.extract.earth.box import Box
from trajanon.extract.earth.osm_file import objects, polygons
from trajanon.extract.earth.zones import Zone, around

logger = logging.getLogger(__name__)

Tags = dict[str, set[str]]
"""Values by key; ``*`` is any."""

WIDEST = 100_000.0
"""Metres; the largest radius around places."""


def hidden(
    pbf: str | os.PathLike[str], tags: str, radius: float, bounds: Box | None = None
) -> Zone:
    """Find the zone around sensitive places.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    tags
        Which of its nodes and areas are sensitive, such as
        ``amenity=hospital,place_of_worship,healthcare=*``: a value without a key belongs to the key
        before it, and ``*`` is any value.
    radius
        Metres around them.
    bounds
        Where to look for them, and as far around as the radius; None for all the file.

    Returns
    -------
    Zone
        Empty, with a warning, if there is no such place in or near the bounds.

    Raises
    ------
    BadInput
        If the tags cannot be read, the file holds no such place at all, or the radius makes no
        sense.
    FileProblem
        If the file cannot be read.
    """
    wanted = _tags(tags)
    if not 0.0 < radius <= WIDEST:
        msg = f"`radius` must be a positive number of metres (got {radius}), at most {WIDEST:,.0f}"
        raise BadInput(msg)
    places = _places(pbf, wanted)
    if len(places) == 0:
        # A slip of the pen must not publish places that were meant to be hidden.
        msg = (
            f"{pbf} holds no places with the tags {tags}, so nothing would be hidden: "
            "look for the right tags at https://taginfo.openstreetmap.org"
        )
        raise BadInput(msg)
    surroundings = around(places, radius)
    if bounds is not None:
        surroundings = surroundings[shapely.intersects(surroundings, shapely.box(*bounds.sides))]
        if len(surroundings) == 0:
            logger.warning(
                "%s holds places with the tags %s, but none in or near the box %s: "
                "nothing is hidden",
                *(pbf, tags, bounds),
            )
    return Zone(surroundings)


def _tags(text: str) -> Tags:
    """Read a list of keys and values."""
    tags: Tags = {}
    key = ""
    for part in text.split(","):
        before, equals, value = part.rpartition("=")
        key, value = before.strip() if equals else key, value.strip()
        if not key or not value:
            msg = (
                f"{part.strip()!r} in the tags {text!r} is no key and value: write "
                "them like amenity=hospital,place_of_worship,healthcare=*"
            )
            raise BadInput(msg)
        tags.setdefault(key, set()).add(value)
    return tags


def _places(pbf: str | os.PathLike[str], wanted: Tags) -> NDArray[np.object_]:
    """The points and polygons of a file that have the tags, each once."""
    found: dict[tuple[str, int], BaseGeometry] = {}
    lost: set[tuple[str, int]] = set()  # also ways and relations that are areas, too
    keys = [key for key, values in wanted.items() if "*" in values]
    pairs = [(key, one) for key, some in wanted.items() for one in some - {"*"}]
    filters = [KeyFilter(*keys)] if keys else []
    for passing in [*filters, TagFilter(*pairs)] if pairs else filters:
        for thing in objects(pbf, passing, areas=passing):
            place, shape = (thing.type_str(), thing.id), None
            if isinstance(thing, osm.Node) and thing.location.valid():
                shape = shapely.Point(thing.location.lon, thing.location.lat)
            elif isinstance(thing, osm.Area):
                place = "w" if thing.from_way() else "r", thing.orig_id()
                shape = polygons(thing)
            if shape is None:
                lost.add(place)
            else:
                found[place] = shape
    lost -= found.keys()
    if lost:
        logger.warning(
            "%s: %d places are not hidden, as no area encloses them or a part of it is "
            "missing; a larger extract of OpenStreetMap may hold it",
            *(pbf, len(lost)),
        )
    shapes: NDArray[np.object_] = np.array(list(found.values()), dtype=np.object_)
    return shapes
