"""Trips that pass each cell of a grid: a heat map of released lines alone."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.release.release import Release
from trajanon.street_counts.counts import counts_of, passages, table_of_counts
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.released_lines import ReleasedLines, lines_to_count, times_at
from trajanon.trajectories.geodesy import (
    cell_middles,
    cells,
    metres_between,
    metres_of_degrees,
    wrapped,
)

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_STEPS = 4  # places that are looked at in the width of a cell
_H3_WIDTH = 1_000_000.0  # metres across a cell of resolution 0, at least; each next is 2.65 smaller
_H3_TIMES = 7**0.5
_FINEST, _COARSEST = 10.0, 100_000.0  # metres


def cell_counts(
    release: ReleasedLines | Release | str | os.PathLike[str],
    grid: float | str,
    *,
    parts: Sequence[DayPart] = ALL_DAY,
) -> "GeoDataFrame":
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
    number_cells, width, shapes_of = _grid(grid)
    lines = lines_to_count(release)
    parts = tuple(parts)

    line, place, passed = _places(lines.points, width / _STEPS)
    part = parts_of(times_at(lines.times, line, passed), lines.clock, parts)
    counts = counts_of(passages({"cell": number_cells(place)}, line, part), lines)
    names, shapes = shapes_of(counts.table["cell"].to_numpy())
    return table_of_counts(pd.DataFrame({"cell": names}), shapes, counts, lines, parts)


_Cells = Callable[[Floats], Ints]
_Shapes = Callable[[Ints], tuple[list[str], NDArray[np.object_]]]


def _grid(grid: float | str) -> tuple[_Cells, float, _Shapes]:
    """Return what numbers the cells of places, how wide they are, and what draws them."""
    if isinstance(grid, str):
        return _hexagons(grid)
    if not _FINEST <= grid <= _COARSEST:
        raise BadInput(f"cells are {_FINEST:g} to {_COARSEST:,.0f} metres wide (got {grid:g})")
    return (lambda places: cells(places, grid)), grid, (lambda numbers: _squares(numbers, grid))


def _squares(numbers: Ints, metres: float) -> tuple[list[str], NDArray[np.object_]]:
    """Name and draw square cells."""
    import shapely

    middles = cell_middles(numbers, metres)
    half = 0.5 * metres / metres_of_degrees(middles[:, 0])
    south, west = (middles - half).T
    north, east = (middles + half).T
    names = [f"{lat:.5f} {lon:.5f}" for lat, lon in middles.tolist()]
    return names, np.asarray(shapely.box(west, south, east, north))


def _hexagons(grid: str) -> tuple[_Cells, float, _Shapes]:
    """Return the same for H3's cells of a resolution."""
    family, _, resolution = grid.partition(":")
    if family != "h3" or not resolution.isdecimal() or int(resolution) > 12:
        raise BadInput(f"cells are metres, or h3:0 to h3:12 (got {grid!r})")
    try:
        import h3.api.numpy_int as h3
    except ImportError as error:
        raise BadInput("H3's cells need its package: pip install 'trajanon[cells]'") from error
    import shapely

    level = int(resolution)

    def number(places: Floats) -> Ints:
        numbers = [h3.latlng_to_cell(lat, lon, level) for lat, lon in places.tolist()]
        return np.array(numbers, np.uint64).astype(np.int64)

    def draw(numbers: Ints) -> tuple[list[str], NDArray[np.object_]]:
        shapes = [
            shapely.Polygon([(lon, lat) for lat, lon in h3.cell_to_boundary(cell)])
            for cell in numbers.astype(np.uint64)
        ]
        return [h3.int_to_str(cell) for cell in numbers.tolist()], np.array(shapes, dtype=object)

    return number, _H3_WIDTH / _H3_TIMES**level, draw


def _places(points: Floats, step: float) -> tuple[Ints, Floats, Floats]:
    """Lay places on lines, (n, m, 2): the line, the place, and points from its beginning."""
    m = points.shape[1]
    start = points[:, :-1].reshape(-1, 2)
    end = points[:, 1:].reshape(-1, 2)
    metres = metres_between(start[:, 0], start[:, 1], end[:, 0], end[:, 1])
    steps = np.ceil(metres / step).astype(np.int64) + 1

    hop = np.repeat(np.arange(len(steps)), steps)
    first = np.cumsum(steps) - steps
    share = (np.arange(len(hop)) - first[hop]) / np.maximum(steps[hop] - 1, 1)
    way = end - start
    way[:, 1] = wrapped(way[:, 1])
    place = start[hop] + share[:, None] * way[hop]
    line, point = np.divmod(hop, m - 1)
    return line, place, point + np.minimum(share, 1.0 - 1e-9)
