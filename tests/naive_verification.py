"""Slow twins of who verifies groups, and of who follows what is left on a map."""

from itertools import pairwise, product
from math import hypot, pi
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.privacy.attack import Published
from trajanon.privacy.verification import Noise, Root

# Verification


def root_of(covariance: Floats) -> Floats:
    """The symmetric root by axes."""
    held, axes = np.linalg.eigh(covariance)
    return np.asarray(axes @ np.diag(np.sqrt(held.clip(0.0))) @ axes.T)


def around_points(spread: list[Floats]) -> list[Floats]:
    """How groups spread around each point, from how they do at each."""
    found = []
    for t in range(len(spread)):
        weight = [np.exp(-0.5 * ((t - other) / 3.0) ** 2) for other in range(len(spread))]
        near = np.average(spread, axis=0, weights=weight)
        found.append(0.8 * near + 0.1 * np.trace(near) * np.eye(2))
    return found


class Worth(NamedTuple):
    likely: float  # a logarithm
    fits: bool


def likelihood(line: Floats, members: list[Floats], alike: Floats, root: Root) -> Worth:
    """How likely what is left is; but for what is equal for all sets."""
    mean, m, k = np.mean(members, axis=0), len(line), len(members)
    spread = [
        sum(np.outer(one[t] - mean[t], one[t] - mean[t]) for one in members) / k + np.eye(2)
        for t in range(m)
    ]
    roots = root(np.array(spread)[None], np.array([float(k)]))[0]
    own = np.array([np.linalg.inv(roots[t]) @ (mean[t] - line[t]) for t in range(m)])
    together = np.linalg.inv(alike + 1e-3 * np.eye(m))
    left = sum(float(own[:, axis] @ together @ own[:, axis]) for axis in range(2))
    likely = -0.5 * left - sum(float(np.log(np.linalg.det(each))) for each in roots)
    return Worth(likely, left <= 2 * m + 4.0 * np.sqrt(4 * m))


def first_of_each(near: list[int], owners: Ints) -> list[int]:
    found: list[int] = []
    for one in near:
        if owners[one] not in [owners[other] for other in found]:
            found.append(one)
    return found


def nearest(points: Floats, line: Floats, most: int) -> list[int]:
    far = [((one - line) ** 2).sum() for one in points]
    return sorted(range(len(points)), key=lambda one: (far[one], one))[:most]


def members_of(
    line: Floats, near: list[int], points: Floats, owners: Ints, k: int, noise: Noise
) -> tuple[set[int], bool]:
    """Exchange one member as long as that is more likely; from four starts, until it fits."""
    first = first_of_each(near, owners)
    if len(first) < k:
        return set(first), False
    known: dict[frozenset[int], Worth] = {}

    def worth(some: frozenset[int]) -> Worth:
        if some not in known:
            known[some] = likelihood(line, [points[one] for one in sorted(some)], *noise)
        return known[some]

    best = frozenset(first[:k])
    for start in range(min(min(len(first), 2 * k) - k + 1, 4)):
        now = frozenset(first[start : start + k])
        while True:
            others = [
                now - {out} | {into}
                for out, into in product(now, near)
                if len({owners[one] for one in now - {out} | {into}}) == k
            ]
            better = max(others, key=lambda some: worth(some).likely)
            if worth(better).likely <= worth(now).likely + 1e-9:
                break
            now = better
        if start == 0 or worth(now).likely > worth(best).likely:
            best = now
        if worth(best).fits:
            break
    chance = 1.0 / sum(np.exp(each.likely - worth(best).likely) for each in known.values())
    return set(best), bool(chance > 0.95) and worth(best).fits


def tried(city: Published, members: Ints, noise: Noise) -> tuple[bool, bool]:
    """Sure; right and sure."""
    scale = metres_of_degrees(city.lines[..., 0].mean())
    points, line = city.points * scale, city.lines[city.labels[members[0]]] * scale
    near = nearest(points, line, max(30, 3 * city.k))
    best, sure = members_of(line, near, points, city.owners, city.k, noise)
    return sure, sure and best == set(members.tolist())


# The map


def cells(
    ways: list[tuple[Floats, int]], low: Floats, side: float
) -> dict[tuple[int, int, int], set[tuple[int, int]]]:
    """Which ways, and whose, pass each cell in each of 16 headings; ways in metres."""
    passed: dict[tuple[int, int, int], set[tuple[int, int]]] = {}
    for number, (way, owner) in enumerate(ways):
        for begin, end in pairwise(way):
            far = hypot(*(end - begin))
            steps = int(np.ceil(far / (0.75 * side)))
            heading = round(np.arctan2(*(end - begin)[::-1]) / (2 * pi) * 16) % 16
            for step in range(steps):
                row, column = np.floor((begin + (step + 0.5) / steps * (end - begin) - low) / side)
                passed.setdefault((int(row), int(column), heading), set()).add((number, owner))
    return passed


# The likeliest way


