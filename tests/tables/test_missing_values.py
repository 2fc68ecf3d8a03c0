"""Missing values that stay missing: k values stand behind each that is written."""

from pathlib import Path
from typing import Any

import naive_tables
import numpy as np
import pandas as pd
import pytest
from commands import FAST, Run
from hypothesis import given
from hypothesis import strategies as st

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.tables.averages import columns_of
from trajanon.tables.missing_values import gower

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}


def with_gaps(seed: int, n: int, share: float) -> Floats:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    X[rng.random(X.shape) < share] = np.nan
    return X


@given(
    seed=st.integers(0, 999),
    n=st.integers(6, 40),
    share=st.sampled_from([0.1, 0.4]),
    k=st.integers(2, 4),
    how=st.sampled_from([MDAV, {"effort": "fast"}]),
    names=st.sampled_from([0, 12]),
)
def test_k_values_stand_behind_each_that_is_written(
    seed: int, n: int, share: float, k: int, how: dict[str, Any], names: int
) -> None:
    X = with_gaps(seed, n, share)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    people = np.arange(n)
    if names:
        people = np.arange(n) % names
        table["who"] = people
    subject = "who" if names and n >= k else None
    if len(set(people)) < k:
        return
    result = trajanon.microaggregate_table(
        table, k, columns=["a", "b", "c"], subject=subject, missing="keep", **how
    )
    written = result.table.to_numpy()
    assert np.isnan(written[np.isnan(X)]).all()
    assert (np.isnan(written) & ~np.isnan(X)).sum() == result.report["suppressed"]
    assert min(naive_tables.occurrences(written, people)) >= k


def test_the_share_of_gower_is_over_the_columns_that_both_have() -> None:
    X = with_gaps(1, 9, 0.3)
    columns = columns_of(X)
    rows = np.arange(9)
    found = gower(columns.standardised, ~np.isnan(X), rows, rows)
    for i in range(9):
        for j in range(9):
            both = ~np.isnan(X[i]) & ~np.isnan(X[j])
            away = (X[i] - X[j])[both] / columns.sd[both]
            right = (away**2).mean() if both.any() else np.inf
            assert found[i, j] == pytest.approx(right, abs=1e-12)


def test_groups_with_gaps_are_merged_where_values_could_not_be_written() -> None:
    """Of most groups with a gap, 2 of 3 values in its column would be too few."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(3)
    X[rng.random(300) < 0.1, 0] = np.nan
    table = pd.DataFrame(X, columns=list("abcd"))
    kept = trajanon.microaggregate_table(table, 3, missing="keep", effort="fast").report
    assert kept["n"] == 300
    assert kept["suppressed"] < 30
    dropped = trajanon.microaggregate_table(table, 3, missing="drop", effort="fast").report
    assert kept["information_loss"] < 1.05 * dropped["information_loss"]


def test_gaps_stay_in_the_file_and_the_check_knows_them(run: Run, tmp_path: Path) -> None:
    X = with_gaps(2, 60, 0.1)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.to_csv(tmp_path / "x.csv", index=False)
    refused = run("microaggregate", "x.csv", "-k", 3).sentence
    assert "average what there is with --missing keep" in refused
    answer = run("microaggregate", "x.csv", "-k", 3, "--missing", "keep", *FAST)
    assert "Missing values stay missing: a " in answer.out
    written = pd.read_csv("microaggregated.csv")
    assert (written.isna() | table.notna()).all(axis=None)
    checked = run("check", "microaggregated.csv", "-k", 3, "--columns", "all")
    assert checked.code == 0
    assert "rows: each value that is there counts by itself" in checked.out
    written.loc[0, "a"] = 77
    written.to_csv("changed.csv", index=False)
    assert run("check", "changed.csv", "-k", 3, "--columns", "all").code == 1


def test_a_column_without_values_is_named() -> None:
    table = pd.DataFrame({"a": np.arange(9.0), "b": np.nan})
    said = r"column 'b' of .* holds no value: choose other `columns`"
    with pytest.raises(BadInput, match=said):
        trajanon.microaggregate_table(table, 3, columns=["a", "b"], missing="keep")


def test_a_stratum_that_is_missing_cannot_be_kept_empty() -> None:
    table = pd.DataFrame({"a": range(8), "region": [None, "x"] * 4})
    with pytest.raises(trajanon.BadInput) as refused:
        trajanon.microaggregate_table(table, 2, columns=["a"], strata="region")
    assert "missing='drop'" in str(refused.value)
    assert "keep" not in str(refused.value)
