"""Released lines laid on roads: computed from lines and public data alone, so it costs no privacy.

Source: P. Newson and J. Krumm, "Hidden Markov map matching through noise and sparseness", ACM
SIGSPATIAL (2009): emission by the distance to a road, transition by how much the way on roads and
the straight one differ, and the most likely path.
"""

from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trajanon._kernels.road_matching import (
    Found,
    MatchedWays,
    Matching,
    Near,
    Network,
    match_lines,
    room_for,
    trace_ways,
)
from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.workers import in_threads
from trajanon.files.release_lines import in_order, rounded
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

if TYPE_CHECKING:
    from shapely import STRtree

KEEP_OFF = 100.0
"""Metres; a line with a point farther than this from all roads stays as it was."""

_HOW = Matching(within=KEEP_OFF, states=12, spread=0.0, turn=5.0, slack=500.0)
_AT_ONCE = 500  # lines of a task


class Snapped(NamedTuple):
    """Lines laid on roads."""

    lines: Floats  # (n, m, 2)
    on_roads: Bools  # whether a line was laid on roads; others are unchanged, (n,)


class OsmStreets(NamedTuple):
    """What OpenStreetMap says of the nodes and segments of a network."""

    node: Ints  # id of each node, (v,)
    way: Ints  # id of the way of each segment, (s,)
    tags: dict[int, tuple[str, str]]  # kind and name of each way


class RoadsToFollow(NamedTuple):
    """Roads, and how near a line must be to all its points to be laid on them."""

    network: Network
    keep_off: float = KEEP_OFF  # metres
    osm: OsmStreets | None = None

    def lay(self, lines: Floats) -> Snapped:
        """Lay lines, (n, m, 2), on the roads, and round them; others stay unchanged."""
        laid, on_roads = snapped(lines, self.network, self.keep_off)
        return Snapped(np.where(on_roads[:, None, None], rounded(laid), lines), on_roads)

    def lay_release(self, release: Trajectories) -> tuple[Trajectories, Snapped]:
        """Lay a release on the roads, each different line once, and sort its rows again."""
        lines, row = np.unique(release.records, axis=0, return_inverse=True)
        found = self.lay(lines.reshape(-1, *release.points.shape[1:]))
        credited = {**release.provenance, "attribution": OSM_ATTRIBUTION}
        laid = replace(release, points=found.lines[row.reshape(-1)], provenance=credited)
        return laid.take(in_order(laid.points, laid.times)), found


