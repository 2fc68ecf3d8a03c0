"""Trips that pass the cells of a grid, and the vector tiles of a heat map."""

import gzip
from pathlib import Path
from typing import Any

import mapbox_vector_tile
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pmtiles.reader import MmapSource, Reader, all_tiles

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.street_counts import heat_tiles
from trajanon.street_counts.cell_counts import cell_counts
from trajanon.street_counts.day_parts import day_parts
from trajanon.street_counts.heat_tiles import LEVELS, write_heat_tiles
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.geodesy import cells

K = 4


def lines(n: int = 12, seed: int = 0, trips: int | None = None) -> ReleasedLines:
    """Straight lines of some kilometres each, K trips or more on a line."""
    random = np.random.default_rng(seed)
    ends = random.uniform((47.0, 9.5), (47.05, 9.57), (n, 2, 2))
    share = np.linspace(0.0, 1.0, 30)[:, None]
    points: Floats = ends[:, :1] + share * (ends[:, 1:] - ends[:, :1])
    counts = random.integers(K, 3 * K, n) if trips is None else np.full(n, trips)
    times = random.uniform(0, 86_000, (n, 1)) + 300.0 * share[:, 0]
    return ReleasedLines(points, counts, times, Clock("of-day", "Europe/Vaduz", 300), k=K)


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


def test_tiles_hold_the_cells_at_each_zoom_level(tmp_path: Path) -> None:
    released = lines(trips=K)
    finest = write_heat_tiles(tmp_path / "heat.pmtiles", released, 200.0)
    with (tmp_path / "heat.pmtiles").open("rb") as file:
        source = MmapSource(file)
        header = Reader(source).header()
        tiles = list(all_tiles(source))
    assert header["max_zoom"] - header["min_zoom"] + 1 == LEVELS
    assert (tmp_path / "heat.pmtiles").stat().st_size < 5_000_000

    features = dict.fromkeys(range(header["min_zoom"], header["max_zoom"] + 1), 0)
    for (zoom, _, _), content in tiles:
        (layer,) = mapbox_vector_tile.decode(gzip.decompress(content)).values()
        features[zoom] += len(layer["features"])
        assert all(feature["properties"]["trips"] >= K for feature in layer["features"])

    # A cell lies in each tile that it touches, so none is missing between two tiles.
    assert features[header["max_zoom"]] >= len(finest) > 50
    assert sorted(features.values()) == list(features.values())
    assert all(features.values())


def test_tiles_that_no_page_should_ask_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heat_tiles, "_LARGEST", 1_000)
    with pytest.raises(BadInput, match="use wider cells than 200 m"):
        write_heat_tiles(tmp_path / "large.pmtiles", lines(), 200.0)
    with pytest.raises(BadInput, match=r"at most 6,250 metres wide \(got 10000\)"):
        write_heat_tiles(tmp_path / "wide.pmtiles", lines(), 10_000.0)


ACROSS = ReleasedLines(
    np.array([[[-16.5, 179.99], [-16.5, -179.99]], [[-16.5, -179.99], [-16.5, 179.99]]]),
    np.array([4, 4]),
)
"""Two lines over the antimeridian, there and back."""


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


@pytest.mark.parametrize("lat", [-16.5, 89.0])
def test_tiles_end_at_the_edges_of_the_map(tmp_path: Path, lat: float) -> None:
    points = ACROSS.points.copy()
    points[..., 0] = lat
    write_heat_tiles(tmp_path / "x.pmtiles", ReleasedLines(points, ACROSS.trips), 500.0)
    with (tmp_path / "x.pmtiles").open("rb") as file:
        tiles = [tile for tile, _ in all_tiles(Reader(MmapSource(file)).get_bytes)]
    assert tiles
    assert all(0 <= place < 2**zoom for zoom, *places in tiles for place in places)


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
