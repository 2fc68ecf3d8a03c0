"""Objects of an OpenStreetMap file: boundaries by name, and zones around sensitive places."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np
import osmium
import shapely
from numpy.typing import NDArray
from osmium import BaseFilter, osm
from osmium.filter import EntityFilter, IdFilter, KeyFilter, TagFilter
from osmium.geom import WKBFactory
from osmium.osm.types import OSMEntity
from shapely.geometry.base import BaseGeometry

from trajanon.common.errors import BadInput, FileProblem, TrajanonWarning, warn
from trajanon.common.inputs import regular
from trajanon.common.number_text import number_of
from trajanon.extract.earth.area import Box, Region, around


def objects(
    pbf: str | os.PathLike[str],
    *filters: BaseFilter,
    entities: "osm.osm_entity_bits" = osm.ALL,
    locations: bool = False,
    areas: BaseFilter | None = None,
) -> Iterator[OSMEntity]:
    """Yield what passes all filters, valid until the next; areas are made of ways in theirs."""
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
        for passing in filters:
            processor.with_filter(passing)
        for thing in processor:
            dict(thing.tags)  # here fails what is no UTF-8, not where a tag is read
            yield thing
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        what = f"{pbf} as OpenStreetMap data (.osm.pbf)"
        raise FileProblem(f"cannot read {what}: {str(error).rstrip('.')}") from error


def polygons(area: osm.Area) -> BaseGeometry | None:
    """Return the polygons of an area; None if its lines do not close."""
    try:
        return shapely.from_wkb(WKBFactory().create_multipolygon(area))
    except RuntimeError:
        return None


_NAMES = ("alt_name", "official_name", "short_name", "int_name")  # keys besides name, name:en, ...

_ADMINISTRATIVE = TagFilter(("boundary", "administrative"))


def boundary(pbf: str | os.PathLike[str], name: str) -> Region:
    r"""Find the boundary of a town, a district or a country.

    Parameters
    ----------
    pbf
        An OpenStreetMap file that holds the whole of the boundary.
    name
        The name of an administrative boundary, in upper or lower case and in any language of the
        file, or the number of its relation. Local names go first.

    Raises
    ------
    BadInput, FileProblem
        If there is no such boundary, or more than one, or a part of it is missing.

    Examples
    --------
    The boundary of Vila is a way around a square. Real files end in ``.osm.pbf``; this one is OPL,
    a text format of OpenStreetMap:

    >>> from pathlib import Path
    >>> from trajanon.extract import boundary
    >>> nodes = ["n1 x2.0 y41.0", "n2 x2.1 y41.0", "n3 x2.1 y41.1", "n4 x2.0 y41.1"]
    >>> tags = "type=boundary,boundary=administrative,name=Vila,admin_level=8"
    >>> rest = ["w1 Nn1,n2,n3,n4,n1", f"r7 T{tags} Mw1@outer"]
    >>> _ = Path("town.opl").write_text("\n".join(nodes + rest))
    >>> town = boundary("town.opl", "vila")
    >>> print(town, town.bounds, sep=": ")
    Vila (relation 7): 2,41,2.1,41.1
    """
    relation, known_as, _ = _chosen(pbf, name)
    name_and_number = f"{known_as} (relation {relation})"
    areas = objects(pbf, EntityFilter(osm.AREA), _ADMINISTRATIVE, areas=IdFilter([relation]))
    for area in areas:
        # A closed way is an area as well, and may have the relation's number.
        if isinstance(area, osm.Area) and not area.from_way() and area.orig_id() == relation:
            shape = polygons(area)
            if shape is not None:
                return Region(shape, name_and_number)
    raise BadInput(
        f"the boundary of {name_and_number} is incomplete in {pbf}: take a larger extract of "
        "OpenStreetMap, or give four degrees W,S,E,N"
    )


class _Boundary(NamedTuple):
    """A boundary in a file: the number of its relation, its local name, and its level."""

    relation: int
    name: str
    level: str


def _chosen(pbf: str | os.PathLike[str], name: str) -> _Boundary:
    """Find the only boundary of a name; refuse a name of none, or of several."""
    closed = TagFilter(("type", "boundary"), ("type", "multipolygon"))
    wanted = name.strip().casefold()
    local_names = set[str]()
    by_name = dict[str, str]()
    called = list[_Boundary]()
    for relation in objects(pbf, _ADMINISTRATIVE, closed, entities=osm.RELATION):
        tags = dict(relation.tags)
        local_name = tags.get("name", f"relation {relation.id}")
        names = [local_name]
        for key, value in tags.items():
            if key in _NAMES or key.startswith("name:"):
                names.extend(part.strip() for part in value.split(";"))

        local_names.add(local_name)
        without_case = {text.casefold(): text for text in names}
        by_name |= without_case
        if wanted in (str(relation.id), *without_case):
            called.append(_Boundary(relation.id, local_name, tags.get("admin_level", "unknown")))

    # The name on the signs goes before those in other languages.
    found = [boundary for boundary in called if wanted == boundary.name.casefold()] or called
    if len(found) == 1:
        return found[0]
    if found:
        listed = "; ".join(f"{name}: level {level}, relation {n}" for n, name, level in found)
        raise BadInput(
            f"{len(found)} boundaries in {pbf} are called {name!r} ({listed}): give the number of "
            f"a relation instead, such as {found[0].relation}"
        )
    near = [by_name[text] for text in get_close_matches(wanted, by_name, n=5, cutoff=0.7)]
    examples = ", ".join(near or sorted(local_names)[:10])
    holds = f"among those it holds are {examples}" if examples else "it holds none"
    raise BadInput(f"{pbf} holds no boundary called {name!r}: {holds}")


WIDEST = 100_000.0  # metres; the largest radius around places


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
        before it, and ``*`` is any value.
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

    places = _places(pbf, tags)
    if len(places) == 0:
        # A slip of the pen must not publish places that were meant to be hidden.
        raise BadInput(
            f"{pbf} holds no places with the tags {tags} to hide: look for the right tags at "
            "https://taginfo.openstreetmap.org"
        )

    shapes = around(places, radius)
    if bounds is not None:
        shapes = shapes[shapely.intersects(shapes, shapely.box(*bounds.sides))]
    if len(shapes) == 0:
        problem = f"{pbf} holds places with the tags {tags}, but none in or near the box {bounds}"
        warn(TrajanonWarning(f"{problem}: nothing is hidden", "hidden places", str(pbf)))
        return None
    return Region(shapely.union_all(shapes), f"places with {tags}")


def _places(pbf: str | os.PathLike[str], tags: str) -> NDArray[np.object_]:
    """Return the points and polygons of a file that have the tags, each once."""
    shapes: dict[tuple[str, int], BaseGeometry | None] = {}
    for passing in _filters(tags):
        for thing in objects(pbf, passing, areas=passing):
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
        why = "as the area around is not whole; a larger extract may hold it"
        warn(TrajanonWarning(f"{pbf}: {number} not hidden, {why}", "hidden places", str(pbf)))
    return np.array(places, dtype=np.object_)


def _filters(tags: str) -> list[BaseFilter]:
    """Read tags as filters: things that pass one of them are sensitive."""
    keys, pairs, key = list[str](), list[tuple[str, str]](), ""
    for part in tags.split(","):
        before, equals, value = part.rpartition("=")
        key, value = before.strip() if equals else key, value.strip()
        if not key or not value:
            way_out = "write them like amenity=hospital,place_of_worship,healthcare=*"
            raise BadInput(
                f"{part.strip()!r} in the tags {tags!r} is not a key and a value: {way_out}"
            )
        if value == "*":
            keys.append(key)
        else:
            pairs.append((key, value))
    return [*([KeyFilter(*keys)] if keys else []), *([TagFilter(*pairs)] if pairs else [])]
