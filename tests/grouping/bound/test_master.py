from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import highspy
import naive_columns
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pricings import random_pricing, seeds

from trajanon.grouping.bound import master as module
from trajanon.grouping.bound.master import Master, Relaxation
from trajanon.grouping.bound.pricing import (
    first_groups,
    groups_within,
    pricing_problem,
    search_best,
    with_cuts,
)


def test_a_trio_is_cut_from_the_columns_there_are_and_those_that_come() -> None:
    """Each pair of three records is half chosen, until a cut forbids it."""
    records = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]])
    pricing, whole = pricing_problem(records, 2, np.arange(6)), np.repeat([0, 1], 3)
    master = Master(pricing.squares, whole)
    pairs = [np.array(pair) for pair in [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]]
    master.add(pairs)
    master.add_cuts(np.array([[0, 1, 2]]))
    master.add([np.array([3, 5])])
    without = Master(pricing.squares, whole)
    without.add(np.array(group) for group in master.groups)
    assert without.relax(pricing).sse == pytest.approx(2 * (0.5 + 0.5 + 2.0) / 2)
    relaxation = master.relax(pricing)
    assert relaxation.sse == pytest.approx((0.5 + 0.5 + 2.0) / 2 + 2.0)
    assert relaxation.pricing.cut_duals.sum() > 0.0
    master.add_cuts(np.array([[3, 4, 5]]))
    relaxation = master.relax(pricing)
    assert relaxation.sse == pytest.approx(4.0)
    priced = relaxation.pricing
    assert relaxation.sse == pytest.approx(priced.prices.sum() - priced.cut_duals.sum())


def test_a_column_is_added_once_and_costs_its_loss() -> None:
    records = np.array([[0.0], [1.0], [5.0], [6.0]])
    pricing = pricing_problem(records, 2, np.arange(4))
    master = Master(pricing.squares, np.zeros(4, dtype=np.int64))
    assert master.add([np.array([1, 0]), np.array([2, 3]), np.array([0, 1])]) == 2
    assert master.add([np.array([3, 2])]) == 0
    assert master.groups == [(0, 1, 2, 3), (0, 1), (2, 3)]
    assert master.costs == [26.0, 0.5, 0.5]
    relaxation = master.relax(pricing)
    assert relaxation.sse == pytest.approx(1.0)
    assert relaxation.pricing.prices.sum() == pytest.approx(1.0)


def test_a_programme_ends_when_it_is_told_to() -> None:
    records = np.random.default_rng(0).normal(size=(100, 3))
    pricing = pricing_problem(records, 3, np.arange(100))
    master = Master(pricing.squares, np.arange(100) // 4)
    master.add(first_groups(pricing))
    stop = Event()
    stop.set()
    with ThreadPoolExecutor(1) as thread:  # HiGHS is particular about threads
        thread.submit(module._run, master._relaxed, np.inf, stop).result()
    status = master._relaxed.getModelStatus()
    assert status == highspy.HighsModelStatus.kInterrupt


def test_where_the_limits_are_met_without_a_choice_the_groups_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = np.array([[0.0], [0.1], [9.0], [9.1]])
    pricing = pricing_problem(records, 2, np.arange(4))
    master = Master(pricing.squares, np.array([0, 1, 0, 1]))
    master.add(np.array(pair) for pair in [(0, 1), (2, 3)])
    every = Relaxation(-np.inf, pricing)
    assert master.choose(every, gap=0.0)[0].tolist() == [0, 0, 1, 1]
    monkeypatch.setattr(module, "solve_programme", lambda *_: None)
    assert master.choose(every, gap=0.0)[0].tolist() == [0, 1, 0, 1]


@given(seed=seeds, m=st.integers(4, 8), cuts=st.integers(0, 5))
@settings(max_examples=25)
def test_columns_that_cost_too_much_are_left_out(seed: int, m: int, cuts: int) -> None:
    records, pricing = random_pricing(seed, m, 2, None, grid=False)
    rng = np.random.default_rng(seed)
    of = np.array([rng.choice(m, 3, replace=False) for _ in range(cuts)])
    cut_duals = rng.exponential(0.5, cuts)
    pricing = with_cuts(pricing, of.reshape(-1, 3).astype(int), cut_duals)
    master = Master(pricing.squares, np.zeros(m, dtype=np.int64))
    every = list(naive_columns.every_group(m, 2, pricing.subjects))
    master.add(np.array(group) for group in every)
    earned = [
        naive_columns.earnings(records, pricing.prices, list(group))
        - naive_columns.duals_due(pricing.cuts, pricing.cut_duals, list(group))
        for group in master.groups
    ]
    expected = np.flatnonzero(np.array(earned) >= -0.5)
    relaxation = Relaxation(master.incumbent_sse - 0.5, pricing)
    assert master.columns_within_gap(relaxation).tolist() == expected.tolist()


@pytest.mark.parametrize("task", ["relax", "choose", "search", "groups_within"])
def test_what_a_watch_raises_ends_the_work(task: str) -> None:
    records = np.random.default_rng(0).normal(size=(60, 3))
    pricing = pricing_problem(records, 3, np.arange(60))
    master = Master(pricing.squares, np.arange(60) // 3)

    def watch() -> None:
        raise KeyboardInterrupt

    every = Relaxation(-np.inf, pricing)
    work: dict[str, Callable[[], object]] = {
        "relax": lambda: master.relax(pricing, watch),
        "choose": lambda: master.choose(every, gap=0.0, watch=watch),
        "search": lambda: search_best(pricing, 0.0, 10, watch),
        "groups_within": lambda: groups_within(pricing, 1.0, 5, watch),
    }
    with pytest.raises(KeyboardInterrupt):
        work[task]()
