"""Released lines laid on roads: computed from lines and public data alone, so it costs no privacy.

Source: P. Newson and J. Krumm, "Hidden Markov map matching through noise and sparseness", ACM
SIGSPATIAL (2009): emission by the distance to a road, transition by how much the way on roads and
the straight one differ, and the most likely path.
"""

from functools import partial
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

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
from trajanon.files.release_contents import rounded
from trajanon.trajectories.geodesy import metres_of_degrees

if TYPE_CHECKING:
    from shapely import STRtree

Number = TypeVar("Number", np.float64, np.int64)

KEEP_OFF = 100.0
"""Metres; a line with a point farther than this from all roads stays as it was."""

_MATCHING = Matching(within=KEEP_OFF, states=12, turn=5.0, slack=500.0)
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
    waits: Floats  # seconds at signals and signs of each node, as routers count them, (v,)


class RoadsToFollow(NamedTuple):
    """Roads, and how near a line must be to all its points to be laid on them."""

    network: Network
    keep_off: float = KEEP_OFF  # metres
    osm: OsmStreets | None = None

    def lay(self, lines: Floats) -> Snapped:
        """Lay lines, (n, m, 2), on the roads, and round them; others stay unchanged."""
        laid, on_roads = snapped(lines, self.network, self.keep_off)
        return Snapped(np.where(on_roads[:, None, None], rounded(laid), lines), on_roads)


