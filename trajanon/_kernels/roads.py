"""Lines matched to roads: states near each point, ways between them, and the best of all paths."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel

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


@kernel
def metres_of_degree(lat):
    """Metres of a degree of latitude and of longitude at a latitude, on WGS 84."""
    sin = np.sin(np.radians(lat))
    curvature = 1.0 - 0.0066943799901413165 * sin * sin
    across = 6378137.0 / np.sqrt(curvature)
    north = across * (1.0 - 0.0066943799901413165) / curvature
    east = across * np.cos(np.radians(lat))
    return np.radians(1.0) * north, np.radians(1.0) * east


@kernel
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


@kernel
def exit_of(network, state):
    """The node at which a direction leaves its segment."""
    segment = state // 2
    return network.tail[segment] if state % 2 else network.head[segment]


@kernel
def entry_of(network, state):
    """The node at which it comes in."""
    segment = state // 2
    return network.head[segment] if state % 2 else network.tail[segment]


@kernel
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
            place = size
            size += 1
            while place > 0 and keys[(place - 1) // 2] > reached:
                heap[place], keys[place] = heap[(place - 1) // 2], keys[(place - 1) // 2]
                place = (place - 1) // 2
            heap[place], keys[place] = to, reached


@kernel
def empty_search(nodes):
    """Make room for searches."""
    return Search(
        np.empty(nodes),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.empty(_WAITING, np.int64),
        np.empty(_WAITING),
    )


@kernel
def match_lines(network, matching, points, first, end, way, walked, told):
    """Match lines, (n, m, 2), from the first to before the end, to the network.

    ``way`` gets a state for each point, and -1 in the whole row of a line that no road explains;
    ``walked`` where on it, in metres from where it comes in; ``told`` the log-likelihood.
    """
    nodes, m = network.lat.shape[0], points.shape[1]
    search, mark = empty_search(nodes), 0
    away, stamp = search.away, search.stamp
    found = np.empty((m, matching.states), np.int64)
    far, share = np.empty((m, matching.states)), np.empty((m, matching.states))
    count = np.empty(m, np.int64)
    most = 2 * matching.states
    state, offset = np.empty((m, most), np.int64), np.empty((m, most))
    score, before = np.empty((m, most)), np.empty((m, most), np.int64)
    states = np.empty(m, np.int64)
    nearest = np.empty(m)
    for line in range(first, end):
        way[line, :] = -1
        explained = True
        for p in range(m):
            lat, lon = points[line, p]
            count[p] = near_segments(network, lat, lon, matching.within, found[p], far[p], share[p])
            if count[p] == 0:
                explained = False
                break
            nearest[p] = far[p, 0]
        if not explained:
            continue
        spread = matching.spread
        if spread <= 0.0:
            spread = max(1.4826 * np.median(nearest), 5.0)
        for p in range(m):
            n = 0
            for c in range(count[p]):
                segment = found[p, c]
                for direction in range(2):
                    if network.open[segment, direction]:
                        state[p, n] = 2 * segment + direction
                        along = 1.0 - share[p, c] if direction else share[p, c]
                        offset[p, n] = along * network.length[segment]
                        score[p, n] = -0.5 * (far[p, c] / spread) ** 2
                        n += 1
            states[p] = n
        for p in range(1, m):
            north, east = metres_of_degree(0.5 * (points[line, p - 1, 0] + points[line, p, 0]))
            up = (points[line, p, 0] - points[line, p - 1, 0]) * north
            over = (points[line, p, 1] - points[line, p - 1, 1]) * east
            straight = np.sqrt(up * up + over * over)
            limit = 2.0 * straight + matching.slack
            for b in range(states[p]):
                before[p, b] = -1
            gained = score[p].copy()
            score[p, : states[p]] = -np.inf
            for a in range(states[p - 1]):
                if score[p - 1, a] == -np.inf:
                    continue
                here, at = state[p - 1, a], offset[p - 1, a]
                mark += 1
                left = network.length[here // 2] - at
                nearest_ways(network, here, state[p, : states[p]], limit, search, mark)
                for b in range(states[p]):
                    there = state[p, b]
                    cost = 0.0
                    if there == here and offset[p, b] >= at:
                        metres = offset[p, b] - at
                    elif there == here:
                        metres = 0.0  # it waits
                    elif there == here ^ 1:
                        metres = abs(network.length[here // 2] - offset[p, b] - at)
                        cost = matching.turn
                    else:
                        node = entry_of(network, there)
                        if stamp[node] != mark:
                            continue
                        metres = left + away[node] + offset[p, b]
                    if metres > limit:
                        continue
                    value = score[p - 1, a] + gained[b] - abs(metres - straight) / spread - cost
                    if value > score[p, b]:
                        score[p, b], before[p, b] = value, a
        best = np.argmax(score[m - 1, : states[m - 1]]) if states[m - 1] else 0
        if states[m - 1] == 0 or score[m - 1, best] == -np.inf:
            continue
        told[line] = score[m - 1, best]
        for p in range(m - 1, -1, -1):
            way[line, p], walked[line, p] = state[p, best], offset[p, best]
            if p:
                best = before[p, best]
        for p in range(1, m):  # who waits does not go back
            if way[line, p] == way[line, p - 1]:
                walked[line, p] = max(walked[line, p], walked[line, p - 1])
