"""Rebuilding: companions taken from a line, and the rest followed on the map of other people."""

from math import ceil, floor
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.likeliest_ways import Places, Walk, likeliest_ways
from trajanon.common.arrays import Floats, Ints
from trajanon.common.progress import Progress, silent
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.attacks.known_tracks import Guessed, KnownTracks, Movement, groups_drawn
from trajanon.grouping.k_promise import member_weights

_CELL = 12.0  # metres, a place on the map
_HEADINGS = 16
_MOST = 400  # places that are tried at a point
_LOOKED_AT = 5_000  # of which these are chosen, about
_SEVERAL = np.iinfo(np.int64).min  # subjects went there
_POPULAR = 0.3  # how much more often people go where more did, as a power
_REACH = 3.0  # standard deviations within which places are tried
_BESIDE = 25.0  # metres, and so much more
_SWAY = 8.0  # points over which members stay on their side of the mean
_ALONE = 6.0  # points that tell as much as one, if each is asked for itself
_FIX = 4.0  # metres, how exactly a place of the map is known
_ROUND = 1.0  # metres, what a line is rounded by
_HOP = 0.02  # variance of the length of a hop, as a share
_HEADING = 0.03  # variance of the heading of a hop
_LONGER = 1.05  # a hop, than one of the smooth way
_ROUNDS = 3  # in which the spread of the group and the hidden member are inferred by turns
_SPREAD = 3.0  # points, the standard deviation of the weights of the spread around a point
_ANY_WAY = 0.2  # share of a member's variance that does not follow the others
_HALF = 0.5  # of what companions leave is the hidden member's at first; the rest is displacement
_FEW = 1e-4  # ways that are less likely than the best by this count nothing
_HOPS_PER_BATCH = 100_000  # of the map, some tens of megabytes


WAYS = ("left", "smooth", "on_map", "between")
"""What companions leave of the line; the likeliest without a map, and on it; half way between."""


class Ways(NamedTuple):
    """Where people went: lines through points, one after another."""

    points: Floats  # latitude and longitude, (t, 2)
    first: Ints  # of each way, and all, (r + 1,)
    owner: Ints  # who made each way, (r,)

    @classmethod
    def of(cls, points: Floats, owner: Ints) -> "Ways":
        """Put trajectories, (n, m, 2), one after another."""
        n, m = points.shape[:2]
        return cls(points.reshape(-1, 2), m * np.arange(n + 1), owner)


def rebuilding(
    published: Published,
    movement: Movement,
    ways: Ways,
    *,
    spacing: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Guessed | None, Guessed | None]:
    """Rebuild one hidden member of lines from the others, and from where other people go.

    The adversary knows all but the key. Taken from a multiple of the line, the others leave the
    hidden member and as many times the displacement, which the adversary smooths, inferring by
    turns how far members spread and where the hidden one was. Of the map, but for what only the
    hidden subject shows, the adversary tries all places near this, and takes the likeliest way: in
    hops of ``spacing`` metres (without it, of any one length), along known headings, rather where
    many went, while the rest goes on as noise does. Times are smoothed likewise, where they are
    released. None is rebuilt if trajectories have no hops.
    """
    if published.points.shape[1] == 1:
        return None, None
    tracks = KnownTracks(published)
    plan = _Map(ways._replace(points=tracks.in_metres(ways.points)))
    targets = groups_drawn(published.labels, seed)
    errors = list[list[float]]([] for _ in targets)

    def tried(number: Ints, _: Event) -> None:
        errors[number[0]] = _errors(tracks, movement, plan, targets[number[0]], spacing)

    def watch() -> None:
        progress("Hidden members", sum(map(bool, errors)), len(targets))

    in_parts(tried, np.arange(len(targets)), 1, watch)
    of_targets = np.array(errors).T

    *of_ways, line = of_targets[: len(WAYS) + 1]
    knows = "the other members of a line, and follows the rest on the map of other people's tracks,"
    rebuilt = Guessed.of(knows, dict(zip(WAYS, of_ways, strict=True)), line)
    if movement.times is None:
        return rebuilt, None

    left, smooth, line = of_targets[len(WAYS) + 1 :]
    knows = "when the other members of a line were where"
    return rebuilt, Guessed.of(knows, {"left": left, "smooth": smooth}, line, timed=True)