def streets_of(
    lat: Floats, lon: Floats, tail: Ints, head: Ints, passable: Bools, dear: Floats
) -> tuple[Network, Ints]:
    """Make a network of segments, (s,), between nodes, (v,); and the segment of each of its own."""
    from pyproj import Geod

    street, order, back = _chains(tail, head, passable)
    begins = np.where(back, head[order], tail[order])
    ends = np.where(back, tail[order], head[order])
    length = Geod(ellps="WGS84").inv(lon[begins], lat[begins], lon[ends], lat[ends])[2]

    first, last = ends_of_streets(street)
    whole = np.add.reduceat(length, first)
    before = np.cumsum(length) - length
    before -= before[first][street]
    # Where ways are chosen, a metre counts for as many as it is dear.
    dear_metres = np.add.reduceat(dear[order] * length, first)

    street_ends = np.stack([begins[first], ends[last]], axis=1)
    is_open = passable[order[first]]
    is_open = np.where(back[first, None], is_open[:, ::-1], is_open)
    state = np.flatnonzero(is_open.ravel())
    leaves = street_ends[state // 2, state % 2]
    by_node = np.argsort(leaves, kind="stable")

    network = Network(
        lat=lat,
        lon=lon,
        tail=begins,
        head=ends,
        length=length,
        before=before,
        street=street,
        ends=street_ends,
        whole=whole,
        dear=dear_metres / np.maximum(whole, 1e-9),
        open=is_open,
        first=np.searchsorted(leaves[by_node], np.arange(len(lat) + 1)),
        leaving=state[by_node],
    )
    return network, order


def ends_of_streets(street: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last segment of each street, (c,), by the street of each segment."""
    first = np.flatnonzero(np.diff(street, prepend=-1))
    return first, np.append(first[1:], len(street)) - 1


def _chains(tail: Ints, head: Ints, passable: Bools) -> tuple[Ints, Ints, Bools]:
    """Chain segments to streets, which end at junctions: the street, the segment, if it turns."""
    next_end = _ends_that_follow(tail, head, passable)
    street = list[int]()
    order = list[int]()
    back = list[bool]()
    seen = set[int]()

    # Circles have no end of their own: they come last.
    for begin in (*np.flatnonzero(next_end < 0).tolist(), *range(2 * len(tail))):
        if begin // 2 in seen or not passable[begin // 2].any():
            continue
        number = street[-1] + 1 if street else 0
        end = begin
        while end >= 0 and end // 2 not in seen:
            seen.add(end // 2)
            street.append(number)
            order.append(end // 2)
            back.append(bool(end % 2))
            end = int(next_end[end ^ 1])
    return np.array(street), np.array(order), np.array(back)


def _ends_that_follow(tail: Ints, head: Ints, passable: Bools) -> Ints:
    """Find where a street goes on from each end of its segments, 2 segment + 1 at the head."""
    node = np.column_stack([tail, head]).ravel()
    ends = np.flatnonzero(np.repeat(passable.any(axis=1), 2))
    ends = ends[np.argsort(node[ends], kind="stable")]

    # Streets go on at nodes with two ends, if the same ways are open on both sides.
    _, first, count = np.unique(node[ends], return_index=True, return_counts=True)
    end = ends[first[count == 2]]
    opposite = ends[first[count == 2] + 1]
    is_open = passable.ravel()
    alike = (is_open[end ^ 1] == is_open[opposite]) & (is_open[end] == is_open[opposite ^ 1])

    next_end = np.full(len(node), -1)
    next_end[end[alike]] = opposite[alike]
    next_end[opposite[alike]] = end[alike]
    return next_end


def matched_to_roads(lines: Floats, network: Network, matching: Matching) -> MatchedWays:
    """Match lines, (n, m, 2), to a network."""
    from shapely import STRtree, linestrings

    places = np.stack([network.lon, network.lat], axis=-1)
    tree = STRtree(linestrings(np.stack([places[network.tail], places[network.head]], axis=1)))
    lines = np.ascontiguousarray(lines)
    n, m = lines.shape[:2]
    ways = MatchedWays(np.empty((n, m), np.int64), np.zeros((n, m)), np.empty((n, m), np.bool_))

    def match_task(first: int, stop: Event) -> None:
        if not stop.is_set():
            near = near_streets(network, tree, lines[first : first + _LINES_PER_TASK], matching)
            room = room_for(len(network.lat), m, matching.states)
            match_lines(network, matching, lines, near, first, room, ways)

    in_threads(partial(match_task, first) for first in range(0, n, _LINES_PER_TASK))
    return ways


def near_streets(network: Network, tree: "STRtree", lines: Floats, matching: Matching) -> Near:
    """Find the places where streets come nearest to each point of lines."""
    from shapely import box

    lat, lon = lines.reshape(-1, 2).T
    north, east = metres_of_degrees(lat).T
    up = matching.within / north
    over = matching.within / east
    point, segment = tree.query(box(lon - over, lat - up, lon + over, lat + up))

    def nearest_on(segment: Ints) -> tuple[Floats, Floats]:
        """Compute metres to a segment, and the share of it before the nearest place on it."""
        tail, head = network.tail[segment], network.head[segment]
        x = (network.lon[tail] - lon[point]) * east[point]
        y = (network.lat[tail] - lat[point]) * north[point]
        dx = (network.lon[head] - network.lon[tail]) * east[point]
        dy = (network.lat[head] - network.lat[tail]) * north[point]
        squared = dx * dx + dy * dy
        share = -(x * dx + y * dy) / np.where(squared > 0.0, squared, np.inf)
        share = share.clip(0.0, 1.0)
        return np.hypot(x + share * dx, y + share * dy), share

    metres, share = nearest_on(segment)
    street = network.street
    last = len(street) - 1
    goes_on = (segment < last) & (street[np.minimum(segment + 1, last)] == street[segment])
    began = (segment > 0) & (street[segment - 1] == street[segment])
    # A street comes no nearer before or after this place on its segment.
    nearest = np.where(
        began & (share <= 0.0), nearest_on(segment - 1)[1] >= 1.0, ~goes_on | (share < 1.0)
    )

    # Of each point the nearest places, as many as there are states.
    order = np.flatnonzero(nearest & (metres <= matching.within))
    order = order[np.lexsort((segment[order], metres[order], point[order]))]
    places = np.bincount(point[order], minlength=len(lat))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(places) - places, places)
    order, rank = order[rank < matching.states], rank[rank < matching.states]

    def by_point(values: NDArray[Number]) -> NDArray[Number]:
        """Lay values of places out by point and rank."""
        laid_out = np.zeros((len(lat), matching.states), values.dtype)
        laid_out[point[order], rank] = values[order]
        return laid_out.reshape(*lines.shape[:2], matching.states)

    near_each = places.clip(max=matching.states).reshape(lines.shape[:2])
    return Near(by_point(segment), by_point(metres), by_point(share), near_each)


def kept_on(ways: MatchedWays) -> MatchedWays:
    """Keep lines that wait on a street from going back on it."""
    for p in range(1, ways.way.shape[1]):
        waits = ways.linked[:, p] & (ways.way[:, p] == ways.way[:, p - 1])
        walked = ways.walked[waits]
        ways.walked[waits, p] = np.maximum(walked[:, p], walked[:, p - 1])
    return ways


def snapped(lines: Floats, network: Network, keep_off: float = KEEP_OFF) -> Snapped:
    """Lay lines, (n, m, 2), on roads: each point at its place on the way that is most likely.

    Equal shares of that way would move points along it by what the way is longer than the line.
    """
    matching = _MATCHING._replace(within=keep_off)
    way, walked, linked = kept_on(matched_to_roads(lines, network, matching))
    on_roads = (way[:, 0] >= 0) & linked[:, 1:].all(axis=1)
    street, back = np.divmod(way[on_roads], 2)
    walked = np.where(back, network.whole[street] - walked[on_roads], walked[on_roads])

    # All streets one after the other: each place is on one segment.
    begin_of_street = np.cumsum(network.whole) - network.whole
    begin_of_segment = network.before + begin_of_street[network.street]
    place = begin_of_street[street] + walked
    segment = np.searchsorted(begin_of_segment, place, side="right") - 1

    # Rounding may lead to the street before.
    first, last = ends_of_streets(network.street)
    segment = segment.clip(first[street], last[street])
    share = (walked - network.before[segment]) / np.maximum(network.length[segment], 1e-9)
    share = share.clip(0.0, 1.0)

    laid = lines.copy()
    for axis, degrees in enumerate((network.lat, network.lon)):
        begin = degrees[network.tail[segment]]
        end = degrees[network.head[segment]]
        laid[on_roads, :, axis] = begin + share * (end - begin)
    return Snapped(laid, on_roads)


def traced(lines: Floats, network: Network, matching: Matching = _MATCHING) -> Found:
    """Follow lines, (n, m, 2), along all streets that they take."""
    lines = np.ascontiguousarray(lines)
    ways = kept_on(matched_to_roads(lines, network, matching))
    search = room_for(len(network.lat), 1, 1).search

    room = 4 * lines.shape[0] * lines.shape[1]
    while True:
        line, state = np.empty((2, room), np.int64)
        taken = Found(line, state, np.empty(room), np.empty(room), np.empty(room))
        n = trace_ways(network, matching, lines, ways, search, taken)
        if n <= room:
            return Found._make(column[:n] for column in taken)

        # Search again, with room for all streets.
        search.stamp[:] = 0
        search.wanted[:] = 0
        room = n
