"""Released lines laid on roads: computed from lines and public data alone, so it costs no privacy.

Source: P. Newson and J. Krumm, "Hidden Markov map matching through noise and sparseness", ACM
SIGSPATIAL (2009). A place on a road is the likelier, the nearer it is to a point of the line; a way
between two places is the likelier, the less its length differs from the straight one; and of all
paths the most likely is taken.

Shapes: v nodes, s segments between two nodes, c streets, which are chains of segments from junction
to junction; n lines of m points.
"""

from functools import partial
from threading import Event
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from shapely import STRtree, box, linestrings

from trajanon._kernels.road_matching import (
    MatchedWays,
    Matching,
    NearStreets,
    Network,
    StreetsTaken,
    match_lines,
    room_for,
    room_for_searches,
    trace_ways,
)
from trajanon.common.arrays import Bools, Floats, Ints, indices_of_spans
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import in_threads
from trajanon.files.rounding_order_and_keys_of_lines import rounded
from trajanon.trajectories.geodesy import metres_of_degrees, wrapped

Number = TypeVar("Number", np.float64, np.int64)

KEEP_OFF = 100.0
"""Metres; a line with a point farther than this from all roads stays as it was, and so does one
whose points no way joins."""

# At most 12 streets are tried near each point. To turn back costs 5 of log-likelihood. A way may be
# longer than twice the straight one by 500 m.
_MATCHING = Matching(reach=KEEP_OFF, streets=12, turn_cost=5.0, slack=500.0)
_LEAST_SPREAD = 5.0  # metres that every line is taken to lie off its road, at least
_LINES_PER_TASK = 500  # of a thread


class Snapped(NamedTuple):
    """Lines laid on roads."""

    lines: Floats  # (n, m, 2)
    on_roads: Bools  # whether a line was laid on roads; others are unchanged, (n,)


class OsmStreets(NamedTuple):
    """What OpenStreetMap says of the nodes and segments of a network, in their order."""

    node: Ints  # id of each node, (v,)
    way: Ints  # id of the way of each segment, (s,)
    tags: dict[int, tuple[str, str]]  # kind and name of each way, by its id
    waits: Floats  # seconds that routers add for signals and signs at each node, (v,)


class RoadsToFollow(NamedTuple):
    """Roads, and how near to them all points of a line must be, so that it is laid on them."""

    network: Network
    keep_off: float = KEEP_OFF  # metres
    osm: OsmStreets | None = None

    def lay(self, lines: Floats) -> Snapped:
        """Lay lines, (n, m, 2), on the roads, and round these as releases are; others stay."""
        laid, on_roads = snapped(lines, self.network, self.keep_off)
        return Snapped(np.where(on_roads[:, None, None], rounded(laid), lines), on_roads)


