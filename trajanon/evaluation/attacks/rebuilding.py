"""Rebuilding: companions taken from a line, and the rest followed on the map of other people."""

from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon._kernels.ways import Places, Walk, likeliest_ways
from trajanon.common.arrays import Floats, Ints
from trajanon.common.progress import Progress, silent
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.attacks.known_tracks import Guessed, KnownTracks, Movement, groups_drawn
from trajanon.grouping.partition import member_weights

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
_HOP, _HEADING = 0.02, 0.03  # variances of a hop's length, as a share, and of headings
_LONGER = 1.05  # a hop, than one of the smooth way
_ROUNDS = 3  # to infer how the group spreads from the rebuilt hidden member
_SPREAD = 3.0  # points, the standard deviation of the weights of the spread around a point
_ANY_WAY = 0.2  # share of a member's variance that does not follow the others
_HALF = 0.5  # of what companions leave is the hidden member's at first; the rest is displacement
_FEW = 1e-4  # ways that are less likely than the best by this count nothing
_HOPS_AT_ONCE = 100_000  # of the map, some tens of megabytes


WAYS = ("left", "smooth", "on_map", "between")
"""What companions leave of the line; the likeliest without a map, and on it; half way between."""


class Ways(NamedTuple):
    """Where people went: lines through points, one after another."""

    points: Floats  # latitude and longitude, (t, 2)
    first: Ints  # of each way, and all, (r + 1,)
    owner: Ints  # who made each way, (r,)

    @classmethod
    def of(cls, points: Floats, owner: Ints) -> "Ways":
        """Take trajectories, (n, m, 2)."""
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
    found = np.array(errors).T
    others = (
        "the other members of a line, and follows the rest on the map of other people's tracks,"
    )
    *places, line = found[: len(WAYS) + 1]
    rebuilt = Guessed.of(others, dict(zip(WAYS, places, strict=True)), line)
    if movement.times is None:
        return rebuilt, None
    left, smooth, line = found[len(WAYS) + 1 :]
    knows = "when the other members of a line were where"
    return rebuilt, Guessed.of(knows, {"left": left, "smooth": smooth}, line, timed=True)


def _errors(
    tracks: KnownTracks, movement: Movement, plan: "_Map", members: Ints, spacing: float | None
) -> list[float]:
    """Rebuild the first of the members in each way; how far these, and the line, are off."""
    line = int(tracks.labels[members[0]])
    share = float(movement.shares[line])
    people = None if movement.people is None else movement.people[members]
    weights = member_weights(np.zeros(len(members), dtype=np.int64), people)
    factor, others = 1.0 / float(weights[0]), weights[1:] / weights[0]

    hidden, *_ = points = tracks.points[members]
    left = factor * tracks.lines[line] - np.einsum("n,nmc->mc", others, points[1:])
    noise, owner = movement.places.times(factor, share), int(tracks.owners[members[0]])
    guesses = _guesses(left, points[1:], noise, plan, owner, spacing)
    off = [float(np.hypot(*(way - hidden).T).mean()) for way in (*guesses, tracks.lines[line])]
    if movement.times is None or tracks.times is None or tracks.line_times is None:
        return off
    times, of_line = tracks.times[members], tracks.line_times[line]
    rest = factor * of_line - np.einsum("n,nm->m", others, times[1:])
    smooth = _smooth_times(rest, times[1:], movement.times.times(factor, share))
    return off + [float(np.abs(when - times[0]).mean()) for when in (rest, smooth, of_line)]


def _smooth_times(left: Floats, companions: Floats, noise: Floats) -> Floats:
    """Take the likeliest times of the hidden member, whose departure is as the others' are."""
    middle = companions.mean(axis=0)
    away = left - middle
    spread = max(float((away**2).mean() - np.trace(noise) / len(noise)), 0.0)
    spread = max(spread, float(companions.var(axis=0).mean()), _ROUND**2)
    own = spread * _likeness(len(left))
    return np.asarray(middle + own @ np.linalg.solve(own + noise, away))


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
    found = _smoothed(left, companions, noise)
    inverse = np.asarray(np.linalg.inv(found.other), dtype=np.float64)
    places = _places_near(plan, hidden, found, middle, inverse)
    if spacing is None:
        spacing = _LONGER * float(np.hypot(*np.diff(found.way, axis=0).T).mean())
    deviation = np.sqrt(np.trace(noise) / len(noise))
    white = np.broadcast_to(np.eye(2) / (deviation + _ROUND), (len(left), 2, 2))
    factors = _factors(noise / deviation**2, white)
    on_map = _followed(places, _walk(places, left, white, factors, spacing))
    return left, found.way, on_map, 0.5 * (found.way + on_map)


