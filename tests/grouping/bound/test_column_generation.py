from typing import Any

import highspy
import naive
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
from trajanon.grouping.bound.column_generation import best_groups
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.refinements.shuffling_and_swapping import swap
from trajanon.grouping.standardised_records import standardise


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
        ("HALVINGS", 0),
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
