"""Alignment of tables that are searched as large ones, and what that is made of."""

from collections.abc import Callable, Iterable
from threading import Event
from typing import Any

import naive
import numpy as np
import pytest
from alignments import aligned, bits, cut, lie_well, loses_what_it_says, mean_metres
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_refine import search_in_blocks
from naive_sliding import gaps, random_labels, room, standardised, town, tracks_of

from trajanon import neighbours, workers
from trajanon._kernels.window_records import build_rows
from trajanon.align import account, alignment, sliding, windows
from trajanon.align.alignment import axes_of, sliding_schedule
from trajanon.align.sliding import build_rows_in_single
from trajanon.align.windows import (
    Aligned,
    approximate_window_neighbours,
    build_windows,
    centred,
    exact_window_neighbours,
    lost_at,
    part_of,
    start_ranges,
)
from trajanon.arrays import Ints
from trajanon.axes import leading_axes
from trajanon.loss import sums_of_products
from trajanon.search.annealing import DROPPED, PASS
from trajanon.utility import displacements

seeds = st.integers(0, 10**6)
MOVES = 4 * PASS


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than five windows are many; they fall into leaves, parts and batches."""
    monkeypatch.setattr(neighbours, "WHOLE", 5)
    monkeypatch.setattr(neighbours, "LEAF", 8)
    monkeypatch.setattr(neighbours, "CROWD", 0)
    monkeypatch.setattr(alignment, "LARGE_PASS", 10)
    monkeypatch.setattr(alignment, "FULL", 2)
    search_in_blocks(monkeypatch, 9)
    in_batches(monkeypatch, 7)


def in_batches(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    for module, name in (
        (windows, "_AT_ONCE"),
        (displacements, "_AT_ONCE"),
        (account, "_RUNS"),
        (account, "_LINES"),
    ):
        monkeypatch.setattr(module, name, most)


# What it promises


@given(
    seed=seeds,
    n=st.integers(9, 40),
    m=st.integers(2, 4),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    regroup=st.booleans(),
    moves=st.sampled_from([0, MOVES]),
)
@settings(max_examples=30)
def test_windows_only_slide_and_groups_keep_k(
    seed: int, n: int, m: int, k: int, people: int | None, regroup: bool, moves: int
) -> None:
    before = town(seed, n, m, people=people)
    whose = before.subject
    assume(whose is None or len(set(whose.tolist())) >= k)
    partition = cut(before, k)
    after, found = aligned(before, partition, k, regroup=regroup, moves=moves, seed=seed)
    assert lie_well(before, after)
    assert naive.holds(found.labels, whose, k)
    assert naive.holds(found.labels, None, k)
    assert loses_what_it_says(after, found)
    if not regroup:
        assert np.array_equal(found.labels, partition.labels)
    if after is not before:
        assert mean_metres(after, found) < mean_metres(before, partition)
        tracks = tracks_of(before)
        less, more = (
            naive.sse(standardised(tracks, m, tracks_of(t).start), p.labels)
            for t, p in ((after, found), (before, partition))
        )
        assert less < more + 1e-7


def test_more_than_so_many_windows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def note(windows: Any, start: Ints, *_: Any) -> Ints:
        searched.append(len(start))
        return np.tile(np.arange(len(start))[:, None], 16)

    monkeypatch.setattr(alignment, "approximate_window_neighbours", note)
    monkeypatch.setattr(neighbours, "WHOLE", 20)
    for n in (20, 21):
        before = town(3, n, 3)
        aligned(before, cut(before, 3), 3)
    assert set(searched) == {21}
    monkeypatch.setattr(neighbours, "LEAF", 30)  # no tree would part them
    before = town(3, 25, 3)
    aligned(before, cut(before, 3), 3)
    assert set(searched) == {21}


def test_a_seed_repeats_every_bit_on_any_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    def backwards(jobs: Iterable[Callable[[Event], object]], *_: object) -> list[object]:
        return [job(Event()) for job in list(jobs)[::-1]][::-1]

    before = town(7, 60, 3, people=20)
    partition = cut(before, 3)
    found = []
    for cores in (1, 2, 5, 1):
        monkeypatch.setattr(workers, "cores", lambda cores=cores: cores)
        found.append(bits(aligned(before, partition, 3, moves=MOVES)))
    for module in (sliding, neighbours):
        monkeypatch.setattr(module, "in_threads", backwards)
    found.append(bits(aligned(before, partition, 3, moves=MOVES)))
    assert len(set(found)) == 1
    other = bits(aligned(before, partition, 3, moves=MOVES, seed=1))
    assert other not in found


@pytest.mark.parametrize("j", [1, 4])
def test_ctrl_c_gives_the_best_so_far(j: int) -> None:
    words: list[str] = []

    def interrupting(task: str, done: float, total: float | None, note: str = "") -> None:
        words.append(task)
        if len(words) >= j:
            raise KeyboardInterrupt

    before = town(7, 60, 3, people=20)
    partition = cut(before, 3)
    after, found = aligned(before, partition, 3, moves=MOVES, progress=interrupting)
    assert found.stopped
    assert lie_well(before, after)
    assert naive.holds(found.labels, before.subject, 3)
    assert mean_metres(after, found) <= mean_metres(before, partition)


def test_ctrl_c_in_a_thread_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sliding, "make_random_moves", interrupted)
    before = town(7, 60, 3)
    after, found = aligned(before, cut(before, 3), 3, moves=MOVES)
    assert found.stopped
    assert lie_well(before, after)


# Moves and heats


def test_a_large_table_gets_fewer_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "LARGE_PASS", 60)
    monkeypatch.setattr(alignment, "FULL", 9_000)
    for n, moves, passes in ((10_001, 4_799, 79), (41_233, 1_391, 23), (10**6, 345, 6)):
        each, heats = sliding_schedule(8_000, n, large=True)
        assert len(heats) == passes + 1
        assert moves <= each * passes < moves + passes
        assert heats[[0, -1]].tolist() == pytest.approx([0.7, 0.03])
    assert [len(part) for part in sliding_schedule(0, 10_001, large=True)[1:]] == [1]


# Windows


@given(seed=seeds, m=st.integers(2, 4))
@settings(max_examples=40)
def test_neighbours_of_a_part_share_what_is_free(seed: int, m: int) -> None:
    """As they would slide on their runs with all others where their shares end."""
    rng = np.random.default_rng(seed)
    trajectories = town(seed, 24, m)
    tracks, whole = tracks_of(trajectories), build_windows(tracks_of(trajectories), m)
    first, last = start_ranges(whole, tracks.start, rng)
    rows = np.flatnonzero(rng.random(24) < 0.6)
    assume(len(rows))
    part, begin = part_of(whole, rows, first, last, chained=True)
    pairs = gaps(tracks, tracks.start)
    for place, x in enumerate(rows.tolist()):
        behind = [b for a, b in pairs if a == x and b in rows]
        assert [int(rows[y]) for y in part.after[[place]] if y >= 0] == behind
        for y in part.after[[place]]:
            if y >= 0:
                assert part.before[y] == place
                assert part.apart[y] == whole.apart[rows[y]]
                assert begin[y] == begin[place]
                assert part.most[y] == part.most[place]
        if part.before[place] < 0:
            assert begin[place] == first[x]
            assert part.apart[place] == 0
        if part.after[place] < 0:
            assert begin[place] + part.most[place] == last[x]
        assert part.place[place] == whole.place[x] + begin[place]
    # As far ahead as each may, one after the other; the rest at the end of its share.
    start = last.copy()
    for place in range(len(rows)):
        if part.before[place] >= 0:
            continue
        y, at = place, 0
        while y >= 0:
            at += int(part.apart[y])
            start[rows[y]] = begin[y] + at
            y = int(part.after[y])
    assert room(tracks, m, start)


@given(seed=seeds, m=st.integers(2, 4))
@settings(max_examples=20)
def test_records_are_read_at_once_as_one_by_one(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    tracks = tracks_of(town(seed, 20, m))
    whole = build_windows(tracks, m)
    first, last = start_ranges(whole, tracks.start, rng)
    part, begin = part_of(whole, np.arange(20), first, last, chained=True)
    part = centred(part, tracks.start - begin)
    axes = np.linalg.qr(rng.normal(size=(2 * m, 2 * m)))[0][:, : rng.integers(1, m + 1)]
    axes = np.ascontiguousarray(axes)
    starts = part.most + 1
    begins = np.cumsum(starts) - starts
    slow, fast = np.empty((2, starts.sum(), axes.shape[1]), dtype=np.float32)
    build_rows(part, np.ascontiguousarray(axes.T), np.empty(len(axes)), begins, slow)
    build_rows_in_single(part, axes, begins, fast)
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-4)


@given(seed=seeds, k=st.integers(2, 5))
@settings(max_examples=20)
def test_what_is_lost_is_summed_up_in_batches(seed: int, k: int) -> None:
    tracks = tracks_of(town(seed, 30, 3))
    whole = build_windows(tracks, 3)
    groups = Aligned(tracks.start, random_labels(seed, 30, k))
    records = standardised(tracks, 3, tracks.start)
    exact = naive.sse(records, groups.labels)
    assert lost_at(whole, groups) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    one = leading_axes(sums_of_products(records), DROPPED * exact)
    other = axes_of(centred(whole, tracks.start), tracks.start, exact)
    spread = np.linalg.svd(one.T @ other)
    np.testing.assert_allclose(spread.S, 1.0, rtol=1e-6)


# Near windows


@given(seed=seeds, n=st.integers(4, 12), m=st.integers(2, 3))
@settings(max_examples=20)
def test_in_one_leaf_all_windows_are_found(seed: int, n: int, m: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "LEAF", 10_000)
        tracks = tracks_of(town(seed, n, m))
        found = approximate_window_neighbours(
            build_windows(tracks, m), tracks.start, np.eye(2 * m), n
        )
    exact = exact_window_neighbours(build_windows(tracks, m), tracks.start, np.eye(2 * m), n)
    assert found.shape == exact.shape == (n, n)
    assert (found[:, -1] == np.arange(n)).all()
    for x in range(n):
        assert set(found[x, :-1].tolist()) == set(range(n)) - {x}
    same = (found == exact).mean()
    assert same > 0.9  # in single precision equally near ones may change places


def test_trees_find_most_of_the_near_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "LEAF", 64)
    tracks = tracks_of(town(3, 200, 3))
    whole = build_windows(tracks, 3)
    exact, found = (
        find(whole, tracks.start, np.eye(6), 6)
        for find in (exact_window_neighbours, approximate_window_neighbours)
    )
    shares = [np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)]
    assert np.mean(shares) > 0.9
    for x, others in enumerate(found.tolist()):
        listed = [y for y in others if y != x]
        assert len(set(listed)) == len(listed)


# The account
