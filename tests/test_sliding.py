"""What the kernels do to windows that slide, the ground they slide on, who is near."""

from itertools import pairwise, product
from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import Floats, Ints
from naive_sliding import (
    MADRID,
    STEP,
    at_all_starts,
    gaps,
    in_sight,
    last_starts,
    least_gaps,
    move_drawn,
    nearest_in_reach,
    on_runs,
    put,
    random_labels,
    room,
    rows_at,
    single_slides_that_gain,
    slid_at_random,
    slid_losses,
    standardised,
    starts_allowed,
    town,
    tracks_of,
    unsound,
)

from trajanon._kernels.annealing import Annealing
from trajanon._kernels.descent import Descent
from trajanon._kernels.groups import Groups, exchange
from trajanon._kernels.sliding import (
    Ground,
    Slides,
    anneal_sliding,
    draw_start,
    find_meetings,
    lay_rows,
    read_record,
    slid_exchange_change,
    slide,
    slide_pass,
    slide_to,
    sliding_change,
)
from trajanon.align.ground import (
    centred,
    lay_ground,
    part_of,
    reach,
    records_at,
    shared_out,
)
from trajanon.align.near import near_windows
from trajanon.partition import dense
from trajanon.refine.descent import begin
from trajanon.refine.grouped import lay_out
from trajanon.refine.random_moves import QUANTILES
from trajanon.tracks import STEPS, Tracks
from trajanon.trajectories import Trajectories

seeds = st.integers(0, 10**6)
FAR = (80.0, 170.0)


@st.composite
def towns(draw: st.DrawFn, most: int = 24, windows: int = 4) -> Trajectories:
    """Windows on runs; some of them equal, some far from zero beside their spread."""
    where, scale = draw(
        st.sampled_from([(MADRID, STEP), (FAR, 1e-7), ((0.0, 0.0), 1.0)])
    )
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


# Records that change


class State(NamedTuple):
    """Groups, the records they were laid out of, and others that these may become."""

    groups: Groups
    records: Floats
    others: Floats
    frame: Floats


