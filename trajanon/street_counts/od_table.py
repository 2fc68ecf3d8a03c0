"""People from zone to zone, and by hour: an origin-destination table of a release."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.plain_text import plain_text
from trajanon.release.release import Release
from trajanon.street_counts.streets import HOURS_OF_DAY, ReleasedLines, released_lines
from trajanon.trajectories.geodesy import cell_middles, cells

if TYPE_CHECKING:
    from geopandas import GeoDataFrame


def zone_flows(
    release: ReleasedLines | Release | str | os.PathLike[str],
    zones: Union[float, "GeoDataFrame"],
    *,
    least_people: int | None = None,
) -> "GeoDataFrame":
    """Count people from zone to zone, from the first points of lines to their last ones.

    Parameters
    ----------
    release
        What `trajanon.anonymize` made, or the path of a released file or of a folder of parts.
    zones
        Polygons, named by a column ``zone``, ``id`` or ``name``, or else by their rows. Or metres:
        cells of a grid, named by latitude and longitude of their middle.
    least_people
        Leave out what fewer people do. None takes the fewest behind any line, at least k.

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each origin and destination: ``from_zone``, ``to_zone``, ``people``, ``lines``,
        with times ``h00`` to ``h23``, people by the local hour of departure, and a line between the
        middles of both. A line with an end outside all zones is not in it.

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
    >>> flows[["from_zone", "to_zone", "people"]].values.tolist()
    [['40.0962 2.0045', '40.0962 3.0038', 2]]
    """
    import geopandas
    import shapely

    lines = released_lines(release)
    ends = lines.points[:, [0, -1]]
    if isinstance(zones, int | float):
        if not 1.0 <= zones < np.inf:
            raise BadInput(f"a cell must be at least 1 metre wide (got {zones:g})")
        number, place = np.unique(cells(ends, zones), return_inverse=True)
        place = place.reshape(ends.shape[:2])
        middles = cell_middles(number, zones)
        names = np.array([f"{lat:.4f} {lon:.4f}" for lat, lon in middles.tolist()], dtype=object)
    else:
        place, names, middles = _in_zones(ends, zones)
    inside = np.flatnonzero((place >= 0).all(axis=1))
    of_line = lines.people[inside]
    pairs, pair = np.unique(place[inside], axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    count, people = np.bincount(pair), np.zeros(len(pairs), np.int64)
    np.add.at(people, pair, of_line)
    table: dict[str, Any] = {
        "from_zone": names[pairs[:, 0]],
        "to_zone": names[pairs[:, 1]],
        "people": people,
        "lines": count,
    }
    if lines.times is not None and lines.clock is not None:
        by_hour = np.zeros((len(pairs), 24), np.int64)
        np.add.at(by_hour, (pair, lines.clock.hour(lines.times[inside, 0])), of_line)
        table |= dict(zip(HOURS_OF_DAY, by_hour.T, strict=True))
    between = shapely.linestrings(middles[pairs][:, :, ::-1]) if len(pairs) else []
    found = geopandas.GeoDataFrame(table, geometry=between, crs="EPSG:4326")
    least = int(lines.people.min()) if least_people is None else least_people
    found = found[people >= least].reset_index(drop=True)
    found.attrs |= {"least_people": least, "attribution": lines.attribution, **lines.account}
    return found


def _in_zones(ends: Floats, zones: "GeoDataFrame") -> tuple[Ints, Any, Floats]:
    """The zone of each end, -1 for none, and names and middles of all; of several, the first."""
    import shapely

    if zones.crs is None:
        raise BadInput("zones say no reference system: set it, such as zones.set_crs(4326)")
    zones = zones.to_crs("EPSG:4326")
    polygons = np.asarray(zones.geometry.values)
    if not np.isin(shapely.get_type_id(polygons), (3, 6)).all():
        raise BadInput("zones must be polygons")
    column = next((name for name in ("zone", "id", "name") if name in zones.columns), None)
    given = range(len(zones)) if column is None else zones[column]
    names = np.array([plain_text(str(one)) for one in given], dtype=object)
    for name in names[pd.Index(names).duplicated()]:
        raise BadInput(f"several zones have the same {column}: {name}")
    points = shapely.points(ends.reshape(-1, 2)[:, ::-1])
    point, zone = shapely.STRtree(polygons).query(points, predicate="intersects")
    place = np.full(len(points), len(zones))
    np.minimum.at(place, point, zone)
    place[place == len(zones)] = -1
    middles = shapely.get_coordinates(shapely.point_on_surface(polygons))[:, ::-1]
    return place.reshape(ends.shape[:2]), names, middles


def read_zones(path: Path) -> "GeoDataFrame":
    """Read polygons from any file that geopandas reads."""
    import geopandas

    try:
        if path.suffix.lower() == ".parquet":
            return geopandas.read_parquet(path)
        return geopandas.read_file(path)
    except (OSError, ValueError, RuntimeError) as error:  # pyogrio's are of the last
        raise FileProblem(f"cannot read zones from {path}: name a file of polygons") from error
