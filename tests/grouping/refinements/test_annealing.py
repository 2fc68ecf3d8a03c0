"""Annealing, the blocks it works in, and what does not depend on either."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_refine import Grouped, both, random_groups, search_in_blocks

from trajanon.common import threads_and_dask
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.effort_of_the_search import Effort
from trajanon.grouping import loss
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.problem import SearchLog
from trajanon.grouping.refinements import annealing as annealings
from trajanon.grouping.refinements.annealing import (
    MOVES_PER_PASS,
    anneal,
    anneal_runs,
    neighbour_ranks,
    schedule,
)
from trajanon.grouping.refinements.descent import descend
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)


class Heard(SearchLog):
    """Keeps every partition that it is told of."""

    def __init__(self, records: Floats) -> None:
        super().__init__(records)
        self.offered: list[Ints] = []

    def offer(self, labels: Ints, sse_of_labels: float | None = None) -> None:
        self.offered.append(labels.copy())
        super().offer(labels, sse_of_labels)


def searched(work: Grouped, moves: int = 4 * MOVES_PER_PASS, runs: int = 2) -> Grouped:
    """The same groups, to be annealed, with a course that hears everything."""
    return replace(work, budget=Effort(moves_per_record=moves, runs=runs), log=Heard(work.records))


def heard(work: Grouped) -> list[Ints]:
    assert isinstance(work.log, Heard)
    return work.log.offered


@pytest.fixture(params=[2_500, 12], ids=["whole", "in blocks"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Records of a block at most: the table is one, or falls into several."""
    size: int = request.param
    search_in_blocks(monkeypatch, size)
    return size


# How good it is


@given(
    seed=seeds, n=st.integers(4, 10), k=st.integers(2, 4), p=st.integers(1, 3), ties=st.booleans()
)
@settings(max_examples=6)
def test_the_best_effort_finds_the_optimum_of_small_tables(
    seed: int, n: int, k: int, p: int, ties: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, p))
    X = X.round() if ties else X
    least = naive.least_sse(standardise(X), k)
    found = microaggregate(X, k, effort="best").sse
    assert found == pytest.approx(least, rel=1e-9, abs=1e-9)


def test_annealing_finds_what_descent_does_not() -> None:
    work = searched(random_groups(3, 300, 3, None, grid=False), 10_000)
    gained = loss.sse(work.records, anneal(work, work.labels)) / loss.sse(
        work.records, descend(work, work.labels)
    )
    assert gained < 0.99


@pytest.mark.parametrize("count", [1, 2, 16, 20, 200, 5_000])
def test_every_neighbour_is_drawn_and_the_nearest_most(count: int) -> None:
    times = np.bincount(neighbour_ranks(count))
    assert len(times) == count
    assert times.min() >= 1
    assert (np.diff(times) <= 1).all()  # but for rounding, ever fewer
    expected = np.exp(5.0 - 5.0 / count)  # times as often as the farthest
    assert times[0] / times[-1] == pytest.approx(expected, rel=0.6)


@pytest.mark.parametrize("moves", [1, MOVES_PER_PASS, 8_000, 40_000])
def test_the_heat_falls_slowest_in_the_middle(moves: int) -> None:
    work = replace(random_groups(0, 40, 3, None, grid=False), budget=Effort(moves_per_record=moves))
    in_a_pass, heats = schedule(work)
    assert in_a_pass * (len(heats) - 1) == moves
    assert heats[[0, -1]].tolist() == pytest.approx([1.4, 0.07])
    falls = -np.diff(np.log(heats))
    assert (falls > 0.0).all()
    if len(falls) >= 16:
        assert falls[len(falls) // 2] < min(falls[0], falls[-1])


# What it promises


@given(
    seed=seeds,
    n=st.integers(2, 60),
    k=st.integers(2, 5),
    people=st.none() | st.integers(2, 30),
    grid=...,
)
@settings(max_examples=20)
def test_every_group_keeps_k_subjects_at_every_pass_and_none_ends_worse_than_descent(
    block: int, seed: int, n: int, k: int, people: int | None, grid: bool
) -> None:
    work = searched(random_groups(seed, n, k, people, grid))
    before = work.labels.copy()
    after = anneal(work, work.labels)
    assert np.array_equal(work.labels, before), "the input was changed"
    assert np.array_equal(after, renumbered(after))
    assert naive.holds(after, work.subjects, work.k)
    for labels in heard(work):
        assert len(labels) == len(work.labels)
        assert naive.holds(labels, work.subjects, work.k)
        assert set(labels.tolist()) == set(range(int(labels.max()) + 1))
    lost = loss.sse(work.records, descend(work, work.labels))
    assert loss.sse(work.records, after) <= lost * (1.0 + 1e-12)  # equal but for rounding


@pytest.mark.parametrize("runs", [1, 3])
def test_each_run_ends_in_an_optimum_of_descent(runs: int) -> None:
    work = searched(random_groups(0, 200, 3, 60, grid=False), runs=runs)
    optima = anneal_runs(work, work.labels)
    assert len(optima) == runs
    for labels in optima:
        assert naive.holds(labels, work.subjects, work.k)
        again = renumbered(descend(*both(replace(work, labels=labels))))
        assert np.array_equal(again, labels)
    assert len({labels.tobytes() for labels in optima}) == runs


# What does not matter, and what does


def test_the_number_of_cores_leaves_every_bit(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(threads_and_dask, "cores", lambda cores=cores: cores)
        work = searched(random_groups(7, 120, 3, 40, grid=True))
        found.append([anneal(work, work.labels), *heard(work)])
    for others in found[1:]:
        assert all(map(np.array_equal, found[0], others))


# Little to do


def test_equal_records_are_not_annealed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("it was annealed")

    monkeypatch.setattr(annealings, "make_random_moves", never)
    for X in (np.full((30, 2), 0.1), np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)):
        for effort in ("balanced", "best"):
            assert microaggregate(X, 3, effort=effort).sse == 0.0


def test_progress_tells_the_loss_of_the_best_groups_so_far() -> None:
    told: list[tuple[float, float | None, str]] = []

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        if task == "Annealing":
            told.append((done, total, note))

    work = searched(random_groups(0, 60, 3, None, grid=False), 10 * MOVES_PER_PASS, runs=1)
    anneal(*both(replace(work, progress=listen)))
    assert [(done, total) for done, total, _ in told] == [(0, 10), (4, 10), (8, 10)]
    losses = [float(note.removeprefix("IL ").removesuffix(" %")) for *_, note in told]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 0.0
