"""Read the objects of an OpenStreetMap file one after the other, and the polygons of its areas."""

import os
from collections.abc import Iterator
from pathlib import Path

import osmium
import shapely
from osmium import BaseFilter, osm
from osmium.geom import WKBFactory
from osmium.osm.types import OSMEntity
from shapely.geometry.base import BaseGeometry

from trajanon.common.errors import FileProblem
from trajanon.common.json_toml_and_regular_files import regular


def objects(
    pbf: str | os.PathLike[str],
    *filters: BaseFilter,
    entities: "osm.osm_entity_bits" = osm.ALL,
    locations: bool = False,
    areas: BaseFilter | None = None,
) -> Iterator[OSMEntity]:
    """Yield the objects that pass all filters; each is valid until the next one.

    ``entities`` are the kinds that are read. ``locations`` adds their places to the nodes of ways.
    With ``areas``, closed ways and relations that pass this filter come as areas, too.
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
        for passing in filters:
            processor.with_filter(passing)
        for thing in processor:
            dict(thing.tags)  # here fails what is no UTF-8, not where a tag is read
            yield thing
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        reason = str(error).rstrip(".")
        raise FileProblem(
            f"cannot read {pbf} as OpenStreetMap data (.osm.pbf): {reason}"
        ) from error


def polygons(area: osm.Area) -> BaseGeometry | None:
    """Return the polygons of an area; None if its lines do not close."""
    try:
        return shapely.from_wkb(WKBFactory().create_multipolygon(area))
    except RuntimeError:
        return None
