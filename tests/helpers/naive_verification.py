"""Slow twins of who verifies groups, and of who follows what is left on a map."""

from itertools import combinations, pairwise
from math import hypot, pi
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.trajectories.geodesy import metres_of_degrees

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


def covariance(noise: Floats, share: float, rounded: float) -> Floats:
    """Of what is added to a mean at each point, by that of a share of 1."""
    return np.asarray(share**2 * noise + rounded**2 * np.eye(len(noise)))


class Line(NamedTuple):
    """A released line, and what may be its members, in metres and seconds."""

    at: Floats
    when: Floats | None
    points: Floats
    times: Floats | None
    owners: Ints
    size: int
    apart: bool  # whether its members are of different people
    places: Floats  # covariance on an axis
    seconds: Floats | None
    square: float  # of a member's distance
    pace: float  # metres that count as much as a second


def away(line: Line, one: int) -> float:
    """The squared distance from a line."""
    far = ((line.points[one] - line.at) ** 2).sum()
    if line.when is not None and line.times is not None:
        far += (line.pace**2 * (line.times[one] - line.when) ** 2).sum()
    return float(far)


def likelihood(line: Line, members: frozenset[int]) -> tuple[float, float]:
    """How likely it is that a set was averaged, as a logarithm, and the squares of the noise."""
    some = sorted(members)
    people = [line.owners[one] for one in some]
    weight = [1.0 / (len(set(people)) * people.count(owner)) for owner in people]
    mean = sum(share * line.points[one] for share, one in zip(weight, some, strict=True))
    off = [(mean - line.at)[:, axis] for axis in range(2)]
    left = sum(float(each @ np.linalg.inv(line.places) @ each) for each in off)
    if line.when is not None and line.times is not None and line.seconds is not None:
        late = np.average(line.times[some], axis=0, weights=weight) - line.when
        left += float(late @ np.linalg.inv(line.seconds) @ late)
    return -0.5 * left - 0.1 / line.square * sum(away(line, one) for one in some), left


def exchanged(line: Line, near: list[int], now: frozenset[int]) -> list[frozenset[int]]:
    """All sets with one or two other members."""
    found = []
    for some in combinations(near, line.size):
        people = {line.owners[one] for one in some}
        if len(now - set(some)) in (1, 2) and (len(people) == line.size or not line.apart):
            found.append(frozenset(some))
    return found


def members_of(line: Line, near: list[int]) -> tuple[frozenset[int], bool]:
    """Exchange one member, or else two, as long as that is likelier; whether one is sure."""
    first = list(near)
    if line.apart:
        people = [line.owners[one] for one in near]
        first = [one for place, one in enumerate(near) if people.index(people[place]) == place]
    if len(first) < line.size:
        return frozenset(first), False

    def owners(some: frozenset[int]) -> list[int]:
        return sorted(int(line.owners[one]) for one in some)

    ends = []
    for start in range(min(len(first) - line.size + 1, 4)):
        now = frozenset(first[start : start + line.size])
        while True:
            sets = exchanged(line, near, now)
            for many in (1, 2):
                tried = [some for some in sets if len(some - now) == many]
                better = max([*tried, now], key=lambda some: likelihood(line, some)[0])
                if likelihood(line, better)[0] > likelihood(line, now)[0] + 1e-9:
                    break
            else:
                break
            now = better
        ends.append(now)
    best = max(ends, key=lambda some: likelihood(line, some)[0])
    most, left = likelihood(line, best)
    others = {some for some in exchanged(line, near, best) if owners(some) != owners(best)}
    far = {frozenset(owners(some)): some for some in ends}
    others |= {some for people, some in far.items() if len(people - set(owners(best))) > 2}
    chance = sum(np.exp(likelihood(line, some)[0] - most) for some in others)
    numbers = len(line.at) * (2 if line.when is None else 3)
    fits = left <= numbers + 4.0 * np.sqrt(2.0 * numbers)
    return best, bool(fits and chance < 0.05 / 0.95)


# Other trips of a person


