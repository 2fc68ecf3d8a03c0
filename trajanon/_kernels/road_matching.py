"""Lines matched to roads by a hidden Markov model: the likeliest path over streets near the points.

Newson and Krumm (GIS 2009). A line is m points, (m, 2), in degrees. A state is a street in one of
its directions: 2 street + direction, where 1 is backward. Each point of a line has some states near
it; between those of two points that follow each other a way is sought on the network; the path of
states that is likeliest as a whole is the match.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import insert_rising
from trajanon._kernels.compiled import bare

_MOST_WAITING = 1 << 16  # nodes that may wait in a search
_LEAST_SPREAD = 5.0  # metres that every line is taken to lie off its road, at least

_ECCENTRICITY_SQUARED = 0.0066943799901413165  # of the ellipsoid WGS 84
_EQUATOR = 6378137.0  # its radius there, in metres


class Network(NamedTuple):
    """A network of v nodes, s segments, each from tail to head, and c streets made of segments."""

    lat: NDArray[np.float64]  # degrees, of each node, (v,)
    lon: NDArray[np.float64]  # (v,)
    tail: NDArray[np.int64]  # node, of each segment, in the order of streets, (s,)
    head: NDArray[np.int64]  # (s,)
    length: NDArray[np.float64]  # metres, (s,)
    before: NDArray[np.float64]  # metres from the begin of its street to its own, (s,)
    street: NDArray[np.int64]  # of each segment, (s,)
    ends: NDArray[np.int64]  # nodes at which a street begins and ends, (c, 2)
    street_length: NDArray[np.float64]  # metres, (c,)
    cost_per_metre: NDArray[np.float64]  # of a street, where ways are chosen, (c,)
    may_go: NDArray[np.bool_]  # along a street forward and backward, (c, 2)
    first: NDArray[np.int64]  # place in `leaving` of the first state out of each node, (v + 1,)
    leaving: NDArray[np.int64]  # the states that lead out of nodes, node by node


class WaySearch(NamedTuple):
    """Room for searches of ways, numbered from 1 on, to tell their entries from older ones.

    Each call of `match_lines` or `trace_ways` begins to number anew, so `stamp` and `wanted` have
    to be 0 before it.
    """

    away: NDArray[np.float64]  # cost of the way to each node, (v,): metres times `cost_per_metre`
    via: NDArray[np.int64]  # the state that leads to it, -1 for where the search begins, (v,)
    stamp: NDArray[np.int64]  # number of the search that wrote these of a node, (v,)
    wanted: NDArray[np.int64]  # number of the search that looks for a node, (v,)
    waiting: NDArray[np.int64]  # nodes to go on from, the nearest last
    nearness: NDArray[np.float64]  # of each, its cost times -1, which rise


class Matching(NamedTuple):
    """The rules by which lines are matched."""

    within: float  # metres; roads farther than this are none
    streets: int  # near each point that are tried at most, each in both directions
    turn: float  # what turning back on a street costs, as a logarithm of likelihood
    slack: float  # metres, by which a way may be longer than twice the straight one


class NearStreets(NamedTuple):
    """The streets near each point of n lines, or of one of them, the nearest first."""

    segment: NDArray[np.int64]  # the nearest one of the street, (n, m, streets)
    away: NDArray[np.float64]  # metres from the point, (n, m, streets)
    share: NDArray[np.float64]  # of the segment before its place nearest to the point
    streets: NDArray[np.int64]  # how many streets each point has, (n, m)


class Paths(NamedTuple):
    """The states of each point of a line, and the best path to each."""

    state: NDArray[np.int64]  # (m, 2 streets)
    offset: NDArray[np.float64]  # metres from where its street is entered, (m, 2 streets)
    score: NDArray[np.float64]  # log-likelihood of the best path up to there, (m, 2 streets)
    before: NDArray[np.int64]  # place of the state at the point before, -1 for none, (m, 2 streets)
    states: NDArray[np.int64]  # how many states each point has, (m,)


class Workspace(NamedTuple):
    """Room for the matching of lines of m points."""

    search: WaySearch
    paths: Paths
    gained: NDArray[np.float64]  # log-likelihood of each state of a point by itself, (2 streets,)
    distances: NDArray[np.float64]  # metres of points from their nearest street, rising, (m,)


class StreetsTaken(NamedTuple):
    """Streets that lines take one after the other."""

    line: NDArray[np.int64]
    state: NDArray[np.int64]
    entered: NDArray[np.float64]  # place on the line, in points from its first
    left: NDArray[np.float64]  # place on the line
    metres: NDArray[np.float64]  # gone on this street


class MatchedWays(NamedTuple):
    """Lines matched to a network."""

    way: NDArray[np.int64]  # state of each point, -1 for one that is near no road, (n, m)
    walked: NDArray[np.float64]  # metres from where its street is entered, (n, m)
    linked: NDArray[np.bool_]  # whether a way leads there from the point before, (n, m)


def room_for(nodes: int, points: int, streets: int) -> Workspace:
    """Make room for lines of given numbers of points on a network of given size."""
    shape = (points, 2 * streets)

    via, stamp, wanted = (np.zeros(nodes, np.int64) for _ in range(3))
    waiting = np.empty(_MOST_WAITING, np.int64)
    count = np.empty(points, np.int64)
    state = np.empty(shape, np.int64)
    before = np.empty(shape, np.int64)
    return Workspace(
        WaySearch(np.empty(nodes), via, stamp, wanted, waiting, np.empty(_MOST_WAITING)),
        Paths(state, np.empty(shape), np.empty(shape), before, count),
        np.empty(2 * streets),
        np.empty(points),
    )


@bare
def metres_of_degree(lat):
    """Compute metres of a degree of latitude and of longitude at a latitude, on WGS 84."""
    sin = np.sin(np.radians(lat))
    curvature = 1.0 - _ECCENTRICITY_SQUARED * sin * sin
    across = _EQUATOR / np.sqrt(curvature)
    north = across * (1.0 - _ECCENTRICITY_SQUARED) / curvature
    east = across * np.cos(np.radians(lat))
    return np.radians(1.0) * north, np.radians(1.0) * east


@bare
def exit_of(network, state):
    """Return the node at which a state leaves its street."""
    return network.ends[state // 2, 1 - state % 2]


@bare
def entry_of(network, state):
    """Return the node at which a state enters its street."""
    return network.ends[state // 2, state % 2]


@bare
def want(network, target, search, mark):
    """Mark the node at which a state enters its street as wanted; return whether it was not yet.

    ``mark`` is the number of the search.
    """
    node = entry_of(network, target)
    if search.wanted[node] == mark:
        return False
    search.wanted[node] = mark
    return True


@bare
def nearest_ways(network, begin_state, left, limit, search, mark):
    """Measure the ways from the end of a state's street to ``left`` nodes that are wanted.

    They cost ``limit`` at most. Where a way is found, ``stamp`` has the mark of this search,
    ``away`` what it costs, and ``via`` the last state on it.
    """
    away, via, stamp, wanted, waiting, nearness = search

    start = exit_of(network, begin_state)
    reverse = begin_state ^ 1
    is_dead_end = network.first[start + 1] - network.first[start] <= 1

    # Dijkstra's search, which ends as soon as all wanted nodes are reached. The stamps save filling
    # the arrays anew: what another search has written counts as unknown.
    size = 1
    waiting[0] = start
    nearness[0] = 0.0
    away[start] = 0.0
    via[start] = -1
    stamp[start] = mark

    while size > 0:
        size -= 1
        node = waiting[size]
        metres = -nearness[size]
        if metres > away[node]:  # a nearer way to it was found since
            continue

        if wanted[node] == mark:
            wanted[node] = 0
            left -= 1
            if left == 0:
                return

        for out in range(network.first[node], network.first[node + 1]):
            state = network.leaving[out]
            # At the start nobody turns back into the same street, but where it is a dead end.
            if node == start and state == reverse and not is_dead_end:
                continue

            end = exit_of(network, state)
            reached = (
                metres + network.street_length[state // 2] * network.cost_per_metre[state // 2]
            )
            if reached > limit or (stamp[end] == mark and away[end] <= reached):
                continue
            if size == waiting.shape[0]:
                continue

            away[end] = reached
            via[end] = state
            stamp[end] = mark
            # Few nodes wait at a time, so a sorted list of them is as fast as a heap.
            insert_rising(nearness, waiting, size, -reached, end)
            size += 1


@bare
def begin_paths(network, near, spread, paths):
    """Fill in the states near each point of a line, and how likely it is seen from each.

    ``spread`` is how far, in metres, the line lies off its road.
    """
    for p in range(near.streets.shape[0]):
        count = 0
        for c in range(near.streets[p]):
            segment = near.segment[p, c]
            street = network.street[segment]
            along = network.before[segment] + near.share[p, c] * network.length[segment]

            for direction in range(2):
                if network.may_go[street, direction]:
                    offset = network.street_length[street] - along if direction else along
                    paths.state[p, count] = 2 * street + direction
                    paths.offset[p, count] = offset
                    paths.score[p, count] = -0.5 * (near.away[p, c] / spread) ** 2
                    paths.before[p, count] = -1
                    count += 1
        paths.states[p] = count


@bare
def straight_between(point, next_point):
    """Compute metres from a point of a line to the next."""
    north, east = metres_of_degree(0.5 * (point[0] + next_point[0]))
    metres_north = (next_point[0] - point[0]) * north
    metres_east = (next_point[1] - point[1]) * east
    return np.sqrt(metres_north * metres_north + metres_east * metres_east)


@bare
def cost_between(network, search, from_state, from_offset, to_state, to_offset, mark):
    """Compute what the way from a place on one street to one on another costs; infinite if none.

    Places are metres from where the street is entered. The ways from the end of the first street
    were searched with this mark.
    """
    dear = network.cost_per_metre[from_state // 2]
    if to_state == from_state:
        # Who seems to have gone back a little has waited.
        return (to_offset - from_offset) * dear if to_offset >= from_offset else 0.0

    rest_of_street = network.street_length[from_state // 2] - from_offset
    if to_state == from_state ^ 1:
        return abs(rest_of_street - to_offset) * dear

    node = entry_of(network, to_state)
    if search.stamp[node] != mark:
        return np.inf
    return (
        rest_of_street * dear
        + search.away[node]
        + to_offset * network.cost_per_metre[to_state // 2]
    )


@bare
def extend_paths(network, matching, straight, p, spread, room, mark):
    """Extend the best paths from states of point p - 1 to each state of p; return the last mark.

    ``straight`` is the distance of the two points in metres. Where no way leads, paths begin anew.
    """
    paths = room.paths
    search = room.search
    gained = room.gained
    limit = 2.0 * straight + matching.slack
    states = paths.state[p, : paths.states[p]]
    offset = paths.offset[p]
    score = paths.score[p]
    before = paths.before[p]

    # What each state gains by itself makes room for the best path to it.
    for b in range(states.shape[0]):
        gained[b] = score[b]
        score[b] = -np.inf

    reached = False
    for a in range(paths.states[p - 1]):
        if paths.score[p - 1, a] == -np.inf:
            continue

        from_state = paths.state[p - 1, a]
        from_offset = paths.offset[p - 1, a]

        # One search looks for all states of p; of those that enter at one node it counts one.
        mark += 1
        count_wanted = 0
        for target in states:
            count_wanted += want(network, target, search, mark)

        rest_of_street = network.street_length[from_state // 2] - from_offset
        dear = network.cost_per_metre[from_state // 2]
        nearest_ways(network, from_state, count_wanted, limit - rest_of_street * dear, search, mark)

        for b in range(states.shape[0]):
            way_cost = cost_between(
                network, search, from_state, from_offset, states[b], offset[b], mark
            )
            if way_cost > limit:
                continue
            turn = matching.turn if states[b] == from_state ^ 1 else 0.0
            value = paths.score[p - 1, a] + gained[b] - abs(way_cost - straight) / spread - turn
            if value > score[b]:
                score[b] = value
                before[b] = a
                reached = True

    # The line leaves the roads, or the map lacks one: another piece of it begins.
    if not reached:
        for b in range(states.shape[0]):
            score[b] = gained[b]
    return mark


@bare
def spread_of(near, distances):
    """Estimate how far a line lies from roads, in metres: by the median of its points' nearest."""
    count = 0
    for p in range(near.streets.shape[0]):
        if near.streets[p]:
            insert_rising(distances, distances, count, near.away[p, 0], near.away[p, 0])
            count += 1

    # 1.4826 times the median of absolute errors is the deviation of normal ones; a few points far
    # from any road do not change it.
    if count == 0:
        return _LEAST_SPREAD
    median = 0.5 * (distances[(count - 1) // 2] + distances[count // 2])
    return max(1.4826 * median, _LEAST_SPREAD)


@bare
def match_lines(network, matching, points, near_all, first, room, matched):
    """Match the lines from number ``first`` on, as many as ``near_all`` has; fill in ``matched``.

    A line that leaves the roads, or has no way on, is matched in pieces.
    """
    way, walked, linked = matched
    m = points.shape[1]
    mark = 0
    paths = room.paths

    for i in range(near_all.streets.shape[0]):
        line = first + i
        near = NearStreets(
            near_all.segment[i], near_all.away[i], near_all.share[i], near_all.streets[i]
        )

        # Used twice: for how far the line lies from its road, and how much longer its way is.
        spread = spread_of(near, room.distances)
        begin_paths(network, near, spread, paths)

        for p in range(1, m):
            if paths.states[p] and paths.states[p - 1]:
                straight = straight_between(points[line, p - 1], points[line, p])
                mark = extend_paths(network, matching, straight, p, spread, room, mark)

        # From the last point back along the best path.
        best = -1
        for p in range(m - 1, -1, -1):
            if best < 0 and paths.states[p]:
                best = int(np.argmax(paths.score[p, : paths.states[p]]))
            way[line, p] = -1
            linked[line, p] = False

            if best >= 0:
                way[line, p] = paths.state[p, best]
                walked[line, p] = paths.offset[p, best]
                best = paths.before[p, best]
                linked[line, p] = best >= 0


@bare
def enter_street(streets, count, line, state, point):
    """Write the state that a line enters, and where on the line; return how many there are then.

    Where ``streets`` is full, they are only counted.
    """
    if count < streets.line.shape[0]:
        streets.line[count] = line
        streets.state[count] = state
        streets.metres[count] = 0.0
        streets.entered[count] = point
        streets.left[count] = point

    return count + 1


@bare
def go_along(streets, count, metres, point):
    """Add metres to the street that was entered last, up to a place on the line."""
    if count <= streets.line.shape[0]:
        streets.metres[count - 1] += metres
        streets.left[count - 1] = point


@bare
def list_back(network, search, to_state, states, metres):
    """List the states of the way that a search found to a state, the last of them first.

    Fill in ``states``; return how many there are, and ``metres`` with those of their streets.
    """
    count = 0
    node = entry_of(network, to_state)
    while search.via[node] >= 0:
        states[count] = search.via[node]
        metres += network.street_length[states[count] // 2]
        node = entry_of(network, states[count])
        count += 1
    return count, metres


@bare
def trace_ways(network, matching, points, matched, search, streets):
    """Follow matched lines along their streets, and fill in ``streets``; return how many there are.

    There may be more than there is room for: then only the count is of use.
    """
    way, walked, linked = matched

    states_between = search.waiting  # free again when a search has ended
    count = 0
    mark = 0

    for line in range(points.shape[0]):
        for p in range(way.shape[1]):
            to_state = way[line, p]
            if to_state < 0:
                continue

            if not linked[line, p]:
                count = enter_street(streets, count, line, to_state, np.float64(p))
                continue

            from_state = way[line, p - 1]
            to_offset = walked[line, p]
            from_offset = walked[line, p - 1]
            if from_state == to_state:
                go_along(streets, count, to_offset - from_offset, np.float64(p))
                continue

            rest_of_street = network.street_length[from_state // 2] - from_offset
            if from_state == to_state ^ 1:  # it turns where it is farthest
                turn = np.float64(p - 1 if rest_of_street <= to_offset else p)
                go_along(streets, count, max(rest_of_street - to_offset, 0.0), turn)
                count = enter_street(streets, count, line, to_state, turn)
                go_along(streets, count, max(to_offset - rest_of_street, 0.0), np.float64(p))
                continue

            # The way between both streets is searched again, as matching found it.
            straight = straight_between(points[line, p - 1], points[line, p])
            mark += 1
            want(network, to_state, search, mark)
            limit = (
                2.0 * straight
                + matching.slack
                - rest_of_street * network.cost_per_metre[from_state // 2]
            )
            nearest_ways(network, from_state, np.int64(1), limit, search, mark)

            between, metres = list_back(
                network, search, to_state, states_between, rest_of_street + to_offset
            )

            # Places on the line, by the share of the way from point p - 1 to p.
            gone = rest_of_street
            share = 1.0 / max(metres, 1e-9)
            go_along(streets, count, rest_of_street, p - 1 + gone * share)

            for step in range(between - 1, -1, -1):
                state = states_between[step]
                count = enter_street(streets, count, line, state, p - 1 + gone * share)
                gone += network.street_length[state // 2]
                go_along(streets, count, network.street_length[state // 2], p - 1 + gone * share)
            count = enter_street(streets, count, line, to_state, p - 1 + gone * share)
            go_along(streets, count, to_offset, np.float64(p))
    return count
