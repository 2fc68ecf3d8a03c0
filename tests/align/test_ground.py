"""Ground that is shared out between the parts that windows of one run go to."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_sliding import gaps, least_gaps, town, tracks_of

from trajanon.align.windows import shared_out
from trajanon.arrays import Ints
from trajanon.tracks import STEPS
from trajanon.trajectories import Trajectories


def clocked(trajectories: Trajectories) -> Trajectories:
    """The same with times along the tracks."""
    tracks, m = tracks_of(trajectories), trajectories.points.shape[1]
    tracks = replace(tracks, times=np.linspace(1e9, 1.1e9, len(tracks.points)))
    return replace(trajectories, tracks=tracks, times=tracks.times_of_windows(m))


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 24),
    m=st.integers(2, 4),
    parts=st.integers(1, 4),
    timed=st.booleans(),
)
def test_each_window_is_in_one_part_on_ground_that_no_other_part_has(
    seed: int, n: int, m: int, parts: int, timed: bool
) -> None:
    whole = town(seed, n, m, people=5)
    whole = clocked(whole) if timed else whole
    tracks, random = tracks_of(whole), np.random.default_rng(seed)
    part = 7 + random.integers(0, parts, n)
    place = {point.tobytes(): number for number, point in enumerate(tracks.points[:])}
    assert len(place) == len(tracks.points)
    held: set[int] = set()
    piece: dict[int, Ints] = {}
    for number, rows, some in shared_out(whole, part, random):
        assert rows.tolist() == np.flatnonzero(part == number).tolist()
        expected = replace(whole, tracks=None).take(rows)
        for name in ("points", "subject", "trace", "times"):
            assert np.array_equal(getattr(some, name), getattr(expected, name)), name
        ground = tracks_of(some)
        here = np.array([place[point.tobytes()] for point in ground.points[:]])
        assert not held & set(here.tolist())
        held |= set(here.tolist())
        if tracks.times is not None:
            assert ground.times is not None
            assert np.array_equal(ground.times, tracks.times[here])
        for row, run, start in zip(rows.tolist(), ground.run, ground.start, strict=True):
            piece[row] = here[ground.first[run] : ground.first[run + 1]]
            assert (np.diff(piece[row]) == 1).all()
            assert piece[row][start] == tracks.first[tracks.run[row]] + tracks.start[row]
    assert sorted(piece) == list(range(n))
    # All that is free belongs to somebody: no window can go farther, but into another one.
    least = least_gaps(tracks, m)
    last = {row: some[-1] - STEPS * (m - 1) for row, some in piece.items()}
    first, end = tracks.first[tracks.run], tracks.first[tracks.run + 1]
    for one, other in gaps(tracks, tracks.start):
        together = part[one] == part[other]
        assert (piece[one][0] == piece[other][0]) == together
        assert together or piece[other][0] - last[one] == least[one, other]
    for row in {*range(n)} - {other for _, other in least}:
        assert piece[row][0] == first[row]
    for row in {*range(n)} - {one for one, _ in least}:
        assert piece[row][-1] == end[row] - 1
