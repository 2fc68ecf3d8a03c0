"""Lines matched to roads: states near each point, ways between them, and the best of all paths."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare

_WAITING = 1 << 16  # nodes that may wait in a search
_ALIKE = 1e-6  # metres


class Network(NamedTuple):
    """Roads as a graph of short straight segments, with a grid of cells to find them.

    A segment runs from its tail to its head. Direction 0 is that way, direction 1 is back.
    """

    lat: NDArray[np.float64]  # degrees, of each node, (v,)
    lon: NDArray[np.float64]  # (v,)
    tail: NDArray[np.int64]  # node, of each segment, (s,)
    head: NDArray[np.int64]  # (s,)
    length: NDArray[np.float64]  # metres, (s,)
    chain: NDArray[np.int64]  # number of the road from junction to junction that it is of, (s,)
    open: NDArray[np.bool_]  # whether it may be gone along in each direction, (s, 2)
    first: NDArray[np.int64]  # place in `leaving` of what leaves each node, (v + 1,)
    leaving: NDArray[np.int64]  # 2 segment + direction, of the open ones
    corner: NDArray[np.float64]  # least latitude and longitude of the grid
    cell: NDArray[np.float64]  # degrees of a cell, of latitude and longitude
    cells: NDArray[np.int64]  # how many there are of each, (2,)
    held: NDArray[np.int64]  # place in `segments` of what lies in each cell, (cells + 1,)
    segments: NDArray[np.int64]


class Search(NamedTuple):
    """What a search of ways writes on."""

    away: NDArray[np.float64]  # metres to each node, (v,)
    stamp: NDArray[np.int64]  # the search that wrote this, (v,)
    wanted: NDArray[np.int64]  # the search that looks for it, (v,)
    heap: NDArray[np.int64]  # nodes that wait
    keys: NDArray[np.float64]  # and how far they are


class Matching(NamedTuple):
    """How lines are matched."""

    within: float  # metres; roads farther than this are none
    states: int  # segments near each point that are tried at most
    spread: float  # metres: how far a line lies from its road, and how much longer than straight
    # its way is, as e to 1; 0 estimates it of each line
    turn: float  # what going back on a segment costs beside
    slack: float  # metres, by which a way may be longer than twice the straight one


class Near(NamedTuple):
    """The roads near each point of a line, the nearest first."""

    segment: NDArray[np.int64]  # (m, states)
    far: NDArray[np.float64]  # metres, (m, states)
    share: NDArray[np.float64]  # of the segment, before the place nearest to the point, (m, states)
    many: NDArray[np.int64]  # how many each point has, (m,)


class Paths(NamedTuple):
    """The states of each point of a line, directions of segments, and the best path to each."""

    state: NDArray[np.int64]  # 2 segment + direction, (m, 2 states)
    offset: NDArray[np.float64]  # metres from where it comes in, (m, 2 states)
    score: NDArray[np.float64]  # log-likelihood of the path, (m, 2 states)
    before: NDArray[np.int64]  # the state of the point before, -1 for none, (m, 2 states)
    states: NDArray[np.int64]  # how many each point has, (m,)


class Room(NamedTuple):
    """What the matching of lines writes on."""

    search: Search
    near: Near
    paths: Paths
    gained: NDArray[np.float64]  # log-likelihood of each state of a point by itself, (2 states,)
    ordered: NDArray[np.float64]  # (m,)


def room_for(nodes: int, points: int, states: int) -> Room:
    """Make room for lines of so many points on a network of so many nodes."""
    one, both = (points, states), (points, 2 * states)
    stamps: NDArray[np.int64] = np.zeros((2, nodes), dtype=np.int64)
    return Room(
        Search(_floats(nodes), stamps[0], stamps[1], _whole(_WAITING), _floats(_WAITING)),
        Near(_whole(one), _floats(one), _floats(one), _whole(points)),
        Paths(_whole(both), _floats(both), _floats(both), _whole(both), _whole(points)),
        _floats(2 * states),
        _floats(points),
    )


def _floats(shape: int | tuple[int, int]) -> NDArray[np.float64]:
    return np.empty(shape)


def _whole(shape: int | tuple[int, int]) -> NDArray[np.int64]:
    return np.empty(shape, dtype=np.int64)


@bare
def metres_of_degree(lat):
    """Metres of a degree of latitude and of longitude at a latitude, on WGS 84."""
    sin = np.sin(np.radians(lat))
    curvature = 1.0 - 0.0066943799901413165 * sin * sin
    across = 6378137.0 / np.sqrt(curvature)
    north = across * (1.0 - 0.0066943799901413165) / curvature
    east = across * np.cos(np.radians(lat))
    return np.radians(1.0) * north, np.radians(1.0) * east


@bare
def near_segments(network, lat, lon, within, found, far, share):
    """Find the nearest segment of each of the roads nearest to a place; give how many.

    Which they are, how far in metres, and where along them the place is.
    """
    north, east = metres_of_degree(lat)
    most = found.shape[0]
    count = 0
    up, over = within / north, within / east
    low = max(int(np.floor((lat - up - network.corner[0]) / network.cell[0])), 0)
    high = min(
        int(np.floor((lat + up - network.corner[0]) / network.cell[0])), network.cells[0] - 1
    )
    left = max(int(np.floor((lon - over - network.corner[1]) / network.cell[1])), 0)
    right = min(
        int(np.floor((lon + over - network.corner[1]) / network.cell[1])), network.cells[1] - 1
    )
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            cell = row * network.cells[1] + column
            for place in range(network.held[cell], network.held[cell + 1]):
                segment = network.segments[place]
                tail, head = network.tail[segment], network.head[segment]
                x = (network.lon[tail] - lon) * east
                y = (network.lat[tail] - lat) * north
                dx = (network.lon[head] - network.lon[tail]) * east
                dy = (network.lat[head] - network.lat[tail]) * north
                squared = dx * dx + dy * dy
                along = 0.0
                if squared > 0.0:
                    along = min(max(-(x * dx + y * dy) / squared, 0.0), 1.0)
                metres = np.sqrt((x + along * dx) ** 2 + (y + along * dy) ** 2)
                if metres > within or (count == most and metres >= far[count - 1]):
                    continue
                here = count if count < most else most - 1
                for other in range(count):
                    if network.chain[found[other]] == network.chain[segment]:
                        less = far[other] - metres
                        # At a bend both segments are as near: the one with the lower number.
                        alike = abs(less) < _ALIKE and segment < found[other]
                        here = other if less >= _ALIKE or alike else -1
                        break
                if here < 0:
                    continue
                count = max(count, here + 1)
                while here > 0 and far[here - 1] > metres:
                    found[here], far[here] = found[here - 1], far[here - 1]
                    share[here] = share[here - 1]
                    here -= 1
                found[here], far[here], share[here] = segment, metres, along
    return count


@bare
def exit_of(network, state):
    """The node at which a direction leaves its segment."""
    segment = state // 2
    return network.tail[segment] if state % 2 else network.head[segment]


@bare
def entry_of(network, state):
    """The node at which it comes in."""
    segment = state // 2
    return network.head[segment] if state % 2 else network.tail[segment]


@bare
def enter_heap(heap, keys, size, node, key):
    """Let a node wait behind ``size`` others, of which the nearest is always the first."""
    place = size
    while place > 0 and keys[(place - 1) // 2] > key:
        heap[place], keys[place] = heap[(place - 1) // 2], keys[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place], keys[place] = node, key


@bare
def leave_heap(heap, keys, size):
    """Take the first node out, which leaves ``size``."""
    last, key = heap[size], keys[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        heap[place], keys[place] = heap[child], keys[child]
        place = child
    heap[place], keys[place] = last, key


@bare
def nearest_ways(network, here, targets, limit, search, mark):
    """Measure the ways from where a state leaves its segment to where others come in.

    Up to a limit in metres, and not back on the segment unless its end is a dead one. ``stamp`` has
    the mark where `away` is known.
    """
    away, stamp, wanted, heap, keys = search
    start, reverse = exit_of(network, here), here ^ 1
    left = 0
    for target in targets:
        node = entry_of(network, target)
        if wanted[node] != mark:
            wanted[node] = mark
            left += 1
    alone = network.first[start + 1] - network.first[start] <= 1
    size = 1
    heap[0], keys[0] = start, 0.0
    away[start], stamp[start] = 0.0, mark
    while size > 0:
        node, metres = heap[0], keys[0]
        size -= 1
        leave_heap(heap, keys, size)
        if metres > away[node]:
            continue
        if wanted[node] == mark:
            wanted[node] = 0
            left -= 1
            if left == 0:
                return
        for out in range(network.first[node], network.first[node + 1]):
            state = network.leaving[out]
            if node == start and state == reverse and not alone:
                continue
            segment = state // 2
            to = network.tail[segment] if state % 2 else network.head[segment]
            reached = metres + network.length[segment]
            if reached > limit or (stamp[to] == mark and away[to] <= reached):
                continue
            if size == heap.shape[0]:
                continue
            away[to], stamp[to] = reached, mark
            enter_heap(heap, keys, size, to, reached)
            size += 1


@bare
def find_near(network, matching, line, near):
    """Find the roads near each point of a line; whether each has one."""
    for p in range(line.shape[0]):
        lat, lon = line[p]
        near.many[p] = near_segments(
            network, lat, lon, matching.within, near.segment[p], near.far[p], near.share[p]
        )
        if near.many[p] == 0:
            return False
    return True


@bare
def begin_paths(network, near, spread, paths):
    """List the states near each point of a line, and how likely it is seen from each."""
    for p in range(near.many.shape[0]):
        n = 0
        for c in range(near.many[p]):
            segment = near.segment[p, c]
            for direction in range(2):
                if network.open[segment, direction]:
                    paths.state[p, n] = 2 * segment + direction
                    along = 1.0 - near.share[p, c] if direction else near.share[p, c]
                    paths.offset[p, n] = along * network.length[segment]
                    paths.score[p, n] = -0.5 * (near.far[p, c] / spread) ** 2
                    n += 1
        paths.states[p] = n


@bare
def go_on(network, matching, line, p, spread, room, mark):
    """Lead the best path to each state of a point from those of the one before; the last mark."""
    paths, search, gained = room.paths, room.search, room.gained
    north, east = metres_of_degree(0.5 * (line[p - 1, 0] + line[p, 0]))
    up = (line[p, 0] - line[p - 1, 0]) * north
    over = (line[p, 1] - line[p - 1, 1]) * east
    straight = np.sqrt(up * up + over * over)
    limit = 2.0 * straight + matching.slack
    states, offset = paths.state[p, : paths.states[p]], paths.offset[p]
    score, before = paths.score[p], paths.before[p]
    for b in range(states.shape[0]):
        gained[b], score[b], before[b] = score[b], -np.inf, -1
    for a in range(paths.states[p - 1]):
        if paths.score[p - 1, a] == -np.inf:
            continue
        here, at = paths.state[p - 1, a], paths.offset[p - 1, a]
        mark += 1
        left = network.length[here // 2] - at
        nearest_ways(network, here, states, limit, search, mark)
        for b in range(states.shape[0]):
            there = states[b]
            cost = 0.0
            if there == here and offset[b] >= at:
                metres = offset[b] - at
            elif there == here:
                metres = 0.0  # it waits
            elif there == here ^ 1:
                metres = abs(network.length[here // 2] - offset[b] - at)
                cost = matching.turn
            else:
                node = entry_of(network, there)
                if search.stamp[node] != mark:
                    continue
                metres = left + search.away[node] + offset[b]
            if metres > limit:
                continue
            value = paths.score[p - 1, a] + gained[b] - abs(metres - straight) / spread - cost
            if value > score[b]:
                score[b], before[b] = value, a
    return mark


@bare
def middle_of(values, ordered):
    """The median of some values, which are put in order."""
    n = values.shape[0]
    for i in range(n):
        place = i
        while place > 0 and ordered[place - 1] > values[i]:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = values[i]
    return 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])


@bare
def last_state(score):
    """The state that the best path ends in; -1 if there is no path."""
    best = -1
    for state in range(score.shape[0]):
        if score[state] > (score[best] if best >= 0 else -np.inf):
            best = state
    return best


@bare
def match_lines(network, matching, points, first, end, room, way, walked, told):
    """Match lines, (n, m, 2), from the first to before the end, to the network.

    ``way`` gets a state for each point, and -1 in the whole row of a line that no road explains;
    ``walked`` where on it, in metres from where it comes in; ``told`` the log-likelihood.
    """
    m, mark = points.shape[1], 0
    near, paths = room.near, room.paths
    for line in range(first, end):
        for p in range(m):
            way[line, p] = -1
        if not find_near(network, matching, points[line], near):
            continue
        spread = matching.spread
        if spread <= 0.0:
            spread = max(1.4826 * middle_of(near.far[:, 0], room.ordered), 5.0)
        begin_paths(network, near, spread, paths)
        for p in range(1, m):
            mark = go_on(network, matching, points[line], p, spread, room, mark)
        best = last_state(paths.score[m - 1, : paths.states[m - 1]])
        if best < 0:
            continue
        told[line] = paths.score[m - 1, best]
        for p in range(m - 1, -1, -1):
            way[line, p], walked[line, p] = paths.state[p, best], paths.offset[p, best]
            if p:
                best = paths.before[p, best]
        for p in range(1, m):  # who waits does not go back
            if way[line, p] == way[line, p - 1]:
                walked[line, p] = max(walked[line, p], walked[line, p - 1])