def streets_of(
    lat: Floats, lon: Floats, tail: Ints, head: Ints, passable: Bools, cost_per_metre: Floats
) -> tuple[Network, Ints]:
    """Chain segments, (s,), between nodes, (v,), to a network of streets.

    Nodes are in degrees; tail and head are the nodes of a segment. It is passable, (s, 2), from
    tail to head, from head to tail, or both ways. Where ways are chosen, each metre of it counts
    for ``cost_per_metre`` metres. Return the network, and which of these segments each of its own
    is, (s,).

    Longitudes of the network go on over the 180th meridian.
    """
    from pyproj import Geod

    lon = wrapped(lon, lon[0])
    street, order, is_turned = _chains(tail, head, passable)
    begins = np.where(is_turned, head[order], tail[order])
    ends = np.where(is_turned, tail[order], head[order])
    length = Geod(ellps="WGS84").inv(lon[begins], lat[begins], lon[ends], lat[ends])[2]

    # Metres of each street, and of the part of it before each segment.
    first, last = ends_of_streets(street)
    street_length = np.add.reduceat(length, first)
    before = np.cumsum(length) - length
    before -= before[first][street]

    # Metres of each street as they count where ways are chosen.
    cost = np.add.reduceat(cost_per_metre[order] * length, first)

    street_ends = np.stack([begins[first], ends[last]], axis=1)
    is_open = passable[order[first]]
    is_open = np.where(is_turned[first, None], is_open[:, ::-1], is_open)

    # A state is a street in one direction: 2 * street forwards, and 2 * street + 1 back. Those
    # along which one may go are listed by the node where they begin.
    state = np.flatnonzero(is_open.ravel())
    begin_node = street_ends[state // 2, state % 2]
    by_begin = np.argsort(begin_node, kind="stable")

    network = Network(
        lat=lat,
        lon=lon,
        tail=begins,
        head=ends,
        length=length,
        before=before,
        street=street,
        ends=street_ends,
        street_length=street_length,
        cost_per_metre=cost / np.maximum(street_length, 1e-9),  # a street may have no length
        may_go=is_open,
        first=np.searchsorted(begin_node[by_begin], np.arange(len(lat) + 1)),
        leaving=state[by_begin],
    )
    return network, order


def ends_of_streets(street: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last segment of each street, (c,), from the streets of all, (s,)."""
    first = np.flatnonzero(np.diff(street, prepend=-1))
    return first, np.append(first[1:], len(street)) - 1


def _chains(tail: Ints, head: Ints, passable: Bools) -> tuple[Ints, Ints, Bools]:
    """Chain segments to streets, which end at junctions.

    Return, of all segments in the order of streets, (s,): the number of the street, the number of
    the segment, and whether it is gone along from its head to its tail.
    """
    # An end is 2 * segment at the tail and 2 * segment + 1 at the head: end ^ 1 is the other end.
    next_end = _ends_that_follow(tail, head, passable)
    street = list[int]()
    order = list[int]()
    is_turned = list[bool]()
    seen = set[int]()

    # Streets begin at an end that none follows. Circles have no such end, so they come last, and
    # begin anywhere.
    for begin in (*np.flatnonzero(next_end < 0).tolist(), *range(2 * len(tail))):
        if begin // 2 in seen or not passable[begin // 2].any():
            continue

        number = street[-1] + 1 if street else 0
        end = begin
        while end >= 0 and end // 2 not in seen:
            seen.add(end // 2)
            street.append(number)
            order.append(end // 2)
            is_turned.append(bool(end % 2))
            end = int(next_end[end ^ 1])

    return np.array(street), np.array(order), np.array(is_turned)


def _ends_that_follow(tail: Ints, head: Ints, passable: Bools) -> Ints:
    """Find the end of another segment at which a street goes on from each end, (2 s,).

    Ends are numbered as in `_chains`; -1 where the street ends.
    """
    node = np.column_stack([tail, head]).ravel()
    ends = np.flatnonzero(np.repeat(passable.any(axis=1), 2))
    ends = ends[np.argsort(node[ends], kind="stable")]

    # A street goes on at a node where just two ends meet, if the same directions are passable on
    # both sides.
    _, first, ends_at_node = np.unique(node[ends], return_index=True, return_counts=True)
    first_of_two = first[ends_at_node == 2]
    end = ends[first_of_two]
    opposite = ends[first_of_two + 1]

    # An end is open if one may go from it to the other end of its segment.
    is_open = passable.ravel()
    same_inward = is_open[end ^ 1] == is_open[opposite]
    same_outward = is_open[end] == is_open[opposite ^ 1]
    goes_on = same_inward & same_outward

    next_end = np.full(len(node), -1)
    next_end[end[goes_on]] = opposite[goes_on]
    next_end[opposite[goes_on]] = end[goes_on]
    return next_end


def in_longitudes_of(network: Network, lines: Floats) -> Floats:
    """Return lines, (n, m, 2), on the side of the 180th meridian on which a network is."""
    moved = lines.copy()
    moved[..., 1] = wrapped(lines[..., 1], network.lon[0])
    return moved


def matched_to_roads(
    lines: Floats, network: Network, matching: Matching, progress: Progress = silent
) -> MatchedWays:
    """Find the most likely street, and place on it, of each point of lines, (n, m, 2).

    Their longitudes are those of `in_longitudes_of`.
    """
    nodes = np.stack([network.lon, network.lat], axis=-1)
    tree = STRtree(linestrings(np.stack([nodes[network.tail], nodes[network.head]], axis=1)))
    n, m = lines.shape[:2]
    ways = MatchedWays(
        state=np.empty((n, m), np.int64), offset=np.zeros((n, m)), linked=np.empty((n, m), np.bool_)
    )

    def match_task(first: int, stop: Event) -> None:
        """Match the lines of a task, from the first on, and write their rows of `ways`."""
        if not stop.is_set():
            near = near_streets(network, tree, lines[first : first + _LINES_PER_TASK], matching)
            room = room_for(len(network.lat), m, matching.streets)
            match_lines(network, matching, lines, near, first, room, ways)
            finished.append(first)

    def watch() -> None:
        progress("Following lines on roads", min(len(finished) * _LINES_PER_TASK, n), n)

    finished = list[int]()  # first lines of tasks
    in_threads((partial(match_task, first) for first in range(0, n, _LINES_PER_TASK)), watch)
    return ways


class PointsOfPairs(NamedTuple):
    """The point of each pair of a point and a segment, (q,) each."""

    lat: Floats  # degrees
    lon: Floats
    metres_north: Floats  # of a degree of latitude there
    metres_east: Floats  # of a degree of longitude


def near_streets(network: Network, tree: STRtree, lines: Floats, matching: Matching) -> NearStreets:
    """Find the places where streets come nearest to each point of lines, (n, m, 2).

    The tree holds the segments of the network. A street with several bends near a point may have
    several such places.
    """
    lat, lon = lines.reshape(-1, 2).T
    metres_north, metres_east = metres_of_degrees(lat).T  # of a degree
    up = matching.reach / metres_north  # degrees
    over = matching.reach / metres_east

    # Pairs of a point and a segment that may be near enough.
    point, segment = tree.query(box(lon - over, lat - up, lon + over, lat + up))
    points = PointsOfPairs(lat[point], lon[point], metres_north[point], metres_east[point])
    metres, share = nearest_on(network, segment, points)
    is_nearest = comes_no_nearer(network, segment, points, share)

    # The nearest places of each point come first; no more stay than may be tried.
    pair = np.flatnonzero(is_nearest & (metres <= matching.reach))
    pair = pair[np.lexsort((segment[pair], metres[pair], point[pair]))]
    places_of_point = np.bincount(point[pair], minlength=len(lat))
    rank = indices_of_spans(0, places_of_point)
    is_tried = rank < matching.streets
    pair = pair[is_tried]
    rank = rank[is_tried]

    def by_point(values: NDArray[Number]) -> NDArray[Number]:
        """Lay values of pairs out by point and rank, (n, m, streets)."""
        laid_out = np.zeros((len(lat), matching.streets), values.dtype)
        laid_out[point[pair], rank] = values[pair]
        return laid_out.reshape(*lines.shape[:2], matching.streets)

    tried = places_of_point.clip(max=matching.streets).reshape(lines.shape[:2])
    metres_by_point = by_point(metres)

    # 1.4826 times the median of absolute errors is the deviation of normal ones; a few points far
    # from any road do not change it.
    nearest = np.where(tried > 0, metres_by_point[..., 0], np.nan)
    nearest[~tried.any(axis=1)] = 0.0  # a line that is near no road has no median
    spread = np.maximum(1.4826 * np.nanmedian(nearest, axis=1), _LEAST_SPREAD)
    return NearStreets(by_point(segment), metres_by_point, by_point(share), tried, spread)


def nearest_on(network: Network, segment: Ints, points: PointsOfPairs) -> tuple[Floats, Floats]:
    """Compute metres from the point of each pair to its segment, and the share of it before, (q,).

    In metres to the east and north of the point, (x, y) is the tail and (dx, dy) leads from there
    to the head.
    """
    tail = network.tail[segment]
    head = network.head[segment]
    x = (network.lon[tail] - points.lon) * points.metres_east
    y = (network.lat[tail] - points.lat) * points.metres_north
    dx = (network.lon[head] - network.lon[tail]) * points.metres_east
    dy = (network.lat[head] - network.lat[tail]) * points.metres_north

    # A segment may have no length.
    squared = dx * dx + dy * dy
    share = -(x * dx + y * dy) / np.where(squared > 0.0, squared, np.inf)
    share = share.clip(0.0, 1.0)
    return np.hypot(x + share * dx, y + share * dy), share


def comes_no_nearer(network: Network, segment: Ints, points: PointsOfPairs, share: Floats) -> Bools:
    """Mark the pairs whose street comes no nearer just before or after this place, (q,).

    ``share`` is that of the segment before the place. A joint of two segments belongs to the
    second, and only if the first comes no nearer before its end.
    """
    street = network.street
    last = len(street) - 1
    # At the first and the last segment, the neighbour that is looked at is a wrong one, unused.
    has_next = (segment < last) & (street[np.minimum(segment + 1, last)] == street[segment])
    has_previous = (segment > 0) & (street[segment - 1] == street[segment])

    is_at_joint = has_previous & (share <= 0.0)
    _, share_of_previous = nearest_on(network, segment - 1, points)
    return np.where(is_at_joint, share_of_previous >= 1.0, ~has_next | (share < 1.0))


def forward_only(ways: MatchedWays) -> MatchedWays:
    """Move points that lie behind the one before, on the same street, up to that one.

    The ways that are passed are changed, and returned.
    """
    # From the first point to the last, as several in turn may lie behind.
    for point in range(1, ways.state.shape[1]):
        same_street = ways.linked[:, point] & (ways.state[:, point] == ways.state[:, point - 1])
        offset = ways.offset[same_street]
        ways.offset[same_street, point] = np.maximum(offset[:, point], offset[:, point - 1])
    return ways


def snapped(lines: Floats, network: Network, keep_off: float = KEEP_OFF) -> Snapped:
    """Lay lines, (n, m, 2), in degrees, on roads: each point at its place on the most likely way.

    The points are not spread evenly along that way. Where it is longer than the line, this would
    move them far along it.
    """
    matching = _MATCHING._replace(reach=keep_off)
    ways = forward_only(matched_to_roads(in_longitudes_of(network, lines), network, matching))
    state, offset, linked = ways
    on_roads = (state[:, 0] >= 0) & linked[:, 1:].all(axis=1)

    # Metres are counted from where a line enters a street; from here on, from where it begins.
    street, is_backwards = np.divmod(state[on_roads], 2)
    walked = np.where(
        is_backwards, network.street_length[street] - offset[on_roads], offset[on_roads]
    )

    # With all streets laid end to end, one search finds the segment of each place.
    begin_of_street = np.cumsum(network.street_length) - network.street_length
    begin_of_segment = network.before + begin_of_street[network.street]
    place = begin_of_street[street] + walked
    segment = np.searchsorted(begin_of_segment, place, side="right") - 1

    # At the end of a street, or by rounding, that may be a segment of the street beside it.
    first, last = ends_of_streets(network.street)
    segment = segment.clip(first[street], last[street])
    # A segment may have no length.
    share = (walked - network.before[segment]) / np.maximum(network.length[segment], 1e-9)
    share = share.clip(0.0, 1.0)

    tail = network.tail[segment]
    head = network.head[segment]
    lat = network.lat[tail] + share * (network.lat[head] - network.lat[tail])
    lon = network.lon[tail] + share * (network.lon[head] - network.lon[tail])
    laid = lines.copy()
    laid[on_roads] = np.stack([lat, wrapped(lon)], axis=-1)
    return Snapped(laid, on_roads)


def traced(
    lines: Floats, network: Network, matching: Matching = _MATCHING, progress: Progress = silent
) -> StreetsTaken:
    """Follow lines, (n, m, 2), along all streets that they take, also between their points."""
    lines = in_longitudes_of(network, lines)
    ways = forward_only(matched_to_roads(lines, network, matching, progress))
    search = room_for_searches(len(network.lat))

    # A guess of how many streets are taken; the search returns how many these are.
    room = 4 * lines.shape[0] * lines.shape[1]
    while True:
        line, state = np.empty((2, room), np.int64)
        entered, left, metres = np.empty((3, room))
        streets_taken = StreetsTaken(line, state, entered, left, metres)
        count = trace_ways(network, matching, lines, ways, search, streets_taken)
        if count <= room:
            return StreetsTaken._make(column[:count] for column in streets_taken)

        # Search again, with room for all streets. Numbers of the first searches must not count.
        search.found_by[:] = 0
        search.wanted_by[:] = 0
        room = count
