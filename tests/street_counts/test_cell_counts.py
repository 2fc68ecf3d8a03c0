"""Trips that pass the cells of a grid."""

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from lines_counted import ACROSS, K, lines

from trajanon.common.errors import BadInput
from trajanon.street_counts.cell_counts import cell_counts
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.geodesy import cells


@pytest.mark.parametrize("grid", [400.0, "h3:8"])
def test_each_line_counts_once_in_each_cell_it_passes(grid: float | str) -> None:
    released = lines(trips=K)
    found = cell_counts(released, grid)
    ways = shapely.linestrings(released.points[..., ::-1])
    for cell, trips, of_lines in zip(found.geometry, found.trips, found.lines, strict=True):
        passing = int(shapely.intersects(ways, cell).sum())
        assert of_lines <= passing
        inside = shapely.length(shapely.intersection(ways, cell)) * 80_000.0  # metres, about
        assert of_lines >= int((inside > 250.0).sum())
        assert trips >= K
    assert found.crs.to_epsg() == 4326
    assert found.attrs["share_counted"] == 1.0


@given(st.integers(0, 10_000), st.sampled_from([200.0, 450.0, 1_000.0]))
@settings(max_examples=8)
def test_what_two_maps_differ_by_is_whole_lines_of_k_people(seed: int, metres: float) -> None:
    """Who takes one map from another, of other hours, gets sums of whole lines, never fewer."""
    released = lines(4, seed)
    each = [ReleasedLines(released.points[[n]], released.trips[[n]]) for n in range(4)]
    of_each_line = [{*cell_counts(line, metres).cell} for line in each]
    day = cell_counts(released, metres)
    for cell, of_lines in zip(day.cell, day.lines, strict=True):
        assert of_lines == sum(cell in passed for passed in of_each_line)

    morning = cell_counts(released, metres, parts=day_parts("0-12"))
    whole = dict(zip(day.cell, day.lines, strict=True))
    for cell, of_lines in zip(morning.cell, morning.lines, strict=True):
        assert 1 <= of_lines <= whole[cell]
    for table in (day, morning):
        assert (table.trips >= K * np.minimum(table.lines, 9)).all()


def test_a_grid_that_is_none_is_refused() -> None:
    grids: list[Any] = [1.0, np.nan, 1e6, "h3:99", "h4:1", "h3", "500", None, True]
    for grid in grids:
        with pytest.raises(BadInput, match="cells are"):
            cell_counts(lines(), grid)


def test_cells_at_the_antimeridian_are_the_same_from_both_sides() -> None:
    counted = cell_counts(ACROSS, 500.0)
    assert set(counted["trips"]) == {8}
    assert len(counted) == 6


@pytest.mark.parametrize("resolution", [0, 4, 7])
def test_hexagons_at_the_antimeridian_are_no_wider_than_others(resolution: int) -> None:
    inland = ReleasedLines(np.array([[[-16.5, 9.99], [-16.5, 10.01]]]), np.array([4]))
    widest = cell_counts(inland, f"h3:{resolution}").bounds.eval("maxx - minx").max()
    counted = cell_counts(ACROSS, f"h3:{resolution}")
    assert counted.bounds.eval("maxx - minx").max() < 1.5 * widest
    assert counted.is_valid.all()


@pytest.mark.parametrize("lat", [0.0, 60.0])
def test_cells_are_drawn_where_trips_are_counted(lat: float) -> None:
    line = ReleasedLines(np.array([[[lat, 10.0], [lat + 0.1, 10.2]]]), np.array([4]))
    counted = cell_counts(line, 1_000.0)
    corners = counted.get_coordinates().to_numpy()[:, ::-1].reshape(len(counted), -1, 2)
    middles = corners[:, :-1].mean(axis=1, keepdims=True)
    just_inside = cells(middles + 0.999 * (corners - middles), 1_000.0)
    assert (just_inside == cells(middles, 1_000.0)).all()
    just_outside = cells(middles + 1.001 * (corners - middles), 1_000.0)
    assert (just_outside != cells(middles, 1_000.0)).all()
