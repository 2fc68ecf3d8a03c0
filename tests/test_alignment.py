"""Alignment as a whole: what it promises, what it finds, and what it leaves alone."""

import _thread
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import Floats, Ints
from naive_sliding import (
    MADRID,
    STEP,
    on_runs,
    random_labels,
    room,
    single_slides_that_gain,
    slide_in_blocks,
    standardised,
    street,
    town,
    tracks_of,
)

import trajanon
from trajanon import workers
from trajanon.align import parts, search
from trajanon.align.aligned import Aligned, Best
from trajanon.align.alignment import align
from trajanon.align.ground import lay_ground
from trajanon.errors import BadInput
from trajanon.extract import extract
from trajanon.methods import METHODS
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition, dense
from trajanon.pipeline import EFFORTS, Effort, Options
from trajanon.progress import Progress, silent
from trajanon.refine import REFINEMENTS
from trajanon.refine.random_moves import PASS
from trajanon.tracks import STEPS
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

seeds = st.integers(0, 10**6)
FAR = (80.0, 170.0)
FEW_MOVES = Effort(1, 4 * PASS, 1, False)
ROUNDING = 0.02  # metres: a release has seven decimals of a degree

REAL = Path(__file__).parents[2] / "shared" / "realdata"


@pytest.fixture(autouse=True)
def _few_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two passes of annealing with windows that slide."""
    monkeypatch.setitem(EFFORTS, "balanced", FEW_MOVES)


@pytest.fixture(params=[2_500, 9], ids=["whole", "in blocks"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Windows of a block at most: all are one, or they fall into several."""
    size: int = request.param
    slide_in_blocks(monkeypatch, size)
    return size


def cut(trajectories: Trajectories, k: int, **options: Any) -> Partition:
    """Groups of windows as they were cut."""
    chosen = {"method": "mdav", "refine": "none"} | options
    return microaggregate(
        trajectories.records, k, subjects=trajectories.subject, **chosen
    )


def aligned(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    *,
    regroup: bool = True,
    moves: int = 4 * PASS,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Trajectories, Partition]:
    return align(
        trajectories,
        partition,
        k,
        subjects=trajectories.subject,
        regroup=regroup,
        moves_per_record=moves,
        seed=seed,
        progress=progress,
    )


def mean_metres(trajectories: Trajectories, partition: Partition) -> float:
    points = trajectories.points
    released = partition.aggregated.reshape(points.shape)
    return float(displacement(points, released).mean())


def lines(points: Floats) -> Counter[bytes]:
    return Counter(line.tobytes() for line in points)


def start_of(trajectories: Trajectories) -> Ints:
    return tracks_of(trajectories).start


def lie_well(before: Trajectories, after: Trajectories) -> bool:
    """Whether windows only slid: each on its run, in order, and apart as it must be."""
    tracks, slid = tracks_of(before), tracks_of(after)
    n, m, _ = before.points.shape
    assert after.points.shape == (n, m, 2)
    for name in ("points", "first", "run"):
        assert np.array_equal(getattr(slid, name), getattr(tracks, name))
    for name in ("subject", "trace", "provenance"):
        assert getattr(after, name) is getattr(before, name)
    for x, points in enumerate(after.points):
        a, b = tracks.first[tracks.run[x] :][:2]
        run = tracks.points[a:b]
        begin = int(slid.start[x])
        assert np.array_equal(points, run[begin : begin + STEPS * m - 3 : STEPS])
    return room(tracks, m, slid.start)


def loses_what_it_says(trajectories: Trajectories, partition: Partition) -> bool:
    """Whether losses and centroids are those of these windows, from scratch."""
    records, labels = trajectories.records, partition.labels
    exact = naive.standardise(records)
    lost, total = naive.sse(exact, labels), float((exact**2).sum())
    assert partition.sse == pytest.approx(lost, rel=1e-8, abs=1e-8)
    assert partition.sst == pytest.approx(total, rel=1e-9)
    loss = 100 * lost / total if total else 0.0
    assert partition.information_loss == pytest.approx(loss, rel=1e-8, abs=1e-8)
    assert np.array_equal(labels, dense(labels))
    assert len(partition.centroids) == labels.max() + 1
    for group, centroid in enumerate(partition.centroids):
        members = records[labels == group]
        mean = members[0] + (members - members[0]).mean(axis=0)
        np.testing.assert_allclose(centroid, mean, rtol=1e-15)
    return True