def _errors(
    tracks: KnownTracks, movement: Movement, plan: "_Map", members: Ints, spacing: float | None
) -> list[float]:
    """Rebuild the first of the members in each way, and measure how far off these and the line are.

    In metres; where times are released, also in seconds.
    """
    number = int(tracks.labels[members[0]])
    share = float(movement.shares[number])
    people = None if movement.people is None else movement.people[members]
    weights = member_weights(np.zeros(len(members), dtype=np.int64), people)

    # The line is a mean, so a multiple of it is the hidden member and a weighted sum of the others.
    factor = 1.0 / float(weights[0])
    others = weights[1:] / weights[0]
    points = tracks.points[members]
    line = tracks.lines[number]
    left = factor * line - np.einsum("n,nmc->mc", others, points[1:])

    noise = movement.places.times(factor, share)
    owner = int(tracks.owners[members[0]])
    guesses = _guesses(left, points[1:], noise, plan, owner, spacing)
    off = [float(np.hypot(*(way - points[0]).T).mean()) for way in (*guesses, line)]
    if movement.times is None or tracks.times is None or tracks.line_times is None:
        return off

    times = tracks.times[members]
    line_times = tracks.line_times[number]
    rest = factor * line_times - np.einsum("n,nm->m", others, times[1:])
    smooth = _smooth_times(rest, times[1:], movement.times.times(factor, share))
    return off + [float(np.abs(when - times[0]).mean()) for when in (rest, smooth, line_times)]


def _smooth_times(left: Floats, companions: Floats, noise: Floats) -> Floats:
    """Compute the likeliest times of the hidden member, whose departure is as the others' are."""
    middle = companions.mean(axis=0)
    away = left - middle
    spread = max(float((away**2).mean() - np.trace(noise) / len(noise)), 0.0)
    spread = max(spread, float(companions.var(axis=0).mean()), _ROUND**2)
    covariance = spread * _likeness(len(left))
    return np.asarray(middle + covariance @ np.linalg.solve(covariance + noise, away))


def _guesses(
    left: Floats,
    companions: Floats,
    noise: Floats,
    plan: "_Map",
    hidden: int,
    spacing: float | None,
) -> tuple[Floats, ...]:
    """Rebuild the hidden member in each way; all in metres, with the noise of what is left."""
    middle = companions.mean(axis=0)
    smoothed = _smoothed(left, companions, noise)
    inverse = np.asarray(np.linalg.inv(smoothed.other), dtype=np.float64)
    places = _places_near(plan, hidden, smoothed, middle, inverse)
    if spacing is None:
        spacing = _LONGER * float(np.hypot(*np.diff(smoothed.way, axis=0).T).mean())

    deviation = np.sqrt(np.trace(noise) / len(noise))
    white = np.broadcast_to(np.eye(2) / (deviation + _ROUND), (len(left), 2, 2))
    factors = _factors(noise / deviation**2, white)
    hop = np.array([spacing, _HOP, _HEADING])
    on_map = _followed(places, likeliest_ways(places, left, white, factors, hop))
    return left, smoothed.way, on_map, 0.5 * (smoothed.way + on_map)


class _Smoothed(NamedTuple):
    way: Floats  # the likeliest of the hidden member, (m, 2)
    unsure: Floats  # standard deviation of it, (m,)
    other: Floats  # root of the covariance of a member about the middle of the others, (m, 2, 2)


def _smoothed(left: Floats, companions: Floats, noise: Floats) -> _Smoothed:
    """Infer by turns how far members spread and where the hidden one was."""
    k = len(companions) + 1
    m = len(left)
    middle = companions.mean(axis=0)
    scatter = _squared(companions - middle).sum(axis=0)
    hidden = _HALF * _squared(left - middle)
    for _ in range(_ROUNDS):
        spread = _around((scatter + hidden * ((k - 1) / k)) / k)
        # A member is so far from the mean of the others.
        other = _roots(spread * (k / (k - 1)) ** 2 + _ROUND**2 * np.eye(2))

        covariance = _along(other, _likeness(m))
        gain = np.linalg.solve(covariance + np.kron(noise, np.eye(2)), covariance).T
        way = middle + (gain @ (left - middle).ravel()).reshape(m, 2)
        rest = covariance - gain @ covariance
        unsure = rest.reshape(m, 2, m, 2)[np.arange(m), :, np.arange(m)]
        hidden = _squared(way - middle) + unsure

    deviation = np.sqrt((0.5 * np.trace(unsure, axis1=1, axis2=2)).clip(_ROUND**2))
    return _Smoothed(way, deviation, other)


