"""Speeds for a router: of released lines, for each pair of neighbouring nodes of a street.

A line says how long a whole way took, not where on it somebody waited. So all streets begin with
one pace, in seconds a metre, and each is corrected by how late the lines on it are, for some
rounds: as tomography does (A. H. Andersen and A. C. Kak, "Simultaneous algebraic reconstruction
technique", 1984). Parts of the day share these paces, and differ by how late all lines in them are:
few lines in few hours say no more.

A state is a street in one direction: 2 street + direction, which is 1 for back.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon._kernels.road_matching import Network, StreetsTaken
from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.release.matched_to_roads import RoadsToFollow, ends_of_streets, traced
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, parts_of
from trajanon.street_counts.lines_to_count import ReleasedLines

_SLOWEST = 3.0  # km/h
_FASTEST = 130.0
_SHORTEST = 300.0  # metres of a line that shows a speed
_LEAST_ON_ROADS = 0.5  # share of its way

# Chosen on another draw of cabs than those by which benchmarks/eta.py judges.
_ROUNDS = 2
_PRIOR_OF_STREET = 1_200.0  # metres times trips that keep a street near the others
_PRIOR_OF_PART = 20.0  # trips that keep a part of the day near the others
_BELIEVED = (0.4, 2.5)  # times as long as expected that a line takes at least and at most

# OSRM's car profile (profiles/car.lua, process_turn): seconds of the sharpest turn, how much more
# one to the left costs, and seconds of one across oncoming traffic. How delays rise with the angle,
# as a share of a half turn: a logistic curve of this steepness, with its middle at a right angle.
_TURN = 7.5
_BIAS = 1.075
_ONCOMING = 2.0
_STEEPNESS = 13.0
_MOST_DELAY = 0.5  # share of a line's time that is taken for such delays


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
        If the release has no times, or only such as show no speed, or if the roads have no ids.
    """
    if lines.times is None:
        raise BadInput("this release has no times: anonymize it with `times='of-day'`")
    if roads.osm is None:
        raise BadInput("these roads have no ids: read them with trajanon.extract.roads_to_follow")

    network = roads.network
    drives = _drives(lines, roads, progress)
    pace = drives.paces(2 * len(network.street_length))
    if drives.trips.any() and not pace.any():
        raise BadInput(
            "all lines of this release take no time, as its times are too rough to show speeds: "
            "anonymize it with a lower `time_step`"
        )
    part = parts_of(lines.times[:, 0], lines.clock, parts)
    slower = drives.slower_in_parts(pace, part, len(parts))

    # A row for each pair of nodes of the states that lines take, in the order of the nodes. All
    # segments are such pairs forward, and then backward.
    is_used = np.bincount(drives.state, drives.trips[drives.line], len(pace)) > 0
    state = np.concatenate([2 * network.street, 2 * network.street + 1])
    pairs = np.concatenate([[network.tail, network.head], [network.head, network.tail]], axis=1)
    used_pairs = np.flatnonzero(is_used[state])
    start, end = roads.osm.node[pairs[:, used_pairs]]
    order = np.lexsort((end, start))
    speed = 3.6 / np.outer(slower, pace[state[used_pairs[order]]])

    metres_of_state = np.repeat(network.street_length, 2)
    return RouterSpeeds(
        start=start[order],
        end=end[order],
        speed=speed.clip(_SLOWEST, _FASTEST),
        share_of_network=float(metres_of_state[is_used].sum())
        / max(float(metres_of_state[network.may_go.ravel()].sum()), 1.0),
    )


class _Drives(NamedTuple):
    """What n lines do: r streets that they take, and time and trips of each line."""

    line: Ints  # number of the line that takes a street, (r,)
    state: Ints  # (r,)
    metres: Floats  # gone on it, (r,)
    seconds: Floats  # on roads, without delays at nodes, which a router adds itself, (n,)
    trips: Ints  # 0 for a line that shows no speed, (n,)

    def expected(self, pace: Floats) -> Floats:
        """Compute how long each line should take, (n,), with seconds a metre of each state."""
        seconds = self.metres * pace[self.state]
        return np.asarray(np.bincount(self.line, seconds, len(self.seconds)), np.float64)

    def delays(self, pace: Floats) -> Floats:
        """Compute how many seconds later than expected each line is, as far as is believed."""
        expected = self.expected(pace)
        least, most = _BELIEVED
        return np.clip(self.seconds, least * expected, most * expected) - expected

    def paces(self, states: int) -> Floats:
        """Compute the pace of each state, in seconds a metre, (states,)."""
        # Metres of each line: what it should take at a pace of 1.
        metres = self.trips * self.expected(np.ones(states))
        seconds = self.trips * self.seconds
        pace: Floats = np.full(states, seconds.sum() / max(metres.sum(), 1.0))
        for _ in range(_ROUNDS):
            pace = self.corrected(pace)
        return pace

    def corrected(self, pace: Floats) -> Floats:
        """Correct the pace of each state by how late its lines are."""
        # A mean over lines, weighted by metres and trips; a state of few of them keeps its pace.
        weights = self.trips[self.line] * self.metres
        share_late = self.delays(pace) / np.maximum(self.expected(pace), 1.0)
        late_sums = np.bincount(self.state, weights * share_late[self.line], len(pace))
        weight_sums = np.bincount(self.state, weights, len(pace))
        return pace * (1.0 + late_sums / (weight_sums + _PRIOR_OF_STREET))

    def slower_in_parts(self, pace: Floats, part: Ints, parts: int) -> Floats:
        """Compute how many times as slow streets are in each part of the day, (parts,).

        ``part`` is the number of that in which each line begins, (n,), or -1.
        """
        expected = self.trips * self.expected(pace)
        delays = self.trips * self.delays(pace)
        # The sums of lines in no part come first, and are dropped.
        delay_sums = np.bincount(part + 1, delays, parts + 1)[1:]
        expected_sums = np.bincount(part + 1, expected, parts + 1)[1:]
        prior = _PRIOR_OF_PART * expected.sum() / max(self.trips.sum(), 1)
        return np.asarray(1.0 + delay_sums / np.maximum(expected_sums + prior, 1.0))


