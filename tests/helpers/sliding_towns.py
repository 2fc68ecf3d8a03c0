"""Towns with windows that slide, for the tests of their kernels."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from naive_sliding import MADRID, STEP, random_labels, rows_at, town, tracks_of

from trajanon._kernels.annealing_moves import AT_ONE_HEAT, Annealing
from trajanon._kernels.sliding_windows import Slides, Windows, build_rows
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import QUANTILES, neighbour_ranks
from trajanon.grouping.refinements.descent import build_descent
from trajanon.grouping.sliding.possible_starts import (
    build_windows,
    centred,
    part_of,
    start_ranges,
    window_neighbours,
)
from trajanon.trajectories.trajectories import Trajectories

seeds = st.integers(0, 10**6)
FAR = (80.0, 170.0)


@st.composite
def towns(draw: st.DrawFn, most: int = 24, windows: int = 4) -> Trajectories:
    """Windows on runs; some of them equal, some far from zero beside their spread."""
    where, scale = draw(st.sampled_from([(MADRID, STEP), (FAR, 1e-7), ((0.0, 0.0), 1.0)]))
    return town(
        draw(seeds),
        draw(st.integers(3, most)),
        draw(st.integers(2, 4)),
        most=windows,
        noise=draw(st.sampled_from([0.0, 0.4])),
        where=where,
        scale=scale,
    )


def points_of(trajectories: Trajectories) -> int:
    m: int = trajectories.points.shape[1]
    return m


def laid(
    windows: Windows, start: Ints, axes: Floats, near: Ints, kind: type[np.floating]
) -> Slides:
    """All records at all starts of windows that are alone on their tracks."""
    starts = windows.most + 1
    rows = np.empty((starts.sum(), axes.shape[1]), dtype=kind)
    first = np.cumsum(starts) - starts
    build_rows(windows, axes.T.copy(), np.empty(len(axes)), 1, first, rows)
    return Slides(rows, first, starts, start.copy(), start.copy(), np.full_like(near, -1))


class Scene(NamedTuple):
    """Windows in groups, about to be moved at random."""

    annealing: Annealing
    slides: Slides
    k: int


def scene(
    seed: int, n: int = 20, k: int = 3, people: int | None = None, noise: float = 0.4
) -> Scene:
    """Windows of three points, each on a share of its run, in random groups."""
    rng = np.random.default_rng(seed)
    tracks = tracks_of(town(seed, n, 3, noise=noise))
    whole = build_windows(tracks, 3)
    first, last = start_ranges(whole, tracks.start, rng)
    start = tracks.start - first
    windows = centred(part_of(whole, np.arange(n), first, last, chained=False)[0], start)
    axes = np.linalg.qr(rng.normal(size=(6, 6)))[0][:, : rng.integers(1, 7)].copy()
    near = window_neighbours(windows, start, axes, 8).astype(np.int64)
    slides = laid(windows, start, axes, near, np.float32)
    subjects = np.arange(n) if people is None else renumbered(rng.integers(0, people, n))
    k = min(k, int(subjects.max()) + 1)
    labels = random_labels(seed, n, k, subjects)
    records = rows_at(slides, start)
    annealing = Annealing(
        descent=build_descent(Problem(records, subjects, k), records, labels, near),
        warmth=rng.uniform(0.2, 2.0, n),
        quantiles=QUANTILES,
        ranks=neighbour_ranks(near.shape[1]),
        random=rng.integers(1, 2**63, 1, dtype=np.uint64),
        moves=np.empty((AT_ONE_HEAT, 4), dtype=np.int64),
    )
    return Scene(annealing, slides, k)


scenes = st.builds(
    scene,
    seed=seeds,
    n=st.integers(4, 24),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    noise=st.sampled_from([0.0, 0.4]),
)
