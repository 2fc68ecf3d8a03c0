"""Records at every start, and the starts at which windows are nearest."""

import numpy as np
import pytest
from hypothesis import given
from naive_sliding import put, tracks_of
from sliding_towns import Scene, laid, points_of, scenes, seeds, towns

from trajanon._kernels.sliding_windows import find_meeting
from trajanon.grouping.sliding.possible_starts import build_windows, records_at
from trajanon.trajectories.trajectories import Trajectories


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@given(trajectories=towns(), seed=seeds)
def test_rows_are_the_records_at_every_start_turned(
    kind: type[np.floating], trajectories: Trajectories, seed: int
) -> None:
    tracks, m, rng = (tracks_of(trajectories), points_of(trajectories), np.random.default_rng(seed))
    windows = build_windows(tracks, m)
    axes = rng.normal(size=(2 * m, rng.integers(1, 2 * m + 1)))
    none = np.empty((len(trajectories), 0), dtype=np.int64)
    slides = laid(windows, tracks.start, axes, none, kind)
    near = 1e-9 if kind is np.float64 else 1e-5
    for x, most in enumerate(windows.most.tolist()):
        there = [records_at(windows, put(tracks.start, x, s))[x] for s in range(most + 1)]
        found = slides.rows[slides.first[x] :][: most + 1]
        np.testing.assert_allclose(found, there @ axes, rtol=near, atol=10 * near)
    assert len(slides.rows) == (windows.most + 1).sum()


@given(scene=scenes)
def test_windows_meet_where_they_are_nearest(scene: Scene) -> None:
    slides, near = scene.slides, scene.annealing.descent.neighbours
    for x, row in enumerate(near.tolist()):
        mine = slides.rows[slides.first[x] :][: slides.starts[x]]
        for y in row:
            there = slides.rows[slides.first[y] + slides.start[y]]
            away = ((mine - there) ** 2).sum(axis=1)
            met = find_meeting(slides, x, y)
            assert 0 <= met < slides.starts[x]
            assert away[met] == pytest.approx(away.min(), rel=1e-9, abs=1e-12)
