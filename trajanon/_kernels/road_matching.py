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

_ECCENTRICITY_SQUARED = 0.0066943799901413165  # of the ellipsoid WGS 84
_EQUATOR = 6378137.0  # its radius there, in metres


class Network(NamedTuple):
    """A network of v nodes, s segments, each from tail to head, and c streets made of segments."""

    lat: NDArray[np.float64]  # degrees, of each node, (v,)
    lon: NDArray[np.float64]  # (v,)
    tail: NDArray[np.int64]  # node, of each segment, in the order of streets, (s,)
    head: NDArray[np.int64]  # (s,)
    length: NDArray[np.float64]  # metres, (s,)
    before: NDArray[np.float64]  # metres of its street before each segment, (s,)
    street: NDArray[np.int64]  # of each segment, (s,)
    ends: NDArray[np.int64]  # nodes at which a street begins and ends, (c, 2)
    street_length: NDArray[np.float64]  # metres, (c,)
    cost_per_metre: NDArray[np.float64]  # of a street, where ways are chosen, (c,)
    may_go: NDArray[np.bool_]  # along a street forward and backward, (c, 2)
    first: NDArray[np.int64]  # place in `leaving` of the first state out of each node, (v + 1,)
    leaving: NDArray[np.int64]  # the states that lead out of nodes, node by node


class WaySearch(NamedTuple):
    """Room for searches of ways, numbered from 1 on, to tell their entries from older ones.

    Each call of `match_lines` or `trace_ways` begins to number anew, so `found_by` and `wanted_by`
    have to be 0 before it.
    """

    cost: NDArray[np.float64]  # of the way to each node, (v,): metres times `cost_per_metre`
    via: NDArray[np.int64]  # the state that leads to it, -1 for where the search begins, (v,)
    found_by: NDArray[np.int64]  # number of the search that wrote these of a node, (v,)
    wanted_by: NDArray[np.int64]  # number of the search that looks for a node, (v,)
    waiting: NDArray[np.int64]  # nodes to go on from, the cheapest last
    minus_cost: NDArray[np.float64]  # of each, its cost times -1, which rise


class Matching(NamedTuple):
    """The rules by which lines are matched."""

    reach: float  # metres; roads farther than this are none
    streets: int  # near each point, which are tried in both directions
    turn_cost: float  # of turning back on a street, as a logarithm of likelihood
    slack: float  # metres, by which a way may be longer than twice the straight one


class NearStreets(NamedTuple):
    """The streets near each point of n lines, the nearest first."""

    segment: NDArray[np.int64]  # the nearest one of the street, (n, m, streets)
    metres: NDArray[np.float64]  # from the point, (n, m, streets)
    share: NDArray[np.float64]  # of the segment before the place nearest to the point, likewise
    street_counts: NDArray[np.int64]  # how many streets each point has, (n, m)
    spread: NDArray[np.float64]  # metres that each line lies off its road, as is estimated, (n,)


class Paths(NamedTuple):
    """The states of each point of a line, and the best path to each."""

    state: NDArray[np.int64]  # (m, 2 streets)
    offset: NDArray[np.float64]  # metres from where its street is entered, (m, 2 streets)
    score: NDArray[np.float64]  # log-likelihood of the best path up to there, (m, 2 streets)
    # The place, in this table, of the state at the point before; -1 for none, (m, 2 streets).
    before: NDArray[np.int64]
    state_counts: NDArray[np.int64]  # how many states each point has, (m,)


class Workspace(NamedTuple):
    """Room for the matching of lines of m points."""

    search: WaySearch
    paths: Paths
    gained: NDArray[np.float64]  # log-likelihood of each state of a point by itself, (2 streets,)


class StreetsTaken(NamedTuple):
    """Streets that lines take one after the other: a row for each, (r,)."""

    line: NDArray[np.int64]  # its number
    state: NDArray[np.int64]
    entered: NDArray[np.float64]  # place on the line, in points from its first
    left: NDArray[np.float64]  # place on the line where it leaves the street, likewise
    metres: NDArray[np.float64]  # gone on this street


