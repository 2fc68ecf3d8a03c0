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
_LINES_PER_TASK = 500


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
        snapped_lines = self.lay(lines.reshape(-1, *release.points.shape[1:]))
        laid = replace(
            release,
            points=snapped_lines.lines[row.reshape(-1)],
            provenance={**release.provenance, "attribution": OSM_ATTRIBUTION},
        )
        return laid.take(in_order(laid.points, laid.times)), snapped_lines


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

    # A state is a street in one direction; those that leave a node stand together.
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
    """Chain segments to streets, which end at junctions.

    Returns the street of each place in the chains, its segment, and whether it is turned.
    """
    after = _next_ends(nodes, tail, head, passable)
    street = list[int]()
    order = list[int]()
    back = list[bool]()
    seen = set[int]()
    for begin in (*np.flatnonzero(after < 0).tolist(), *range(2 * len(tail))):  # circles at last
        if begin // 2 in seen or not passable[begin // 2].any():
            continue
        number = street[-1] + 1 if street else 0
        end = begin
        while end >= 0 and end // 2 not in seen:
            seen.add(end // 2)
            street.append(number)
            order.append(end // 2)
            back.append(bool(end % 2))
            end = int(after[end ^ 1])
    return np.array(street), np.array(order), np.array(back)


def matched_to_roads(lines: Floats, network: Network, how: Matching) -> MatchedWays:
    """Match lines, (n, m, 2), to a network."""
    from shapely import STRtree, linestrings

    places = np.stack([network.lon, network.lat], axis=-1)
    tree = STRtree(linestrings(np.stack([places[network.tail], places[network.head]], axis=1)))
    lines = np.ascontiguousarray(lines)
    n, m = lines.shape[:2]
    ways = MatchedWays(np.empty((n, m), np.int64), np.zeros((n, m)), np.empty((n, m), np.bool_))

    def task(first: int, stop: Event) -> None:
        if not stop.is_set():
            near = near_streets(network, tree, lines[first : first + _LINES_PER_TASK], how)
            room = room_for(len(network.lat), m, how.states)
            match_lines(network, how, lines, near, first, room, ways)

    in_threads(partial(task, first) for first in range(0, n, _LINES_PER_TASK))
    return ways


def near_streets(network: Network, tree: "STRtree", lines: Floats, how: Matching) -> Near:
    """Find the places where streets come nearest to each point of lines."""
    from shapely import box

    lat, lon = lines.reshape(-1, 2).T
    north, east = metres_of_degrees(lat).T
    up = how.within / north
    over = how.within / east
    point, segment = tree.query(box(lon - over, lat - up, lon + over, lat + up))

    def nearest_on(segment: Ints) -> tuple[Floats, Floats]:
        """Measure the metres to a segment, and the share of it before the nearest place on it."""
        tail = network.tail[segment]
        head = network.head[segment]
        x = (network.lon[tail] - lon[point]) * east[point]
        y = (network.lat[tail] - lat[point]) * north[point]
        dx = (network.lon[head] - network.lon[tail]) * east[point]
        dy = (network.lat[head] - network.lat[tail]) * north[point]
        squared = dx * dx + dy * dy
        share = -(x * dx + y * dy) / np.where(squared > 0.0, squared, np.inf)
        share = share.clip(0.0, 1.0)
        return np.hypot(x + share * dx, y + share * dy), share

    far, share = nearest_on(segment)
    street = network.street
    last = len(network.street) - 1
    goes_on = (segment < last) & (street[np.minimum(segment + 1, last)] == street[segment])
    began = (segment > 0) & (street[segment - 1] == street[segment])

    # A street comes no nearer before or after this place on its segment.
    nearest = np.where(
        began & (share <= 0.0), nearest_on(segment - 1)[1] >= 1.0, ~goes_on | (share < 1.0)
    )
    rows = np.flatnonzero(nearest & (far <= how.within))
    rows = rows[np.lexsort((segment[rows], far[rows], point[rows]))]

    # Only the nearest places of each point are states.
    count = np.bincount(point[rows], minlength=len(lat))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    rows = rows[rank < how.states]
    rank = rank[rank < how.states]

    shape = (*lines.shape[:2], how.states)
    near = Near(
        np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), count.clip(max=how.states)
    )
    for filled, values in zip(near, (segment, far, share), strict=False):
        filled.reshape(-1, how.states)[point[rows], rank] = values[rows]
    return near._replace(many=near.many.reshape(shape[:2]))


def kept_on(ways: MatchedWays) -> MatchedWays:
    """Keep lines that wait on a street from going back on it."""
    way, walked, linked = ways
    for point in range(1, way.shape[1]):
        same = linked[:, point] & (way[:, point] == way[:, point - 1])
        walked[same, point] = np.maximum(walked[same, point], walked[same, point - 1])
    return ways


def snapped(lines: Floats, network: Network, keep_off: float = KEEP_OFF) -> Snapped:
    """Lay lines, (n, m, 2), on roads: each point at its place on the way that is most likely.

    Equal shares of that way would move points along it by what the way is longer than the line.
    """
    how = _HOW._replace(within=keep_off)
    way, walked, linked = kept_on(matched_to_roads(lines, network, how))
    on_roads = (way[:, 0] >= 0) & linked[:, 1:].all(axis=1)
    street, back = np.divmod(way[on_roads], 2)
    walked = np.where(back, network.whole[street] - walked[on_roads], walked[on_roads])

    # Streets stand one after another, so that a place on one is a place on all of them.
    street_begins = np.cumsum(network.whole) - network.whole
    segment_begins = network.before + street_begins[network.street]
    segment = np.searchsorted(segment_begins, street_begins[street] + walked, side="right") - 1
    first = np.searchsorted(network.street, street)
    after = np.searchsorted(network.street, street + 1)
    segment = segment.clip(first, after - 1)  # rounding may lead to the street before

    share = (walked - network.before[segment]) / np.maximum(network.length[segment], 1e-9)
    share = share.clip(0.0, 1.0)
    laid = lines.copy()
    for axis, places in enumerate((network.lat, network.lon)):
        begin = places[network.tail[segment]]
        end = places[network.head[segment]]
        laid[on_roads, :, axis] = begin + share * (end - begin)
    return Snapped(laid, on_roads)


def traced(lines: Floats, network: Network, how: Matching = _HOW) -> Found:
    """Follow lines, (n, m, 2), along all streets that they take."""
    lines = np.ascontiguousarray(lines)
    ways = kept_on(matched_to_roads(lines, network, how))
    search = room_for(len(network.lat), 1, 1).search
    room = 4 * lines.shape[0] * lines.shape[1]
    while True:
        streets = np.empty((2, room), np.int64)
        found = Found(streets[0], streets[1], np.empty(room), np.empty(room), np.empty(room))
        n = trace_ways(network, how, lines, ways, search, found)
        if n <= room:
            return Found._make(column[:n] for column in found)

        # The room was too small: once more, with as much as is needed.
        search.stamp[:] = 0
        search.wanted[:] = 0
        room = n


def _next_ends(nodes: int, tail: Ints, head: Ints, passable: Bools) -> Ints:
    """Find the end of another segment that goes on from each end, or -1 at junctions.

    The tail of a segment is the end 2 segment, and its head 2 segment + 1.
    """
    touching: list[list[int]] = [[] for _ in range(nodes)]
    for segment in np.flatnonzero(passable.any(axis=1)).tolist():
        touching[tail[segment]].append(2 * segment)
        touching[head[segment]].append(2 * segment + 1)

    after = np.full(2 * len(tail), -1)
    for ends in touching:
        if len(ends) != 2:
            continue
        end, next_end = ends
        inwards = passable[end // 2, 1 - end % 2], passable[end // 2, end % 2]
        onwards = passable[next_end // 2, next_end % 2], passable[next_end // 2, 1 - next_end % 2]
        if inwards == onwards:
            after[end] = next_end
            after[next_end] = end
    return after
