"""Ways to publish trips, each a command that reads trajectories and writes a file of points.

python benchmarks/methods.py mdav | hm2 | noise | swapmob TRIPS OUT
python benchmarks/methods.py shortest TRIPS OUT [ROADS]
python benchmarks/methods.py synthesiser TRIPS OUT EPSILON
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree
from synthesiser import along, synthesised

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.extract import roads_to_follow
from trajanon.grouping.group_means import group_means
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.trajectories import Trajectories

K = 4
NOISE = 200.0  # metres within which places are hidden by a factor of 4: epsilon is log(4) / NOISE
METRES_OF_MEETING = 100.0  # within which trips meet
SECONDS_OF_MEETING = 120.0


def write(path: str, points: Floats, times: Floats | None, ids: Ints | list[str]) -> None:
    """Write rows, each with an id; of equally many points."""
    m = points.shape[1]
    table = pd.DataFrame({"id": np.repeat(ids, m)})
    table[["lat", "lon"]] = points.reshape(-1, 2)
    if times is not None:
        table["time"] = pd.to_datetime(times.ravel(), unit="s", utc=True)
    table.to_parquet(path, index=False)


def write_means(path: str, trips: Trajectories, labels: Ints) -> None:
    """Write the mean of each trip's group, with its mean times if all are of about one day.

    A mean of many days would be at an hour of none.
    """
    points = group_means(trips.records, labels)[labels].reshape(trips.points.shape)
    times = None
    if trips.times is not None and np.ptp(trips.times[:, 0]) <= 2 * DAY:
        times = group_means(trips.times, labels)[labels]
    write(path, points, times, np.arange(len(trips)))


def grouped(method: str, trips: Trajectories, out: str) -> None:
    """Microaggregate records as the papers do."""
    groups = trajanon.microaggregate(trips.records, K, method=method, refine="none")
    write_means(out, trips, groups.labels)


def noise(trips: Trajectories, out: str) -> None:
    """Move each point by planar Laplace noise (Andrés et al., ACM CCS 2013)."""
    random = np.random.default_rng(0)
    radius = random.gamma(2.0, NOISE / np.log(4.0), trips.points.shape[:2])
    angle = random.uniform(0.0, 2.0 * np.pi, radius.shape)
    moved = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * radius[..., None]
    points = trips.points + moved / metres_of_degrees(trips.points[..., 0].mean())
    write(out, points, trips.times, np.arange(len(trips)))


def swapmob(trips: Trajectories, out: str) -> None:
    """Swap what follows where two trips meet (Salas, Megías and Torra, 2018); ids go."""
    assert trips.times is not None, "SwapMob needs times"
    n, m = trips.times.shape
    times = trips.times.ravel()
    scale = metres_of_degrees(trips.points[..., 0].mean())
    # Trips meet where both, metres and seconds, are within a distance of 1 together.
    places = np.column_stack(
        [(trips.points * scale).reshape(-1, 2) / METRES_OF_MEETING, times / SECONDS_OF_MEETING]
    )
    pairs = cKDTree(places).query_pairs(1.0, output_type="ndarray")

    # From a meeting on, the points of each have the other's new id.
    ids = np.random.default_rng(0).permutation(n)
    id_of_point = np.repeat(ids, m)
    in_time = np.argsort(times[pairs].max(axis=1), kind="stable")
    for first_point, second_point in pairs[in_time].tolist():
        first = first_point // m
        second = second_point // m
        if first == second:
            continue
        ids[[first, second]] = ids[[second, first]]
        id_of_point[first_point + 1 : (first + 1) * m] = ids[first]
        id_of_point[second_point + 1 : (second + 1) * m] = ids[second]

    table = pd.DataFrame(trips.points.reshape(-1, 2), columns=["lat", "lon"])
    table["id"] = [f"s{number}" for number in id_of_point]
    table["time"] = pd.to_datetime(times, unit="s", utc=True)
    table.sort_values(["id", "time"], kind="stable").to_parquet(out, index=False)


def shortest(trips: Trajectories, out: str, roads: str | None = None) -> None:
    """Join the ends of our lines by shortest ways, by roads or straight."""
    released = trajanon.anonymize(trips, K, key=bytes(range(32))).trajectories
    ends = released.points[:, [0, -1]]
    lines = np.array([along(pair, released.points.shape[1]) for pair in ends])
    if roads is not None:
        _lay_on_roads(lines, ends, roads)
    write(out, lines, None, [f"s{number}" for number in range(len(lines))])


def _lay_on_roads(lines: Floats, ends: Floats, roads: str) -> None:
    """Put the shortest way between both ends in place of each line that has one."""
    net = roads_to_follow(Path(roads), "car").network
    is_open, is_open_backward = net.may_go[net.street].T
    begin = np.append(net.tail[is_open], net.head[is_open_backward])
    end = np.append(net.head[is_open], net.tail[is_open_backward])
    metres = np.append(net.length[is_open], net.length[is_open_backward])
    graph = csr_array((metres, (begin, end)), shape=(len(net.lat), len(net.lat)))

    scale = np.array([1.0, np.cos(np.radians(ends[0, 0, 0]))])
    nodes = np.stack([net.lat, net.lon], axis=1) * scale
    _, nodes_of_ends = cKDTree(nodes).query(ends * scale)
    for line, (start, goal) in zip(lines, nodes_of_ends, strict=True):
        _, node_before = dijkstra(graph, indices=start, return_predecessors=True)
        way = [goal]
        while node_before[way[-1]] >= 0:
            way.append(node_before[way[-1]])
        if way[-1] == start and start != goal:
            line[:] = along(nodes[way[::-1]], len(line)) / scale


def synthetic(trips: Trajectories, out: str, epsilon: str) -> None:
    """Draw trips from a model with differential privacy, on the day of the first."""
    assert trips.times is not None, "the synthesiser needs times"
    midnight = trips.times.min() // DAY * DAY
    seconds = trips.times - midnight
    seconds -= (seconds[:, :1] - 3 * HOUR) // DAY * DAY  # all on one day, which begins at three
    drawn = synthesised(trips.points, seconds, float(epsilon))
    share = np.linspace(0.0, 1.0, trips.points.shape[1])
    times = midnight + drawn.departure[:, None] + drawn.duration[:, None] * share
    write(out, drawn.points, times, [f"s{number}" for number in range(len(times))])


if __name__ == "__main__":
    name, source, out, *arguments = sys.argv[1:]
    trips = trajanon.read_trajectories(source)
    if name in ("mdav", "hm2"):
        grouped(name, trips, out)
    else:
        ways = {"noise": noise, "swapmob": swapmob, "shortest": shortest, "synthesiser": synthetic}
        ways[name](trips, out, *arguments)
