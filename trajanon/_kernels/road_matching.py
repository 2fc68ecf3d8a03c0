"""Lines matched to roads: states near each point, ways between them, and the best of all paths."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import insert_rising
from trajanon._kernels.compiled import bare

_WAITING = 1 << 16  # nodes that may wait in a search
_LEAST = 5.0  # metres, which every line is off its road


class Network(NamedTuple):
    """Streets of segments, tail to head; a state is 2 street + direction, which is 1 for back."""

    lat: NDArray[np.float64]  # degrees, of each node, (v,)
    lon: NDArray[np.float64]  # (v,)
    tail: NDArray[np.int64]  # node, of each segment, in the order of streets, (s,)
    head: NDArray[np.int64]  # (s,)
    length: NDArray[np.float64]  # metres, (s,)
    before: NDArray[np.float64]  # metres of its street before it, (s,)
    street: NDArray[np.int64]  # of each segment, (s,)
    ends: NDArray[np.int64]  # nodes at which a street begins and ends, (c, 2)
    whole: NDArray[np.float64]  # metres of a street, (c,)
    dear: NDArray[np.float64]  # for how many a metre of it counts where ways are chosen, (c,)
    open: NDArray[np.bool_]  # whether it may be gone along in each direction, (c, 2)
    first: NDArray[np.int64]  # place in `leaving` of the ways out of each node, (v + 1,)
    leaving: NDArray[np.int64]  # states


class WaySearch(NamedTuple):
    """What a search of ways writes on."""

    away: NDArray[np.float64]  # metres to each node, (v,)
    via: NDArray[np.int64]  # the state that leads to it, -1 for where the search begins, (v,)
    stamp: NDArray[np.int64]  # the search that wrote this, (v,)
    wanted: NDArray[np.int64]  # the search that looks for it, (v,)
    waiting: NDArray[np.int64]  # nodes, the nearest last
    nearness: NDArray[np.float64]  # of each, in metres times -1, which rise


class Matching(NamedTuple):
    """How lines are matched."""

    within: float  # metres; roads farther than this are none
    states: int  # streets near each point that are tried at most
    turn: float  # what going back on a street costs beside
    slack: float  # metres, by which a way may be longer than twice the straight one


class Near(NamedTuple):
    """The streets near each point of lines, or of one of them, the nearest first."""

    segment: NDArray[np.int64]  # (n, m, states)
    far: NDArray[np.float64]  # metres, (n, m, states)
    share: NDArray[np.float64]  # of the segment, before the place nearest to the point
    many: NDArray[np.int64]  # how many each point has, (n, m)


class Paths(NamedTuple):
    """The states of each point of a line, and the best path to each."""

    state: NDArray[np.int64]  # (m, 2 states)
    offset: NDArray[np.float64]  # metres from where it comes in, (m, 2 states)
    score: NDArray[np.float64]  # log-likelihood of the path, (m, 2 states)
    before: NDArray[np.int64]  # the state of the point before, -1 for none, (m, 2 states)
    states: NDArray[np.int64]  # how many each point has, (m,)


class Room(NamedTuple):
    """What the matching of lines writes on."""

    search: WaySearch
    paths: Paths
    gained: NDArray[np.float64]  # log-likelihood of each state of a point by itself, (2 states,)
    ordered: NDArray[np.float64]  # (m,)


class Found(NamedTuple):
    """Streets that lines take one after the other."""

    line: NDArray[np.int64]
    state: NDArray[np.int64]
    entered: NDArray[np.float64]  # place on the line, in points from its first
    left: NDArray[np.float64]
    metres: NDArray[np.float64]  # on this street


class MatchedWays(NamedTuple):
    """Lines on a network."""

    way: NDArray[np.int64]  # state of each point, -1 for one that is near no road, (n, m)
    walked: NDArray[np.float64]  # metres from where it comes in, (n, m)
    linked: NDArray[np.bool_]  # whether a way leads there from the point before, (n, m)


def room_for(nodes: int, points: int, states: int) -> Room:
    """Make room for lines of given numbers of points on a network of given size."""
    shape = (points, 2 * states)

    via, stamp, wanted = (np.zeros(nodes, np.int64) for _ in range(3))
    waiting = np.empty(_WAITING, np.int64)
    count = np.empty(points, np.int64)
    state = np.empty(shape, np.int64)
    before = np.empty(shape, np.int64)
    return Room(
        WaySearch(np.empty(nodes), via, stamp, wanted, waiting, np.empty(_WAITING)),
        Paths(state, np.empty(shape), np.empty(shape), before, count),
        np.empty(2 * states),
        np.empty(points),
    )


@bare
def metres_of_degree(lat):
    """Compute metres of a degree of latitude and of longitude at a latitude, on WGS 84."""
    sin = np.sin(np.radians(lat))
    curvature = 1.0 - 0.0066943799901413165 * sin * sin
    across = 6378137.0 / np.sqrt(curvature)
    north = across * (1.0 - 0.0066943799901413165) / curvature
    east = across * np.cos(np.radians(lat))
    return np.radians(1.0) * north, np.radians(1.0) * east


@bare
def exit_of(network, state):
    """Return the node at which a direction leaves its street."""
    return network.ends[state // 2, 1 - state % 2]


@bare
def entry_of(network, state):
    """Return the node at which it comes in."""
    return network.ends[state // 2, state % 2]


@bare
def want(network, target, search, mark):
    """Mark where a state comes in as wanted by a search; return whether it was not already."""
    node = entry_of(network, target)
    if search.wanted[node] == mark:
        return False
    search.wanted[node] = mark
    return True


@bare
def nearest_ways(network, begin_state, left, limit, search, mark):
    """Measure ways to nodes wanted, within metres; ``stamp`` has the mark where one is known."""
    away, via, stamp, wanted, waiting, nearness = search

    start = exit_of(network, begin_state)
    reverse = begin_state ^ 1
    alone = network.first[start + 1] - network.first[start] <= 1

    # Dijkstra's search, that ends as soon as all wanted nodes are reached. The stamps save filling
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
            if node == start and state == reverse and not alone:
                continue

            end = exit_of(network, state)
            reached = metres + network.whole[state // 2] * network.dear[state // 2]
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
    """List the states near each point of a line, and how likely it is seen from each."""
    for p in range(near.many.shape[0]):
        n = 0
        for c in range(near.many[p]):
            segment = near.segment[p, c]
            street = network.street[segment]
            along = network.before[segment] + near.share[p, c] * network.length[segment]

            for direction in range(2):
                if network.open[street, direction]:
                    paths.state[p, n] = 2 * street + direction
                    paths.offset[p, n] = network.whole[street] - along if direction else along
                    paths.score[p, n] = -0.5 * (near.far[p, c] / spread) ** 2
                    paths.before[p, n] = -1
                    n += 1
        paths.states[p] = n


@bare
def straight_between(point, next_point):
    """Compute metres from a point of a line to the next."""
    north, east = metres_of_degree(0.5 * (point[0] + next_point[0]))
    up = (next_point[0] - point[0]) * north
    over = (next_point[1] - point[1]) * east
    return np.sqrt(up * up + over * over)


@bare
def metres_between(network, search, from_state, from_offset, to_state, to_offset, mark):
    """Measure the way from a place on a street to one on another; infinite if none was found."""
    dear = network.dear[from_state // 2]
    if to_state == from_state:
        # One that lies behind waits.
        return (to_offset - from_offset) * dear if to_offset >= from_offset else 0.0

    rest_of_street = network.whole[from_state // 2] - from_offset
    if to_state == from_state ^ 1:
        return abs(rest_of_street - to_offset) * dear

    node = entry_of(network, to_state)
    if search.stamp[node] != mark:
        return np.inf
    return rest_of_street * dear + search.away[node] + to_offset * network.dear[to_state // 2]


@bare
def go_on(network, matching, straight, p, spread, room, mark):
    """Extend the best paths to each state of a point, or begin again; return the last mark."""
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

        mark += 1
        count_wanted = 0
        for target in states:
            count_wanted += want(network, target, search, mark)

        rest_of_street = network.whole[from_state // 2] - from_offset
        dear = network.dear[from_state // 2]
        nearest_ways(network, from_state, count_wanted, limit - rest_of_street * dear, search, mark)

        for b in range(states.shape[0]):
            metres = metres_between(
                network, search, from_state, from_offset, states[b], offset[b], mark
            )
            if metres > limit:
                continue
            cost = matching.turn if states[b] == from_state ^ 1 else 0.0
            value = paths.score[p - 1, a] + gained[b] - abs(metres - straight) / spread - cost
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
def spread_of(near, ordered):
    """Estimate how far a line lies from roads, in metres: by the median of its points' nearest."""
    n = 0
    for p in range(near.many.shape[0]):
        if near.many[p]:
            insert_rising(ordered, ordered, n, near.far[p, 0], near.far[p, 0])
            n += 1

    # 1.4826 times the median of absolute errors is the deviation of normal ones; a few points far
    # from any road do not change it.
    if n == 0:
        return _LEAST
    return max(1.4826 * 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]), _LEAST)