# What it promises


@given(
    seed=seeds,
    n=st.integers(4, 24),
    m=st.integers(2, 4),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    noise=st.sampled_from([0.0, 0.4]),
    where=st.sampled_from([(MADRID, STEP), (FAR, 1e-7), ((0.0, 0.0), 0.1)]),
    regroup=st.booleans(),
    moves=st.sampled_from([0, PASS, 2 * PASS, 4 * PASS, 8 * PASS + 1]),
)
@settings(max_examples=40)
def test_windows_only_slide_and_groups_keep_k(
    block: int,
    seed: int,
    n: int,
    m: int,
    k: int,
    people: int | None,
    noise: float,
    where: tuple[tuple[float, float], float],
    regroup: bool,
    moves: int,
) -> None:
    place, scale = where
    before = town(seed, n, m, people=people, noise=noise, where=place, scale=scale)
    whose = before.subject
    assume(n >= k and (whose is None or len(set(whose.tolist())) >= k))
    partition = cut(before, k)
    labels, start = partition.labels.copy(), start_of(before).copy()
    after, found = aligned(
        before, partition, k, regroup=regroup, moves=moves, seed=seed
    )
    assert np.array_equal(partition.labels, labels), "the input was changed"
    assert np.array_equal(start_of(before), start), "the input was changed"
    assert lie_well(before, after)
    assert naive.holds(found.labels, whose, k)
    assert naive.holds(found.labels, None, k)
    assert loses_what_it_says(after, found)
    if not regroup:
        assert np.array_equal(found.labels, labels)
    had = len(partition.stages)
    assert found.stages[:had] == partition.stages
    for stage in found.stages[had:]:
        assert stage.name == "alignment"
        assert stage.information_loss == found.information_loss
    if after is before:
        assert found.labels is partition.labels
        assert found.information_loss == partition.information_loss
    else:
        assert mean_metres(after, found) < mean_metres(before, partition)
        assert len(found.stages) == had + 1
        # In the units of the windows as they were cut, too.
        tracks = tracks_of(before)
        less, more = [
            naive.sse(standardised(tracks, m, start_of(t)), p.labels)
            for t, p in ((after, found), (before, partition))
        ]
        assert less < more + 1e-7


@pytest.mark.parametrize("refine", ["none", *REFINEMENTS])
@given(
    seed=seeds,
    n=st.integers(6, 24),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    method=st.sampled_from(list(METHODS)),
    count=st.sampled_from(["subjects", "records"]),
)
@settings(max_examples=12)
def test_every_release_is_of_windows_that_only_slid(
    block: int,
    refine: str,
    seed: int,
    n: int,
    k: int,
    people: int | None,
    method: str,
    count: str,
) -> None:
    before = town(seed, n, 3, people=people)
    whose = before.subject if count == "subjects" else None
    assume(whose is None or len(set(whose.tolist())) >= k)
    options = Options(method=method, refine=refine, seed=seed)
    plain, release = [
        trajanon.anonymize(before, k, count=count, align=on, **options)
        for on in (False, True)
    ]
    report, alignment = release.report, release.report["alignment"]
    labels = np.array(report["labels"])
    assert plain.report["alignment"] is None
    assert naive.holds(labels, whose, k)
    assert naive.holds(labels, None, k)
    if refine == "none":
        assert report["labels"] == plain.report["labels"]
    if alignment is None:
        assert lines(release.trajectories.points) == lines(plain.trajectories.points)
        return
    after = before.slid(np.array(alignment["starts"]))
    assert lie_well(before, after)
    exact = naive.standardise(after.records)
    lost = 100 * naive.sse(exact, labels) / (exact**2).sum()
    assert report["information_loss"] == pytest.approx(lost, rel=1e-8, abs=1e-8)
    assert report["stages"][-1]["name"] == "alignment"
    assert report["stages"][-1]["information_loss"] == report["information_loss"]
    assert [s["information_loss"] for s in report["stages"][:-1]] == [
        s["information_loss"] for s in plain.report["stages"]
    ]
    means = np.array([after.points[labels == g].mean(axis=0) for g in labels])
    released = release.trajectories.points
    assert len(released) == n
    order, found = (np.lexsort(a.reshape(n, -1).T) for a in (means.round(6), released))
    np.testing.assert_allclose(released[found], means[order], rtol=0, atol=2e-6)
    moved = displacement(after.points, means.round(7))
    assert report["displacement"]["mean"] == pytest.approx(moved.mean(), abs=ROUNDING)
    ceiling = plain.report["displacement"]["mean"] + ROUNDING
    assert report["displacement"]["mean"] < ceiling
    assert release.trajectories.tracks is None


