"""Speeds for a router: of released lines, for each pair of neighbouring nodes of a street.

A line says how long a whole way took, not where on it somebody waited. So all streets begin with
one pace, and each is corrected by how late the lines on it are, for some rounds: as tomography does
(A. H. Andersen and A. C. Kak, "Simultaneous algebraic reconstruction technique", 1984).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.road_matching import Found, Network
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.released_lines import ReleasedLines, seconds_of_lines, times_at

_SLOWEST, _FASTEST = 3.0, 130.0  # km/h
_SHORTEST = 300.0  # metres of a line that shows a speed
_LEAST_ON_ROADS = 0.5  # share of its way

# Chosen on trips that benchmarks/eta.py does not judge by.
_ROUNDS = 2
_PRIOR = 1_200.0  # metres times trips, and ...
_PRIOR_TRIPS = 20.0  # ... trips, that keep a street, or a part of the day, near the others
_BELIEVED = (0.4, 2.5)  # times as long as expected that a line takes at most

# OSRM's car profile (profiles/car.lua, process_turn): seconds of the sharpest turn, and how much
# more one to the left costs.
_TURN = 7.5
_BIAS = 1.075
_SHARE = 0.5  # of a line's time at most that is taken for turns


class NodeSpeeds(NamedTuple):
    """Speeds between nodes of OpenStreetMap that follow each other on a street, in a direction.

    Attributes
    ----------
    start, end
        Ids of nodes, (n,).
    speed
        km/h, (n,).
    metres
        Length of all these pairs together.
    share_of_network
        Share of the length of all streets, in each direction that is open.
    """

    start: Ints
    end: Ints
    speed: Floats
    metres: float
    share_of_network: float


class _Drives(NamedTuple):
    """What lines do: a row for each street that a line takes, and the time of each line."""

    line: Ints
    state: Ints
    metres: Floats
    seconds: Floats  # on roads, without delays at turns, which a router adds itself, (n,)
    trips: Ints  # (n,)

    def take(self, rows: NDArray[np.bool_]) -> "_Drives":
        """Select rows."""
        return self._replace(line=self.line[rows], state=self.state[rows], metres=self.metres[rows])

    def late(self, pace: Floats) -> Floats:
        """Compute by which share of the expected time each line is late, with seconds a metre."""
        expected = np.bincount(self.line, self.metres * pace[self.state], len(self.seconds))
        return np.clip(self.seconds / np.maximum(expected, 1.0), *_BELIEVED) - 1.0

    def corrected(self, pace: Floats) -> Floats:
        """Correct the pace of each street by how late its lines are."""
        weight = self.trips[self.line] * self.metres
        late = np.bincount(self.state, weight * self.late(pace)[self.line], len(pace))
        return pace * (1.0 + late / (np.bincount(self.state, weight, len(pace)) + _PRIOR))


def router_speeds(
    lines: ReleasedLines,
    roads: RoadsToFollow,
    parts: tuple[DayPart, ...] = ALL_DAY,
    progress: Progress = silent,
) -> list[NodeSpeeds]:
    """Compute a router's speeds in each part of the day, by when lines are halfway.

    Raises
    ------
    BadInput
        If the release has no times, or the roads no ids.
    """
    if lines.times is None:
        raise BadInput("this release has no times: anonymize it with `times='of-day'`")
    if roads.osm is None:
        raise BadInput("these roads have no ids: read them with trajanon.extract.roads_to_follow")

    progress("Following lines on roads", 0, 1)
    network = roads.network
    drives = _drives(lines, network)
    in_use = np.unique(drives.line)
    trips = drives.trips[in_use]
    metres = np.bincount(drives.line, drives.metres, len(drives.trips))[in_use]
    mean = (trips * drives.seconds[in_use]).sum() / max((trips * metres).sum(), 1.0)
    pace = np.full(2 * len(network.whole), mean)
    for _ in range(_ROUNDS):
        pace = drives.corrected(pace)

    number = np.arange(len(lines.points))
    halfway = np.full(len(number), (lines.points.shape[1] - 1) / 2.0)
    part = parts_of(times_at(lines.times, number, halfway), lines.clock, parts)
    speeds = list[NodeSpeeds]()
    for of_day in range(len(parts)):
        of_part = drives.take(part[drives.line] == of_day)
        in_part = np.unique(of_part.line)
        trips = of_part.trips[in_part]
        late = (trips * of_part.late(pace)[in_part]).sum() / (trips.sum() + _PRIOR_TRIPS)

        passed = np.bincount(of_part.state, minlength=len(pace)) > 0
        pace_of_part = of_part.corrected(pace * (1.0 + late))
        speed = np.clip(3.6 / np.where(passed, pace_of_part, np.nan), _SLOWEST, _FASTEST)
        speeds.append(_of_nodes(speed, network, roads.osm.node))
    return speeds


def _drives(lines: ReleasedLines, network: Network) -> _Drives:
    """Follow lines on a network; leave out those that are short, or mostly off the roads."""
    assert lines.times is not None
    n, m = lines.points.shape[:2]
    ways = traced(lines.points, network)
    on_roads = np.bincount(ways.line, ways.left - ways.entered, n) / (m - 1)
    metres = np.bincount(ways.line, ways.metres, n)

    seconds = seconds_of_lines(lines.times, rounded=lines.clock is not None) * on_roads
    seconds -= np.minimum(seconds_at_turns(ways, network, n), _SHARE * seconds)
    drives = _Drives(ways.line, ways.state, ways.metres, seconds, lines.trips)
    return drives.take(((metres >= _SHORTEST) & (on_roads >= _LEAST_ON_ROADS))[ways.line])


def seconds_at_turns(ways: Found, network: Network, lines: int) -> Floats:
    """Add up the delays at turns of each line, (n,), as OSRM's car profile has them."""
    streets = np.arange(len(network.whole))
    first = np.searchsorted(network.street, streets)
    last = np.searchsorted(network.street, streets, side="right") - 1
    tail, head = network.tail, network.head
    entering = np.stack(
        [_heading(network, tail[first], head[first]), _heading(network, head[last], tail[last])], 1
    ).ravel()
    leaving = np.stack(
        [_heading(network, tail[last], head[last]), _heading(network, head[first], tail[first])], 1
    ).ravel()

    before = np.flatnonzero(ways.line[1:] == ways.line[:-1])
    angle = (entering[ways.state[before + 1]] - leaving[ways.state[before]] + 180.0) % 360.0 - 180.0
    bias = np.where(angle >= 0.0, _BIAS, 1.0 / _BIAS)
    delay = _TURN / (1.0 + np.exp(6.5 * bias - 13.0 / bias * np.abs(angle) / 180.0))
    delay[ways.state[before + 1] == ways.state[before]] = 0.0
    return np.bincount(ways.line[before], delay, lines).astype(np.float64)