class _Smoothed(NamedTuple):
    way: Floats  # the likeliest of the hidden member, (m, 2)
    unsure: Floats  # standard deviation of it, (m,)
    other: Floats  # root of the covariance of a member about the middle of the others, (m, 2, 2)


def _smoothed(left: Floats, companions: Floats, noise: Floats) -> _Smoothed:
    """Infer by turns how far members spread and where the hidden one was."""
    k, m, middle = len(companions) + 1, len(left), companions.mean(axis=0)
    scatter = _squared(companions - middle).sum(axis=0)
    hidden = _HALF * _squared(left - middle)
    for _ in range(_ROUNDS):
        spread = _around((scatter + hidden * ((k - 1) / k)) / k)
        # A member is so far from the mean of the others.
        other = _roots(spread * (k / (k - 1)) ** 2 + _ROUND**2 * np.eye(2))
        own = _along(other, _likeness(m))
        taken = np.linalg.solve(own + np.kron(noise, np.eye(2)), own).T
        way = middle + (taken @ (left - middle).ravel()).reshape(m, 2)
        rest = (own - taken @ own).reshape(m, 2, m, 2)[np.arange(m), :, np.arange(m)]
        hidden = _squared(way - middle) + rest
    unsure = np.sqrt((0.5 * np.trace(rest, axis1=1, axis2=2)).clip(_ROUND**2))
    return _Smoothed(way, unsure, other)


def _likeness(points: int) -> Floats:
    """How long members stay on their side of the mean, as a correlation, (m, m)."""
    place = np.arange(points)
    return np.asarray(np.exp(-np.abs(place[:, None] - place) / _SWAY))


def _around(spread: Floats) -> Floats:
    """Smooth how members spread at each point along the way, (m, 2, 2); a fifth goes any way."""
    place = np.arange(len(spread))
    near = np.exp(-0.5 * ((place[:, None] - place) / _SPREAD) ** 2)
    around = np.einsum("iab,ij->jab", spread, near / near.sum(axis=0))
    alike = 0.5 * np.trace(around, axis1=1, axis2=2)[:, None, None] * np.eye(2)
    return np.asarray((1.0 - _ANY_WAY) * around + _ANY_WAY * alike)


def _squared(away: Floats) -> Floats:
    return np.asarray(away[..., :, None] * away[..., None, :])


def _roots(covariance: Floats) -> Floats:
    """Take the symmetric roots of covariances, (m, 2, 2)."""
    held, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(held)[:, None] @ np.swapaxes(axes, 1, 2))


def _along(root: Floats, alike: Floats) -> Floats:
    """Give the covariance from its roots and correlations, (2 m, 2 m)."""
    both = np.einsum("iab,jcb,ij->iajc", root, root, alike)
    return np.asarray(both.reshape(2 * len(root), -1))


def _factors(alike: Floats, white: Floats) -> Floats:
    """By what noise follows from the three points before, and its variance, in units of 1."""
    fix = 0.5 * _FIX**2 * (white**2).sum(axis=(1, 2))
    factors = np.zeros((len(alike), 4))
    for point in range(len(alike)):
        before = slice(max(point - 3, 0), point)
        by = np.linalg.solve(alike[before, before] + np.diag(fix[before]), alike[before, point])
        factors[point, : len(by)] = by[::-1]
        factors[point, 3] = alike[point, point] - by @ alike[before, point] + fix[point]
    return factors


def _walk(places: Places, left: Floats, white: Floats, factors: Floats, hop: float) -> Walk:
    count = len(places.at)
    walk = Walk(np.zeros((count, 4)), np.zeros(count), np.zeros(count, dtype=np.int64))
    seen, white = np.ascontiguousarray(left), np.ascontiguousarray(white)
    likeliest_ways(places, seen, white, factors, np.array([hop, _HOP, _HEADING]), walk)
    return walk


def _followed(places: Places, walk: Walk) -> Floats:
    """Take the mean of the likeliest ways to all last places, by how likely they are, (m, 2)."""
    at = np.arange(places.first[-2], places.first[-1])
    weight = np.exp(walk.worth[at] - walk.worth[at].max())
    at, weight = at[weight > _FEW], weight[weight > _FEW]
    weight /= weight.sum()
    way = np.empty((len(places.first) - 1, 2))
    for point in range(len(way) - 1, -1, -1):
        way[point] = weight @ places.at[at, :2]
        at = walk.back[at]
    return way


