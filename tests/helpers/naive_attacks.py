"""Slow twins of the attacks: shorter, and obviously right. And small cities."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
from hypothesis import strategies as st

from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.trajectories.geodesy import metres_of_degrees


@st.composite
def cities(draw: st.DrawFn, most: int = 7, points: int = 4) -> Published:
    """Few crossings, some 50 m apart, so that much coincides; lines are anywhere."""
    n = draw(st.integers(1, most))
    p = draw(st.integers(2, points))
    g = draw(st.integers(1, n))
    crossing = st.integers(0, 4)
    random = draw(st.randoms(use_true_random=False))
    labels = [*range(g), *(random.randrange(g) for _ in range(n - g))]
    random.shuffle(labels)

    def somewhere(count: int) -> Floats:
        flat = st.lists(crossing, min_size=count * p * 2, max_size=count * p * 2)
        steps = np.array(draw(flat), dtype=float).reshape(count, p, 2)
        away: Floats = np.array([40.0, -3.0]) + steps * 0.0005
        return away

    subjects = [random.randrange(-1, 3) for _ in range(n)]
    pairs = list(zip(labels, subjects, strict=True))
    one_each = np.array([pair not in pairs[:row] for row, pair in enumerate(pairs)])
    return Published(
        somewhere(n),
        somewhere(g),
        np.array(labels),
        2,
        np.array(subjects),
        own_row=one_each if draw(st.booleans()) else None,
    )


@st.composite
def timed_cities(draw: st.DrawFn) -> Published:
    """The same with times, in half hours, of which some are an hour apart to the second."""
    city, hours = draw(cities()), np.random.default_rng(draw(st.integers(0, 99)))
    shapes = (city.points.shape[:2], city.lines.shape[:2])
    times, line_times = (hours.integers(-20, 60, shape) * np.float64(1_800) for shape in shapes)
    cycle = draw(st.sampled_from([np.inf, 86_400.0, 14_400.0, 5_400.0]))
    return replace(city, times=times, line_times=line_times, cycle=cycle)


def with_times(points: Floats, times: Floats | None) -> Floats:
    when = np.zeros(points.shape[:2]) if times is None else times
    return np.concatenate([points, when[..., None]], axis=-1)


def rows_on(city: Published, lines: list[int]) -> list[int]:
    """The released rows of lines, each as a trajectory that has a row of its own."""
    return [
        row
        for row, label in enumerate(city.labels)
        if label in lines and (city.own_row is None or city.own_row[row])
    ]


def picked(city: Published, target: int, compatible: list[int]) -> tuple[float, float]:
    """The chance that a row of these lines is of the subject, and of the own line."""
    rows = rows_on(city, compatible)
    if not rows:
        return 0.0, 0.0
    subject, label = city.owners[target], city.labels[target]
    return (
        float(np.mean([city.owners[row] == subject for row in rows])),
        float(np.mean([city.labels[row] == label for row in rows])),
    )


def apart(city: Published, point: Floats, other: Floats, *, by_hour: bool) -> float:
    """The squared distance of two points, each latitude, longitude and seconds.

    A minute counts as 4 m: today, or so many days before or after.
    """
    scale = metres_of_degrees(city.lines[..., 0].mean())
    square = float((((point[:2] - other[:2]) * scale) ** 2).sum())
    if by_hour:
        turns = city.cycle * np.arange(-60, 61) if np.isfinite(city.cycle) else np.zeros(1)
        square += float((np.abs(point[2] - other[2] + turns).min() / 15.0) ** 2)
    return square


def shows_hours(city: Published) -> bool:
    return city.times is not None and city.line_times is not None


def nearest_of(away: dict[int, float]) -> list[int]:
    """The lines that are nearest, to a rounding."""
    least = min(away.values(), default=0.0)
    return [line for line, far in away.items() if far <= least + 1e-6 + 1e-9 * least]


def known_points(city: Published, *, by_hour: bool) -> Floats:
    """Mean chance, mean chance of the own line, and highest chance, (n, 3)."""
    told = []
    lines = with_times(city.lines, city.line_times)
    for target, points in enumerate(with_times(city.points, city.times)):
        chances = []
        for first, second in combinations(points, 2):
            away = {
                n: min(
                    apart(city, first, line[i], by_hour=by_hour)
                    + apart(city, second, line[j], by_hour=by_hour)
                    for i, j in combinations_with_replacement(range(len(line)), 2)
                )
                for n, line in enumerate(lines)
            }
            chances.append(picked(city, target, nearest_of(away)))
        mean = np.mean(chances, axis=0)
        told.append([mean[0], mean[1], max(chance for chance, _ in chances)])
    return np.array(told)


def lines_by_distance(city: Published, chosen: list[int]) -> list[list[int]]:
    """The lines nearest to each original by chosen points, and their hours, on no clock's turn."""
    straight = replace(city, cycle=np.inf)
    lines = with_times(city.lines, city.line_times)
    by_hour = shows_hours(city)
    return [
        nearest_of(
            {
                n: sum(apart(straight, one[at], line[at], by_hour=by_hour) for at in chosen)
                for n, line in enumerate(lines)
            }
        )
        for one in with_times(city.points, city.times)
    ]


