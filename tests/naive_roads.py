"""Map matching by its definition: all pairs of states, and Dijkstra from each, in plain Python."""

import heapq
import math
from collections.abc import Sequence

import numpy as np

from trajanon._kernels.roads import Matching, Network, metres_of_degree

State = tuple[int, float, float]  # 2 segment + direction, metres on it, log-likelihood of the place


def entry(network: Network, state: int) -> int:
    return int((network.tail, network.head)[state % 2][state // 2])


def leave(network: Network, state: int) -> int:
    return entry(network, state ^ 1)


def states_near(network: Network, matching: Matching, lat: float, lon: float) -> list[State]:
    """Both directions of the nearest segment of each of the nearest roads; the last is metres."""
    north, east = metres_of_degree(lat)
    found: dict[int, tuple[float, int, float]] = {}
    for segment, (tail, head) in enumerate(zip(network.tail, network.head, strict=True)):
        begin = np.array([network.lon[tail] - lon, network.lat[tail] - lat]) * (east, north)
        end = np.array([network.lon[head] - lon, network.lat[head] - lat]) * (east, north)
        way = end - begin
        share = float(np.clip(-(begin @ way) / (way @ way), 0.0, 1.0))
        metres = float(np.hypot(*(begin + share * way)))
        chain = int(network.chain[segment])
        # At a bend two segments are as near: the first counts.
        if metres <= matching.within and metres < found.get(chain, (math.inf,))[0] - 1e-6:
            found[chain] = (metres, segment, share)
    nearest = sorted(found.values())[: matching.states]
    return [
        (
            2 * segment + back,
            float(network.length[segment]) * (1 - share if back else share),
            metres,
        )
        for metres, segment, share in nearest
        for back in range(2)
        if network.open[segment, back]
    ]


def ways_from(network: Network, state: int) -> dict[int, float]:
    """Metres from where a state leaves its segment to every node; at first not back."""
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
            there, further = leave(network, other), metres + float(network.length[other // 2])
            if further < away.get(there, math.inf):
                away[there] = further
                heapq.heappush(queue, (further, there))
    return away


def best_likelihood(
    network: Network, matching: Matching, line: Sequence[Sequence[float]]
) -> float | None:
    """The log-likelihood of the best path; None if there is none."""
    near = [states_near(network, matching, lat, lon) for lat, lon in line]
    if not all(near):
        return None
    nearest = [min(metres for _, _, metres in some) for some in near]
    spread = matching.spread or max(1.4826 * float(np.median(nearest)), 5.0)
    score = [-0.5 * (metres / spread) ** 2 for _, _, metres in near[0]]
    for place in range(1, len(line)):
        (lat, lon), (to_lat, to_lon) = line[place - 1], line[place]
        north, east = metres_of_degree((lat + to_lat) / 2)
        straight = math.hypot((to_lat - lat) * north, (to_lon - lon) * east)
        limit = 2 * straight + matching.slack
        after = [-math.inf] * len(near[place])
        for (here, at, _), gained in zip(near[place - 1], score, strict=True):
            away = ways_from(network, here)
            left = float(network.length[here // 2]) - at
            for number, (there, to, metres) in enumerate(near[place]):
                cost = 0.0
                if there == here:
                    way = max(to - at, 0.0)
                elif there == here ^ 1:
                    way = abs(float(network.length[here // 2]) - to - at)
                    cost = matching.turn
                elif away.get(entry(network, there), math.inf) <= limit:
                    way = left + away[entry(network, there)] + to
                else:
                    continue
                if way > limit:
                    continue
                value = gained - 0.5 * (metres / spread) ** 2 - abs(way - straight) / spread - cost
                after[number] = max(after[number], value)
        score = after
    best = max(score)
    return None if best == -math.inf else best
