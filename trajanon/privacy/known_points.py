"""An adversary who knows some points of the target's trajectory, or where it begins and ends."""

from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.points_within import Known, SortedLines, attack_targets, room_for
from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import number_of
from trajanon.partition import dense
from trajanon.privacy.attack import Attack, Published
from trajanon.workers import in_parts

_AT_ONCE = 64  # targets of a part at most, and one with 2 s of work
_CHOICES_AT_ONCE = 10_000_000
_LEAST_CELL = 1.0  # metres: also a tolerance of 0 needs cells that can be counted
_NEVER = 1e15  # seconds: a turn of a clock that does not go round
_NEAR = 100.0  # metres within which a line passes a known point
_EXACT = 2  # known points up to which every choice is tried
_PAIRS = 2_000_000_000  # of a target and a line; some minutes
_FEWEST = 1_000  # targets drawn, however many lines there are


class Guesses(NamedTuple):
    """Two adversaries who know the same, and come to the same lines."""

    evenly: Attack  # picks a row of any of them
    nearest: Attack  # picks a row of the one that passes nearest


def known_points(
    published: Published,
    known: int = 2,
    *,
    tolerance: float = _NEAR,
    order: bool = False,
    hour: float = np.inf,
    sample: int = 1_000,
    seed: int = 0,
) -> Guesses:
    """Attack with some points of each original trajectory.

    A released line is compatible if it has a point within ``tolerance`` metres of each of them; in
    order, if it passes them one after another, each at a later point of the line than the one
    before; with an ``hour``, if it is there within so many seconds of the time known. The nearest
    line is that with the smallest sum of squared distances to the points known. Of up to two points
    every choice is tried; of more, ``sample`` choices, drawn from ``seed``.

    Without tolerance, and against the originals, this is the measure of location and sequence
    attacks in Pellungrini et al. (ACM TIST 9, 2018); they take the worst choice. Points known to a
    place and an hour are those of de Montjoye et al. (Scientific Reports 3, 2013).
    """
    asked = Known(known, tolerance, sample if known > _EXACT else 0, hour, _cycle(published))
    return _attack(published, slice(None), asked, seed, [_way(published, known, order)])[0]


def known_in_both_orders(published: Published) -> list[Guesses]:
    """Attack with two points, in any order and in their own, as `known_points`: both at once."""
    ways = [_way(published, 2, order) for order in (False, True)]
    return _attack(published, slice(None), Known(2, _NEAR, 0, np.inf, _NEVER), 0, ways)


def known_ends(published: Published, *, tolerance: float = _NEAR, hour: float = np.inf) -> Guesses:
    """Attack with both ends of each original trajectory, as home and work.

    A line is compatible if its first point is as near to the target's first point, and its last to
    the last, as `known_points` asks. The nearest line is as there.
    """
    # Two points known in order, of lines that are their two ends: the first of these
    # has to be passed at the first.
    asked = Known(2, tolerance, 0, hour, _cycle(published))
    way = _Way("both ends", f"both ends of the target's {published.unit}", True)
    return _attack(published, [0, -1], asked, 0, [way])[0]


def _cycle(published: Published) -> float:
    """Seconds of a turn of the clock."""
    return min(float(published.cycle), _NEVER)


class _Way(NamedTuple):
    name: str  # of the attack
    knows: str  # what the adversary knows, in words
    in_order: bool  # whether a line has to pass two or more of the points one after another


def _way(published: Published, known: int, order: bool) -> _Way:
    points = number_of(known, "point")
    name, knows = points.replace(" ", " known "), f"{points} of the target's {published.unit}"
    if order:
        return _Way(f"{name}, in order", f"{knows} and their order", known > 1)
    return _Way(name, knows, in_order=False)


