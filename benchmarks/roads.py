"""Measure what laying a release on roads changes.

    python benchmarks/roads.py liechtenstein.osm.pbf

Drives between homes and a few places, on the network of a file, with noise.
"""

from pathlib import Path

import numpy as np
import shapely
from measures import command_line, row
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import trajanon
from trajanon._kernels.roads import Network
from trajanon.arrays import Floats
from trajanon.extract import roads, roads_to_follow
from trajanon.trajectories import Trajectories
from trajanon.utility.usefulness import ROAD, share_on_roads

POINTS, DEGREE = 30, 111_195.0  # metres


def release(pbf: Path, people: int = 500, noise: float = 10.0) -> None:
    """Print the share of points on roads, metres moved, and the attack by the nearest line."""
    follow, near = roads_to_follow(pbf, "car"), roads(pbf).distance
    random = np.random.default_rng(0)
    points = noisy(drives(follow.network, people, random), noise, random)
    trips = Trajectories(points, np.repeat(np.arange(people), len(points) // people))
    row("", "on roads", "mean m", "nearest line finds a row, %")
    for name, some in (("as averaged", None), ("on roads", follow)):
        made = trajanon.anonymize(trips, 4, roads=some)
        attacks = trajanon.evaluate(trips, made).account["attacks"]
        found = next(one for one in attacks if one["against"] == "release")["expected"]
        on = share_on_roads(made.trajectories.points, near, ROAD)
        row(name, f"{on:.1%}", f"{made.report['displacement']['mean']:.1f}", f"{100 * found:.2f}")


def drives(
    network: Network, people: int, random: np.random.Generator, each: int = 4, places: int = 12
) -> list[shapely.LineString]:
    """Shortest ways of each person from a home to some of a few places."""
    there, back = network.open[network.street].T
    begin = np.append(network.tail[there], network.head[back])
    end = np.append(network.head[there], network.tail[back])
    metres, v = np.append(network.length[there], network.length[back]), len(network.lat)
    graph = csr_array((metres, (begin, end)), shape=(v, v))
    size = connected_components(graph, connection="strong")[1]
    inside = np.flatnonzero(size == np.bincount(size).argmax())
    goals = random.choice(inside, places, replace=False)
    before = dijkstra(graph.T, indices=goals, return_predecessors=True)[1]
    at, ways = np.stack([network.lon, network.lat], axis=1), []
    for home in random.choice(inside, people):
        for goal in random.choice(places, each, replace=False):
            way = [int(home)]
            while way[-1] != goals[goal]:
                way.append(int(before[goal, way[-1]]))
            ways.append(shapely.LineString(at[way] if len(way) > 1 else at[way * 2]))
    return ways


def noisy(ways: list[shapely.LineString], noise: float, random: np.random.Generator) -> Floats:
    """Points at equal shares of ways, each off by metres in both directions; latitude first."""
    drawn = np.empty((len(ways), POINTS, 2))
    for points, way in zip(drawn, ways, strict=True):
        scale = DEGREE * np.array([np.cos(np.radians(way.coords[0][1])), 1.0])
        plane = shapely.LineString(shapely.get_coordinates(way) * scale)
        at = shapely.line_interpolate_point(plane, np.linspace(0.0, 1.0, POINTS), normalized=True)
        places = shapely.get_coordinates(at) + random.normal(0.0, noise, (POINTS, 2))
        points[:] = (places / scale)[:, ::-1]
    return drawn


if __name__ == "__main__":
    command_line(__doc__, release)
