from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_refine import Grouped, both, grouped
from pricings import HOMES, several

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements import recombination as module
from trajanon.grouping.refinements.recombination import recombine

seeds = st.integers(0, 10**6)
peoples = st.none() | st.integers(2, 12)


def random_optima(
    seed: int, n: int, k: int, people: int | None, grid: bool, count: int
) -> tuple[Grouped, list[Ints]]:
    """Some partitions of the same records, the first of them in its groups.

    Records that are mixed among those of their own subject keep every promise.
    """
    groups = several(seed, n, k, people, grid)
    rng = np.random.default_rng(seed)
    optima = []
    for _ in range(count):
        labels = groups.labels.copy()
        if people is None:
            labels = labels[rng.permutation(n)]
        for subject in set(groups.subjects.tolist()) if people is not None else ():
            own = np.flatnonzero(groups.subjects == subject)
            labels[own] = labels[rng.permutation(own)]
        optima.append(renumbered(labels))
    optima.sort(key=lambda labels: naive.sse(groups.records, labels))
    return replace(groups, labels=optima[0]), optima


def least_of_pool(records: Floats, optima: list[Ints]) -> float:
    """The least SSE of any partition into groups of the optima."""
    pool = {
        tuple(np.flatnonzero(labels == group).tolist())
        for labels in optima
        for group in set(labels.tolist())
    }
    cost = {group: naive.group_sse(records[list(group)]) for group in pool}

    def partitions(left: frozenset[int]) -> Iterator[float]:
        if not left:
            yield 0.0
            return
        for group in pool:
            if min(left) in group and left.issuperset(group):
                for rest in partitions(left - set(group)):
                    yield cost[group] + rest

    return min(partitions(frozenset(range(len(records)))))


@given(
    seed=seeds,
    n=st.integers(2, 40),
    k=st.integers(2, 6),
    people=peoples,
    grid=...,
    shift=st.sampled_from([0.0, 1e4]),
)
@settings(max_examples=12)
def test_no_group_loses_its_promise_and_no_partition_its_rank(
    seed: int, n: int, k: int, people: int | None, grid: bool, shift: float
) -> None:
    groups, optima = random_optima(seed, n, k, people, grid, 4)
    groups = replace(groups, records=groups.records + shift)
    before = [labels.copy() for labels in optima]
    labels = recombine(groups, groups.labels, optima)
    for labels_before, optimum in zip(before, optima, strict=True):
        assert np.array_equal(labels_before, optimum), "the input was changed"
    assert np.array_equal(labels, renumbered(labels))
    assert naive.holds(labels, groups.subjects, groups.k)
    lost = naive.sse(groups.records, labels)
    assert lost <= naive.sse(groups.records, optima[0]) + 1e-9
    again = replace(groups, random=np.random.default_rng(seed))
    assert np.array_equal(labels, recombine(again, again.labels, optima)), (
        "it does not repeat itself"
    )


@given(seed=seeds, n=st.integers(12, 20), people=peoples, grid=...)
@settings(max_examples=15)
def test_the_best_partition_of_the_pool_is_found(
    seed: int, n: int, people: int | None, grid: bool
) -> None:
    """Where no columns are priced."""
    groups, optima = random_optima(seed, n, 6, people, grid, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SIZES", {})
        labels = recombine(groups, groups.labels, optima)
    got = naive.sse(groups.records, labels)
    assert got == pytest.approx(least_of_pool(groups.records, optima), abs=1e-6)


@given(seed=seeds, n=st.integers(4, 11), k=st.integers(2, 5), grid=...)
@settings(max_examples=12)
def test_few_records_are_grouped_best(seed: int, n: int, k: int, grid: bool) -> None:
    groups, optima = random_optima(seed, n, k, None, grid, 1)
    labels = recombine(groups, groups.labels, optima)
    least = naive.least_sse(groups.records, groups.k)
    assert naive.sse(groups.records, labels) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("SIZES", {4: (1,)}),
        ("SIZES", {4: (20, 30)}),
        ("POOL_SIZE", 1),
        ("MOST_SOLVED", 1),
        ("ROOM", 0),
        ("LEAST_ROOM", 0),
        ("CHOICE_NODES", 0),
        ("REGION_GAP", 1.0),
        ("REGION_CHECKS", 0),
        ("PRICING_NODES", 1),
        ("GENERATION_ROUNDS", 1),
        ("COLUMNS_PER_RECORD", 0),
        ("GAPS_TRIED", 0),
        ("CUT_ROUNDS", 0),
    ],
)
def test_within_any_limit_no_more_is_lost(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: Any
) -> None:
    groups, optima = random_optima(8, 60, 4, None, False, 5)
    homes = (module, *HOMES)
    home = next(part for part in homes if limit in vars(part))
    monkeypatch.setattr(home, limit, value)
    labels = recombine(groups, groups.labels, optima)
    assert naive.holds(labels, groups.subjects, 4)
    before = naive.sse(groups.records, groups.labels)
    assert naive.sse(groups.records, labels) <= before


@pytest.mark.parametrize("k", [2, 5, 6])
def test_equal_records_stay_as_they_are(k: int) -> None:
    labels = np.repeat([0, 1, 2], k)
    groups = grouped(np.full((3 * k, 2), 0.1), labels, k)
    other = np.tile([0, 1, 2], k)
    assert recombine(groups, groups.labels, [other]).tolist() == labels.tolist()


def test_a_group_may_be_of_any_size() -> None:
    """One subject has so many records that no column of 2k - 1 could hold them."""
    subjects = np.array([0] * 9 + [1, 2, 1])
    one = np.zeros(12, dtype=np.int64)
    groups = grouped(np.arange(12.0)[:, None], one, 2, subjects)
    assert recombine(groups, groups.labels, [one]).tolist() == [0] * 12


@pytest.mark.parametrize(
    ("n", "k", "sizes"),
    [
        (90, 3, [200]),
        (250, 4, [200, 300]),
        (450, 5, [200, 300, 400, 500]),
        (2_500, 5, [200, 300, 400, *[500] * 8]),
        (30_000, 2, [200, 300, 400, *[500] * 2, 2_500]),
        (9_999, 6, [150, 250, 400]),
        (9_999, 7, []),
    ],
)
def test_regions_grow_up_to_the_whole(n: int, k: int, sizes: list[int]) -> None:
    assert module._region_sizes(n, k) == sizes


@pytest.mark.parametrize("when", [1, 5])
def test_it_ends_when_it_is_interrupted(when: int) -> None:
    said = 0

    def interrupt(task: str, done: float, total: float | None, note: str = "") -> None:
        nonlocal said
        said += 1
        if said == when:
            raise KeyboardInterrupt

    groups, optima = random_optima(1, 50, 3, None, False, 3)
    with pytest.raises(KeyboardInterrupt):
        recombine(*both(replace(groups, progress=interrupt)), optima)
    assert said == when


def test_a_group_of_very_many_records_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four people make only one group, whose pairs would not fit into memory."""
    monkeypatch.delattr(module, "pricing_problem")
    records = np.random.default_rng(0).normal(size=(20_000, 2))
    alone = Problem(records, np.arange(20_000) % 4, 3)
    one_group = np.zeros(20_000, dtype=np.int64)
    assert not recombine(alone, one_group, [one_group]).any()
