"""Random moves of records, and of windows that slide: made, refused, and followed."""

import naive
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import move_drawn, rows_at, unsound
from sliding_towns import Scene, scene, scenes, seeds

from trajanon._kernels.annealing_moves import AT_ONE_HEAT, Annealing, draw_start, make_random_moves
from trajanon._kernels.sliding_windows import find_meeting
from trajanon.common.arrays import renumbered
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import QUANTILES, neighbour_ranks
from trajanon.grouping.refinements.descent import build_descent


@given(scene=scenes, heat=st.sampled_from([1e-6, 0.1, 1.0, 10.0]))
@settings(max_examples=30)
def test_a_random_move_is_made_if_what_it_costs_is_allowed(scene: Scene, heat: float) -> None:
    annealing, slides, k = scene
    groups = annealing.descent.groups
    for _ in range(20):
        move = move_drawn(annealing, slides, k, heat)
        start, labels = slides.start.copy(), groups.labels.copy()
        make_random_moves(annealing, slides, k, 1, heat, heat)
        if move is None or abs(move.cost - move.limit) < 1e-5:
            continue
        if move.kind != "nothing" and move.cost < move.limit:
            start, labels = move.start, move.labels
        assert np.array_equal(slides.start, start), move.kind
        assert np.array_equal(groups.labels, labels), move.kind
        np.testing.assert_allclose(groups.records, rows_at(slides, start), rtol=0, atol=1e-5)
        assert not unsound(groups)


def test_every_kind_of_random_move_is_made_and_refused() -> None:
    counted: dict[tuple[str, bool], int] = {}
    for seed in range(20):
        annealing, slides, k = scene(seed, 24, 3)
        for _ in range(100):
            move = move_drawn(annealing, slides, k, 0.5)
            if move is not None:
                done = move.kind, bool(move.cost < move.limit)
                counted[done] = counted.get(done, 0) + 1
            make_random_moves(annealing, slides, k, 1, 0.5, 0.5)
    for kind in ("slide", "join", "exchange"):
        assert counted[kind, True] > 5
        assert counted[kind, False] > 5


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
        met = find_meeting(slides, x, y) + slides.start[y] - slides.began[y]
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
    annealing, slides, k = scene(seed, n, k, people, noise)
    groups, rows = annealing.descent.groups, slides.rows.copy()
    make_random_moves(annealing, slides, k, 200 * n, 2.0, 0.01)
    assert ((slides.start >= 0) & (slides.start < slides.starts)).all()
    assert np.array_equal(slides.rows, rows)
    # In single precision, but for the mean that was taken off at the start.
    np.testing.assert_allclose(groups.records, rows_at(slides, slides.start), rtol=0, atol=1e-5)
    assert not unsound(groups)
    assert naive.holds(groups.labels, groups.members["subject"], k)
    assert naive.holds(groups.labels, None, k)


def test_a_record_joins_the_group_of_one_whose_neighbour_it_is() -> None:
    # The last record looks to the first, which looks to nobody outside its group.
    records = np.array([0.0, -9.0, -9.5, 1.0, 1.5])[:, None]
    labels = np.array([0, 0, 0, 1, 1])
    neighbours = np.array([[1], [2], [1], [0], [3]])
    annealing = Annealing(
        descent=build_descent(Problem(records, np.arange(5), 2), records, labels, neighbours),
        warmth=np.full(5, 1e-3),
        quantiles=QUANTILES,
        ranks=neighbour_ranks(1),
        random=np.array([1], dtype=np.uint64),
        moves=np.empty((AT_ONE_HEAT, 4), dtype=np.int64),
    )
    make_random_moves(annealing, None, 2, 1_000, 1.0, 0.5)
    assert renumbered(annealing.descent.groups.labels).tolist() == [0, 1, 1, 0, 0]