@bare
def match_lines(network, matching, points, near_all, first, room, matched):
    """Match lines from the first on that have streets near; in pieces if they leave roads."""
    way, walked, linked = matched
    m = points.shape[1]
    mark = 0
    paths = room.paths

    for i in range(near_all.many.shape[0]):
        line = first + i
        near = Near(near_all.segment[i], near_all.far[i], near_all.share[i], near_all.many[i])

        # How far the line lies from its road, and how much longer than straight its way is.
        spread = spread_of(near, room.ordered)
        begin_paths(network, near, spread, paths)

        for p in range(1, m):
            if paths.states[p] and paths.states[p - 1]:
                straight = straight_between(points[line, p - 1], points[line, p])
                mark = go_on(network, matching, straight, p, spread, room, mark)

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
    """Write the state that a line enters, and where on the line; return the new count."""
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
def trace_ways(network, matching, points, matched, search, streets):
    """Follow matched lines along all streets; return how many, if ``streets`` has room or not."""
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
            goal = walked[line, p]
            gone = walked[line, p - 1]
            if from_state == to_state:
                go_along(streets, count, goal - gone, np.float64(p))
                continue

            rest_of_street = network.whole[from_state // 2] - gone
            if from_state == to_state ^ 1:  # it turns where it is farthest
                turn = np.float64(p - 1 if rest_of_street <= goal else p)
                go_along(streets, count, max(rest_of_street - goal, 0.0), turn)
                count = enter_street(streets, count, line, to_state, turn)
                go_along(streets, count, max(goal - rest_of_street, 0.0), np.float64(p))
                continue

            straight = straight_between(points[line, p - 1], points[line, p])
            mark += 1
            want(network, to_state, search, mark)
            limit = 2.0 * straight + matching.slack - rest_of_street * network.dear[from_state // 2]
            nearest_ways(network, from_state, np.int64(1), limit, search, mark)

            # From the last to the first.
            node = entry_of(network, to_state)
            metres = rest_of_street + goal
            between = 0
            while search.via[node] >= 0:
                states_between[between] = search.via[node]
                metres += network.whole[states_between[between] // 2]
                node = entry_of(network, states_between[between])
                between += 1

            sofar = rest_of_street
            unit = 1.0 / max(metres, 1e-9)
            go_along(streets, count, rest_of_street, p - 1 + sofar * unit)

            for step in range(between - 1, -1, -1):
                state = states_between[step]
                count = enter_street(streets, count, line, state, p - 1 + sofar * unit)
                sofar += network.whole[state // 2]
                go_along(streets, count, network.whole[state // 2], p - 1 + sofar * unit)
            count = enter_street(streets, count, line, to_state, p - 1 + sofar * unit)
            go_along(streets, count, goal, np.float64(p))
    return count
