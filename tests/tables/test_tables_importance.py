"""How much columns count: in the search, of tables, and on the command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import FAST, Run
from hypothesis import assume, given
from hypothesis import strategies as st

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import HEAVIEST, HeuristicName
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.standardised_records import standardise

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}
SEARCHED: dict[str, Any] = {"effort": "fast"}
both = pytest.mark.parametrize("how", [MDAV, SEARCHED])

records = st.builds(
    lambda seed, n, p: np.random.default_rng(seed).normal(size=(n, p)),
    st.integers(0, 99),
    st.integers(8, 40),
    st.integers(2, 5),
)


def weights_for(X: Floats, data: st.DataObject) -> Floats:
    """Whole weights from 0 to 3, not all of them 0."""
    size = X.shape[1]
    found = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    assume(any(found))
    return np.array(found, dtype=np.float64)


@both
@given(X=records, k=st.integers(2, 4), data=st.data())
def test_a_whole_weight_is_a_column_that_stands_there_as_often(
    how: dict[str, Any], X: Floats, k: int, data: st.DataObject
) -> None:
    """Weight 2 is the column twice, and weight 0 the table without it."""
    weights = weights_for(X, data)
    repeated = np.repeat(X, weights.astype(int), axis=1)
    weighted = trajanon.microaggregate(X, k, weights=weights, **how)
    standard = standardise(repeated)
    assert weighted.sse == pytest.approx(loss.sse(standard, weighted.labels))
    assert weighted.sst == pytest.approx((standard**2).sum())
    if how is MDAV:
        same = trajanon.microaggregate(repeated, k, **how)
        assert weighted.labels.tolist() == same.labels.tolist()
    assert np.allclose(weighted.centroids, group_means(X, weighted.labels))


@both
@given(X=records, times=st.sampled_from([2**-20, 0.25, 4, 2**20]), data=st.data())
def test_weights_count_in_proportion(
    how: dict[str, Any], X: Floats, times: float, data: st.DataObject
) -> None:
    """A factor that is a power of four, so that roots are exact, leaves every bit."""
    weights = weights_for(X, data)
    one = trajanon.microaggregate(X, 3, weights=weights, **how)
    other = trajanon.microaggregate(X, 3, weights=times * weights, **how)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.information_loss == other.information_loss


@pytest.mark.parametrize(
    "how",
    [
        {"method": "decomposition", "refine": "none"},
        {"method": "mdav", "refine": "rcs"},
        {"method": "hm2", "refine": "none"},
    ],
)
@pytest.mark.parametrize("times", [4.0**-45, 4.0**45])
def test_very_light_and_heavy_columns_are_grouped_as_well(
    how: dict[str, Any], times: float
) -> None:
    """A search ends at gains of a fixed size: neither all there is to gain, nor rounding."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    one = trajanon.microaggregate(X, 3, **how)
    other = trajanon.microaggregate(X, 3, weights=np.full(3, times), **how)
    assert other.information_loss == pytest.approx(one.information_loss, rel=1e-6)
    assert other.sse == pytest.approx(times * one.sse)
    assert other.sst == pytest.approx(times * one.sst)
    if one.path_length is not None:
        assert other.path_length == pytest.approx(np.sqrt(times) * one.path_length)


def test_a_heavier_column_loses_less() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    lost = []
    for weight in (0, 1, 4, HEAVIEST):
        found = trajanon.microaggregate(X, 3, weights=[weight, 1, 1, 1], effort="fast")
        own = standardise(X[:, :1])
        lost.append(loss.sse(own, found.labels))
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] < lost[0] / 10


@pytest.mark.parametrize(
    ("heuristic", "weight"), [("or-opt", 1e13), ("two-opt", HEAVIEST), ("mdav-lk", 1e13)]
)
def test_a_search_with_heavy_columns_ends(heuristic: HeuristicName, weight: float) -> None:
    """Gains of rounding alone are no gains, though the weighted ways are long."""
    X = np.random.default_rng(0).normal(size=(150, 4))
    found = trajanon.microaggregate(X, 3, weights=[weight, 1, 1, 1], heuristic=heuristic)
    alone = trajanon.microaggregate(X[:, :1], 3)
    assert found.information_loss == pytest.approx(alone.information_loss, rel=0.1)


