"""Roads of an OpenStreetMap file: a network for one mode of travel, or lines to be drawn."""

import os
from math import inf

import numpy as np
from osmium import osm
from osmium.filter import EntityFilter, KeyFilter

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import table_beside
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.osm_file_objects import objects
from trajanon.release.matched_to_roads import KEEP_OFF, OsmStreets, RoadsToFollow, streets_of

MODES = ("car", "bicycle", "foot", "any")

_KINDS = {row["kind"]: row for row in table_beside(__file__, "road_kinds.csv")}
"""Rows of the table beside this module, by the value of `highway`.

For each mode yes, no, or signed: then another tag must allow it. `cost_per_metre` is how many
metres one metre of such a road counts for, where a way is chosen for a car. `drawn` is the rank on
maps: 1 for main roads, which are drawn first, and empty for roads that are never drawn.
"""

# Tags that may allow or forbid a mode, the most exact first. The first tag that a road has holds.
_ACCESS_TAGS: dict[str, tuple[str, ...]] = {
    "car": ("motorcar", "motor_vehicle", "vehicle", "access"),
    "bicycle": ("bicycle", "vehicle", "access"),
    "foot": ("foot", "access"),
    "any": (),
}

# Seconds that the router OSRM adds at a node, from its lib/obstacles.lua.
_WAITS = {"traffic_signals": 2.0, "stop": 2.0, "give_way": 1.0}

MOST_POINTS_DRAWN = 20_000
"""Points of roads on a map at most: some 300 kB of a page."""

# Values of tags: of access that is forbidden, and of a one-way street against its drawn direction.
_FORBIDDEN = {"no", "private"}
_ONLY_BACK = {"-1", "reverse"}


def roads_to_follow(
    pbf: str | os.PathLike[str],
    mode: str = "any",
    keep_off: float = KEEP_OFF,
    bbox: Box | None = None,
) -> RoadsToFollow:
    r"""Read the roads that a mode of travel may take, and in which directions.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    mode
        car, bicycle, foot or any. Cars and bicycles obey one-way streets; foot and any take every
        road in both directions.
    keep_off
        Metres; a line with a point farther than this from all roads stays as it is.
    bbox
        Read only the roads with a point in this box; None for all.

    Returns
    -------
    RoadsToFollow
        For `trajanon.anonymize` and `trajanon.streets`.

    Raises
    ------
    BadInput, FileProblem
        If the mode is not known, there are no such roads, or the metres are not positive.

    Examples
    --------
    Two people go along a street, 22 and 44 m north of it. Their mean is laid on the street. Real
    files end in ``.osm.pbf``; this one is OPL, a text format of OpenStreetMap:

    >>> from pathlib import Path
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon.extract import roads_to_follow
    >>> street = ["n1 x2.0 y41.0", "n2 x2.1 y41.0", "w1 Thighway=residential Nn1,n2"]
    >>> _ = Path("town.opl").write_text("\n".join(street))
    >>> roads = roads_to_follow("town.opl", "car")
    >>> points = np.array([[[lat, 2.02], [lat, 2.08]] for lat in (41.0002, 41.0004)])
    >>> trajectories = trajanon.Trajectories(points)
    >>> release = trajanon.anonymize(trajectories, k=2, roads=roads)
    >>> release.trajectories.points[0].round(3).tolist()
    [[41.0, 2.02], [41.0, 2.08]]
    """
    if mode not in MODES:
        raise BadInput(f"`mode` {mode!r} is not known; choose from {', '.join(MODES)}")
    if not 0.0 < keep_off < inf:
        raise BadInput(f"`keep_off` must be a positive number of metres (got {keep_off:g})")

    node_numbers: dict[int, int] = {}  # by id, in the order of `places`
    places: list[tuple[float, float]] = []  # latitude and longitude of each node
    segments: list[tuple[int, int, int, float]] = []  # tail, head, way, cost per metre
    passable: list[tuple[bool, bool]] = []  # whether from tail to head, and from head to tail
    tags: dict[int, tuple[str, str]] = {}  # kind and name of each way
    waits: dict[int, float] = {}  # seconds, by the id of each node with a `highway` tag
    nodes_and_ways = EntityFilter(osm.NODE | osm.WAY)
    for thing in objects(pbf, nodes_and_ways, KeyFilter("highway"), locations=True):
        if isinstance(thing, osm.Node):
            waits[thing.id] = _seconds_at(thing.tags)
            continue

        assert isinstance(thing, osm.Way)
        directions = _directions(thing.tags, mode)
        in_box = bbox is None or bbox.contains(*_places_of(thing).T).any()
        if not (any(directions) and in_box):
            continue

        # Cars prefer main roads; other modes take the shortest way.
        kind = thing.tags["highway"]
        cost_per_metre = float(_KINDS[kind]["cost_per_metre"]) if mode == "car" else 1.0
        tags[thing.id] = (kind, thing.tags.get("name") or "")

        tail = -1
        for node in thing.nodes:
            head = -1  # an extract may lack the places of nodes beyond its border
            if node.location.valid():
                # A node that is new gets the next number.
                head = node_numbers.setdefault(node.ref, len(places))
                if head == len(places):
                    places.append((node.lat, node.lon))

            if tail >= 0 and head >= 0 and head != tail:
                segments.append((tail, head, thing.id, cost_per_metre))
                passable.append(directions)
            tail = head

    if not segments:
        region = "" if bbox is None else " in the area of the lines: take the file of their region"
        raise BadInput(f"{pbf} holds no roads for {mode}{region}")

    lat, lon = np.array(places).T
    tails, heads, ways, costs_per_metre = map(np.array, zip(*segments, strict=True))
    network, order = streets_of(lat, lon, tails, heads, np.array(passable), costs_per_metre)

    # The network has its segments in another order than they were read.
    seconds = np.array([waits.get(node, 0.0) for node in node_numbers])
    in_osm = OsmStreets(np.array(list(node_numbers)), ways[order], tags, seconds)
    return RoadsToFollow(network, keep_off, in_osm)


