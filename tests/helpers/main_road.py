"""A town of one main road, for counts on its streets."""

from pathlib import Path

import numpy as np
from osm_xml import OsmFile

from trajanon.common.arrays import Floats

LAT, LON = 47.0, 9.5

NORTH, EAST = 1 / 111_177.0, 1 / 76_055.0  # degrees of a metre there


def at(x: Floats, y: Floats) -> Floats:
    return np.stack([LAT + np.asarray(y) * NORTH, LON + np.asarray(x) * EAST], axis=-1)


def town(folder: Path) -> Path:
    """A main road of 2 km in two ways, a one-way street to the north at 1 km, and one beyond it."""
    osm = OsmFile()
    main = osm.nodes(map(tuple, at(np.arange(0.0, 2_001.0, 100.0), np.zeros(21))))
    side = osm.nodes(map(tuple, at(np.full(5, 1_000.0), np.arange(100.0, 501.0, 100.0))))
    osm.way(main[:7], {"highway": "primary", "name": "Main Road"})
    osm.way(main[:5:-1], {"highway": "secondary"})
    osm.way([main[10], *side], {"highway": "residential", "oneway": "yes"})
    far = osm.nodes(map(tuple, at(np.array([0.0, 100.0]), np.full(2, 50_000.0))))
    osm.way(far, {"highway": "residential"})
    return osm.write(folder / "town.osm")


def east(begin: float, end: float, m: int = 10) -> Floats:
    """A way along the main road, from metre to metre."""
    return at(np.linspace(begin, end, m), np.full(m, 8.0))
