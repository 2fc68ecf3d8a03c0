"""Trips on streets, by direction and hour: from released lines and public roads alone."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.road_matching import Found, Network
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.plain_text import plain_text
from trajanon.common.progress import Progress, silent
from trajanon.files.release_formats import read_release
from trajanon.files.release_lines import clock_of, line_numbers
from trajanon.release.release import Release
from trajanon.release.release_check import check, report_of
from trajanon.release.report import Report, checked, report_beside
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.release.verdict import verdict
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.rounded_counts import rounded_counts
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import (
    OSM_ATTRIBUTION,
    ReleasedTrajectories,
    Trajectories,
    TrajectoryRows,
)

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_LEAST_WAY = 10.0  # metres, or half of a street, that a line must go to count on it
_LINES_PER_SEARCH = 5_000

BUSIEST_STREETS = 1_000
FEWEST = 4
"""Trips on a street that is compared."""
FEWEST_FOR_SPEED = 20
_VOLUME_CLASSES = (FEWEST, 20, 50, 100, 200)


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedLines:
    """The different lines of a release, with the trips that each stands for."""

    points: Floats  # (n, m, 2)
    trips: Ints  # rows of each: where people are known, each of them once, (n,)
    times: Floats | None = None  # (n, m)
    clock: Clock | None = None
    attribution: str | None = None
    k: int | None = None  # different people behind each line, at least; None where not known

    @classmethod
    def of(cls, release: ReleasedTrajectories, k: int | None = None) -> "ReleasedLines":
        """Take each line of a release once."""
        line = line_numbers(release.points, release.times)
        first = np.unique(line, return_index=True)[1]

        return cls(
            points=release.points[first],
            trips=np.bincount(line),
            times=None if release.times is None else release.times[first],
            clock=clock_of(release),
            attribution=release.attribution,
            k=k,
        )

    def batch(self, begin: int, size: int) -> "ReleasedLines":
        """Take a number of lines from one on."""
        lines = slice(begin, begin + size)
        times = None if self.times is None else self.times[lines]
        return ReleasedLines(self.points[lines], self.trips[lines], times, self.clock)

    def account(self, counted: int) -> dict[str, int | float | None]:
        """Describe what counts are made of, with the share of the trips that is in them."""
        trips = int(self.trips.sum())
        return {
            "of_lines": len(self.trips),
            "of_trips": trips,
            "share_counted": counted / max(trips, 1),
            "k": self.k,
        }


@dataclass(frozen=True, slots=True, eq=False)
class StreetCounts:
    """What lines do on streets: by state, 2 street + direction, and the part of the day."""

    trips: Ints  # (2c, p)
    lines: Ints  # (2c, p)
    speed: Floats | None  # km/h, NaN where not known, (2c, p); None where there are no times
    counted: int  # trips that are counted on a street at all
    on_roads: float  # share of the trips' ways that lies on the roads


@dataclass(frozen=True, slots=True)
class StreetUsefulness:
    """Streets in one direction, of the originals and of a release; errors as shares."""

    streets: int  # that at least `FEWEST` of the originals take
    order: float | None  # Spearman's rank correlation of their volumes
    busiest_order: float | None  # Kendall's tau of the busiest ones
    busiest_error: float  # of the volumes of these, in the median
    error: Mapping[str, float]  # the same by class of volume
    on_right_street: float  # share of the originals' kilometres that stay on their street
    speed_error: float | None  # in the median, of `FEWEST_FOR_SPEED` trips; None without times


def lines_to_count(release: ReleasedLines | Release | str | os.PathLike[str]) -> ReleasedLines:
    """Return the lines of a release that `check` does not refuse; refuse originals."""
    if isinstance(release, ReleasedLines):
        return release
    if isinstance(release, TrajectoryRows):
        raise BadInput("give the Release that anonymize made, or the path of a released file")

    problems = check(release, k=2).problems
    if isinstance(release, Release):
        report: Report | None = checked(release.report)
    else:
        report = report_beside(Path(release)) if problems else report_of(Path(release))
    if report is not None:
        judged = verdict(report, problems)
        problems = [] if judged else [sentence.rstrip(".") for sentence in judged.sentences]
    if problems:
        name = "this release" if isinstance(release, Release) else release
        raise BadInput(f"{name} is no release to count on: {problems[0]}")

    # Only the holder's report says whether k is of people.
    k = report.k if report is not None and report.counted == "subjects" else None
    rows = release.trajectories if isinstance(release, Release) else read_release(release)
    return ReleasedLines.of(rows, k)


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

    table = street_table(counts, roads, parts, lines.k)
    table.attrs |= lines.account(counts.counted) | {"share_on_roads": counts.on_roads}
    return table


def count_on_streets(
    lines: ReleasedLines,
    network: Network,
    *,
    parts: tuple[DayPart, ...] = ALL_DAY,
    progress: Progress = silent,
) -> StreetCounts:
    """Follow lines on a network, and count their trips on its streets, once on each."""
    n, m = lines.points.shape[:2]
    states = 2 * len(network.whole)
    shape = (states, len(parts))
    trips = np.zeros(shape, np.int64)
    passing = np.zeros(shape, np.int64)
    metres = np.zeros(shape)
    seconds = np.zeros(shape)
    counted = 0
    on_roads = 0.0

    for begin in range(0, n, _LINES_PER_SEARCH):
        progress("Following lines on roads", begin, n)
        batch = lines.batch(begin, _LINES_PER_SEARCH)
        ways = traced(batch.points, network)
        of_way = batch.trips[ways.line]
        on_roads += float((of_way * (ways.left - ways.entered)).sum())
        part = parts_of(times_at(batch.times, ways.line, ways.entered), batch.clock, parts)

        # A line counts once on a street, when it first comes there.
        least = np.minimum(_LEAST_WAY, network.whole[ways.state // 2] / 2)
        entries = np.flatnonzero(ways.metres >= least)
        passages, first = np.unique((ways.line * states + ways.state)[entries], return_index=True)
        line, state = np.divmod(passages, states)
        entered = part[entries[first]]
        shown = entered >= 0
        place = (state[shown], entered[shown])
        np.add.at(trips, place, batch.trips[line[shown]])
        np.add.at(passing, place, 1)
        counted += int(batch.trips[np.unique(line[shown])].sum())

        if batch.times is None:
            continue
        takes = seconds_on_streets(batch.times, ways, rounded=batch.clock is not None)
        shown = part >= 0
        place = (ways.state[shown], part[shown])
        np.add.at(metres, place, (of_way * ways.metres)[shown])
        np.add.at(seconds, place, (of_way * takes)[shown])

    speed = 3.6 * metres / np.where(seconds > 0.0, seconds, np.nan)
    whole = float(lines.trips.sum() * (m - 1))
    return StreetCounts(
        trips=trips,
        lines=passing,
        speed=None if lines.times is None else speed,
        counted=counted,
        on_roads=on_roads / max(whole, 1.0),
    )


def compared_streets(
    originals: Trajectories, release: ReleasedLines, roads: RoadsToFollow
) -> StreetUsefulness:
    """Compare the streets of a release with those of its originals, matched alike."""
    one_each = np.ones(len(originals), np.int64)
    before = count_on_streets(
        ReleasedLines(originals.points, one_each, originals.times), roads.network
    )
    after = count_on_streets(release, roads.network)

    state = np.arange(len(before.trips))
    length = roads.network.whole[state // 2]
    speeds = None
    if before.speed is not None and after.speed is not None:
        speeds = before.speed[:, 0], after.speed[:, 0]
    return street_usefulness(before.trips[:, 0], after.trips[:, 0], length, speeds)


def street_usefulness(
    before: Ints, after: Ints, length: Floats, speeds: tuple[Floats, Floats] | None = None
) -> StreetUsefulness:
    """Compare trips on streets, (n,), of a length in metres, of the originals and of a release."""
    from scipy.stats import kendalltau, spearmanr

    used = np.flatnonzero(before >= FEWEST)
    busiest = np.argsort(-before, kind="stable")[:BUSIEST_STREETS]
    busiest = busiest[before[busiest] > 0]

    error = np.abs(after - before) / np.maximum(before, 1)
    names = [f"{low} to {high - 1}" for low, high in pairwise(_VOLUME_CLASSES)]
    names.append(f"{_VOLUME_CLASSES[-1]} or more")
    volume_class = np.digitize(before, _VOLUME_CLASSES) - 1
    errors = {
        name: float(np.median(error[volume_class == number]))
        for number, name in enumerate(names)
        if (volume_class == number).any()
    }

    speed_error = None
    if speeds is not None:
        enough = (before >= FEWEST_FOR_SPEED) & (after >= FEWEST_FOR_SPEED)
        compared = enough & np.isfinite(speeds[0]) & np.isfinite(speeds[1])
        if compared.any():
            change = speeds[1][compared] / speeds[0][compared] - 1.0
            speed_error = float(np.median(np.abs(change)))

    in_place = float((np.minimum(before, after) * length).sum())
    return StreetUsefulness(
        streets=len(used),
        order=_correlation(spearmanr, before[used], after[used]),
        busiest_order=_correlation(kendalltau, before[busiest], after[busiest]),
        busiest_error=float(np.median(error[busiest])) if len(busiest) else 0.0,
        error=errors,
        on_right_street=in_place / max(float((before * length).sum()), 1.0),
        speed_error=speed_error,
    )


def _correlation(measure: Callable[..., Any], before: Ints, after: Ints) -> float | None:
    """Compare two orders; None where all values are alike."""
    if min(len(np.unique(before)), len(np.unique(after))) < 2:
        return None
    return float(measure(before, after).statistic)


def times_at(times: Floats | None, line: Ints, place: Floats) -> Floats:
    """Compute when lines are at places on them, in points from the first; NaN without times."""
    if times is None:
        return np.full(len(line), np.nan)
    before = np.minimum(place.astype(np.int64), times.shape[1] - 2)
    then = times[line, before]
    after = times[line, before + 1]
    return np.asarray(then + (place - before) * (after - then))


def seconds_on_streets(times: Floats, ways: Found, *, rounded: bool) -> Floats:
    """Compute how long lines take for each street that they enter."""
    if not rounded:
        return times_at(times, ways.line, ways.left) - times_at(times, ways.line, ways.entered)

    # Each line has one speed on all of its streets.
    n, m = times.shape
    seconds_per_point = seconds_of_lines(times, rounded=True) / (m - 1)
    points = np.bincount(ways.line, ways.left - ways.entered, n)
    metres = np.maximum(np.bincount(ways.line, ways.metres, n), 1e-9)
    return np.asarray((seconds_per_point * points / metres)[ways.line] * ways.metres)


def seconds_of_lines(times: Floats, *, rounded: bool) -> Floats:
    """Compute how long lines take, (n,)."""
    if not rounded:
        return times[:, -1] - times[:, 0]

    # From the middle of the first step up to the middle of the last one, rounding is even.
    n, m = times.shape
    row = np.arange(n)
    up = np.diff(times, axis=1) > 0.0
    first = up.argmax(axis=1)
    last = m - 2 - up[:, ::-1].argmax(axis=1)
    middle = 0.5 * (times[:, 1:] + times[:, :-1])
    between = (middle[row, last] - middle[row, first]) * (m - 1) / np.maximum(last - first, 1)
    return np.where(last > first, between, times[:, -1] - times[:, 0])


def street_table(
    counts: StreetCounts, roads: RoadsToFollow, parts: tuple[DayPart, ...], k: int | None
) -> "GeoDataFrame":
    """Make the table of streets in a direction, and in a part of the day."""
    import geopandas
    import shapely

    if (osm := roads.osm) is None:
        raise BadInput("these roads have no ids: read them with trajanon.extract.roads_to_follow")
    network = roads.network
    passed = np.nonzero(counts.trips)
    states, part = passed
    street, back = np.divmod(states, 2)
    tags = [osm.tags[way] for way in _longest_ways(network, osm.way)[street].tolist()]
    ends = osm.node[network.ends[street]]
    row = np.arange(len(states))

    ways = list[str]()
    shapes = list[shapely.LineString]()
    first_segment = np.searchsorted(network.street, np.arange(len(network.whole) + 1))
    for number, backwards in zip(street, back, strict=True):
        segments = slice(first_segment[number], first_segment[number + 1])
        step = -1 if backwards else 1
        nodes = np.append(network.tail[segments], network.head[segments][-1])[::step]
        ways.append(";".join(map(str, dict.fromkeys(osm.way[segments][::step].tolist()))))
        shapes.append(shapely.LineString(np.stack([network.lon[nodes], network.lat[nodes]], 1)))

    table = {
        "osm_way": ways,
        "from_node": ends[row, back],
        "to_node": ends[row, 1 - back],
        "highway": [plain_text(kind) for kind, _ in tags],
        "name": [plain_text(name) or None for _, name in tags],
        "length_m": network.whole[street].round(1),
        "trips": rounded_counts(counts.trips[passed], k),
        "lines": counts.lines[passed],
    }
    if parts != ALL_DAY:
        table["hours"] = [parts[number].label for number in part]
    if counts.speed is not None:
        table["speed_kmh"] = counts.speed[passed].round(1)
    found = geopandas.GeoDataFrame(table, geometry=shapes, crs="EPSG:4326")
    found.attrs["attribution"] = OSM_ATTRIBUTION
    return found


def _longest_ways(network: Network, way: Ints) -> NDArray[np.int64]:
    """Return the id of the way that has most of each street, (c,), by the way of each segment."""
    parts, part = np.unique(np.stack([network.street, way]), axis=1, return_inverse=True)
    length = np.bincount(part.reshape(-1), network.length)
    order = np.lexsort((length, parts[0]))
    last_of_street = np.append(np.diff(parts[0][order]) > 0, True)
    return np.asarray(parts[1][order][last_of_street])
