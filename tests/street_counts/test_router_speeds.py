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
from trajanon.release.matched_to_roads import RoadsToFollow, traced
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.router_speeds import _heading, router_speeds, seconds_at_nodes
from trajanon.trajectories.clock_and_time_zones import Clock

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
    speeds = router_speeds(timed(200.0), roads)
    pairs = set(zip(speeds.start.tolist(), speeds.end.tolist(), strict=True))
    way = [*range(1, 12), *range(12, 22)]
    assert pairs == set(pairwise(way))  # one way only
    assert speeds.share_of_network == pytest.approx(2_000.0 / 5_000.0, rel=0.01)
    rows = speeds.osrm_text().splitlines()
    assert len(rows) == 20
    assert all(len(row.split(",")) == 3 for row in rows)


def test_delays_at_turns_and_signals_are_taken_off(roads: RoadsToFollow) -> None:
    """Of 1,960 m in 200 s; a right angle to the left costs OSRM's car 7.3 s, and a signal 2 s."""
    released = timed(200.0)
    ways = traced(released.points, roads.network)
    turn = seconds_at_nodes(ways, roads, 1)
    assert turn == pytest.approx(7.32, abs=0.05)
    assert roads.osm is not None
    waits = np.full(len(roads.osm.node), 2.0)
    with_signals = roads._replace(osm=roads.osm._replace(waits=waits))
    delay = seconds_at_nodes(ways, with_signals, 1)
    # Of 9 nodes on each street, nearly all are passed, and the corner.
    assert delay == pytest.approx(turn + 2.0 * 19, abs=1.0)

    speeds = router_speeds(released, with_signals)
    assert speeds.speed == pytest.approx(3.6 * 1_960.0 / (200.0 - delay[0]), rel=0.02)


def test_lines_that_share_a_street_show_which_one_is_slow(roads: RoadsToFollow) -> None:
    """Half of the lines go on to the north, which takes 200 s; all take 200 s to the corner."""
    east = at(np.linspace(20.0, 980.0, 40), np.zeros(40))
    times = 28_800.0 + np.outer([400.0, 200.0], np.linspace(0.0, 1.0, 40))
    released = ReleasedLines(np.stack([corner(), east]), np.array([400, 400]), times, k=4)
    speeds = router_speeds(released, roads)
    first, second = np.split(speeds.speed[0], [10])  # nodes are numbered along the way
    assert first == pytest.approx(17.4, rel=0.05)
    assert second == pytest.approx(17.7, rel=0.05)

    faster = router_speeds(replace(released, times=times * [[0.75], [1.0]]), roads)
    assert np.split(faster.speed[0], [10])[1].min() > 1.2 * second.max()


def test_few_trips_change_a_street_little(roads: RoadsToFollow) -> None:
    many = replace(timed(400.0, 200.0), trips=np.array([4_000, 4]))
    both = router_speeds(many, roads)
    slow = router_speeds(timed(400.0), roads)
    assert both.speed == pytest.approx(slow.speed, rel=0.01)


def test_parts_of_the_day_differ_on_all_streets(roads: RoadsToFollow) -> None:
    """A line at noon that goes half of the way tells how fast all of it is at noon."""
    half = at(np.linspace(20.0, 980.0, 40), np.zeros(40))
    noon = 43_200.0 + 100.0 * np.linspace(0.0, 1.0, 40)[None]
    morning = timed(400.0)
    assert morning.times is not None
    times = np.concatenate([morning.times, noon])
    points = np.stack([corner(), half])
    released = ReleasedLines(points, np.array([400, 400]), times, replace(DAY, step=1), k=4)
    speeds = router_speeds(released, roads, day_parts("8-9,12-13,22-6"))
    early, late, night = speeds.speed
    assert late / early == pytest.approx(late[0] / early[0])
    assert late[0] > 1.3 * early[0]
    assert early[0] < night[0] < late[0]
    assert len(speeds.osrm_text(1).splitlines()) == 20


