"""What comes of a trace does not depend, to the bit, on those beside it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tracks import Leg, bent, points

from trajanon.common.arrays import Floats
from trajanon.extract import impossible_and_stray_points
from trajanon.extract.clip_to_area import clip
from trajanon.extract.earth.area import Box
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.resample_windows_and_trips import WindowBatch, windows
from trajanon.extract.trace import Trace

BOX = Box(-180.0, -90.0, 180.0, 60.001)
MEASURES = ("points", "times", "track_length")

legs = st.lists(
    st.tuples(
        st.floats(0, 360),
        st.one_of(st.floats(0, 400), st.sampled_from([0.0, 100.0, 9_000.0, 200_000.0])),
    ),
    max_size=25,
)
starts = st.sampled_from([(40.4, -3.7), (0.0, 179.999), (60.0, 10.0), (-89.0, 5.0)])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Timed, untimed, unsorted, backwards, with equal times and equal places."""
    recorded = bent(draw(legs), start=draw(starts))
    n = len(recorded)
    order = draw(st.sampled_from(["forth", "back", "any", "none"]))
    time = np.cumsum(draw(st.lists(st.integers(0, 40), min_size=n, max_size=n)))
    if order == "any":
        time = np.array(draw(st.permutations(time.tolist())))
    if order == "back":
        time = time[::-1]
    if order == "none":
        time = np.full(n, np.nan)
    return replace(recorded, time=time.astype(np.float64))


def cut(some: Sequence[Trace], rules: Rules, counts: Counter[str]) -> WindowBatch:
    batch = points(*some)
    for step in (
        impossible_and_stray_points.drop_impossible,
        impossible_and_stray_points.settle_times,
        impossible_and_stray_points.sort_by_time,
        impossible_and_stray_points.average_equal_times,
        impossible_and_stray_points.drop_zero_hops,
    ):
        batch = step(batch)
    batch, _ = clip(split_at_gaps(batch, rules, counts), BOX)
    return windows(batch, rules)


def runs(found: WindowBatch) -> list[Floats]:
    assert found.tracks is not None
    first = found.tracks.first.tolist()
    return [found.tracks.points[a:b] for a, b in pairwise(first)]


@given(
    some=st.lists(traces(), min_size=1, max_size=8),
    borders=st.lists(st.integers(1, 7), max_size=7),
    spacing=st.sampled_from([10.0, 25.0, 99.9]),
    max_gap=st.sampled_from([500.0, 10_000.0, None]),
)
def test_batches_change_no_bit(
    some: list[Trace], borders: list[int], spacing: float, max_gap: float | None
) -> None:
    rules = Rules(spacing=spacing, points=5, per_recording=None, max_gap=max_gap)
    counts, expected = Counter[str](), Counter[str]()
    whole = cut(some, rules, expected)
    at = sorted({0, *(b for b in borders if b < len(some)), len(some)})
    parts = [cut(some[a:b], rules, counts) for a, b in pairwise(at)]
    assert counts == expected
    for name in MEASURES:
        values = np.concatenate([getattr(part, name) for part in parts])
        assert values.tobytes() == getattr(whole, name).tobytes(), name
    trace = [part.trace + a for part, a in zip(parts, at, strict=False)]
    assert np.concatenate(trace).tolist() == whole.trace.tolist()
    found = [run for part in parts for run in runs(part)]
    assert [run.tobytes() for run in found] == [run.tobytes() for run in runs(whole)]
    starts = [part.tracks.start for part in parts if part.tracks is not None]
    assert whole.tracks is not None
    assert np.concatenate(starts).tolist() == whole.tracks.start.tolist()


@given(legs=legs, start=starts, max_gap=st.sampled_from([150.0, 500.0, None]))
def test_the_pieces_of_a_split_trace_are_cut_as_traces_of_their_own(
    legs: list[Leg], start: tuple[float, float], max_gap: float | None
) -> None:
    """So no window goes over a split."""
    rules = Rules(spacing=20, points=4, per_recording=None, max_gap=max_gap)
    whole = split_at_gaps(points(bent(legs, start=start)), rules, Counter())
    pieces = [whole.take(whole.piece == piece) for piece in np.unique(whole.piece)]
    alone = [windows(piece, rules) for piece in pieces]
    found = windows(whole, rules)
    for name in MEASURES:
        values = np.concatenate([getattr(each, name) for each in alone])
        assert values.tobytes() == getattr(found, name).tobytes(), name
    assert len(runs(found)) == sum(len(each.points) > 0 for each in alone)