def _attack(
    published: Published, seen: slice | list[int], known: Known, seed: int, ways: list[_Way]
) -> list[Guesses]:
    """Attack every trajectory in each way, by those points of it and of lines that are seen.

    Of very many some are drawn: to try all would take time with the square of their number.
    """
    both = (published.points, published.times), (published.lines, published.line_times)
    columns = (_as_columns(*each, known.cycle)[:, seen] for each in both)
    points, lines = map(np.ascontiguousarray, columns)  # or the kernel is compiled once more
    n, p, _ = points.shape
    random = np.random.default_rng(seed)
    states = random.integers(1, 2**63, (n, 1)).astype(np.uint64)
    most = max(_PAIRS // len(lines), _FEWEST)
    targets = np.arange(n) if n <= most else np.sort(random.choice(n, most, replace=False))
    subjects = dense(published.owners)  # kernels compare whole numbers, and no names
    cells = _in_cells(points, lines, published, subjects, known.tolerance)
    orders = np.array([way.in_order for way in ways])

    def some(rows: Ints, _: Event) -> Floats:
        out = np.zeros((len(ways), len(rows), 2, 3))
        whose = published.labels[rows], subjects[rows], np.stack([states[rows]] * len(ways))
        room = room_for(len(lines), p, known.points)
        attack_targets(points[rows], *whose, cells, known, orders, room, out)
        return out

    choices = known.sample or p**known.points
    many = min(max(_CHOICES_AT_ONCE // choices, 1), _AT_ONCE)
    found = np.concatenate(in_parts(some, targets, many), axis=1)
    return [
        _guesses(published, known, targets, way, each)
        for way, each in zip(ways, found, strict=True)
    ]


def _guesses(
    published: Published, known: Known, targets: Ints, way: _Way, found: Floats
) -> Guesses:
    """Tell what came out in one way, (t, 2, 3)."""
    within, name, knows = f"within {known.tolerance:g} m", way.name, way.knows
    if np.isfinite(known.hour):
        name, knows = f"{name} and their hours", f"{knows}, and when it was there"
        within += f" and {known.hour / 60.0:g} min"
    knows, n = f"{knows}, {within}", len(published.points)
    if len(targets) < n:
        knows += f"; tried on {len(targets):,} of {n:,}, drawn at random"
    sampled = known.sample > 0 or len(targets) < n
    evenly, nearest = (
        Attack(name + how, knows, published, targets, rates, line_rates, worst, sampled)
        for how, (rates, line_rates, worst) in (("", found[:, 0].T), (", nearest", found[:, 1].T))
    )
    return Guesses(evenly, nearest)


def _as_columns(points: Floats, times: Floats | None, cycle: float) -> Floats:
    """Add to each point the metres of a degree north and east there, and seconds, (..., 5)."""
    when = np.zeros(points.shape[:2]) if times is None else times
    when = np.mod(when, cycle) if cycle < _NEVER else when
    return np.concatenate([points, metres_of_degrees(points[..., 0]), when[..., None]], axis=-1)


def _in_cells(
    points: Floats, lines: Floats, published: Published, subjects: Ints, tolerance: float
) -> SortedLines:
    """Sort the points of lines into cells half as wide as the tolerance, or a little wider.

    Two points within the tolerance of each other then lie two cells apart at most.
    """
    where = lines.reshape(-1, 5)
    corner = where[:, :2].min(axis=0)
    wide = 0.5 * max(tolerance, _LEAST_CELL) * 1.001  # for rounding
    smallest = np.minimum(points[..., 2:4].min(axis=(0, 1)), where[:, 2:4].min(axis=0))
    side = np.minimum(wide / np.maximum(smallest, 1e-9), 360.0)
    row, column = ((where[:, :2] - corner) // side).astype(np.int64).T
    columns = int(column.max()) + 1
    cell = row * columns + column
    order = np.argsort(cell, kind="stable")
    line, position = np.divmod(order, lines.shape[1])
    return SortedLines(
        points=lines,
        where=where[order],
        cell=cell[order],
        line=line,
        position=position,
        corner=corner,
        side=side,
        columns=columns,
        first=np.concatenate([[0], np.cumsum(published.rows)]),
        subjects=subjects[published.of_rows],
    )
