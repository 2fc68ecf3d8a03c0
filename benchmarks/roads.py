"""Measure lines laid on roads: tracks drawn along known ways, with noise, and how fast it goes.

python benchmarks/roads.py truth liechtenstein.osm.pbf          shares of points on the right way
python benchmarks/roads.py lines liechtenstein.osm.pbf          seconds and memory of 20,000
python benchmarks/roads.py release liechtenstein.osm.pbf        a release, as it was and laid
"""

from pathlib import Path

import numpy as np
import shapely
from measures import account, command_line, row, say_machine, spent
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import trajanon
from trajanon._kernels.roads import Network
from trajanon.arrays import Floats
from trajanon.extract import roads, roads_to_follow
from trajanon.snapping import RoadsToFollow
from trajanon.trajectories import Trajectories
from trajanon.utility.usefulness import ROAD, share_on_roads

METRES, POINTS = 2_900.0, 30
KEEP_OFF = 300.0  # metres: noise of 60 m leads farther than 100 now and then
NEAR = 3.0  # metres from its way where a point is right


def truth(pbf: Path, ways: int = 1_000) -> None:
    """Print the share of points within 3 m of the way that a track was drawn along."""
    say_machine()
    row("mode", "noise", "on roads", "right")
    for mode in ("car", "any"):
        roads, random = roads_to_follow(pbf, mode, KEEP_OFF), np.random.default_rng(0)
        drawn = [walk(roads, random) for _ in range(ways)]
        for noise in (0.0, 5.0, 20.0, 60.0):
            found = roads.lay(noisy(drawn, noise, random))
            right = [
                shapely.distance(shapely.points(line[:, ::-1] * scale), on_plane(way)) < NEAR
                for line, way, scale in zip(found.lines, drawn, map(scale_of, drawn), strict=True)
            ]
            row(mode, f"{noise:g} m", f"{found.on_roads.mean():.1%}", f"{np.mean(right):.1%}")


def lines(pbf: Path, count: int = 20_000) -> None:
    """Print what laying so many lines takes, once kernels are compiled."""
    roads, random = roads_to_follow(pbf, "any"), np.random.default_rng(0)
    drawn = noisy([walk(roads, random) for _ in range(count // 10)], 20.0, random)
    roads.lay(drawn[:10])
    print(account(spent(roads.lay, np.tile(drawn, (10, 1, 1)))))


def release(pbf: Path, people: int = 500, noise: float = 10.0) -> None:
    """Print what laying a release on roads changes: drives between homes and a few places."""
    say_machine()
    follow, near = roads_to_follow(pbf, "car"), roads(pbf).distance
    random = np.random.default_rng(0)
    points = noisy(drives(follow.network, people, random), noise, random)
    trips = Trajectories(points, np.repeat(np.arange(people), len(points) // people))
    row("", "on roads", "mean m", "median m", "attacks, % found")
    for name, some in (("as it was", None), ("laid", follow)):
        made = trajanon.anonymize(trips, 4, roads=some)
        attacks = trajanon.evaluate(trips, made).account["attacks"]
        found = [f"{100 * one['expected']:.2f}" for one in attacks if one["against"] == "release"]
        on = share_on_roads(made.trajectories.points, near, ROAD)
        moved = made.report["displacement"]
        row(name, f"{on:.1%}", f"{moved['mean']:.1f}", f"{moved['median']:.1f}", " ".join(found))


def drives(
    network: Network, people: int, random: np.random.Generator, each: int = 4, places: int = 12
) -> list[shapely.LineString]:
    """Shortest ways of each person from a home to some of a few places."""
    state = network.leaving
    ends = np.stack([network.tail, network.head])[:, state // 2]
    ends = np.where(state % 2, ends[::-1], ends)
    v = len(network.lat)
    graph = csr_array((network.length[state // 2], tuple(ends)), shape=(v, v))
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


def walk(roads: RoadsToFollow, random: np.random.Generator) -> shapely.LineString:
    """A way that takes no segment twice; longitude and latitude."""
    network = roads.network
    while True:
        way, metres = [int(random.choice(network.leaving))], 0.0
        while metres < METRES and len({state // 2 for state in way}) == len(way):
            metres += network.length[way[-1] // 2]
            node = (network.head, network.tail)[way[-1] % 2][way[-1] // 2]
            leaving = network.leaving[network.first[node] : network.first[node + 1]]
            others = leaving[leaving != way[-1] ^ 1]
            if not len(others):
                break
            way.append(int(random.choice(others)))
        else:
            if metres >= METRES:
                nodes = [(network.tail, network.head)[one % 2][one // 2] for one in way]
                return shapely.LineString(np.stack([network.lon, network.lat], axis=1)[nodes])


def noisy(ways: list[shapely.LineString], noise: float, random: np.random.Generator) -> Floats:
    """Points at equal shares of ways, each off by metres in both directions; latitude first."""
    share = np.linspace(0.0, 1.0, POINTS)
    points = np.array(
        [
            shapely.get_coordinates(
                shapely.line_interpolate_point(on_plane(way), share, normalized=True)
            )
            + random.normal(0.0, noise, (POINTS, 2))
            for way in ways
        ]
    )
    points /= np.array([scale_of(way) for way in ways])[:, None]
    return points[..., ::-1]


def scale_of(way: shapely.LineString) -> Floats:
    """Metres of a degree of longitude and of latitude, about."""
    return 111_195.0 * np.array([np.cos(np.radians(way.coords[0][1])), 1.0])


def on_plane(way: shapely.LineString) -> shapely.LineString:
    """A way in metres."""
    return shapely.LineString(shapely.get_coordinates(way) * scale_of(way))


if __name__ == "__main__":
    command_line(__doc__, truth, lines, release)
