"""What the two maps draw and count, and how lines are written: as steps and bends."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browsing import LABELS, about, compared, held, layer, means, places, report, trajectories
from commands import Run, mode
from geopandas import GeoDataFrame
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import renumbered
from trajanon.common.errors import BadInput
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.maps import compare, html, public
from trajanon.maps.colours_and_tiles import PALETTE
from trajanon.maps.drawing import bends, steps
from trajanon.street_counts.cell_counts import cell_counts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.distances import displacement, lengths
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories


def test_every_original_and_one_line_a_group_are_drawn_in_millionths_of_a_degree() -> None:
    page, original = compared(), trajectories()
    groups, members = about(page)["groups"], layer(page, "members")
    assert members == [np.flatnonzero(group == LABELS).tolist() for group in range(3)]
    assert (groups["number"], groups["size"]) == ([0, 1, 2], [4, 3, 4])
    assert len(set(groups["colour"])) == 3
    assert tuple(held(page)["page"]["palette"]) == PALETTE
    for name, points in (
        ("originals", original.points),
        ("released", means(original.points, LABELS)),
    ):
        found = np.array([places(steps) for steps in layer(page, name)])
        assert np.abs(found - np.array(points) * 1e6).max() <= 0.56
    for group, mean in enumerate(means(original.points, LABELS)):
        inside = original.points[group == LABELS]
        metres = displacement(inside, np.broadcast_to(mean, inside.shape)).mean()
        assert groups["moved"][group] == pytest.approx(metres, abs=0.06)


def test_the_panel_gives_verdict_cost_k_n_groups_and_loss() -> None:
    page = compared()
    said = about(page)
    assert said["headline"] == "k = 3 people"
    assert said["sentences"] == [
        "Ready to publish, if places where lines begin and end may be known.",
        "Nothing says whether these trajectories are whole trips: all of a line may begin, or all "
        "end, at the home of their people.",
        "Released points lie 126 m on average (median 86 m) from where people were at the same "
        "share of the way, 13 % of a trajectory's length. At the nearest point, the ways lie 0 m "
        "(median 0 m) from the lines, and the lines 0 m (median 0 m) from the ways. Information "
        "loss: 12 %.",
        "Nothing was left out: all trajectories that were read are in the release.",
    ]
    assert said["facts"] == [
        ["Trajectories, n", "11"],
        ["Groups", "3"],
        ["People in each group", "at least 3"],
        ["Information loss", "12.3 %"],
        ["95 % of points moved by at most", "300 m"],
        ["Lines over 100 m outside the box of their originals", "0"],
        ["Originals moved by more than their length", "0"],
    ]
    assert said["drawn"] is None
    assert held(page)["page"]["attribution"] == OSM_ATTRIBUTION
    said = about(compared(counted="records"))
    assert said["headline"] == "k = 3 trajectories"
    assert ["Trajectories in each group", "at least 3"] in said["facts"]


def test_lines_outside_their_originals_and_hooks_are_counted() -> None:
    """One group's line goes 500 m south of all its originals; another's originals are 40 m long."""
    points = trajectories().points.copy()
    short = LABELS == 1
    points[short, :, 1] = points[short, :1, 1] + np.linspace(0.0, 0.0005, 30)
    original = Trajectories(points)
    lines = means(points, LABELS)
    lines[0, 10, 0] = points[LABELS == 0, :, 0].min() - 500.0 / 111_000.0
    told = report(points=points) | {"line_keys": line_keys(lines).tolist()}
    said = about(html(compare(original, ReleasedTrajectories(lines[LABELS]), told)))
    moved = displacement(points, lines[LABELS]).mean(axis=1)
    assert said["groups"]["outside"] == pytest.approx([500.0, 0.0, 0.0], abs=3.0)
    assert ["Lines over 100 m outside the box of their originals", "1"] in said["facts"]
    hooks = int((moved > lengths(points)).sum())
    assert 0 < hooks <= 3
    assert ["Originals moved by more than their length", f"{hooks}"] in said["facts"]


def test_one_group_or_two_of_the_same_mean_are_one_line() -> None:
    points = trajectories().points[:4]
    mean = ReleasedTrajectories(np.repeat(points.mean(axis=0, keepdims=True).round(7), 4, axis=0))
    drawn = compare(Trajectories(points), mean, report([0] * 4, points))
    assert len(layer(html(drawn), "released")) == 1
    assert len(layer(html(public(mean)), "released")) == 1
    same = ReleasedTrajectories(np.repeat(points[:1], 6, axis=0))
    page = html(compare(Trajectories(same.points), same, report([0, 1, 0, 1, 0, 1], same.points)))
    assert len(layer(page, "released")) == 1


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(1, 100))
def test_of_too_many_some_groups_are_drawn_whole(sizes: list[int], most: int) -> None:
    """The worst among them; all is counted."""
    labels = renumbered(
        np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    )
    points = np.random.default_rng(1).normal(40, 0.01, (len(labels), 30, 2)).round(7)
    released = ReleasedTrajectories(means(points, labels)[labels])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trajanon.maps.drawing._POINTS_DRAWN", most * 30)
        page = html(compare(Trajectories(points), released, report(labels, points)))
    said, groups = about(page), about(page)["groups"]["number"]
    members = [np.flatnonzero(labels == group) for group in groups]
    shown = np.array([places(steps) for steps in layer(page, "originals")])
    drawn_of = layer(page, "members")
    assert [len(each) for each in drawn_of] == [len(each) for each in members]
    for at, rows in zip(drawn_of, members, strict=True):
        assert np.abs(shown[at] - 1e6 * points[rows]).max() <= 0.56
    assert said["total"] == {"groups": len(sizes), "originals": len(labels)}
    assert len(said["worst"]) == min(10, len(sizes))
    assert min(said["worst"]) >= 0
    if len(labels) <= most:
        assert (said["drawn"], groups) == (None, list(range(len(sizes))))
    elif said["drawn"] is not None:
        drawn = sum(map(len, members))
        assert said["drawn"] == (
            f"Drawn: {len(groups)} of {len(sizes)} groups, always the 10 with the largest mean "
            "displacement, others at random. All numbers are of the whole release."
        )
        assert drawn < most + 6 or len(groups) == 10


def counted() -> GeoDataFrame:
    lines = means(trajectories().points, LABELS)
    return cell_counts(ReleasedLines(lines, np.array([40, 300, 5]), k=4), 300.0)


def test_trips_by_cell_are_drawn_by_how_many_they_are() -> None:
    cells = counted()
    page = html(public(cells, tiles=None))
    said = about(page)
    assert (said["noun"], said["units"], said["total"]["groups"]) == ("cell", "trips", len(cells))
    trips = np.array(said["groups"]["size"])
    assert sorted(trips) == sorted(cells.trips)
    assert (np.diff(np.array(said["groups"]["colour"])[np.argsort(trips)]) >= 0).all()
    least = [int(bound.replace(",", "")) for bound in said["ramp"]]
    assert least[0] == trips.min() == 4
    for count, colour in zip(trips, said["groups"]["colour"], strict=True):
        assert least[colour] <= count
        assert colour == len(least) - 1 or count < least[colour + 1]
    assert len(layer(page, "cells")[0]) == 2 * 5  # a square is closed
    assert "For the holder of the data" not in page
    places = cells.geometry
    for no_cells in (
        cells.drop(columns="trips"),
        cells.assign(trips=[f"{count} trips" for count in cells.trips]),
        cells.assign(trips=[np.nan, *cells.trips[1:]]),
        cells.set_geometry([None, *places[1:]]),
        cells.set_geometry(places.boundary),
    ):
        with pytest.raises(BadInput, match="has columns cell and trips, whole numbers, and a poly"):
            public(no_cells, tiles=None)
    with pytest.raises(BadInput, match="no trip passes any of these cells"):
        public(cells.iloc[:0], tiles=None)
    unused = cells.assign(trips=[0, *cells.trips[1:]])
    assert about(html(public(unused, tiles=None)))["total"]["groups"] == len(cells) - 1


def test_the_command_draws_cells(run: Run, tmp_path: Path) -> None:
    cells = counted()
    cells.attrs["attribution"] = OSM_ATTRIBUTION
    cells.to_parquet(tmp_path / "cells.parquet")
    assert run("map", "cells.parquet", "--view", "public", "--offline").code == 0
    page = (tmp_path / "map.public.html").read_text(encoding="utf-8")
    assert about(page)["headline"] == "trips by cell"
    assert about(page)["attribution"] == OSM_ATTRIBUTION
    assert mode(tmp_path / "map.public.html") != 0o600


def test_a_table_of_cells_without_places_on_earth_is_refused(run: Run, tmp_path: Path) -> None:
    pd.DataFrame(counted()).assign(geometry="a polygon").to_parquet(tmp_path / "cells.parquet")
    refused = run("map", "cells.parquet", "--view", "public", "--offline").sentence
    assert "cells.parquet is not GeoParquet" in refused


# Lines as steps and bends

lines = st.lists(
    st.lists(st.tuples(st.floats(-80, 80), st.floats(-179, 179)), min_size=2, max_size=6),
    max_size=4,
)


@given(lines)
def test_steps_lead_from_each_point_to_the_next(lines: list[list[tuple[float, float]]]) -> None:
    for line in lines:
        (flat,) = steps(np.array([line]))
        for found, place in zip(places(flat), line, strict=True):
            assert found == [round(degrees / 1e-6) for degrees in place]


@given(lines)
def test_bends_begin_and_end_where_lines_do(lines: list[list[tuple[float, float]]]) -> None:
    found = bends(np.array(line) for line in lines)
    assert len(found) == len(lines)
    for flat, line in zip(found, lines, strict=True):
        whole = places(steps(np.array([line]))[0])
        kept = places(flat)
        assert kept[0] == whole[0]
        assert kept[-1] == whole[-1]
        assert all(place in whole for place in kept)
