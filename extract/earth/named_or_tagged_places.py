"""Places to hide: by tags of OpenStreetMap, by two degrees, or by a file of shapes."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray
from osmium import BaseFilter, osm
from osmium.filter import KeyFilter, TagFilter
from shapely.geometry.base import BaseGeometry

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TrajanonWarning, warn
from trajanon.common.number_text import number_of
from trajanon.extract.earth.area import Box, Region, around, is_file, read_geometries
from trajanon.extract.earth.osm_file_objects import objects, polygons
from trajanon.trajectories.geodesy import metres_between

WIDEST = 100_000.0  # metres; the largest radius around places

_Shapes = NDArray[np.object_]  # of shapely, in degrees, x the longitude


def hidden(
    pbf: str | os.PathLike[str], tags: str, radius: float, bounds: Box | None = None
) -> Region | None:
    """Find the zone around sensitive places.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    tags
        Which of its nodes and areas are sensitive, such as
        ``amenity=hospital,place_of_worship,healthcare=*``: a value without a key belongs to the key
        before it, and ``*`` is any value. A warning counts lines with these tags: they stay.
    radius
        Metres around them.
    bounds
        Where to look for them, and as far around as the radius; None for all the file.

    Returns
    -------
    Region or None
        None, with a warning, if there is no such place in or near the bounds.

    Raises
    ------
    BadInput, FileProblem
        If the tags cannot be read, the file holds no such place at all, or the radius makes no
        sense.

    Examples
    --------
    Points 56 and 167 m south of a hospital. Real files end in ``.osm.pbf``; this one is OPL, a text
    format of OpenStreetMap:

    >>> from pathlib import Path
    >>> import numpy as np
    >>> from trajanon.extract import hidden
    >>> _ = Path("town.opl").write_text("n1 x2.0 y41.0 Tamenity=hospital")
    >>> zone = hidden("town.opl", "amenity=hospital,clinic", radius=100)
    >>> zone.contains(lat=np.array([40.9995, 40.9985]), lon=np.array([2.0, 2.0])).tolist()
    [True, False]
    """
    if not 0.0 < radius <= WIDEST:
        raise BadInput(
            f"`radius` must be a positive number of metres (got {radius}), at most {WIDEST:,.0f}"
        )

    places = _tagged_places(pbf, tags)
    if len(places) == 0:
        # A slip of the pen must not publish places that were meant to be hidden.
        raise BadInput(
            f"{pbf} holds no places with the tags {tags} to hide: look for the right tags at "
            "https://taginfo.openstreetmap.org"
        )

    zones = around(places, radius)
    if bounds is not None:
        zones = zones[shapely.intersects(zones, shapely.box(*bounds.sides))]
    if len(zones) == 0:
        problem = f"{pbf} holds places with the tags {tags}, but none in or near the box {bounds}"
        warn(TrajanonWarning(f"{problem}: nothing is hidden", "hidden places", str(pbf)))
        return None
    return Region(shapely.union_all(zones), f"places with {tags}")


def _tagged_places(pbf: str | os.PathLike[str], tags: str) -> _Shapes:
    """Return the points and polygons of a file that have the tags, each once."""
    # By kind (n, w or r) and number in OpenStreetMap; None as long as its shape is not known.
    shapes: dict[tuple[str, int], BaseGeometry | None] = {}
    for has_tags in _filters(tags):
        for thing in objects(pbf, has_tags, areas=has_tags):
            # A way or relation comes as itself, without a shape, and again as an area.
            place = thing.type_str(), thing.id
            shape = None
            if isinstance(thing, osm.Node) and thing.location.valid():
                shape = shapely.Point(thing.location.lon, thing.location.lat)
            elif isinstance(thing, osm.Area):
                place = "w" if thing.from_way() else "r", thing.orig_id()
                shape = polygons(thing)
            shapes[place] = shape or shapes.get(place)

    places = [shape for shape in shapes.values() if shape is not None]
    if lacking := len(shapes) - len(places):
        number = number_of(lacking, "place is", "places are")
        why = "as only points and whole areas are; a larger extract may hold all of an area"
        warn(TrajanonWarning(f"{pbf}: {number} not hidden, {why}", "hidden places", str(pbf)))
    return np.array(places, dtype=np.object_)


def _filters(tags: str) -> list[BaseFilter]:
    """Read tags as filters: things that pass one of them are sensitive."""
    keys_alone = list[str]()
    keys_with_value = list[tuple[str, str]]()
    key = ""
    for part in tags.split(","):
        key_before, equals, value = (word.strip() for word in part.rpartition("="))
        # A value without a key belongs to the key before it.
        key = key_before if equals else key
        if not key or not value:
            way_out = "write them like amenity=hospital,place_of_worship,healthcare=*"
            raise BadInput(
                f"{part.strip()!r} in the tags {tags!r} is not a key and a value: {way_out}"
            )
        if value == "*":
            keys_alone.append(key)
        else:
            keys_with_value.append((key, value))

    filters = list[BaseFilter]()
    if keys_alone:
        filters.append(KeyFilter(*keys_alone))
    if keys_with_value:
        filters.append(TagFilter(*keys_with_value))
    return filters


def is_place(text: str) -> bool:
    """Return whether a text names a place, and no tags: two numbers, or a file."""
    return _latitude_and_longitude(text) is not None or is_file(text)


def zone_around(text: str, radius: float) -> Region:
    """Return all within a radius in metres of places that somebody names.

    Raises
    ------
    BadInput, FileProblem
        If the text is no latitude and longitude, nor a file with places on Earth.
    """
    return Region(shapely.union_all(around(_named_places(text), radius)), "the places named")


def middles_of_places(texts: Sequence[str], width: float) -> Floats:
    """Return latitude and longitude of the middles of named places, shape (n, 2).

    >>> middles_of_places(["41.38,2.17"], 100.0).tolist()
    [[41.38, 2.17]]

    Raises
    ------
    BadInput, FileProblem
        If a place is wider than ``width`` metres, as a circle around its middle would not hide it;
        or as of `zone_around`.
    """
    middles = [np.empty((0, 2))]
    for text in texts:
        west, south, east, north = shapely.bounds(_named_places(text)).T
        widest = metres_between(south, west, north, east).max()
        if widest > width:
            raise BadInput(
                f"a place in {text} is {widest:,.0f} m wide, and places to hide are at most "
                f"{width:,.0f} m: name several points in it"
            )
        middles.append(np.column_stack([south + north, west + east]) / 2.0)
    return np.concatenate(middles)


def _named_places(text: str) -> _Shapes:
    """Read two degrees, or the shapes of a file."""
    if (degrees := _latitude_and_longitude(text)) is not None:
        shapes = np.array([shapely.Point(degrees[::-1])])
    elif is_file(text):
        shapes = read_geometries(Path(text))
    else:
        raise BadInput(
            f"{text!r} is not a place: write a latitude and a longitude such as 41.38,2.17, or "
            "name a file of points"
        )

    # NaN is within no bounds: a place there would hide nothing.
    is_on_earth = np.abs(shapely.bounds(shapes)) <= (180.0, 90.0, 180.0, 90.0)
    if not len(shapes) or not is_on_earth.all():
        raise BadInput(
            f"{text} holds no places on Earth: write latitude, then longitude, in degrees (WGS 84)"
        )
    return shapes


def _latitude_and_longitude(text: str) -> tuple[float, float] | None:
    """Read two degrees with a comma between; None if the text is something else."""
    try:
        lat, lon = map(float, text.split(","))
    except ValueError:
        return None
    return lat, lon
