"""Boundaries of towns, districts and countries in an OpenStreetMap file, by name."""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from osmium import osm
from osmium.filter import EntityFilter, IdFilter, TagFilter

from trajanon.errors import BadInput
from trajanon.extract.earth.area import Region
from trajanon.extract.earth.osm_file import objects, polygons

_NAMES = ("alt_name", "official_name", "short_name", "int_name")
"""Keys of names besides ``name`` and ``name:en``, ``name:de`` and so on."""

_ADMINISTRATIVE = TagFilter(("boundary", "administrative"))


class _Boundary(NamedTuple):
    """A relation: its number, its names (the first is on the signs) and its level."""

    relation: int
    names: Sequence[str]
    level: str


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
    relation, (known_as, *_), _ = _chosen(pbf, name)
    area = EntityFilter(osm.AREA)
    for found in objects(pbf, area, _ADMINISTRATIVE, areas=IdFilter([relation])):
        # A closed way is an area as well, and may have the relation's number.
        if isinstance(found, osm.Area) and not found.from_way() and found.orig_id() == relation:
            shape = polygons(found)
            if shape is not None:
                return Region(shape, f"{known_as} (relation {relation})")
    raise BadInput(
        f"the boundary of {known_as} (relation {relation}) is incomplete in {pbf}: some of its "
        "lines are missing or do not close; take a larger extract of OpenStreetMap, or give four "
        "degrees W,S,E,N"
    )


def _chosen(pbf: str | os.PathLike[str], name: str) -> _Boundary:
    """The only boundary of a name, or a sentence about those of the file."""
    known, closed = [], TagFilter(("type", "boundary"), ("type", "multipolygon"))
    for relation in objects(pbf, _ADMINISTRATIVE, closed, entities=osm.RELATION):
        tags = dict(relation.tags)
        names = [tags.get("name", f"relation {relation.id}")]
        for key, value in tags.items():
            if key in _NAMES or key.startswith("name:"):
                names.extend(part.strip() for part in value.split(";"))
        known.append(_Boundary(relation.id, names, tags.get("admin_level", "unknown")))
    wanted = name.strip().casefold()
    called = [
        one
        for one in known
        if wanted == str(one.relation) or wanted in map(str.casefold, one.names)
    ]
    # Names on the signs go first.
    local = [one for one in called if wanted == one.names[0].casefold()] or called
    if len(local) == 1:
        return local[0]
    if local:
        each = "; ".join(
            f"{one.names[0]}: level {one.level}, relation {one.relation}" for one in local
        )
        raise BadInput(
            f"{len(local)} boundaries in {pbf} are called {name!r} ({each}): give the number of a "
            f"relation instead, such as {local[0].relation}"
        )
    by_name = {text.casefold(): text for one in known for text in one.names}
    near = [by_name[text] for text in get_close_matches(wanted, by_name, n=5, cutoff=0.7)]
    some = ", ".join(near or sorted({one.names[0] for one in known})[:10])
    holds = f"among those it holds are {some}" if some else "it holds none"
    raise BadInput(f"{pbf} holds no boundary called {name!r}: {holds}")
