"""Administrative boundaries of an OpenStreetMap file, by their names."""

import os
from difflib import get_close_matches
from typing import NamedTuple

from osmium import osm
from osmium.filter import EntityFilter, IdFilter, TagFilter

from trajanon.common.errors import BadInput
from trajanon.extract.earth.area import Region
from trajanon.extract.earth.osm_file_objects import objects, polygons

# Tags with names of a thing, besides name, name:en, ...
_NAME_TAGS = ("alt_name", "official_name", "short_name", "int_name")

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
    relation, local_name, _ = _only_boundary(pbf, name)
    name_and_number = f"{local_name} (relation {relation})"
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


def _only_boundary(pbf: str | os.PathLike[str], name: str) -> _Boundary:
    """Find the only boundary of a name; refuse a name of none, or of several."""
    has_polygons = TagFilter(("type", "boundary"), ("type", "multipolygon"))
    wanted = name.strip().casefold()
    local_names = set[str]()
    names_in_file = dict[str, str]()  # as they are written, by themselves in lower case
    boundaries = list[_Boundary]()  # of the wanted name, in any language
    for relation in objects(pbf, _ADMINISTRATIVE, has_polygons, entities=osm.RELATION):
        tags = dict(relation.tags)
        local_name = tags.get("name", f"relation {relation.id}")
        names = [local_name]
        for key, value in tags.items():
            if key in _NAME_TAGS or key.startswith("name:"):
                # A part may be empty, as after a ; at the end: no name is.
                names.extend(filter(None, map(str.strip, value.split(";"))))

        local_names.add(local_name)
        in_lower_case = {text.casefold(): text for text in names}
        names_in_file |= in_lower_case
        if wanted in (str(relation.id), *in_lower_case):
            level = tags.get("admin_level", "unknown")
            boundaries.append(_Boundary(relation.id, local_name, level))

    # The name on the signs goes before those in other languages.
    by_local_name = [place for place in boundaries if wanted == place.name.casefold()]
    boundaries = by_local_name or boundaries
    if len(boundaries) == 1:
        return boundaries[0]
    if boundaries:
        listed = "; ".join(f"{name}: level {level}, relation {n}" for n, name, level in boundaries)
        raise BadInput(
            f"{len(boundaries)} boundaries in {pbf} are called {name!r} ({listed}): give the "
            f"number of a relation instead, such as {boundaries[0].relation}"
        )
    alike = get_close_matches(wanted, names_in_file, n=5, cutoff=0.7)
    examples = ", ".join([names_in_file[text] for text in alike] or sorted(local_names)[:10])
    holds = f"among those it holds are {examples}" if examples else "it holds none"
    raise BadInput(f"{pbf} holds no boundary called {name!r}: {holds}")
