"""Speeds for a router: which pairs of nodes have one, and which speed it is."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from osm_xml import OsmFile

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract import roads_to_follow
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.street_counts.router_speeds import osrm_text, router_speeds, seconds_at_turns
from trajanon.trajectories.times import Clock

LAT, LON = 47.0, 9.5
NORTH, EAST = 1 / 111_177.0, 1 / 76_055.0  # degrees of a metre there
DAY = Clock("of-day", "Europe/Vaduz", 60)


def at(east: Floats, north: Floats) -> Floats:
    return np.stack([LAT + np.asarray(north) * NORTH, LON + np.asarray(east) * EAST], axis=-1)


@pytest.fixture
def roads(tmp_path: Path) -> RoadsToFollow:
    """A road of 1 km to the east with a node each 100 m, then one to the north, and one beyond."""
    osm = OsmFile()
    first = osm.nodes(map(tuple, at(np.arange(0.0, 1_001.0, 100.0), np.zeros(11))))
    up = osm.nodes(map(tuple, at(np.full(10, 1_000.0), np.arange(100.0, 1_001.0, 100.0))))
    on = osm.nodes(map(tuple, at(np.arange(1_100.0, 1_501.0, 100.0), np.zeros(5))))
    osm.way(first, {"highway": "residential"})
    osm.way([first[-1], *up], {"highway": "residential"})
    osm.way([first[-1], *on], {"highway": "residential"})
    return roads_to_follow(osm.write(tmp_path / "town.osm"), "car")


def corner(m: int = 40) -> Floats:
    way = np.linspace(20.0, 1_980.0, m)
    return at(np.minimum(way, 1_000.0), np.maximum(way - 1_000.0, 0.0))


def timed(*takes: float, begin: float = 28_800.0) -> ReleasedLines:
    """Lines round the corner that take so many seconds."""
    times = begin + np.array(takes)[:, None] * np.linspace(0.0, 1.0, 40)
    return ReleasedLines(np.stack([corner()] * len(takes)), np.full(len(takes), 4), times, k=4)


def test_each_pair_of_nodes_on_the_way_has_a_speed_and_no_other(roads: RoadsToFollow) -> None:
    (speeds,) = router_speeds(timed(200.0), roads)
    pairs = set(zip(speeds.start.tolist(), speeds.end.tolist(), strict=True))
    way = [*range(1, 12), *range(12, 22)]
    assert pairs == set(pairwise(way))  # one way only
    assert speeds.share_of_network == pytest.approx(2_000.0 / 5_000.0, rel=0.01)
    rows = osrm_text(speeds).splitlines()
    assert len(rows) == 20
    assert all(len(row.split(",")) == 3 for row in rows)


def test_delays_at_turns_are_taken_off(roads: RoadsToFollow) -> None:
    """Of 1,960 m in 200 s; a right angle to the left costs OSRM's car 5.4 s."""
    released = timed(200.0)
    delay = seconds_at_turns(traced(released.points, roads.network), roads.network, 1)
    assert delay == pytest.approx(5.4, abs=0.05)
    (speeds,) = router_speeds(released, roads)
    assert speeds.speed == pytest.approx(3.6 * 1_960.0 / (200.0 - delay[0]), rel=0.02)


def test_lines_that_share_a_street_show_which_one_is_slow(roads: RoadsToFollow) -> None:
    """Half of the lines go on to the north, which takes 200 s; all take 200 s to the corner."""
    east = at(np.linspace(20.0, 980.0, 40), np.zeros(40))
    times = 28_800.0 + np.outer([400.0, 200.0], np.linspace(0.0, 1.0, 40))
    released = ReleasedLines(np.stack([corner(), east]), np.array([400, 400]), times, k=4)
    (speeds,) = router_speeds(released, roads)
    first, second = np.split(speeds.speed, [10])  # nodes are numbered along the way
    assert first == pytest.approx(17.3, rel=0.05)
    assert second == pytest.approx(17.6, rel=0.05)

    (faster,) = router_speeds(replace(released, times=times * [[0.75], [1.0]]), roads)
    assert np.split(faster.speed, [10])[1].min() > 1.2 * second.max()


def test_few_trips_change_a_street_little(roads: RoadsToFollow) -> None:
    many = replace(timed(400.0, 200.0), trips=np.array([4_000, 4]))
    (both,) = router_speeds(many, roads)
    (slow,) = router_speeds(timed(400.0), roads)
    assert both.speed == pytest.approx(slow.speed, rel=0.01)


def test_parts_of_the_day_have_their_own_speeds(roads: RoadsToFollow) -> None:
    morning, noon = timed(400.0), timed(200.0, begin=43_200.0)
    times = DAY.rounded(np.concatenate([morning.times, noon.times]))
    points = np.concatenate([morning.points, noon.points])
    released = ReleasedLines(points, np.array([400, 400]), times, DAY, k=4)
    early, late, night = router_speeds(released, roads, day_parts("8-9,12-13,22-6"))
    assert late.speed / early.speed == pytest.approx(2.0, rel=0.15)
    assert len(night.speed) == 0
    assert osrm_text(night) == ""


def test_short_lines_show_no_speed(roads: RoadsToFollow) -> None:
    short = at(np.linspace(20.0, 300.0, 40), np.zeros(40))
    times = 28_800.0 + np.linspace(0.0, 60.0, 40)[None]
    (speeds,) = router_speeds(ReleasedLines(short[None], np.array([4]), times, k=4), roads)
    assert len(speeds.speed) == 0


def test_without_times_there_is_no_speed(roads: RoadsToFollow) -> None:
    plain = ReleasedLines(corner()[None], np.array([4]))
    with pytest.raises(BadInput, match="this release has no times"):
        router_speeds(plain, roads)
    with pytest.raises(BadInput, match="these roads have no ids"):
        router_speeds(timed(200.0), roads._replace(osm=None))