def _likeness(points: int) -> Floats:
    """Compute how long members stay on their side of the mean, as a correlation, (m, m)."""
    place = np.arange(points)
    return np.asarray(np.exp(-np.abs(place[:, None] - place) / _SWAY))


def _around(spread: Floats) -> Floats:
    """Smooth how members spread at each point along the way, (m, 2, 2); a fifth goes any way."""
    place = np.arange(len(spread))
    near = np.exp(-0.5 * ((place[:, None] - place) / _SPREAD) ** 2)
    around = np.einsum("iab,ij->jab", spread, near / near.sum(axis=0))
    alike = 0.5 * np.trace(around, axis1=1, axis2=2)[:, None, None] * np.eye(2)
    return np.asarray((1.0 - _ANY_WAY) * around + _ANY_WAY * alike)


def _square_lengths(away: Floats) -> Floats:
    """Compute the squared lengths of vectors, (2, n), several times faster than a sum of rows."""
    x, y = away
    return np.asarray(x * x + y * y)


def _squared(away: Floats) -> Floats:
    return np.asarray(away[..., :, None] * away[..., None, :])


def _roots(covariance: Floats) -> Floats:
    """Compute the symmetric roots of covariances, (m, 2, 2)."""
    sizes, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(sizes)[:, None] @ np.swapaxes(axes, 1, 2))


def _along(root: Floats, alike: Floats) -> Floats:
    """Compute the covariance along the way from its roots and correlations, (2 m, 2 m)."""
    covariance = np.einsum("iab,jcb,ij->iajc", root, root, alike)
    return np.asarray(covariance.reshape(2 * len(root), -1))


def _factors(alike: Floats, white: Floats) -> Floats:
    """Compute what noise takes over from the three points before, and its variance, as shares."""
    fix = 0.5 * _FIX**2 * (white**2).sum(axis=(1, 2))
    factors = np.zeros((len(alike), 4))
    for point in range(len(alike)):
        before = slice(max(point - 3, 0), point)
        by = np.linalg.solve(alike[before, before] + np.diag(fix[before]), alike[before, point])
        factors[point, : len(by)] = by[::-1]
        factors[point, 3] = alike[point, point] - by @ alike[before, point] + fix[point]
    return factors


def _followed(places: Places, walk: Walk) -> Floats:
    """Average the likeliest ways to all last places, by how likely they are, (m, 2)."""
    at = np.arange(places.first[-2], places.first[-1])
    weight = np.exp(walk.worth[at] - walk.worth[at].max())
    at = at[weight > _FEW]
    weight = weight[weight > _FEW]
    weight /= weight.sum()

    way = np.empty((len(places.first) - 1, 2))
    for point in range(len(way) - 1, -1, -1):
        way[point] = weight @ places.at[at, :2]
        at = walk.back[at]
    return way


def _places_near(
    plan: "_Map", hidden: int, smoothed: "_Smoothed", middle: Floats, inverse: Floats
) -> Places:
    """Find the places near each point, or itself, but what only the hidden subject shows."""
    way = smoothed.way
    heading = np.gradient(way, axis=0)
    heading /= np.maximum(np.hypot(*heading.T), 1e-9)[:, None]

    at = list[Floats]()
    worth = list[Floats]()
    for point, reach in enumerate(_REACH * smoothed.unsure + _BESIDE):
        near = plan.near(way[point], reach)
        near = near[plan.sole[near] != hidden]
        if not len(near):
            at.append(np.append(way[point], heading[point])[None])
            worth.append(np.zeros(1))
            continue

        off = _square_lengths(((plan.at[near, :2] - middle[point]) @ inverse[point]).T)
        likely = _POPULAR * plan.log_people[near] - 0.5 * off / _ALONE
        if len(near) > _MOST:
            away = _square_lengths((plan.at[near, :2] - way[point]).T) / smoothed.unsure[point] ** 2
            likeliest = np.argpartition(0.5 * away - likely, _MOST)[:_MOST]
            near = near[likeliest]
            likely = likely[likeliest]
        at.append(plan.at[near])
        worth.append(likely)
    first = np.cumsum([0] + [len(places) for places in at])
    return Places(np.concatenate(at), np.concatenate(worth), first)


