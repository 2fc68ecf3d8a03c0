"""People on streets, by direction and hour: from released lines and public roads alone."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon._kernels.road_matching import Found, Network
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.plain_text import plain_text
from trajanon.common.progress import Progress, silent
from trajanon.files.release_formats import read_release
from trajanon.files.release_lines import clock_of, line_numbers
from trajanon.release.release import Release
from trajanon.release.release_check import check, report_of
from trajanon.release.report import report_beside
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.release.verdict import verdict
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

HOURS_OF_DAY = tuple(f"h{hour:02d}" for hour in range(24))
"""Columns of people by the hour of the day."""

_WAY = 10.0  # metres, or half of a street, that a line must go to count on it
_LINES = 5_000  # that are followed at once

BUSIEST_STREETS = 1_000
FEWEST, MANY = 4, 20  # people on a street that is compared, and by whom a speed is
_CLASSES = (FEWEST, 20, 50, 100, 200)


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedLines:
    """The different lines of a release, with the people behind each."""

    points: Floats  # (n, m, 2)
    people: Ints  # (n,)
    times: Floats | None = None  # (n, m)
    clock: Clock | None = None
    attribution: str | None = None

    @property
    def account(self) -> dict[str, int]:
        """How many there are, and how many people in all."""
        return {"of_lines": len(self.people), "of_people": int(self.people.sum())}


@dataclass(frozen=True, slots=True, eq=False)
class StreetCounts:
    """What lines do on each street of a network and each direction of it: 2 street + direction."""

    people: Ints  # (2c,)
    lines: Ints  # (2c,)
    speed: Floats | None  # km/h, NaN where not known, (2c,); None where there are no times
    hours: Ints | None  # people by the hour in which they come, (2c, 24)
    on_roads: float  # share of people's ways that lies on the roads


@dataclass(frozen=True, slots=True)
class StreetUsefulness:
    """Streets in one direction, of the originals and of a release; errors as shares."""

    streets: int  # that at least `FEWEST` of the originals take
    order: float | None  # Spearman's rank correlation of their volumes
    busiest_order: float | None  # Kendall's tau of the busiest ones
    busiest_error: float  # of the volumes of these, in the median
    error: Mapping[str, float]  # the same by class of volume
    on_right_street: float  # share of the originals' kilometres that stay on their street
    speed_error: float | None  # in the median, where `MANY` people went; None without times


def released_lines(release: ReleasedLines | Release | str | os.PathLike[str]) -> ReleasedLines:
    """Take the lines of a release that `check` does not refuse: originals must not pass as one."""
    if isinstance(release, ReleasedLines):
        return release
    if isinstance(release, Trajectories):
        raise BadInput("give the Release that anonymize made, or the path of a released file")
    problems = check(release, k=2).problems
    if isinstance(release, Release):
        report: Mapping[str, Any] | None = release.report
    else:
        report = report_beside(Path(release)) if problems else report_of(Path(release))
    if report is not None:
        judged = verdict(report, problems)
        problems = [] if judged else [one.rstrip(".") for one in judged.sentences]
    if problems:
        name = "this release" if isinstance(release, Release) else release
        raise BadInput(f"{name} is no release to count on: {problems[0]}")
    if isinstance(release, Release):
        return different_lines(release.trajectories)
    return different_lines(read_release(release))


def different_lines(found: Trajectories) -> ReleasedLines:
    """Take each line of a release once."""
    line = line_numbers(found.points, found.times)
    first = np.unique(line, return_index=True)[1]
    times = None if found.times is None else found.times[first]
    people, clock = np.bincount(line), clock_of(found)
    return ReleasedLines(found.points[first], people, times, clock, found.attribution)


def streets(
    release: ReleasedLines | Release | str | os.PathLike[str],
    roads: RoadsToFollow,
    *,
    least_people: int | None = None,
    progress: Progress = silent,
) -> "GeoDataFrame":
    r"""Count people on streets, by direction.

    Each line of a release is matched to the most likely way on the roads, and all its people pass
    each street of that way once. It takes the release and public data alone, so it costs no
    privacy.

    Parameters
    ----------
    release
        What `trajanon.anonymize` made, or the path of a released file or of a folder of parts.
    roads
        As `trajanon.extract.roads_to_follow` reads them.
    least_people
        Leave out streets with fewer people. None takes the fewest behind any line, at least k.
    progress
        Called with the state of the work.

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each street, from junction to junction, in each direction that a line takes.
        ``osm_way`` (ids in the order of the way, between semicolons), ``from_node`` and ``to_node``
        are of OpenStreetMap, and ``highway`` and ``name`` those of its longest part; ``length_m``;
        ``people`` and ``lines``. With times also ``speed_kmh``, what all people go on it by the
        time that takes them, and ``h00`` to ``h23``, people by the local hour at which they come.

    Raises
    ------
    BadInput
        If `trajanon.check` refuses the release, or it must not be published.

    Examples
    --------
    Two people go along a street. Real files end in ``.osm.pbf``; this one is OPL, a text format of
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
    >>> counted[["osm_way", "from_node", "to_node", "people"]].values.tolist()
    [['7', 1, 2, 2]]
    """
    lines = released_lines(release)
    found = count_on_streets(lines, roads.network, progress)
    least = int(lines.people.min()) if least_people is None else least_people
    table = street_table(found, roads, np.flatnonzero(found.people >= max(least, 1)))
    table.attrs |= {"least_people": least, "on_roads": found.on_roads, **lines.account}
    return table


def count_on_streets(
    lines: ReleasedLines, network: Network, progress: Progress = silent
) -> StreetCounts:
    """Follow lines on a network, and count their people on its streets, once on each."""
    n, m = lines.points.shape[:2]
    states = 2 * len(network.whole)
    people, count, by_hour = (np.zeros(size, np.int64) for size in (states, states, 24 * states))
    metres, seconds = np.zeros(states), np.zeros(states)
    linked = 0.0
    for begin in range(0, n, _LINES):
        some = slice(begin, begin + _LINES)
        progress("Following lines on roads", begin, n)
        found = traced(lines.points[some], network)
        of_line = lines.people[some]
        at = np.flatnonzero(found.metres >= np.minimum(_WAY, network.whole[found.state // 2] / 2))
        passed = (found.line * states + found.state)[at]
        pairs, first = np.unique(passed, return_index=True)
        line, state = np.divmod(pairs, states)
        np.add.at(people, state, of_line[line])
        np.add.at(count, state, 1)
        linked += float((of_line[found.line] * (found.left - found.entered)).sum())
        if lines.times is not None:
            times, each = lines.times[some], of_line[found.line]
            if lines.clock is not None:
                hour = lines.clock.hour(_at(times, found.line, found.entered)[at[first]])
                np.add.at(by_hour, 24 * state + hour, of_line[line])
            np.add.at(metres, found.state, each * found.metres)
            np.add.at(seconds, found.state, each * _seconds(times, found, lines.clock is not None))
    speed = 3.6 * metres / np.where(seconds > 0.0, seconds, np.nan)
    hours = None if lines.clock is None else by_hour.reshape(states, 24)
    whole = float(lines.people.sum() * (m - 1))
    return StreetCounts(
        people, count, None if lines.times is None else speed, hours, linked / max(whole, 1.0)
    )


def compared_streets(
    originals: Trajectories, release: ReleasedLines, roads: RoadsToFollow
) -> StreetUsefulness:
    """Compare the streets of a release with those of its originals, matched alike."""
    one_each = np.ones(len(originals), np.int64)
    whole = ReleasedLines(originals.points, one_each, originals.times)
    before, after = (count_on_streets(lines, roads.network) for lines in (whole, release))
    state = np.arange(len(before.people))
    speeds = None
    if before.speed is not None and after.speed is not None:
        speeds = before.speed, after.speed
    length = roads.network.whole[state // 2]
    return street_usefulness(before.people, after.people, length, speeds)


def street_usefulness(
    before: Ints, after: Ints, length: Floats, speeds: tuple[Floats, Floats] | None = None
) -> StreetUsefulness:
    """Compare people on streets, (n,), of a length in metres, of the originals and of a release."""
    from scipy.stats import kendalltau, spearmanr

    used = np.flatnonzero(before >= FEWEST)
    busiest = np.argsort(-before, kind="stable")[:BUSIEST_STREETS]
    busiest = busiest[before[busiest] > 0]
    off = np.abs(after - before) / np.maximum(before, 1)
    names = [f"{low} to {high - 1}" for low, high in pairwise(_CLASSES)]
    of_class = np.digitize(before, _CLASSES) - 1
    errors = {
        name: float(np.median(off[of_class == number]))
        for number, name in enumerate([*names, f"{_CLASSES[-1]} or more"])
        if (of_class == number).any()
    }
    all_before = float((before * length).sum())
    speed_error = None
    if speeds is not None:
        at = (before >= MANY) & (after >= MANY) & np.isfinite(speeds[0]) & np.isfinite(speeds[1])
        if at.any():
            speed_error = float(np.median(np.abs(speeds[1][at] / speeds[0][at] - 1.0)))
    return StreetUsefulness(
        streets=len(used),
        order=_correlation(spearmanr, before[used], after[used]),
        busiest_order=_correlation(kendalltau, before[busiest], after[busiest]),
        busiest_error=float(np.median(off[busiest])) if len(busiest) else 0.0,
        error=errors,
        on_right_street=float((np.minimum(before, after) * length).sum()) / max(all_before, 1.0),
        speed_error=speed_error,
    )


def _correlation(measure: Callable[..., Any], before: Ints, after: Ints) -> float | None:
    """Compare two orders; None where all are alike."""
    if min(len(np.unique(before)), len(np.unique(after))) < 2:
        return None
    return float(measure(before, after).statistic)


def _at(times: Floats, line: Ints, place: Floats) -> Floats:
    """When lines are at places on them, in points from the first."""
    before = np.minimum(place.astype(np.int64), times.shape[1] - 2)
    then, after = times[line, before], times[line, before + 1]
    return np.asarray(then + (place - before) * (after - then))


def _seconds(times: Floats, found: Found, rounded: Any) -> Floats:
    """How long lines take for each street that they enter."""
    if not rounded:
        return _at(times, found.line, found.left) - _at(times, found.line, found.entered)
    n, m = times.shape
    # From the middle of the first step up to the middle of the last one, rounding is even.
    up, row = np.diff(times, axis=1) > 0.0, np.arange(n)
    first, last = up.argmax(axis=1), m - 2 - up[:, ::-1].argmax(axis=1)
    middle = 0.5 * (times[:, 1:] + times[:, :-1])
    steps = middle[row, last] - middle[row, first]
    whole = (times[:, -1] - times[:, 0]) / (m - 1)
    a_point = np.where(last > first, steps / np.maximum(last - first, 1), whole)
    points = np.bincount(found.line, found.left - found.entered, n)
    way = np.maximum(np.bincount(found.line, found.metres, n), 1e-9)
    return np.asarray((a_point * points / way)[found.line] * found.metres)


def street_table(found: StreetCounts, roads: RoadsToFollow, states: Ints) -> "GeoDataFrame":
    """Make the table of some streets in a direction."""
    import geopandas
    import shapely

    if (osm := roads.osm) is None:
        raise BadInput("these roads have no ids: read them with trajanon.extract.roads_to_follow")
    network = roads.network
    begin = np.searchsorted(network.street, np.arange(len(network.whole) + 1))
    pairs, pair = np.unique(np.stack([network.street, osm.way]), axis=1, return_inverse=True)
    order = np.lexsort((np.bincount(pair.reshape(-1), network.length), pairs[0]))
    # The way that has most of each street, (c,).
    longest = pairs[1][order][np.append(np.diff(pairs[0][order]) > 0, True)]
    ways, shapes = list[str](), list[Floats]()
    for street, back in zip(*np.divmod(states, 2), strict=True):
        of_it, step = slice(begin[street], begin[street + 1]), -1 if back else 1
        nodes = np.append(network.tail[of_it], network.head[of_it][-1])[::step]
        ways.append(";".join(map(str, dict.fromkeys(osm.way[of_it][::step].tolist()))))
        shapes.append(np.stack([network.lon[nodes], network.lat[nodes]], axis=1))
    tags = [osm.tags[way] for way in longest[states // 2].tolist()]
    ends = osm.node[network.ends[states // 2]]
    back = states % 2 == 1
    table: dict[str, Any] = {
        "osm_way": ways,
        "from_node": np.where(back, ends[:, 1], ends[:, 0]),
        "to_node": np.where(back, ends[:, 0], ends[:, 1]),
        "highway": [plain_text(kind) for kind, _ in tags],
        "name": [plain_text(name) or None for _, name in tags],
        "length_m": network.whole[states // 2].round(1),
        "people": found.people[states],
        "lines": found.lines[states],
    }
    if found.speed is not None and found.hours is not None:
        table["speed_kmh"] = found.speed[states].round(1)
        table |= dict(zip(HOURS_OF_DAY, found.hours[states].T, strict=True))
    counted = geopandas.GeoDataFrame(
        table, geometry=[shapely.LineString(shape) for shape in shapes], crs="EPSG:4326"
    )
    counted.attrs["attribution"] = OSM_ATTRIBUTION
    return counted