def test_a_column_that_was_constant_counts_once_windows_slid() -> None:
    """All go north side by side, and on a wave that each of them meets elsewhere."""
    rng, step = np.random.default_rng(0), np.arange(40)
    ways = [
        np.column_stack([40 + 1e-7 * step, -3.7 + 1e-3 * np.sin((step + phase) / 5)])
        for phase in rng.integers(0, 30, 12)
    ]
    before = on_runs(4, [[10, 17]] * 12, np.concatenate(ways))
    partition = cut(before, 3)
    assert partition.sst == pytest.approx(4 * 11)
    after, found = aligned(before, partition, 3)
    assert np.ptp(start_of(after)) > 0
    assert found.sst == pytest.approx(8 * 11)
    assert loses_what_it_says(after, found)


def test_a_search_that_ends_farther_away_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it might end with a smaller SSE, in the units of before, and more metres."""
    before = town(3, 24, 3)
    partition = cut(before, 3)

    def lost(ground: object, best: Best, *_: object, **__: object) -> None:
        start, labels = best.aligned
        best.aligned = Aligned(start, labels[::-1].copy())

    monkeypatch.setattr("trajanon.align.alignment.search", lost)
    after, found = aligned(before, partition, 3)
    assert after is before
    assert found.labels is partition.labels
    assert found.information_loss == partition.information_loss
    assert found.stages[-1].information_loss == partition.information_loss


def test_groups_that_break_the_promise_are_never_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = town(3, 24, 3, people=6)
    partition = cut(before, 3)

    def breaks(ground: object, best: Best, *_: object, **__: object) -> None:
        best.aligned = Aligned(best.aligned.start, np.arange(24))

    monkeypatch.setattr("trajanon.align.alignment.search", breaks)
    with pytest.raises(trajanon.TrajanonError, match="left a group of fewer than 3"):
        aligned(before, partition, 3)


# How good it is


def pairs(phases: Sequence[tuple[int, int]], m: int = 4) -> Trajectories:
    """Two windows on each street, whose runs and starts differ."""
    rng, window = np.random.default_rng(0), STEPS * (m - 1) + 1
    free, ways = [], []
    for number, (one, other) in enumerate(phases):
        way = np.array(MADRID) + STEP * (street(rng, 80) + 500 * number)
        for start in (one, other):
            begin = int(rng.integers(0, 10))
            free.append([start - begin, 80 - start - window])
            ways.append(way[begin:])
    return on_runs(m, free, np.concatenate(ways))


@pytest.mark.parametrize("refine", ["none", *REFINEMENTS])
@pytest.mark.parametrize("method", ["hm2", "mdav"])
def test_two_tracks_equal_but_for_phase_become_one(method: str, refine: str) -> None:
    before = pairs([(10, 11), (12, 30), (50, 25), (10, 49), (40, 40), (33, 23)])
    release = trajanon.anonymize(before, 2, method=method, refine=refine)
    report = release.report
    assert report["groups"] == 6
    assert report["information_loss"] < 1e-20
    assert report["displacement"]["max"] < ROUNDING
    assert report["alignment"]["before"]["displacement"]["mean"] > 50
    after = before.slid(np.array(report["alignment"]["starts"]))
    assert np.array_equal(after.points[::2], after.points[1::2])
    ways = set(lines(release.trajectories.points).values())
    assert ways == {2}


@pytest.mark.parametrize("refine", ["none", "descent", "anneal"])
def test_two_rounds_of_one_way_in_one_group_become_one(refine: str) -> None:
    """One window has to slide: where both do, they pass each other and gain nothing."""
    turn = 2 * np.pi * np.arange(94) / 40
    block = 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    points = np.concatenate([MADRID + block, MADRID + block + 0.01])
    before = on_runs(4, [[10, 33, 25], [12, 35, 21]], points)
    report = trajanon.anonymize(before, 2, refine=refine).report
    assert report["alignment"] is not None
    assert report["alignment"]["before"]["displacement"]["mean"] > 40
    assert report["displacement"]["max"] < ROUNDING


@pytest.mark.parametrize("people", [None, 7])
@pytest.mark.parametrize("regroup", [False, True])
def test_no_single_slide_gains_in_the_end(
    block: int, regroup: bool, people: int | None
) -> None:
    @settings(max_examples=15)
    @given(seed=seeds, n=st.integers(4, 18), k=st.integers(2, 4))
    def test(seed: int, n: int, k: int) -> None:
        before = town(seed, n, 3, people=people)
        tracks, whose = tracks_of(before), before.subject
        own = np.arange(n) if whose is None else dense(whose)
        k = min(k, int(own.max()) + 1)
        ground = lay_ground(tracks, 3)
        best = Best(ground, Aligned(tracks.start, random_labels(seed, n, k, own)))
        search.search(
            ground,
            best,
            k,
            own,
            regroup=regroup,
            moves_per_record=0,
            random=np.random.default_rng(seed),
            progress=silent,
        )
        start, labels = best.aligned
        lost = naive.sse(standardised(tracks, 3, start), labels)
        assert best.lost == pytest.approx(lost, rel=1e-9, abs=1e-9)
        assert not single_slides_that_gain(tracks, 3, start, labels)

    test()


def test_windows_that_may_change_groups_end_nearer() -> None:
    before = town(11, 60, 3)
    partition = cut(before, 3, refine="descent")
    stay, descend, anneal = [
        mean_metres(*aligned(before, partition, 3, regroup=regroup, moves=moves))
        for regroup, moves in ((False, 0), (True, 0), (True, 20 * PASS))
    ]
    assert anneal < descend < stay < 0.9 * mean_metres(before, partition)


def test_the_search_slides_windows_while_they_change_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Moves at random, and the slides and regroupings after them, all count."""
    before = town(11, 60, 3)
    partition = cut(before, 3, refine="descent")
    lost: list[float] = []

    def offer(best: Best, found: Aligned) -> None:
        told(best, found)
        lost.append(best.lost)

    told = Best.offer
    monkeypatch.setattr(Best, "offer", offer)
    aligned(before, partition, 3, moves=12 * PASS)
    assert lost == sorted(lost, reverse=True)
    assert len(set(lost)) > 3