def _places_near(
    plan: "_Map", hidden: int, found: "_Smoothed", middle: Floats, inverse: Floats
) -> Places:
    """Give the places near each point, or itself, but what only the hidden subject shows."""
    smooth, unsure = found.way, found.unsure
    at, worth = list[Floats](), list[Floats]()
    heading = np.gradient(smooth, axis=0)
    heading /= np.maximum(np.hypot(*heading.T), 1e-9)[:, None]
    reach = _REACH * unsure + _BESIDE
    many = plan.tree.query_ball_point(smooth, reach, return_length=True)
    reach *= np.sqrt(_LOOKED_AT / np.maximum(many, _LOOKED_AT))
    beside = plan.tree.query_ball_point(smooth, reach, return_sorted=True)
    for point, some in enumerate(beside):
        near = np.array(some, dtype=np.int64)
        near = near[plan.sole[near] != hidden]
        away = ((plan.at[near, :2] - smooth[point]) ** 2).sum(axis=1) / unsure[point] ** 2
        off = (((plan.at[near, :2] - middle[point]) @ inverse[point]) ** 2).sum(axis=1)
        own = _POPULAR * np.log(plan.people[near]) - 0.5 * off / _ALONE
        if len(near) > _MOST:
            kept = np.argpartition(0.5 * away - own, _MOST)[:_MOST]
            near, own = near[kept], own[kept]
        at.append(plan.at[near] if len(near) else np.append(smooth[point], heading[point])[None])
        worth.append(own if len(near) else np.zeros(1))
    first = np.cumsum([0] + [len(some) for some in at])
    return Places(np.concatenate(at), np.concatenate(worth), first)


class _Map:
    """Where people went, and in which heading: cells of 12 m, in 16 headings."""

    def __init__(self, ways: Ways) -> None:
        """Take ways in metres."""
        hop = np.ones(len(ways.points) - 1, dtype=np.bool_)
        hop[ways.first[1:-1] - 1] = False
        way = np.repeat(np.arange(len(ways.owner)), np.diff(ways.first))[:-1]
        begin = ways.points[:-1][hop]
        go, way, low = ways.points[1:][hop] - begin, way[hop], ways.points.min(axis=0)
        wide = int((np.ptp(ways.points[:, 1]) if len(ways.points) else 0.0) / _CELL) + 1
        parts = [
            _different(_cells(begin[some] - low, go[some], way[some], wide, len(ways.owner)))
            for start in range(0, len(go), _HOPS_AT_ONCE)
            for some in [slice(start, start + _HOPS_AT_ONCE)]
        ]
        cell, way = np.divmod(_different(np.concatenate(parts)), len(ways.owner))
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        cell, people = cell[first], np.diff(first, append=len(cell))
        owner = ways.owner[way]
        least, most = (each.reduceat(owner, first) for each in (np.minimum, np.maximum))
        self.sole: Ints = np.where(least == most, least, _SEVERAL)
        self.people = people
        place, heading = np.divmod(cell, _HEADINGS)
        angle = heading * (2.0 * np.pi / _HEADINGS)
        middle = (np.column_stack(np.divmod(place, wide)) + 0.5) * _CELL + low
        self.at: Floats = np.column_stack([middle, np.cos(angle), np.sin(angle)])
        self.tree = cKDTree(middle)


def _cells(begin: Floats, go: Floats, way: Ints, wide: int, ways: int) -> Ints:
    """Number the cells and headings that hops pass, times all ways, plus the way of each."""
    far = np.hypot(*go.T)
    go, begin, way, far = go[far > 0.0], begin[far > 0.0], way[far > 0.0], far[far > 0.0]
    steps = np.ceil(far / (0.75 * _CELL)).astype(np.int64)
    hop = np.repeat(np.arange(len(steps)), steps)
    within = (np.arange(len(hop)) - (np.cumsum(steps) - steps)[hop] + 0.5) / steps[hop]
    row, column = np.floor((begin[hop] + within[:, None] * go[hop]) / _CELL).astype(np.int64).T
    turn = np.arctan2(go[:, 1], go[:, 0]) * (_HEADINGS / (2.0 * np.pi))
    heading = np.round(turn).astype(np.int64)[hop] % _HEADINGS
    cell = (row * wide + column) * _HEADINGS + heading
    return np.asarray(cell * ways + way[hop])


def _different(numbers: Ints) -> Ints:
    """Sort numbers and drop repeated ones, several times faster than `numpy.unique`."""
    numbers = np.sort(numbers)
    return np.asarray(numbers[np.flatnonzero(np.diff(numbers, prepend=-1))])
