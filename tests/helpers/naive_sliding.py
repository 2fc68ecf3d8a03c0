"""Windows that may slide, and slow twins of what slides them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from naive import distance, group_sse, holds, sse

from trajanon._kernels.annealing_moves import (
    RARE,
    Annealing,
    draw_moves,
    draw_start,
    other_bits,
    other_member,
)
from trajanon._kernels.group_state import Groups
from trajanon._kernels.sliding_windows import Slides
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

MADRID = (40.4, -3.7)
STEP = 1e-4
"""Degrees between two points of a track: some ten metres."""


def tracks_of(trajectories: Trajectories) -> Tracks:
    assert trajectories.tracks is not None
    return trajectories.tracks


def street(rng: np.random.Generator, points: int) -> Floats:
    """A way that bends, in steps of one length, round 0."""
    heading = rng.uniform(0, 2 * np.pi) + np.cumsum(rng.normal(0, 0.2, points))
    way = np.cumsum(np.column_stack([np.cos(heading), np.sin(heading)]), axis=0)
    middle: Floats = way.mean(axis=0)
    centred: Floats = way - middle
    return centred


def on_runs(m: int, free: Sequence[Sequence[int]], points: Floats) -> Trajectories:
    """Windows of m points on runs, told by the free steps before each and at the end.

    [[0, 3, 2]] is one run of two windows: the first begins with the run, the second
    three steps behind the last point of the first, and two steps are left behind it.
    """
    window = STEPS * (m - 1) + 1
    sizes = [sum(steps) + window * (len(steps) - 1) for steps in free]
    start = [sum(steps[: i + 1]) + window * i for steps in free for i in range(len(steps) - 1)]
    tracks = Tracks(
        points=TrackPoints.of(points[: sum(sizes)]),
        first=np.cumsum([0, *sizes]),
        run=np.repeat(np.arange(len(free)), [len(steps) - 1 for steps in free]),
        start=np.array(start, dtype=np.int64),
        # A border cut all runs, so that no window has to slide away from an end.
        true_ends=np.zeros((len(free), 2), dtype=np.bool_),
    )
    return Trajectories(tracks.windows(m), tracks=tracks)


def town(
    seed: int,
    n: int = 24,
    m: int = 4,
    *,
    people: int | None = None,
    slack: int = 12,
    most: int = 4,
    noise: float = 0.4,
    scale: float = STEP,
    where: tuple[float, float] = MADRID,
) -> Trajectories:
    """Windows on runs along three streets, in any order, some of them end to end.

    A run is of 1 to ``most`` windows, with up to ``slack`` free steps before each one
    and behind the last. Without people nothing is known of subjects.
    """
    rng = np.random.default_rng(seed)
    free: list[list[int]] = []
    while (left := n - sum(len(steps) - 1 for steps in free)) > 0:
        windows = min(int(rng.integers(1, most + 1)), left)
        tight = rng.random() < 0.2
        free.append(rng.integers(0, 1 if tight else slack + 1, windows + 1).tolist())
    window = STEPS * (m - 1) + 1
    sizes = [sum(steps) + window * (len(steps) - 1) for steps in free]
    long = max(sizes) + 3 * slack
    streets = [street(rng, long) for _ in range(3)]
    ways = []
    for size in sizes:
        begin = int(rng.integers(0, long - size + 1))
        way = streets[rng.integers(0, 3)][begin : begin + size]
        ways.append(way[:: rng.choice([1, 1, -1])])
    points = np.concatenate(ways)
    points = points + rng.normal(0, noise, points.shape)
    trajectories = on_runs(m, free, np.array(where) + scale * points)
    order = rng.permutation(n)
    tracks = tracks_of(trajectories)
    tracks = replace(tracks, run=tracks.run[order], start=tracks.start[order])
    whose = None if people is None else rng.integers(0, people, n)
    if whose is not None and people is not None:
        whose[: min(n, people)] = np.arange(min(n, people))
    return Trajectories(tracks.windows(m), whose, whose, {"points": m}, tracks)


def random_labels(seed: int, n: int, k: int, subjects: Ints | None = None) -> Ints:
    """Groups drawn at random that keep k; one group, if need be."""
    assert holds(np.zeros(n, np.int64), subjects, k), "k is too much for one group"
    rng = np.random.default_rng(seed)
    labels = renumbered(rng.permutation(np.arange(n) % max(n // k, 1)))
    while not holds(labels, subjects, k):
        labels = renumbered(np.maximum(labels - 1, 0))  # the first two groups become one
    return labels


def gaps(tracks: Tracks, start: Ints) -> dict[tuple[int, int], int]:
    """From the start of each window to that of the one behind it on its run.

    Which is behind which is told by where they were cut.
    """
    order = sorted(range(len(start)), key=lambda x: (tracks.run[x], tracks.start[x]))
    return {
        (one, other): int(start[other] - start[one])
        for one, other in pairwise(order)
        if tracks.run[one] == tracks.run[other]
    }


def least_gaps(tracks: Tracks, m: int) -> dict[tuple[int, int], int]:
    """How far apart the starts of windows must stay.

    A spacing lies between the last point of one and the first of the next; or as much
    as when they were cut, if that was less.
    """
    return {pair: min(gap, STEPS * m) for pair, gap in gaps(tracks, tracks.start).items()}


def last_starts(tracks: Tracks, m: int) -> Ints:
    """The last start of each window at which it is on its run."""
    last: Ints = np.diff(tracks.first)[tracks.run] - STEPS * (m - 1) - 1
    return last


def room(tracks: Tracks, m: int, start: Ints) -> bool:
    """Whether windows that start there are on their runs, and apart as they must."""
    least = least_gaps(tracks, m)
    on = bool(((start >= 0) & (start <= last_starts(tracks, m))).all())
    return on and all(gap >= least[pair] for pair, gap in gaps(tracks, start).items())


def starts_allowed(tracks: Tracks, m: int, start: Ints, x: int) -> list[int]:
    """Where a window may start while all others stay."""
    least = {pair: gap for pair, gap in least_gaps(tracks, m).items() if x in pair}
    return [
        s
        for s in range(int(last_starts(tracks, m)[x]) + 1)
        if all(
            (s if other == x else start[other]) - (s if one == x else start[one]) >= gap
            for (one, other), gap in least.items()
        )
    ]


def slid_at_random(tracks: Tracks, m: int, seed: int) -> Ints:
    """Starts that windows may have at once, drawn one after the other."""
    rng = np.random.default_rng(seed)
    start = tracks.start.copy()
    for x in rng.permutation(len(start)):
        start[x] = rng.choice(starts_allowed(tracks, m, start, int(x)))
    return start


def in_sight(m: int, here: int, starts: Iterable[int]) -> list[int]:
    """Of some starts, those within two lengths of a window of m points."""
    return [s for s in starts if abs(s - here) <= 2 * STEPS * m]


def put(values: Ints, x: int, value: int) -> Ints:
    after = values.copy()
    after[x] = value
    return after


def standardised(tracks: Tracks, m: int, start: Ints) -> Floats:
    """Records at any starts, in the units of those that were cut.

    A column that is constant in these counts nothing.
    """
    place = tracks.first[tracks.run][:, None] + STEPS * np.arange(m)
    cut, now = [
        tracks.points.ticks[place + s[:, None]].reshape(len(s), -1) for s in (tracks.start, start)
    ]
    origin = cut[0]
    spread = (cut - origin).std(axis=0, ddof=1)
    constant = (cut == origin).all(axis=0)
    share = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))
    centred: Floats = (now - origin - (cut - origin).mean(axis=0)) * share
    return centred


def at_all_starts(tracks: Tracks, m: int, start: Ints, x: int) -> dict[int, Floats]:
    """The record of a window at each start that it may have while all others stay."""
    return {
        s: standardised(tracks, m, put(start, x, s))[x] for s in starts_allowed(tracks, m, start, x)
    }


def slid_losses(tracks: Tracks, m: int, start: Ints, labels: Ints, x: int) -> dict[int, float]:
    """What is lost with one window at each start that it may have."""
    records = standardised(tracks, m, start)
    group = labels == labels[x]
    others = sse(records[~group], labels[~group])
    losses = {}
    for s, record in at_all_starts(tracks, m, start, x).items():
        records[x] = record
        losses[s] = others + group_sse(records[group])
    return losses


def single_slides_that_gain(
    tracks: Tracks, m: int, start: Ints, labels: Ints
) -> list[tuple[int, int]]:
    """Every window and start by which it alone would lose less, but for rounding."""
    lost = sse(standardised(tracks, m, start), labels)
    return [
        (x, s)
        for x in range(len(start))
        for s, now in slid_losses(tracks, m, start, labels, x).items()
        if now < lost - 1e-9 * max(lost, 1e-3)
    ]


# Neighbours


def nearest_in_reach(rows: list[Floats], here: Floats, count: int) -> list[list[tuple[float, int]]]:
    """The others near each window, and how near: it at its place, or they at theirs.

    ``rows`` holds the places where each window is looked for, ``here`` where it is.
    """
    n = len(here)

    def away(x: int, y: int) -> float:
        return min(distance(here[x], row) for row in rows[y])

    return [
        sorted((min(away(x, y), away(y, x)), y) for y in range(n) if y != x)[:count]
        for x in range(n)
    ]


# Random moves


class Move(NamedTuple):
    """A random move: what becomes of it, how much it may cost, and how much it does.

    ``kind`` is slide, join, exchange, or nothing for one that changes nothing.
    """

    kind: str
    start: Ints
    labels: Ints
    limit: float
    cost: float


def move_drawn(annealing: Annealing, slides: Slides, k: int, heat: float) -> Move | None:
    """What the next random move would be, measured from scratch.

    None if it is of whole groups. What is drawn is drawn by the kernels, from a copy of
    the random state.
    """
    groups = annealing.descent.groups
    annealing = annealing._replace(random=annealing.random.copy())
    drawn = np.empty((1, 4), dtype=np.int64)
    draw_moves(annealing, drawn)
    x, rank, quantile, bits = drawn[0].tolist()
    if bits < RARE:
        return None
    word = np.uint64(bits)
    y = int(annealing.descent.neighbours[x, rank])
    limit = heat * annealing.warmth[x] * annealing.warmth[y] * annealing.quantiles[quantile]
    together = groups.labels[x] == groups.labels[y]
    start = put(slides.start, x, draw_start(slides, x, y, rank, together, word))
    z = other_member(groups, y, other_bits(word))
    kind, labels = _candidate(groups, x, y, z, k, bool(bits & 1))
    if kind == "slide" and (start == slides.start).all():
        kind = "nothing"
    if kind == "nothing":
        start = slides.start
    before = sse(rows_at(slides, slides.start), groups.labels)
    cost = sse(rows_at(slides, start), labels) - before
    return Move(kind, start.copy(), labels, limit, cost)


def _candidate(groups: Groups, x: int, y: int, z: int, k: int, joins: bool) -> tuple[str, Ints]:
    """What x does with the group of y, whose member z would take its place."""
    labels = groups.labels.copy()
    own, target = int(labels[x]), int(labels[y])
    if target == own:
        return "slide", labels

    def different(left_out: Sequence[int], *more: int) -> int:
        inside = [i for i in left_out if i not in more]
        return len(set(groups.members["subject"][inside].tolist()))

    mine, theirs = [np.flatnonzero(labels == g).tolist() for g in (own, target)]
    if joins and different(theirs) < 2 * k - 1 and different(mine, x) >= k:
        return "join", put(labels, x, target)
    if different([*mine, z], x) >= k and different([*theirs, x], z) >= k:
        return "exchange", put(put(labels, x, target), z, own)
    return "nothing", labels


def rows_at(slides: Slides, start: Ints) -> Floats:
    rows: Floats = slides.rows[slides.first + start].astype(np.float64)
    return rows


def unsound(groups: Groups) -> list[str]:
    """What is kept of groups that cannot be found again from the labels."""
    wrong = []
    for group, size in enumerate(groups.heads["size"].tolist()):
        inside = np.flatnonzero(groups.labels == group).tolist()
        chain: list[int] = []
        member = int(groups.heads["first"][group])
        while member >= 0 and len(chain) <= len(inside):
            before = chain[-1] if chain else -1
            if groups.members["preceding"][member] != before:
                wrong.append(f"before {member}")
            chain.append(member)
            member = int(groups.members["following"][member])
        if sorted(chain) != inside or size != len(inside):
            wrong.append(f"members of {group}")
        if groups.heads["subject_count"][group] != len(
            set(groups.members["subject"][inside].tolist())
        ):
            wrong.append(f"subjects of {group}")
        mean = groups.records[inside].mean(axis=0) if inside else 0.0
        if inside and np.abs(groups.centroids[group] - mean).max() > 1e-9:
            wrong.append(f"centroid of {group}")
    empty = groups.empty[: groups.empty[-1]]
    if sorted(empty.tolist()) != np.flatnonzero(groups.heads["size"] == 0).tolist():
        wrong.append("empty groups")
    return wrong


# Near a line


def metres(one: Floats, other: Floats) -> float:
    """Between two places, on a round Earth."""
    (a, b), (c, d) = np.radians(one), np.radians(other)
    half = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return float(2 * 6_371_000 * np.arcsin(np.sqrt(half)))
