"""Map matching by its definition: all pairs of states, and Dijkstra from each, in plain Python."""

import heapq
import math
from collections.abc import Sequence

import numpy as np

from trajanon._kernels.road_matching import Matching, Network, metres_of_degree

State = tuple[int, float, float]  # 2 street + direction, metres on it, metres from the point


def entry(network: Network, state: int) -> int:
    return int(network.ends[state // 2, state % 2])


def leave(network: Network, state: int) -> int:
    return entry(network, state ^ 1)


def states_near(network: Network, matching: Matching, lat: float, lon: float) -> list[State]:
    """Both directions of streets at the places where these come nearest; the last is metres."""
    north, east = metres_of_degree(lat)
    feet = list[tuple[float, int, float]]()
    for segment, (tail, head) in enumerate(zip(network.tail, network.head, strict=True)):
        begin = np.array([network.lon[tail] - lon, network.lat[tail] - lat]) * (east, north)
        end = np.array([network.lon[head] - lon, network.lat[head] - lat]) * (east, north)
        way = end - begin
        share = float(np.clip(-(begin @ way) / (way @ way), 0.0, 1.0))
        feet.append((float(np.hypot(*(begin + share * way))), segment, share))
    found = []
    for metres, segment, share in feet:
        street = network.street[segment]
        after_one = segment > 0 and network.street[segment - 1] == street
        before_one = segment + 1 < len(feet) and network.street[segment + 1] == street
        if share <= 0.0 and after_one:
            nearest = feet[segment - 1][2] >= 1.0
        else:
            nearest = share < 1.0 or not before_one
        if nearest and metres <= matching.reach:
            along = float(network.before[segment] + share * network.length[segment])
            found.append((metres, segment, int(street), along))
    return [
        (2 * street + back, float(network.street_length[street]) - along if back else along, metres)
        for metres, _, street, along in sorted(found)[: matching.streets]
        for back in range(2)
        if network.may_go[street, back]
    ]


def dear(network: Network, state: int) -> float:
    """What a whole street counts for where ways are chosen."""
    return float(network.street_length[state // 2] * network.cost_per_metre[state // 2])


def ways_from(network: Network, state: int) -> dict[int, float]:
    """What ways count for from where a state leaves its street to every node; at first not back."""
    start = leave(network, state)
    out = [
        network.leaving[network.first[n] : network.first[n + 1]] for n in range(len(network.lat))
    ]
    away, queue = {start: 0.0}, [(0.0, start)]
    done = set[int]()
    while queue:
        metres, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for other in out[node].tolist():
            if node == start and other == state ^ 1 and len(out[node]) > 1:
                continue
            there, further = leave(network, other), metres + dear(network, other)
            if further < away.get(there, math.inf):
                away[there] = further
                heapq.heappush(queue, (further, there))
    return away


def straight_between(line: Sequence[Sequence[float]], place: int) -> float:
    (lat, lon), (to_lat, to_lon) = line[place - 1], line[place]
    north, east = metres_of_degree((lat + to_lat) / 2)
    return math.hypot((to_lat - lat) * north, (to_lon - lon) * east)


def step(
    network: Network, matching: Matching, here: State, there: State, straight: float, spread: float
) -> float:
    """The log-likelihood of going from one state to another."""
    limit, cost = 2 * straight + matching.slack, 0.0
    unit, goal = (float(network.cost_per_metre[one[0] // 2]) for one in (here, there))
    rest = (float(network.street_length[here[0] // 2]) - here[1]) * unit
    if there[0] == here[0]:
        way = max(there[1] - here[1], 0.0) * unit
    elif there[0] == here[0] ^ 1:
        way, cost = abs(rest - there[1] * unit), matching.turn_cost
    else:
        away = ways_from(network, here[0]).get(entry(network, there[0]), math.inf)
        way = rest + away + there[1] * goal if rest + away <= limit else math.inf
    return -math.inf if way > limit else -abs(way - straight) / spread - cost


def spread_of(near: Sequence[Sequence[State]]) -> float:
    nearest = [min(metres for _, _, metres in some) for some in near if some]
    return max(1.4826 * float(np.median(nearest)), 5.0) if nearest else 5.0


def best_likelihood(
    network: Network, matching: Matching, line: Sequence[Sequence[float]]
) -> tuple[float, list[bool]]:
    """The log-likelihood of the best path, in pieces where none leads on; where it is linked."""
    near = [states_near(network, matching, lat, lon) for lat, lon in line]
    spread = spread_of(near)
    total, score, linked = 0.0, [-0.5 * (far / spread) ** 2 for _, _, far in near[0]], [False]
    for place in range(1, len(line)):
        straight = straight_between(line, place)
        after = [
            max(
                (
                    gained + step(network, matching, here, there, straight, spread)
                    for here, gained in zip(near[place - 1], score, strict=True)
                ),
                default=-math.inf,
            )
            for there in near[place]
        ]
        linked.append(max(after, default=-math.inf) > -math.inf)
        if not linked[-1]:
            total += max(score, default=0.0)
            after = [0.0] * len(near[place])
        score = [
            value - 0.5 * (far / spread) ** 2
            for value, (_, _, far) in zip(after, near[place], strict=True)
        ]
    return total + max(score, default=0.0), linked


def likelihood_of(
    network: Network,
    matching: Matching,
    line: Sequence[Sequence[float]],
    way: Sequence[tuple[int, float]],
    linked: Sequence[bool],
) -> float:
    """The log-likelihood of a path, of the state of each point and its metres there."""
    near = [states_near(network, matching, lat, lon) for lat, lon in line]
    spread, total = spread_of(near), 0.0
    path = [
        next((one for one in some if one[0] == state and abs(one[1] - at) < 1e-6), None)
        for some, (state, at) in zip(near, way, strict=True)
    ]
    for place, there in enumerate(path):
        assert (there is None) == (not near[place])
        if there is None:
            continue
        total -= 0.5 * (there[2] / spread) ** 2
        if linked[place]:
            here = path[place - 1]
            assert here is not None
            straight = straight_between(line, place)
            total += step(network, matching, here, there, straight, spread)
    return total
