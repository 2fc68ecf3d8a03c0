"""Trips on streets: how often a line counts, where, in which direction, how fast and when."""

import re
from pathlib import Path

import numpy as np
import pytest
import shapely
from main_road import NORTH, at, east, town
from osm_xml import OsmFile

import trajanon
import trajanon.street_counts.streets
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract import roads_to_follow
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.streets import streets
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

DAY = Clock("of-day", "Europe/Vaduz", 300)


@pytest.fixture
def roads(tmp_path: Path) -> RoadsToFollow:
    return roads_to_follow(town(tmp_path), "car")


def lines(*points: Floats, trips: int = 4) -> ReleasedLines:
    return ReleasedLines(np.stack(points), np.full(len(points), trips))


def test_streets_run_from_junction_to_junction(roads: RoadsToFollow) -> None:
    """Over the border of two ways, of which one is drawn from its other end."""
    found = streets(lines(east(50, 1_950), east(1_950, 50), trips=5), roads)
    columns = found.drop(columns="geometry").fillna({"name": ""})
    assert columns.to_dict("records") == [
        {
            "osm_way": ways,
            "from_node": begin,
            "to_node": end,
            "highway": kind,
            "name": name,
            "length_m": 1000.0,
            "trips": 5,
            "lines": 1,
        }
        for ways, begin, end, kind, name in (
            ("27;28", 1, 11, "primary", "Main Road"),
            ("28;27", 11, 1, "primary", "Main Road"),
            ("28", 21, 11, "secondary", ""),
            ("28", 11, 21, "secondary", ""),
        )
    ]
    begins = np.array([one.coords[0] for one in found.geometry])[:, ::-1]
    assert begins == pytest.approx(at(np.array([0, 1_000, 2_000, 1_000.0]), np.zeros(4)), abs=1e-6)
    assert found.crs.to_epsg() == 4326
    assert found.attrs["attribution"] == OSM_ATTRIBUTION
    assert found.attrs["share_on_roads"] == pytest.approx(1.0)


def test_the_way_between_points_counts(roads: RoadsToFollow) -> None:
    """Two points, each on one of the outer streets, 300 m from the junction."""
    turned = np.concatenate([at(*np.array([[700.0], [0.0]])), at(*np.array([[1000.0], [300.0]]))])
    found = streets(lines(turned), roads)
    assert found[["from_node", "to_node"]].to_numpy().tolist() == [[1, 11], [11, 26]]


def test_nobody_goes_against_a_one_way_street(roads: RoadsToFollow) -> None:
    up = at(np.full(10, 1_000.0), np.linspace(20, 480, 10))
    assert set(streets(lines(up), roads).to_node) == {26}
    assert 26 not in set(streets(lines(up[::-1]), roads).from_node)


def test_a_line_that_leaves_the_roads_counts_inside(roads: RoadsToFollow) -> None:
    out = streets(lines(east(1_000, 3_000, 21)), roads)
    assert out[["from_node", "to_node"]].to_numpy().tolist() == [[11, 21]]
    assert 0.45 < out.attrs["share_on_roads"] < 0.6
    nowhere = streets(lines(east(4_000, 6_000)), roads)
    assert len(nowhere) == 0
    assert (out.attrs["share_counted"], nowhere.attrs["share_counted"]) == (1.0, 0.0)
    assert list(nowhere.columns) == list(out.columns)


def test_a_person_on_two_lines_counts_twice_and_k_stand_behind_each_count(
    roads: RoadsToFollow,
) -> None:
    """Four commuters go east and come back; on the way, four others join them."""
    there, back = east(50, 1_950), east(1_950, 50)
    points = np.stack([there + n * 1e-6 for n in range(8)] + [back + n * 1e-6 for n in range(4)])
    commuters = Trajectories(points, subject=np.array([*range(8), *range(4)]))
    counted = streets(trajanon.anonymize(commuters, 4), roads)
    assert counted.attrs["k"] == 4
    assert counted.attrs["of_trips"] == 12  # of 8 people
    assert sorted(counted.trips) == [4, 4, 8, 8]