# What it leaves alone


def same_but_for_order(one: trajanon.Release, other: trajanon.Release) -> bool:
    """Whether two releases and reports are equal, bit for bit, but for seconds."""
    reports = []
    for release in (one, other):
        report = dict(release.report)
        stages = [{**stage, "seconds": 0.0} for stage in report["stages"]]
        reports.append(report | {"stages": stages})
    assert reports[0] == reports[1]
    assert list(one.report) == list(other.report)
    points = [lines(release.trajectories.points) for release in (one, other)]
    assert points[0] == points[1]
    return True


@given(
    seed=seeds,
    sizes=st.lists(st.integers(1, 4), min_size=3, max_size=8),
    refine=st.sampled_from(["none", *REFINEMENTS]),
    data=st.data(),
)
@settings(max_examples=15)
def test_without_slack_alignment_changes_no_bit(
    seed: int, sizes: list[int], refine: str, data: st.DataObject
) -> None:
    """As long as their windows, with less than a spacing between two of them."""
    rng, m = np.random.default_rng(seed), 3
    free = [[0, *rng.integers(0, STEPS, size - 1).tolist(), 0] for size in sizes]
    t = sum(sum(steps) + (len(steps) - 1) * (STEPS * (m - 1) + 1) for steps in free)
    before = on_runs(m, free, MADRID + 1e-3 * rng.normal(size=(t, 2)))
    whose = np.arange(len(before)) % 5
    before = replace(before, subject=whose if data.draw(st.booleans()) else None)
    plain, release = [
        trajanon.anonymize(before, 2, align=on, refine=refine, seed=seed)
        for on in (False, True)
    ]
    assert release.report["alignment"] is None
    assert same_but_for_order(plain, release)
    partition = cut(before, 2)
    assert aligned(before, partition, 2) == (before, partition)