def _drives(lines: ReleasedLines, roads: RoadsToFollow, progress: Progress) -> _Drives:
    """Follow lines on roads; those that are short, mostly off them, or untimed show no speed."""
    n, m = lines.points.shape[:2]
    ways = traced(lines.points, roads.network, progress=progress)
    share_on_roads = np.bincount(ways.line, ways.left - ways.entered, n) / (m - 1)
    metres = np.bincount(ways.line, ways.metres, n)

    is_timed = np.isfinite(lines.seconds)
    seconds = np.where(is_timed, lines.seconds, 0.0) * share_on_roads
    seconds -= np.minimum(seconds_at_nodes(ways, roads, n), _MOST_DELAY * seconds)
    shows_speed = is_timed & (metres >= _SHORTEST) & (share_on_roads >= _LEAST_ON_ROADS)
    return _Drives(ways.line, ways.state, ways.metres, seconds, lines.trips * shows_speed)


def seconds_at_nodes(ways: StreetsTaken, roads: RoadsToFollow, lines: int) -> Floats:
    """Add up the delays at turns and signs of each line, (n,), as OSRM's car profile has them."""
    network = roads.network
    first, last = ends_of_streets(network.street)
    forward = _heading(network, network.tail, network.head)
    backward = _heading(network, network.head, network.tail)
    # Directions of each state, (2c,): where it is entered, and where it is left.
    entering = np.stack([forward[first], backward[last]], axis=1).ravel()
    leaving = np.stack([forward[last], backward[first]], axis=1).ravel()

    # Rows of streets after which the same line takes another one.
    followed = np.flatnonzero(ways.line[1:] == ways.line[:-1])
    state = ways.state[followed]
    next_state = ways.state[followed + 1]
    angle = (entering[next_state] - leaving[state] + 180.0) % 360.0 - 180.0  # to the right
    delay = _seconds_of_turns(angle)

    assert roads.osm is not None
    waits = roads.osm.waits  # seconds at each node
    exit_of_state = network.ends[:, ::-1].ravel()
    delay += waits[exit_of_state[state]]
    # A street that is matched in two pieces has no turn between them.
    delay[next_state == state] = 0.0
    at_ends = np.bincount(ways.line[followed], delay, lines)

    # Signs within a street, of which a line that takes a part of it passes as large a part. A
    # street between two nodes at one place has no length, and nothing is passed on it.
    within = np.bincount(network.street, waits[network.tail]) - waits[network.tail[first]]
    street = ways.state // 2
    passed = within[street] * ways.metres / np.maximum(network.street_length[street], 1e-9)
    return np.asarray(at_ends + np.bincount(ways.line, passed, lines))


def _seconds_of_turns(angle: Floats) -> Floats:
    """Compute the seconds of turns by their angles, in degrees to the right, as OSRM does.

    A turn without a known angle, which is NaN, takes none.
    """
    bias = np.where(angle >= 0.0, _BIAS, 1.0 / _BIAS)
    sharpness = np.abs(angle) / 180.0
    turn = _TURN / (1.0 + np.exp(0.5 * _STEEPNESS * bias - _STEEPNESS / bias * sharpness))
    # Half of the wait for oncoming traffic is added from half a right angle on: the middle of a
    # curve as above.
    oncoming = _ONCOMING / (1.0 + np.exp(0.25 * _STEEPNESS - _STEEPNESS * sharpness))
    return np.nan_to_num(turn + np.where(angle < 0.0, oncoming, 0.0))


def _heading(network: Network, start: Ints, end: Ints) -> Floats:
    """Return the direction from node to node, in degrees from north; NaN if they are at a place."""
    north = network.lat[end] - network.lat[start]
    degrees_east = network.lon[end] - network.lon[start]
    east = degrees_east * np.cos(np.radians(network.lat[start]))
    has_direction = (north != 0.0) | (east != 0.0)
    return np.where(has_direction, np.degrees(np.arctan2(east, north)), np.nan)
