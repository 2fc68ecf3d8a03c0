"""Trips from zone to zone."""

from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.earth.area import read_shapes
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.clock_and_time_zones import Clock

ENDS = np.array([[[41.0, 2.0], [41.1, 2.1]]] * 2 + [[[41.1, 2.1], [41.1, 2.1]]])

TRIPS = np.array([4, 5, 6])


def town(**columns: list[str]) -> geopandas.GeoDataFrame:
    """Two squares; one more lies over the second."""
    boxes = [shapely.box(lon - 0.01, lat - 0.01, lon + 0.01, lat + 0.01) for lat, lon in ENDS[0]]
    boxes.append(boxes[1].buffer(0.01))
    return geopandas.GeoDataFrame(columns, geometry=boxes, crs="EPSG:4326")


def flows(zones: float | geopandas.GeoDataFrame) -> list[list[object]]:
    found = trajanon.zone_flows(ReleasedLines(ENDS, TRIPS), zones)
    return list(found[["from_zone", "to_zone", "trips", "lines"]].to_numpy().tolist())


def test_trips_are_counted_from_zone_to_zone() -> None:
    named = [["south", "north", 9, 2], ["north", "north", 6, 1]]
    assert flows(town(zone=["south", "north", "over"])) == named
    assert flows(town()) == [["0", "1", 9, 2], ["1", "1", 6, 1]]
    assert flows(town(id=["a", "b", "c"])[1:]) == [["b", "b", 6, 1]]
    assert flows(town(id=["a", "b", "c"])[:0]) == []


def test_the_share_of_trips_with_both_ends_in_zones_is_known() -> None:
    lines = ReleasedLines(ENDS, TRIPS, k=4)
    half = trajanon.zone_flows(lines, town(id=["a", "b", "c"])[1:]).attrs
    assert (half["of_trips"], half["share_counted"], half["k"]) == (15, 6 / 15, 4)
    assert trajanon.zone_flows(lines, 1_000.0).attrs["share_counted"] == 1.0


def test_cells_are_named_by_their_middles() -> None:
    found = flows(1_000.0)
    assert [row[2:] for row in found] == [[9, 2], [6, 1]]
    assert found[1][0] == found[1][1] == found[0][1]
    lat, lon = map(float, str(found[0][0]).split())
    assert abs(lat - 41.0) < 0.0046
    assert abs(lon - 2.0) < 0.0061


def test_departures_are_counted_by_hour() -> None:
    clock = Clock("of-day", "Europe/Madrid", 300)
    times = np.array([[3_600.0, 7_200.0], [90_000.0, 93_600.0], [28_800.0, 32_400.0]])
    lines = ReleasedLines(ENDS, TRIPS, times, clock)
    found = trajanon.zone_flows(lines, 1_000.0, parts=day_parts("0-2,8-9"))
    # 25:00 is the night after.
    assert found[["hours", "trips"]].to_numpy().tolist() == [["0-2", 9], ["8-9", 6]]


def test_what_is_no_zone_is_refused(tmp_path: Path) -> None:
    for zones, says in (
        (0.5, "a cell must be at least 1 metre wide"),
        (3e7, r"at most 1,000,000 \(got 3e\+07\)"),
        (np.nan, "a cell must be at least 1 metre wide"),
        (town().set_geometry(town().boundary), "zones must be polygons"),
        (town().set_crs(None, allow_override=True), "zones have no reference system"),
        (town(name=["a", "b", "a"]), "several zones have the same name: a"),
        (town().geometry, r"metres, or polygons in a GeoDataFrame \(got a GeoSeries\)"),
        ("1000", r"metres, or polygons in a GeoDataFrame \(got a str\)"),
        (True, r"metres, or polygons in a GeoDataFrame \(got a bool\)"),
        (geopandas.GeoDataFrame({"name": ["a"]}), "zones have no geometries"),
    ):
        with pytest.raises(BadInput, match=says):
            flows(zones)
    (tmp_path / "zones.geojson").write_text("hello")
    with pytest.raises(FileProblem, match=r"cannot read .*zones\.geojson as zones"):
        read_shapes(tmp_path / "zones.geojson", "zones", attributes=True)
    town().to_parquet(tmp_path / "zones.parquet")
    assert len(read_shapes(tmp_path / "zones.parquet", "zones", attributes=True)) == 3


def test_metres_may_be_of_numpy() -> None:
    assert flows(int(1e3)) == flows(np.int64(1_000)) == flows(1_000.0)


def test_an_empty_zone_moves_no_other() -> None:
    named = town(name=["a", "b", "c"])
    empty = named.iloc[:1].set_geometry([shapely.Polygon()]).assign(name="empty")
    lines = ReleasedLines(ENDS, TRIPS)
    expected = trajanon.zone_flows(lines, named)
    found = trajanon.zone_flows(lines, pd.concat([empty, named]))
    assert found.to_wkt().equals(expected.to_wkt())


def test_a_flow_over_the_180th_meridian_is_short() -> None:
    ends = np.array([[[-16.5, 179.9], [-16.5, -179.9]], [[-16.5, -179.9], [-16.5, 179.9]]])
    found = trajanon.zone_flows(ReleasedLines(ends, np.array([4, 5])), 1_000.0)
    assert shapely.length(np.asarray(found.geometry)) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("west", [179.0, -181.0])
def test_zones_go_on_over_the_180th_meridian(west: float) -> None:
    ends = np.array([[[-16.5, 179.9], [-16.5, -179.9]]])
    fiji = geopandas.GeoDataFrame(geometry=[shapely.box(west, -18, west + 2, -16)], crs="EPSG:4326")
    found = trajanon.zone_flows(ReleasedLines(ends, np.array([4])), fiji)
    assert found[["from_zone", "to_zone", "trips"]].to_numpy().tolist() == [["0", "0", 4]]
