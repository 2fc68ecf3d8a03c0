"""Measure how far points move: as windows slide, in a series of releases, laid on roads.

    python benchmarks/metres.py sliding windows.parquet -k 4 -k 10
    python benchmarks/metres.py series cabs_dataset_20080608.parquet
    python benchmarks/metres.py roads liechtenstein.osm.pbf

`sliding` takes windows that `trajanon extract` wrote, and counts trajectories, not subjects.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import shapely
import typer
from measures import command_line, row, run_command, say_machine
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import trajanon
from trajanon import extract
from trajanon._kernels.road_matching import Network
from trajanon.arrays import Floats
from trajanon.geodesy import DEGREE
from trajanon.trajectories import Trajectories
from trajanon.utility.usefulness import ROAD, share_on_roads

POINTS = 30
PARTS = 3
RULES = ["--windows", "--per-recording", "all", "--spacing", "100", "--max-gap", "1000"]
BOX = "--bbox=-122.52,37.70,-122.35,37.84"


def sliding(file: Path, k: Annotated[list[int], typer.Option("-k")]) -> None:
    """Print mean and median metres by MDAV, by the search alone, and with sliding."""
    cut = replace(trajanon.read_trajectories(file), subject=None)
    say_machine()
    trajanon.anonymize(cut.take(np.arange(60)), 3)  # compiles
    row("k", "MDAV", "search", "with sliding", "windows that slid")
    for least in k:
        mdav = trajanon.anonymize(cut, least, align=False, method="mdav", refine="none").report
        report = trajanon.anonymize(cut, least, seed=1).report
        found = report["alignment"]
        ways = (mdav["displacement"], found["before"]["displacement"], report["displacement"])
        metres = (f"{way['mean']:.1f}, {way['median']:.1f}" for way in ways)
        row(least, *metres, f"{found['slid']['share']:.0%}")


def series(table: Path, k: int = 4) -> None:
    """Release a day of cabs in three parts, and at once."""
    fixes = pd.read_parquet(table)
    when = pd.to_datetime(fixes["timestamp"]).rank(method="first")
    part = pd.qcut(when, PARTS, labels=False).to_numpy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = {"all": np.ones(len(part), dtype=bool)}
        for way, parts in (
            ("all at once", whole),
            ("three parts", {str(number): part == number for number in range(PARTS)}),
        ):
            reports = []
            for what, rows in parts.items():
                raw, cut = folder / f"raw-{what}.parquet", folder / f"{what}.parquet"
                fixes[rows].to_parquet(raw, index=False)
                run_command(["extract", str(raw), BOX, *RULES, "--out", str(cut)], folder)
                out, ledger = folder / f"{what}-out.parquet", folder / f"{way}.ledger"
                reports.append(trajanon.anonymize_file(cut, out, k, ledger=ledger))
            n = np.array([report["n"] for report in reports])
            metres = np.array([report["displacement"]["mean"] for report in reports])
            row(way, ", ".join(map(str, n)), f"{(metres * n).sum() / n.sum():.1f} m")


def roads(pbf: Path, people: int = 500, noise: float = 10.0) -> None:
    """Print the share of points on roads, metres moved, and the attack by the nearest line."""
    follow, near = extract.roads_to_follow(pbf, "car"), extract.roads(pbf).distance
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
    command_line(__doc__, sliding, series, roads)
