import csv
from dataclasses import replace

import naive
import naive_refine
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import Grouped, both, grouped, random_groups
from numpy.typing import NDArray
from real_data import REFERENCE, reference

import trajanon
from trajanon._kernels.group_state import Groups
from trajanon._kernels.shuffling_and_swapping_moves import recut, shuffling_pass
from trajanon.common.arrays import Ints, renumbered
from trajanon.common.parameters_of_single_methods import MicroaggregateSettings
from trajanon.grouping import loss
from trajanon.grouping.refinements.descent import build_groups
from trajanon.grouping.refinements.shuffling_and_swapping import STANDSTILL, rcs
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 30)
ks = st.integers(2, 5)
peoples = st.none() | st.integers(2, 15)


def laid_out(work: Grouped) -> tuple[Groups, NDArray[np.uint64]]:
    """Groups for the kernels, and the state of a generator."""
    places = len(work.labels) // work.k
    groups = build_groups(work.records, work.labels, work.subjects, places)
    return groups, work.random.integers(1, 2**63, size=1, dtype=np.uint64)


def with_events(work: Grouped, probability: float, most: int) -> Grouped:
    """Groups to be shuffled that often."""
    settings = MicroaggregateSettings(
        refine="rcs", shuffle_probability=probability, max_events=most
    )
    return replace(work, settings=settings)


def members(labels: Ints, group: int) -> set[int]:
    return set(np.flatnonzero(labels == group).tolist())


def test_rcs_comes_near_the_published_losses() -> None:
    k = 5
    X = reference("census")
    records = standardise(X)
    mdav = trajanon.microaggregate(X, k, method="mdav", refine="none")
    path = REFERENCE / "published" / "rcs.csv"
    with path.open(encoding="utf-8", newline="") as file:
        published = [
            row
            for row in csv.DictReader(file)
            if row["dataset"] == "Census" and row["k"] == str(k) and row["statistic"] == "avg"
        ]
    assert len(published) == 7
    for row in published:
        share, _, whole = row["shuffle_probability"].partition("/")
        events = float(share) / float(whole or 1), int(row["max_events"])
        losses = []
        for seed in range(5):
            found = rcs(*both(with_events(grouped(records, mdav.labels, k, seed=seed), *events)))
            losses.append(loss.information_loss(loss.sse(records, found), mdav.sst))
        assert np.mean(losses) == pytest.approx(float(row["value"]), rel=0.03)


@given(seed=seeds, n=sizes, k=ks, people=peoples)
def test_a_pass_without_events_is_its_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    (found, *state), expected = laid_out(groups), groups.labels
    for _ in range(3):
        left = shuffling_pass(found, *state, groups.k, 1.0, 0, 0, n)
        expected = naive_refine.shuffling_pass(groups.records, expected, groups.k, groups.subjects)
        assert left == 0
        assert found.labels.tolist() == expected.tolist()


@given(seed=seeds, n=sizes, k=ks, people=peoples)
def test_two_groups_are_recut_as_by_the_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    (kept, _), labels = laid_out(groups), groups.labels
    a, b = 0, int(labels.max())
    if a == b:
        return
    runs = naive_refine.recut(groups.records, labels, a, b, groups.k, groups.subjects)
    assert recut(kept, a, b, groups.k) == bool(runs)
    others = [members(labels, g) for g in range(a + 1, b)]
    if not runs:
        runs = [members(labels, a), members(labels, b)]
    found = renumbered(kept.labels)
    assert naive.holds(found, groups.subjects, groups.k)
    after = [members(found, g) for g in range(found.max() + 1)]
    assert sorted(after, key=min) == sorted([*runs, *others], key=min)


@given(
    seed=seeds,
    n=sizes,
    k=ks,
    people=peoples,
    grid=...,
    probability=st.sampled_from([0.0, 0.1, 1.0]),
    most=st.integers(0, 100),
)
def test_rcs_keeps_its_promises(
    seed: int, n: int, k: int, people: int | None, grid: bool, probability: float, most: int
) -> None:
    groups = random_groups(seed, n, k, people, grid)
    before = groups.labels.copy()
    groups = with_events(groups, probability, most)
    after = rcs(groups, groups.labels)
    assert np.array_equal(groups.labels, before), "the input was changed"
    assert np.array_equal(after, renumbered(after))
    assert naive.holds(after, groups.subjects, groups.k)
    least = naive.sse(groups.records, after)
    assert least <= naive.sse(groups.records, before) + 1e-9
    again = replace(groups, random=np.random.default_rng(seed))
    assert np.array_equal(rcs(again, again.labels), after)


@given(seed=seeds, n=sizes, k=ks, people=peoples, grid=...)
def test_without_events_rcs_ends_at_a_standstill(
    seed: int, n: int, k: int, people: int | None, grid: bool
) -> None:
    groups = random_groups(seed, n, k, people, grid)
    after = rcs(with_events(groups, 0.0, 0), groups.labels)
    further = naive_refine.shuffling_pass(groups.records, after, groups.k, groups.subjects)
    gained = naive.sse(groups.records, after) - naive.sse(groups.records, further)
    # Equal centroids may be told apart otherwise than by the twin.
    assert grid or gained < STANDSTILL


def test_as_many_events_happen_as_are_asked_for() -> None:
    groups = random_groups(0, 3000, 3, None, grid=False)
    args = groups.k, 1.0, 10, 0, 3000
    assert shuffling_pass(*laid_out(groups), *args) == 0
    assert shuffling_pass(*laid_out(groups), groups.k, 0.0, 10, 0, 3000) == 10
    left = shuffling_pass(*laid_out(groups), groups.k, 0.1, 3000, 0, 3000)
    assert 3000 - left == pytest.approx(300, abs=5 * np.sqrt(3000 * 0.1 * 0.9))