class MatchedWays(NamedTuple):
    """Lines matched to a network."""

    state: NDArray[np.int64]  # of each point, -1 for one that is near no road, (n, m)
    offset: NDArray[np.float64]  # metres from where its street is entered, (n, m)
    linked: NDArray[np.bool_]  # whether a way leads there from the point before, (n, m)


def room_for_searches(nodes: int) -> WaySearch:
    """Make room for searches on a network of nodes."""
    via, found_by, wanted_by = (np.zeros(nodes, np.int64) for _ in range(3))
    waiting = np.empty(_MOST_WAITING, np.int64)
    minus_cost = np.empty(_MOST_WAITING)
    return WaySearch(np.empty(nodes), via, found_by, wanted_by, waiting, minus_cost)


def room_for(nodes: int, points: int, streets: int) -> Workspace:
    """Make room for lines of so many points, each near so many streets, on a network of nodes."""
    shape = (points, 2 * streets)
    state, before = np.empty((2, *shape), np.int64)
    offset, score = np.empty((2, *shape))
    paths = Paths(state, offset, score, before, state_counts=np.empty(points, np.int64))
    return Workspace(room_for_searches(nodes), paths, gained=np.empty(2 * streets))


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
def want(network, target, search, number):
    """Mark the node at which the state ``target`` enters its street as wanted by a search.

    ``number`` is that of the search. Returned is whether it did not want the node before.
    """
    node = entry_of(network, target)
    if search.wanted_by[node] == number:
        return False
    search.wanted_by[node] = number
    return True


@bare
def nearest_ways(network, begin_state, wanted_count, limit, search, number):
    """Measure the ways from the end of a state's street to the nodes that are wanted.

    They cost ``limit`` at most. Where a way is found, ``found_by`` has the number of this search,
    ``cost`` what it costs, and ``via`` the last state on it.
    """
    cost, via, found_by, wanted_by, waiting, minus_cost = search

    start = exit_of(network, begin_state)
    reverse = begin_state ^ 1
    is_dead_end = network.first[start + 1] - network.first[start] <= 1

    # Dijkstra's search, which ends as soon as all wanted nodes are reached. By the numbers of
    # searches no array is filled anew: what another search has written counts as unknown.
    size = 1
    waiting[0] = start
    minus_cost[0] = 0.0
    cost[start] = 0.0
    via[start] = -1
    found_by[start] = number

    while size > 0:
        size -= 1
        node = waiting[size]
        node_cost = -minus_cost[size]
        if node_cost > cost[node]:  # a cheaper way to it was found since
            continue

        if wanted_by[node] == number:
            wanted_by[node] = 0
            wanted_count -= 1
            if wanted_count == 0:
                return

        for place in range(network.first[node], network.first[node + 1]):
            state = network.leaving[place]
            # At the start nobody turns back into the same street, but where it is a dead end.
            if node == start and state == reverse and not is_dead_end:
                continue

            end = exit_of(network, state)
            street = state // 2
            end_cost = node_cost + network.street_length[street] * network.cost_per_metre[street]
            if end_cost > limit or (found_by[end] == number and cost[end] <= end_cost):
                continue
            if size == waiting.shape[0]:
                continue  # no room: the way may then be missed

            cost[end] = end_cost
            via[end] = state
            found_by[end] = number
            # Few nodes wait at a time, so a sorted list of them is as fast as a heap.
            insert_rising(minus_cost, waiting, size, -end_cost, end)
            size += 1


@bare
def begin_paths(network, near, line, paths):
    """Fill in the states near each point of a line, and how likely it is seen from each."""
    for point in range(near.street_counts.shape[1]):
        count = 0
        for rank in range(near.street_counts[line, point]):
            segment = near.segment[line, point, rank]
            street = network.street[segment]
            along = (
                network.before[segment] + near.share[line, point, rank] * network.length[segment]
            )

            for direction in range(2):
                if network.may_go[street, direction]:
                    offset = network.street_length[street] - along if direction else along
                    paths.state[point, count] = 2 * street + direction
                    paths.offset[point, count] = offset
                    deviations = near.metres[line, point, rank] / near.spread[line]
                    paths.score[point, count] = -0.5 * deviations**2
                    paths.before[point, count] = -1
                    count += 1
        paths.state_counts[point] = count


