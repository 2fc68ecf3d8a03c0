"""Slow twin of who looks for companions: loops over all sets."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.privacy.attack import Published
from trajanon.tracks import Tracks


class Candidate(NamedTuple):
    number: int
    owner: int
    window: Floats


Found = tuple[bool, list[float]] | None


def between(one: Floats, other: Floats) -> float:
    """Root mean square of the distances of points."""
    return float(np.sqrt(((one - other) ** 2).sum(axis=1).mean()))


def off(one: Floats, other: Floats) -> float:
    return float(np.mean([np.hypot(*apart) for apart in one - other]))


def unequal(line: Floats, spacing: float | None) -> float:
    hops = [float(np.hypot(*hop)) for hop in np.diff(line, axis=0)]
    right = spacing or float(np.mean(hops))
    return float(np.mean([min(abs(hop - right) / right, 0.5) for hop in hops]))


def smoothed(line: Floats) -> Floats:
    """Each point as the mean of itself and up to two neighbours, as many on both sides."""
    last = len(line) - 1
    means = []
    for point in range(last + 1):
        both = min(2, point, last - point)
        means.append(np.mean([line[at] for at in range(point - both, point + both + 1)], axis=0))
    return np.array(means)


class Tried(NamedTuple):
    within: bool
    by_distance: Found
    by_spacing: Found
    told: list[float]
    line: float


def tried(
    city: Published, tracks: Tracks | None, members: Ints, near: int, spacing: float | None
) -> Tried:
    """What comes out of one group, whose first member is hidden."""
    scale = metres_of_degrees(city.lines[..., 0].mean())
    points, line = city.points * scale, city.lines[city.labels[members[0]]] * scale
    owners = city.owners
    if city.subjects is None and tracks is not None:
        owners = tracks.run
    candidates = [Candidate(i, owners[i], points[i]) for i in range(len(points))]
    true = set(members[1:].tolist())
    others = [one for one in candidates if one.owner != owners[members[0]]]
    others.sort(key=lambda one: between(one.window, line))
    k = len(members)

    def sets(among: list[Candidate]) -> list[tuple[Candidate, ...]]:
        some = combinations(among, k - 1)
        return [each for each in some if len({one.owner for one in each}) == k - 1]

    def left(some: tuple[Candidate, ...]) -> Floats:
        rest: Floats = k * line - np.sum([one.window for one in some], axis=0)
        return rest

    def rebuilt(rest: Floats) -> list[float]:
        ways = rest, smoothed(rest), (smoothed(rest) + line) / 2
        return [off(way, points[members[0]]) for way in ways]

    def outcome(some: tuple[Candidate, ...] | None) -> Found:
        if some is None:
            return None
        return {one.number for one in some} == true, rebuilt(left(some))

    rest = k * line - points[members[1:]].sum(axis=0)
    return Tried(
        within=true <= {one.number for one in others[:near]},
        by_distance=outcome(
            min(
                sets(others),
                key=lambda some: sum(between(one.window, line) for one in some),
                default=None,
            )
        ),
        by_spacing=outcome(
            min(sets(others[:near]), key=lambda some: unequal(left(some), spacing), default=None)
        ),
        told=rebuilt(rest),
        line=off(line, points[members[0]]),
    )