class _Map:
    """Where people went, and in which heading: cells of 12 m, in 16 headings."""

    def __init__(self, ways: Ways) -> None:
        """Count the people in each cell and heading that ways, in metres, pass."""
        # No hop leads from the end of a way to the start of the next.
        is_hop = np.ones(len(ways.points) - 1, dtype=np.bool_)
        is_hop[ways.first[1:-1] - 1] = False
        way = np.repeat(np.arange(len(ways.owner)), np.diff(ways.first))[:-1][is_hop]
        begin = ways.points[:-1][is_hop]
        go = ways.points[1:][is_hop] - begin

        low = ways.points.min(axis=0)
        columns = int((np.ptp(ways.points[:, 1]) if len(ways.points) else 0.0) / _CELL) + 1
        parts = []
        for start in range(0, len(go), _HOPS_PER_BATCH):
            batch = slice(start, start + _HOPS_PER_BATCH)
            hops = begin[batch] - low, go[batch], way[batch]
            parts.append(_different(_cells(*hops, columns, len(ways.owner))))
        cell, way = np.divmod(_different(np.concatenate(parts)), len(ways.owner))

        first = np.flatnonzero(np.diff(cell, prepend=-1))
        people = np.diff(first, append=len(cell))
        self.log_people: Floats = np.log(people)
        owner = ways.owner[way]
        least = np.minimum.reduceat(owner, first)
        self.sole: Ints = np.where(least == np.maximum.reduceat(owner, first), least, _SEVERAL)

        self._low = low
        self._columns = columns
        self._place, heading = np.divmod(cell[first], _HEADINGS)
        angle = heading * (2.0 * np.pi / _HEADINGS)
        middle = (np.column_stack(np.divmod(self._place, columns)) + 0.5) * _CELL + low
        self.at: Floats = np.column_stack([middle, np.cos(angle), np.sin(angle)])

    def near(self, at: Floats, reach: float) -> Ints:
        """Find the cells whose middles are within so many metres; of very many, the nearer ones."""
        begin, end = self._rows_within(at, reach)
        count = int((end - begin).sum())
        if count > _LOOKED_AT:
            begin, end = self._rows_within(at, reach * np.sqrt(_LOOKED_AT / count))

        size = end - begin
        return np.asarray(np.arange(size.sum()) + np.repeat(end - np.cumsum(size), size))

    def _rows_within(self, at: Floats, reach: float) -> tuple[Ints, Ints]:
        """Find where the cells of each row within reach begin and end, as they are in order."""
        y, x = ((at - self._low) / _CELL - 0.5).tolist()
        radius = reach / _CELL
        row = np.arange(ceil(y - radius), floor(y + radius) + 1)
        half = np.sqrt((radius**2 - (row - y) ** 2).clip(0.0))
        columns = np.array([np.ceil(x - half), np.floor(x + half) + 1.0]).astype(np.int64)
        places = row * self._columns + columns.clip(0, self._columns)
        begin, end = np.searchsorted(self._place, places)
        return begin, end


def _cells(begin: Floats, go: Floats, way: Ints, columns: int, ways: int) -> Ints:
    """Number the cells and headings that hops pass, times all ways, plus the way of each."""
    moves = np.hypot(*go.T) > 0.0
    go = go[moves]
    begin = begin[moves]
    way = way[moves]

    # Steps are shorter than cells, so that a hop skips none but for a corner.
    steps = np.ceil(np.hypot(*go.T) / (0.75 * _CELL)).astype(np.int64)
    hop = np.repeat(np.arange(len(steps)), steps)
    within = (np.arange(len(hop)) - (np.cumsum(steps) - steps)[hop] + 0.5) / steps[hop]
    row, column = np.floor((begin[hop] + within[:, None] * go[hop]) / _CELL).astype(np.int64).T

    turn = np.arctan2(go[:, 1], go[:, 0]) * (_HEADINGS / (2.0 * np.pi))
    heading = np.round(turn).astype(np.int64)[hop] % _HEADINGS
    cell = (row * columns + column) * _HEADINGS + heading
    return np.asarray(cell * ways + way[hop])


def _different(numbers: Ints) -> Ints:
    """Sort numbers and drop repeated ones, several times faster than `numpy.unique`."""
    numbers = np.sort(numbers)
    return np.asarray(numbers[np.flatnonzero(np.diff(numbers, prepend=-1))])
