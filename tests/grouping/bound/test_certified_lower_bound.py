from collections.abc import Callable
from types import ModuleType
from typing import Any

import naive
import naive_bound
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import reference

from trajanon._kernels.column_search import PricingProblem
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TooFewRecords
from trajanon.grouping import loss
from trajanon.grouping.bound import certified_lower_bound as bound
from trajanon.grouping.bound import column_generation
from trajanon.grouping.bound.certified_lower_bound import lower_bound, nearest_bound, prove
from trajanon.grouping.bound.master import Relaxation
from trajanon.grouping.bound.pricing import pricing_problem, with_cuts
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)

SHAPES: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "grid": lambda rng, n, p: rng.integers(0, 3, (n, p)).astype(np.float64),
    "far": lambda rng, n, p: 1e6 + rng.normal(size=(n, p)),
    "line": lambda rng, n, _: rng.normal(size=(n, 1)),
    "constant column": lambda rng, n, p: np.c_[rng.normal(size=(n, p)), np.ones(n)],
    "outliers": lambda rng, n, p: rng.standard_t(1, size=(n, p)),
    "duplicates": lambda rng, n, p: rng.normal(size=(n, p))[rng.integers(0, n, n)],
    "tight pairs": lambda rng, n, p: (
        np.repeat(rng.normal(size=(n, p)), 2, axis=0)[:n] + 1e-5 * rng.normal(size=(n, p))
    ),
}


def table(shape: str, seed: int, n: int, p: int) -> Floats:
    return SHAPES[shape](np.random.default_rng(seed), n, p)


def clusters(seed: int, count: int, k: int, p: int = 3) -> tuple[Floats, float]:
    """Records in clusters of k far from each other, and the SSE of these."""
    rng = np.random.default_rng(seed)
    centres = 100.0 * rng.permutation(count * p).reshape(count, p)
    X = np.repeat(centres, k, axis=0) + rng.normal(size=(count * k, p))
    labels = np.repeat(np.arange(count), k)
    shuffled = rng.permutation(count * k)
    return X[shuffled], loss.sse(standardise(X), labels)


def random_pricing(seed: int, n: int, k: int) -> tuple[Floats, PricingProblem]:
    """Records with any prices and duals of cuts, feasible or not."""
    rng = np.random.default_rng(seed)
    records = standardise(rng.normal(size=(n, 2)))
    pricing = pricing_problem(records, k, np.arange(n))
    pricing = pricing._replace(prices=rng.normal(0.3, 0.5, n))
    cuts = np.array([rng.choice(n, 3, replace=False) for _ in range(4)])
    return records, with_cuts(pricing, cuts, rng.exponential(0.2, 4))


# Against the optimum


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=seeds, n=st.integers(2, 10), k=st.integers(2, 4), p=st.integers(1, 3))
@settings(max_examples=12)
def test_no_partition_undercuts_it(shape: str, seed: int, n: int, k: int, p: int) -> None:
    k = min(k, n)
    X = table(shape, seed, n, p)
    got = lower_bound(X, k)
    records = standardise(X)
    least = naive.least_sse(records, k)
    assert 0.0 <= got.sse <= least * (1.0 + 1e-12) + 1e-28
    assert got.information_loss == pytest.approx(
        loss.information_loss(got.sse, float((records**2).sum()))
    )
    assert got.certified


@pytest.mark.parametrize("k", [2, 3, 4, 6, 10])
def test_clusters_of_k_are_proven_optimal(k: int) -> None:
    X, optimum = clusters(k, 8, k)
    got = lower_bound(X, k)
    assert got.certified
    assert got.sse <= optimum
    assert got.sse == pytest.approx(optimum, rel=1e-6)


def test_half_of_each_pair_of_three_records_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pairs, each chosen by half, cost 1.5 pairs; the three together two."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    X = np.concatenate([corners, corners + 100.0])
    optimum = naive.least_sse(standardise(X), 2)
    assert lower_bound(X, 2).sse == pytest.approx(optimum, rel=1e-6)
    monkeypatch.setattr(column_generation, "CUT_ROUNDS", 0)
    assert lower_bound(X, 2).sse == pytest.approx(0.75 * optimum, rel=1e-6)


@given(seed=seeds, k=st.integers(2, 5), n=st.integers(2, 9))
def test_fewer_than_2k_records_are_one_group(seed: int, k: int, n: int) -> None:
    n = min(max(n, k), 2 * k - 1)
    X = table("normal", seed, n, 2)
    got = lower_bound(X, k)
    assert got.certified
    assert got.sse == loss.sse(standardise(X), np.zeros(n, dtype=np.int64))
    assert got.information_loss == pytest.approx(100.0)


@pytest.mark.parametrize("n", [3, 5, 6, 20])
def test_equal_records_lose_nothing(n: int) -> None:
    got = lower_bound(np.full((n, 2), 0.1), 3)
    assert (got.sse, got.information_loss, got.certified) == (0.0, 0.0, True)


# The proof


def said(pricing: PricingProblem) -> Relaxation:
    """Prices and duals, and that they prove their sum."""
    return Relaxation(pricing.prices.sum() - pricing.cut_duals.sum(), pricing, proven=True)


@given(seed=seeds, n=st.integers(4, 10), k=st.integers(2, 3), nodes=st.integers(1, 9))
def test_any_prices_and_a_search_cut_short_prove_true_bounds(
    seed: int, n: int, k: int, nodes: int
) -> None:
    records, pricing = random_pricing(seed, n, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "NODES", nodes)
        sse, _ = prove(said(pricing), 2)
    assert 0.0 <= sse <= prove(said(pricing), 2)[0] + 1e-12
    assert prove(said(pricing), 2)[0] <= naive.least_sse(records, k)


