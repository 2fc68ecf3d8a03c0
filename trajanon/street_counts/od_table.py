"""Trips from zone to zone, and by hour: an origin-destination table of a release."""

import os
from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd
import shapely
from geopandas import GeoDataFrame
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.plain_text import plain_text
from trajanon.release.release import Release
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.lines_to_count import ReleasedLines, lines_to_count
from trajanon.street_counts.rounded_counts import counts_of, passages, table_of_counts
from trajanon.trajectories.geodesy import cells, places_in_cells

_NAME_COLUMNS = ("zone", "id", "name")
_COARSEST = 1_000_000.0  # metres; far wider cells reach beyond the poles
_POLYGON_TYPES = (3, 6)  # of shapely: polygons, and several of them


class _ZonesOfEnds(NamedTuple):
    """In which zones lines begin and end, with names and middles of all zones."""

    zone: Ints  # row in names and middles, -1 outside all zones, (n, 2)
    names: NDArray[np.object_]  # (z,)
    middles: Floats  # latitude and longitude, (z, 2)


def zone_flows(
    release: ReleasedLines | Release | str | os.PathLike[str],
    zones: float | GeoDataFrame,
    *,
    parts: Sequence[DayPart] = ALL_DAY,
) -> GeoDataFrame:
    """Count trips from zone to zone, from the first points of lines to their last ones.

    A person on two lines counts twice; behind each count are at least the k different people of
    one line.

    Parameters
    ----------
    release
        What `trajanon.anonymize` made, or the path of a released file or of a folder of parts.
    zones
        Polygons, named by a column ``zone``, ``id`` or ``name``, or else by their rows. Or metres:
        cells of a grid, named by latitude and longitude of their middle.
    parts
        Parts of the day that are counted apart, by departure.

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each origin and destination, and each part of the day: ``from_zone``, ``to_zone``,
        ``trips``, rounded to what they are worth, ``lines``, ``hours``, if parts of the day are
        asked for, and a line between the middles of both. A line with an end outside all zones is
        not in it. Its ``attrs`` say of how many trips and lines it is, and which share of the trips
        is counted.

    Raises
    ------
    BadInput
        If `trajanon.check` refuses the release, it must not be published, or zones are amiss.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> flows = trajanon.zone_flows(release, 1000.0)
    >>> flows[["from_zone", "to_zone", "trips"]].values.tolist()
    [['40.0962 2.0045', '40.0962 3.0038', 2]]
    """
    lines = lines_to_count(release)
    first_and_last = lines.points[:, [0, -1]]
    if isinstance(zones, GeoDataFrame):
        ends = _ends_in_polygons(first_and_last, zones)
    elif isinstance(zones, Real) and not isinstance(zones, bool):
        ends = _ends_in_cells(first_and_last, float(zones))
    else:
        kind = type(zones).__name__
        raise BadInput(f"zones are metres, or polygons in a GeoDataFrame (got a {kind})")

    parts = tuple(parts)
    departure = np.zeros(len(ends.zone)) if lines.times is None else lines.times[:, 0]
    part = parts_of(departure, lines.clock, parts)
    inside = np.flatnonzero((ends.zone >= 0).all(axis=1))
    origin, destination = ends.zone[inside].T
    passed = passages({"from": origin, "to": destination}, inside, part[inside])
    counts = counts_of(passed, lines)

    flows = counts.table[["from", "to"]].to_numpy()
    lat, lon = np.moveaxis(ends.middles[flows], -1, 0)
    # The shorter way, also over the 180th meridian.
    lon = np.unwrap(lon, period=360.0, axis=1)
    arrows = shapely.linestrings(np.stack([lon, lat], axis=-1)) if len(flows) else []
    names = {"from_zone": ends.names[flows[:, 0]], "to_zone": ends.names[flows[:, 1]]}
    return table_of_counts(pd.DataFrame(names), arrows, counts, lines, parts)


def _ends_in_cells(points: Floats, metres: float) -> _ZonesOfEnds:
    """Find the square cells of the ends of lines, (n, 2, 2): both, latitude and longitude."""
    if not 1.0 <= metres <= _COARSEST:
        raise BadInput(
            f"a cell must be at least 1 metre wide, and at most {_COARSEST:,.0f} (got {metres:g})"
        )

    number, zone = np.unique(cells(points, metres), return_inverse=True)
    middles = places_in_cells(number, metres)
    names = [f"{lat:.4f} {lon:.4f}" for lat, lon in middles.tolist()]
    return _ZonesOfEnds(zone.reshape(points.shape[:2]), np.array(names, dtype=object), middles)


def _ends_in_polygons(points: Floats, zones: GeoDataFrame) -> _ZonesOfEnds:
    """Find the polygons of the ends of lines, (n, 2, 2); of several that hold an end, the first."""
    if zones.active_geometry_name is None:
        raise BadInput("zones have no geometries: set them, such as zones.set_geometry('polygon')")
    if zones.crs is None:
        raise BadInput("zones have no reference system: set one, such as zones.set_crs(4326)")
    zones = zones.to_crs("EPSG:4326")
    polygons = np.asarray(zones.geometry.values)
    if not np.isin(shapely.get_type_id(polygons), _POLYGON_TYPES).all():
        raise BadInput("zones must be polygons")

    column = next((name for name in _NAME_COLUMNS if name in zones.columns), None)
    labels = range(len(zones)) if column is None else zones[column]
    names = np.array([plain_text(str(label)) for label in labels], dtype=object)
    repeated = names[pd.Index(names).duplicated()]
    if len(repeated):
        raise BadInput(f"several zones have the same {column}: {repeated[0]}")

    # Pairs of an end and a polygon, by their numbers. Polygons may lie on over the 180th meridian.
    lat, lon = points.reshape(-1, 2).T
    each_way_round = shapely.points(np.stack([lon, lon - 360.0, lon + 360.0]), lat)
    pair, polygon = shapely.STRtree(polygons).query(each_way_round.ravel(), predicate="intersects")
    first = pd.Series(polygon).groupby(pair % len(lat)).min()
    zone = first.reindex(range(len(lat)), fill_value=-1).to_numpy()

    # An empty polygon has no end within, and no middle: NaN.
    has_middle = ~shapely.is_empty(polygons)
    middles = np.full((len(polygons), 2), np.nan)
    on_polygons = shapely.point_on_surface(polygons[has_middle])
    middles[has_middle] = shapely.get_coordinates(on_polygons)[:, ::-1]
    return _ZonesOfEnds(zone.reshape(points.shape[:2]), names, middles)
