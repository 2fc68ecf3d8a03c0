"""The roads of an OpenStreetMap file as a network that somebody can go along."""

import os
from math import inf

import numpy as np
from osmium import osm
from osmium.filter import EntityFilter, KeyFilter

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.inputs import rows_beside
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.osm_file import objects
from trajanon.release.snapping import KEEP_OFF, OsmStreets, RoadsToFollow, streets_of

MODES = ("car", "bicycle", "foot", "any")

_KINDS = {row["kind"]: row for row in rows_beside(__file__, "road_kinds.csv")}
"""Values of `highway`: which modes take each (some, if a sign says so); for how many a metre counts
where ways of cars are chosen, which keep to main roads; and when maps draw it, 1 for the first."""

_TAGS: dict[str, tuple[str, ...]] = {  # what says whether a mode may go, the most exact first
    "car": ("motorcar", "motor_vehicle", "vehicle", "access"),
    "bicycle": ("bicycle", "vehicle", "access"),
    "foot": ("foot", "access"),
    "any": (),
}

# Seconds, as OSRM's lib/obstacles.lua counts them.
_WAITS = {"traffic_signals": 2.0, "stop": 2.0, "give_way": 1.0}

POINTS_OF_ROADS = 20_000
"""Points of roads that are drawn: some 300 kB of a page."""

_NO = {"no", "private"}
_BACK = {"-1", "reverse"}


def roads_to_follow(
    pbf: str | os.PathLike[str],
    mode: str = "any",
    keep_off: float = KEEP_OFF,
    bbox: Box | None = None,
) -> RoadsToFollow:
    r"""Read the roads that a mode takes, with the directions in which it does.

    Parameters
    ----------
    pbf
        An OpenStreetMap file.
    mode
        car, bicycle, foot or any. Cars and bicycles keep to one-way streets; who goes on foot, or
        any way, goes in both directions.
    keep_off
        Metres; a line with a point farther than this from all of them stays as it is.
    bbox
        Take only the roads with a point in this box; None for all.

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

    numbers: dict[int, int] = {}
    places: list[tuple[float, float]] = []
    ends: list[tuple[int, int, int, float]] = []  # nodes of a segment, its way, how dear it is
    passable: list[tuple[bool, bool]] = []
    tags: dict[int, tuple[str, str]] = {}
    waits: dict[int, float] = {}
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
        # Cars keep to main roads; others take the shortest way.
        dear = float(_KINDS[thing.tags["highway"]]["dear"]) if mode == "car" else 1.0
        tags[thing.id] = (thing.tags["highway"], thing.tags.get("name") or "")

        tail = -1
        for node in thing.nodes:
            head = -1  # an extract may lack the places of nodes beyond its border
            if node.location.valid():
                head = numbers.setdefault(node.ref, len(places))
                if head == len(places):
                    places.append((node.lat, node.lon))
            if tail >= 0 and head >= 0 and head != tail:
                ends.append((tail, head, thing.id, dear))
                passable.append(directions)
            tail = head

    if not ends:
        region = "" if bbox is None else " in the area of the lines: take the file of their region"
        raise BadInput(f"{pbf} holds no roads for {mode}{region}")
    lat, lon = np.array(places).T
    tails, heads, way_of, how_dear = map(np.array, zip(*ends, strict=True))
    network, order = streets_of(lat, lon, tails, heads, np.array(passable), how_dear)
    seconds = np.array([waits.get(node, 0.0) for node in numbers])
    osm_ids = OsmStreets(np.array(list(numbers)), way_of[order], tags, seconds)
    return RoadsToFollow(network, keep_off, osm_ids)


def _places_of(way: osm.Way) -> Floats:
    """Return latitude and longitude of the nodes that the file places, shape (n, 2)."""
    places = [(node.lat, node.lon) for node in way.nodes if node.location.valid()]
    return np.array(places).reshape(-1, 2)


def _seconds_at(tags: osm.TagList) -> float:
    """Return how long a router waits at a node; signs for one direction are few, and left out."""
    one_direction = {"forward", "backward"} & {
        tags.get("direction"),
        tags.get("traffic_signals:direction"),
    }
    return 0.0 if one_direction else _WAITS.get(tags["highway"], 0.0)


def _directions(tags: osm.TagList, mode: str) -> tuple[bool, bool]:
    """Return whether a mode may go along a way, and back."""
    kind = tags.get("highway")
    takes = _KINDS.get(kind or "", dict.fromkeys(MODES, "no")).get(mode, "yes")
    if takes == "no" or tags.get("area") == "yes":
        return False, False
    access = next((tags.get(tag) for tag in _TAGS[mode] if tag in tags), None)
    if access in _NO or (takes == "signed" and access is None):
        return False, False
    if mode in ("foot", "any"):
        return True, True

    oneway = tags.get("oneway")
    if mode == "bicycle":
        oneway = tags.get("oneway:bicycle", oneway)
    if oneway in _BACK:
        return False, True
    # Roundabouts and motorways are one-way, unless a tag says that they are not.
    implied = kind == "motorway" or tags.get("junction") in ("roundabout", "circular")
    return True, not (oneway in ("yes", "true", "1") or (implied and oneway != "no"))


def main_roads(pbf: str | os.PathLike[str], box: Box) -> list[Floats]:
    """Read the main roads in a box, and smaller ones as long as these are few points.

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
    by_rank: dict[str, list[Floats]] = {}
    for way in objects(pbf, EntityFilter(osm.WAY), KeyFilter("highway"), locations=True):
        assert isinstance(way, osm.Way)
        places = _places_of(way)
        rank = _KINDS.get(way.tags["highway"], {"drawn": ""})["drawn"]
        if rank and len(places) > 1 and box.contains(*places.T).any():
            by_rank.setdefault(rank, []).append(places)

    roads: list[Floats] = []
    for _, smaller in sorted(by_rank.items()):
        if roads and sum(map(len, roads)) + sum(map(len, smaller)) > POINTS_OF_ROADS:
            break
        roads += smaller
    return roads