@pytest.mark.parametrize(
    ("prices", "cut_duals", "certified"),
    [*[(1.0, 1.0, True), (1.001, 1.0, False), (1.0, 0.5, False), (0.999, 0.999, False)]],
)
def test_wrong_prices_do_not_certify(
    monkeypatch: pytest.MonkeyPatch, prices: float, cut_duals: float, certified: bool
) -> None:
    duals_paid = []

    def wrong(relaxation: Relaxation, p: int) -> tuple[float, bool]:
        pricing = relaxation.pricing
        duals_paid.append(len(pricing.cut_duals))
        wronged = pricing._replace(
            prices=pricing.prices * prices, cut_duals=pricing.cut_duals * cut_duals
        )
        return prove(relaxation._replace(pricing=wronged), p)

    X = table("outliers", 6, 40, 2)
    right = lower_bound(X, 2)
    monkeypatch.setattr(bound, "prove", wrong)
    got = lower_bound(X, 2)
    assert max(duals_paid) > 0
    assert right.certified
    assert got.certified == certified
    assert 0.0 <= got.sse <= right.sse + 1e-12


@given(seed=seeds, n=st.integers(4, 30), k=st.integers(2, 4))
def test_nearest_records_prove_what_they_promise(seed: int, n: int, k: int) -> None:
    records = standardise(table("normal", seed, n, 2))
    expected = naive_bound.nearest_bound(records, k)
    assert nearest_bound(records, k) == pytest.approx(expected, rel=1e-9)
    assert nearest_bound(records, k) <= expected
    if n < 11:
        assert expected <= naive.least_sse(records, k) + 1e-12


# Limits


@pytest.mark.parametrize(
    ("module", "limit", "value", "certified"),
    [
        (bound, "NODES", 1, False),
        (bound, "MOST_RECORDS_PAIRED", 10, False),
        (bound, "BOUND_ROUNDS", 1, False),
        (column_generation, "COLUMNS_PER_RECORD", 0, False),
        (column_generation, "CUT_ROUNDS", 0, True),
        (column_generation, "CUT_ROUNDS", 1, True),
        (column_generation, "CUTS_PER_RECORD", 1, True),
        (column_generation, "LEAST_GAIN", 1.0, True),
    ],
)
def test_within_any_limit_the_bound_is_true(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str, value: float, certified: bool
) -> None:
    X = table("outliers", 8, 60, 3)
    best = lower_bound(X, 3)
    monkeypatch.setattr(module, limit, value)
    got = lower_bound(X, 3)
    assert got.certified == certified
    # Above what the distances alone tell, which every table gets.
    least = nearest_bound(standardise(X), 3)
    assert least * (1.0 - 1e-9) <= got.sse <= best.sse * (1.0 + 1e-6)


def test_more_effort_gives_a_higher_bound() -> None:
    X = table("outliers", 8, 60, 3)
    fast, balanced, best = (lower_bound(X, 3, effort=one) for one in ("fast", "balanced", "best"))
    assert fast.sse == nearest_bound(standardise(X), 3)
    assert fast.sse < balanced.sse < best.sse == lower_bound(X, 3).sse
    assert [one.certified for one in (fast, balanced, best)] == [False, True, True]
    with pytest.raises(BadInput, match="`effort` 'much' is not known; choose from fast, bal"):
        lower_bound(X, 3, effort="much")  # type: ignore[arg-type]


def test_nothing_is_proven_beyond_what_was_reached() -> None:
    X = table("outliers", 6, 60, 2)
    full = lower_bound(X, 2)
    assert lower_bound(X, 2, upper=2.0 * full.sse) == full
    early = lower_bound(X, 2, upper=0.5 * full.sse)
    assert early.certified
    assert 0.5 * full.sse < early.sse < full.sse


# Repetition, words, refusals


@pytest.mark.parametrize(
    ("X", "k", "upper", "error", "message"),
    [
        ([[1.0], [np.nan], [2.0]], 2, None, BadInput, "record 1, column 0 is nan"),
        ([1.0, 2.0], 2, None, BadInput, "shape"),
        ([[1.0], [2.0]], 3, None, TooFewRecords, "2 records cannot form a group"),
        ([[1.0], [2.0]], 1, None, BadInput, "k must be at least 2"),
        ([[1.0], [2.0]], 2.5, None, BadInput, "k must be a whole number"),
        ([[1.0], [2.0]], 2, -1.0, BadInput, "upper must be the SSE of a partition"),
        ([[1.0], [2.0]], 2, np.nan, BadInput, "upper must be the SSE of a partition"),
        ([[1.0], [2.0]], 2, "1", BadInput, "upper must be the SSE of a partition"),
        ([[1.0], [2.0]], 2, True, BadInput, "upper must be the SSE of a partition"),
    ],
)
def test_what_cannot_be_bounded_is_refused_in_a_sentence(
    X: Any, k: int, upper: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as refused:
        lower_bound(X, k, upper=upper)
    assert "\n" not in str(refused.value)


# The reference data


def test_little_is_left_between_the_bound_and_what_was_reached() -> None:
    """A thousandth of what the package itself reached, percent."""
    reached = 14.467
    got = lower_bound(reference("tarragona"), 3)
    assert got.certified
    assert 0.999 * reached < got.information_loss < reached