def likeliest_ways(
    at: list[Floats], own: list[Floats], seen: Floats, white: Floats, factors: Floats, hop: Floats
) -> list[list[tuple[float, list[int]]]]:
    """How likely the likeliest way to each place of each point is, and that way."""
    found: list[list[tuple[float, list[int]]]] = []
    for t, places in enumerate(at):
        row = []
        for j, place in enumerate(places):
            ends = []
            for worth, way in found[-1] if t else [(0.0, [])]:
                expected = sum(
                    factors[t, lag - 1]
                    * (white[t - lag] @ (seen[t - lag] - at[t - lag][way[-lag]][:2]))
                    for lag in range(1, min(3, len(way)) + 1)
                )
                off = white[t] @ (seen[t] - place[:2]) - expected
                cost = 0.5 * (off**2).sum() / factors[t, 3]
                if way:
                    came = at[t - 1][way[-1]]
                    go = place[:2] - came[:2]
                    far = hypot(*go)
                    best = max(end[0] for end in found[-1])
                    lost = worth == best
                    cosines = (
                        [] if far == 0.0 else [float(go @ one[2:]) / far for one in (came, place)]
                    )
                    goes = 0.4 * hop[0] <= far <= 1.3 * hop[0] and min(cosines, default=-1.0) >= 0.3
                    if goes and worth >= best - 20.0:
                        turned = (far / hop[0] - 1.0) ** 2 / hop[1] + (2.0 - sum(cosines)) / hop[2]
                        ends.append((worth - cost - 0.5 * turned, [*way, j]))
                    if lost:
                        ends.append((worth - cost - 30.0, [*way, j]))
                else:
                    ends.append((-cost, [j]))
            likely, way = max(ends, key=lambda end: end[0])
            row.append((likely + own[t][j], way))
        found.append(row)
    return found


# What is rebuilt


def expected_noise(alike: Floats, white: Floats) -> Floats:
    """By which factors noise follows from that at the three points before, and its variance."""
    table = np.zeros((len(alike), 4))
    fix = [8.0 * float((each**2).sum()) for each in white]
    for t in range(len(alike)):
        before = list(range(max(t - 3, 0), t))
        known = alike[np.ix_(before, before)] + np.diag([fix[u] for u in before])
        by = np.linalg.inv(known) @ alike[before, t]
        for lag, factor in enumerate(reversed(by.tolist())):
            table[t, lag] = factor
        table[t, 3] = alike[t, t] - by @ alike[before, t] + fix[t]
    return table


def rebuilt(
    line: Floats,
    companions: Floats,
    noise: Noise,
    passed: dict[tuple[int, int, int], set[tuple[int, int]]],
    low: Floats,
    hidden: int,
    hops: list[float] | None,
) -> list[Floats]:
    """Each way to rebuild the hidden member of a group, in metres."""
    k, m, alike = len(companions) + 1, len(line), noise.alike
    left, middle = k * line - companions.sum(axis=0), companions.mean(axis=0)
    member = [0.5 * np.outer(left[t] - middle[t], left[t] - middle[t]) for t in range(m)]
    for _ in range(3):
        scatter = [
            sum(np.outer(one[t] - middle[t], one[t] - middle[t]) for one in companions)
            for t in range(m)
        ]
        spread = [(scatter[t] + member[t] * (k - 1) / k) / k for t in range(m)]
        root = noise.root(np.array(spread), np.array(float(k)))
        other = [root_of(each * (k / (k - 1)) ** 2 + np.eye(2)) for each in around_points(spread)]
        own, added = np.empty((2 * m, 2 * m)), np.empty((2 * m, 2 * m))
        for i in range(m):
            for j in range(m):
                here = np.ix_([2 * i, 2 * i + 1], [2 * j, 2 * j + 1])
                own[here] = other[i] @ other[j].T * np.exp(-abs(i - j) / 8.0)
                added[here] = k**2 * root[i] @ root[j].T * alike[i, j]
        gain = own @ np.linalg.inv(own + added + np.eye(2 * m))
        smooth = middle + (gain @ (left - middle).ravel()).reshape(m, 2)
        rest = [(own - gain @ own)[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] for t in range(m)]
        away = smooth - middle
        member = [np.outer(away[t], away[t]) + rest[t] for t in range(m)]
    unsure = [np.sqrt(max(np.trace(each) / 2.0, 1.0)) for each in rest]
    white = np.array([np.linalg.inv(k * each + np.eye(2)) for each in root])
    at, worth = [], []
    for t in range(m):
        places, likely = [], []
        for (row, column, heading), who in sorted(passed.items()):
            place = low + 12.0 * (np.array([row, column]) + 0.5)
            alone = {owner for _, owner in who} == {hidden}
            if alone or hypot(*(place - smooth[t])) > 0.1 * unsure[t] + 25.0:
                continue
            angle = heading * pi / 8.0
            places.append([*place, np.cos(angle), np.sin(angle)])
            off = float(((np.linalg.inv(other[t]) @ (place - middle[t])) ** 2).sum())
            likely.append(0.3 * np.log(len(who)) - 0.5 * off / 6.0)
        if not places:
            go = np.gradient(smooth, axis=0)[t]
            places, likely = [[*smooth[t], *(go / max(hypot(*go), 1e-9))]], [0.0]
        at.append(np.array(places))
        worth.append(np.array(likely))
    mean_hop = float(np.hypot(*np.diff(smooth, axis=0).T).mean())
    best: tuple[float, Floats] = (-np.inf, smooth)
    for hop in hops or [share * mean_hop for share in (0.9, 1.0, 1.12, 1.25)]:
        told = np.array([hop, 0.02, 0.03])
        factors = expected_noise(alike, white)
        ends = likeliest_ways(at, worth, left, white, factors, told)[-1]
        most = max(end[0] for end in ends)
        ways = [
            (np.exp(likely - most), np.array([at[t][way[t]][:2] for t in range(m)]))
            for likely, way in ends
            if np.exp(likely - most) > 1e-4
        ]
        mean = sum(chance * way for chance, way in ways) / sum(chance for chance, _ in ways)
        if most > best[0]:
            best = most, np.asarray(mean)
    return [left, smooth, best[1], 0.5 * (smooth + best[1])]
