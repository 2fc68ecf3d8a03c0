"""Speeds for a router: of released lines, for each pair of neighbouring nodes of a street.

A line says how long a whole way took, not where on it somebody waited. So all streets begin with
one pace, and each is corrected by how late the lines on it are, for some rounds: as tomography does
(A. H. Andersen and A. C. Kak, "Simultaneous algebraic reconstruction technique", 1984). Parts of
the day share these paces, and differ by how late all lines in them are: few lines in few hours say
no more.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon._kernels.road_matching import Network, StreetsTaken
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.release.snapping import RoadsToFollow, ends_of_streets, traced
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.released_lines import ReleasedLines

_SLOWEST, _FASTEST = 3.0, 130.0  # km/h
_SHORTEST = 300.0  # metres of a line that shows a speed
_LEAST_ON_ROADS = 0.5  # share of its way

# Chosen on trips that benchmarks/eta.py does not judge by.
_ROUNDS = 2
_PRIOR = 1_200.0  # metres times trips that keep a street near the others
_PRIOR_TRIPS = 20.0  # that keep a part of the day near the others
_BELIEVED = (0.4, 2.5)  # times as long as expected that a line takes at most

# OSRM's car profile (profiles/car.lua, process_turn): seconds of the sharpest turn, how much more
# one to the left costs, and seconds of one across oncoming traffic.
_TURN = 7.5
_BIAS = 1.075
_ONCOMING = 2.0
_SHARE = 0.5  # of a line's time at most that is taken for such delays


class RouterSpeeds(NamedTuple):
    """Speeds between nodes of OpenStreetMap that follow each other on a street, in a direction.

    Attributes
    ----------
    start, end
        Ids of nodes, (n,).
    speed
        km/h in each part of the day, (parts, n).
    share_of_network
        Share of the length of all streets, in each direction that is open.
    """

    start: Ints
    end: Ints
    speed: Floats
    share_of_network: float

    def osrm_text(self, part: int = 0) -> str:
        r"""Write OSRM's segment speed file of a part of the day: from node, to node, km/h.

        >>> RouterSpeeds(np.array([7]), np.array([8]), np.array([[31.26]]), 1.0).osrm_text()
        '7,8,31.3\n'
        """
        rows = pd.DataFrame({"start": self.start, "end": self.end, "speed": self.speed[part]})
        return str(rows.to_csv(header=False, index=False, float_format="%.1f", lineterminator="\n"))


class _Drives(NamedTuple):
    """What lines do: a row for each street that a line takes, and time and trips of each line."""

    line: Ints
    state: Ints
    metres: Floats
    seconds: Floats  # on roads, without delays at nodes, which a router adds itself, (n,)
    trips: Ints  # 0 for a line that shows no speed, (n,)

    def expected(self, pace: Floats) -> Floats:
        """Compute how long each line should take, (n,), with seconds a metre of each street."""
        seconds = self.metres * pace[self.state]
        return np.asarray(np.bincount(self.line, seconds, len(self.seconds)), np.float64)

    def late(self, pace: Floats) -> Floats:
        """Compute how many seconds later than expected each line is, as far as is believed."""
        expected = self.expected(pace)
        least, most = _BELIEVED
        return np.clip(self.seconds, least * expected, most * expected) - expected

    def corrected(self, pace: Floats) -> Floats:
        """Correct the pace of each street by how late its lines are."""
        weight = self.trips[self.line] * self.metres
        share_late = self.late(pace) / np.maximum(self.expected(pace), 1.0)
        late = np.bincount(self.state, weight * share_late[self.line], len(pace))
        return pace * (1.0 + late / (np.bincount(self.state, weight, len(pace)) + _PRIOR))


def router_speeds(
    lines: ReleasedLines,
    roads: RoadsToFollow,
    parts: tuple[DayPart, ...] = ALL_DAY,
    progress: Progress = silent,
) -> RouterSpeeds:
    """Compute a router's speeds in each part of the day, by when lines begin.

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
    drives = _drives(lines, roads)
    trips = drives.trips
    ones = np.ones(2 * len(network.street_length))
    metres = trips * drives.expected(ones)
    pace = ones * (trips * drives.seconds).sum() / max(metres.sum(), 1.0)
    for _ in range(_ROUNDS):
        pace = drives.corrected(pace)

    part = parts_of(lines.times[:, 0], lines.clock, parts)
    expected = trips * drives.expected(pace)
    late = trips * drives.late(pace)
    prior = _PRIOR_TRIPS * expected.sum() / max(trips.sum(), 1)
    of_part = [part == number for number in range(len(parts))]
    factor = [1.0 + late[rows].sum() / max(expected[rows].sum() + prior, 1.0) for rows in of_part]

    used = np.bincount(drives.state, trips[drives.line], len(pace)) > 0
    state = np.concatenate([2 * network.street, 2 * network.street + 1])
    ends = np.concatenate([[network.tail, network.head], [network.head, network.tail]], axis=1)
    pair = np.flatnonzero(used[state])
    start, end = roads.osm.node[ends[:, pair]]
    order = np.lexsort((end, start))
    speed = 3.6 / np.outer(factor, pace[state[pair[order]]])
    return RouterSpeeds(
        start=start[order],
        end=end[order],
        speed=speed.clip(_SLOWEST, _FASTEST),
        share_of_network=float(np.repeat(network.street_length, 2)[used].sum())
        / max(float((network.street_length[:, None] * network.may_go).sum()), 1.0),
    )