@bare
def straight_between(point, next_point):
    """Compute metres straight from a point of a line to the next, both (2,), degrees."""
    north, east = metres_of_degree(0.5 * (point[0] + next_point[0]))
    metres_north = (next_point[0] - point[0]) * north
    metres_east = (next_point[1] - point[1]) * east
    return np.sqrt(metres_north * metres_north + metres_east * metres_east)


@bare
def cost_between(network, search, from_state, from_offset, to_state, to_offset, number):
    """Compute what the way from a place on one street to one on another costs; infinite if none.

    Offsets are metres from where the street is entered. The ways from the end of the first street
    were found by the search of this number.
    """
    from_cost = network.cost_per_metre[from_state // 2]
    if to_state == from_state:
        # Who seems to have gone back a little has waited.
        return (to_offset - from_offset) * from_cost if to_offset >= from_offset else 0.0

    rest_of_street = network.street_length[from_state // 2] - from_offset
    is_turn = to_state == from_state ^ 1
    if is_turn:
        return abs(rest_of_street - to_offset) * from_cost

    node = entry_of(network, to_state)
    if search.found_by[node] != number:
        return np.inf
    to_cost = network.cost_per_metre[to_state // 2]
    return rest_of_street * from_cost + search.cost[node] + to_offset * to_cost


@bare
def extend_paths(network, matching, straight, point, spread, room, number):
    """Extend the best paths from states of the point before to each state of a point.

    ``straight`` is the distance of the two points in metres. Where no way leads, paths begin anew.
    ``number`` is that of the last search of ways before this; returned is that of the last one now.
    """
    paths = room.paths
    search = room.search
    gained = room.gained
    limit = 2.0 * straight + matching.slack
    states = paths.state[point, : paths.state_counts[point]]
    offset = paths.offset[point]
    score = paths.score[point]
    before = paths.before[point]

    # The scores so far are what each state gains by itself; they make room for the best path to it.
    for j in range(states.shape[0]):
        gained[j] = score[j]
        score[j] = -np.inf

    reached = False
    for i in range(paths.state_counts[point - 1]):
        score_before = paths.score[point - 1, i]
        if score_before == -np.inf:
            continue

        from_state = paths.state[point - 1, i]
        from_offset = paths.offset[point - 1, i]

        # One search looks for all states of the point; of those that enter at one node it counts
        # one. What it costs to the end of the first street is left out.
        number += 1
        wanted_count = 0
        for target in states:
            if want(network, target, search, number):
                wanted_count += 1

        rest_of_street = network.street_length[from_state // 2] - from_offset
        rest_cost = rest_of_street * network.cost_per_metre[from_state // 2]
        nearest_ways(network, from_state, wanted_count, limit - rest_cost, search, number)

        for j in range(states.shape[0]):
            way_cost = cost_between(
                network, search, from_state, from_offset, states[j], offset[j], number
            )
            if way_cost > limit:
                continue
            turn_cost = matching.turn_cost if states[j] == from_state ^ 1 else 0.0
            value = score_before + gained[j] - abs(way_cost - straight) / spread - turn_cost
            if value > score[j]:
                score[j] = value
                before[j] = i
                reached = True

    # The line leaves the roads, or the map lacks one: another piece of it begins.
    if not reached:
        for j in range(states.shape[0]):
            score[j] = gained[j]
    return number


@bare
def match_lines(network, matching, points, near, first, room, matched):
    """Match the lines from number ``first`` on, as many as ``near`` has; fill in ``matched``.

    ``points``, (n, m, 2), are those of all lines. A line that leaves the roads, or has no way on,
    is matched in pieces.
    """
    m = points.shape[1]
    number = 0
    paths = room.paths

    for i in range(near.street_counts.shape[0]):
        line = first + i
        begin_paths(network, near, i, paths)

        for point in range(1, m):
            if paths.state_counts[point] and paths.state_counts[point - 1]:
                straight = straight_between(points[line, point - 1], points[line, point])
                number = extend_paths(
                    network, matching, straight, point, near.spread[i], room, number
                )

        # From the last point back along the best path; where a piece begins, its last point is that
        # of the piece before.
        best = -1
        for point in range(m - 1, -1, -1):
            if best < 0 and paths.state_counts[point]:
                best = int(np.argmax(paths.score[point, : paths.state_counts[point]]))
            matched.state[line, point] = -1
            matched.linked[line, point] = False

            if best >= 0:
                matched.state[line, point] = paths.state[point, best]
                matched.offset[line, point] = paths.offset[point, best]
                best = paths.before[point, best]
                matched.linked[line, point] = best >= 0


@bare
def enter_street(streets, count, line, state, place):
    """Write the state that a line enters, and at which place; return how many there are then.

    A place on the line is counted in points from its first. Where ``streets`` is full, states are
    only counted.
    """
    if count < streets.line.shape[0]:
        streets.line[count] = line
        streets.state[count] = state
        streets.metres[count] = 0.0
        streets.entered[count] = place
        streets.left[count] = place

    return count + 1


@bare
def go_along(streets, count, metres, place):
    """Add metres to the street that was entered last, up to a place on the line."""
    if count <= streets.line.shape[0]:
        streets.metres[count - 1] += metres
        streets.left[count - 1] = place


@bare
def list_backward(network, search, to_state, states, metres):
    """List the states of the way that a search found to a state, the last of them first.

    Fill in ``states``; return how many there are, and ``metres`` with those of their streets added.
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
    states_between = search.waiting  # free again when a search has ended
    count = 0
    number = 0

    for line in range(points.shape[0]):
        for point in range(points.shape[1]):
            before = point - 1
            to_state = matched.state[line, point]
            if to_state < 0:
                continue

            if not matched.linked[line, point]:
                count = enter_street(streets, count, line, to_state, np.float64(point))
                continue

            from_state = matched.state[line, before]
            to_offset = matched.offset[line, point]
            from_offset = matched.offset[line, before]
            if from_state == to_state:
                go_along(streets, count, to_offset - from_offset, np.float64(point))
                continue

            rest_of_street = network.street_length[from_state // 2] - from_offset
            if from_state == to_state ^ 1:  # it turns on the street, at the point nearer its end
                turn = np.float64(before if rest_of_street <= to_offset else point)
                go_along(streets, count, max(rest_of_street - to_offset, 0.0), turn)
                count = enter_street(streets, count, line, to_state, turn)
                go_along(streets, count, max(to_offset - rest_of_street, 0.0), np.float64(point))
                continue

            # The way between both streets is searched again, as matching found it.
            straight = straight_between(points[line, before], points[line, point])
            number += 1
            want(network, to_state, search, number)
            rest_cost = rest_of_street * network.cost_per_metre[from_state // 2]
            limit = 2.0 * straight + matching.slack - rest_cost
            nearest_ways(network, from_state, np.int64(1), limit, search, number)

            between_count, metres = list_backward(
                network, search, to_state, states_between, rest_of_street + to_offset
            )

            # Places on the line, by the share of the way from the point before.
            gone = rest_of_street
            share_per_metre = 1.0 / max(metres, 1e-9)
            place = before + gone * share_per_metre
            go_along(streets, count, rest_of_street, place)

            for i in range(between_count - 1, -1, -1):
                state = states_between[i]
                street_length = network.street_length[state // 2]
                count = enter_street(streets, count, line, state, place)
                gone += street_length
                place = before + gone * share_per_metre
                go_along(streets, count, street_length, place)
            count = enter_street(streets, count, line, to_state, place)
            go_along(streets, count, to_offset, np.float64(point))
    return count
