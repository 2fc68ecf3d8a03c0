"""Cells of a heat map as tiles: each where it lies, at each zoom level."""

import gzip
from pathlib import Path

import mapbox_vector_tile
import pytest
from lines_counted import ACROSS, K, lines
from pmtiles.reader import MmapSource, Reader, all_tiles

from trajanon.common.errors import BadInput
from trajanon.street_counts import heat_tiles
from trajanon.street_counts.heat_tiles import LEVELS, write_heat_tiles
from trajanon.street_counts.lines_to_count import ReleasedLines


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


@pytest.mark.parametrize("lat", [-16.5, 89.0])
def test_tiles_end_at_the_edges_of_the_map(tmp_path: Path, lat: float) -> None:
    points = ACROSS.points.copy()
    points[..., 0] = lat
    write_heat_tiles(tmp_path / "x.pmtiles", ReleasedLines(points, ACROSS.trips), 500.0)
    with (tmp_path / "x.pmtiles").open("rb") as file:
        tiles = [tile for tile, _ in all_tiles(Reader(MmapSource(file)).get_bytes)]
    assert tiles
    assert all(0 <= place < 2**zoom for zoom, *places in tiles for place in places)