def _drives(lines: ReleasedLines, roads: RoadsToFollow) -> _Drives:
    """Follow lines on roads; those that are short, or mostly off the roads, show no speed."""
    n, m = lines.points.shape[:2]
    ways = traced(lines.points, roads.network)
    on_roads = np.bincount(ways.line, ways.left - ways.entered, n) / (m - 1)
    metres = np.bincount(ways.line, ways.metres, n)

    seconds = lines.seconds * on_roads
    seconds -= np.minimum(seconds_at_nodes(ways, roads, n), _SHARE * seconds)
    shows_speed = (metres >= _SHORTEST) & (on_roads >= _LEAST_ON_ROADS)
    return _Drives(ways.line, ways.state, ways.metres, seconds, lines.trips * shows_speed)


def seconds_at_nodes(ways: StreetsTaken, roads: RoadsToFollow, lines: int) -> Floats:
    """Add up the delays at turns and signs of each line, (n,), as OSRM's car profile has them."""
    network = roads.network
    tail, head = network.tail, network.head
    first, last = ends_of_streets(network.street)
    onwards = _heading(network, tail, head)
    back = _heading(network, head, tail)
    entering = np.stack([onwards[first], back[last]], axis=1).ravel()
    leaving = np.stack([onwards[last], back[first]], axis=1).ravel()

    followed = np.flatnonzero(ways.line[1:] == ways.line[:-1])
    state = ways.state[followed]
    following = ways.state[followed + 1]
    angle = (entering[following] - leaving[state] + 180.0) % 360.0 - 180.0  # to the right
    bias = np.where(angle >= 0.0, _BIAS, 1.0 / _BIAS)
    sharpness = np.abs(angle) / 180.0
    delay = _TURN / (1.0 + np.exp(6.5 * bias - 13.0 / bias * sharpness))
    delay += np.where(angle < 0.0, _ONCOMING / (1.0 + np.exp(3.25 - 13.0 * sharpness)), 0.0)

    assert roads.osm is not None
    at_sign = roads.osm.waits
    delay += at_sign[network.ends[:, ::-1].ravel()[state]]
    delay[following == state] = 0.0
    between_ends = np.bincount(network.street, at_sign[tail]) - at_sign[tail[first]]
    street = ways.state // 2
    passed = between_ends[street] * ways.metres / network.street_length[street]
    at_ends = np.bincount(ways.line[followed], delay, lines)
    return np.asarray(at_ends + np.bincount(ways.line, passed, lines))


def _heading(network: Network, start: Ints, end: Ints) -> Floats:
    """Return the direction from node to node, in degrees from north."""
    north = network.lat[end] - network.lat[start]
    east = (network.lon[end] - network.lon[start]) * np.cos(np.radians(network.lat[start]))
    return np.degrees(np.arctan2(east, north))