@st.composite
def states(draw: st.DrawFn) -> State:
    """Random groups of any size, among the records duplicates, far from zero."""
    rng = np.random.default_rng(draw(seeds))
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    records, others = rng.normal(size=(2, n, p))
    if draw(st.booleans()):
        records, others = records.round(), others.round()
    if draw(st.booleans()):
        records, others = records + 1e6, others + 1e6
    labels = dense(rng.integers(0, max(n // 3, 1), n))
    groups = lay_out(records, labels, np.arange(n), n + 1)
    frame = records.mean(axis=0)
    return State(groups, records, others - frame, frame)


@given(state=states())
def test_what_a_slide_changes_is_what_the_sse_changes_by(state: State) -> None:
    groups, labels = state.groups, state.groups.labels
    now = naive.sse(state.records, labels)
    for x, other in enumerate(state.others):
        after = state.records.copy()
        after[x] = other + state.frame
        change = naive.sse(after, labels) - now
        found = sliding_change(groups, x, other)
        assert found == pytest.approx(change, rel=1e-7, abs=1e-7)


@given(state=states(), data=st.data())
def test_a_slide_leaves_groups_as_if_laid_out_anew(
    state: State, data: st.DataObject
) -> None:
    groups, expected = state.groups, state.groups.records.copy()
    labels = groups.labels.copy()
    rows = st.integers(0, len(labels) - 1)
    for x in data.draw(st.lists(rows, min_size=1, max_size=30)):
        other = state.others[data.draw(rows)]
        slide(groups, x, other)
        expected[x] = other
    assert np.array_equal(groups.records, expected)
    assert np.array_equal(groups.labels, labels)
    assert not unsound(groups)


@given(state=states())
def test_what_a_slide_and_an_exchange_change_is_what_the_sse_changes_by(
    state: State,
) -> None:
    groups, labels, n = state.groups, state.groups.labels, len(state.records)
    now = naive.sse(state.records, labels)
    for x, z in zip(range(n), np.roll(np.arange(n), n // 2 + 1).tolist(), strict=True):
        if labels[x] == labels[z]:
            continue
        after = state.records.copy()
        after[x] = state.others[x] + state.frame
        exchanged = put(put(labels, x, labels[z]), z, labels[x])
        change = naive.sse(after, exchanged) - now
        found = slid_exchange_change(groups, x, state.others[x], z)
        assert found == pytest.approx(change, rel=1e-7, abs=1e-7)


@given(state=states(), data=st.data())
def test_a_slide_and_an_exchange_leave_groups_as_if_laid_out_anew(
    state: State, data: st.DataObject
) -> None:
    groups = state.groups
    rows = st.integers(0, len(groups.labels) - 1)
    for _ in range(10):
        x, z = data.draw(rows), data.draw(rows)
        if groups.labels[x] != groups.labels[z]:
            slide(groups, x, state.others[z])
            exchange(groups, x, z)
            assert np.array_equal(groups.records[x], state.others[z])
    assert not unsound(groups)


# The ground


@given(trajectories=towns())
def test_the_ground_is_that_of_the_tracks(trajectories: Trajectories) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    ground = lay_ground(tracks, m)
    assert np.array_equal(ground.points, tracks.points)
    assert np.array_equal(ground.place, tracks.first[tracks.run])
    assert ground.stride == STEPS
    behind = dict(gaps(tracks, tracks.start))
    pairs = {(int(x), y) for y, x in enumerate(ground.before) if x >= 0}
    assert pairs == {(x, int(y)) for x, y in enumerate(ground.after) if y >= 0}
    assert pairs == set(behind)
    for (_, y), apart in behind.items():
        assert ground.apart[y] == min(apart, STEPS * m)
    for x in range(len(trajectories)):
        end = tracks.first[tracks.run[x] + 1]
        assert ground.place[x] + ground.most[x] + STEPS * (m - 1) == end - 1


@given(trajectories=towns(), seed=seeds)
def test_a_window_reaches_as_far_as_the_others_leave_it_and_it_sees(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    ground, start = lay_ground(tracks, m), slid_at_random(tracks, m, seed)
    first, last = reach(ground, start)
    for x in range(len(start)):
        allowed = in_sight(m, start[x], starts_allowed(tracks, m, start, x))
        assert allowed == list(range(first[x], last[x] + 1))


@given(trajectories=towns(), seed=seeds, draw=seeds)
def test_whatever_all_do_within_their_shares_is_allowed(
    trajectories: Trajectories, seed: int, draw: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    start, rng = slid_at_random(tracks, m, seed), np.random.default_rng(draw)
    first, last = shared_out(lay_ground(tracks, m), start, rng)
    assert (first <= start).all()
    assert (start <= last).all()
    ways = [first, last, np.where(rng.random(len(start)) < 0.5, first, last)]
    for way in [*ways, rng.integers(first, last, endpoint=True)]:
        assert room(tracks, m, way)
        assert len(trajectories.slid(way)) == len(start)


def test_shares_leave_no_ground_and_differ_every_time() -> None:
    """Their starts are 25 steps apart, and must stay 12 apart: 13 to share."""
    tracks = tracks_of(
        on_runs(3, [[10, 16, 10]], np.random.default_rng(0).random((54, 2)))
    )
    ground, rng = lay_ground(tracks, 3), np.random.default_rng(0)
    shares = set()
    for _ in range(400):
        first, last = shared_out(ground, tracks.start, rng)
        assert first[0] == 0
        assert last[1] == ground.most[1] == 45
        assert first[1] - last[0] == STEPS * 3
        shares.add(int(last[0]))
    assert shares == set(range(10, 10 + 13 + 1))


@given(trajectories=towns(), seed=seeds)
def test_a_part_is_the_same_ground_for_each_window_alone(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    ground, rng = lay_ground(tracks, m), np.random.default_rng(seed)
    first, last = shared_out(ground, tracks.start, rng)
    rows = np.flatnonzero(rng.random(len(trajectories)) < 0.5)
    assume(len(rows))
    part, begin = part_of(ground, rows, first, last)
    assert np.array_equal(begin, first[rows])
    there = rng.integers(first, last, endpoint=True)
    np.testing.assert_array_equal(
        records_at(part, (there - first)[rows]), records_at(ground, there)[rows]
    )
    assert np.array_equal(part.most, (last - first)[rows])
    assert (part.before == -1).all()
    assert (part.after == -1).all()


@given(trajectories=towns(), seed=seeds)
def test_records_are_standardised_as_those_that_were_cut(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    ground, start = lay_ground(tracks, m), slid_at_random(tracks, m, seed)
    for found, expected in (
        (records_at(ground, tracks.start), naive.standardise(trajectories.records)),
        (records_at(ground, start), standardised(tracks, m, start)),
    ):
        # All may be off by what lies between two numbers as far from zero as the mean.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
        apart, there = found - found[0], expected - expected[0]
        np.testing.assert_allclose(apart, there, rtol=1e-9, atol=1e-9)
    own = centred(ground, start)
    found, before = records_at(own, start), records_at(ground, start)
    assert np.abs(found.mean(axis=0)).max() < 1e-7
    np.testing.assert_allclose(found - found[0], before - before[0], atol=1e-9)
    record = np.empty(2 * m)
    for x, begin_at in enumerate(start.tolist()):
        read_record(own, x, begin_at, record)
        np.testing.assert_allclose(record, found[x], rtol=1e-12, atol=1e-12)


def test_a_column_that_is_constant_counts_nothing() -> None:
    points = np.random.default_rng(0).normal(40, 1e-3, (50, 2))
    points[:, 1] = -3.7
    points[[1, 26], 0] = 40.1  # the first point of both windows, and of none that slid
    tracks = tracks_of(on_runs(3, [[1, 15], [1, 15]], points))
    ground = lay_ground(tracks, 3)
    assert ground.share[[0, 1, 3, 5]].tolist() == [0.0] * 4
    assert (ground.share[[2, 4]] > 0).all()
    assert np.isfinite(ground.mean).all()
    there = records_at(ground, tracks.start + 3)
    assert (there[:, [0, 1, 3, 5]] == 0.0).all()
    assert (there[:, [2, 4]] != 0.0).all()


# Rows and meetings


def laid(
    ground: Ground, start: Ints, axes: Floats, near: Ints, kind: type[np.floating]
) -> Slides:
    """All records at all starts of windows that are alone on their ground."""
    starts = ground.most + 1
    rows = np.empty((starts.sum(), axes.shape[1]), dtype=kind)
    first = np.cumsum(starts) - starts
    lay_rows(ground, axes, first, rows)
    meeting = np.empty_like(near)
    return Slides(rows, first, starts, start.copy(), meeting, start.copy())


class Scene(NamedTuple):
    """Windows in groups, about to be moved at random."""

    annealing: Annealing
    slides: Slides
    k: int


def scene(
    seed: int,
    n: int = 20,
    k: int = 3,
    people: int | None = None,
    kind: type[np.floating] = np.float64,
    noise: float = 0.4,
) -> Scene:
    """Windows of three points, each on a share of its run, in random groups."""
    rng = np.random.default_rng(seed)
    tracks = tracks_of(town(seed, n, 3, noise=noise))
    whole = lay_ground(tracks, 3)
    first, last = shared_out(whole, tracks.start, rng)
    start = tracks.start - first
    ground = centred(part_of(whole, np.arange(n), first, last)[0], start)
    axes = np.linalg.qr(rng.normal(size=(6, 6)))[0][:, : rng.integers(1, 7)].copy()
    near = near_windows(ground, start, axes, 8)
    slides = laid(ground, start, axes, near, kind)
    find_meetings(slides, near)
    subjects = np.arange(n) if people is None else dense(rng.integers(0, people, n))
    k = min(k, int(subjects.max()) + 1)
    labels = random_labels(seed, n, k, subjects)
    groups = lay_out(rows_at(slides, start), labels, subjects, n // k + 1)
    annealing = Annealing(
        descent=begin(groups, near),
        warmth=rng.uniform(0.2, 2.0, n),
        quantiles=QUANTILES,
        random=rng.integers(1, 2**63, 1, dtype=np.uint64),
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


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@given(trajectories=towns(), seed=seeds)
def test_rows_are_the_records_at_every_start_turned(
    kind: type[np.floating], trajectories: Trajectories, seed: int
) -> None:
    tracks, m, rng = (
        tracks_of(trajectories),
        points_of(trajectories),
        np.random.default_rng(seed),
    )
    ground = lay_ground(tracks, m)
    axes = rng.normal(size=(2 * m, rng.integers(1, 2 * m + 1)))
    none = np.empty((len(trajectories), 0), dtype=np.int64)
    slides = laid(ground, tracks.start, axes, none, kind)
    near = 1e-9 if kind is np.float64 else 1e-5
    for x, most in enumerate(ground.most.tolist()):
        there = [
            records_at(ground, put(tracks.start, x, s))[x] for s in range(most + 1)
        ]
        found = slides.rows[slides.first[x] :][: most + 1]
        np.testing.assert_allclose(found, there @ axes, rtol=near, atol=10 * near)
    assert len(slides.rows) == (ground.most + 1).sum()


@given(scene=scenes)
def test_windows_meet_where_they_are_nearest(scene: Scene) -> None:
    slides, near = scene.slides, scene.annealing.descent.neighbours
    for x, row in enumerate(near.tolist()):
        mine = slides.rows[slides.first[x] :][: slides.starts[x]]
        for rank, y in enumerate(row):
            there = slides.rows[slides.first[y] + slides.start[y]]
            away = ((mine - there) ** 2).sum(axis=1)
            met = slides.meeting[x, rank]
            assert 0 <= met < slides.starts[x]
            assert away[met] == pytest.approx(away.min(), rel=1e-9, abs=1e-12)


# Passes of slides


class Slid(NamedTuple):
    """Windows in groups, about to slide, as a pass takes them."""

    descent: Descent
    ground: Ground
    start: Ints
    looked: Ints

    def go(self, moves: int, begin: int = 0, end: int | None = None) -> int:
        """Let windows slide, and count moves on."""
        end = len(self.start) if end is None else end
        made = slide_pass(*self, moves, begin, end)
        assert isinstance(made, int)
        return made


def about_to_slide(tracks: Tracks, m: int, labels: Ints) -> Slid:
    n, start = len(labels), tracks.start.copy()
    ground = centred(lay_ground(tracks, m), start)
    groups = lay_out(records_at(ground, start), labels, np.arange(n))
    descent = begin(groups, np.empty((n, 0), np.int64))
    return Slid(descent, ground, start, np.full(n, -1))


def followed(slid: Slid, labels: Ints) -> bool:
    """Whether records, centroids and groups are those of the windows where they are."""
    groups, there = slid.descent.groups, records_at(slid.ground, slid.start)
    np.testing.assert_allclose(groups.records, there, rtol=0, atol=1e-6)
    assert np.array_equal(groups.labels, labels)
    return not unsound(groups)


@given(trajectories=towns(most=14, windows=1), seed=seeds, k=st.integers(2, 4))
@settings(max_examples=25)
def test_a_window_slides_to_where_its_group_loses_least(
    trajectories: Trajectories, seed: int, k: int
) -> None:
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    labels, moves = random_labels(seed, n, min(k, n)), 0
    slid = about_to_slide(tracks, m, labels)
    for x in np.random.default_rng(seed).permutation(n).tolist():
        before, changed = slid.start.copy(), slid.descent.changed.copy()
        losses = slid_losses(tracks, m, before, labels, x)
        had, moves = moves, slid.go(moves, x, x + 1)
        assert np.array_equal(np.delete(slid.start, x), np.delete(before, x))
        least, now = min(losses.values()), losses[int(before[x])]
        there = losses[int(slid.start[x])]
        assert there == pytest.approx(least, rel=1e-8, abs=1e-8)
        went = slid.start[x] != before[x]
        assert moves == had + went
        assert went or now < least + 1e-6
        if went:
            assert there < now
            changed[labels[x]] = moves
        assert np.array_equal(slid.descent.changed, changed)
    assert followed(slid, labels)


def least_of_run(tracks: Tracks, m: int, labels: Ints, on: list[int]) -> float:
    """The least that windows of a run lose, if each is in a group of its own kind.

    Of all starts that keep them apart, one after the other.
    """
    rows, least = standardised(tracks, m, tracks.start), least_gaps(tracks, m)
    lost: list[list[float]] = []
    for x in on:
        there = []
        for s in range(int(last_starts(tracks, m)[x]) + 1):
            rows_then = rows.copy()
            rows_then[x] = standardised(tracks, m, put(tracks.start, x, s))[x]
            there.append(naive.group_sse(rows_then[labels == labels[x]]))
        lost.append(there)
    apart = [least[pair] for pair in pairwise(on)]
    return min(
        sum(there[s] for there, s in zip(lost, starts, strict=True))
        for starts in product(*(range(len(there)) for there in lost))
        if all(
            b - a >= gap for (a, b), gap in zip(pairwise(starts), apart, strict=True)
        )
    )


@given(seed=seeds, k=st.integers(2, 4), noise=st.sampled_from([0.0, 0.4]))
@settings(max_examples=25)
def test_windows_of_a_run_in_several_groups_slide_to_where_all_lose_least(
    seed: int, k: int, noise: float
) -> None:
    trajectories = town(seed, 14, 2, slack=3, most=3, noise=noise)
    tracks, labels = tracks_of(trajectories), random_labels(seed, 14, k)
    for run in range(len(tracks.first) - 1):
        on = np.flatnonzero(tracks.run == run)
        on = on[np.argsort(tracks.start[on])]
        if len(on) == 1 or len(set(labels[on].tolist())) < len(on):
            continue
        slid = about_to_slide(tracks, 2, labels)
        slid.go(0, int(on[0]), int(on[0]) + 1)
        assert np.array_equal(np.delete(slid.start, on), np.delete(tracks.start, on))
        assert room(tracks, 2, slid.start)
        rows = standardised(tracks, 2, slid.start)
        lost = sum(naive.group_sse(rows[labels == group]) for group in labels[on])
        least = least_of_run(tracks, 2, labels, on.tolist())
        assert lost == pytest.approx(least, rel=1e-8, abs=1e-8)
        assert followed(slid, labels)


@given(trajectories=towns(most=20), seed=seeds, k=st.integers(2, 5))
@settings(max_examples=40)
def test_passes_gain_until_no_single_slide_does(
    trajectories: Trajectories, seed: int, k: int
) -> None:
    """Whether windows of a run are in one group, or in several."""
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    labels, moves = random_labels(seed, n, min(k, n)), 0
    slid = about_to_slide(tracks, m, labels)
    lost = [naive.sse(standardised(tracks, m, slid.start), labels)]
    for _ in range(100):
        before, had = slid.start.copy(), moves
        moves = slid.go(moves)
        assert room(tracks, m, slid.start)
        assert followed(slid, labels)
        lost.append(naive.sse(standardised(tracks, m, slid.start), labels))
        assert lost[-1] < lost[-2] + 1e-7
        assert (moves > had) == (slid.start != before).any()
        if moves == had:
            break
    assert moves == had, "it does not end"
    assert not single_slides_that_gain(tracks, m, slid.start, labels)


def test_on_a_very_long_run_a_window_goes_as_far_as_it_sees_at_once() -> None:
    """To the other of its group, 100 steps on; two lengths of a window are 16."""
    step = np.arange(1_000_100)
    way = np.column_stack([40 + 1e-7 * step, -3.7 + 1e-8 * step])
    points = np.concatenate([way, way[500_100:500_105]])
    tracks = tracks_of(on_runs(2, [[500_000, 500_095], [0, 0]], points))
    slid = about_to_slide(tracks, 2, np.zeros(2, dtype=np.int64))
    moves = 0
    for there in (*range(500_016, 500_100, 16), 500_100, 500_100):
        moves = slid.go(moves)
        assert slid.start.tolist() == [there, 0]
    assert moves == 7


def test_windows_are_looked_at_again_only_if_something_changed() -> None:
    """Twelve runs of one window each, in four groups."""
    slid = about_to_slide(tracks_of(town(3, 12, 3, most=1)), 3, np.arange(12) // 3)
    moves, had = 0, -1
    while moves > had:
        had, moves = moves, slid.go(moves)
    assert moves > 0
    still = slid.looked.copy()
    slid.go(moves)
    assert np.array_equal(slid.looked, still)
    slid.descent.changed[2] = moves + 1
    slid.go(moves + 1)
    assert np.flatnonzero(slid.looked != still).tolist() == [6, 7, 8]


# Random moves


@given(scene=scenes, heat=st.sampled_from([1e-6, 0.1, 1.0, 10.0]))
@settings(max_examples=30)
def test_a_random_move_is_made_if_what_it_costs_is_allowed(
    scene: Scene, heat: float
) -> None:
    annealing, slides, k = scene
    groups = annealing.descent.groups
    for _ in range(60):
        move = move_drawn(annealing, slides, k, heat)
        start, labels = slides.start.copy(), groups.labels.copy()
        anneal_sliding(annealing, slides, k, 1, heat, heat)
        if move is None or abs(move.cost - move.limit) < 1e-9:
            continue
        if move.kind != "nothing" and move.cost < move.limit:
            start, labels = move.start, move.labels
        assert np.array_equal(slides.start, start), move.kind
        assert np.array_equal(groups.labels, labels), move.kind
        np.testing.assert_allclose(
            groups.records, rows_at(slides, start), rtol=0, atol=1e-9
        )
        assert not unsound(groups)


def test_every_kind_of_random_move_is_made_and_refused() -> None:
    counted: dict[tuple[str, bool], int] = {}
    for seed in range(12):
        annealing, slides, k = scene(seed, 24, 3)
        for _ in range(100):
            move = move_drawn(annealing, slides, k, 0.5)
            if move is not None:
                done = move.kind, bool(move.cost < move.limit)
                counted[done] = counted.get(done, 0) + 1
            anneal_sliding(annealing, slides, k, 1, 0.5, 0.5)
    for kind in ("slide", "join", "exchange"):
        assert counted[kind, True] > 10
        assert counted[kind, False] > 10


@given(scene=scenes)
@settings(max_examples=20)
def test_a_start_is_drawn_where_two_meet_or_near_by(scene: Scene) -> None:
    annealing, slides, _ = scene
    labels, near = annealing.descent.groups.labels, annealing.descent.neighbours
    rng = np.random.default_rng(0)
    slides.start[:] = rng.integers(0, slides.starts)  # others than where they met
    for x, rank in np.ndindex(near.shape):
        y, most = near[x, rank], slides.starts[x] - 1
        same = labels[x] == labels[y]
        met = slides.meeting[x, rank] + slides.start[y] - slides.began[y]
        drawn = set()
        for word in rng.integers(0, 2**32, 40, dtype=np.uint64):
            start = draw_start(slides, x, y, rank, same, word)
            if word & np.uint64(2):
                assert start == np.clip(met, 0, most)
            else:
                drawn.add(start)
        by = 4 if same else 0
        low, high = np.clip([slides.start[x] - by, slides.start[x] + by], 0, most)
        assert drawn <= set(range(low, high + 1))
        assert same or len(drawn) == 1


def test_near_by_is_four_steps_either_way_and_each_as_often() -> None:
    slides = scene(1, 12, 2).slides
    x = int(np.argmax(slides.starts))
    assert slides.starts[x] > 9
    slides.start[x] = 4
    words = np.random.default_rng(0).integers(0, 2**32, 4_000, dtype=np.uint64)
    words &= ~np.uint64(2)
    drawn = [draw_start(slides, x, x, 0, True, word) for word in words]
    counts = np.bincount(drawn, minlength=9)
    assert len(counts) == 9
    assert counts.min() > 0.7 * 4_000 / 9


def test_a_window_slides_to_a_start_and_its_group_follows() -> None:
    annealing, slides, _ = scene(2, 12, 3)
    groups = annealing.descent.groups
    for x in range(12):
        records = groups.records.copy()
        slide_to(groups, slides, x, slides.start[x])
        assert np.array_equal(groups.records, records)
        slide_to(groups, slides, x, slides.starts[x] - 1)
        assert slides.start[x] == slides.starts[x] - 1
    there = rows_at(slides, slides.start)
    np.testing.assert_allclose(groups.records, there, rtol=0, atol=1e-9)
    assert not unsound(groups)


@given(
    seed=seeds,
    n=st.integers(4, 30),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    noise=st.sampled_from([0.0, 0.4]),
)
@settings(max_examples=30)
def test_after_many_random_moves_everything_can_be_found_again(
    seed: int, n: int, k: int, people: int | None, noise: float
) -> None:
    annealing, slides, k = scene(seed, n, k, people, np.float32, noise)
    groups, rows = annealing.descent.groups, slides.rows.copy()
    anneal_sliding(annealing, slides, k, 200 * n, 2.0, 0.01)
    assert ((slides.start >= 0) & (slides.start < slides.starts)).all()
    assert np.array_equal(slides.rows, rows)
    # In single precision, but for the mean that was taken off at the start.
    np.testing.assert_allclose(
        groups.records, rows_at(slides, slides.start), rtol=0, atol=1e-5
    )
    assert not unsound(groups)
    assert naive.holds(groups.labels, groups.subjects, k)
    assert naive.holds(groups.labels, None, k)


def test_random_moves_slide_windows_and_lose_less() -> None:
    """From random groups, with no heat to speak of."""
    annealing, slides, k = scene(5, 40, 3)
    groups, start = annealing.descent.groups, slides.start.copy()
    before = naive.sse(groups.records, groups.labels)
    anneal_sliding(annealing, slides, k, 500 * 40, 1e-3, 1e-4)
    assert naive.sse(groups.records, groups.labels) < 0.3 * before
    assert (slides.start != start).mean() > 0.3


def test_the_random_state_decides_on_all_moves() -> None:
    ended = []
    for word in (7, 7, 8):
        annealing, slides, k = scene(5, 40, 3)
        annealing.random[0] = word
        anneal_sliding(annealing, slides, k, 5_000, 1.0, 0.1)
        ended.append(
            (slides.start.tobytes(), annealing.descent.groups.labels.tobytes())
        )
    assert ended[0] == ended[1] != ended[2]


# Who is near


def far_apart(trajectories: Trajectories, pace: int) -> tuple[list[Floats], Floats]:
    """Every so many steps where each window may be, and where it is."""
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    now = tracks.start

    rows = [
        np.array(
            [
                record
                for s, record in at_all_starts(tracks, m, now, x).items()
                if (s - now[x]) % pace == 0 and in_sight(m, now[x], [s])
            ]
        )
        for x in range(len(now))
    ]
    return rows, standardised(tracks, m, now)


@given(trajectories=towns(most=10), count=st.integers(1, 12))
@settings(max_examples=25)
def test_near_windows_are_the_nearest_if_either_slides(
    trajectories: Trajectories, count: int
) -> None:
    """Where all places can be looked at: three times as many as are wanted."""
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    rows, here = far_apart(trajectories, 8)
    wanted = max(count, -(-sum(map(len, rows)) // 3))
    near = near_windows(lay_ground(tracks, m), tracks.start, np.eye(2 * m), wanted)
    assert near.shape == (n, wanted)
    expected = nearest_in_reach(rows, here, wanted)
    for x, found in enumerate(near.tolist()):
        others = min(wanted, n - 1)
        assert x not in found[:others]
        assert set(found[others:]) <= {x}
        assert len(set(found[:others])) == others
        away = {y: d for d, y in nearest_in_reach(rows, here, n)[x]}
        told = [away[y] for y in found[:others]]
        assert told == pytest.approx([d for d, _ in expected[x]], rel=1e-6, abs=1e-7)


@given(trajectories=towns(), count=st.integers(1, 6), seed=seeds)
@settings(max_examples=30)
def test_windows_that_are_near_know_of_each_other(
    trajectories: Trajectories, count: int, seed: int
) -> None:
    """Unless nearer ones fill the list; nobody is listed twice."""
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(2 * m, 2 * m)))[0]
    near = near_windows(lay_ground(tracks, m), tracks.start, axes[:, :2].copy(), count)
    for x, found in enumerate(near.tolist()):
        others = [y for y in found if y != x]
        assert found == others + [x] * (count - len(others))
        assert len(set(others)) == len(others)
        for y in others:
            assert x in near[y] or y not in near[y]  # or the list of y is full


def test_windows_out_of_phase_are_near() -> None:
    """Two on one street, three windows apart; and others beside where each is now."""
    rng = np.random.default_rng(0)
    way = np.column_stack([40 + 1e-4 * np.arange(33), -3.7 + 1e-5 * np.arange(33)])
    window, free = STEPS * 2 + 1, [[0, 24], [24, 0]]
    beside = [
        way[begin : begin + window] + rng.normal(0, 3e-4, (window, 2))
        for begin in [0] * 5 + [24] * 5
    ]
    trajectories = on_runs(
        3, [*free, *[[0, 0]] * 10], np.concatenate([way, way, *beside])
    )
    tracks = tracks_of(trajectories)
    near = near_windows(lay_ground(tracks, 3), tracks.start, np.eye(6), 3)
    assert near[0, 0] == 1
    assert near[1, 0] == 0
    rows = standardised(tracks, 3, tracks.start)
    nearest = naive.nearest_distances(rows, 3)
    assert naive.distance(rows[0], rows[1]) > 2 * nearest[0][-1]


def test_a_window_without_others_stands_for_itself() -> None:
    trajectories = town(0, 3, 3, slack=0)
    tracks = tracks_of(trajectories)
    near = near_windows(lay_ground(tracks, 3), tracks.start, np.eye(6), 5)
    for x, found in enumerate(near.tolist()):
        assert set(found[:2]) == {0, 1, 2} - {x}
        assert found[2:] == [x] * 3


def test_many_places_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = town(1, 24, 3, slack=40)
    tracks = tracks_of(trajectories)
    ground = lay_ground(tracks, 3)
    found = []
    for at_once in (20_000, 7, 1):
        monkeypatch.setattr("trajanon.align.near._AT_ONCE", at_once)
        found.append(near_windows(ground, tracks.start, np.eye(6), 6))
    assert all(np.array_equal(found[0], other) for other in found[1:])
