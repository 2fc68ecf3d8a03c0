"""Sensitive places of an OpenStreetMap file, and the zone around them."""

import logging
import os
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray
from osmium import osm
from osmium.filter import KeyFilter, TagFilter
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput
from trajanon.extract.earth.area import AreaBorder, Box
from trajanon.extract.earth.osm_file import objects, polygons
from trajanon.geodesy import SHORT_DEGREE, radii
from trajanon.number_text import number_of

logger = logging.getLogger(__name__)

Tags = dict[str, set[str]]  # values by key; * is any

WIDEST = 100_000.0  # metres; the largest radius around places
_MARGIN = 0.01  # metres by which everything is wider, against rounding
_POLE = 90.0 - 1e-6  # degrees; about a pole all longitudes are near one another
_QUARTER = 16  # corners of a quarter of a circle

# A polygon with a radius larger by this factor, 0.3 %, holds the circle. GEOS rounds the
# number of corners of an arc: two may be half as far again apart.
_ROUND = 1.0 / np.cos(1.5 * np.pi / (4 * _QUARTER))


class Zone:
    """The surroundings of some places, united.

    Parameters
    ----------
    surroundings
        Polygons, as `around` draws them, shape (places,).

    Attributes
    ----------
    places
        Their number.

    Examples
    --------
    Two points west and east of a square. The way from one to the other goes through it:

    >>> import numpy as np
    >>> import shapely
    >>> from trajanon.extract import Zone
    >>> zone = Zone(np.array([shapely.box(2.0, 41.0, 2.1, 41.1)]))
    >>> zone.places
    1
    >>> lat, lon = np.array([41.05, 41.05]), np.array([1.95, 2.15])
    >>> zone.contains(lat, lon).tolist(), zone.meets(lat, lon, start=np.array([0])).tolist()
    ([False, False], [True])
    """

    def __init__(self, surroundings: NDArray[np.object_]) -> None:
        self.places = len(surroundings)
        shape = shapely.union_all(surroundings)
        self._parts = shapely.get_parts(shape)
        self._tree = shapely.STRtree(self._parts)
        self._border = AreaBorder(shape)

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points (degrees) lie inside, shape (n,)."""
        shapely.prepare(self._parts)
        point, part = self._tree.query(shapely.points(lon, lat))
        met = shapely.intersects_xy(self._parts[part], lon[point], lat[point])
        inside = np.zeros(len(lat), dtype=np.bool_)
        inside[point[met]] = True
        return inside

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways, from a point at start to the next, may come into the zone."""
        return self._border.meets(lat, lon, start)


def around(places: NDArray[np.object_], radius: float) -> NDArray[np.object_]:
    """Draw a polygon around each place that holds everything within a radius in metres.

    Each is drawn on a plane of its own, on which no way is longer than on Earth, because a degree
    has as many metres as where it is shortest. So the polygon leaves out nothing nearer.
    """
    scale = _metres_a_degree(shapely.bounds(places), radius)
    flat = _stretched(places, np.multiply, scale)
    wide = shapely.buffer(flat, _ROUND * radius + _MARGIN, quad_segs=_QUARTER)
    return _on_earth(_stretched(wide, np.divide, scale))


def _stretched(shapes: NDArray[np.object_], times: np.ufunc, scale: Floats) -> NDArray[np.object_]:
    """Multiply or divide the longitudes and latitudes of each shape."""
    corners, which = shapely.get_coordinates(shapes, return_index=True)
    moved: NDArray[np.object_] = shapely.set_coordinates(
        shapes.copy(), times(corners, scale[which])
    )
    return moved


def _metres_a_degree(bounds: Floats, radius: float) -> Floats:
    """Metres of a degree of longitude and of latitude, each where it is shortest."""
    south, north = bounds[:, 1], bounds[:, 3]
    wider = radius / SHORT_DEGREE
    high = np.maximum(np.abs(south), np.abs(north)) + wider
    low = np.where(south * north < 0, 0.0, np.minimum(np.abs(south), np.abs(north)))
    high = np.radians(np.minimum(high, _POLE))
    low = np.radians(np.maximum(low - wider, 0.0))
    return np.radians(np.stack([radii(high)[1], radii(low)[0]], axis=1))


def _on_earth(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Add, on the other side, the parts that reach over the antimeridian."""
    west, _, east, _ = shapely.bounds(shapes).T
    for over, turn in ((west < -180, 360.0), (east > 180, -360.0)):
        moved = shapely.transform(shapes[over], partial(np.add, [turn, 0.0]))
        shapes[over] = shapely.union(shapes[over], moved)
    return shapes


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
    wanted = _tags(tags)
    if not 0.0 < radius <= WIDEST:
        raise BadInput(
            f"`radius` must be a positive number of metres (got {radius}), at most {WIDEST:,.0f}"
        )
    places = _places(pbf, wanted)
    if len(places) == 0:
        # A slip of the pen must not publish places that were meant to be hidden.
        raise BadInput(
            f"{pbf} holds no places with the tags {tags}, so nothing would be hidden: "
            "look for the right tags at https://taginfo.openstreetmap.org"
        )
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
    tags: Tags = {}
    key = ""
    for part in text.split(","):
        before, equals, value = part.rpartition("=")
        key, value = before.strip() if equals else key, value.strip()
        if not key or not value:
            raise BadInput(
                f"{part.strip()!r} in the tags {text!r} is no key and value: write "
                "them like amenity=hospital,place_of_worship,healthcare=*"
            )
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
            "%s: %s not hidden, as the area around is missing or not whole; a larger extract of "
            "OpenStreetMap may hold it",
            *(pbf, number_of(len(lost), "place is", "places are")),
        )
    return np.array(list(found.values()), dtype=np.object_)
