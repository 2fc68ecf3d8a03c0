"""Columns generated until none is missing, and the best groups chosen of them."""

from typing import Any

import highspy
import naive
import naive_bound
import naive_columns
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_refine import grouped, random_groups
from pricings import peoples, seeds, set_limit, several
from problems import problem
from real_data import reference

from trajanon.common.arrays import renumbered
from trajanon.grouping import loss
from trajanon.grouping.bound import column_generation
from trajanon.grouping.bound.column_generation import best_groups, generate, violated_cuts
from trajanon.grouping.bound.master import Master
from trajanon.grouping.bound.pricing import first_groups, pricing_problem
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.refinements.shuffling_and_swapping import swap
from trajanon.grouping.standardised_records import standardise

# Columns of Census generated with exact pricing by an earlier prototype, percent; and the least
# loss ever seen, which no relaxation may exceed.
RELAXED, BEST_SEEN = 4.646, 4.668


@given(seed=seeds, m=st.integers(2, 8), k=st.integers(2, 4), grid=...)
@settings(max_examples=25)
def test_few_records_lose_between_the_relaxation_and_the_incumbent(
    seed: int, m: int, k: int, grid: bool
) -> None:
    groups = random_groups(seed, m, k, None, grid)
    labels = best_groups(groups.records, groups.k, groups.subjects, groups.labels)
    got = naive.sse(groups.records, labels)
    least = min(
        naive.sse(groups.records, other) for other in naive_columns.every_partition(m, groups.k)
    )
    assert least - 1e-9 <= got <= naive.sse(groups.records, groups.labels) + 1e-9
    # On so few records the pool holds the optimum, but for a group on the way there.
    if m <= 2 * groups.k:
        assert got == pytest.approx(least, abs=1e-6)


@given(
    seed=seeds,
    n=st.integers(2, 30),
    k=st.integers(2, 6),
    people=peoples,
    grid=...,
    shift=st.sampled_from([0.0, 1e4]),
)
@settings(max_examples=20)
def test_no_group_loses_its_promise_and_no_partition_its_rank(
    seed: int, n: int, k: int, people: int | None, grid: bool, shift: float
) -> None:
    groups = several(seed, n, k, people, grid)
    records = groups.records + shift
    before = groups.labels.copy()
    args = records, groups.k, groups.subjects, groups.labels
    labels = best_groups(*args)
    assert np.array_equal(groups.labels, before), "the input was changed"
    assert labels.shape == (n,)
    assert np.array_equal(labels, renumbered(labels))
    assert naive.holds(labels, groups.subjects, groups.k)
    assert naive.sse(records, labels) <= naive.sse(records, before) + 1e-9
    assert np.array_equal(labels, best_groups(*args)), "it does not repeat itself"


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("GENERATION_ROUNDS", 1),
        ("COLUMNS_PER_RECORD", 0),
        ("PRICING_NODES", 1),
        ("GAPS_TRIED", 0),
        ("EXTRA_PER_RECORD", 0),
        ("CHOICE_NODES", 0),
    ],
)
def test_within_any_limit_no_more_is_lost(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    groups = random_groups(8, 60, 4, None, grid=False)
    set_limit(monkeypatch, limit, value)
    labels = best_groups(groups.records, 4, groups.subjects, groups.labels)
    assert naive.holds(labels, None, 4)
    before = naive.sse(groups.records, groups.labels)
    assert naive.sse(groups.records, labels) <= before


def test_another_number_of_threads_does_not_matter() -> None:
    """HiGHS itself refuses a second number in one thread."""
    groups = random_groups(1, 50, 3, None, grid=False)
    args = groups.records, groups.k, groups.subjects, groups.labels
    before = best_groups(*args)
    # Stubs declare it without types.
    other: Any = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.setOptionValue("threads", 2)
    other.addCol(1.0, 0.0, 1.0, 0, [], [])
    assert other.run() == highspy.HighsStatus.kOk
    assert np.array_equal(best_groups(*args), before)


def test_a_tenth_at_a_time_loses_about_what_was_published() -> None:
    """As Castro et al. (2022), Table 1, k = 5 and ten subsets."""
    records = standardise(reference("tarragona"))
    n = len(records)
    groups = grouped(records, mdav(problem(records, 5)), 5)
    labels = swap(groups, groups.labels)
    parted, part = np.empty_like(labels), np.zeros(0, dtype=np.int64)
    for group in range(labels.max() + 1):
        part = np.append(part, np.flatnonzero(labels == group))
        if len(part) >= round(n / 10) or group == labels.max():
            within = best_groups(records[part], 5, np.arange(len(part)), labels[part])
            parted[part] = part[0] * n + within
            part = part[:0]
    il = loss.information_loss(loss.sse(records, renumbered(parted)), float((records**2).sum()))
    assert il < 20.47 + 0.1


@given(seed=seeds, m=st.integers(2, 9), k=st.integers(2, 4), grid=..., steady=...)
@settings(max_examples=30)
def test_no_column_is_missing(seed: int, m: int, k: int, grid: bool, steady: bool) -> None:
    groups = random_groups(seed, m, k, None, grid)
    pricing = pricing_problem(groups.records, groups.k, groups.subjects)
    master = Master(pricing.squares, renumbered(groups.labels))
    together = [np.flatnonzero(groups.labels == g) for g in set(groups.labels)]
    begun = np.random.default_rng(seed).exponential(1.0, m)
    pricing = pricing._replace(prices=begun)
    relaxation = generate(master, pricing, steady=steady)
    assert relaxation.proven
    every = list(naive_columns.every_group(m, groups.k, groups.subjects))
    every += [group.tolist() for group in together]
    expected = naive_columns.relaxation(groups.records, every)
    assert relaxation.sse == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("limit", "value"), [("GENERATION_ROUNDS", 2), ("PRICING_NODES", 1)])