@pytest.mark.parametrize("refine", ["none", "anneal"])
def test_trajectories_without_tracks_are_left_alone(refine: str) -> None:
    before = replace(town(1, 24, 3), tracks=None)
    plain, release = [
        trajanon.anonymize(before, 3, align=on, refine=refine) for on in (False, True)
    ]
    assert release.report["alignment"] is None
    assert same_but_for_order(plain, release)
    partition = cut(before, 3)
    assert aligned(before, partition, 3) == (before, partition)


def test_alignment_is_done_unless_it_is_declined() -> None:
    before = town(1, 24, 3)
    assert trajanon.anonymize(before, 3).report["alignment"] is not None
    plain = trajanon.anonymize(before, 3, align=False)
    assert plain.report["alignment"] is None
    without = trajanon.anonymize(replace(before, tracks=None), 3)
    assert same_but_for_order(plain, without)


def test_tracks_on_both_sides_of_the_antimeridian_are_refused() -> None:
    """Windows on one side might slide to the other."""
    longitude = (179.99 + 1e-3 * np.arange(30) + 180) % 360 - 180
    points = np.column_stack([np.zeros(30), longitude])
    before = on_runs(3, [[0, 21]] * 4, np.concatenate([points] * 4))
    assert before.points[..., 1].min() > 179
    with pytest.raises(BadInput, match="antimeridian"):
        trajanon.anonymize(before, 2)
    assert trajanon.anonymize(before, 2, align=False).report["n"] == 4


@pytest.mark.parametrize("align", [None, 1, "no"])
def test_align_is_true_or_false(align: Any) -> None:
    with pytest.raises(BadInput, match=f"align must be True or False .got {align!r}"):
        trajanon.anonymize(town(1, 24, 3), 3, align=align)


def test_equal_windows_stay_where_they_are() -> None:
    line = np.column_stack([40 + 1e-4 * np.arange(30), np.full(30, -3.7)])
    before = on_runs(3, [[5, 16]] * 6, np.concatenate([line] * 6))
    report = trajanon.anonymize(before, 3).report
    assert report["information_loss"] == 0.0
    assert report["alignment"] is None


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_windows_are_one_group(n: int) -> None:
    before = town(4, n, 3, slack=20)
    after, found = aligned(before, cut(before, n), n)
    assert lie_well(before, after)
    assert found.labels.tolist() == [0] * n


# Seeds and cores


def bits(found: tuple[Trajectories, Partition]) -> tuple[bytes, ...]:
    after, partition = found
    parts = after.points, partition.labels, partition.centroids
    return *(part.tobytes() for part in parts), repr(partition.sse).encode()