def streets_of(
    lat: Floats, lon: Floats, tail: Ints, head: Ints, passable: Bools, dear: Floats
) -> tuple[Network, Ints]:
    """Make a network of segments, (s,), between nodes, (v,); and the segment of each of its own."""
    from pyproj import Geod

    street, order, back = _chains(len(lat), tail, head, passable)
    tail, head = np.where(back, head[order], tail[order]), np.where(back, tail[order], head[order])
    length = Geod(ellps="WGS84").inv(lon[tail], lat[tail], lon[head], lat[head])[2]
    begin = np.flatnonzero(np.diff(street, prepend=-1))
    last = np.append(begin[1:], len(street)) - 1
    whole = np.add.reduceat(length, begin)
    # Where ways are chosen, a metre counts for as many as it is dear.
    dear = np.add.reduceat(dear[order] * length, begin) / np.maximum(whole, 1e-9)
    before = np.cumsum(length) - length
    before -= before[begin][street]
    ends = np.stack([tail[begin], head[last]], axis=1)
    passable = passable[order[begin]]
    passable = np.where(back[begin, None], passable[:, ::-1], passable)
    state = np.flatnonzero(passable.ravel())
    leaves = ends[state // 2, state % 2]
    by_node = np.argsort(leaves, kind="stable")
    first = np.searchsorted(leaves[by_node], np.arange(len(lat) + 1))
    network = Network(
        *(lat, lon, tail, head, length, before, street, ends, whole, dear, passable),
        *(first, state[by_node]),
    )
    return network, order


def _chains(nodes: int, tail: Ints, head: Ints, passable: Bools) -> tuple[Ints, Ints, Bools]:
    """Chain segments to streets, which end at junctions: the street, the segment, if it turns."""
    some = np.flatnonzero(passable.any(axis=1))
    touching: list[list[int]] = [[] for _ in range(nodes)]  # 2 segment + 1 at its head
    for segment in some.tolist():
        touching[tail[segment]].append(2 * segment)
        touching[head[segment]].append(2 * segment + 1)
    after = np.full(2 * len(tail), -1)  # the end that goes on from each, of another segment
    for ends in touching:
        if len(ends) == 2:
            one, other = ends
            inwards = passable[one // 2, 1 - one % 2], passable[one // 2, one % 2]
            if inwards == (passable[other // 2, other % 2], passable[other // 2, 1 - other % 2]):
                after[one], after[other] = other, one
    street, order, back, seen = list[int](), list[int](), list[bool](), set[int]()
    for begin in (*np.flatnonzero(after < 0).tolist(), *range(2 * len(tail))):  # circles at last
        if begin // 2 in seen or not passable[begin // 2].any():
            continue
        number, here = (street[-1] + 1 if street else 0), begin
        while here >= 0 and here // 2 not in seen:
            seen.add(here // 2)
            street.append(number)
            order.append(here // 2)
            back.append(bool(here % 2))
            here = int(after[here ^ 1])
    return np.array(street), np.array(order), np.array(back)


def matched_to_roads(lines: Floats, network: Network, how: Matching) -> MatchedWays:
    """Match lines, (n, m, 2), to a network."""
    from shapely import STRtree, linestrings

    places = np.stack([network.lon, network.lat], axis=-1)
    tree = STRtree(linestrings(np.stack([places[network.tail], places[network.head]], axis=1)))
    lines = np.ascontiguousarray(lines)
    n, m = lines.shape[:2]
    found = MatchedWays(np.empty((n, m), np.int64), np.zeros((n, m)), np.empty((n, m), np.bool_))

    def task(first: int, stop: Event) -> None:
        if not stop.is_set():
            near = near_streets(network, tree, lines[first : first + _AT_ONCE], how)
            room = room_for(len(network.lat), m, how.states)
            match_lines(network, how, lines, near, first, room, found)

    in_threads(partial(task, first) for first in range(0, n, _AT_ONCE))
    return found


def near_streets(network: Network, tree: "STRtree", lines: Floats, how: Matching) -> Near:
    """Find the places where streets come nearest to each point of lines."""
    from shapely import box

    lat, lon = lines.reshape(-1, 2).T
    north, east = metres_of_degrees(lat).T
    up, over = how.within / north, how.within / east
    point, segment = tree.query(box(lon - over, lat - up, lon + over, lat + up))

    def nearest_on(segment: Ints) -> tuple[Floats, Floats]:
        """Metres to a segment, and the share of it before the nearest place on it."""
        tail, head = network.tail[segment], network.head[segment]
        x = (network.lon[tail] - lon[point]) * east[point]
        y = (network.lat[tail] - lat[point]) * north[point]
        dx = (network.lon[head] - network.lon[tail]) * east[point]
        dy = (network.lat[head] - network.lat[tail]) * north[point]
        squared = dx * dx + dy * dy
        share = -(x * dx + y * dy) / np.where(squared > 0.0, squared, np.inf)
        share = share.clip(0.0, 1.0)
        return np.hypot(x + share * dx, y + share * dy), share

    far, share = nearest_on(segment)
    street, last = network.street, len(network.street) - 1
    goes_on = (segment < last) & (street[np.minimum(segment + 1, last)] == street[segment])
    began = (segment > 0) & (street[segment - 1] == street[segment])
    # A street comes no nearer before or after this place on its segment.
    nearest = np.where(
        began & (share <= 0.0), nearest_on(segment - 1)[1] >= 1.0, ~goes_on | (share < 1.0)
    )
    kept = np.flatnonzero(nearest & (far <= how.within))
    kept = kept[np.lexsort((segment[kept], far[kept], point[kept]))]
    many = np.bincount(point[kept], minlength=len(lat))
    rank = np.arange(len(kept)) - np.repeat(np.cumsum(many) - many, many)
    kept, rank = kept[rank < how.states], rank[rank < how.states]
    shape = (*lines.shape[:2], how.states)
    near = Near(
        np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), many.clip(max=how.states)
    )
    for filled, values in zip(near, (segment, far, share), strict=False):
        filled.reshape(-1, how.states)[point[kept], rank] = values[kept]
    return near._replace(many=near.many.reshape(shape[:2]))


def kept_on(found: MatchedWays) -> MatchedWays:
    """Keep lines that wait on a street from going back on it."""
    way, walked, linked = found
    for p in range(1, way.shape[1]):
        same = linked[:, p] & (way[:, p] == way[:, p - 1])
        walked[same, p] = np.maximum(walked[same, p], walked[same, p - 1])
    return found


def snapped(lines: Floats, network: Network, keep_off: float = KEEP_OFF) -> Snapped:
    """Lay lines, (n, m, 2), on roads: each point at its place on the way that is most likely.

    Equal shares of that way would move points along it by what the way is longer than the line.
    """
    way, walked, linked = kept_on(matched_to_roads(lines, network, _HOW._replace(within=keep_off)))
    on_roads = (way[:, 0] >= 0) & linked[:, 1:].all(axis=1)
    street, back = np.divmod(way[on_roads], 2)
    walked = np.where(back, network.whole[street] - walked[on_roads], walked[on_roads])
    sofar = np.cumsum(network.whole) - network.whole
    place = network.before + sofar[network.street]
    segment = np.searchsorted(place, sofar[street] + walked, side="right") - 1
    first, last = (np.searchsorted(network.street, street + one) for one in (0, 1))
    segment = segment.clip(first, last - 1)  # rounding may lead to the street before
    share = (walked - network.before[segment]) / np.maximum(network.length[segment], 1e-9)
    share = share.clip(0.0, 1.0)
    laid = lines.copy()
    for axis, places in enumerate((network.lat, network.lon)):
        begin, end = places[network.tail[segment]], places[network.head[segment]]
        laid[on_roads, :, axis] = begin + share * (end - begin)
    return Snapped(laid, on_roads)


def traced(lines: Floats, network: Network, how: Matching = _HOW) -> Found:
    """Follow lines, (n, m, 2), along all streets that they take."""
    lines = np.ascontiguousarray(lines)
    on = kept_on(matched_to_roads(lines, network, how))
    search = room_for(len(network.lat), 1, 1).search
    room = 4 * lines.shape[0] * lines.shape[1]
    while True:
        whole = np.empty((2, room), np.int64)
        found = Found(whole[0], whole[1], np.empty(room), np.empty(room), np.empty(room))
        n = trace_ways(network, how, lines, on, search, found)
        if n <= room:
            return Found._make(column[:n] for column in found)
        search.stamp[:], search.wanted[:], room = 0, 0, n