def test_speed_and_hours_are_those_of_the_lines(roads: RoadsToFollow) -> None:
    """Of 1,900 m in 20 minutes, and in 10; the first departs at 07:50, the other at 23:00."""
    points = np.stack([east(50, 1_950, 30), east(1_950, 50, 30)])
    begin, takes = np.array([[28_200.0], [82_800.0]]), np.array([[1_200.0], [600.0]])
    times = DAY.rounded(begin + np.linspace(0, 1, 30) * takes)
    timed = ReleasedLines(points, np.array([4, 5]), times, DAY)
    found = streets(timed, roads)
    assert found.speed_kmh.to_numpy() == pytest.approx([5.7, 11.4, 11.4, 5.7], rel=0.1)

    apart = streets(timed, roads, parts=day_parts("7-8,8-22,23-24"))
    assert apart[["hours", "trips"]].to_numpy().tolist() == [
        ["7-8", 4],
        ["23-24", 5],
        ["23-24", 5],
        ["8-22", 4],
    ]
    assert len(streets(timed, roads, parts=day_parts("0-7"))) == 0


@pytest.mark.parametrize("clock", [DAY, None])
def test_a_line_without_times_counts_and_changes_no_speed(
    roads: RoadsToFollow, clock: Clock | None
) -> None:
    way = east(50, 1_950, 30)
    times = 28_200.0 + np.linspace(0, 1_200.0, 30)
    alone = streets(ReleasedLines(way[None], np.array([4]), times[None], clock), roads)
    both = ReleasedLines(
        np.stack([way, way]), np.array([4, 8]), np.stack([times, np.full(30, np.nan)]), clock
    )
    found = streets(both, roads)
    assert found.trips.tolist() == [12, 12]
    assert found.speed_kmh.tolist() == alone.speed_kmh.tolist()
    if clock is not None:
        assert set(streets(both, roads, parts=day_parts("7-9")).trips) == {4}


def test_a_street_over_the_180th_meridian_is_short(tmp_path: Path) -> None:
    osm = OsmFile()
    nodes = osm.nodes([(-16.8, lon) for lon in (179.98, 179.99, -179.99, -179.98)])
    osm.way(nodes, {"highway": "primary"})
    roads = roads_to_follow(osm.write(tmp_path / "island.osm"), "car")
    found = streets(lines(np.array([[-16.8, 179.982], [-16.8, 179.988]])), roads)
    assert found.trips.tolist() == [4]
    assert shapely.length(np.asarray(found.geometry)) == pytest.approx(0.04)


@pytest.mark.parametrize("first_lon", [179.98, -179.98])
def test_lines_are_followed_over_the_180th_meridian(tmp_path: Path, first_lon: float) -> None:
    """The street is on the side of the meridian on which its first node is."""
    osm = OsmFile()
    nodes = osm.nodes([(-16.8, lon * np.sign(first_lon)) for lon in (179.98, 179.99, -179.98)])
    osm.way(nodes, {"highway": "primary"})
    roads = roads_to_follow(osm.write(tmp_path / "island.osm"), "car")
    line = np.stack([np.full(4, -16.8002), [179.983, 179.993, -179.997, -179.987]], axis=-1)

    found = streets(lines(line), roads)
    assert found.trips.tolist() == [4]
    assert shapely.length(np.asarray(found.geometry)) == pytest.approx(0.04)
    laid, on_roads = roads.lay(line[None])
    assert on_roads.all()
    np.testing.assert_allclose(laid[0], line + np.array([0.0002, 0.0]), atol=2e-5)


def test_parts_of_the_day_need_hours(roads: RoadsToFollow) -> None:
    with pytest.raises(BadInput, match="this release has no hours"):
        streets(lines(east(50, 1_950)), roads, parts=day_parts("7-9"))


def test_what_is_no_release_is_refused(roads: RoadsToFollow, tmp_path: Path) -> None:
    trips = Trajectories(np.stack([east(50, 1_950) + one * NORTH for one in range(8)]))
    with pytest.raises(BadInput, match="pass the Release that anonymize made"):
        streets(trips, roads)  # type: ignore[arg-type]
    trajanon.write_trajectories(tmp_path / "trips.parquet", trips)
    with pytest.raises(BadInput, match=r"trips\.parquet is not a release to count on"):
        streets(tmp_path / "trips.parquet", roads)
    plain = trajanon.anonymize(trips, 4, as_published=True)
    with pytest.raises(BadInput, match="this release is not a release to count on: It holds plain"):
        streets(plain, roads)
    plain.write(tmp_path / "plain.parquet")
    with pytest.raises(BadInput, match=re.escape("plain.parquet is not a release to count on")):
        streets(tmp_path / "plain.parquet", roads)
    some = trajanon.anonymize(trips, 4, method="mdav", refine="none")
    counted = streets(some, roads)
    assert (counted.trips.max(), counted.attrs["k"]) == (8, None)  # nothing is known of people
    with pytest.raises(BadInput, match="these roads have no ids"):
        streets(some, roads._replace(osm=None))
