"""A synthesiser of trips with differential privacy, for comparison: one trip hardly shows in it.

Written after M. E. Gursoy, L. Liu, S. Truex, L. Yu and W. Wei, "Utility-aware synthesis of
differentially private and attack-resilient location traces", ACM CCS (2018): an adaptive grid, a
Markov chain of moves between its cells, trips by first and last cell, and their lengths. Hours of
departure and speeds are added here by noisy histograms. Without its defences against attacks.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import shortest_path

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.clock_and_time_zones import HOUR
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.geodesy import metres_of_degrees

SHARES = {"grid": 0.05, "moves": 0.35, "trips": 0.45}
SHARES |= dict.fromkeys(("lengths", "hours", "speeds"), 0.05)
"""Of epsilon; the paper's program gives what hours and speeds have here to trips and lengths."""

_TOP = 6  # cells each way, before dense ones are divided
_DENSE = 40.0  # trips that each part of a divided cell should have, about, times epsilon
_FINEST = 8  # parts of a cell, each way
_DETOURS = 20  # moves that a trip makes beyond the fewest
_SPEEDS = np.geomspace(0.5, 40.0, 21)  # metres a second


class Synthetic(NamedTuple):
    """Synthetic trips."""

    points: Floats  # (n, m, 2)
    departure: Floats  # seconds of the clock, (n,)
    duration: Floats  # seconds, (n,)


class _Grid(NamedTuple):
    """Cells of an area, numbered 0..c-1."""

    size: Floats  # metres of the whole area
    parts: Ints  # each way, of each top cell, (_TOP²,)
    low: Floats  # south-western corner of each cell, metres, (c, 2)
    high: Floats

    def cells(self, places: Floats) -> Ints:
        """Number the cells of places, metres from the corner of the area, (..., 2)."""
        at = (places / self.size * _TOP).clip(0.0, _TOP - 1e-9)
        top = at[..., 0].astype(np.int64) * _TOP + at[..., 1].astype(np.int64)
        inner = (np.mod(at, 1.0) * self.parts[top][..., None]).astype(np.int64)
        first = np.cumsum(self.parts**2) - self.parts**2
        return np.asarray(first[top] + inner[..., 0] * self.parts[top] + inner[..., 1])