def other_trip(city: Published, target: int) -> list[float]:
    """How far the person's nearest to the line is off, the same if it is a habit, and the line."""
    scale = metres_of_degrees(city.lines[..., 0].mean())

    def far(one: Floats, other: Floats) -> float:
        return float(np.mean([hypot(*gap) for gap in (one - other) * scale]))

    line, truth = city.lines[city.labels[target]], city.points[target]
    rows = range(len(city.points))
    own = [row for row in rows if city.owners[row] == city.owners[target] and row != target]
    nearest = min(own, key=lambda row: float((((city.points[row] - line) * scale) ** 2).sum()))
    guess = city.points[nearest]
    twins = [far(city.points[row], guess) for row in own if row != nearest]
    squares = [
        (((city.points[row] - city.lines[city.labels[row]]) * scale) ** 2).sum() for row in rows
    ]
    near = (((guess - line) * scale) ** 2).sum() <= 4.0 * np.mean(squares)
    habit = guess if near and min(twins, default=np.inf) < 0.5 * far(line, guess) else line
    return [far(each, truth) for each in (guess, habit, line)]


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
    noise: Floats,
    passed: dict[tuple[int, int, int], set[tuple[int, int]]],
    low: Floats,
    hidden: int,
    hop: float | None,
) -> list[Floats]:
    """Each way to rebuild the hidden member, in metres; the noise is that of k times the line."""
    k, m = len(companions) + 1, len(line)
    left, middle = k * line - companions.sum(axis=0), companions.mean(axis=0)
    member = [0.5 * np.outer(left[t] - middle[t], left[t] - middle[t]) for t in range(m)]
    for _ in range(3):
        scatter = [
            sum(np.outer(one[t] - middle[t], one[t] - middle[t]) for one in companions)
            for t in range(m)
        ]
        spread = [(scatter[t] + member[t] * (k - 1) / k) / k for t in range(m)]
        other = [root_of(each * (k / (k - 1)) ** 2 + np.eye(2)) for each in around_points(spread)]
        own, added = np.empty((2 * m, 2 * m)), np.empty((2 * m, 2 * m))
        for i in range(m):
            for j in range(m):
                here = np.ix_([2 * i, 2 * i + 1], [2 * j, 2 * j + 1])
                own[here] = other[i] @ other[j].T * np.exp(-abs(i - j) / 8.0)
                added[here] = noise[i, j] * np.eye(2)
        gain = own @ np.linalg.inv(own + added)
        smooth = middle + (gain @ (left - middle).ravel()).reshape(m, 2)
        rest = [(own - gain @ own)[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] for t in range(m)]
        away = smooth - middle
        member = [np.outer(away[t], away[t]) + rest[t] for t in range(m)]
    unsure = [np.sqrt(max(np.trace(each) / 2.0, 1.0)) for each in rest]
    deviation = float(np.sqrt(np.mean(np.diag(noise))))
    white = np.array([np.eye(2) / (deviation + 1.0)] * m)
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
    if hop is None:
        hop = 1.05 * float(np.hypot(*np.diff(smooth, axis=0).T).mean())
    factors = expected_noise(noise / deviation**2, white)
    ends = likeliest_ways(at, worth, left, white, factors, np.array([hop, 0.02, 0.03]))[-1]
    most = max(end[0] for end in ends)
    ways = [
        (np.exp(likely - most), np.array([at[t][way[t]][:2] for t in range(m)]))
        for likely, way in ends
        if np.exp(likely - most) > 1e-4
    ]
    on_map = np.asarray(
        sum(chance * way for chance, way in ways) / sum(chance for chance, _ in ways)
    )
    return [left, smooth, on_map, 0.5 * (smooth + on_map)]


def rebuilt_times(when: Floats, companions: Floats, noise: Floats) -> list[Floats]:
    """The times of the hidden member: what is left of the line's, and the likeliest."""
    middle = sum(companions) / len(companions)
    left, m = (len(companions) + 1) * when - sum(companions), len(when)
    spread = np.mean([np.mean((one - middle) ** 2) for one in companions])
    spread = max(spread, np.mean((left - middle) ** 2) - np.mean(np.diag(noise)), 1.0)
    own = np.array([[spread * np.exp(-abs(i - j) / 8.0) for j in range(m)] for i in range(m)])
    return [left, middle + own @ np.linalg.inv(own + noise) @ (left - middle)]
