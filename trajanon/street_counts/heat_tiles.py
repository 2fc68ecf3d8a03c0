"""A heat map as vector tiles in one file (PMTiles), as pages of MapLibre read them."""

import gzip
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import shapely
from geopandas import GeoDataFrame

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.street_counts.cell_counts import COARSEST, cell_counts
from trajanon.street_counts.lines_to_count import ReleasedLines

LEVELS = 5
"""Zoom levels of a heat map; at each, cells are half as wide as at the one before."""

_FINEST_ZOOM = 14
_LARGEST = 5_000_000  # bytes that a page of a phone should have to ask for


def write_heat_tiles(path: Path, lines: ReleasedLines, metres: float) -> GeoDataFrame:
    """Write cells of a width in metres at the finest zoom, and at each coarser one twice as wide.

    Returns the finest cells.

    Raises
    ------
    BadInput
        If the packages for tiles are not installed, or the file would be too large for a page.
    """
    try:
        import mapbox_vector_tile
        from pmtiles.tile import Compression, TileType, zxy_to_tileid
        from pmtiles.writer import Writer
    except ImportError as error:
        raise BadInput(f"{path} needs two packages: pip install 'trajanon[cells]'") from error

    widest = COARSEST / 2 ** (LEVELS - 1)
    if metres > widest:
        raise BadInput(
            f"cells of a heat map are at most {widest:,.0f} metres wide (got {metres:g})"
        )

    finest = cell_counts(lines, metres)
    tiles: dict[int, bytes] = {}  # by their numbers in PMTiles
    for levels_out in range(LEVELS):
        zoom = _FINEST_ZOOM - levels_out
        table = finest if levels_out == 0 else cell_counts(lines, metres * 2**levels_out)
        for (column, row), features in _features_by_tile(table, zoom):
            layer = {"name": "cells", "features": features}
            # The sides of the tile, as shares of the map of the world: west, top, east, bottom.
            sides = tuple(side / 2**zoom for side in (column, row, column + 1, row + 1))
            options = {"quantize_bounds": sides, "y_coord_down": True}
            with warnings.catch_warnings():  # that package calls what shapely has renamed
                warnings.simplefilter("ignore", DeprecationWarning)
                encoded = mapbox_vector_tile.encode(layer, default_options=options)
            tiles[zxy_to_tileid(zoom, column, row)] = gzip.compress(encoded, mtime=0)

    size = sum(map(len, tiles.values()))
    if size > _LARGEST:
        raise BadInput(
            f"{path} would have {size / 1e6:.0f} MB, and a page should ask for at most "
            f"{_LARGEST / 1e6:.0f}: use wider cells than {metres:g} m"
        )

    names = ("min_lon_e7", "min_lat_e7", "max_lon_e7", "max_lat_e7")  # in 10^-7 degrees
    bounds = dict(zip(names, (finest.total_bounds * 1e7).astype(int).tolist(), strict=True))
    with path.open("wb") as file:
        writer = Writer(file)
        for number in sorted(tiles):
            writer.write_tile(number, tiles[number])
        writer.finalize(
            {
                "tile_type": TileType.MVT,
                "tile_compression": Compression.GZIP,
                "center_zoom": _FINEST_ZOOM - LEVELS // 2,
                **bounds,
            },
            {
                "attribution": lines.attribution or "",
                "vector_layers": [{"id": "cells", "fields": {"trips": "Number"}}],
            },
        )
    return finest


def _features_by_tile(
    table: GeoDataFrame, zoom: int
) -> list[tuple[tuple[int, int], list[dict[str, object]]]]:
    """List column and row of each tile that cells touch, and its cells as features."""
    features = defaultdict[tuple[int, int], list[dict[str, object]]](list)
    for shape, trips in zip(table.geometry, table.trips.tolist(), strict=True):
        on_map = shapely.transform(shape, _mercator)
        feature: dict[str, object] = {"geometry": on_map, "properties": {"trips": trips}}
        # A cell lies in each tile that it touches. At the antimeridian, or near a pole, a part of
        # it may lie off the map.
        first_tile_and_last = (np.array(on_map.bounds) * 2**zoom).astype(int)
        left, top, right, bottom = first_tile_and_last.clip(0, 2**zoom - 1).tolist()
        for column in range(left, right + 1):
            for row in range(top, bottom + 1):
                features[column, row].append(feature)
    return sorted(features.items())


def _mercator(places: Floats) -> Floats:
    """Return longitude and latitude, (n, 2), as shares of the map of the world, y to the south."""
    lon, lat = np.radians(places).T
    east = 0.5 + lon / (2.0 * np.pi)
    south = 0.5 - np.arctanh(np.sin(lat)) / (2.0 * np.pi)
    return np.column_stack([east, south])