def test_short_lines_show_no_speed(roads: RoadsToFollow) -> None:
    short = at(np.linspace(20.0, 300.0, 40), np.zeros(40))
    times = 28_800.0 + np.linspace(0.0, 60.0, 40)[None]
    speeds = router_speeds(ReleasedLines(short[None], np.array([4]), times, k=4), roads)
    assert speeds.osrm_text() == ""


def test_without_times_there_is_no_speed(roads: RoadsToFollow) -> None:
    plain = ReleasedLines(corner()[None], np.array([4]))
    with pytest.raises(BadInput, match="this release has no times"):
        router_speeds(plain, roads)
    with pytest.raises(BadInput, match="these roads have no ids"):
        router_speeds(timed(200.0), roads._replace(osm=None))


def test_a_line_without_times_takes_none_from_others(roads: RoadsToFollow) -> None:
    known = timed(200.0)
    assert known.times is not None
    both = ReleasedLines(
        np.stack([corner()] * 2),
        np.array([4, 400]),
        np.concatenate([np.full((1, 40), np.nan), known.times]),
        replace(DAY, step=1),
        k=4,
    )
    alone = ReleasedLines(known.points, np.array([400]), known.times, both.clock, k=4)
    np.testing.assert_array_equal(both.seconds, [np.nan, *alone.seconds])
    hours = day_parts("7-9,9-24")
    expected = router_speeds(alone, roads, hours)
    np.testing.assert_array_equal(router_speeds(both, roads, hours).speed, expected.speed)


def test_times_that_are_all_one_show_no_speed(roads: RoadsToFollow) -> None:
    rough = ReleasedLines(corner()[None], np.array([4]), np.full((1, 40), 28_800.0), DAY, k=4)
    with pytest.raises(BadInput, match="all lines of this release take no time"):
        router_speeds(rough, roads)


def test_two_crossings_at_one_place_delay_nobody(tmp_path: Path) -> None:
    """A street from node to node at one place has neither a length nor a direction."""
    osm = OsmFile()
    east = osm.nodes(map(tuple, at(np.array([0.0, 500.0, 500.0, 1_000.0]), np.zeros(4))))
    aside = osm.nodes(map(tuple, at(np.full(2, 500.0), np.array([300.0, -300.0]))))
    for first, last in [*pairwise(east), (east[1], aside[0]), (east[2], aside[1])]:
        osm.way([first, last], {"highway": "residential"})
    crossed = roads_to_follow(osm.write(tmp_path / "crossed.osm"), "car")
    assert 0.0 in crossed.network.street_length

    straight = at(np.linspace(20.0, 980.0, 40), np.zeros(40))[None]
    times = 28_800.0 + 120.0 * np.linspace(0.0, 1.0, 40)[None]
    ways = traced(straight, crossed.network)
    assert len(ways.state) == 3
    assert seconds_at_nodes(ways, crossed, 1)[0] == 0.0
    speeds = router_speeds(ReleasedLines(straight, np.array([4]), times, k=4), crossed).speed
    np.testing.assert_allclose(speeds, 3.6 * 960.0 / 120.0, rtol=0.01)


def test_a_street_over_the_antimeridian_goes_straight_on(tmp_path: Path) -> None:
    osm = OsmFile()
    lon = [179.99, 179.998, -179.995, -179.99]
    nodes = osm.nodes([(0.0, east) for east in lon])
    aside = osm.nodes([(0.003, 179.998), (0.003, -179.995)])
    for first, last in [*pairwise(nodes), *zip(nodes[1:3], aside, strict=True)]:
        osm.way([first, last], {"highway": "residential"})
    network = roads_to_follow(osm.write(tmp_path / "fiji.osm"), "car").network
    headings = _heading(network, network.tail, network.head)
    np.testing.assert_allclose(np.sort(headings.round()), [0.0, 0.0, 90.0, 90.0, 90.0])
