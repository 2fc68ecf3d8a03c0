"""What holds of microaggregation in every way: groups of k records and subjects, and their loss."""

from functools import cache
from itertools import pairwise
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ways import OURS, every_way, is_slow, method_of, seeds

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.search_and_release_options import HeuristicName
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition
from trajanon.grouping.refinements.annealing import LARGEST_K_SOLVED
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")
"""What holds here does not depend on how many."""


STEPS = {
    "none": [],
    "anneal": ["descent", "annealing"],
    "descent": ["descent"],
    "swap": ["swap"],
    "rcs": ["rcs"],
}
"""The stages of each refinement."""


def examples(how: dict[str, Any], count: int) -> settings:
    return settings(max_examples=3 if is_slow(how) else count)


def stages_of(how: dict[str, Any], k: int) -> list[str]:
    """The names of the steps of a way."""
    method, steps = method_of(how), STEPS[how["refine"]]
    if how.get("effort") == "fast" and how["refine"] == "anneal":
        steps = ["descent"]
    if how.get("effort") == "best":
        steps = [*steps, "recombination", *(["regions"] if k > LARGEST_K_SOLVED else [])]
    return [*(["path", "MHM"] if method == "hm2" else [method]), *steps]


def largest(how: dict[str, Any], k: int) -> float:
    """How many records a group may hold where every record is its own subject."""
    if how["refine"] != "none":
        return np.inf
    bounded = ("hm2", "mdav", "md", "cbfs", "mf-tsp")
    return 2 * k - 1 if method_of(how) in bounded else np.inf


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Ints | None, int]:
    """Records, perhaps subjects, and a k they have enough of."""
    rng = np.random.default_rng(draw(seeds))
    k = draw(st.integers(2, 7))
    n = draw(st.sampled_from([k, k + 1, 2 * k - 1, 2 * k, 3 * k]) | st.integers(k, 45))
    p = draw(st.integers(1, 5))
    X = rng.normal(size=(n, p)) ** 3
    if draw(st.booleans()):  # duplicates
        X = X[rng.integers(0, rng.integers(1, n + 1), n)]
    if draw(st.booleans()):  # ties
        X = X.round()
    if draw(st.booleans()):
        X[:, rng.integers(p)] = rng.normal()
    X = X * draw(st.sampled_from([1.0, 1e-9, 1e9])) + draw(st.sampled_from([0.0, 1e6]))
    kind = draw(st.sampled_from(["none", "even", "runs", "one has most"]))
    if kind == "none":
        return X, None, k
    subjects = rng.integers(0, rng.integers(1, n + 1), n)
    if kind == "runs":
        subjects.sort()
    if kind == "one has most":
        subjects[rng.random(n) < 0.7] = 0
    different = len(set(subjects.tolist()))
    if different < k:
        subjects[rng.permutation(n)[:k]] = n + np.arange(k)
    return X, renumbered(subjects) * 1000 - 7, k


def is_consistent(partition: Partition, X: Floats) -> bool:
    """Whether everything in it can be computed again from X and the labels."""
    labels, records = partition.labels, naive.standardise(X)
    assert labels.dtype == np.int64
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(partition.sizes)))
    assert partition.sizes.tolist() == np.bincount(labels).tolist()
    for group, centroid in enumerate(partition.centroids):
        assert centroid == pytest.approx(X[labels == group].mean(axis=0), rel=1e-9)
    assert np.array_equal(partition.aggregated, partition.centroids[labels])
    sse, sst = naive.sse(records, labels), naive.group_sse(records)
    assert partition.sse == pytest.approx(sse, rel=1e-6, abs=1e-9)
    assert partition.sst == pytest.approx(sst, rel=1e-6, abs=1e-9)
    il = 100 * sse / sst if sst else 0.0
    assert partition.information_loss == pytest.approx(il, rel=1e-6, abs=1e-7)
    # Equal groups that are numbered otherwise are summed up in another order.
    last = partition.stages[-1].information_loss
    assert last == pytest.approx(partition.information_loss, rel=1e-12)
    return True


@every_way
def test_every_group_has_k_records_of_k_subjects(how: dict[str, Any]) -> None:
    @examples(how, 15)
    @given(table=tables(), seed=st.integers(0, 3))
    def test(table: tuple[Floats, Ints | None, int], seed: int) -> None:
        X, subjects, k = table
        seeded = how | {"seed": seed}
        partition = microaggregate(X, k, subjects=subjects, **seeded)
        assert naive.holds(partition.labels, None, k)
        assert naive.holds(partition.labels, subjects, k)
        if subjects is None:
            assert partition.sizes.max() <= largest(how, k)
        assert is_consistent(partition, X)
        assert [stage.name for stage in partition.stages] == stages_of(how, k)
        losses = [stage.information_loss for stage in partition.stages]
        assert [loss is None for loss in losses] == [name == "path" for name in stages_of(how, k)]
        falling = [loss for loss in losses if loss is not None]
        assert all(after <= before + 1e-9 for before, after in pairwise(falling))
        assert not partition.stopped
        assert (partition.path_length is None) == (method_of(how) != "hm2")

    test()


