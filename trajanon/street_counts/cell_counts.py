"""Trips that pass each cell of a grid: a heat map of released lines alone."""

import os
from collections.abc import Sequence
from numbers import Real

import numpy as np
import pandas as pd
import shapely
from geopandas import GeoDataFrame
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints, indices_of_spans
from trajanon.common.errors import BadInput
from trajanon.release.release import Release
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.lines_to_count import ReleasedLines, lines_to_count, times_at
from trajanon.street_counts.rounded_counts import counts_of, passages, table_of_counts
from trajanon.trajectories.geodesy import cells, metres_between, places_in_cells, wrapped

_PLACES_A_CELL = 4  # that are looked at in its width, along a line
_FINEST = 10.0  # metres
COARSEST = 100_000.0

# Metres across a hexagon of H3's resolution 0, at least. One of the next has a seventh of its area.
_H3_WIDTH = 1_000_000.0
_H3_FINEST = 12


def cell_counts(
    release: ReleasedLines | Release | str | os.PathLike[str],
    grid: float | str,
    *,
    parts: Sequence[DayPart] = ALL_DAY,
) -> GeoDataFrame:
    """Count the trips that pass each cell of a grid, along lines drawn between their points.

    All trips that a line stands for count once in each cell that it passes, so at least the k
    different people of one line stand behind each count, and behind each difference of two counts.

    Parameters
    ----------
    release
        What `trajanon.anonymize` made, or the path of a released file or of a folder of parts.
    grid
        Width of square cells in metres; or the resolution of H3's hexagons, such as ``h3:9``.
    parts
        Parts of the day that are counted apart, by when lines come to a cell.

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each cell that lines pass, and each part of the day: ``cell``, ``trips``, rounded
        to what they are worth, ``lines``, ``hours``, if parts of the day are asked for, and the
        cell as a polygon.

    Raises
    ------
    BadInput
        If `trajanon.check` refuses the release, it must not be published, or there is no such grid.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 2.05]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> counted = trajanon.cell_counts(release, 1000.0)
    >>> len(counted) > 3, set(counted.trips)
    (True, {2})
    """
    resolution = _h3_resolution(grid)
    width = float(grid) if resolution is None else _H3_WIDTH / 7 ** (resolution / 2)
    lines = lines_to_count(release)
    parts = tuple(parts)

    line, place, points_before = _places_on_lines(lines.points, width / _PLACES_A_CELL)
    cell = cells(place, width) if resolution is None else _hexagons(place, resolution)
    part = parts_of(times_at(lines.times, line, points_before), lines.clock, parts)
    counts = counts_of(passages({"cell": cell}, line, part), lines)

    cell = counts.table["cell"].to_numpy()
    names, shapes = _squares_drawn(cell, width) if resolution is None else _hexagons_drawn(cell)
    return table_of_counts(pd.DataFrame({"cell": names}), shapes, counts, lines, parts)


def _h3_resolution(grid: float | str) -> int | None:
    """Return the resolution of H3's cells, or None for squares; refuse a grid that is neither."""
    if isinstance(grid, Real) and not isinstance(grid, bool):
        if not _FINEST <= grid <= COARSEST:
            raise BadInput(f"cells are {_FINEST:g} to {COARSEST:,.0f} metres wide (got {grid:g})")
        return None

    family, _, resolution = grid.partition(":") if isinstance(grid, str) else ("", "", "")
    if family != "h3" or not resolution.isdecimal() or int(resolution) > _H3_FINEST:
        raise BadInput(f"cells are metres, or h3:0 to h3:{_H3_FINEST} (got {grid!r})")
    return int(resolution)


def _places_on_lines(points: Floats, apart: float) -> tuple[Ints, Floats, Floats]:
    """Lay places on lines, (n, m, 2), so many metres apart or less, points among them.

    Returns of each place the row of its line, its latitude and longitude, and how far along the
    line it is, in points from the first.
    """
    # A hop leads from a point to the next one; each has places of its own, at both ends, too.
    m = points.shape[1]
    start = points[:, :-1].reshape(-1, 2)
    end = points[:, 1:].reshape(-1, 2)
    metres = metres_between(start[:, 0], start[:, 1], end[:, 0], end[:, 1])
    places_on_hop = np.ceil(metres / apart).astype(np.int64) + 1

    # The hop of each place, and how far along it that is.
    hop = np.repeat(np.arange(len(places_on_hop)), places_on_hop)
    share_of_hop = indices_of_spans(0, places_on_hop) / np.maximum(places_on_hop[hop] - 1, 1)

    degrees = end - start
    degrees[:, 1] = wrapped(degrees[:, 1])
    place = start[hop] + share_of_hop[:, None] * degrees[hop]
    place[:, 1] = wrapped(place[:, 1])
    line, point = np.divmod(hop, m - 1)
    # The end of a hop is still on it, not on the next one: the last has none.
    return line, place, point + np.minimum(share_of_hop, 1.0 - 1e-9)


def _squares_drawn(cell: Ints, metres: float) -> tuple[list[str], NDArray[np.object_]]:
    """Return the names of square cells, which are their middles, and their polygons."""
    names = [f"{lat:.5f} {lon:.5f}" for lat, lon in places_in_cells(cell, metres).tolist()]
    south, west = places_in_cells(cell, metres, share=0.0).T
    north, east = places_in_cells(cell, metres, share=1.0).T
    return names, np.asarray(shapely.box(west, south, east, north))


def _hexagons(places: Floats, resolution: int) -> Ints:
    """Return the number of H3's cell of each place, (n,)."""
    try:
        import h3.api.numpy_int as h3
    except ImportError as error:
        raise BadInput("H3's cells need its package: pip install 'trajanon[cells]'") from error

    numbers = [h3.latlng_to_cell(lat, lon, resolution) for lat, lon in places.tolist()]
    return np.array(numbers, np.uint64).astype(np.int64)


def _hexagons_drawn(cell: Ints) -> tuple[list[str], NDArray[np.object_]]:
    """Return the names of H3's cells, and their polygons."""
    import h3.api.numpy_int as h3

    shapes = []
    for number in cell.astype(np.uint64):
        lat, lon = np.transpose(h3.cell_to_boundary(number))
        # On over the 180th meridian, not back round the Earth.
        shapes.append(shapely.Polygon(np.column_stack([np.unwrap(lon, period=360.0), lat])))
    return list(map(h3.int_to_str, cell.tolist())), np.array(shapes, dtype=object)
