"""Areas and hidden places, as options of the command line name them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trajanon.errors import BadInput
from trajanon.extract.earth.areas import areas
from trajanon.extract.earth.boundaries import boundary
from trajanon.extract.earth.box import Area, Box
from trajanon.extract.earth.places import hidden
from trajanon.extract.earth.regions import read_outline
from trajanon.extract.earth.zones import Zone
from trajanon.trajectories import Trajectories

RADIUS = 150.0
"""Metres that are cut out around sensitive places, if nobody says more or less."""


def place(
    bbox: Sequence[str], area: str | None, pbf: Path | None, admin_level: int | None
) -> tuple[Area | None, float | None]:
    """Read where trajectories may lie."""
    if area is None:
        if admin_level is not None:
            msg = f"--admin-level {admin_level} needs --area NAME and --pbf FILE.osm.pbf"
            raise BadInput(msg)
        return areas(bbox) if bbox else (None, None)
    if bbox:
        msg = f"--bbox {bbox[0]} and --area {area} are two areas: give one of them"
        raise BadInput(msg)
    if Path(area).is_file():
        return read_outline(Path(area)), None
    if pbf is None:
        msg = (
            f"--area {area} is no file, and a boundary by name needs a file that holds "
            "it: add --pbf FILE.osm.pbf"
        )
        raise BadInput(msg)
    return boundary(pbf, area, admin_level=admin_level), None


def out_of_sight(
    tags: str | None, radius: float | None, pbf: Path | None, where: Area | None
) -> Zone | None:
    """Read what shall be cut out around sensitive places; None for nothing."""
    if tags is None:
        if radius is not None:
            # Whoever forgot what it is around must not publish it.
            msg = f"--radius {radius:g} needs to know around what: add --hide-near TAGS"
            raise BadInput(msg)
        return None
    if pbf is None:
        msg = f"--hide-near {tags} needs a file that holds such places: add --pbf FILE.osm.pbf"
        raise BadInput(msg)
    bounds = None if where is None else where.bounds
    return hidden(pbf, tags, RADIUS if radius is None else radius, bounds)


def box_around(shown: Trajectories, margin: float, share: float = 0.0) -> Box:
    """Give the box of trajectories, wider by degrees and by a share of its sides."""
    low, high = shown.points.min(axis=(0, 1)), shown.points.max(axis=(0, 1))
    wider = margin + share * float((high - low).sum())
    south, west = np.maximum(low - wider, (-90.0, -180.0)).tolist()
    north, east = np.minimum(high + wider, (90.0, 180.0)).tolist()
    return Box(west, south, east, north)
