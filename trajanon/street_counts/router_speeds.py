"""Speeds for a router: of released lines, for each pair of neighbouring nodes of a street.

A router adds delays at turns by itself, so they are taken off the time of each line first; and
arrival times are nearest with the mean of the lines' speeds, not with the speed of all together, as
docs/measurements.md shows.
"""

from typing import NamedTuple

import numpy as np

from trajanon._kernels.road_matching import Found, Network
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.streets import ReleasedLines, seconds_on_streets, times_at

_LEAST_WAY = 10.0  # metres; on a shorter piece of a street a line shows no speed
_SLOWEST, _FASTEST = 3.0, 130.0  # km/h

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


def router_speeds(
    lines: ReleasedLines,
    roads: RoadsToFollow,
    parts: tuple[DayPart, ...] = ALL_DAY,
    progress: Progress = silent,
) -> list[NodeSpeeds]:
    """Compute a router's speeds in each part of the day.

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
    ways = traced(lines.points, network)
    seconds = seconds_on_streets(lines.times, ways, rounded=lines.clock is not None)
    whole = np.maximum(lines.times[:, -1] - lines.times[:, 0], 1.0)
    at_turns = np.minimum(seconds_at_turns(ways, network, len(whole)) / whole, _SHARE)
    driving = seconds * (1.0 - at_turns[ways.line])

    part = parts_of(times_at(lines.times, ways.line, ways.entered), lines.clock, parts)
    seen = np.flatnonzero((ways.metres >= _LEAST_WAY) & (driving > 0.0) & (part >= 0))
    speed = 3.6 * ways.metres[seen] / driving[seen]
    weight = lines.trips[ways.line[seen]] * ways.metres[seen]

    shape = (2 * len(network.whole), len(parts))
    place = (ways.state[seen], part[seen])
    sums = np.zeros(shape)
    weights = np.zeros(shape)
    np.add.at(sums, place, weight * speed)
    np.add.at(weights, place, weight)
    mean = np.clip(sums / np.where(weights > 0.0, weights, np.nan), _SLOWEST, _FASTEST)
    return [_of_nodes(column, network, roads.osm.node) for column in mean.T]


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