def test_a_seed_repeats_every_bit_on_any_cores(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = town(7, 60, 3, people=20)
    partition = cut(before, 3)
    monkeypatch.setattr("trajanon.neighbours._AT_ONCE", 7)
    found = []
    for cores in (1, 2, 5, 1):
        monkeypatch.setattr(workers, "cores", lambda cores=cores: cores)
        found.append(bits(aligned(before, partition, 3)))
    assert len(set(found)) == 1


def test_the_order_in_which_parts_are_done_leaves_every_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def backwards(
        jobs: Sequence[Callable[[Event], object]], *_: object
    ) -> list[object]:
        return [job(Event()) for job in reversed(jobs)][::-1]

    slide_in_blocks(monkeypatch, 9)
    before = town(7, 60, 3, people=20)
    partition = cut(before, 3)
    once = bits(aligned(before, partition, 3))
    monkeypatch.setattr(parts, "in_threads", backwards)
    assert bits(aligned(before, partition, 3)) == once


def test_another_seed_takes_another_course(block: int) -> None:
    before = town(7, 60, 3)
    partition = cut(before, 3)
    assert len({bits(aligned(before, partition, 3, seed=s)) for s in range(3)}) > 1


def test_a_seed_repeats_a_release() -> None:
    before = town(7, 60, 3, people=20)
    one, other = [trajanon.anonymize(before, 3, seed=5) for _ in range(2)]
    assert same_but_for_order(one, other)


def test_parts_are_no_larger_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    slide_in_blocks(monkeypatch, 9)
    settle, seen = search._settle_part, []

    def look(grouped: Any, field: Any, part: Any, stop: Event) -> Aligned:
        seen.append(part.rows)
        return settle(grouped, field, part, stop)

    monkeypatch.setattr(search, "_settle_part", look)
    before = town(7, 60, 3)
    aligned(before, cut(before, 3), 3)
    assert max(map(len, seen)) <= 9
    assert sorted(np.concatenate(seen).tolist()) == list(range(60))


def test_parts_that_do_nothing_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    slide_in_blocks(monkeypatch, 9)
    monkeypatch.setattr(search, "_settle_part", lambda *given: given[2].aligned)
    before, told = town(7, 60, 3), []
    tracks = tracks_of(before)
    best = Best(lay_ground(tracks, 3), Aligned(tracks.start, cut(before, 3).labels))
    # Slides alone come first, then parts, and all of them again in the end.
    monkeypatch.setattr(search, "_settle", lambda *given: given[2])
    monkeypatch.setattr(Best, "offer", lambda _, found: told.append(found))
    search.search(
        lay_ground(tracks, 3),
        best,
        3,
        np.arange(60),
        regroup=True,
        moves_per_record=0,
        random=np.random.default_rng(0),
        progress=silent,
    )
    assert told
    for found in told:
        assert np.array_equal(found.start, best.aligned.start)
        assert np.array_equal(dense(found.labels), best.aligned.labels)


@pytest.mark.parametrize(
    ("options", "moved"),
    [
        ({}, True),
        ({"effort": "fast"}, False),
        ({"refine": "descent"}, False),
        ({"refine": "none"}, False),
    ],
)
def test_random_moves_are_made_where_annealing_is_asked_for(
    options: Options, moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def count(annealing: Any, slides: Any, k: int, moves: int, *heats: float) -> None:
        made.append(moves)

    monkeypatch.setattr(parts, "anneal_sliding", count)
    trajanon.anonymize(town(7, 60, 3), 3, **options)
    # Half of the moves that the search for groups was given.
    assert sum(made) == (2 * PASS * 60 if moved else 0)


# Ctrl-C


ALIGNING = {"Settling windows", "Sliding windows"}
"""What alignment says that it does; whatever else is said comes before it."""


class Interrupting:
    """Progress that ends in Ctrl-C when it is told of some tasks for the j-th time."""

    def __init__(self, j: int, tasks: set[str]) -> None:
        self.left, self.tasks = j, tasks

    def __call__(
        self, task: str, done: float, total: float | None, note: str = ""
    ) -> None:
        self.left -= task in self.tasks
        if self.left < 0:
            raise KeyboardInterrupt


@given(
    seed=seeds,
    n=st.integers(6, 40),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    j=st.integers(0, 25),
    refine=st.sampled_from(["none", "descent", "anneal"]),
)
@settings(max_examples=25)
def test_ctrl_c_while_windows_slide_gives_the_best_so_far(
    block: int, seed: int, n: int, k: int, people: int | None, j: int, refine: str
) -> None:
    before = town(seed, n, 3, people=people)
    assume(before.subject is None or len(set(before.subject.tolist())) >= k)
    interrupting = Interrupting(j, ALIGNING)
    plain = trajanon.anonymize(before, k, align=False, refine=refine).report
    release = trajanon.anonymize(before, k, refine=refine, progress=interrupting)
    report, labels = release.report, np.array(release.report["labels"])
    assert report["stopped"] == (interrupting.left < 0)
    assert naive.holds(labels, before.subject, k)
    assert naive.holds(labels, None, k)
    assert len(release.trajectories) == n
    ceiling = plain["displacement"]["mean"] + ROUNDING
    assert report["displacement"]["mean"] <= ceiling
    if report["alignment"] is None:
        assert report["labels"] == plain["labels"]
        assert report["information_loss"] == plain["information_loss"]
    else:
        after = before.slid(np.array(report["alignment"]["starts"]))
        assert lie_well(before, after)
        assert report["stages"][-1]["name"] == "alignment"


def test_the_later_ctrl_c_comes_the_nearer_are_the_windows() -> None:
    before = town(11, 60, 3)
    partition = cut(before, 3)
    metres = []
    for j in (0, 6, 10, 10**9):
        interrupting = Interrupting(j, ALIGNING)
        found = aligned(before, partition, 3, moves=12 * PASS, progress=interrupting)
        assert found[1].stopped == (j < 10**9)
        metres.append(mean_metres(*found))
    assert metres == sorted(metres, reverse=True)
    assert metres[0] == mean_metres(before, partition)
    assert metres[-1] < metres[1] < metres[0]


@pytest.mark.parametrize("kernel", ["anneal_sliding", "slide_pass"])
@pytest.mark.parametrize("cores", [1, 2])
def test_ctrl_c_while_threads_slide_windows_ends_them_all(
    cores: int, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main thread is told while kernels work in others, or in itself."""
    work, begun = getattr(parts, kernel), []

    def interrupted(*arguments: Any) -> Any:
        begun.append(1)
        if len(begun) == 12:
            _thread.interrupt_main()
        return work(*arguments)

    slide_in_blocks(monkeypatch, 9)
    monkeypatch.setattr(workers, "cores", lambda: cores)
    monkeypatch.setattr(parts, kernel, interrupted)
    threads = set(threading.enumerate())
    before = town(11, 60, 3)
    partition = cut(before, 3)
    after, found = aligned(before, partition, 3)
    assert found.stopped
    assert lie_well(before, after)
    assert naive.holds(found.labels, None, 3)
    assert mean_metres(after, found) <= mean_metres(before, partition)
    assert set(threading.enumerate()) <= threads


@pytest.mark.parametrize("task", ["Annealing", "Moving records"])
def test_ctrl_c_before_windows_slide_leaves_them_as_they_were_cut(task: str) -> None:
    before, told = town(11, 60, 3), set()
    interrupting = Interrupting(1, {task})

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        told.add(task)
        interrupting(task, done, total, note)

    report = trajanon.anonymize(before, 3, progress=listen).report
    assert report["stopped"] is True
    assert report["alignment"] is None
    assert report["stages"][-1]["name"] == "Ctrl-C"
    assert not ALIGNING & told


def test_progress_tells_the_loss_of_the_best_so_far() -> None:
    told: list[tuple[str, float, float | None, str]] = []

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((task, done, total, note))

    before = town(11, 60, 3)
    aligned(before, cut(before, 3), 3, moves=12 * PASS, progress=listen)
    assert {task for task, *_ in told} == ALIGNING
    passes = [(done, total) for _, done, total, _ in told if total is not None]
    assert passes == [(i, 6) for i in range(6)]
    losses = [float(note.removeprefix("IL ").removesuffix(" %")) for *_, note in told]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


# Real recordings


@pytest.mark.skipif(not REAL.is_dir(), reason="../shared/realdata is not here")
def test_streets_of_san_francisco_end_nearer() -> None:
    """At 5 m; they are of one account, so records are counted."""
    pages = REAL / "osm_trackpoints_san_francisco"
    before = extract(pages, "-122.6188,37.6883,-122.3273,37.8223", spacing=5)
    assert before.tracks is not None
    plain, release = [
        trajanon.anonymize(before, 4, count="records", align=on, refine="descent")
        for on in (False, True)
    ]
    for name, share in (("mean", 0.95), ("median", 0.9)):
        moved = [r.report["displacement"][name] for r in (plain, release)]
        assert moved[1] < share * moved[0]
    assert release.report["information_loss"] < plain.report["information_loss"]
    alignment = release.report["alignment"]
    assert lie_well(before, before.slid(np.array(alignment["starts"])))
    assert min(release.report["sizes"]) >= 4