def nearest_ends(city: Published) -> Floats:
    """Chances, and those of the own line, by the distances of both ends."""
    return best_way(city, [lines_by_distance(way, [0, -1]) for way in ways_to_look(city)])


def ways_to_look(city: Published) -> list[Published]:
    """With hours, if they are shown, and without."""
    return [city, replace(city, line_times=None)] if shows_hours(city) else [city]


def best_way(city: Published, ways: list[list[list[int]]]) -> Floats:
    """The chances of that way to look which finds most."""
    told = [
        np.array([picked(city, target, lines) for target, lines in enumerate(nearest)])
        for nearest in ways
    ]
    return max(told, key=lambda chances: chances[:, 0].mean())


def nearest_lines(city: Published) -> list[list[int]]:
    """The lines nearest to each original: by metres and hours, or else in standardised columns."""
    if shows_hours(city):
        return lines_by_distance(city, list(range(city.points.shape[1])))
    table = city.points.reshape(len(city.points), -1)
    other = city.lines.reshape(len(city.lines), -1)
    varies = (table != table[0]).any(axis=0)
    scale = np.where(varies, table.std(axis=0, ddof=1) if len(table) > 1 else 1.0, 1.0)
    found = []
    for record in table:
        away = (((other - record) / scale * varies) ** 2).sum(axis=1) ** 0.5
        found.append(np.flatnonzero(away <= away.min() + 1e-9).tolist())
    return found


def nearest_record(city: Published) -> Floats:
    """Chance of a row of the subject, and of the own line, (n, 2)."""
    return best_way(city, [nearest_lines(way) for way in ways_to_look(city)])


def steps(cells: Ints, order: Ints, labels: Ints) -> list[tuple[int, int]]:
    """From each to the next of its cell, of those in an order, if it is on another line."""
    found = []
    for cell in dict.fromkeys(cells.tolist()):
        inside = [int(one) for one in order if cells[one] == cell]
        found += [(a, b) for a, b in pairwise(inside) if labels[a] != labels[b]]
    return found


def left_on(
    cells: Ints, labels: Ints, subjects: Ints, k: int, nameless: int | None = None
) -> list[int]:
    """Cells on several lines, those with fewer than k subjects on all of these, and with one.

    The nameless subject is nobody's companion.
    """
    counts = []
    for cell in set(cells.tolist()):
        lines = set(labels[cells == cell].tolist())
        own = set(subjects[cells == cell].tolist())
        if len(lines) > 1:
            people = (set(subjects[labels == line].tolist()) for line in lines)
            counts.append(len(set.intersection(*people) - ({nameless} - own)))
    return [len(counts), sum(n < k for n in counts), counts.count(1)]


def next_lines(city: Published, pairs: list[tuple[int, int]], on_a_day: bool, of: str) -> Floats:
    """For each step the chances of the first and the first three, and of a row of the subject.

    The line goes on, returns to where the way began, or is the way back: the first of the best.
    """
    ways = [lines_after(city, pairs, on_a_day, of, compared) for compared in range(3)]
    return max(ways, key=lambda chances: chances[:, 0].mean()) if pairs else ways[0]


