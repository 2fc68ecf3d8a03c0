"""Trips on streets, by direction and part of the day: from released lines and roads alone."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import shapely

from trajanon._kernels.road_matching import Network, StreetsTaken
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.plain_text import plain_text
from trajanon.common.progress import Progress, silent
from trajanon.release.matched_to_roads import RoadsToFollow, ends_of_streets, traced
from trajanon.release.release import Release
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.lines_to_count import ReleasedLines, lines_to_count, times_at
from trajanon.street_counts.rounded_counts import Counts, counts_of, passages, table_of_counts
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_LEAST_WAY = 10.0  # metres, or half of a shorter street, that a line must go to count on it


def streets(
    release: ReleasedLines | Release | str | os.PathLike[str],
    roads: RoadsToFollow,
    *,
    parts: Sequence[DayPart] = ALL_DAY,
    progress: Progress = silent,
) -> "GeoDataFrame":
    r"""Count trips on streets, by direction.

    Each line of a release is matched to the most likely way on the roads, and all trips that it
    stands for pass each street of that way once. A person on two lines counts twice, and with
    several trips on one line once; behind each count are at least the k different people of one
    line. It takes the release and public data alone, so it costs no privacy.

    Parameters
    ----------
    release
        What `trajanon.anonymize` made, or the path of a released file or of a folder of parts.
    roads
        As `trajanon.extract.roads_to_follow` reads them.
    parts
        Parts of the day that are counted apart, by when lines come to a street.
    progress
        Called with the state of the work.

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each street, from junction to junction, in each direction that a line takes, and
        each part of the day. ``osm_way`` (ids in the order of the way, between semicolons),
        ``from_node`` and ``to_node`` are of OpenStreetMap, and ``highway`` and ``name`` those of
        its longest part; ``length_m``; ``trips``, rounded to what they are worth, and ``lines``;
        ``hours``, if parts of the day are asked for; with times also ``speed_kmh``, of all trips
        together. Its ``attrs`` say of how many trips and lines it is, and which shares of the trips
        are counted and of their ways are on roads.

    Raises
    ------
    BadInput
        If `trajanon.check` refuses the release, or it must not be published.

    Examples
    --------
    Two trips go along a street. Real files end in ``.osm.pbf``; this one is OPL, a text format of
    OpenStreetMap:

    >>> from pathlib import Path
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon.extract import roads_to_follow
    >>> street = ["n1 x2.0 y41.0", "n2 x2.1 y41.0", "w7 Thighway=residential Nn1,n2"]
    >>> _ = Path("town.opl").write_text("\n".join(street))
    >>> points = np.array([[[lat, 2.02], [lat, 2.08]] for lat in (41.0002, 41.0004)])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> counted = trajanon.streets(release, roads_to_follow("town.opl", "car"))
    >>> counted[["osm_way", "from_node", "to_node", "trips"]].values.tolist()
    [['7', 1, 2, 2]]
    """
    lines = lines_to_count(release)
    parts = tuple(parts)
    counts = count_on_streets(lines, roads.network, parts=parts, progress=progress)
    columns, shapes = _osm_columns_and_shapes(counts.table["state"].to_numpy(), roads)
    table = table_of_counts(columns, shapes, counts, lines, parts)
    if lines.times is not None:
        table["speed_kmh"] = counts.table["speed"].to_numpy().round(1)
    table.attrs |= {"attribution": OSM_ATTRIBUTION, "share_on_roads": counts.on_roads}
    return table


def count_on_streets(
    lines: ReleasedLines,
    network: Network,
    *,
    parts: tuple[DayPart, ...] = ALL_DAY,
    progress: Progress = silent,
) -> Counts:
    """Follow lines on a network, and count their trips on its streets, once on each.

    The table has columns ``state``, 2 street + direction, ``part``, ``trips``, ``lines`` and
    ``speed`` in km/h, which is NaN without times.
    """
    ways = traced(lines.points, network, progress=progress)
    part = parts_of(times_at(lines.times, ways.line, ways.entered), lines.clock, parts)

    least_metres = np.minimum(_LEAST_WAY, network.street_length[ways.state // 2] / 2)
    counted = ways.metres >= least_metres
    passed = passages({"state": ways.state[counted]}, ways.line[counted], part[counted])
    counts = counts_of(passed, lines)

    # Metres and seconds of all trips with times together, also of those that go too short a way to
    # count.
    trips = lines.trips[ways.line]
    seconds = _seconds_on_streets(lines, ways)
    metres = np.where(np.isnan(seconds), 0.0, ways.metres)
    driven = pd.DataFrame({"state": ways.state, "part": part, "metres": trips * metres})
    driven["seconds"] = trips * seconds
    sums = driven.groupby(["state", "part"], as_index=False).sum()
    table = counts.table.merge(sums, on=["state", "part"])
    table["speed"] = 3.6 * table["metres"] / table["seconds"].where(table["seconds"] > 0.0)

    # Steps of lines from point to point, times their trips.
    hops = float(lines.trips.sum() * (lines.points.shape[1] - 1))
    hops_on_roads = float((trips * (ways.left - ways.entered)).sum())
    return Counts(table, counts.trips_counted, hops_on_roads / max(hops, 1.0))


def _seconds_on_streets(lines: ReleasedLines, ways: StreetsTaken) -> Floats:
    """Compute how many seconds lines take for each street that they enter, as `ways` lists them."""
    if lines.clock is None:
        left = times_at(lines.times, ways.line, ways.left)
        return left - times_at(lines.times, ways.line, ways.entered)

    # Released times are rounded: each line has one speed on all of its streets. How many points a
    # line passes on roads, and how many metres, is added up by its number.
    n, m = lines.points.shape[:2]
    share_on_roads = np.bincount(ways.line, ways.left - ways.entered, n) / (m - 1)
    metres = np.maximum(np.bincount(ways.line, ways.metres, n), 1e-9)
    seconds_a_metre = lines.seconds * share_on_roads / metres
    return np.asarray(seconds_a_metre[ways.line] * ways.metres)


def _osm_columns_and_shapes(
    state: Ints, roads: RoadsToFollow
) -> tuple[pd.DataFrame, list[shapely.LineString]]:
    """Return what OpenStreetMap says of the street of each state, a row each, and its line."""
    if (osm := roads.osm) is None:
        raise BadInput("these roads have no ids: read them with trajanon.extract.roads_to_follow")
    network = roads.network
    street, is_backward = np.divmod(state, 2)
    kinds_and_names = [osm.tags[way] for way in _longest_ways(network, osm.way)[street].tolist()]

    ways = list[str]()
    shapes = list[shapely.LineString]()
    first, last = ends_of_streets(network.street)
    for number, backward in zip(street, is_backward, strict=True):
        segments = slice(first[number], last[number] + 1)
        step = -1 if backward else 1
        nodes = np.append(network.tail[segments], network.head[segments][-1])[::step]
        ways.append(";".join(map(str, dict.fromkeys(osm.way[segments][::step].tolist()))))
        shapes.append(shapely.LineString(np.stack([network.lon[nodes], network.lat[nodes]], 1)))

    columns = {
        "osm_way": ways,
        "from_node": osm.node[network.ends[street, is_backward]],
        "to_node": osm.node[network.ends[street, 1 - is_backward]],
        "highway": [plain_text(kind) for kind, _ in kinds_and_names],
        "name": [plain_text(name) or None for _, name in kinds_and_names],
        "length_m": network.street_length[street].round(1),
    }
    return pd.DataFrame(columns), shapes


def _longest_ways(network: Network, way: Ints) -> Ints:
    """Return the id of the way that has most of each street, (c,), by the way of each segment."""
    segments = pd.DataFrame({"street": network.street, "way": way, "metres": network.length})
    metres = segments.groupby(["street", "way"])["metres"].sum().sort_values(kind="stable")
    return np.asarray(metres.reset_index().groupby("street")["way"].last())
