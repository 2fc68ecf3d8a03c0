"""Slow twins of the attacks: shorter, and obviously right. And small cities."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

from trajanon.arrays import Floats
from trajanon.geodesy import metres_of_degrees
from trajanon.privacy.attack import Published
from trajanon.tracks import Tracks
from trajanon.utility import displacement


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


Near = Callable[[Floats, Floats], bool]
"""Whether two points are near; each is latitude, longitude and seconds."""


def nearness(city: Published, tolerance: float, hour: float | None) -> Near:
    """Near on Earth and, if an hour is known, in time: today or so many days before or after."""

    def near(point: Floats, other: Floats) -> bool:
        if displacement(point[:2], other[:2]) > tolerance:
            return False
        turns = city.cycle * np.arange(-60, 61) if np.isfinite(city.cycle) else np.zeros(1)
        return hour is None or bool(np.abs(point[2] - other[2] + turns).min() <= hour)

    return near


def with_times(points: Floats, times: Floats | None) -> Floats:
    when = np.zeros(points.shape[:2]) if times is None else times
    return np.concatenate([points, when[..., None]], axis=-1)


def passes(line: Floats, known: Floats, near: Near, order: bool) -> bool:
    """Whether a line passes all the points known, in order if so wanted."""
    if not order:
        return all(any(near(p, q) for q in line) for p in known)
    return any(
        all(near(p, line[q]) for p, q in zip(known, places, strict=True))
        for places in combinations(range(len(line)), len(known))
    )


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


def squares(line: Floats, known: Floats, near: Near, order: bool) -> float:
    """Least sum of squared distances from the points known to those of a line that fit."""
    fits = [
        [displacement(p[:2], q[:2]) ** 2 if near(p, q) else np.inf for q in line] for p in known
    ]
    if not order:
        return float(sum(min(of_point) for of_point in fits))
    places = combinations(range(len(line)), len(known))
    return float(
        min((sum(fits[i][q] for i, q in enumerate(way)) for way in places), default=np.inf)
    )


def nearest_of(away: dict[int, float]) -> list[int]:
    """The lines that are nearest, to a rounding."""
    least = min(away.values(), default=0.0)
    return [line for line, far in away.items() if far <= least + 1e-6 + 1e-9 * least]


def known_points(
    city: Published,
    known: int,
    tolerance: float,
    order: bool,
    hour: float | None = None,
    *,
    nearest: bool = False,
) -> Floats:
    """Mean chance, mean chance of the own line, and highest chance, (n, 3)."""
    told, near = [], nearness(city, tolerance, hour)
    lines = with_times(city.lines, city.line_times)
    for target, points in enumerate(with_times(city.points, city.times)):
        chances = []
        for chosen in combinations(range(len(points)), known):
            seen = points[list(chosen)]
            away = {
                number: squares(line, seen, near, order) if nearest else 0.0
                for number, line in enumerate(lines)
                if passes(line, seen, near, order)
            }
            chances.append(picked(city, target, nearest_of(away)))
        mean = np.mean(chances, axis=0)
        told.append([mean[0], mean[1], max(chance for chance, _ in chances)])
    return np.array(told)


def known_ends(
    city: Published, tolerance: float, hour: float | None = None, *, nearest: bool = False
) -> Floats:
    """Chance of a row of the subject, and of the own line, (n, 2)."""
    near = nearness(city, tolerance, hour)
    told = []
    for target, points in enumerate(with_times(city.points, city.times)):
        away = {}
        for number, line in enumerate(with_times(city.lines, city.line_times)):
            ends = [(points[0], line[0]), (points[-1], line[-1])]
            if all(near(p, q) for p, q in ends):
                far = sum(displacement(p[:2], q[:2]) ** 2 for p, q in ends)
                away[number] = float(far) if nearest else 0.0
        told.append(picked(city, target, nearest_of(away)))
    return np.array(told)


def nearest_ends(city: Published) -> Floats:
    """Chances, and those of the own line, by the straight distances of both ends."""

    def place(point: Floats) -> Floats:
        lat, lon = np.radians(point)
        away = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
        return 6_371_000.0 * np.array(away)

    def far(one: Floats, other: Floats) -> float:
        return float(np.linalg.norm([place(one[end]) - place(other[end]) for end in (0, -1)]))

    return np.array(
        [
            picked(
                city,
                target,
                nearest_of({n: far(points, line) for n, line in enumerate(city.lines)}),
            )
            for target, points in enumerate(city.points)
        ]
    )


def nearest_lines(city: Published) -> list[list[int]]:
    """The lines nearest to each original, in standardised columns."""
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
    return np.array(
        [picked(city, target, lines) for target, lines in enumerate(nearest_lines(city))]
    )


def other_tracks(city: Published, target: int, share: float) -> tuple[float, float]:
    """Mean and highest chance to find more of a subject, from one trajectory on.

    All that the adversary may know besides is tried. Rows of the subject that he need not keep for
    a trajectory that he does not know are set aside one by one.
    """
    rest = [
        row
        for row, subject in enumerate(city.owners)
        if subject == city.owners[target] and row != target
    ]
    besides = min(max(round(share * (len(rest) + 1)), 1), len(rest)) - 1
    lines = nearest_lines(city)[target]
    rows = rows_on(city, lines)
    own = sum(city.owners[row] == city.owners[target] for row in rows)
    chances = []
    for known in combinations(rest, besides):
        unknown = [row for row in rest if row not in known and city.labels[row] in lines]
        left, right = len(rows), own
        while right > len(unknown):
            left, right = left - 1, right - 1
        chances.append(right / left if right else 0.0)
    return float(np.mean(chances)), max(chances)


def steps(city: Published, tracks: Tracks) -> list[list[tuple[int, int]]]:
    """From window to next window of each drive that has some on several lines."""
    drives = []
    for run in dict.fromkeys(tracks.run.tolist()):
        on_run = np.flatnonzero(tracks.run == run).tolist()
        windows = sorted(on_run, key=lambda one: int(tracks.start[one]))
        pairs = [(a, b) for a, b in pairwise(windows) if city.labels[a] != city.labels[b]]
        drives += [pairs] if pairs else []
    return drives


def subjects_left(city: Published, tracks: Tracks) -> list[int]:
    """Drives, those of fewer than k subjects, and of one; and the same of steps."""
    people = tracks.run if city.subjects is None else city.subjects
    of_lines = [set(people[city.labels == line]) for line in range(len(city.lines))]
    drives = steps(city, tracks)
    counts = []
    for cells in (drives, [[step] for pairs in drives for step in pairs]):
        left = [
            len(set.intersection(*(of_lines[city.labels[one]] for step in pairs for one in step)))
            for pairs in cells
        ]
        counts += [len(left), sum(few < city.k for few in left), left.count(1)]
    return counts


def followed(city: Published, tracks: Tracks, known: Published | None) -> list[float]:
    """Chances of the first and the first three, of drives, of long ones, and share of steps.

    And of a line that drives leave, to be linked to a next line of any of these. ``known`` has the
    windows that are known; None: the adversary starts from their lines.
    """

    def apart(onward: Floats, entry: Floats) -> float:
        """Metres between two places with hops, and minutes as metres."""
        off = (entry - onward) * [*metres_of_degrees(city.lines[..., 0].mean()), 3.0 / 60.0]
        place = off[0]
        if np.isfinite(city.cycle):  # the chord of the circle of the clock
            around = city.cycle * 3.0 / 60.0 / (2.0 * np.pi)
            place[2] = 2.0 * around * np.sin(place[2] / around / 2.0)
        return float(np.sqrt((place**2).sum() + ((4.0 * off[1]) ** 2).sum()))

    def goes_on(way: Floats) -> Floats:
        return np.array([way[-1] + way[-1] - way[-2], way[-1] - way[-2]])

    lines = with_times(city.lines, city.line_times)
    entries = [np.array([line[0], line[1] - line[0]]) for line in lines]

    def chances(onward: Floats, own: int, right: int) -> tuple[float, float]:
        far = [apart(onward, entry) for entry in entries]
        others = [one for one in range(len(lines)) if one != own]
        if right == own:
            return 0.0, 0.0
        nearer = sum(far[one] < far[right] - 1e-6 for one in others)
        alike = sum(abs(far[one] - far[right]) <= 1e-6 for one in others)
        return float(nearer == 0) / alike, min(max(3 - nearer, 0), alike) / alike

    told, shares, ends, long = [], [], [], []
    linked_lines: dict[int, dict[int, float]] = {}
    if known is not None:
        linked, windows = nearest_lines(known), with_times(known.points, known.times)
    for pairs in steps(city, tracks):
        on = [
            chances(goes_on(lines[city.labels[a]]), city.labels[a], city.labels[b])
            for a, b in pairs
        ]
        begin = on
        if known is not None:
            begin = [chances(goes_on(windows[a]), linked[a][0], city.labels[b]) for a, b in pairs]
        told += begin
        for (a, b), (first, _) in zip(pairs, begin, strict=True):
            linked_lines.setdefault(city.labels[a], {})[city.labels[b]] = first
        reached = np.cumprod([begin[0][0], *(first for first, _ in on[1:])])
        shares.append(reached.mean())
        ends.append(reached[-1])
        long += [reached[-1]] if len(pairs) > 1 else []
    first, three = np.mean(told, axis=0)
    anybody = np.mean([sum(chances.values()) for chances in linked_lines.values()])
    return [first, three, np.mean(ends), np.mean(long) if long else 0.0, np.mean(shares), anybody]
