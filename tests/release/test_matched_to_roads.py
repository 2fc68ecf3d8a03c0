"""Lines on roads: the most likely way, back on known streets, and a release that still holds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FAST, Run
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_roads import best_likelihood, entry, likelihood_of, ways_from
from osm_xml import OsmFile
from shards import shards_of, write_parts

import trajanon
from trajanon._kernels.road_matching import Matching, Network
from trajanon.common.arrays import Floats
from trajanon.extract import roads_to_follow
from trajanon.release.matched_to_roads import (
    forward_only,
    matched_to_roads,
    snapped,
    streets_of,
    traced,
)
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

pytestmark = pytest.mark.usefixtures("few_tried")

LAT, LON = 47.0, 9.5
NORTH, EAST = 1 / 111_177.0, 1 / 76_055.0  # degrees of a metre there
HOW = Matching(100.0, 8, 5.0, 500.0)


def at(x: Floats, y: Floats) -> Floats:
    """Places so many metres east and north of a corner."""
    return np.stack([LAT + np.asarray(y) * NORTH, LON + np.asarray(x) * EAST], axis=-1)


def streets(side: int, step: float = 100.0, seed: int | None = None) -> Network:
    """A grid of streets; with a seed, some are missing, dear or one-way."""
    places = np.array([(x, y) for y in range(side) for x in range(side)]) * step
    ends = [(n, n + 1) for n in range(side * side) if (n + 1) % side]
    ends += [(n, n + side) for n in range(side * (side - 1))]
    tail, head = np.array(ends).T
    passable = np.ones((len(tail), 2), dtype=np.bool_)
    if seed is not None:
        random = np.random.default_rng(seed)
        kept = random.random(len(tail)) < 0.85
        tail, head, passable = tail[kept], head[kept], passable[kept]
        passable[random.random(passable.shape) < 0.15] = False
    lat, lon = at(*places.T).T
    cost_per_metre = np.ones(len(tail))
    if seed is not None:
        cost_per_metre = np.random.default_rng(seed).choice([1.0, 1.3], len(tail))
    return streets_of(lat, lon, tail, head, passable, cost_per_metre)[0]


def town(folder: Path) -> Path:
    """A file with a street from west to east, one beside it, and one between, one-way."""
    osm = OsmFile()
    south = osm.nodes(map(tuple, at(np.arange(0.0, 3_100.0, 100.0), np.zeros(31))))
    north = osm.nodes(map(tuple, at(np.arange(0.0, 3_100.0, 100.0), np.full(31, 200.0))))
    osm.way(south, {"highway": "residential"})
    osm.way(north, {"highway": "footway"})
    for place in (0, 15, 30):
        osm.way([south[place], north[place]], {"highway": "service", "oneway": "yes"})
    osm.way(osm.nodes([(LAT - 1, LON), (LAT - 1, LON + 1e-3)]), {"highway": "motorway"})
    return osm.write(folder / "town.osm")


def way_along(network: Network, points: Floats) -> tuple[Floats, np.ndarray]:
    found = snapped(points[None], network)
    return found.lines[0], found.on_roads


def wandering(seed: int, side: int) -> Floats:
    """Lines that wander over a grid of streets, and off it."""
    walk = np.random.default_rng(seed).normal(0, 60, (4, 6, 2)).cumsum(axis=1) + 50.0 * side
    return np.ascontiguousarray(at(walk[..., 0], walk[..., 1]))


@given(st.integers(0, 10**6), st.integers(3, 5))
@settings(max_examples=10)
def test_the_best_path_is_found(seed: int, side: int) -> None:
    """As by its definition, in plain Python."""
    lines, network = wandering(seed, side), streets(side, seed=seed)
    found = matched_to_roads(lines, network, HOW)
    for number, line in enumerate(lines.tolist()):
        best, links = best_likelihood(network, HOW, line)
        assert found.linked[number].tolist() == links
        way = zip(found.state[number].tolist(), found.offset[number].tolist(), strict=True)
        told = likelihood_of(network, HOW, line, list(way), links)
        assert told == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(3, 5))
def test_no_street_of_a_way_is_lost(seed: int, side: int) -> None:
    """Each street leads to the next, and they are those of the shortest way."""
    lines, network = wandering(seed, side), streets(side, seed=seed)
    on = forward_only(matched_to_roads(lines, network, HOW))
    found = traced(lines, network, HOW)
    pieces = (on.state >= 0) & ~on.linked
    assert len(found.line) >= pieces.sum()
    goes_on = (np.diff(found.line) == 0) & (found.entered[1:] == found.left[:-1])
    here, there = found.state[:-1][goes_on], found.state[1:][goes_on]
    turns = there == here ^ 1
    meets = network.ends[here // 2, 1 - here % 2] == network.ends[there // 2, there % 2]
    assert (meets | turns).all()
    metres = np.zeros(len(lines))
    for line, p in zip(*np.nonzero(on.linked), strict=True):
        (here, there), (gone, goal) = (one[line, p - 1 : p + 1].tolist() for one in on[:2])
        unit, last = network.cost_per_metre[[here // 2, there // 2]].tolist()
        rest = network.street_length[here // 2] - gone
        if here == there:
            metres[line] += (goal - gone) * unit
        elif here == there ^ 1:
            metres[line] += abs(rest - goal) * unit
        else:
            between = ways_from(network, here)[entry(network, there)]
            metres[line] += rest * unit + between + goal * last
    gone_along = found.metres * network.cost_per_metre[found.state // 2]
    assert np.bincount(found.line, gone_along, len(lines)) == pytest.approx(metres, abs=1e-6)


def test_a_noisy_line_comes_back_on_its_street_and_never_turns() -> None:
    random, x = np.random.default_rng(0), np.linspace(130, 870, 30)
    line = at(x + random.normal(0, 15, 30), 100 + random.normal(0, 15, 30))
    found, on_roads = way_along(streets(11), line)
    assert on_roads.all()
    assert np.abs((found[:, 0] - LAT) / NORTH - 100).max() < 0.5
    assert (np.diff(found[:, 1]) >= 0).all()


def test_who_turns_round_may() -> None:
    x = np.append(np.linspace(0, 500, 15), np.linspace(500, 0, 15))
    found, _ = way_along(streets(11), at(x, np.full(30, 102.0)))
    assert (found[:, 1] - LON).max() / EAST == pytest.approx(500, abs=40)
    assert abs(found[-1, 1] - LON) / EAST < 1


@pytest.mark.parametrize("off", ["far", "nowhere"])
def test_what_no_road_explains_stays_as_it_was(off: str) -> None:
    points = at(np.linspace(0, 900, 30), np.full(30, 100.0 if off == "nowhere" else 3.0))
    if off == "far":
        points[20] = at(np.array(500.0), np.array(-120.0))
        network = streets(11)
    else:  # two streets that do not meet
        lat, lon = at(np.array([0, 400, 500, 900.0]), np.full(4, 100.0)).T
        tail, head = np.array([0, 2]), np.array([1, 3])
        network, _ = streets_of(lat, lon, tail, head, np.ones((2, 2), bool), np.ones(2))
    found, on_roads = way_along(network, points)
    assert not on_roads.any()
    assert np.array_equal(found, points)


@pytest.mark.parametrize(("mode", "north"), [("car", 0.0), ("foot", 200.0), ("any", 200.0)])
def test_a_mode_takes_its_roads(tmp_path: Path, mode: str, north: float) -> None:
    roads = roads_to_follow(town(tmp_path), mode, 250.0)
    found = roads.lay(at(np.linspace(0, 2_900, 30), np.full(30, 180.0))[None])
    assert found.on_roads.all()
    assert (found.lines[0, 5:25, 0] - LAT) / NORTH == pytest.approx(north, abs=2)


def test_cars_keep_to_one_way_streets(tmp_path: Path) -> None:
    roads = roads_to_follow(town(tmp_path), "car")
    up = at(np.zeros(30), np.linspace(0, 200, 30))
    assert roads.lay(up[None]).on_roads.all()
    down = roads.lay(up[None, ::-1]).lines[0]
    assert (np.diff(down[:, 0]) > -1e-9).all()  # nobody goes down it


# Releases.


def drives(n: int = 60, seed: int = 0) -> Trajectories:
    """Noisy drives along the southern street."""
    random = np.random.default_rng(seed)
    x = np.linspace(0, 2_900, 30) + random.uniform(0, 100, (n, 1))
    return Trajectories(at(x, random.normal(0, 10, (n, 30))), np.arange(n) // 2)


def test_a_release_on_roads_holds_and_is_evaluated(tmp_path: Path) -> None:
    trips, roads = drives(), roads_to_follow(town(tmp_path), "car")
    release = trajanon.anonymize(trips, 4, roads=roads, method="mdav", refine="none")
    points, told = release.trajectories.points, release.report["roads"]
    assert told["on_roads"] == release.report["groups"]
    assert np.abs((points[..., 0] - LAT) / NORTH).max() < 1.2  # five decimals
    assert trajanon.check(release, 4, trajectories=trips).holds
    evaluation = trajanon.evaluate(trips, release)
    assert evaluation.trajectories == 60
    assert "Lines lie on roads of OpenStreetMap" in evaluation.datasheet
    lines = release.report["groups"]
    assert f"roads of OpenStreetMap: {lines} of {lines}" in evaluation.html
    assert release.trajectories.attribution == release.report["attribution"] == OSM_ATTRIBUTION
    assert "derived from the roads of OpenStreetMap" in evaluation.datasheet


def test_lines_off_the_roads_are_released_as_without_them(tmp_path: Path) -> None:
    away = drives().points + np.array([2.0, 0.0])
    trips, roads = Trajectories(away, np.arange(60)), roads_to_follow(town(tmp_path))
    how: dict[str, Any] = {"method": "mdav", "refine": "none", "key": bytes(range(32))}
    laid, plain = (trajanon.anonymize(trips, 4, roads=some, **how) for some in (roads, None))
    assert laid.report["roads"]["as_they_were"] == laid.report["groups"]
    assert laid.trajectories.attribution is None  # nothing of OpenStreetMap is in it
    one, other = (np.unique(each.trajectories.records, axis=0) for each in (laid, plain))
    assert np.array_equal(one, other)


def test_the_commands_lay_lines_on_roads(run: Run, tmp_path: Path) -> None:
    town(tmp_path)
    trajanon.write_trajectories(tmp_path / "trips.parquet", drives())
    answer = run("anonymize", "trips.parquet", "-k", 4, "--roads", "town.osm", *FAST)
    assert answer.code == 0
    assert "were laid on roads." in answer.out
    assert run("check", "-k", 4, "--trajectories", "trips.parquet").code == 0


def test_parts_are_laid_on_roads_while_they_are_anonymised(run: Run, tmp_path: Path) -> None:
    town(tmp_path)
    write_parts(tmp_path / "trips", drives(200))
    words = ("anonymize", "trips", "-k", 4, "--out", "out", "--rows", "lines", *FAST)
    with shards_of(100):
        assert run(*words, "--roads", "town.osm").code == 0
    report = json.loads((tmp_path / "out.parts.report.json").read_text())
    told = report["roads"]
    assert report["shards"] == 2
    assert told["on_roads"] == report["groups"]
    release = trajanon.read_release(tmp_path / "out")
    assert np.abs((release.points[..., 0] - LAT) / NORTH).max() < 1.2
    assert run("check", "out", "-k", 4, "--trajectories", "trips").code == 0
    assert run("evaluate", "trips", "out", "--roads", "town.osm").code == 0