def synthesised(points: Floats, seconds: Floats, epsilon: float, seed: int = 0) -> Synthetic:
    """Draw as many trips as there are, (n, m, 2), from a noisy model of them.

    ``seconds``, (n, m), are counted from the midnight of the day of a trip, which begins at 3 h.
    """
    random = np.random.default_rng(seed)
    (n, m, _) = points.shape
    corner = points.min(axis=(0, 1))
    scale = metres_of_degrees(points[..., 0].mean())
    places = (points - corner) * scale

    def noisy(counts: Floats | Ints, what: str) -> Floats:
        """Make counts private, to which a trip adds 1 in all; they add up to n again."""
        drawn = counts + random.laplace(0.0, 1 / (SHARES[what] * epsilon), counts.shape)
        # From all is taken what is too much (Norm-Sub).
        largest_first = np.sort(drawn.ravel())[::-1]
        excess = (np.cumsum(largest_first) - n) / np.arange(1, len(largest_first) + 1)
        return np.maximum(drawn - excess[np.flatnonzero(largest_first > excess)[-1]], 0.0)

    grid = _divided(places, epsilon, noisy)
    c = len(grid.low)
    gap = np.maximum(grid.low[:, None], grid.low) - np.minimum(grid.high[:, None], grid.high)
    # Metres between two cells on each axis; less than one is rounding. Corners touch, too.
    do_touch = (gap < 1.0).all(axis=2) & ~np.eye(c, dtype=np.bool_)
    fewest_moves = shortest_path(do_touch, unweighted=True).astype(np.int64)  # (c, c)
    moves, trips, detours = _counted(grid.cells(places), fewest_moves)

    # Cells and numbers of moves of the new trips, and then places within the cells.
    start, end = np.divmod(_drawn(random, noisy(trips, "trips"), n), c)
    steps = fewest_moves[start, end] + _drawn(random, noisy(detours, "lengths"), n)
    chain = np.zeros((c, c))
    # Between two points a trip may jump over cells; such moves are left out.
    chain[do_touch] = noisy(moves[do_touch], "moves")
    visited = _walked(random, chain, start, end, steps)
    lines = np.empty((n, m, 2))
    for line, cells, count in zip(lines, visited, steps, strict=True):
        way = cells[: max(count, 1) + 1]  # without moves: between two places of one cell
        line[:] = along(random.uniform(grid.low[way], grid.high[way]), m)
    lines = lines / scale + corner

    # Hours go from 3 in the night to 3 in the next.
    hours = np.bincount((seconds[:, 0] // HOUR).astype(np.int64), minlength=27)[3:27]
    departure = HOUR * (3 + _drawn(random, noisy(hours, "hours"), n) + random.random(n))
    speeds = np.histogram(lengths(points) / np.ptp(seconds, axis=1), _SPEEDS)[0]
    bins = _drawn(random, noisy(speeds, "speeds"), n)
    speed = _SPEEDS[bins] * random.uniform(1.0, 1.245, n)  # up to the next bin
    return Synthetic(lines, departure, lengths(lines) / speed)


def _counted(cells_of_trips: Ints, fewest_moves: Ints) -> tuple[Floats, Floats, Floats]:
    """Count moves from cell to cell, (c, c), of each trip 1 in all; trips by ends; and detours.

    ``cells_of_trips``, (n, m), are those of the points of trips.
    """
    c = len(fewest_moves)
    moves = np.zeros((c, c))
    trips = np.zeros((c, c))
    detours = np.zeros(_DETOURS)
    for cells in cells_of_trips:
        way = cells[np.append(True, np.diff(cells) != 0)]
        np.add.at(moves, (way[:-1], way[1:]), 1.0 / max(len(way) - 1, 1))
        trips[way[0], way[-1]] += 1.0
        detour = len(way) - 1 - fewest_moves[way[0], way[-1]]
        detours[np.clip(detour, 0, _DETOURS - 1)] += 1.0
    return moves, trips, detours


def _divided(places: Floats, epsilon: float, noisy: Callable[[Floats, str], Floats]) -> _Grid:
    """Divide top cells by how many trips pass."""
    size = places.max(axis=(0, 1)) + 1.0  # the area is public
    undivided = np.ones(_TOP**2, np.int64)
    no_corners = np.zeros((1, 2))  # numbers of cells do not depend on them
    top_cells = _Grid(size, undivided, no_corners, no_corners).cells(places)
    passed = np.zeros((len(places), _TOP**2))
    np.put_along_axis(passed, top_cells, 1.0, axis=1)
    trips_in_cell = noisy((passed / passed.sum(axis=1, keepdims=True)).sum(axis=0), "grid")
    parts = np.sqrt(trips_in_cell * epsilon / _DENSE).round().astype(np.int64).clip(1, _FINEST)
    cells = [
        (
            np.array([top // _TOP, top % _TOP])
            + np.array([[row, column], [row + 1, column + 1]]) / each_way
        )
        for top, each_way in enumerate(parts.tolist())
        for row in range(each_way)
        for column in range(each_way)
    ]
    low, high = np.moveaxis(np.array(cells) * size / _TOP, 1, 0)
    return _Grid(size, parts, low, high)


def _walked(
    random: np.random.Generator, chain: Floats, start: Ints, end: Ints, steps: Ints
) -> Ints:
    """Walk between cells in a given number of steps, drawn among the walks that still arrive."""
    chain = chain / np.maximum(chain.sum(axis=1, keepdims=True), 1e-12)
    # The chance to arrive from cell to cell, in as many steps as the place in the list.
    arrives = [np.eye(len(chain))]
    while len(arrives) <= steps.max():
        arrives.append(arrives[-1] @ chain)

    visited = np.repeat(start[:, None], max(steps.max(), 1) + 1, axis=1)
    for step in range(1, steps.max() + 1):
        for steps_left in range(steps.max() - step + 1):
            walks = np.flatnonzero(steps - step == steps_left)
            likely = chain[visited[walks, step - 1]] * arrives[steps_left][:, end[walks]].T
            sums = np.cumsum(likely, axis=1)
            next_cell = (sums < random.random((len(walks), 1)) * sums[:, -1:]).sum(axis=1)
            # A walk that cannot arrive in time jumps to its end.
            visited[walks, step] = np.where(sums[:, -1] > 0.0, next_cell, end[walks])
    visited[np.arange(len(steps)), np.maximum(steps, 1)] = end
    return visited


def _drawn(random: np.random.Generator, weights: Floats, n: int) -> Ints:
    """Draw numbers by their weights; of no weights, any."""
    flat = weights.ravel() + 1e-12
    return random.choice(flat.size, n, p=flat / flat.sum())


def along(way: Floats, points: int) -> Floats:
    """Return points at equal shares of a way, (w, 2), in a plane."""
    distance = np.append(0.0, np.cumsum(np.hypot(*np.diff(way, axis=0).T)))
    wanted = np.linspace(0.0, distance[-1], points)
    return np.stack([np.interp(wanted, distance, axis) for axis in way.T], axis=1)