def _heading(network: Network, start: Ints, end: Ints) -> Floats:
    """Return the direction from node to node, in degrees from north."""
    north = network.lat[end] - network.lat[start]
    east = (network.lon[end] - network.lon[start]) * np.cos(np.radians(network.lat[start]))
    return np.degrees(np.arctan2(east, north))


def _of_nodes(speed: Floats, network: Network, node: Ints) -> NodeSpeeds:
    """Spread the speed of each street and direction, (2c,), over the pairs of nodes on it."""
    known = np.isfinite(speed)
    starts = list[Ints]()
    ends = list[Ints]()
    speeds = list[Floats]()
    for direction in (0, 1):
        state = 2 * network.street + direction
        segment = np.flatnonzero(known[state])
        nodes = [network.tail[segment], network.head[segment]]
        starts.append(node[nodes[direction]])
        ends.append(node[nodes[1 - direction]])
        speeds.append(speed[state[segment]])

    start = np.concatenate(starts)
    end = np.concatenate(ends)
    order = np.lexsort((end, start))
    metres = float(np.repeat(network.whole, 2)[known].sum())
    whole = float((network.whole[:, None] * network.open).sum())
    return NodeSpeeds(
        start=start[order],
        end=end[order],
        speed=np.concatenate(speeds)[order],
        metres=metres,
        share_of_network=metres / max(whole, 1.0),
    )


def osrm_text(speeds: NodeSpeeds) -> str:
    r"""Write OSRM's segment speed file: from node, to node, km/h.

    >>> osrm_text(NodeSpeeds(np.array([7]), np.array([8]), np.array([31.26]), 90.0, 1.0))
    '7,8,31.3\n'
    """
    rows = zip(speeds.start.tolist(), speeds.end.tolist(), speeds.speed.tolist(), strict=True)
    return "".join(f"{start},{end},{speed:.1f}\n" for start, end, speed in rows)