@every_way
@pytest.mark.parametrize("n", [2, 5])
def test_the_smallest_tables_are_grouped(how: dict[str, Any], n: int) -> None:
    for X in (np.random.default_rng(n).normal(size=(n, 2)), np.zeros((n, 1))):
        for k in range(2, n + 1):
            sizes = microaggregate(X, k, **how).sizes
            assert sizes.min() >= k
            assert sizes.sum() == n
            if n < 2 * k:
                assert sizes.tolist() == [n]


@every_way
def test_equal_records_lose_nothing(how: dict[str, Any]) -> None:
    partition = microaggregate(np.full((50, 3), 0.1), 4, **how)
    assert partition.sizes.min() >= 4
    assert partition.information_loss == partition.sse == 0.0
    assert np.array_equal(partition.aggregated, np.full((50, 3), 0.1))


# Records without ties: where two moves gain exactly the same, rounding may choose.


@every_way
def test_the_units_of_columns_leave_the_loss(how: dict[str, Any]) -> None:
    @examples(how, 6)
    @given(seed=seeds, n=st.integers(6, 45), p=st.integers(2, 4))
    def test(seed: int, n: int, p: int) -> None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        other = X * rng.uniform(0.01, 100, p) + rng.normal(size=p) * 1000
        a = microaggregate(X, 3, **how)
        b = microaggregate(other, 3, **how)
        assert a.information_loss == pytest.approx(b.information_loss, rel=1e-6)

    test()


@pytest.mark.parametrize("heuristic", OURS)
@given(seed=seeds, n=st.integers(4, 12), k=st.integers(2, 4), ties=st.booleans())
@settings(max_examples=20)
def test_numbers_met_in_order_get_the_optimum_of_all_partitions(
    heuristic: HeuristicName, seed: int, n: int, k: int, ties: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 1)) ** 3
    X = X.round() if ties else X
    partition = microaggregate(X, k, heuristic=heuristic, refine="none")
    records = naive.standardise(X)
    least = naive.least_cut(np.sort(records, axis=0), range(n), k)
    assert partition.sse >= least - 1e-9
    assert partition.path_length is not None
    straight = partition.path_length <= np.ptp(records) + 1e-9
    if straight:
        assert partition.sse == pytest.approx(least, rel=1e-7, abs=1e-9)
    assert straight or heuristic != "or-opt"


@every_way
@pytest.mark.parametrize(("p", "k"), [(1, 3), (2, 2)])
def test_no_partition_loses_less_than_the_best_of_all(how: dict[str, Any], p: int, k: int) -> None:
    X, least = small_table(p, k)
    assert microaggregate(X, k, **how).sse >= least - 1e-9


@cache
def small_table(p: int, k: int) -> tuple[Floats, float]:
    """Some records, and the least SSE of all their partitions."""
    X = np.random.default_rng(p).normal(size=(9, p)) ** 3
    return X, naive.least_sse(naive.standardise(X), k)


def test_the_names_of_subjects_do_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    numbers = np.arange(40) % 11
    a = microaggregate(X, 4, subjects=numbers)
    for names in (
        [f"{number:03}" for number in numbers],
        numbers * 7.5,
        np.array([f"{number:03}" for number in numbers], dtype=object),
    ):
        b = microaggregate(X, 4, subjects=names)
        assert np.array_equal(a.labels, b.labels)


@pytest.mark.parametrize(
    "subjects",
    [
        ["a", None, "b", "c", "a", "b"],
        [1, "a", 2, "b", None, 2.5],
        [float("nan"), "a", "b", "c", "a", "b"],
    ],
)
def test_subjects_may_be_any_values(subjects: list[Any]) -> None:
    partition = microaggregate(
        np.arange(6.0)[:, None], 3, subjects=np.array(subjects, dtype=object)
    )
    known = np.array([str(subject) for subject in subjects])
    assert naive.holds(partition.labels, renumbered(np.unique(known, return_inverse=True)[1]), 3)


def test_hm2_loses_less_than_mdav_on_the_sample(madrid: Trajectories) -> None:
    by = {
        (method, refine): microaggregate(
            madrid.records, 4, method=method, refine=refine, subjects=madrid.subject
        ).information_loss
        for method in ("hm2", "mdav")
        for refine in ("none", "descent")
    }
    assert by["hm2", "none"] < by["mdav", "none"]
    assert by["hm2", "descent"] < by["hm2", "none"]
    assert by["mdav", "descent"] < by["mdav", "none"]