def lines_after(
    city: Published, pairs: list[tuple[int, int]], on_a_day: bool, of: str, compared: int
) -> Floats:
    scale = metres_of_degrees(city.lines[..., 0].mean())
    lines, went = with_times(city.lines, city.line_times), with_times(city.points, city.times)
    timed = city.line_times is not None and (on_a_day or not np.isfinite(city.cycle))
    linked, found = nearest_lines(city), []
    for a, b in pairs:
        own = linked[a][0] if of == "known" else city.labels[a]
        way = went[a] if of == "known" else lines[city.labels[a]]
        away = {}
        for number, line in enumerate(lines):
            off = (line[0] - way[-1]) * [*scale, 1.0 / 60.0]
            late = -10.0 * off[2] if off[2] < 0.0 else 3.0 * min(off[2], 60.0)
            on_way = (line - way[::-1])[:, :2] * scale
            squares = (on_way**2).sum(axis=1)
            square = [squares[0], squares[0] + squares[-1], squares.mean()][compared]
            if number != own:
                square += (late * timed) ** 2
                away[number] = float(np.sqrt(square))
        chances = [0.0, 0.0]
        if (right := away.get(city.labels[b])) is not None:
            nearer = sum(far < right - 1e-6 for far in away.values())
            alike = sum(abs(far - right) <= 1e-6 for far in away.values())
            chances = [min(max(n - nearer, 0), alike) / alike for n in (1, 3)]
        rows = rows_on(city, [one for one, far in away.items() if far <= min(away.values()) + 1e-6])
        mine = [
            city.owners[row] == city.owners[a] and city.labels[row] != city.labels[a]
            for row in rows
        ]
        found.append([*chances, float(np.mean(mine))])
    return np.reshape(found, (-1, 3))


def places(city: Published) -> list[list[int]]:
    """People with a place of three starts and ends of their trips; found by lines, and by a guess.

    A place is the first of the ends near which most others are: all beginnings, then all ends. The
    second one is where most are of those that are not near the first. By lines it is the middle of
    these ends, of which some are 200 m to 1 km from the first: the best of several reaches.
    """
    scale = metres_of_degrees(city.lines[..., 0].mean())

    def far(one: Floats, other: Floats) -> float:
        return float(np.hypot(*((one - other) * scale)))

    def busiest(ends: Floats, but: Floats | None, reach: float) -> tuple[Floats, Floats, int]:
        if but is not None:
            away = [one for one in ends if far(one, but) > 2.0 * reach]
            if not away:
                return ends[0], ends[0], 0
            ends = np.array(away)
        near = [[one for one in ends if far(one, other) <= reach] for other in ends]
        most = int(np.argmax([len(some) for some in near]))
        return ends[most], np.mean(near[most], axis=0), len(near[most])

    reaches = (200.0, 300.0, 500.0, 700.0, 1_000.0)
    counts = [[0, 0, 0], [0, 0, 0]]
    found = [[0] * len(reaches) for _ in counts]
    guess, *_ = busiest(np.concatenate([city.lines[:, 0], city.lines[:, -1]]), None, 200.0)
    for person in set(city.owners.tolist()):
        went = city.points[city.owners == person]
        lines = city.lines[city.labels[city.owners == person]]
        place, told = None, dict.fromkeys(reaches)
        for number, count in enumerate(counts):
            place, _, many = busiest(np.concatenate([went[:, 0], went[:, -1]]), place, 200.0)
            count[0] += many >= 3
            count[2] += many >= 3 and far(guess, place) <= 200.0
            for at, reach in enumerate(reaches):
                shown = np.concatenate([lines[:, 0], lines[:, -1]])
                told[reach], middle, _ = busiest(shown, told[reach], reach)
                found[number][at] += many >= 3 and far(middle, place) <= 200.0
    for count, by_reach in zip(counts, found, strict=True):
        count[1] = max(by_reach)
    return counts