@pytest.mark.parametrize(
    "weights",
    [
        *([1], [1, 2, 3], [[1, 2]], [], 1, [1, -1], [1, np.nan], [1, np.inf], [1, 1e31]),
        *([0, 0], [0, 1e-31], [1e-323, 1e-323], ["x", 1]),
    ],
)
def test_what_are_no_weights_is_refused(weights: Any) -> None:
    with pytest.raises(BadInput, match=r"^`weights` must be .*number"):
        trajanon.microaggregate(np.arange(12.0).reshape(6, 2), 2, weights=weights)


# Tables


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(size=60).round(4) for name in ("a", "b", "c,d")}
    path = tmp_path / "x.csv"
    pd.DataFrame({**columns, "region": ["n", "s"] * 30}).to_csv(path, index=False)
    return path


def of_table(path: Path, importance: Mapping[str, float] | None, **options: Any) -> Any:
    named = {**MDAV, **options}
    return trajanon.microaggregate_table(path, 3, importance=importance, **named)


def test_columns_that_are_not_named_count_once(table: Path) -> None:
    found = of_table(table, {"b": 2.5})
    X = pd.read_csv(table)[["a", "b", "c,d"]].to_numpy()
    alone = trajanon.microaggregate(X, 3, weights=[1, 2.5, 1], **MDAV)
    assert found.report["importance"] == {"a": 1, "b": 2.5, "c,d": 1}
    lost = found.report["information_loss"] - found.report["rounding_loss"]
    assert lost == pytest.approx(alone.information_loss)
    assert np.array_equal(found.table.to_numpy(), alone.aggregated.round(4))
    assert of_table(table, None).report["importance"] is None


@pytest.mark.parametrize("strata", [None, "region"])
def test_the_loss_is_that_of_the_weighted_columns(table: Path, strata: str | None) -> None:
    weights = {"a": 3.0, "b": 0.5, "c,d": 0.0}
    report = of_table(table, weights, strata=strata).report
    of_each = report["loss_by_column"]
    mean = sum(weights[name] * of_each[name] for name in weights) / sum(weights.values())
    assert report["information_loss"] == pytest.approx(mean)
    reached = report["stages"][-1]["information_loss"]
    assert reached == pytest.approx(mean - report["rounding_loss"])


def test_groups_of_a_stratum_count_losses_of_the_whole_table(table: Path) -> None:
    """Each column counts as it does in all rows, however little it varies in the stratum."""
    rows = pd.read_csv(table)
    rows["b"] = rows["b"].where(rows.region == "n", rows["b"] / 8).round(6)
    rows.to_csv(table, index=False)
    found = of_table(table, {"b": 9}, strata="region").table
    X = rows[["a", "b", "c,d"]].to_numpy()
    for region in "ns":
        own = (rows.region == region).to_numpy()
        counts = [1, 9, 1] * (X[own].std(axis=0) / X.std(axis=0)) ** 2
        alone = trajanon.microaggregate(X[own], 3, weights=counts, **MDAV)
        assert np.allclose(found[own].to_numpy(), alone.aggregated, atol=6e-5)


# The command


def test_importance_is_on_the_screen_and_in_json(run: Run, table: Path) -> None:
    words = ("microaggregate", table.name, "-k", 3, *FAST, "--importance")
    answer = run(*words, 'a=2, "c,d=0"')
    assert "Weighted loss after mdav" in answer.out
    assert "Information loss" not in answer.out
    report = json.loads(run(*words, "a=2,b=0.5", "--json").out)
    assert report["importance"] == {"a": 2, "b": 0.5, "c,d": 1}
    plain = run(*words[:-1]).out
    assert "Information loss after mdav" in plain
    assert "eight" not in plain


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        ("a", "--importance 'a' is not understood at 'a'; write a=2,b=0.5, each once"),
        ("a=2,b", "is not understood at 'b'"),
        ("a=2,a=3", "is not understood at 'a=3'"),
        ("a=-1", "the importance of 'a' must be a number from 0"),
        ("aa=2", "column 'aa' of --importance is not averaged"),
        ("a=nan", "must be a number from 0 to 1e+30 (got nan)"),
        ('a=0,b=0,"c,d"=0', "--importance must be above 0 for one column at least"),
        ("region=1", "column 'region' of --importance is not averaged; x.csv has a, b, c,d"),
    ],
)
def test_words_that_are_no_importance_are_refused(
    run: Run, table: Path, weights: str, why: str
) -> None:
    answer = run("microaggregate", table.name, "-k", 3, *FAST, "--importance", weights)
    assert why in answer.sentence
