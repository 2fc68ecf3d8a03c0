"""Released lines laid on roads: computed from lines and public data alone, so it costs no privacy.

Source: P. Newson and J. Krumm, "Hidden Markov map matching through noise and sparseness", ACM
SIGSPATIAL (2009): emission by the distance to a road, transition by how much the way on roads and
the straight one differ, and the most likely path.
"""

from dataclasses import replace
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.roads import Matching, Network, match_lines, room_for
from trajanon.arrays import Bools, Floats, Ints
from trajanon.files.release_lines import in_order, rounded
from trajanon.geodesy import SHORT_DEGREE
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories
from trajanon.workers import in_threads

KEEP_OFF = 100.0
"""Metres; a line with a point farther than this from all roads stays as it was."""

_ROADS = 12  # near each point that are tried
_TURN, _SLACK = 5.0, 500.0  # as in `Matching`
_CELL, _CELLS = 150.0, 4e6  # metres of a cell, at least, and how many there are at most
_AT_ONCE = 500  # lines of a task


class Snapped(NamedTuple):
    """Lines laid on roads."""

    lines: Floats  # (n, m, 2)
    on_roads: Bools  # those that were; others are as they were, (n,)


class RoadsToFollow(NamedTuple):
    """Roads, and how near a line must be to all its points to be laid on them."""

    network: Network
    keep_off: float = KEEP_OFF  # metres

    def lay(self, lines: Floats, progress: Progress = silent) -> Snapped:
        """Lay lines, (n, m, 2), on the roads, and round them; others stay as they were."""
        found = snapped(lines, self.network, self.keep_off, progress)
        laid = found.on_roads[:, None, None]
        return Snapped(np.where(laid, rounded(found.lines), lines), found.on_roads)

    def lay_release(
        self, release: Trajectories, progress: Progress = silent
    ) -> tuple[Trajectories, Snapped]:
        """Lay a release on the roads, each different line once, and sort its rows anew."""
        lines, row = np.unique(release.records, axis=0, return_inverse=True)
        found = self.lay(lines.reshape(-1, *release.points.shape[1:]), progress)
        told = {**release.provenance, "attribution": OSM_ATTRIBUTION}
        laid = replace(release, points=found.lines[row.reshape(-1)], provenance=told)
        return laid.take(in_order(laid.points, laid.times)), found


def network_of(lat: Floats, lon: Floats, tail: Ints, head: Ints, passable: Bools) -> Network:
    """Make a network of straight segments, (s,), between nodes at some degrees, (v,).

    Each may be ``passable`` from its tail to its head, and back, (s, 2), or else is left out.
    """
    from pyproj import Geod

    some = passable.any(axis=1)
    tail, head, passable = tail[some], head[some], passable[some]
    length = Geod(ellps="WGS84").inv(lon[tail], lat[tail], lon[head], lat[head])[2]
    junction = np.bincount(np.append(tail, head), minlength=len(lat)) != 2
    goes_on = (head[:-1] == tail[1:]) & ~junction[tail[1:]]
    goes_on &= (passable[:-1] == passable[1:]).all(axis=1)
    chain = np.append(0, np.cumsum(~goes_on))
    state = np.flatnonzero(passable.ravel())
    leaves = np.where(state % 2, head[state // 2], tail[state // 2])
    order = np.argsort(leaves, kind="stable")
    first = np.searchsorted(leaves[order], np.arange(len(lat) + 1))
    places = np.stack([lat, lon], axis=1)
    low = np.minimum(places[tail], places[head])
    high = np.maximum(places[tail], places[head])
    corner, size = low.min(axis=0), np.ptp(places[np.append(tail, head)], axis=0)
    cell = np.array([_CELL, _CELL / np.cos(np.radians(np.abs(lat).mean()))]) / SHORT_DEGREE
    cell *= max(np.sqrt((size / cell + 1).prod() / _CELLS), 1.0)
    cells = np.floor(size / cell).astype(np.int64) + 1
    begin, end = (np.floor((one - corner) / cell).astype(np.int64) for one in (low, high))
    wide = end - begin + 1
    many = wide.prod(axis=1)
    segment = np.repeat(np.arange(len(tail)), many)
    number = np.arange(len(segment)) - np.repeat(np.cumsum(many) - many, many)
    row = begin[segment, 0] + number // wide[segment, 1]
    column = begin[segment, 1] + number % wide[segment, 1]
    place = row * cells[1] + column
    by_cell = np.argsort(place, kind="stable")
    held = np.searchsorted(place[by_cell], np.arange(cells.prod() + 1))
    return Network(
        *(lat, lon, tail, head, length, chain, passable, first, state[order]),
        *(corner, cell, cells, held, segment[by_cell]),
    )


def snapped(
    lines: Floats, network: Network, keep_off: float = KEEP_OFF, progress: Progress = silent
) -> Snapped:
    """Lay lines, (n, m, 2), on roads: each point at its place on the way that is most likely.

    Equal shares of that way would move points along it by what the way is longer than the line.
    """
    lines = np.ascontiguousarray(lines)
    n, m = lines.shape[:2]
    way, walked, told = np.empty((n, m), dtype=np.int64), np.zeros((n, m)), np.zeros(n)
    how = Matching(keep_off, _ROADS, 0.0, _TURN, _SLACK)
    done: list[int] = []

    def task(first: int, stop: Event) -> None:
        if not stop.is_set():
            end = min(first + _AT_ONCE, n)
            room = room_for(len(network.lat), m, how.states)
            match_lines(network, how, lines, first, end, room, way, walked, told)
            done.append(end - first)

    jobs = (partial(task, first) for first in range(0, n, _AT_ONCE))
    in_threads(jobs, lambda: progress("Laying lines on roads", sum(done), n))
    on_roads = way[:, 0] >= 0
    segment, back = np.divmod(way[on_roads], 2)
    share = walked[on_roads] / np.maximum(network.length[segment], 1e-9)
    share = np.where(back, 1.0 - share, share)
    laid = lines.copy()
    for axis, places in enumerate((network.lat, network.lon)):
        begin, end = places[network.tail[segment]], places[network.head[segment]]
        laid[on_roads, :, axis] = begin + share * (end - begin)
    return Snapped(laid, on_roads)