def _places_of(way: osm.Way) -> Floats:
    """Return latitude and longitude of the nodes of a way that have a place, shape (n, 2)."""
    places = [(node.lat, node.lon) for node in way.nodes if node.location.valid()]
    return np.array(places).reshape(-1, 2)


def _seconds_at(tags: osm.TagList) -> float:
    """Return the seconds that a router adds at a node.

    Signals and signs for one direction alone are few, and count nothing.
    """
    for_one_direction = {"forward", "backward"} & {
        tags.get("direction"),
        tags.get("traffic_signals:direction"),
    }
    return 0.0 if for_one_direction else _WAITS.get(tags["highway"], 0.0)


def _directions(tags: osm.TagList, mode: str) -> tuple[bool, bool]:
    """Return whether a mode may go along a way as it is drawn, and whether back."""
    # Kinds that are not in the table are for no mode. "any" has no column: it takes all that are.
    for_no_mode = dict.fromkeys(MODES, "no")
    kind = tags.get("highway")
    allowed = _KINDS.get(kind or "", for_no_mode).get(mode, "yes")
    if allowed == "no" or tags.get("area") == "yes":
        return False, False

    access = next((tags.get(tag) for tag in _ACCESS_TAGS[mode] if tag in tags), None)
    if access in _FORBIDDEN or (allowed == "signed" and access is None):
        return False, False

    if mode in ("foot", "any"):
        return True, True

    oneway = tags.get("oneway")
    if mode == "bicycle":
        oneway = tags.get("oneway:bicycle", oneway)
    if oneway in _ONLY_BACK:
        return False, True

    # Roundabouts and motorways are one-way, unless a tag says that they are not.
    implied = kind == "motorway" or tags.get("junction") in ("roundabout", "circular")
    return True, not (oneway in ("yes", "true", "1") or (implied and oneway != "no"))


def main_roads(pbf: str | os.PathLike[str], box: Box) -> list[Floats]:
    """Read the roads in a box, main roads first, and smaller ones while there is room for them.

    A rank of roads is drawn whole or not at all. The highest rank in the box is always drawn.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    box
        Only roads with a point in it are read.

    Returns
    -------
    list[Floats]
        Latitude and longitude of the points of each road, (points, 2).
    """
    by_rank: dict[str, list[Floats]] = {}  # roads by the rank at which maps draw them
    for way in objects(pbf, EntityFilter(osm.WAY), KeyFilter("highway"), locations=True):
        assert isinstance(way, osm.Way)
        places = _places_of(way)
        rank = _KINDS.get(way.tags["highway"], {"drawn": ""})["drawn"]
        if rank and len(places) > 1 and box.contains(*places.T).any():
            by_rank.setdefault(rank, []).append(places)

    roads: list[Floats] = []
    for _, of_rank in sorted(by_rank.items()):
        if roads and sum(map(len, roads)) + sum(map(len, of_rank)) > MOST_POINTS_DRAWN:
            break
        roads += of_rank

    return roads
