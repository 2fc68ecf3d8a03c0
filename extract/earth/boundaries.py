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

_Path = str | os.PathLike[str]


class _Boundary(NamedTuple):
    """A relation: its number, its names (the first is on the signs) and its level."""

    relation: int
    names: Sequence[str]
    level: str

    def __str__(self) -> str:
        return f"{self.names[0]}: level {self.level}, relation {self.relation}"


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
    BadInput
        If there is no such boundary, or more than one, or a part of it is missing.
    FileProblem
        If the file cannot be read.

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


def _boundaries(pbf: _Path) -> list[_Boundary]:
    """All administrative boundaries that enclose something, by their relations."""
    found = []
    closed = TagFilter(("type", "boundary"), ("type", "multipolygon"))
    for relation in objects(pbf, _ADMINISTRATIVE, closed, entities=osm.RELATION):
        tags = dict(relation.tags)
        names = [tags.get("name", f"relation {relation.id}")]
        for key, value in tags.items():
            if key in _NAMES or key.startswith("name:"):
                names.extend(part.strip() for part in value.split(";"))
        found.append(_Boundary(relation.id, names, tags.get("admin_level", "unknown")))
    return found


def _chosen(pbf: _Path, name: str) -> _Boundary:
    """The only boundary of a name, or a sentence about those of the file."""
    known, wanted = _boundaries(pbf), name.strip().casefold()
    if wanted.isdecimal():
        called = [one for one in known if one.relation == int(wanted)]
    else:  # those on the signs go first
        called = [one for one in known if wanted == one.names[0].casefold()]
        called = called or [one for one in known if wanted in map(str.casefold, one.names)]
    if len(called) == 1:
        return called[0]
    if called:
        raise BadInput(
            f"{len(called)} boundaries in {pbf} are called {name!r} ({'; '.join(map(str, called))})"
            f": give the number of a relation instead, such as {called[0].relation}"
        )
    by_name = {text.casefold(): text for one in known for text in one.names}
    near = get_close_matches(wanted, by_name, n=5, cutoff=0.7)
    names = sorted({one.names[0] for one in known})
    if near:
        way_out = f"did you mean {' or '.join(by_name[text] for text in near)}?"
    elif names:
        way_out = f"it holds {', '.join(names[:10])}"
        way_out += f" and {len(names) - 10} more" if len(names) > 10 else ""
    else:
        way_out = "it holds no administrative boundary at all"
    raise BadInput(f"{pbf} holds no boundary called {name!r}: {way_out}")