def test_what_a_limit_cut_short_is_not_proven(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    groups = random_groups(8, 60, 4, None, grid=False)
    set_limit(monkeypatch, limit, value)
    pricing = pricing_problem(groups.records, 4, groups.subjects)
    master = Master(pricing.squares, groups.labels)
    assert not generate(master, pricing).proven


def test_the_relaxation_is_that_of_the_prototype() -> None:
    records = standardise(reference("census"))
    m = len(records)
    pricing = pricing_problem(records, 3, np.arange(m))
    labels = mdav(problem(records))
    master = Master(pricing.squares, labels)
    master.add(first_groups(pricing))
    relaxation = generate(master, pricing)
    assert relaxation.proven
    il = loss.information_loss(relaxation.sse, float((records**2).sum()))
    assert il == pytest.approx(RELAXED, abs=6e-4)
    assert il < BEST_SEEN


@given(seed=seeds, n=st.integers(3, 8), count=st.integers(1, 12))
def test_violated_trios_are_found(seed: int, n: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    groups = sorted(
        {
            tuple(sorted(rng.choice(n, rng.integers(2, 4), replace=False).tolist()))
            for _ in range(count)
        }
    )
    # As a linear programme has it, no record is held more than once.
    shares = rng.choice([0.0, 0.5, 0.5, 1.0], len(groups))
    held = [
        sum(float(share) for group, share in zip(groups, shares, strict=True) if record in group)
        for record in range(n)
    ]
    shares /= max(*held, 1.0)
    none = np.zeros((0, 3), dtype=np.int64)
    got = [tuple(cut) for cut in violated_cuts(groups, shares, none).tolist()]
    fractional = np.where(shares < 1.0, shares, 0.0)
    expected = naive_bound.violated_cuts(n, groups, fractional)
    assert set(got) <= set(expected)
    assert bool(got) == bool(expected)
    excess = [expected[cut] for cut in got]
    assert excess == pytest.approx(sorted(excess, reverse=True))
    if expected:
        assert excess[0] == pytest.approx(max(expected.values()))
    left_out = [cut for cut in expected if cut not in got]
    for cut in left_out:
        taken = max(sum(record in other for other in got) for record in cut)
        assert taken == column_generation.CUTS_PER_RECORD
    again = violated_cuts(groups, shares, np.array(got).reshape(-1, 3).astype(int))
    assert not {tuple(cut) for cut in again.tolist()} & set(got)
